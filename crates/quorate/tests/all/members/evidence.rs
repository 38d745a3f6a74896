//! Weights by the evidence procedure, against scikit-learn and a direct maximisation.

use quorate::gp::data::Dataset;
use quorate::gp::linalg::Matrix;
use quorate::member::{Basis, Expansion, WeightSpace, learn_evidence};

use super::{golden, near, numbers, width};

#[test]
fn the_evidence_procedure_finds_what_scikit_learn_finds() {
    let golden = golden("ridge.json");
    let tolerance = golden["tolerance"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let (values, columns) = (numbers(&case["design"]), width(&case["design"]));
        let targets = numbers(&case["target"]);
        let design = Matrix::from_fn(targets.len(), columns, |i, j| values[i * columns + j]);
        // The design is the inputs, so that no two rows are merged.
        let data = Dataset::new(values, columns, targets, None, None).unwrap();
        let found = learn_evidence(&design, &data).unwrap();
        near(
            found.beta,
            case["noise_precision"].as_f64().unwrap(),
            tolerance,
        );
        near(
            found.alpha,
            case["weight_precision"].as_f64().unwrap(),
            tolerance,
        );
        near(
            found.log_evidence,
            case["log_evidence"].as_f64().unwrap(),
            tolerance,
        );
        for (ours, theirs) in found.mean.iter().zip(numbers(&case["weights"])) {
            near(*ours, theirs, tolerance);
        }
        let query = numbers(&case["query"]);
        let mut whitened = Matrix::from_fn(columns, query.len() / columns, |j, i| {
            query[i * columns + j]
        });
        found.factor.whiten(whitened.as_mut());
        for (i, theirs) in numbers(&case["std"]).into_iter().enumerate() {
            let own: f64 = whitened.col_as_slice(i).iter().map(|v| v * v).sum();
            near((own + 1.0 / found.beta).sqrt(), theirs, tolerance);
        }
    }
}

#[test]
fn the_evidence_is_a_maximum_and_weights_are_copies() {
    let rows = 40;
    let x: Vec<f64> = (0..rows)
        .map(|row| (row as f64 * 0.61).sin() * 1.5)
        .collect();
    let noise = |row: usize| (row as f64 * 12.9898).sin() * 0.3;
    let y: Vec<f64> = (0..rows)
        .map(|row| (2.0 * x[row]).sin() + noise(row))
        .collect();
    let copies: Vec<f64> = (0..rows).map(|row| 1.0 + (row % 3) as f64).collect();
    let weighted = Dataset::new(x.clone(), 1, y.clone(), Some(copies.clone()), None).unwrap();
    let repeat = |numbers: &[f64]| -> Vec<f64> {
        let each = numbers.iter().zip(&copies);
        each.flat_map(|(&number, &count)| vec![number; count as usize])
            .collect()
    };
    let copied = Dataset::new(repeat(&x), 1, repeat(&y), None, None).unwrap();
    let basis = Basis::Radial {
        centres: vec![-1.5, -0.75, 0.0, 0.75, 1.5],
        width: 0.7,
    };
    let expansion = Expansion::numbers(1);
    let fit = |data: &Dataset| WeightSpace::fit(basis.clone(), expansion.clone(), data).unwrap();
    let (a, b) = (fit(&weighted), fit(&copied));
    let (a, b) = (a.posterior(), b.posterior());
    near(a.alpha, b.alpha, 1e-9);
    near(a.beta, b.beta, 1e-9);
    near(a.log_evidence, b.log_evidence, 1e-9);
    // Direct maximisation: the evidence as the density of the targets, N(0, Phi Phi' / alpha + I / beta), at and beside.
    let plain = Dataset::new(x, 1, y, None, None).unwrap();
    let found = fit(&plain);
    let found = found.posterior();
    let design = basis.design(&expansion, plain.inputs());
    let density = |alpha: f64, beta: f64| {
        use quorate::gp::linalg::{Factor, JitterPolicy};
        let factor = Factor::new(rows, JitterPolicy::default(), |mut out| {
            for i in 0..rows {
                for j in 0..=i {
                    let inner: f64 = (0..design.ncols())
                        .map(|k| design[(i, k)] * design[(j, k)])
                        .sum();
                    out[(i, j)] = inner / alpha + if i == j { 1.0 / beta } else { 0.0 };
                }
            }
        })
        .unwrap();
        let mut solved = Matrix::from_fn(rows, 1, |row, _| plain.targets()[row]);
        factor.whiten(solved.as_mut());
        let fit: f64 = solved.col_as_slice(0).iter().map(|v| v * v).sum();
        -0.5 * fit
            - 0.5 * factor.log_determinant()
            - 0.5 * rows as f64 * (2.0 * std::f64::consts::PI).ln()
    };
    let best = density(found.alpha, found.beta);
    near(found.log_evidence, best, 1e-9);
    for (alpha, beta) in [(1.02, 1.0), (0.98, 1.0), (1.0, 1.02), (1.0, 0.98)] {
        assert!(density(found.alpha * alpha, found.beta * beta) < best);
    }
}
