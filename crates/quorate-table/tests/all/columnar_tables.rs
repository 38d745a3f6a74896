//! Parquet and Arrow tables of every type that we read, and what happens to those that we do not.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, Float16Array,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray,
    NullArray, StringArray, StringViewArray, StructArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field};
use common::text;
use parquet::arrow::ArrowWriter;
use quorate_gp::data::{Column, ColumnType, Frame, read_all};
use quorate_table::{OpenOptions, Result, open};

type Columns = Vec<(&'static str, ArrayRef)>;

/// The same columns as a Parquet and as an Arrow file.
fn files(columns: Columns) -> (tempfile::TempDir, Vec<PathBuf>) {
    let fields = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(fields).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (parquet, arrow) = (
        folder.path().join("t.parquet"),
        folder.path().join("t.arrow"),
    );
    let file = std::fs::File::create(&parquet).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = std::fs::File::create(&arrow).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    (folder, vec![parquet, arrow])
}

fn read(path: &PathBuf, options: &OpenOptions) -> Result<Frame> {
    Ok(read_all(&mut *open(path, options)?)?)
}

/// Reads both files and checks every column against what it should hold.
fn check(columns: Vec<(&'static str, ArrayRef, ColumnType, Column)>) {
    let (_folder, paths) = files(
        columns
            .iter()
            .map(|(name, array, _, _)| (*name, array.clone()))
            .collect(),
    );
    for path in paths {
        let frame = read(&path, &OpenOptions::default()).unwrap();
        for (index, (name, _, column_type, expected)) in columns.iter().enumerate() {
            assert_eq!(frame.header.types[index], *column_type, "{name}");
            match (&frame.columns[index], expected) {
                (Column::Number(found), Column::Number(expected)) => {
                    for (a, b) in found.iter().zip(expected) {
                        assert!(
                            a == b || (a.is_nan() && b.is_nan()),
                            "{name}: {a} {b} in {path:?}"
                        );
                    }
                }
                (found, expected) => assert_eq!(found, expected, "{name}"),
            }
        }
    }
}

fn array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

const NAN: f64 = f64::NAN;

#[test]
fn numbers_of_every_width() {
    let number = |cells: &[f64]| Column::Number(cells.to_vec());
    let half = cast(
        &array(Float32Array::from(vec![Some(1.5), None])),
        &DataType::Float16,
    )
    .unwrap();
    assert!(half.as_any().is::<Float16Array>());
    let decimal = Decimal128Array::from(vec![Some(12345), None])
        .with_precision_and_scale(10, 2)
        .unwrap();
    use ColumnType::{Boolean, Number};
    check(vec![
        (
            "i8",
            array(Int8Array::from(vec![Some(-3), None])),
            Number,
            number(&[-3.0, NAN]),
        ),
        (
            "i32",
            array(Int32Array::from(vec![Some(7), None])),
            Number,
            number(&[7.0, NAN]),
        ),
        (
            "i64",
            array(Int64Array::from(vec![Some(1 << 52), None])),
            Number,
            number(&[(1u64 << 52) as f64, NAN]),
        ),
        (
            "u64",
            array(UInt64Array::from(vec![Some(u64::MAX), None])),
            Number,
            number(&[u64::MAX as f64, NAN]),
        ),
        ("f16", half, Number, number(&[1.5, NAN])),
        (
            "f32",
            array(Float32Array::from(vec![Some(0.1), None])),
            Number,
            number(&[f64::from(0.1f32), NAN]),
        ),
        (
            "f64",
            array(Float64Array::from(vec![0.1, f64::NAN])),
            Number,
            number(&[0.1, NAN]),
        ),
        ("decimal", array(decimal), Number, number(&[123.45, NAN])),
        (
            "bool",
            array(BooleanArray::from(vec![Some(true), None])),
            Boolean,
            number(&[1.0, NAN]),
        ),
        (
            "null",
            array(NullArray::new(2)),
            Number,
            number(&[NAN, NAN]),
        ),
    ]);
}

#[test]
fn dates_and_moments() {
    let days = |cells: &[f64]| Column::Number(cells.to_vec());
    let zoned = TimestampSecondArray::from(vec![Some(43_200), None]).with_timezone("+02:00");
    use ColumnType::Date;
    check(vec![
        (
            "date32",
            array(Date32Array::from(vec![Some(-1), None])),
            Date,
            days(&[-1.0, NAN]),
        ),
        (
            "date64",
            array(Date64Array::from(vec![Some(86_400_000), None])),
            Date,
            days(&[1.0, NAN]),
        ),
        ("seconds", array(zoned), Date, days(&[0.5, NAN])),
        (
            "milliseconds",
            array(TimestampMillisecondArray::from(vec![
                Some(-21_600_000),
                None,
            ])),
            Date,
            days(&[-0.25, NAN]),
        ),
        (
            "nanoseconds",
            array(TimestampNanosecondArray::from(vec![
                Some(86_400_000_000_000 * 19_000),
                None,
            ])),
            Date,
            days(&[19_000.0, NAN]),
        ),
    ]);
}

#[test]
fn text_of_every_kind() {
    let expected = || text(&["p", "", "q", ""]);
    let cells = vec![Some("p"), None, Some("q"), Some("")];
    let dictionary = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8));
    let coded = cast(&array(StringArray::from(cells.clone())), &dictionary).unwrap();
    use ColumnType::Text;
    check(vec![
        (
            "utf8",
            array(StringArray::from(cells.clone())),
            Text,
            expected(),
        ),
        (
            "large",
            array(LargeStringArray::from(cells.clone())),
            Text,
            expected(),
        ),
        (
            "view",
            array(StringViewArray::from(cells)),
            Text,
            expected(),
        ),
        ("dictionary", coded, Text, expected()),
    ]);
}

fn nested() -> Columns {
    let lists =
        ListArray::from_iter_primitive::<Float64Type, _, _>(vec![Some(vec![Some(1.0)]), None]);
    let inner: ArrayRef = array(Int32Array::from(vec![1, 2]));
    let structure = StructArray::from(vec![(
        Arc::new(Field::new("z", DataType::Int32, true)),
        inner,
    )]);
    vec![
        ("list", array(lists)),
        ("x", array(Float64Array::from(vec![1.0, 2.0]))),
        ("pair", array(structure)),
        ("y", array(Float64Array::from(vec![3.0, 4.0]))),
    ]
}

#[test]
fn nested_columns_are_passed_over_with_a_note() {
    let (_folder, paths) = files(nested());
    for path in paths {
        let mut table = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(
            table.notes(),
            [
                "column `list` holds lists and was passed over",
                "column `pair` holds structures and was passed over"
            ]
        );
        let frame = read_all(&mut *table).unwrap();
        assert_eq!(frame.header.names, ["x", "y"]);
        assert_eq!(frame.columns[1], Column::Number(vec![3.0, 4.0]));
    }
}

#[test]
fn a_nested_column_that_is_asked_for_is_an_error() {
    let (_folder, paths) = files(nested());
    for path in paths {
        for options in [
            OpenOptions::default().columns(vec!["list".into()]),
            OpenOptions::default().needed(vec!["list".into()]),
            OpenOptions::default().expect(vec![("list".into(), ColumnType::Number)]),
        ] {
            let message = open(&path, &options).err().unwrap().to_string();
            assert!(message.ends_with(
                ":list: the column holds lists, which cannot be read as numbers or text"
            ));
        }
        let options = OpenOptions::default().columns(vec!["y".into()]);
        let mut table = open(&path, &options).unwrap();
        assert!(table.notes().is_empty());
        assert_eq!(
            read_all(&mut *table).unwrap().columns,
            [Column::Number(vec![3.0, 4.0])]
        );
    }
}

#[test]
fn expected_types_are_met_or_refused_with_the_place() {
    let (_folder, paths) = files(vec![
        ("word", array(StringArray::from(vec!["1.5", "x"]))),
        ("digits", array(StringArray::from(vec!["2", ""]))),
        (
            "id",
            array(Int64Array::from(vec![9_007_199_254_740_993, 7])),
        ),
        ("day", array(Date32Array::from(vec![0, 1]))),
        ("flag", array(Int32Array::from(vec![1, 2]))),
        ("half", array(Float64Array::from(vec![0.5, 1e300]))),
    ]);
    let expect =
        |name: &str, column_type| OpenOptions::default().expect(vec![(name.into(), column_type)]);
    for path in paths {
        let failed = |name: &str, column_type| {
            let message = read(&path, &expect(name, column_type))
                .unwrap_err()
                .to_string();
            message
                .rsplit('/')
                .next()
                .unwrap()
                .split_once(':')
                .unwrap()
                .1
                .to_string()
        };
        let found = |name: &str, column_type| {
            read(&path, &expect(name, column_type))
                .unwrap()
                .column(name)
                .unwrap()
                .clone()
        };
        assert!(failed("word", ColumnType::Number).starts_with("2:word: «x» is not a number"));
        assert_eq!(
            failed("day", ColumnType::Number),
            "1:day: found dates where numbers are expected"
        );
        assert_eq!(
            failed("half", ColumnType::Date),
            "1:half: found numbers where dates are expected"
        );
        assert_eq!(
            failed("flag", ColumnType::Boolean),
            "2:flag: found numbers where booleans are expected"
        );
        let Column::Number(digits) = found("digits", ColumnType::Number) else {
            panic!()
        };
        assert!(digits[0] == 2.0 && digits[1].is_nan());
        assert_eq!(
            found("id", ColumnType::Text),
            text(&["9007199254740993", "7"])
        );
        assert_eq!(
            found("day", ColumnType::Text),
            text(&["1970-01-01", "1970-01-02"])
        );
        assert_eq!(found("half", ColumnType::Text), text(&["0.5", "1e300"]));
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let (_folder, paths) = files(vec![
        ("x", array(Float64Array::from(vec![1.0]))),
        ("x", array(Float64Array::from(vec![2.0]))),
    ]);
    for path in paths {
        let message = open(&path, &OpenOptions::default())
            .err()
            .unwrap()
            .to_string();
        assert!(
            message.ends_with(":x: two columns have this name; rename one of them"),
            "{message}"
        );
    }
}
