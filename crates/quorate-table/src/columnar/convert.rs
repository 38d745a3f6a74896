//! Arrow arrays as columns of numbers and text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use quorate_gp::data::{Column, ColumnType};

use crate::cell::{self, Shared};
use crate::date;
use crate::write::number_text;

/// What an Arrow type is to us.
pub(crate) enum Natural {
    /// Cells of this type.
    Type(ColumnType),
    /// Nothing we read, in words: «holds lists».
    Unreadable(String),
}

/// A cell, or a whole column, that is not what was expected.
pub(crate) struct Misfit {
    /// Position in the array.
    pub row: Option<usize>,
    pub problem: String,
}

impl Misfit {
    pub fn whole_column(problem: String) -> Misfit {
        Misfit { row: None, problem }
    }
}

/// What the cells of an Arrow type are.
pub(crate) fn natural_type(data_type: &DataType) -> Natural {
    use DataType as D;
    if data_type.is_numeric() {
        return Natural::Type(ColumnType::Number);
    }
    match data_type {
        D::Null => Natural::Type(ColumnType::Number),
        D::Boolean => Natural::Type(ColumnType::Boolean),
        D::Date32 | D::Date64 | D::Timestamp(_, _) => Natural::Type(ColumnType::Date),
        D::Utf8 | D::LargeUtf8 | D::Utf8View => Natural::Type(ColumnType::Text),
        D::Dictionary(_, values) => natural_type(values),
        D::List(_)
        | D::LargeList(_)
        | D::ListView(_)
        | D::LargeListView(_)
        | D::FixedSizeList(_, _) => Natural::Unreadable("holds lists".into()),
        D::Struct(_) => Natural::Unreadable("holds structures".into()),
        D::Map(_, _) => Natural::Unreadable("holds maps".into()),
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => {
            Natural::Unreadable("holds bytes".into())
        }
        other => Natural::Unreadable(format!("is of the type {other}")),
    }
}

/// The cells of an array as a column of the wished type.
pub(crate) fn column_of(
    array: &ArrayRef,
    wished: ColumnType,
    shared: &mut Shared,
) -> Result<Column, Misfit> {
    let values = match array.data_type() {
        DataType::Dictionary(_, values) => cast_to(array, values)?,
        _ => array.clone(),
    };
    let natural = match natural_type(values.data_type()) {
        Natural::Type(natural) => natural,
        Natural::Unreadable(problem) => {
            return Err(Misfit::whole_column(format!("the column {problem}")));
        }
    };
    match (natural, wished) {
        (ColumnType::Text, ColumnType::Text) => texts(&values, shared).map(Column::Text),
        (ColumnType::Text, _) => parsed(&values, wished).map(Column::Number),
        (_, ColumnType::Text) => written(&values, natural, shared).map(Column::Text),
        _ => {
            let numbers = numbers(&values)?;
            check_type(&numbers, natural, wished)?;
            Ok(Column::Number(numbers))
        }
    }
}

/// Numbers, booleans and dates as numbers, NaN where there is no value.
fn numbers(array: &ArrayRef) -> Result<Vec<f64>, Misfit> {
    let per_day: i64 = match array.data_type() {
        DataType::Null => return Ok(vec![f64::NAN; array.len()]),
        DataType::Date32 => 1,
        DataType::Date64 => 86_400_000,
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => 86_400,
            TimeUnit::Millisecond => 86_400_000,
            TimeUnit::Microsecond => 86_400_000_000,
            TimeUnit::Nanosecond => 86_400_000_000_000,
        },
        _ => {
            let array = cast_to(array, &DataType::Float64)?;
            let array = array.as_primitive::<Float64Type>();
            return Ok(array.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect());
        }
    };
    let array = match array.data_type() {
        DataType::Date32 => cast_to(&cast_to(array, &DataType::Int32)?, &DataType::Int64)?,
        _ => cast_to(array, &DataType::Int64)?,
    };
    let days = |count: i64| {
        count.div_euclid(per_day) as f64 + count.rem_euclid(per_day) as f64 / per_day as f64
    };
    Ok(array
        .as_primitive::<Int64Type>()
        .iter()
        .map(|cell| cell.map_or(f64::NAN, days))
        .collect())
}

/// Text; an empty text is a missing cell, as it is in a text table.
fn texts(array: &ArrayRef, shared: &mut Shared) -> Result<Vec<Option<Arc<str>>>, Misfit> {
    let array = cast_to(array, &DataType::Utf8)?;
    Ok(array
        .as_string::<i32>()
        .iter()
        .map(|cell| {
            cell.filter(|text| !text.is_empty())
                .map(|text| shared.get(text))
        })
        .collect())
}

/// Text read as cells of another type.
fn parsed(array: &ArrayRef, wished: ColumnType) -> Result<Vec<f64>, Misfit> {
    let array = cast_to(array, &DataType::Utf8)?;
    let array = array.as_string::<i32>();
    let mut numbers = Vec::with_capacity(array.len());
    for (row, cell) in array.iter().enumerate() {
        let bytes = cell.unwrap_or_default().as_bytes();
        numbers.push(cell::value(bytes, wished).ok_or_else(|| Misfit {
            row: Some(row),
            problem: cell::misfit(bytes, wished),
        })?);
    }
    Ok(numbers)
}

/// Numbers, booleans and dates written as text.
fn written(
    array: &ArrayRef,
    natural: ColumnType,
    shared: &mut Shared,
) -> Result<Vec<Option<Arc<str>>>, Misfit> {
    if array.data_type().is_integer() {
        // Straight to digits: large identifiers would not survive as floating-point numbers.
        return texts(array, shared);
    }
    Ok(numbers(array)?
        .into_iter()
        .map(|number| {
            (!number.is_nan()).then(|| match natural {
                ColumnType::Boolean => shared.get(if number == 0.0 { "false" } else { "true" }),
                ColumnType::Date => {
                    shared.get(&date::format(number).unwrap_or_else(|| number_text(number)))
                }
                _ => shared.get(&number_text(number)),
            })
        })
        .collect())
}

/// Dates and numbers do not stand for each other; booleans may come as 0 and 1.
fn check_type(numbers: &[f64], natural: ColumnType, wished: ColumnType) -> Result<(), Misfit> {
    let fits = |number: f64| match (natural, wished) {
        (ColumnType::Date, ColumnType::Date) => true,
        (ColumnType::Date, _) | (_, ColumnType::Date) => false,
        (ColumnType::Number, ColumnType::Boolean) => number == 0.0 || number == 1.0,
        _ => true,
    };
    match numbers
        .iter()
        .position(|&number| !number.is_nan() && !fits(number))
    {
        None => Ok(()),
        Some(row) => Err(Misfit {
            row: Some(row),
            problem: format!(
                "found {} where {} are expected",
                natural.plural(),
                wished.plural()
            ),
        }),
    }
}

fn cast_to(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef, Misfit> {
    if array.data_type() == data_type {
        return Ok(array.clone());
    }
    cast(array, data_type)
        .map_err(|error| Misfit::whole_column(format!("the column cannot be read: {error}")))
}
