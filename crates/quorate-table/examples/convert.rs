//! Converts a table from one format to another, batch by batch: `convert IN OUT [ROWS]`, all rows or the first of them;
//! without OUT it only reads.

use std::process::ExitCode;
use std::time::Instant;

use quorate_table::{OpenOptions, Result, TableWriter, open};

fn convert(from: &str, to: Option<&str>, most: usize) -> Result<()> {
    let started = Instant::now();
    let mut table = open(from, &OpenOptions::default())?;
    let header = table.header().clone();
    let mut writer = to
        .map(|path| TableWriter::create(path, &header))
        .transpose()?;
    let mut rows = 0;
    while let Some(mut frame) = table.next_batch()? {
        if frame.rows() > most - rows {
            frame = frame.split_at(most - rows).0;
        }
        if frame.rows() == 0 {
            break;
        }
        rows += frame.rows();
        if let Some(writer) = &mut writer {
            writer.write(&frame)?;
        }
    }
    writer.map_or(Ok(()), TableWriter::finish)?;
    for (name, column_type) in header.names.iter().zip(&header.types) {
        eprintln!("{name}: {}", column_type.plural());
    }
    for note in table.notes() {
        eprintln!("{note}");
    }
    eprintln!("{rows} rows in {:.2} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(from) = arguments.next() else {
        eprintln!("convert IN OUT [ROWS]");
        return ExitCode::from(2);
    };
    let to = arguments.next();
    let most = match arguments.next().map(|rows| rows.parse()) {
        None => usize::MAX,
        Some(Ok(rows)) => rows,
        Some(Err(_)) => {
            eprintln!("ROWS is a whole number");
            return ExitCode::from(2);
        }
    };
    match convert(&from, to.as_deref(), most) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
