//! Inputs a few of which lie far from all others: neither these nor the many may be lost.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec};

use crate::common::frame;

/// A smooth function of the logarithm of the distance from 0.
fn target(x: f64) -> f64 {
    (0.5 * (x / 8.0).asinh()).sin()
}

/// Many small inputs, and some that grow two and a half times from one to the next until twenty million.
fn inputs(shift: f64) -> Vec<f64> {
    let small = (0..760).map(|i| (f64::from(i) * 0.618_033_988_7 + shift).fract() * 6.0 - 3.0);
    let large = (0..18).map(|i| 4.0 * 2.5f64.powf(f64::from(i) - shift));
    small.chain(large).collect()
}

fn table(shift: f64) -> quorate::gp::data::Frame {
    let x = inputs(shift);
    let y = x.iter().map(|x| target(*x)).collect();
    frame(vec![("x", x), ("y", y)])
}

#[test]
fn outliers_are_brought_closer_unless_a_kernel_is_named() {
    let (train, test) = (table(0.0), table(0.5));
    let truth: Vec<f64> = inputs(0.5).iter().map(|x| target(*x)).collect();
    let error = |model: &Model| {
        let told = model.predict(&test).unwrap().mean;
        let squares = told.iter().zip(&truth).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    };
    let spec = ModelSpec {
        restarts: Some(0),
        ..ModelSpec::new("y")
    };
    let model = Model::fit(&spec, &train, &Unwatched).unwrap();
    let said = model.inspect().unwrap().notes;
    assert!(
        said.iter()
            .any(|note| note.contains("`x`") && note.contains("asinh")),
        "{said:?}"
    );
    assert!(error(&model) < 0.02, "{}", error(&model));

    let named = ModelSpec {
        kernel: "matern32".parse().unwrap(),
        ..spec
    };
    let plain = Model::fit(&named, &train, &Unwatched).unwrap();
    assert!(plain.inspect().unwrap().notes.is_empty());
    assert!(error(&plain) > 5.0 * error(&model), "{}", error(&plain));

    // A file keeps the squeezing, to the last bit.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.quorate");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    assert_eq!(
        again.predict(&test).unwrap().mean,
        model.predict(&test).unwrap().mean
    );
}

#[test]
fn one_absurd_number_does_not_hide_the_others() {
    let mut x = inputs(0.0);
    let y: Vec<f64> = x.iter().map(|x| target(*x)).collect();
    x[100] = 1e300;
    let spec = ModelSpec {
        restarts: Some(0),
        ..ModelSpec::new("y")
    };
    let model = Model::fit(&spec, &frame(vec![("x", x), ("y", y)]), &Unwatched).unwrap();
    let asked = vec![-2.0, 0.3, 1.7];
    let told = model.predict(&frame(vec![("x", asked.clone())])).unwrap();
    for (mean, x) in told.mean.iter().zip(asked) {
        assert!((mean - target(x)).abs() < 0.05, "{x}: {mean}");
    }
}
