//! Converts a table from one format to another, batch by batch: `convert IN OUT`; without OUT it only reads.

use std::process::ExitCode;
use std::time::Instant;

use quorate_table::{OpenOptions, Result, TableWriter, open};

fn convert(from: &str, to: Option<&str>) -> Result<()> {
    let started = Instant::now();
    let mut table = open(from, &OpenOptions::default())?;
    let header = table.header().clone();
    let mut writer = to
        .map(|path| TableWriter::create(path, &header))
        .transpose()?;
    let mut rows = 0;
    while let Some(frame) = table.next_batch()? {
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
        eprintln!("convert IN OUT");
        return ExitCode::from(2);
    };
    match convert(&from, arguments.next().as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
