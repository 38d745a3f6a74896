//! Our side of `cargo xtask bench exact`: one JSON object a line, the same tasks as `benches/exact_peers.py`.
//!
//! Each task runs in a process of its own, so that peak memory is its own. Needs `kin40k.parquet` in the folder named
//! by `QUORATE_DATA` (default `../shared/data`).
#![allow(clippy::unwrap_used)]

mod shared;

use std::path::PathBuf;
use std::time::Instant;

use quorate::gp::data::{Column, ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel, tiles};
use quorate::gp::learn::{BlockEvidence, Objective};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{JitterPolicy, Matrix, factor_in_place, multiply};
use quorate::gp::posterior::{ExactPosterior, Predict};
use serde_json::{Value, json};
use shared::{processor_seconds, read};

const REPEATS: usize = 3;
const NOISE: GaussianNoise = GaussianNoise { variance: 0.01 };
const TASKS: [&str; 4] = [
    "matrix_product_n3000",
    "factorisation_n4000",
    "evidence_gradient_n2000_d8",
    "predict_n4000_m4000",
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(task) = words.first() {
        println!("{}", measure(task));
        return;
    }
    let program = std::env::current_exe().unwrap();
    for task in TASKS {
        let output = std::process::Command::new(&program)
            .arg(task)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        print!("{}", String::from_utf8(output.stdout).unwrap());
    }
}

fn measure(task: &str) -> Value {
    let (times, more) = match task {
        "matrix_product_n3000" => matrix_product(),
        "factorisation_n4000" => factorisation(),
        "evidence_gradient_n2000_d8" => evidence_gradient(),
        "predict_n4000_m4000" => predict(),
        other => panic!("unknown task {other}"),
    };
    let mut line = json!({
        "name": task,
        "tool": "quorate",
        "version": env!("CARGO_PKG_VERSION"),
        "wall_s": times.0,
        "cpu_s": times.1,
        "peak_bytes": peak_bytes(),
    });
    line.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    line
}

/// Medians of wall and processor seconds after one warming run.
fn timed(mut work: impl FnMut()) -> (f64, f64) {
    work();
    let mut wall = Vec::new();
    let mut processor = Vec::new();
    for _ in 0..REPEATS {
        let (began, before) = (Instant::now(), processor_seconds());
        work();
        wall.push(began.elapsed().as_secs_f64());
        processor.push(processor_seconds() - before);
    }
    wall.sort_by(f64::total_cmp);
    processor.sort_by(f64::total_cmp);
    (wall[REPEATS / 2], processor[REPEATS / 2])
}

fn matrix_product() -> ((f64, f64), Value) {
    let size = 3000;
    let left = Matrix::from_fn(size, size, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let times = timed(|| {
        std::hint::black_box(multiply(left.as_ref(), left.as_ref()));
    });
    (
        times,
        json!({ "gflops": 2.0 * (size as f64).powi(3) / times.0 / 1e9 }),
    )
}

fn factorisation() -> ((f64, f64), Value) {
    let table = Table::read(4000, 0);
    let kernel = kernel();
    let inputs = table.data.inputs();
    let mut matrix = Matrix::zeros(inputs.rows(), inputs.rows());
    tiles::fill_lower(&kernel, inputs, matrix.as_mut());
    for i in 0..inputs.rows() {
        matrix[(i, i)] += NOISE.variance;
    }
    let mut copies: Vec<Matrix> = (0..=REPEATS).map(|_| matrix.clone()).collect();
    let times = timed(|| {
        let mut copy = copies.pop().unwrap();
        factor_in_place(copy.as_mut()).unwrap();
    });
    let operations = (inputs.rows() as f64).powi(3) / 3.0;
    (times, json!({ "gflops": operations / times.0 / 1e9 }))
}

fn evidence_gradient() -> ((f64, f64), Value) {
    let table = Table::read(2000, 0);
    let kernel = kernel();
    let objective = BlockEvidence::new(&kernel, &table.data, JitterPolicy::default());
    let mut point: Vec<f64> = kernel.parameters().iter().map(|p| p.coordinate()).collect();
    point.push(NOISE.variance.ln());
    let mut last = None;
    let times = timed(|| last = Some(objective.evaluate(&point).unwrap()));
    let last = last.unwrap();
    (
        times,
        json!({ "check": { "log_evidence": last.value, "gradient": last.gradient } }),
    )
}

fn predict() -> ((f64, f64), Value) {
    let table = Table::read(4000, 4000);
    let query = Inputs::new(&table.queries, 4000, 8).unwrap();
    let mut last = (0.0, 0.0);
    let times = timed(|| {
        let posterior =
            ExactPosterior::condition(kernel(), NOISE, table.data.clone(), JitterPolicy::default())
                .unwrap();
        let belief = posterior.marginals(query).unwrap();
        let rows = query.rows() as f64;
        last.0 = (0..query.rows())
            .map(|i| belief.mean[(i, 0)].powi(2))
            .sum::<f64>()
            / rows;
        last.1 = (0..query.rows())
            .map(|i| belief.variance[(i, 0)])
            .sum::<f64>()
            / rows;
    });
    (
        times,
        json!({ "check": { "mean_square": last.0, "latent_variance": last.1 } }),
    )
}

fn kernel() -> BoundKernel {
    let text = "1 * se(ard, length_scale=[1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6])";
    let columns: Vec<InputColumn> = (0..8)
        .map(|i| InputColumn {
            name: format!("x{i}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    text.parse::<Kernel>().unwrap().bind(&columns).unwrap()
}

struct Table {
    data: Dataset,
    queries: Vec<f64>,
}

impl Table {
    /// The first rows of kin40k, standardised on the training rows.
    fn read(train: usize, test: usize) -> Table {
        let folder = std::env::var_os("QUORATE_DATA").unwrap_or_else(|| "../shared/data".into());
        let path = PathBuf::from(folder).join("kin40k.parquet");
        let frame = read(&path).unwrap();
        let columns: Vec<Vec<f64>> = frame
            .columns
            .iter()
            .map(|column| match column {
                Column::Number(values) => scaled(&values[..train + test], train),
                Column::Text(_) => panic!("kin40k has numbers only"),
            })
            .collect();
        let rows = |from: usize, to: usize| {
            (from..to)
                .flat_map(|r| columns[..8].iter().map(move |c| c[r]))
                .collect::<Vec<f64>>()
        };
        let targets = columns[8][..train].to_vec();
        Table {
            data: Dataset::new(rows(0, train), 8, targets, None, None).unwrap(),
            queries: rows(train, train + test),
        }
    }
}

fn scaled(values: &[f64], train: usize) -> Vec<f64> {
    let n = train as f64;
    let mean = values[..train].iter().sum::<f64>() / n;
    let square = values[..train]
        .iter()
        .map(|v| (v - mean).powi(2))
        .sum::<f64>()
        / n;
    values.iter().map(|v| (v - mean) / square.sqrt()).collect()
}

/// Largest resident memory so far.
fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    1024 * kib.unwrap_or(0)
}
