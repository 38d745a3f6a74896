//! Fits and predicts a table through the library, for comparison with the Python package on top of it.
//!
//!     cargo run --release -p quorate --example fit_predict -- TABLE KERNEL METHOD MODE ROWS
//!
//! The last column is the target; the first ROWS rows are fitted, all others predicted. Prints processor seconds of both and
//! the sum of the predictions, as JSON. `benches/python_overhead.py` runs it.

use std::error::Error;
use std::path::Path;

use quorate::gp::data::{Frame, read_all};
use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [table, kernel, method, mode, rows] = &words[..] else {
        return Err("usage: fit_predict TABLE KERNEL METHOD MODE ROWS".into());
    };
    let table = read(table)?;
    let rows: usize = rows.parse()?;
    let (train, test) = (slice(&table, 0, rows), slice(&table, rows, table.rows()));
    let target = table.header.names.last().ok_or("the table has no column")?;
    let spec = ModelSpec {
        kernel: kernel.parse()?,
        method: method.parse()?,
        mode: mode.parse()?,
        restarts: Some(0),
        ..ModelSpec::new(target)
    };

    let began = processor_seconds()?;
    let model = Model::fit(&spec, &train, &Unwatched)?;
    let fitted = processor_seconds()?;
    let prediction = model.predict_watched(&test, &Unwatched)?;
    let deviation = prediction.deviation(false);
    let ended = processor_seconds()?;
    let sum: f64 = prediction.mean.iter().chain(&deviation).sum();
    println!(
        "{{\"fit\": {}, \"predict\": {}, \"sum\": {sum:?}}}",
        fitted - began,
        ended - fitted
    );
    Ok(())
}

fn read(path: &str) -> Result<Frame, Box<dyn Error>> {
    let mut source = quorate_table::open(Path::new(path), &Default::default())?;
    Ok(read_all(source.as_mut())?)
}

fn slice(table: &Frame, first: usize, last: usize) -> Frame {
    table.select_rows(&(first..last).collect::<Vec<_>>())
}

/// User and system time of this process, in seconds, in ticks of a hundredth.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("/proc/self/stat is strange")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}
