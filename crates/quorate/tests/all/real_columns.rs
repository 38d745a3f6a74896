//! Categories, dates and missing cells on real tables: each column must earn its place on rows never seen.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::sync::Arc;

use quorate::gp::data::{Column, ColumnType, Frame, Header};
use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec, TaskChoice};

const TRAIN: usize = 600;
const TEST: usize = 1000;

/// Root mean squared error on later rows of a model with these inputs.
fn error_with(frame: &Frame, target: &str, inputs: &[&str]) -> f64 {
    // A fixed stride spreads both samples over the whole table.
    let stride = frame.rows() / (TRAIN + TEST).min(frame.rows());
    let rows: Vec<usize> = (0..frame.rows()).step_by(stride.max(1)).collect();
    let train: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|r| (r / stride) % 8 < 3)
        .take(TRAIN)
        .collect();
    let test: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|r| (r / stride) % 8 >= 3)
        .take(TEST)
        .collect();
    let mut spec = ModelSpec::new(target);
    spec.inputs = Some(inputs.iter().map(|name| (*name).into()).collect());
    spec.restarts = Some(1);
    spec.task = TaskChoice::Regression;
    let model = Model::fit(&spec, &frame.select_rows(&train), &Unwatched).unwrap();
    model.evaluate(&frame.select_rows(&test)).unwrap().rmse
}

fn with_text(frame: &Frame, name: &str, kind: ColumnType, cells: Column) -> Frame {
    let mut names = frame.header.names.clone();
    let mut types = frame.header.types.clone();
    let mut columns = frame.columns.clone();
    names.push(name.into());
    types.push(kind);
    columns.push(cells);
    let header = Header {
        source: frame.header.source.clone(),
        names,
        types,
    };
    Frame::new(Arc::new(header), columns, 1).unwrap()
}

fn table(name: &str) -> Option<Frame> {
    let path = common::data_file(name);
    if path.is_none() {
        common::skipped(name);
    }
    path.map(|path| common::read(&path))
}

fn earns_its_place(frame: &Frame, target: &str, others: &[&str], column: &str) -> usize {
    let without = error_with(frame, target, others);
    let mut all = others.to_vec();
    all.push(column);
    let with = error_with(frame, target, &all);
    println!("{column}: rmse {with:.4} with it, {without:.4} without");
    assert!(
        with < 0.99 * without,
        "{column}: {with} with it, {without} without"
    );
    all.len()
}

#[test]
fn a_category_of_three_levels_helps() {
    let Some(abalone) = table("abalone.csv.gz") else {
        return;
    };
    let indicator = |name: &str| common::numbers_of(&abalone, name);
    let (male, female) = (indicator("sex_M"), indicator("sex_F"));
    let sex = male.iter().zip(female).map(|(m, f)| {
        let level = if *m == 1.0 {
            "M"
        } else if f == 1.0 {
            "F"
        } else {
            "I"
        };
        Some(Arc::from(level))
    });
    let frame = with_text(
        &abalone,
        "sex",
        ColumnType::Text,
        Column::Text(sex.collect()),
    );
    earns_its_place(&frame, "y", &["diameter"], "sex");
}

#[test]
fn a_category_of_three_hundred_levels_helps() {
    let Some(california) = table("california.csv.gz") else {
        return;
    };
    let (longitude, latitude) = (
        common::numbers_of(&california, "longitude"),
        common::numbers_of(&california, "latitude"),
    );
    let cells: Vec<Option<Arc<str>>> = longitude
        .iter()
        .zip(&latitude)
        .map(|(x, y)| Some(Arc::from(format!("{:.0}/{:.0}", x * 2.5, y * 2.5))))
        .collect();
    let levels: std::collections::BTreeSet<_> = cells.iter().collect();
    assert!(
        (200..400).contains(&levels.len()),
        "{} levels",
        levels.len()
    );
    let frame = with_text(&california, "cell", ColumnType::Text, Column::Text(cells));
    earns_its_place(
        &frame,
        "y",
        &["median_income", "housing_median_age"],
        "cell",
    );
}

#[test]
fn a_date_helps() {
    let Some(bike) = table("bike_hourly_counts.parquet") else {
        return;
    };
    // Days since 1 January 2011 become dates: days since 1970 as the readers give them.
    let days = common::numbers_of(&bike, "day")
        .iter()
        .map(|d| d + 14_975.0)
        .collect();
    let frame = with_text(&bike, "date", ColumnType::Date, Column::Number(days));
    earns_its_place(&frame, "y", &["hr", "temp", "workingday"], "date");
}

#[test]
fn a_column_with_missing_cells_helps() {
    let Some(wisconsin) = table("breast_wisconsin.csv.gz") else {
        return;
    };
    let cells = common::numbers_of(&wisconsin, "Bare.nuclei");
    assert_eq!(cells.iter().filter(|v| v.is_nan()).count(), 16);
    earns_its_place(
        &wisconsin,
        "label",
        &["Cl.thickness", "Mitoses"],
        "Bare.nuclei",
    );
}

#[test]
fn columns_of_classes_get_length_scales_of_their_own_only_where_unseen_rows_gain() {
    let Some(ionosphere) = table("ionosphere.csv.gz") else {
        return;
    };
    let (train, test): (Vec<usize>, Vec<usize>) =
        (0..ionosphere.rows()).partition(|row| row % 2 == 0);
    let mut spec = ModelSpec::new("label");
    spec.task = TaskChoice::Binary;
    let model = Model::fit(&spec, &ionosphere.select_rows(&train), &Unwatched).unwrap();
    let kernel = model.kernel().structure().to_string();
    assert!(!kernel.contains("ard"), "{kernel}");
    // The evidence of the training rows prefers 33 length scales, with which the loss is 0.345.
    let scores = model.score(&ionosphere.select_rows(&test)).unwrap();
    let scores = scores.classes().unwrap();
    assert!(scores.log_loss < 0.26, "{scores:?}");
}
