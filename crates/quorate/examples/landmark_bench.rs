//! Two measurements of committees that speak through landmarks.
//!
//!     cargo run --release -p quorate --example landmark_bench -- rate
//!     cargo run --release -p quorate --example landmark_bench -- choices TRAIN TEST KERNEL 300,1000
//!
//! `rate`: how fast parts of 1,000 rows are absorbed through 1,000 landmarks, beside the rate of a matrix product of the
//! same size on the same threads in the same run. `choices`: the ways to choose landmarks, each with its number, under
//! hyperparameters learned once. The target is the last column of TRAIN; scores are in units of its standard deviation.

mod shared;

use std::time::Instant;

use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::kernel::Kernel;
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{Matrix, multiply};
use quorate::gp::posterior::Predict;
use quorate::gp::watch::Unwatched;
use quorate::landmarks::{Cut, LandmarkBelief, Landmarks, SummaryTree, absorb, choose, cut};
use quorate::partition::PartChoice;
use quorate::score::{Scores, Yardstick};
use quorate::{LandmarkChoice, MethodChoice, ModeChoice, Model, ModelSpec};
use shared::{Outcome, processor_seconds, read};

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rate"] => rate(),
        ["choices", train, test, kernel, counts] => choices(train, test, kernel, counts),
        _ => Err("usage: landmark_bench rate | choices TRAIN TEST KERNEL COUNTS".into()),
    }
}

/// Rows of a part, and landmarks.
const SIZE: usize = 1000;
/// Parts absorbed, and products taken.
const TIMES: usize = 16;

fn rate() -> Outcome<()> {
    let columns: Vec<InputColumn> = (0..8)
        .map(|i| InputColumn {
            name: format!("x{i}"),
            kind: ColumnKind::Number,
            deviation: 1.0,
        })
        .collect();
    let kernel: Kernel = "matern32(ard)".parse()?;
    let kernel = kernel.bind(&columns)?;
    let values = |rows: usize, phase: f64| -> Vec<f64> {
        let value = |i: usize| (i as f64 * 0.754_877_67 + phase).fract() * 4.0 - 2.0;
        (0..rows * 8).map(|i| value(i * i % 1_000_003)).collect()
    };
    let places = values(SIZE, 0.1);
    let landmarks = Landmarks::new(kernel, Inputs::new(&places, SIZE, 8)?)?;
    let parts: Vec<Dataset> = (0..TIMES)
        .map(|part| {
            let inputs = values(SIZE, 0.01 * part as f64 + 0.003);
            let targets = inputs.chunks(8).map(|row| row[0].sin()).collect();
            Dataset::new(inputs, 8, targets, None, None)
        })
        .collect::<Result<_, _>>()?;
    let noise = GaussianNoise { variance: 0.1 };
    let square = Matrix::from_fn(SIZE, SIZE, |i, j| ((i * 7 + j * 13) % 101) as f64 * 0.01);
    // Once before the clock runs: threads, pages and code are there afterwards.
    let product = || multiply(square.as_ref(), square.as_ref())[(3, 5)];
    let mut held = product();

    let (began, busy) = (Instant::now(), processor_seconds());
    for _ in 0..2 * TIMES {
        held += product();
    }
    let (wall, processor) = (began.elapsed().as_secs_f64(), processor_seconds() - busy);
    let operations = 2.0 * (SIZE as f64).powi(3) * 2.0 * TIMES as f64;
    let (by_wall, by_processor) = (operations / wall, operations / processor);
    say("matrix product", operations, wall, processor, (1.0, 1.0));

    let (began, busy) = (Instant::now(), processor_seconds());
    let mut tree = SummaryTree::default();
    absorb(&mut tree, &landmarks, noise, &parts, &Unwatched)?;
    let (wall, processor) = (began.elapsed().as_secs_f64(), processor_seconds() - busy);
    // L^-1 k(Z, X): m^2 p. V'V: p^2 m. Factor: p^3 / 3. L_Q^-1 V': p^2 m. Its own product: m^2 p. Symmetric halves are
    // counted once; covariances are not counted.
    let operations = (4.0 + 1.0 / 3.0) * (SIZE as f64).powi(3) * TIMES as f64;
    let shares = (
        operations / wall / by_wall,
        operations / processor / by_processor,
    );
    say("absorbing parts", operations, wall, processor, shares);
    held += tree.total(SIZE)?.rows;
    if held.is_nan() {
        return Err("a result is not a number".into());
    }
    Ok(())
}

fn say(what: &str, operations: f64, wall: f64, processor: f64, shares: (f64, f64)) {
    println!(
        "{what}: {:.1} billion operations a second, {:.1} a processor second, {:.2} processors busy; {:.0} % and {:.0} % of the product's rate",
        operations / wall / 1e9,
        operations / processor / 1e9,
        processor / wall,
        100.0 * shares.0,
        100.0 * shares.1,
    );
}

fn choices(train: &str, test: &str, kernel: &str, counts: &str) -> Outcome<()> {
    let (train, test) = (read(train)?, read(test)?);
    let target = train.header.names.last().ok_or("the table has no column")?;
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        kernel: kernel.parse()?,
        ..ModelSpec::new(target)
    };
    let model = Model::fit(&spec, &train, &Unwatched)?;
    let schema = model.schema();
    let data = schema.training_data(&train)?;
    let encoded = schema.encode(&test)?;
    let scale = schema.target_scale();
    let targets: Vec<f64> = schema
        .targets(&test)?
        .iter()
        .map(|y| scale.apply(*y))
        .collect();
    let noise = GaussianNoise {
        variance: model.inspect()?.noise_variance / schema.target_deviation().powi(2),
    };
    let bound = model.kernel().bind(schema.columns())?;
    let how = Cut {
        parts: PartChoice::Tree,
        part_size: 500,
        held_out: 0,
        seed: 0,
    };
    let parts = cut(&bound, &data, &how, None, &Unwatched)?;
    println!(
        "| landmarks | choice | rmse | nlpd | 95 % coverage | gamma / m | seconds to choose |"
    );
    println!("|---|---|---|---|---|---|---|");
    for count in counts.split(',') {
        for (name, choice) in LandmarkChoice::NAMES {
            let began = processor_seconds();
            let inputs = data.inputs();
            let chosen = choose(*choice, &bound, inputs, count.parse()?, 0, &Unwatched)?;
            let seconds = processor_seconds() - began;
            let width = inputs.width();
            let places = Inputs::new(&chosen, chosen.len() / width, width)?;
            let landmarks = Landmarks::new(bound.clone(), places)?;
            let mut tree = SummaryTree::default();
            absorb(&mut tree, &landmarks, noise, &parts, &Unwatched)?;
            let number = landmarks.count();
            let belief = LandmarkBelief::new(landmarks, &tree.total(number)?)?;
            let answers = belief.marginals(encoded.inputs())?;
            let column = |matrix: &Matrix, extra: f64| -> Vec<f64> {
                let rows = 0..targets.len();
                rows.map(|row| matrix[(row, 0)] + extra).collect()
            };
            let standard = Yardstick {
                mean: 0.0,
                deviation: 1.0,
            };
            let means = column(&answers.mean, 0.0);
            let variances = column(&answers.variance, noise.variance);
            let scores = Scores::of(&targets, &means, &variances, None, standard)?;
            println!(
                "| {number} | {name} | {:.4} | {:.4} | {:.1} % | {:.2} | {seconds:.1} |",
                scores.rmse,
                scores.nlpd,
                100.0 * scores.coverage_95,
                belief.effective_parameters() / number as f64,
            );
        }
    }
    Ok(())
}
