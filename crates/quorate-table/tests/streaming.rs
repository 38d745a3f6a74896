//! A table much larger than what is held in memory is read and written batch by batch; a program of its own, whose memory
//! is looked at.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};

use quorate_gp::data::{Batches, Column};
use quorate_table::{OpenOptions, TableWriter, open, open_reader};

/// The most memory this process has held, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Rows made up as they are asked for: nothing of them is kept.
struct Endless {
    row: usize,
    rows: usize,
    line: Vec<u8>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.line.is_empty() && self.row < self.rows {
            let row = self.row;
            for row in row..(row + 100).min(self.rows) {
                writeln!(
                    self.line,
                    "{row},{}.25,{},level {}",
                    row % 97,
                    row % 2 == 0,
                    row % 5
                )?;
            }
            self.row = (row + 100).min(self.rows);
        }
        let count = buffer.len().min(self.line.len());
        buffer[..count].copy_from_slice(&self.line[..count]);
        self.line.drain(..count);
        Ok(count)
    }
}

fn count(table: &mut dyn Batches) -> (usize, f64) {
    let (mut rows, mut sum) = (0, 0.0);
    while let Some(frame) = table.next_batch().unwrap() {
        rows += frame.rows();
        let Some(Column::Number(cells)) = frame.column("n") else {
            panic!()
        };
        sum += cells.iter().sum::<f64>();
    }
    (rows, sum)
}

#[test]
fn memory_does_not_grow_with_the_table() {
    const ROWS: usize = 1_500_000;
    const LIMIT: usize = 48 * 1024 * 1024;
    let expected = (ROWS, (ROWS * (ROWS - 1) / 2) as f64);
    let text = || Endless {
        row: 0,
        rows: ROWS,
        line: b"n,x,flag,word\n".to_vec(),
    };

    let mut stream = open_reader(text(), "-", &OpenOptions::default()).unwrap();
    assert_eq!(count(&mut *stream), expected);

    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        let mut stream = open_reader(text(), "-", &OpenOptions::default()).unwrap();
        let header = stream.header().clone();
        let mut writer = TableWriter::create(&path, &header).unwrap();
        while let Some(frame) = stream.next_batch().unwrap() {
            writer.write(&frame).unwrap();
        }
        writer.finish().unwrap();
        let mut table = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(table.header().types, header.types);
        assert_eq!(count(&mut *table), expected, "{name}");
        std::fs::remove_file(&path).unwrap();
    }
    // As one frame the table would take 1,500,000 rows of 8 + 8 + 8 + 16 bytes, 57 MiB, and half as much again as text.
    let peak = peak_memory();
    assert!(peak < LIMIT, "{} MiB were held at the peak", peak >> 20);
    eprintln!("peak memory {} MiB for {ROWS} rows", peak >> 20);
}
