//! How fast covariance blocks and their pull-backs are on this machine.
//!
//! `cargo run --release -p quorate-gp --example kernel_speed -- [rows] [columns]` prints, for each kernel, the best
//! of several runs on one thread: entries per second and seconds for the whole block.

use std::sync::LazyLock;
use std::time::Instant;

use quorate_gp::Result;
use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use quorate_gp::kernel::{Covariance, Kernel, tiles};
use quorate_gp::linalg::{self, Matrix};

const RUNS: usize = 7;

fn main() -> Result<()> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok());
    let rows: usize = arguments.next().unwrap_or(4000);
    let width: usize = arguments.next().unwrap_or(8);
    let columns: Vec<InputColumn> = (0..width)
        .map(|d| InputColumn {
            name: format!("x{d}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    let values: Vec<f64> = (0..rows * width)
        .map(|k| (k as f64 * 0.7391).sin() * 1.7)
        .collect();
    let inputs = Inputs::new(&values, rows, width)?;
    let mut block = Matrix::zeros(rows, rows);
    let sensitivity = Matrix::from_fn(rows, rows, |i, j| ((i + 3 * j) % 17) as f64 - 8.0);
    println!("{rows} rows, {width} columns, one thread, best of {RUNS}");
    println!(
        "{:<28} {:>10} {:>9} {:>10} {:>9}",
        "kernel", "fill s", "M/s", "pull s", "M/s"
    );
    let features = Matrix::from_fn(rows, width, |i, d| values[i * width + d]);
    let product = best(|| {
        let (left, right) = (features.as_ref(), features.as_ref().transpose());
        linalg::product_tile(block.as_mut(), 1.0, left, right);
    });
    let millions = (rows * rows) as f64 / 1e6;
    println!(
        "{:<28} {product:>10.4} {:>9.0}",
        "(matrix product alone)",
        millions / product
    );
    for text in [
        "se",
        "se(ard)",
        "matern12(ard)",
        "matern32(ard)",
        "matern52(ard)",
        "rq(ard)",
        "periodic(ard)",
        "linear",
        "linear(ard)",
        "polynomial",
        "network",
        "basis",
        "matern32(ard) + matern32(ard)",
        "se(ard) * matern32(ard)",
    ] {
        let kernel = text.parse::<Kernel>()?.bind(&columns)?;
        let mut gradient = vec![0.0; kernel.parameters().len()];
        let fill = best(|| tiles::fill(&kernel, inputs, inputs, block.as_mut()));
        let pull = best(|| {
            gradient.fill(0.0);
            tiles::pull_back(&kernel, inputs, inputs, sensitivity.as_ref(), &mut gradient);
        });
        println!(
            "{text:<28} {fill:>10.4} {:>9.0} {pull:>10.4} {:>9.0}",
            millions / fill,
            millions / pull
        );
    }
    Ok(())
}

/// Seconds of the fastest of several runs, on one thread.
fn best(mut work: impl FnMut() + Send) -> f64 {
    let mut fastest = f64::INFINITY;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    for _ in 0..RUNS {
        let mut timed = || {
            let start = cpu_seconds();
            work();
            cpu_seconds() - start
        };
        let seconds = match &pool {
            Ok(pool) => pool.install(&mut timed),
            Err(_) => timed(),
        };
        fastest = fastest.min(seconds);
    }
    fastest
}

/// Processor time of this thread where the system tells it, else wall time: other work on the machine counts less.
fn cpu_seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let wall = START.elapsed().as_secs_f64();
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or(wall, |nanoseconds| nanoseconds * 1e-9)
}
