//! Tables of counts, amounts and lifetimes around a known function.

use quorate::gp::data::{Column, Frame};
use quorate::gp::likelihood::{Latent, Likelihood};
use quorate::{Forecast, LikelihoodChoice, Model, ModelSpec, QuantityPrediction};

pub fn place(i: usize, stride: f64) -> f64 {
    (i as f64 * stride + 0.377).fract()
}

/// The latent function behind all tables.
pub fn truth(x: f64) -> f64 {
    1.0 + (1.5 * x).sin()
}

/// Targets drawn by quantiles of a likelihood around the truth, with exposures, censored at `limit`.
pub fn table(name: &str, rows: std::ops::Range<usize>, limit: f64) -> Frame {
    let likelihood: Likelihood = name.parse().unwrap();
    let mut columns = vec![Vec::new(); 4];
    for i in rows {
        let x = place(i, 0.754_877_666) * 4.0;
        let exposure = 0.5 + 2.0 * place(i, 0.569_840_291);
        let level = place(i * i + 7, 0.618_034);
        let shift = if limit.is_finite() {
            0.0
        } else {
            exposure.ln()
        };
        let latent = Latent {
            mean: truth(x) + shift,
            variance: 0.0,
        };
        let y = likelihood.quantile(latent, 0.001 + 0.998 * level);
        for (column, value) in
            columns
                .iter_mut()
                .zip([x, exposure, y.min(limit), f64::from(u8::from(y <= limit))])
        {
            column.push(value);
        }
    }
    let names = ["x", "exposure", "y", "event"];
    let cells = names
        .into_iter()
        .zip(columns.into_iter().map(Column::Number));
    Frame::from_columns(cells.collect()).unwrap()
}

pub fn spec(likelihood: LikelihoodChoice) -> ModelSpec {
    ModelSpec {
        kernel: "se".parse().unwrap(),
        inputs: Some(vec!["x".into()]),
        restarts: Some(0),
        exposure: Some("exposure".into()),
        likelihood,
        ..ModelSpec::new("y")
    }
}

pub fn forecast(model: &Model, table: &Frame) -> QuantityPrediction {
    match model.forecast(table).unwrap() {
        Forecast::Quantity(prediction) => prediction,
        other => panic!("{other:?}"),
    }
}

pub fn numbers<'a>(table: &'a Frame, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Number(cells)) => cells,
        _ => panic!("no numbers in {name}"),
    }
}
