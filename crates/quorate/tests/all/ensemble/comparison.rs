//! A comparison covers the registry.

use std::collections::BTreeSet;

use quorate::classifier::{CLASSIFIERS, ClassKind};
use quorate::compare::{CompareSpec, Maker, class_entries, compare, entries};
use quorate::fusion::{CLASS_RULES, RULES};
use quorate::gp::watch::Unwatched;
use quorate::member::{Kind, MEMBERS};

use super::{table, table_of_classes};

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
