//! Members against scikit-learn, and what every kind of member promises.
#![allow(clippy::unwrap_used)]

mod common;

use quorate::ensemble::boosting::{Boosting, How};
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::linalg::Matrix;
use quorate::gp::watch::Unwatched;
use quorate::member::{
    Basis, Expansion, MEMBERS, Setting, Tree, TreeShape, WeightSpace, learn_evidence,
};
use serde_json::Value;

fn golden(file: &str) -> Value {
    let found = common::golden("members").into_iter();
    found.into_iter().find(|(name, _)| name == file).unwrap().1
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn width(value: &Value) -> usize {
    value[0].as_array().unwrap().len()
}

fn near(ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0),
        "{ours} {theirs}"
    );
}

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

#[test]
fn trees_answer_as_those_of_scikit_learn() {
    let golden = golden("trees.json");
    let tolerance = golden["tolerance"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let (values, columns) = (numbers(&case["inputs"]), width(&case["inputs"]));
        let seen = numbers(&case["target"]);
        let inputs = Inputs::new(&values, seen.len(), columns).unwrap();
        let classes = case["classes"].as_u64().unwrap() as usize;
        let (outputs, targets) = match classes {
            0 => (1, seen),
            _ => {
                let one = |label: f64| {
                    (0..classes).map(move |class| f64::from(u8::from(label == class as f64)))
                };
                (classes, seen.into_iter().flat_map(one).collect())
            }
        };
        let shape = TreeShape {
            depth: case["depth"].as_u64().unwrap() as usize,
            leaf: case["leaf"].as_f64().unwrap(),
        };
        let tree = Tree::grow(inputs, outputs, &targets, &numbers(&case["weights"]), shape);
        if let Some(leaves) = case["leaves"].as_u64() {
            assert_eq!(tree.leaves() as u64, leaves, "{}", case["name"]);
        }
        assert!(case["answers"].as_array().unwrap().len() >= 10);
        let query = numbers(&case["query"]);
        for (row, theirs) in query
            .chunks_exact(columns)
            .zip(case["answers"].as_array().unwrap())
        {
            for (ours, theirs) in tree.leaf(row).value.iter().zip(numbers(theirs)) {
                let same = (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0);
                assert!(same, "{}: {ours} {theirs}", case["name"]);
            }
        }
    }
}

#[test]
fn boosted_trees_answer_as_those_of_scikit_learn() {
    let golden = golden("boosting.json");
    for case in golden["cases"].as_array().unwrap() {
        let (values, columns) = (numbers(&case["inputs"]), width(&case["inputs"]));
        let labels: Vec<usize> = numbers(&case["labels"])
            .into_iter()
            .map(|l| l as usize)
            .collect();
        let inputs = Inputs::new(&values, labels.len(), columns).unwrap();
        let number = |key: &str| case[key].as_u64().unwrap() as usize;
        let boosting = Boosting {
            rounds: number("rounds"),
            depth: number("depth"),
            how: How::Reweighting,
        };
        let found = boosting.fit(inputs, &labels, number("classes")).unwrap();
        assert_eq!(found.members(), number("members"), "{}", case["name"]);
        let query = numbers(&case["query"]);
        let theirs = numbers(&case["answers"]);
        let same = query
            .chunks_exact(columns)
            .zip(&theirs)
            .filter(|(row, theirs)| found.class(row) as f64 == **theirs)
            .count();
        assert_eq!(same, theirs.len(), "{}", case["name"]);
        // By subsampling the same committee is another draw, and about as good.
        let how = How::Subsampling { seed: 3 };
        let drawn = Boosting { how, ..boosting }
            .fit(inputs, &labels, number("classes"))
            .unwrap();
        let right = |boosted: &quorate::ensemble::boosting::Boosted| {
            let rows =
                (0..labels.len()).filter(|&row| boosted.class(inputs.row(row)) == labels[row]);
            rows.count() as f64 / labels.len() as f64
        };
        assert!(right(&drawn) > 0.8 * right(&found), "{}", right(&drawn));
    }
}

#[test]
fn every_kind_of_member_learns_says_how_sure_it_is_and_is_the_same_on_any_threads() {
    let rows = 120;
    let number = |name: &str| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    let columns = vec![
        number("a"),
        number("b"),
        InputColumn {
            kind: ColumnKind::Category { levels: 3 },
            ..number("c")
        },
    ];
    let values: Vec<f64> = (0..rows)
        .flat_map(|row| {
            let x = row as f64;
            [
                (x * 0.7).sin() * 1.4,
                (x * 1.3).cos() * 1.4,
                (row % 3) as f64,
            ]
        })
        .collect();
    let noise = |row: usize| (row as f64 * 78.233).sin() * 0.2;
    let targets: Vec<f64> = (0..rows)
        .map(|row| 0.8 * values[row * 3] + 0.3 * values[row * 3 + 2] - 0.3 + noise(row))
        .collect();
    let data = Dataset::new(values, 3, targets, None, None).unwrap();
    let setting = Setting {
        columns: &columns,
        seed: 1,
        watch: &Unwatched,
    };
    // A level that training did not have, and a place far from every row.
    let query = [0.3, -0.2, 1.0, 0.3, -0.2, 3.0, 30.0, -20.0, 0.0];
    let query = Inputs::new(&query, 3, 3).unwrap();
    for kind in MEMBERS {
        let answer = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let recipe = (kind.prepare)(&setting, &data).unwrap();
                let member = recipe.fit(&data).unwrap();
                assert_eq!(
                    member.log_evidence().is_some(),
                    kind.has_evidence,
                    "{}",
                    kind.name
                );
                assert_eq!(member.process().is_some(), kind.is_process, "{}", kind.name);
                let seen = member.marginals(data.inputs()).unwrap();
                let error: f64 = (0..rows)
                    .map(|row| (seen.mean[(row, 0)] - data.targets()[row]).powi(2))
                    .sum();
                assert!(error / (rows as f64) < 0.12, "{} {error}", kind.name);
                // What a tree calls noise is all that its leaves leave open.
                let spread = data.targets().iter().map(|t| t * t).sum::<f64>() / rows as f64;
                let noise = member.noise_variance();
                assert!(noise > 0.001 && noise < spread, "{} {noise}", kind.name);
                let (belief, prior) = (member.marginals(query).unwrap(), member.prior(query));
                for row in 0..3 {
                    let (own, before) = (belief.variance[(row, 0)], prior.variance[(row, 0)]);
                    assert!(
                        own >= 0.0 && own <= before * (1.0 + 1e-9),
                        "{} {own} {before}",
                        kind.name
                    );
                    assert!(belief.mean[(row, 0)].is_finite());
                }
                // One row is enough to be fitted to.
                assert!(
                    recipe
                        .fit(&data.select(&[5]))
                        .unwrap()
                        .marginals(query)
                        .is_ok(),
                    "{}",
                    kind.name
                );
                belief
            })
        };
        assert_eq!(answer(1), answer(2), "{}", kind.name);
    }
}
