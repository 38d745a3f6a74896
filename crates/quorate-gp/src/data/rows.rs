//! The training rows: those of positive weight, with their weights and known noise.

use std::borrow::Cow;

use crate::error::Location;
use crate::{Error, Result};

use super::frame::{Frame, number_cells};
use super::roles::Roles;

/// What a cell of known noise is called in errors.
const KNOWN_NOISE: &str = "known noise variance";

/// Rows of positive weight of a table.
pub struct Rows<'f> {
    frame: Cow<'f, Frame>,
    positions: Vec<usize>,
    weights: Vec<f64>,
    absent: usize,
}

impl<'f> Rows<'f> {
    /// Reads and checks the weights; a row of weight 0 is left out.
    pub fn of_training(frame: &'f Frame, roles: &Roles) -> Result<Rows<'f>> {
        if frame.rows() == 0 {
            return Err(Error::data(
                Location::in_source(&frame.header.source),
                "the table has no rows; training needs at least one",
            ));
        }
        let weights = match &roles.weight {
            None => vec![1.0; frame.rows()],
            Some(name) => non_negative(frame, name, "weight")?.to_vec(),
        };
        let positions: Vec<usize> = (0..weights.len())
            .filter(|&row| weights[row] > 0.0)
            .collect();
        if positions.is_empty() {
            return Err(Error::data(
                Location::in_source(&frame.header.source)
                    .column(roles.weight.clone().unwrap_or_default()),
                "every weight is 0, so no row is left; give at least one row a positive weight",
            ));
        }
        let absent = weights.len() - positions.len();
        if absent == 0 {
            return Ok(Rows {
                frame: Cow::Borrowed(frame),
                positions,
                weights,
                absent,
            });
        }
        Ok(Rows {
            frame: Cow::Owned(frame.select_rows(&positions)),
            weights: positions.iter().map(|&row| weights[row]).collect(),
            positions,
            absent,
        })
    }

    /// The rows of positive weight.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Their positions in the table, counted from 0.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Their weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Known noise variances in units of the target's variance.
    pub fn known_noise(&self, roles: &Roles, deviation: f64) -> Result<Option<Vec<f64>>> {
        let Some(name) = &roles.noise else {
            return Ok(None);
        };
        let cells = non_negative(&self.frame, name, KNOWN_NOISE)?;
        let mut noise = Vec::with_capacity(cells.len());
        for (row, &cell) in cells.iter().enumerate() {
            // Two divisions, because the square of a tiny deviation would vanish.
            let scaled = cell / deviation / deviation;
            if !scaled.is_finite() {
                return Err(Error::data(
                    self.frame.location(row, name),
                    "the known noise variance is too large beside the variance of the target; check its unit",
                ));
            }
            noise.push(scaled);
        }
        Ok(Some(noise))
    }

    /// What a person should know.
    pub fn notes(&self) -> Vec<String> {
        match self.absent {
            0 => Vec::new(),
            1 => vec!["1 row has weight 0 and was left out".into()],
            absent => vec![format!("{absent} rows have weight 0 and were left out")],
        }
    }
}

/// Known noise variances of the rows of a table to predict or to score, in squared units of the target; none where
/// training had no such column, or this table has none.
///
/// ```
/// use quorate_gp::data::{Column, Frame, Roles, asked_noise};
///
/// let mut roles = Roles::of_target("y");
/// roles.noise = Some("variance".into());
/// let number = |cells: &[f64]| Column::Number(cells.to_vec());
/// let bare = Frame::from_columns(vec![("x", number(&[1.0, 2.0]))])?;
/// assert_eq!(asked_noise(&bare, &roles)?, None);
/// let told = Frame::from_columns(vec![("x", number(&[1.0, 2.0])), ("variance", number(&[0.1, 0.4]))])?;
/// assert_eq!(asked_noise(&told, &roles)?, Some(&[0.1, 0.4][..]));
/// # Ok::<(), quorate_gp::Error>(())
/// ```
pub fn asked_noise<'f>(frame: &'f Frame, roles: &Roles) -> Result<Option<&'f [f64]>> {
    let present = |name: &&String| frame.column(name).is_some();
    let Some(name) = roles.noise.as_ref().filter(present) else {
        return Ok(None);
    };
    non_negative(frame, name, KNOWN_NOISE).map(Some)
}

/// The cells of a column that must be numbers, present, finite and not negative.
fn non_negative<'f>(frame: &'f Frame, name: &str, what: &str) -> Result<&'f [f64]> {
    let wanted = format!("where a {what} is expected; the column must hold numbers");
    let cells = number_cells(frame, name, &wanted)?;
    let bad = |cell: &f64| !(cell.is_finite() && *cell >= 0.0);
    match cells.iter().position(bad) {
        None => Ok(cells),
        Some(row) if cells[row].is_nan() => Err(Error::data(
            frame.location(row, name),
            format!("the {what} is missing; fill the cell or remove the row"),
        )),
        Some(row) => Err(Error::data(
            frame.location(row, name),
            format!(
                "the {what} is {}; it must be 0 or a positive number",
                cells[row]
            ),
        )),
    }
}
