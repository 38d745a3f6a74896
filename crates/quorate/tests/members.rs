//! Members against scikit-learn, and what every kind of member promises.
#![allow(clippy::unwrap_used)]

mod common;

use quorate::classifier::{CLASSIFIERS, ClassSetting, Sigmoid, shares};
use quorate::ensemble::boosting::{Boosting, How};
use quorate::ensemble::{Bag, boost_numbers, filter_classes, gentle_boost};
use quorate::fusion::{Cell, Fusion, Learned, Moments};
use quorate::gp::data::{
    Classes, Column, ColumnKind, Dataset, Frame, InputColumn, Inputs, Roles, Schema, TargetKind,
};
use quorate::gp::gaussian::{Joint, Marginals};
use quorate::gp::kernel::Kernel;
use quorate::gp::likelihood::{Extras, Observations};
use quorate::gp::linalg::Matrix;
use quorate::gp::posterior::{Predict, SupportVectorMachine};
use quorate::gp::watch::Unwatched;
use quorate::member::{
    Basis, Expansion, MEMBERS, Member, Recipe, Setting, State, Tree, TreeShape, WeightSpace, kind,
    learn_evidence,
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
                // Made again from its state it is the same to the last bit.
                let again = (kind.restore)(&member.state().unwrap()).unwrap();
                assert_eq!(again.marginals(query).unwrap(), belief, "{}", kind.name);
                assert_eq!(again.prior(query), prior, "{}", kind.name);
                assert_eq!(again.noise_variance(), noise);
                assert_eq!(again.log_evidence(), member.log_evidence());
                belief
            })
        };
        assert_eq!(answer(1), answer(2), "{}", kind.name);
    }
}

#[test]
fn support_vector_machines_decide_as_those_of_libsvm() {
    for (name, golden) in common::golden("machines") {
        let Some(table) = common::table(&golden) else {
            common::skipped(&name);
            continue;
        };
        let rows = |key: &str| -> Vec<usize> {
            let list = numbers(&golden[key]).into_iter();
            list.map(|row| row as usize).collect()
        };
        let (train, test) = (
            table.select_rows(&rows("train_rows")),
            table.select_rows(&rows("test_rows")),
        );
        let roles = Roles {
            target: "label".into(),
            ..Roles::default()
        };
        let (schema, _) = Schema::learn(&train, &roles).unwrap();
        let encoded = schema.encode(&train).unwrap();
        let labels = common::numbers_of(&train, "label");
        let data = Dataset::new(encoded.values, encoded.width, labels, None, None).unwrap();
        let seen = Observations::of(&data, Extras::default()).unwrap();
        let asked = schema.encode(&test).unwrap();
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let (cost, length) = (&case["cost"], &case["length_scale"]);
            let kernel: Kernel = format!("{cost} * se(length_scale={length})")
                .parse()
                .unwrap();
            let kernel = kernel.bind(schema.columns()).unwrap();
            let found = SupportVectorMachine::fit_with_offset(kernel, data.clone(), &seen).unwrap();
            let ours = found.decisions(asked.inputs()).unwrap();
            let theirs = numbers(&case["decisions"]);
            assert!(theirs.len() >= 80);
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!((ours - theirs).abs() < tolerance, "{name}: {ours} {theirs}");
            }
        }
    }
}

#[test]
fn a_sigmoid_is_the_likeliest_of_all_and_survives_rows_without_an_error() {
    let decisions: Vec<f64> = (0..60).map(|row| (row as f64 * 0.7).sin() * 2.0).collect();
    let rows: Vec<(f64, bool, f64)> = decisions
        .iter()
        .enumerate()
        .map(|(row, &f)| {
            (
                f,
                f + (row as f64 * 1.3).cos() > 0.2,
                1.0 + (row % 2) as f64,
            )
        })
        .collect();
    let found = Sigmoid::fit(&rows);
    // Platt's targets, written out.
    let weight = |own: bool| -> f64 { rows.iter().filter(|r| r.1 == own).map(|r| r.2).sum() };
    let (high, low) = (
        (weight(true) + 1.0) / (weight(true) + 2.0),
        1.0 / (weight(false) + 2.0),
    );
    let loss = |sigmoid: Sigmoid| -> f64 {
        let each = rows.iter().map(|(f, own, weight)| {
            let (p, t) = (sigmoid.at(*f), if *own { high } else { low });
            -weight * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
        });
        each.sum()
    };
    let Sigmoid { slope, shift } = found;
    assert!(slope > 0.5);
    for (a, b) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
        let beside = Sigmoid {
            slope: slope + a,
            shift: shift + b,
        };
        assert!(loss(beside) > loss(found));
    }
    let sure: Vec<(f64, bool, f64)> = decisions.iter().map(|&f| (f, f > 0.0, 1.0)).collect();
    let found = Sigmoid::fit(&sure);
    assert!(found.slope.is_finite() && found.at(2.0) < 1.0 && found.at(-2.0) > 0.0);
}

fn rings(rows: usize) -> (Frame, Classes, Dataset, Vec<InputColumn>) {
    let wave = |row: usize, rate: f64| (row as f64 * rate).sin() * 1.8;
    let x: Vec<f64> = (0..rows).map(|row| wave(row, 0.71)).collect();
    let z: Vec<f64> = (0..rows).map(|row| wave(row, 1.37)).collect();
    let labels = (0..rows).map(|row| {
        let noise = (row as f64 * 78.233).sin() * 0.15;
        let label = match x[row].hypot(z[row]) + noise {
            near if near < 1.0 => "in",
            near if near < 1.7 => "mid",
            _ => "out",
        };
        Some(std::sync::Arc::from(label))
    });
    let frame = Frame::from_columns(vec![
        ("label", Column::Text(labels.collect())),
        ("x", Column::Number(x)),
        ("z", Column::Number(z)),
    ])
    .unwrap();
    let roles = Roles {
        target: "label".into(),
        ..Roles::default()
    };
    let (schema, _) = Schema::learn_as(TargetKind::Classes, &frame, &roles).unwrap();
    let data = schema.training_data(&frame).unwrap();
    let classes = schema.target().classes().unwrap().clone();
    (frame, classes, data, schema.columns().to_vec())
}

#[test]
fn every_kind_tells_classes_apart_and_is_the_same_on_any_threads_and_from_its_state() {
    let (_, classes, data, columns) = rings(150);
    let told = shares(&classes, &data);
    assert!(told.iter().all(|share| *share == 0.0 || *share == 1.0));
    let setting = ClassSetting {
        columns: &columns,
        classes: &classes,
        seed: 1,
        watch: &Unwatched,
    };
    // The last place is far from every row.
    let query = [0.1, -0.2, 1.2, 0.3, 30.0, -20.0];
    let query = Inputs::new(&query, 3, 2).unwrap();
    for kind in CLASSIFIERS {
        let answer = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let recipe = (kind.prepare)(&setting, &data).unwrap();
                let member = recipe.fit(&data).unwrap();
                let seen = member.probabilities(data.inputs()).unwrap();
                let right = (0..data.rows()).filter(|&row| {
                    let best = (0..3).max_by(|&a, &b| seen[(row, a)].total_cmp(&seen[(row, b)]));
                    told[row * 3 + best.unwrap()] == 1.0
                });
                let share = right.count() as f64 / data.rows() as f64;
                let least = if kind.name == "linear" { 0.4 } else { 0.85 };
                assert!(share > least, "{}: {share}", kind.name);
                let found = member.probabilities(query).unwrap();
                for row in 0..3 {
                    let each = (0..3).map(|class| found[(row, class)]);
                    assert!(
                        each.clone().all(|p| (0.0..=1.0).contains(&p)),
                        "{}",
                        kind.name
                    );
                    assert!((each.sum::<f64>() - 1.0).abs() < 1e-12, "{}", kind.name);
                }
                // One row is enough to be fitted to, and so are rows of one class.
                let one = recipe.fit(&data.select(&[5])).unwrap();
                assert!(one.probabilities(query).is_ok(), "{}", kind.name);
                let again = (kind.restore)(&member.state().unwrap()).unwrap();
                assert_eq!(again.probabilities(query).unwrap(), found, "{}", kind.name);
                let mut damaged = member.state().unwrap();
                damaged.text = serde_json::Value::Null;
                assert!((kind.restore)(&damaged).is_err());
                found
            })
        };
        assert_eq!(answer(1), answer(2), "{}", kind.name);
    }
}

/// Trees of a fixed shape.
struct Fixed(TreeShape);

struct FixedTree(Tree);

impl Recipe for Fixed {
    fn fit(&self, rows: &Dataset) -> quorate::Result<Box<dyn Member>> {
        let tree = Tree::grow(rows.inputs(), 1, rows.targets(), rows.weights(), self.0);
        Ok(Box::new(FixedTree(tree)))
    }
}

impl Predict for FixedTree {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| 1.0),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate::gp::Result<Marginals> {
        let mean = |row: usize| self.0.leaf(query.row(row)).value[0];
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| mean(row)),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| 0.1),
        })
    }

    fn joint(&self, _: Inputs<'_>) -> quorate::gp::Result<Joint> {
        unreachable!("nobody asks")
    }
}

impl Member for FixedTree {
    fn noise_variance(&self) -> f64 {
        0.1
    }

    fn state(&self) -> quorate::Result<State> {
        State::new(&self.0, Vec::new())
    }
}

#[test]
fn bagging_and_boosting_err_as_those_of_scikit_learn() {
    let golden = golden("committees.json");
    let train = golden["train"].as_u64().unwrap() as usize;
    let (values, columns) = (numbers(&golden["inputs"]), width(&golden["inputs"]));
    let (targets, labels) = (numbers(&golden["target"]), numbers(&golden["labels"]));
    let tests = targets.len() - train;
    let (seen, asked) = values.split_at(train * columns);
    let asked = Inputs::new(asked, tests, columns).unwrap();
    let data = Dataset::new(
        seen.to_vec(),
        columns,
        targets[..train].to_vec(),
        None,
        None,
    )
    .unwrap();
    let repetitions = 30;
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let number = |key: &str| case[key].as_u64().unwrap() as usize;
        let members = number("members");
        let shape = TreeShape {
            depth: number("depth"),
            leaf: case["leaf"].as_f64().unwrap(),
        };
        let squared = |mean: &dyn Fn(usize) -> f64| -> f64 {
            let errors = (0..tests).map(|row| (mean(row) - targets[train + row]).powi(2));
            errors.sum::<f64>() / tests as f64
        };
        let bags = |seed: u64| (0..members as u64).map(move |member| 1000 * seed + member);
        let error = |seed: u64| match name {
            "bagging of regression trees" => {
                let trees: Vec<Box<dyn Member>> = bags(seed)
                    .map(|own| {
                        let bag = Bag::draw(&data, own, None).unwrap();
                        Fixed(shape).fit(&bag.rows).unwrap()
                    })
                    .collect();
                let said: Vec<Matrix> = trees
                    .iter()
                    .map(|tree| tree.marginals(asked).unwrap().mean)
                    .collect();
                let mean =
                    |row: usize| said.iter().map(|own| own[(row, 0)]).sum::<f64>() / members as f64;
                squared(&mean)
            }
            "bagging of classification trees" => {
                let one = |label: &f64| [0.0, 1.0, 2.0].map(|c| f64::from(u8::from(*label == c)));
                let told: Vec<f64> = labels[..train].iter().flat_map(one).collect();
                let inputs = Inputs::new(seen, train, columns).unwrap();
                let trees: Vec<Tree> = bags(seed)
                    .map(|own| {
                        let counts = Bag::draw(&data, own, None).unwrap().counts;
                        let counts: Vec<f64> = counts.into_iter().map(f64::from).collect();
                        Tree::grow(inputs, 3, &told, &counts, shape)
                    })
                    .collect();
                let wrong = (0..tests).filter(|&row| {
                    let share = |class: usize| -> f64 {
                        let each = trees
                            .iter()
                            .map(|tree| tree.leaf(asked.row(row)).value[class]);
                        each.sum()
                    };
                    let best = (0..3).rev().max_by(|&a, &b| share(a).total_cmp(&share(b)));
                    best.unwrap() as f64 != labels[train + row]
                });
                wrong.count() as f64 / tests as f64
            }
            _ => {
                let (trees, weights) =
                    boost_numbers(&Fixed(shape), &data, members, 1000 * seed, &Unwatched).unwrap();
                let said: Vec<Marginals> = trees
                    .iter()
                    .map(|tree| tree.marginals(asked).unwrap())
                    .collect();
                let count = said.len();
                let learned = Learned {
                    weights,
                    correlation: Matrix::zeros(count, count),
                };
                let mean = |row: usize| {
                    let own = |belief: &Marginals| Moments {
                        mean: belief.mean[(row, 0)],
                        variance: belief.variance[(row, 0)],
                    };
                    let opinions: Vec<Moments> = said.iter().map(own).collect();
                    let cell = Cell {
                        opinions: &opinions,
                        priors: &opinions,
                        base: None,
                        noise: 0.0,
                        learned: Some(&learned),
                        between: None,
                    };
                    Fusion::median().combine_cell(&cell).unwrap().mean
                };
                squared(&mean)
            }
        };
        let errors: Vec<f64> = (0..repetitions).map(error).collect();
        let count = repetitions as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let spread: f64 = errors.iter().map(|own| (own - mean).powi(2)).sum();
        let own = (spread / (count - 1.0) / count).sqrt();
        let theirs = case["standard_error"].as_f64().unwrap();
        let apart = (mean - case["error"].as_f64().unwrap()).abs();
        let both = own.hypot(theirs);
        assert!(
            apart < 2.0 * both,
            "{name}: {mean} {case} apart {apart} errors {both}"
        );
        eprintln!(
            "{name}: {mean:.4} +- {own:.4}, scikit-learn {} +- {theirs:.4}",
            case["error"]
        );
    }
}

#[test]
fn filtering_and_gentle_boosting_make_committees_that_decide_well() {
    let (_, classes, data, columns) = rings(300);
    let setting = ClassSetting {
        columns: &columns,
        classes: &classes,
        seed: 1,
        watch: &Unwatched,
    };
    let tree = CLASSIFIERS.iter().find(|kind| kind.name == "tree").unwrap();
    let recipe = (tree.prepare)(&setting, &data).unwrap();
    let (members, votes) = filter_classes(&*recipe, &classes, &data, 3, &Unwatched).unwrap();
    assert_eq!((members.len(), votes.as_slice()), (3, [1.0; 3].as_slice()));
    // The second member is right where the first is wrong more often than the first.
    let told = shares(&classes, &data);
    let right = |member: usize| -> Vec<bool> {
        let found = members[member].probabilities(data.inputs()).unwrap();
        let each = (0..data.rows()).map(|row| {
            let best = (0..3).max_by(|&a, &b| found[(row, a)].total_cmp(&found[(row, b)]));
            told[row * 3 + best.unwrap()] == 1.0
        });
        each.collect()
    };
    let (first, second) = (right(0), right(1));
    let missed: Vec<usize> = (0..data.rows()).filter(|&row| !first[row]).collect();
    assert!(missed.iter().any(|&row| second[row]));
    // Gentle AdaBoost of linear models on products: y = sign of a product.
    let x: Vec<f64> = (0..200).map(|row| (row as f64 * 0.37).sin()).collect();
    let z: Vec<f64> = (0..200).map(|row| (row as f64 * 0.91).cos()).collect();
    let signs: Vec<f64> = x
        .iter()
        .zip(&z)
        .map(|(a, b)| (a + 0.5 * b - 0.2).signum())
        .collect();
    let values: Vec<f64> = x.iter().zip(&z).flat_map(|(a, b)| [*a, *b]).collect();
    let data = Dataset::new(values, 2, signs.clone(), None, None).unwrap();
    let setting = Setting {
        columns: &columns,
        seed: 1,
        watch: &Unwatched,
    };
    let recipe = (kind("gp").unwrap().prepare)(&setting, &data).unwrap();
    let own: Vec<f64> = data.members().iter().map(|row| signs[row.row]).collect();
    let members = gentle_boost(&*recipe, &data, &own, 4, &Unwatched).unwrap();
    assert_eq!(members.len(), 4);
    let sums: Vec<Matrix> = members
        .iter()
        .map(|member| member.marginals(data.inputs()).unwrap().mean)
        .collect();
    let right = data.members().iter().zip(&own).filter(|(row, sign)| {
        let sum: f64 = sums.iter().map(|mean| mean[(row.group, 0)]).sum();
        sum.signum() == **sign
    });
    assert!(right.count() > 190);
    // The second member's weights are exp(-y F) of the first: written out with the first member alone.
    let raw: Vec<f64> = data
        .members()
        .iter()
        .zip(&own)
        .map(|(row, sign)| (-sign * sums[0][(row.group, 0)]).exp())
        .collect();
    let mean = raw.iter().sum::<f64>() / raw.len() as f64;
    let weights: Vec<f64> = raw.iter().map(|w| w / mean).collect();
    let values: Vec<f64> = data
        .members()
        .iter()
        .flat_map(|row| data.inputs().row(row.group).to_vec())
        .collect();
    let second = Dataset::new(values, 2, own.clone(), Some(weights), None).unwrap();
    let second = recipe.fit(&second).unwrap();
    let found = second.marginals(data.inputs()).unwrap().mean;
    for row in 0..data.rows() {
        assert!((found[(row, 0)] - sums[1][(row, 0)]).abs() < 1e-9);
    }
}
