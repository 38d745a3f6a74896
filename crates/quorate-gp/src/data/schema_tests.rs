#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::*;
use crate::data::{ColumnKind, Header};

fn number(cells: &[f64]) -> Column {
    Column::Number(cells.to_vec())
}

pub(super) fn text(cells: &[&str]) -> Column {
    let cell = |&text: &&str| (!text.is_empty()).then(|| Arc::from(text));
    Column::Text(cells.iter().map(cell).collect())
}

pub(super) fn table(columns: Vec<(&str, Column)>) -> Frame {
    let frame = Frame::from_columns(columns).unwrap();
    let header = Header {
        source: "t.csv".into(),
        ..(*frame.header).clone()
    };
    Frame::new(Arc::new(header), frame.columns, 1).unwrap()
}

fn learn(frame: &Frame) -> (Schema, Vec<String>) {
    Schema::learn(frame, &Roles::of_target("y")).unwrap()
}

fn message(frame: &Frame, roles: &Roles) -> String {
    Schema::learn(frame, roles).unwrap_err().to_string()
}

pub(super) fn weighted() -> Roles {
    Roles {
        weight: Some("w".into()),
        ..Roles::of_target("y")
    }
}

#[test]
fn numbers_are_standardised_and_the_target_too() {
    let frame = table(vec![
        ("x", number(&[1.0, 3.0, 5.0, 7.0])),
        ("y", number(&[10.0, 20.0, 30.0, 40.0])),
    ]);
    let (schema, notes) = learn(&frame);
    assert!(notes.is_empty());
    let deviation = 5f64.sqrt();
    assert_eq!(
        schema.columns(),
        [InputColumn {
            name: "x".into(),
            kind: ColumnKind::Number,
            deviation
        }]
    );
    assert_eq!(schema.target_mean(), 25.0);
    assert_eq!(schema.target_deviation(), 125f64.sqrt());
    let data = schema.training_data(&frame).unwrap();
    for (row, x) in [1.0, 3.0, 5.0, 7.0].into_iter().enumerate() {
        assert_eq!(data.inputs().row(row), [(x - 4.0) / deviation]);
        let y = schema.target_scale().undo(data.targets()[row]);
        assert!((y - 10.0 * (row + 1) as f64).abs() < 1e-13);
    }
    assert_eq!(schema.targets(&frame).unwrap(), [10.0, 20.0, 30.0, 40.0]);
}

#[test]
fn a_missing_number_is_the_mean_with_an_indicator_behind_it() {
    let frame = table(vec![
        ("a", number(&[1.0, f64::NAN, 3.0])),
        ("b", number(&[1.0, 2.0, 6.0])),
        ("y", number(&[0.0, 1.0, 2.0])),
    ]);
    let (schema, _) = learn(&frame);
    let kinds: Vec<_> = schema
        .columns()
        .iter()
        .map(|column| column.kind.clone())
        .collect();
    assert_eq!(
        kinds,
        [ColumnKind::Number, ColumnKind::Missing, ColumnKind::Number]
    );
    assert_eq!(schema.missing_cells(), [("a", 1)]);
    let encoded = schema.encode(&frame).unwrap();
    assert_eq!(encoded.missing_cells, 1);
    assert!(encoded.notes.is_empty());
    assert_eq!(encoded.inputs().row(0)[..2], [-1.0, 0.0]);
    assert_eq!(encoded.inputs().row(1)[..2], [0.0, 1.0]);

    let asked = table(vec![("a", number(&[2.0])), ("b", number(&[f64::NAN]))]);
    let encoded = schema.encode(&asked).unwrap();
    assert_eq!(encoded.inputs().row(0), [0.0, 0.0, 0.0]);
    assert_eq!(encoded.missing_cells, 1);
    assert!(encoded.notes[0].contains("`b`"));
}

#[test]
fn text_is_a_category_of_sorted_levels() {
    let frame = table(vec![
        (
            "site",
            text(&["north", "east", "north", "", "east", "west"]),
        ),
        ("y", number(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
    ]);
    let (schema, _) = learn(&frame);
    assert_eq!(
        schema.levels("site").unwrap(),
        ["(missing)", "east", "north", "west"]
    );
    assert_eq!(schema.columns()[0].kind, ColumnKind::Category { levels: 4 });
    let asked = table(vec![("site", text(&["west", "south", ""]))]);
    let encoded = schema.encode(&asked).unwrap();
    assert_eq!(encoded.values, [3.0, 4.0, 0.0]);
    assert_eq!((encoded.unseen_levels, encoded.missing_cells), (1, 1));
}

#[test]
fn a_missing_level_that_training_did_not_have_is_not_seen() {
    let frame = table(vec![
        ("site", text(&["a", "b", "a"])),
        ("y", number(&[1.0, 2.0, 3.0])),
    ]);
    let (schema, _) = learn(&frame);
    let encoded = schema
        .encode(&table(vec![("site", text(&["", "b"]))]))
        .unwrap();
    assert_eq!(encoded.values, [2.0, 1.0]);
    assert_eq!((encoded.unseen_levels, encoded.missing_cells), (0, 1));
    assert_eq!(encoded.notes.len(), 1);
}

#[test]
fn codes_of_a_category_may_come_as_numbers() {
    let frame = table(vec![
        ("site", text(&["1", "2", "1", "x"])),
        ("y", number(&[1.0, 2.0, 3.0, 4.0])),
    ]);
    let (schema, _) = learn(&frame);
    let encoded = schema
        .encode(&table(vec![("site", number(&[2.0, 1.0, 9.0, f64::NAN]))]))
        .unwrap();
    assert_eq!(encoded.values, [1.0, 0.0, 3.0, 3.0]);
    assert_eq!((encoded.unseen_levels, encoded.missing_cells), (1, 1));
}

#[test]
fn columns_that_say_nothing_are_dropped_with_a_note() {
    let frame = table(vec![
        ("same", number(&[2.0, 2.0, 2.0])),
        ("empty", number(&[f64::NAN, f64::NAN, f64::NAN])),
        ("name", text(&["p", "q", "r"])),
        ("word", text(&["p", "p", "p"])),
        ("void", text(&["", "", ""])),
        ("flag", number(&[1.0, f64::NAN, 1.0])),
        ("y", number(&[1.0, 2.0, 4.0])),
    ]);
    let (schema, notes) = learn(&frame);
    assert_eq!(
        notes,
        [
            "column `same` is constant and was dropped",
            "column `empty` has no value in any row and was dropped",
            "column `name` is different in every row, as an identifier is, and was dropped",
            "column `word` is constant and was dropped",
            "column `void` has no value in any row and was dropped",
            "column `flag` has one value only; the model can use whether it is missing",
        ]
    );
    assert_eq!(schema.columns().len(), 2);
    assert_eq!(
        schema.encode(&frame).unwrap().values,
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    );
    assert_eq!(
        schema.expected_types(),
        [("flag".to_string(), ColumnType::Number)]
    );
}

#[test]
fn a_constant_target_is_allowed() {
    let frame = table(vec![("x", number(&[1.0, 2.0])), ("y", number(&[3.0, 3.0]))]);
    let (schema, notes) = learn(&frame);
    assert_eq!(
        (schema.target_mean(), schema.target_deviation()),
        (3.0, 1.0)
    );
    assert!(notes[0].contains("constant"));
    assert_eq!(schema.training_data(&frame).unwrap().targets(), [0.0, 0.0]);
}

#[test]
fn known_noise_is_in_units_of_the_targets_variance() {
    let frame = table(vec![
        ("x", number(&[1.0, 2.0])),
        ("n", number(&[0.0, 8.0])),
        ("y", number(&[1.0, 5.0])),
    ]);
    let roles = Roles {
        noise: Some("n".into()),
        ..Roles::of_target("y")
    };
    let (schema, _) = Schema::learn(&frame, &roles).unwrap();
    assert_eq!(schema.target_deviation(), 2.0);
    assert_eq!(
        schema.training_data(&frame).unwrap().known_noise(),
        [0.0, 2.0]
    );
}

#[test]
fn a_row_of_weight_0_is_absent() {
    let frame = table(vec![
        ("x", number(&[1.0, f64::INFINITY, 3.0])),
        ("s", text(&["a", "gone", "b"])),
        ("w", number(&[2.0, 0.0, 1.0])),
        ("y", number(&[1.0, f64::NAN, 4.0])),
    ]);
    let (schema, notes) = Schema::learn(&frame, &weighted()).unwrap();
    assert_eq!(notes, ["1 row has weight 0 and was left out"]);
    assert_eq!(schema.levels("s").unwrap(), ["a", "b"]);
    assert_eq!(schema.target_mean(), 2.0);
    let data = schema.training_data(&frame).unwrap();
    let rows: Vec<usize> = data.members().iter().map(|member| member.row).collect();
    assert_eq!(rows, [0, 2]);
    assert_eq!(data.weights(), [2.0, 1.0]);
}

#[test]
fn bad_cells_are_named_by_file_row_and_column() {
    let roles = Roles {
        noise: Some("n".into()),
        ..weighted()
    };
    let good = [
        ("x", number(&[1.0, 2.0])),
        ("w", number(&[1.0, 1.0])),
        ("n", number(&[1.0, 1.0])),
        ("y", number(&[1.0, 2.0])),
    ];
    let check = |place: usize, column: Column| {
        let mut columns = good.to_vec();
        columns[place].1 = column;
        let frame = table(columns);
        match Schema::learn(&frame, &roles) {
            Err(error) => error.to_string(),
            Ok((schema, _)) => schema.training_data(&frame).unwrap_err().to_string(),
        }
    };
    let infinity = f64::INFINITY;
    for (place, column, start) in [
        (
            0,
            number(&[1.0, infinity]),
            "t.csv:2:x: the number is infinite",
        ),
        (1, number(&[1.0, -1.0]), "t.csv:2:w: the weight is -1"),
        (
            1,
            number(&[f64::NAN, 1.0]),
            "t.csv:1:w: the weight is missing",
        ),
        (1, number(&[0.0, 0.0]), "t.csv:w: every weight is 0"),
        (1, text(&["a", "b"]), "t.csv:1:w: found «a» where a weight"),
        (1, text(&["1", "b"]), "t.csv:2:w: found «b» where a weight"),
        (
            2,
            text(&["1", "b"]),
            "t.csv:2:n: found «b» where a known noise variance",
        ),
        (
            2,
            number(&[1.0, -2.0]),
            "t.csv:2:n: the known noise variance is -2",
        ),
        (
            2,
            number(&[1.0, f64::NAN]),
            "t.csv:2:n: the known noise variance is missing",
        ),
        (
            2,
            number(&[1.0, infinity]),
            "t.csv:2:n: the known noise variance is inf",
        ),
        (
            3,
            number(&[1.0, f64::NAN]),
            "t.csv:2:y: the target is missing",
        ),
        (
            3,
            number(&[1.0, -infinity]),
            "t.csv:2:y: the target is infinite",
        ),
        (3, text(&["", "high"]), "t.csv:2:y: «high» is not a number"),
        (
            3,
            text(&["2.5", "high"]),
            "t.csv:2:y: «high» is not a number",
        ),
        (
            3,
            number(&[1.0, -2e150]),
            "t.csv:2:y: the target is -2e150, and squared errors",
        ),
        (
            3,
            number(&[1e-200, 3e-200]),
            "t.csv:y: the target has a deviation of 1.0e-200",
        ),
        (0, number(&[7.0, 7.0]), "t.csv: no input column is left"),
    ] {
        let found = check(place, column);
        assert!(found.starts_with(start), "{found}");
    }
    let empty = table(vec![("x", number(&[])), ("y", number(&[]))]);
    assert!(message(&empty, &Roles::of_target("y")).starts_with("t.csv: the table has no rows"));
}

#[test]
fn a_table_to_predict_must_look_like_the_training_table() {
    let mut frame = table(vec![
        ("height", number(&[1.0, 2.0])),
        ("y", number(&[1.0, 2.0])),
    ]);
    let (schema, _) = learn(&frame);
    let failed = |columns| schema.encode(&table(columns)).unwrap_err().to_string();
    assert_eq!(
        failed(vec![("heigth", number(&[1.0]))]),
        "t.csv: there is no column `height`; did you mean `heigth`?"
    );
    assert_eq!(
        failed(vec![("height", text(&["", "tall"]))]),
        "t.csv:2:height: found text where training had numbers; write the column as it was written then"
    );
    assert!(failed(vec![("height", number(&[1e300]))]).contains("too far"));
    let blank = schema
        .encode(&table(vec![("height", text(&["", ""]))]))
        .unwrap();
    assert_eq!(blank.missing_cells, 2);

    frame.header = Arc::new(Header {
        types: vec![ColumnType::Date, ColumnType::Number],
        ..(*frame.header).clone()
    });
    assert!(
        schema
            .encode(&frame)
            .unwrap_err()
            .to_string()
            .contains("found dates")
    );
    let (dated, _) = learn(&frame);
    assert!(dated.encode(&frame).is_ok());
}

#[test]
fn a_schema_survives_its_file_and_a_damaged_one_is_refused() {
    let frame = table(vec![
        ("a", number(&[0.1, f64::NAN, 0.7])),
        ("s", text(&["p", "q", "p"])),
        ("y", number(&[0.3, 1.0, 2.0])),
    ]);
    let (schema, _) = learn(&frame);
    let stored = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&stored).unwrap(), schema);
    for (from, to) in [
        ("[\"p\",\"q\"]", "[\"q\",\"p\"]"),
        ("[\"p\",\"q\"]", "[]"),
        ("\"deviation\":", "\"deviation\":-"),
        ("\"text\"", "\"number\""),
    ] {
        assert!(stored.contains(from), "{stored}");
        assert!(serde_json::from_str::<Schema>(&stored.replace(from, to)).is_err());
    }
}
