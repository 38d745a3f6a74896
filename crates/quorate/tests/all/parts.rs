//! Parts: adding, merging and forgetting them equals having or never having fitted them.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::shards::{bytes, quick, table};
use quorate::gp::data::Frame;
use quorate::gp::watch::Unwatched;
use quorate::landmarks::{LandmarkBelief, Summary, SummaryTree, cut};
use quorate::parts::Forget;
use quorate::{Model, ModelSpec, file};

fn update(model: Model, rows: &Frame, name: &str, keep: bool) -> Model {
    model.update(rows, name, keep, &Unwatched).unwrap().0
}

/// A copy, through its file.
fn copy(model: &Model) -> Model {
    file::from_bytes(&bytes(model), "copy").unwrap()
}

fn prepared() -> Model {
    Model::prepare(&quick(), &table(0, 200), &Unwatched).unwrap()
}

/// Greatest distance between the answers of two models, in means and deviations.
fn distance(a: &Model, b: &Model) -> f64 {
    let query = table(5000, 5060);
    let (a, b) = (a.predict(&query).unwrap(), b.predict(&query).unwrap());
    let means = a.mean.iter().zip(&b.mean).map(|(a, b)| (a - b).abs());
    let spread = a.latent_variance.iter().zip(&b.latent_variance);
    means
        .chain(spread.map(|(a, b)| (a - b).abs()))
        .fold(0.0, f64::max)
}

#[test]
fn an_updated_model_equals_the_fit_of_all_parts() {
    let (a, b) = (table(0, 230), table(230, 410));
    let model = Model::fit(&quick(), &a, &Unwatched).unwrap();
    let updated = update(copy(&model), &b, "b", false);
    // The same parts by hand, under the specification of the first fit.
    let committee = model.committee().unwrap();
    let kernel = model.kernel().bind(model.schema().columns()).unwrap();
    let landmarks = committee.under(kernel.clone()).unwrap();
    let page = model.inspect().unwrap();
    let deviation = model.schema().target_deviation();
    let noise = quorate::gp::likelihood::GaussianNoise {
        variance: page.noise_variance / deviation / deviation,
    };
    let how = &committee.parts[0].record.cut;
    let data = model.schema().training_data(&a).unwrap();
    let (held, others) = how.held_out_rows(data.rows());
    let further = model.schema().training_data(&b).unwrap();
    let mut tree = SummaryTree::default();
    for rows in [data.select(&others), data.select(&held), further] {
        for part in cut(&kernel, &rows, how, None, &Unwatched).unwrap() {
            tree.push(Summary::of_part(&landmarks, noise, &part).unwrap())
                .unwrap();
        }
    }
    let total = tree.total(landmarks.count()).unwrap();
    let belief = LandmarkBelief::new(landmarks, &total).unwrap();
    let evidence = updated.log_evidence().unwrap();
    assert!((evidence - belief.log_evidence()).abs() < 1e-10 * evidence.abs());
    let query = table(5000, 5060);
    let encoded = model.schema().encode(&query).unwrap();
    use quorate::gp::posterior::Predict;
    let expected = belief.marginals(encoded.inputs()).unwrap();
    let found = updated.predict(&query).unwrap();
    let scale = model.schema().target_scale();
    for row in 0..query.rows() {
        let mean = scale.undo(expected.mean[(row, 0)]);
        assert!((found.mean[row] - mean).abs() < 1e-10 * (1.0 + mean.abs()));
        let variance = deviation * deviation * expected.variance[(row, 0)];
        assert!((found.latent_variance[row] - variance).abs() < 1e-10 * deviation * deviation);
    }
    assert_eq!(updated.inspect().unwrap().rows, 410);
}

#[test]
fn shards_prepared_together_merge_to_the_fit_of_the_same_parts_in_any_order() {
    let base = prepared();
    assert_eq!(base.inspect().unwrap().rows, 0);
    let shards = [(200, 330), (330, 400), (400, 520)];
    let name = |i: usize| format!("shard-{i}");
    for keep in [false, true] {
        let one = |i: usize| {
            let (from, to) = shards[i];
            let model = update(copy(&base), &table(from, to), &name(i), keep);
            (name(i), model)
        };
        let together = |order: [usize; 3]| Model::merge(order.map(one).into()).unwrap();
        let merged = together([0, 1, 2]);
        for order in [[2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            assert_eq!(bytes(&merged), bytes(&together(order)));
        }
        let mut sequential = copy(&base);
        for (i, (from, to)) in shards.iter().enumerate() {
            sequential = update(sequential, &table(*from, *to), &name(i), keep);
        }
        assert!(distance(&merged, &sequential) < 1e-10);
        let (ours, theirs) = (merged.log_evidence(), sequential.log_evidence());
        assert!((ours.unwrap() - theirs.unwrap()).abs() < 1e-9 * ours.unwrap().abs());
        assert_eq!(merged.inspect().unwrap().rows, 320);
    }
}

#[test]
fn merging_three_at_once_and_two_by_two_agrees_to_the_last_bit_where_parts_are_kept() {
    let base = prepared();
    let part = |i: usize| {
        let rows = table(200 + 50 * i, 250 + 50 * i);
        let name = format!("p{i}");
        (name.clone(), update(copy(&base), &rows, &name, true))
    };
    let at_once = Model::merge(vec![part(0), part(1), part(2)]).unwrap();
    let last_two = Model::merge(vec![part(2), part(1)]).unwrap();
    let stepwise = Model::merge(vec![("tail".into(), last_two), part(0)]).unwrap();
    assert_eq!(
        at_once.committee().unwrap().total,
        stepwise.committee().unwrap().total
    );
}

#[test]
fn forgetting_equals_never_having_seen_both_ways() {
    let base = prepared();
    let (a, b, c) = (table(200, 330), table(330, 400), table(400, 520));
    for keep in [false, true] {
        let with = |names: &[&str]| {
            names.iter().fold(copy(&base), |model, name| {
                let rows = match *name {
                    "a" => &a,
                    "b" => &b,
                    _ => &c,
                };
                update(model, rows, name, keep)
            })
        };
        let (whole, never) = (with(&["a", "b", "c"]), with(&["a", "c"]));
        let by_rows = Forget {
            rows: Some(&b),
            ..Forget::default()
        };
        let by_name = Forget {
            part: Some("b"),
            rows: (!keep).then_some(&b),
        };
        for what in [by_rows, by_name] {
            let (model, certificate) = copy(&whole).forget(what, &Unwatched).unwrap();
            assert!(distance(&model, &never) < 1e-8);
            assert_eq!(certificate.part, "b");
            assert_eq!((certificate.rows, certificate.rows_left), (70, 250));
            let source = if keep { "kept" } else { "recomputed" };
            assert_eq!(certificate.summary, source);
            if keep {
                assert_eq!(bytes(&model), bytes(&never), "nothing of it is left");
            }
        }
    }
}

#[test]
fn a_part_can_be_forgotten_however_its_rows_were_cut() {
    for parts in ["random", "cluster", "given", "column:site"] {
        let spec = ModelSpec {
            parts: Some(parts.parse().unwrap()),
            ..quick()
        };
        let base = Model::fit(&spec, &table(0, 200), &Unwatched).unwrap();
        let rows = table(330, 480);
        let whole = update(copy(&base), &rows, "b", false);
        assert!(distance(&base, &whole) > 1e-3);
        let what = Forget {
            rows: Some(&rows),
            ..Forget::default()
        };
        let (model, _) = whole.forget(what, &Unwatched).unwrap();
        assert!(distance(&model, &base) < 1e-8, "{parts}");
    }
}

#[test]
fn the_rows_of_the_fit_can_be_forgotten_too() {
    let rows = table(0, 230);
    let model = Model::fit(&quick(), &rows, &Unwatched).unwrap();
    let updated = update(copy(&model), &table(230, 400), "b", false);
    let what = Forget {
        part: Some("part-1"),
        rows: Some(&rows),
    };
    let (left, _) = updated.forget(what, &Unwatched).unwrap();
    let (nothing, certificate) = copy(&model).forget(what, &Unwatched).unwrap();
    assert_eq!(certificate.parts_left, 0);
    let only_b = update(nothing, &table(230, 400), "b", false);
    assert!(distance(&left, &only_b) < 1e-8);
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason() {
    let base = prepared();
    let model = update(copy(&base), &table(200, 300), "a", false);
    let error = |result: quorate::Result<Model>| result.unwrap_err().to_string();
    let forget = |part: Option<&str>, rows: Option<&Frame>| {
        let what = Forget { part, rows };
        error(
            copy(&model)
                .forget(what, &Unwatched)
                .map(|(model, _)| model),
        )
    };
    let wrong = table(200, 299);
    assert!(forget(Some("a"), Some(&wrong)).contains("not the rows of part `a`"));
    assert!(forget(None, Some(&wrong)).contains("no part of the model has these rows"));
    assert!(forget(Some("a"), None).contains("was not kept"));
    assert!(forget(Some("z"), None).contains("it has a"));

    let again = copy(&model).update(&table(300, 350), "a", false, &Unwatched);
    assert!(error(again.map(|(model, _)| model)).contains("a part `a` already"));
    let twice = Model::merge(vec![("m".into(), copy(&model)), ("n".into(), copy(&model))]);
    assert!(error(twice).contains("part `a`"));

    let other = ModelSpec {
        landmarks: Some(20),
        ..quick()
    };
    let other = Model::prepare(&other, &table(0, 200), &Unwatched).unwrap();
    let foreign = Model::merge(vec![("m".into(), copy(&model)), ("n".into(), other)]);
    let message = error(foreign);
    assert!(message.contains("differ in their landmarks:"), "{message}");
    let other = Model::prepare(&quick(), &table(10, 210), &Unwatched).unwrap();
    let foreign = Model::merge(vec![("m".into(), copy(&model)), ("n".into(), other)]);
    assert!(error(foreign).contains("scaling"));

    let exact = ModelSpec {
        kernel: "se".parse().unwrap(),
        ..ModelSpec::new("y")
    };
    let exact = Model::fit(&exact, &table(0, 40), &Unwatched).unwrap();
    let refused = exact.update(&table(40, 50), "b", false, &Unwatched);
    assert!(error(refused.map(|(model, _)| model)).contains("--mode landmarks"));
}

#[test]
fn rows_outside_the_range_are_noted() {
    let mut far = table(200, 220);
    if let quorate::gp::data::Column::Number(x) = &mut far.columns[0] {
        x[3] = 40.0;
    }
    let (_, notes) = prepared().update(&far, "far", false, &Unwatched).unwrap();
    let text = notes.join("\n");
    assert!(text.contains("column `x`: 1 of 20 rows"), "{text}");
}
