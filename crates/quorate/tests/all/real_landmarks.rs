//! Landmarks on real rows: what committee evidence is for.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use quorate::gp::watch::Unwatched;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, Scores};

/// Scores on 1000 further rows of a model of the first 5000, with hyperparameters learned one way.
fn scores(name: &str, learn: LearnChoice) -> Option<Scores> {
    let Some(path) = common::data_file(name) else {
        common::skipped(name);
        return None;
    };
    let frame = common::read(&path);
    let rows = |from: usize, to: usize| frame.select_rows(&(from..to).collect::<Vec<_>>());
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        kernel: "se(ard)".parse().unwrap(),
        landmarks: Some(300),
        learn,
        ..ModelSpec::new("y")
    };
    let model = Model::fit(&spec, &rows(0, 5000), &Unwatched).unwrap();
    let seen = model.evaluate(&rows(5000, 6000)).unwrap();
    println!(
        "{name} {learn}: rmse {:.4}, nlpd {:.4}, coverage {:.3}",
        seen.rmse_standardised, seen.nlpd_standardised, seen.coverage_95
    );
    Some(seen)
}

#[test]
fn committee_evidence_beats_block_evidence_through_few_landmarks() {
    for name in ["elevators.parquet", "kin40k.parquet"] {
        let (Some(block), Some(committee)) = (
            scores(name, LearnChoice::Block),
            scores(name, LearnChoice::Auto),
        ) else {
            continue;
        };
        assert!(
            committee.nlpd < block.nlpd + 0.005,
            "{name}: {} and {}",
            committee.nlpd,
            block.nlpd
        );
        let off = |scores: &Scores| (scores.coverage_95 - 0.95).abs();
        assert!(off(&committee) < 0.03, "{name}: {}", committee.coverage_95);
    }
}
