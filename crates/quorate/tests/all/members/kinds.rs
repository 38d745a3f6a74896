//! What every kind of member promises.

use quorate::classifier::{CLASSIFIERS, ClassSetting, shares};
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::watch::Unwatched;
use quorate::member::{MEMBERS, Setting};

use super::rings;

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

#[test]
fn a_process_of_classes_whose_state_was_damaged_is_refused() {
    let (_, classes, data, columns) = rings(60);
    let setting = ClassSetting {
        columns: &columns,
        classes: &classes,
        seed: 1,
        watch: &Unwatched,
    };
    let kind = quorate::classifier::class_kind("gp").unwrap();
    let recipe = (kind.prepare)(&setting, &data).unwrap();
    let sound = recipe.fit(&data).unwrap().state().unwrap();
    assert!((kind.restore)(&sound).is_ok());
    let refused = |what: &str, damage: &dyn Fn(&mut quorate::member::State)| {
        let mut damaged = sound.clone();
        damage(&mut damaged);
        assert_ne!(damaged, sound, "{what}");
        let restored = (kind.restore)(&damaged);
        let Err(error) = restored else {
            panic!("{what} was not noticed");
        };
        assert!(!error.to_string().is_empty(), "{what}");
    };
    for name in ["temperature", "spread", "floor"] {
        for value in [0.0, -1.0, f64::INFINITY] {
            refused(name, &|state| state.text["link"][name] = value.into());
        }
    }
    refused("no link", &|state| {
        state.text["link"] = serde_json::Value::Null;
    });
    refused("fewer shares", &|state| {
        state.text["classes"]["shares"]
            .as_array_mut()
            .unwrap()
            .pop();
    });
    refused("fewer labels", &|state| {
        state.text["classes"]["labels"]
            .as_array_mut()
            .unwrap()
            .pop();
    });
    for value in [-1.0, f64::INFINITY] {
        refused("noise", &|state| {
            state.text["noise"]["variance"] = value.into();
        });
    }
    refused("other columns", &|state| {
        state.text["columns"].as_array_mut().unwrap().pop();
    });
    refused("another kernel", &|state| {
        state.text["kernel"] = "se(".into();
    });
    for place in 0..sound.numbers.len() {
        refused("a shorter list", &|state| {
            state.numbers[place].pop();
        });
        refused("a number that is none", &|state| {
            state.numbers[place][0] = f64::NAN;
        });
    }
    refused("a list less", &|state| {
        state.numbers.pop();
    });
}
