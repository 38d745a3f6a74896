//! The learned encoding of one table column.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

use super::columns::{ColumnKind, InputColumn};
use super::frame::{Column, ColumnType, Frame};
use super::number::NumberScale;
use super::scale::Scale;

/// Name of the level that stands for missing text cells.
pub const MISSING_LEVEL: &str = "(missing)";

/// A standardised number farther than this from the training mean would make squared distances infinite.
const FARTHEST: f64 = 1e100;

/// How one table column becomes one or two encoded columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// Name of the table's column.
    pub name: String,
    /// Type of its cells in training.
    pub column_type: ColumnType,
    /// Cells that were missing in training.
    pub missing_cells: usize,
    /// The rule for a cell.
    pub rule: Rule,
}

/// What becomes of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A standardised number; a missing cell becomes the mean, and an indicator follows when training had one.
    Number(NumberScale),
    /// The position of the cell among the sorted levels; their number when the level is not there.
    Category {
        /// Names of the levels, sorted.
        levels: Vec<String>,
    },
}

/// What happened while cells were encoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Cells without a value.
    pub missing: usize,
    /// Text cells whose level training did not have.
    pub unseen: usize,
}

impl Encoder {
    /// Learns from a column; a note says why when it cannot serve as an input.
    ///
    /// `weights` holds the positive weight of each row of `frame`.
    pub fn learn(
        frame: &Frame,
        position: usize,
        weights: &[f64],
    ) -> Result<(Option<Encoder>, Option<String>)> {
        let name = &frame.header.names[position];
        let column_type = frame.header.types[position];
        let (rule, missing_cells, note) = match &frame.columns[position] {
            Column::Number(cells) => {
                check_finite(frame, name, cells)?;
                learn_number(name, cells, weights)
            }
            Column::Text(cells) => learn_category(name, cells, weights),
        };
        let encoder = rule.map(|rule| Encoder {
            name: name.clone(),
            column_type,
            missing_cells,
            rule,
        });
        Ok((encoder, note))
    }

    /// Squeezes the numbers of the column where some of them lie far from all others; says so in a note.
    pub fn squeeze_outliers(
        &mut self,
        frame: &Frame,
        position: usize,
        weights: &[f64],
    ) -> Option<String> {
        let (Rule::Number(scale), Column::Number(cells)) =
            (&mut self.rule, &frame.columns[position])
        else {
            return None;
        };
        let present = present(cells, weights);
        let farthest = present
            .iter()
            .fold(0.0f64, |most, (cell, _)| most.max(scale.apply(*cell).abs()));
        *scale = NumberScale::of_outliers(scale.standard, &present)?;
        Some(format!(
            "column `{}` holds numbers up to {farthest:.0} deviations from its mean: they were brought closer (asinh); a kernel given by name keeps them as they are",
            self.name
        ))
    }

    /// Takes the logarithms of the column, where its numbers are positive and not squeezed yet; true where it does.
    pub fn take_logarithms(&mut self, frame: &Frame, position: usize, weights: &[f64]) -> bool {
        let is_number = self.column_type == ColumnType::Number;
        let (Rule::Number(scale), Column::Number(cells), true) =
            (&mut self.rule, &frame.columns[position], is_number)
        else {
            return false;
        };
        let logarithms = NumberScale::of_logarithms(&present(cells, weights));
        match logarithms.filter(|_| scale.squeezed.is_none()) {
            Some(own) => {
                *scale = own;
                true
            }
            None => false,
        }
    }

    /// The encoded columns, in order.
    pub fn columns(&self) -> Vec<InputColumn> {
        let column = |kind, deviation| InputColumn {
            name: self.name.clone(),
            kind,
            deviation,
        };
        match &self.rule {
            Rule::Number(scale) => {
                let mut columns = vec![column(ColumnKind::Number, scale.unit())];
                if self.missing_cells > 0 {
                    columns.push(column(ColumnKind::Missing, 1.0));
                }
                columns
            }
            Rule::Category { levels } => {
                let levels = levels.len();
                vec![column(ColumnKind::Category { levels }, 1.0)]
            }
        }
    }

    /// Encodes the column of this name into `values`, rows of `width` numbers, from position `offset` on.
    pub fn encode(
        &self,
        frame: &Frame,
        position: usize,
        values: &mut [f64],
        width: usize,
        offset: usize,
    ) -> Result<Counts> {
        let found = frame.header.types[position];
        let mut counts = Counts::default();
        match &self.rule {
            Rule::Number(scale) => {
                let cells = self.numbers(frame, &frame.columns[position], found)?;
                for (row, &cell) in cells.iter().enumerate() {
                    let place = &mut values[row * width + offset..];
                    let missing = cell.is_nan();
                    counts.missing += usize::from(missing);
                    place[0] = if missing { 0.0 } else { scale.apply(cell) };
                    if place[0].abs() > FARTHEST {
                        return Err(Error::data(
                            frame.location(row, &self.name),
                            format!(
                                "{cell:?} is too far from the numbers of training to be used; check its unit"
                            ),
                        ));
                    }
                    if self.missing_cells > 0 {
                        place[1] = f64::from(missing);
                    }
                }
            }
            Rule::Category { levels } => {
                let cells = self.texts(frame, &frame.columns[position], found)?;
                for (row, cell) in cells.iter().enumerate() {
                    let code = code_of(levels, cell.as_deref(), &mut counts);
                    values[row * width + offset] = code as f64;
                }
            }
        }
        Ok(counts)
    }

    /// True when the parts agree with each other, which a damaged file need not.
    pub fn is_sound(&self) -> bool {
        match &self.rule {
            Rule::Number(scale) => self.column_type != ColumnType::Text && scale.is_sound(),
            Rule::Category { levels } => {
                self.column_type == ColumnType::Text
                    && !levels.is_empty()
                    && levels.windows(2).all(|pair| pair[0] < pair[1])
            }
        }
    }

    /// The cells as finite numbers of the type of training, NaN where missing.
    fn numbers<'f>(
        &self,
        frame: &Frame,
        column: &'f Column,
        found: ColumnType,
    ) -> Result<Cow<'f, [f64]>> {
        match column {
            Column::Number(cells) => {
                let is_date = |column_type| column_type == ColumnType::Date;
                if is_date(found) != is_date(self.column_type) {
                    self.refuse(frame, found, |row| !cells[row].is_nan())?;
                }
                check_finite(frame, &self.name, cells)?;
                Ok(Cow::Borrowed(cells))
            }
            Column::Text(cells) => {
                self.refuse(frame, found, |row| cells[row].is_some())?;
                Ok(Cow::Owned(vec![f64::NAN; cells.len()]))
            }
        }
    }

    /// The cells as names of levels; codes of a category may come as numbers.
    fn texts<'f>(
        &self,
        frame: &Frame,
        column: &'f Column,
        found: ColumnType,
    ) -> Result<Cow<'f, [Option<Arc<str>>]>> {
        match column {
            Column::Text(cells) => Ok(Cow::Borrowed(cells)),
            Column::Number(cells) => {
                if found == ColumnType::Date {
                    self.refuse(frame, found, |row| !cells[row].is_nan())?;
                }
                Ok(cells
                    .iter()
                    .map(|&cell| level_of_number(cell, found))
                    .collect())
            }
        }
    }

    /// An error at the first cell with a value, because its type is not that of training.
    fn refuse(
        &self,
        frame: &Frame,
        found: ColumnType,
        has_value: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let Some(row) = (0..frame.rows()).find(|&row| has_value(row)) else {
            return Ok(());
        };
        Err(Error::data(
            frame.location(row, &self.name),
            format!(
                "found {} where training had {}; write the column as it was written then",
                found.plural(),
                self.column_type.plural()
            ),
        ))
    }
}

/// The cells that hold a number, with their weights.
fn present(cells: &[f64], weights: &[f64]) -> Vec<(f64, f64)> {
    let cells = cells.iter().copied().zip(weights.iter().copied());
    cells.filter(|(cell, _)| !cell.is_nan()).collect()
}

/// The position of a level among the sorted levels, or their number when it is not there.
fn code_of(levels: &[String], cell: Option<&str>, counts: &mut Counts) -> usize {
    counts.missing += usize::from(cell.is_none());
    let level = cell.unwrap_or(MISSING_LEVEL);
    match levels.binary_search_by(|candidate| candidate.as_str().cmp(level)) {
        Ok(code) => code,
        Err(_) => {
            counts.unseen += usize::from(cell.is_some());
            levels.len()
        }
    }
}

/// A number as the name of a level, for tables that hold codes of a category as numbers.
pub fn level_of_number(cell: f64, column_type: ColumnType) -> Option<Arc<str>> {
    if cell.is_nan() {
        None
    } else if column_type == ColumnType::Boolean {
        Some((cell != 0.0).to_string().into())
    } else {
        Some((cell + 0.0).to_string().into())
    }
}

/// An error at the first infinite cell.
pub fn check_finite(frame: &Frame, name: &str, cells: &[f64]) -> Result<()> {
    match cells.iter().position(|cell| cell.is_infinite()) {
        None => Ok(()),
        Some(row) => Err(Error::data(
            frame.location(row, name),
            "the number is infinite; leave the cell empty if it is not known, or remove the row",
        )),
    }
}

type Learned = (Option<Rule>, usize, Option<String>);

fn learn_number(name: &str, cells: &[f64], weights: &[f64]) -> Learned {
    let missing = cells.iter().filter(|cell| cell.is_nan()).count();
    if missing == cells.len() {
        return (
            None,
            missing,
            Some(format!(
                "column `{name}` has no value in any row and was dropped"
            )),
        );
    }
    match Scale::measure(present(cells, weights).into_iter()) {
        (mean, Some(deviation)) => (Some(number(mean, deviation)), missing, None),
        (_, None) if missing == 0 => (
            None,
            missing,
            Some(format!("column `{name}` is constant and was dropped")),
        ),
        // What is known is whether there is a value, and the indicator says that.
        (mean, None) => (
            Some(number(mean, 1.0)),
            missing,
            Some(format!(
                "column `{name}` has one value only; the model can use whether it is missing"
            )),
        ),
    }
}

fn number(mean: f64, deviation: f64) -> Rule {
    Rule::Number(NumberScale::plain(Scale { mean, deviation }))
}

fn learn_category(name: &str, cells: &[Option<Arc<str>>], weights: &[f64]) -> Learned {
    // Rows that stand for several copies repeat their level, as the copies would.
    let mut levels: BTreeMap<&str, f64> = BTreeMap::new();
    let mut missing = 0;
    for (cell, weight) in cells.iter().zip(weights) {
        let level = match cell {
            Some(text) => text,
            None => {
                missing += 1;
                MISSING_LEVEL
            }
        };
        *levels.entry(level).or_default() += weight;
    }
    let note = if missing == cells.len() {
        "has no value in any row and was dropped"
    } else if levels.len() == 1 {
        "is constant and was dropped"
    } else if levels.len() == cells.len() && weights.iter().all(|&weight| weight <= 1.0) {
        "is different in every row, as an identifier is, and was dropped"
    } else {
        let levels = levels.into_keys().map(str::to_owned).collect();
        return (Some(Rule::Category { levels }), missing, None);
    };
    (None, missing, Some(format!("column `{name}` {note}")))
}
