//! A comparison covers the registry.

use std::collections::BTreeSet;

use quorate::classifier::{CLASSIFIERS, ClassKind};
use quorate::compare::{CompareSpec, Maker, class_entries, compare, entries, quantity_entries};
use quorate::fusion::{CLASS_RULES, RULES};
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::member::{Kind, LATENT_MEMBERS, LatentKind, MEMBERS};
use quorate::{LikelihoodChoice, TaskChoice};

use super::{table, table_of_classes, unit};

#[test]
fn a_comparison_covers_exactly_the_registry() {
    let spec = CompareSpec {
        target: "y".into(),
        folds: 2,
        parts: Some(3),
        ..CompareSpec::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| compare(&spec, &table(120), &|| 0.0, &Unwatched).unwrap())
    };
    let found = run(2);
    let alone: BTreeSet<&str> = found
        .lines
        .iter()
        .filter(|line| line.entry.maker == Maker::Alone)
        .map(|line| line.entry.member)
        .collect();
    assert_eq!(alone, MEMBERS.iter().map(|kind| kind.name).collect());
    let rules: BTreeSet<&str> = found
        .lines
        .iter()
        .filter_map(|line| line.entry.rule)
        .collect();
    assert_eq!(rules, RULES.iter().map(|rule| rule.name).collect());
    let (kinds, all): (Vec<&Kind>, Vec<_>) = (MEMBERS.iter().collect(), RULES.iter().collect());
    assert_eq!(found.lines.len(), entries(&kinds, &all).len());
    for line in &found.lines {
        assert!(line.problem.is_none(), "{line:?}");
        let scores = line.scores.as_ref().unwrap().number().unwrap();
        assert!(
            scores.n == 120 && scores.rmse.is_finite() && scores.nlpd.is_finite(),
            "{line:?}"
        );
    }
    // Ranked, the best first, and something learned: the noise is 0.2, the target's deviation 0.7.
    assert!(found.lines.windows(2).all(|pair| {
        let nlpd = |place: usize| pair[place].scores.as_ref().unwrap().loss();
        nlpd(0) <= nlpd(1)
    }));
    assert!(
        found.lines[0]
            .scores
            .as_ref()
            .unwrap()
            .number()
            .unwrap()
            .rmse
            < 0.3
    );
    assert_eq!(found, run(1));
}

#[test]
fn a_comparison_refuses_what_it_cannot_do_and_says_what_there_is() {
    let spec = |change: &dyn Fn(&mut CompareSpec)| {
        let mut spec = CompareSpec {
            target: "y".into(),
            ..CompareSpec::default()
        };
        change(&mut spec);
        compare(&spec, &table(20), &|| 0.0, &Unwatched)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(spec(&|s| s.members = Some(vec!["gq".into()])).contains("did you mean `gp`"));
    assert!(spec(&|s| s.rules = Some(vec!["nothing".into()])).contains("robust-bcm"));
    assert!(spec(&|s| s.folds = 1).contains("at least two folds"));
    assert!(spec(&|s| s.folds = 15).contains("--folds"));
    let text = serde_json::to_string(&CompareSpec::default()).unwrap();
    assert_eq!(
        serde_json::from_str::<CompareSpec>(&text).unwrap(),
        CompareSpec::default()
    );
}

#[test]
fn a_comparison_of_classes_covers_exactly_the_registry() {
    let spec = CompareSpec {
        target: "label".into(),
        folds: 2,
        parts: Some(2),
        ..CompareSpec::default()
    };
    let found = compare(&spec, &table_of_classes(120), &|| 0.0, &Unwatched).unwrap();
    let kinds: Vec<&ClassKind> = CLASSIFIERS.iter().collect();
    let rules: Vec<_> = CLASS_RULES.iter().collect();
    let expected = class_entries(&kinds, &rules);
    assert_eq!(found.lines.len(), expected.len());
    for entry in expected {
        let line = found.lines.iter().find(|line| line.entry == entry).unwrap();
        assert!(line.problem.is_none(), "{line:?}");
        let scores = line.scores.as_ref().unwrap().classes().unwrap();
        assert!(scores.n == 120 && scores.log_loss.is_finite(), "{line:?}");
    }
    let alone: BTreeSet<&str> = found
        .lines
        .iter()
        .filter(|line| line.entry.maker == Maker::Alone)
        .map(|line| line.entry.member)
        .collect();
    assert_eq!(alone, CLASSIFIERS.iter().map(|kind| kind.name).collect());
    assert!(found.lines.windows(2).all(|pair| {
        let loss = |place: usize| pair[place].scores.as_ref().unwrap().loss();
        loss(0) <= loss(1)
    }));
    let best = found.lines[0].scores.as_ref().unwrap().classes().unwrap();
    assert!(best.error_rate < 0.3, "{best:?}");
}

/// Counts whose logarithm is a curve of one input, watched for one to three years each.
fn table_of_counts(rows: usize) -> Frame {
    let x: Vec<f64> = (0..rows).map(|row| 3.0 * unit(row, 31) - 1.5).collect();
    let years: Vec<f64> = (0..rows).map(|row| 1.0 + 2.0 * unit(row, 32)).collect();
    let count = |row: usize| {
        let mean = years[row] * (0.4 + 1.1 * (2.0 * x[row]).sin()).exp();
        let (mut below, mut term, mut y) = (0.0, (-mean).exp(), 0.0);
        while below + term < unit(row, 33) && y < 200.0 {
            below += term;
            y += 1.0;
            term *= mean / y;
        }
        y
    };
    let counts = (0..rows).map(count).collect();
    Frame::from_columns(vec![
        ("x", Column::Number(x)),
        ("years", Column::Number(years)),
        ("y", Column::Number(counts)),
    ])
    .unwrap()
}

#[test]
fn a_comparison_of_counts_covers_exactly_the_registry() {
    let spec = CompareSpec {
        target: "y".into(),
        task: TaskChoice::Count,
        exposure: Some("years".into()),
        folds: 2,
        parts: Some(3),
        ..CompareSpec::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| compare(&spec, &table_of_counts(240), &|| 0.0, &Unwatched).unwrap())
    };
    let found = run(2);
    let kinds: Vec<&LatentKind> = LATENT_MEMBERS.iter().collect();
    let rules = spec.latent_rules().unwrap();
    let expected = quantity_entries(&kinds, &rules);
    assert!(
        rules.len() >= 10
            && rules
                .iter()
                .all(|rule| RULES.iter().any(|own| own.name == rule.name))
    );
    assert_eq!(found.lines.len(), expected.len());
    for entry in expected {
        let line = found.lines.iter().find(|line| line.entry == entry).unwrap();
        assert!(line.problem.is_none(), "{line:?}");
        let scores = line.scores.as_ref().unwrap().quantity().unwrap();
        assert!(scores.n == 240 && scores.nlpd.is_finite(), "{line:?}");
        let weighed = line.entry.rule == Some("model-averaging");
        assert_eq!(line.weights.is_some(), weighed, "{line:?}");
        if let Some(weights) = &line.weights {
            let sum: f64 = weights.iter().map(|own| own.weight).sum();
            assert!((sum - 1.0).abs() < 1e-12 && weights.len() == kinds.len());
        }
    }
    // A wave is told by radial functions, not by a line; averages of kinds by their evidence are theirs.
    let loss = |member: &str, rule: Option<&str>| {
        let own = found.lines.iter();
        let mut own = own.filter(|line| line.entry.member == member && line.entry.rule == rule);
        own.next().unwrap().scores.as_ref().unwrap().loss()
    };
    assert!(loss("rbf", None) < loss("linear", None) - 0.05);
    assert!((loss("rbf", None) - loss("all", Some("model-averaging"))).abs() < 0.02);
    assert!((loss("rbf", None) - loss("rbf", Some("bcm"))).abs() < 0.05);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("likelihood poisson")),
        "{:?}",
        found.notes
    );
    assert_eq!(found, run(1));
}

#[test]
fn lifetimes_and_amounts_are_compared_and_rules_that_need_errors_are_refused() {
    let rows = 160;
    let x: Vec<f64> = (0..rows).map(|row| 3.0 * unit(row, 41) - 1.5).collect();
    let life = |row: usize| (0.5 + 0.8 * x[row]).exp() * -(1.0 - unit(row, 42)).ln();
    let seen = |row: usize| life(row) < 4.0;
    let y = (0..rows).map(|row| life(row).clamp(1e-3, 4.0)).collect();
    let event = (0..rows)
        .map(|row| f64::from(u8::from(seen(row))))
        .collect();
    let columns = vec![
        ("x", Column::Number(x.clone())),
        ("ended", Column::Number(event)),
        ("y", Column::Number(y)),
    ];
    let table = Frame::from_columns(columns).unwrap();
    let spec = CompareSpec {
        target: "y".into(),
        event: Some("ended".into()),
        members: Some(vec!["linear".into()]),
        rules: Some(vec!["bcm".into(), "stacking".into()]),
        folds: 2,
        ..CompareSpec::default()
    };
    let found = compare(&spec, &table, &|| 0.0, &Unwatched).unwrap();
    assert_eq!(found.lines.len(), 2);
    for line in &found.lines {
        let scores = line.scores.as_ref().unwrap().quantity().unwrap();
        assert!(scores.concordance.unwrap() > 0.65, "{line:?}");
    }
    let amounts = CompareSpec {
        event: None,
        ignore: vec!["ended".into()],
        likelihood: LikelihoodChoice::Gamma,
        ..spec.clone()
    };
    let found = compare(&amounts, &table, &|| 0.0, &Unwatched).unwrap();
    assert!(found.lines.iter().all(|line| line.problem.is_none()));
    let refused = CompareSpec {
        rules: Some(vec!["stacking".into()]),
        ..spec
    };
    let error = compare(&refused, &table, &|| 0.0, &Unwatched).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("learn from errors"));
}
