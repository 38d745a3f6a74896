//! Classes end to end: fitted, asked, scored, kept in a file, updated, merged and forgotten from.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::shards::{bytes, table};
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::parts::Forget;
use quorate::{
    ClassPrediction, Forecast, LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, TaskChoice,
    file,
};

/// Rows of the endless table whose target is cut into classes.
fn labelled(from: usize, to: usize, cuts: &[f64]) -> Frame {
    let frame = table(from, to);
    let names = ["low", "middle", "high", "top"];
    let Some(Column::Number(y)) = frame.column("y") else {
        panic!("no target");
    };
    let label = |y: &f64| Some(names[cuts.iter().filter(|cut| *y > **cut).count()].into());
    let labels = Column::Text(y.iter().map(label).collect());
    let mut columns: Vec<(String, Column)> = frame
        .header
        .names
        .iter()
        .cloned()
        .zip(frame.columns.iter().cloned())
        .collect();
    columns.retain(|(name, _)| name != "y");
    columns.push(("label".into(), labels));
    Frame::from_columns(columns).unwrap()
}

const THREE: &[f64] = &[0.0, 1.0];

fn spec(method: MethodChoice, mode: ModeChoice) -> ModelSpec {
    let landmarks = mode == ModeChoice::Landmarks;
    ModelSpec {
        method,
        mode,
        kernel: "matern52(length_scale=0.8) * category".parse().unwrap(),
        learn: LearnChoice::None,
        landmarks: landmarks.then_some(40),
        part_size: landmarks.then_some(50),
        ..ModelSpec::new("label")
    }
}

fn classes(model: &Model, table: &Frame) -> ClassPrediction {
    match model.forecast(table).unwrap() {
        Forecast::Classes(prediction) => prediction,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_way_of_answering_tells_classes_apart_and_survives_a_file() {
    for (method, mode) in [
        (MethodChoice::Exact, ModeChoice::Auto),
        (MethodChoice::Committee, ModeChoice::Local),
        (MethodChoice::Committee, ModeChoice::Landmarks),
        (MethodChoice::Committee, ModeChoice::Joint),
    ] {
        for cuts in [&[0.5][..], THREE] {
            let spec = spec(method, mode);
            let model = Model::fit(&spec, &labelled(0, 500, cuts), &Unwatched).unwrap();
            let note = model.notes().join(" ");
            assert!(note.contains("was taken for classes"), "{note}");
            let test = labelled(500, 700, cuts);
            let found = classes(&model, &test);
            for row in 0..found.rows() {
                let sum: f64 = found.row(row).iter().sum();
                assert!((sum - 1.0).abs() < 1e-12 && found.row(row).iter().all(|p| *p >= 0.0));
            }
            let scores = model.score(&test).unwrap();
            let scores = scores.classes().unwrap();
            assert!(scores.error_rate < 0.12, "{mode} {scores:?}");
            assert!(scores.log_loss < 0.35, "{mode} {scores:?}");
            assert!(scores.auc > Some(0.95), "{mode} {scores:?}");
            let kept = model.leave_one_out().classes().unwrap();
            // The loss of a row has a deviation of less than 0.8: three standard errors of the smaller sample.
            let chance = 2.4 / (kept.n.min(scores.n) as f64).sqrt();
            let gap = (kept.log_loss - scores.log_loss).abs();
            assert!(gap < chance, "{mode} {kept:?}");
            let loaded = file::from_bytes(&bytes(&model), "model").unwrap();
            assert_eq!(classes(&loaded, &test), found, "{mode}");
            assert!(model.predict(&test).is_err() && model.evaluate(&test).is_err());
        }
    }
}

#[test]
fn a_committee_of_classes_is_updated_merged_and_forgotten_from() {
    let spec = ModelSpec {
        keep_parts: true,
        ..spec(MethodChoice::Committee, ModeChoice::Landmarks)
    };
    let base = Model::prepare(&spec, &labelled(0, 300, THREE), &Unwatched).unwrap();
    let with = |from: usize, to: usize, name: &str| {
        let rows = labelled(from, to, THREE);
        base.fork().update(&rows, name, true, &Unwatched).unwrap().0
    };
    let (one, two) = (with(0, 200, "one"), with(200, 450, "two"));
    let both = Model::merge(vec![("a".into(), one.fork()), ("b".into(), two)]).unwrap();
    let more = labelled(200, 450, THREE);
    let (updated, _) = one.fork().update(&more, "two", true, &Unwatched).unwrap();
    assert_eq!(bytes(&both), bytes(&updated));
    let what = Forget {
        part: Some("two"),
        rows: None,
    };
    let (left, _) = both.forget(what, &Unwatched).unwrap();
    assert_eq!(bytes(&left), bytes(&one));
    let scores = updated.score(&labelled(500, 700, THREE)).unwrap();
    assert!(scores.classes().unwrap().error_rate < 0.12);
}

#[test]
fn labels_that_cannot_be_used_are_refused_with_their_place() {
    let exact = || spec(MethodChoice::Exact, ModeChoice::Auto);
    let refused = |spec: &ModelSpec, frame: &Frame| {
        Model::fit(spec, frame, &Unwatched).unwrap_err().to_string()
    };
    let alone = refused(&exact(), &labelled(0, 60, &[]));
    assert!(alone.contains("nothing to tell apart"), "{alone}");
    let binary = ModelSpec {
        task: TaskChoice::Binary,
        ..exact()
    };
    let three = refused(&binary, &labelled(0, 60, THREE));
    assert!(three.contains("needs two labels"), "{three}");
    let numbers = ModelSpec {
        task: TaskChoice::Regression,
        ..exact()
    };
    let text = refused(&numbers, &labelled(0, 60, THREE));
    assert!(text.contains("must be a column of numbers"), "{text}");
    let noisy = ModelSpec {
        noise_variance: Some(0.1),
        ..exact()
    };
    let noisy = refused(&noisy, &labelled(0, 60, THREE));
    assert!(noisy.contains("numbers only"), "{noisy}");
    let model = Model::fit(&exact(), &labelled(0, 200, &[0.5]), &Unwatched).unwrap();
    let unseen = model.score(&labelled(0, 200, THREE)).unwrap_err();
    assert!(
        unseen
            .to_string()
            .contains("was not among those of training")
    );
}

#[test]
fn a_class_with_one_row_is_fitted_and_remarked() {
    let frame = labelled(0, 120, &[0.5]);
    let mut columns = frame.columns.clone();
    if let Column::Text(labels) = &mut columns[3] {
        labels[17] = Some("rare".into());
    }
    let frame = Frame::new(frame.header.clone(), columns, 1).unwrap();
    let exact = spec(MethodChoice::Exact, ModeChoice::Auto);
    let model = Model::fit(&exact, &frame, &Unwatched).unwrap();
    assert!(model.notes().join(" ").contains("class `rare` has one row"));
    let found = classes(&model, &frame);
    assert!(found.probabilities.iter().all(|p| p.is_finite()));
}

/// All numbers of one column moved: rows far from everything seen.
#[test]
fn far_from_all_rows_the_likeliest_class_is_the_most_frequent() {
    let exact = spec(MethodChoice::Exact, ModeChoice::Auto);
    let train = labelled(0, 400, &[1.2]);
    let model = Model::fit(&exact, &train, &Unwatched).unwrap();
    let mut columns = train.columns.clone();
    if let Column::Number(cells) = &mut columns[0] {
        cells.iter_mut().for_each(|cell| *cell += 1e4);
    }
    let far = Frame::new(train.header.clone(), columns, 1).unwrap();
    let found = classes(&model, &far);
    let shares = found.classes.shares().to_vec();
    let most = if shares[0] > shares[1] { 0 } else { 1 };
    assert!(found.decisions().iter().all(|class| *class == most));
    let probability = found.row(0)[most];
    assert!(probability < 0.9, "{probability} of {shares:?}");
}
