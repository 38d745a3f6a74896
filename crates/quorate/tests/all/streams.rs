//! Tables too long to be held: absorbed as they come, with what a sample of them says.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::shards::{bytes, quick, table};
use quorate::gp::data::{Chunks, Column, Frame, InMemory};
use quorate::gp::watch::Unwatched;
use quorate::landmarks::{CHUNK_ROWS, Summary, SummaryTree, cut};
use quorate::model::{survey, survey_first};
use quorate::parts::Forget;
use quorate::{Model, ModelSpec};

const ROWS: usize = CHUNK_ROWS + 9_000;

/// A table in small batches.
fn in_batches(frame: &Frame, size: usize) -> Chunks<InMemory> {
    Chunks::new(InMemory::new(frame.clone()), size)
}

fn streamed(spec: &ModelSpec, frame: &Frame, size: usize) -> Model {
    let survey = survey(&mut in_batches(frame, size), spec.seed).unwrap();
    let plan = Model::plan(spec, &survey).unwrap();
    assert!(plan.streams());
    let mut rows = in_batches(frame, size);
    Model::fit_stream(spec, &plan, &survey, &mut rows, &Unwatched).unwrap()
}

/// The rows in the order of a column.
fn sorted(frame: &Frame, column: &str) -> Frame {
    let Some(Column::Number(cells)) = frame.column(column) else {
        panic!("no numbers");
    };
    let mut order: Vec<usize> = (0..frame.rows()).collect();
    order.sort_by(|&a, &b| cells[a].total_cmp(&cells[b]));
    let rows = frame.select_rows(&order);
    // A file of its own, with numbers of its own.
    Frame::new(rows.header.clone(), rows.columns, 1).unwrap()
}

#[test]
fn a_long_table_gives_the_same_bytes_from_memory_and_in_any_batches() {
    let whole = table(0, ROWS);
    let model = Model::fit(&quick(), &whole, &Unwatched).unwrap();
    assert!(bytes(&model) == bytes(&streamed(&quick(), &whole, 777)));
    assert!(bytes(&model) == bytes(&streamed(&quick(), &whole, 20_000)));
    let page = model.inspect().unwrap();
    assert_eq!(page.rows, ROWS);
    assert_eq!(page.held_out.unwrap().rows(), 4000);
    assert!(page.notes.iter().any(|note| note.contains("random rows")));
}

#[test]
fn the_sum_of_a_stream_is_that_of_its_chunks_one_by_one() {
    let whole = table(0, ROWS);
    let model = streamed(&quick(), &whole, 777);
    let committee = model.committee().unwrap();
    let record = &committee.parts[0].record;
    let how = record.streamed.clone().unwrap();
    assert_eq!((how.chunk, how.held_out.len()), (CHUNK_ROWS, 4000));
    let kernel = model.kernel().bind(model.schema().columns()).unwrap();
    let landmarks = committee.under(kernel.clone()).unwrap();
    let deviation = model.schema().target_deviation();
    let noise = quorate::gp::likelihood::GaussianNoise {
        variance: model.inspect().unwrap().noise_variance / deviation / deviation,
    };
    let others: Vec<usize> = (0..ROWS).filter(|r| !how.held_out.contains(r)).collect();
    let middle = others.partition_point(|&row| row < CHUNK_ROWS);
    let lists = [&others[..middle], &others[middle..], &how.held_out];
    let mut tree = SummaryTree::default();
    for rows in lists {
        let data = model.schema().training_data(&whole.select_rows(rows));
        for part in cut(&kernel, &data.unwrap(), &record.cut, None, &Unwatched).unwrap() {
            tree.push(Summary::of_part(&landmarks, noise, &part).unwrap())
                .unwrap();
        }
    }
    let total = tree.total(landmarks.count()).unwrap();
    let scale = total.information.norm_max();
    let mut worst: f64 = 0.0;
    for column in 0..landmarks.count() {
        for row in column..landmarks.count() {
            let (a, b) = (&total.information, &committee.total.information);
            worst = worst.max((a[(row, column)] - b[(row, column)]).abs());
        }
    }
    assert!(worst < 1e-12 * scale, "{worst} beside {scale}");
    assert!((total.rows - ROWS as f64).abs() < 0.5);
    assert_eq!(record.rows, ROWS);
}

#[test]
fn a_file_sorted_by_its_target_is_learned_as_well_as_a_shuffled_one() {
    let spec = ModelSpec {
        learn: quorate::LearnChoice::Auto,
        restarts: Some(0),
        kernel: "matern52 * category".parse().unwrap(),
        part_size: Some(200),
        landmarks: Some(60),
        ..quick()
    };
    let shuffled = table(0, ROWS);
    let (plain, sorted) = (
        streamed(&spec, &shuffled, 8192),
        streamed(&spec, &sorted(&shuffled, "y"), 8192),
    );
    let test = table(1_000_000, 1_002_000);
    let scores = |model: &Model| model.evaluate(&test).unwrap();
    let (plain, sorted) = (scores(&plain), scores(&sorted));
    // Noise of deviation 0.1 is nearly all that is left by sixty landmarks; the targets' own deviation is 0.9.
    assert!(plain.rmse < 0.115, "{}", plain.rmse);
    assert!(
        sorted.rmse < 1.02 * plain.rmse,
        "{} {}",
        sorted.rmse,
        plain.rmse
    );
    assert!(
        (0.92..0.98).contains(&sorted.coverage_95),
        "{}",
        sorted.coverage_95
    );
}

#[test]
fn rows_that_leave_the_range_of_the_first_are_told() {
    let whole = sorted(&table(0, ROWS), "x");
    let mut source = in_batches(&whole, 1000);
    let (survey, next) = survey_first(&mut source).unwrap();
    assert!(survey.goes_on);
    let plan = Model::plan(&quick(), &survey).unwrap();
    let rest = Chunks::behind(next.unwrap(), source, CHUNK_ROWS);
    let mut rows = Chunks::behind(survey.sample.clone(), rest, CHUNK_ROWS);
    let model = Model::fit_stream(&quick(), &plan, &survey, &mut rows, &Unwatched).unwrap();
    let outside = model.notes().iter().find(|note| note.contains("outside"));
    let note = outside.unwrap();
    assert!(
        note.starts_with("column `x`: ") && note.contains(&format!("of {ROWS} rows")),
        "{note}"
    );
}

#[test]
fn a_long_part_is_added_in_one_pass_and_forgotten_again() {
    let model = Model::fit(&quick(), &table(0, 300), &Unwatched).unwrap();
    let before = model.inspect().unwrap().log_evidence.unwrap();
    let long = table(300, 300 + ROWS);
    let mut rows = in_batches(&long, 4000);
    let (model, _) = model
        .update_stream(&mut rows, "long", false, &Unwatched)
        .unwrap();
    assert_eq!(model.inspect().unwrap().rows, 300 + ROWS);
    let what = Forget {
        part: None,
        rows: Some(&long),
    };
    let (model, certificate) = model.forget(what, &Unwatched).unwrap();
    assert_eq!(
        (certificate.part.as_str(), certificate.rows),
        ("long", ROWS)
    );
    let after = model.inspect().unwrap().log_evidence.unwrap();
    // What rounding the long part's evidence, some ten thousand nats, leaves behind.
    assert!(
        (after - before).abs() < 1e-7 * before.abs(),
        "{after} {before}"
    );
}
