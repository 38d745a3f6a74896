//! Targets that reach the latent function through a likelihood: counts, positive quantities, lifetimes, real numbers with
//! outliers; each with its exposure and whether it was seen to the end.

use serde::{Deserialize, Serialize};

use crate::error::Location;
use crate::{Error, Result};

use super::frame::{Frame, number_cells};
use super::roles::Roles;
use super::scale::Scale;

/// What kind of number a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// 0, 1, 2, ...
    Count,
    /// Above 0: amounts and durations.
    Positive,
    /// Any number.
    Real,
}

/// How such a target becomes numbers: three for each row, its value in units of the scale, the logarithm of its
/// exposure, and 1 where it was observed or 0 where it is right-censored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantityCode {
    /// What kind of number.
    pub quantity: Quantity,
    /// What values are measured in: counts as they are, amounts in units of their mean, real numbers standardised.
    pub unit: Scale,
    /// Mean and deviation of the training rows, for people.
    pub described: Scale,
}

/// One target as the table has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Its value, in its own units.
    pub value: f64,
    /// How much of the row was watched: multiplies the mean.
    pub exposure: f64,
    /// False when all that is known is that the target exceeds its value.
    pub observed: bool,
}

/// Numbers that stand for a row.
pub(super) const NUMBERS: usize = 3;

const PLAIN: Scale = Scale {
    mean: 0.0,
    deviation: 1.0,
};

impl QuantityCode {
    /// Learns the units from the training rows.
    pub(super) fn learn(quantity: Quantity, seen: &[Sighting], weights: &[f64]) -> Self {
        let values = seen.iter().map(|row| row.value);
        let (mean, deviation) = Scale::measure(values.zip(weights.iter().copied()));
        let described = Scale {
            mean,
            deviation: deviation.unwrap_or(1.0),
        };
        let unit = match quantity {
            Quantity::Count => PLAIN,
            Quantity::Positive => Scale {
                mean: 0.0,
                deviation: mean,
            },
            Quantity::Real => described,
        };
        Self {
            quantity,
            unit,
            described,
        }
    }

    /// Centre and width of each of the numbers that stand for a row.
    pub(super) fn scales(&self) -> Vec<Scale> {
        vec![self.unit, PLAIN, PLAIN]
    }

    /// The numbers that stand for a row.
    pub(super) fn spread(&self, seen: &Sighting, targets: &mut Vec<f64>) {
        let observed = f64::from(u8::from(seen.observed));
        targets.extend([self.unit.apply(seen.value), seen.exposure.ln(), observed]);
    }

    pub(super) fn is_sound(&self) -> bool {
        self.unit.is_sound() && self.described.is_sound()
    }
}

/// The targets of a table, checked: of their kind, watched for some time, censored or not.
pub(super) fn sightings(
    frame: &Frame,
    values: &[f64],
    roles: &Roles,
    quantity: Quantity,
) -> Result<Vec<Sighting>> {
    let exposures = exposures(frame, roles)?;
    let observed = observed(frame, roles)?;
    let row = |(row, &value): (usize, &f64)| {
        let problem = match quantity {
            Quantity::Count if value < 0.0 || value.fract() != 0.0 => {
                Some("a count is needed: 0, 1, 2, ...")
            }
            Quantity::Positive if value <= 0.0 => Some("a number above 0 is needed"),
            _ => None,
        };
        match problem {
            Some(problem) => Err(Error::data(
                frame.location(row, &roles.target),
                format!("the target is {value}, and {problem}"),
            )),
            None => Ok(Sighting {
                value,
                exposure: exposures.as_ref().map_or(1.0, |own| own[row]),
                observed: observed.as_ref().is_none_or(|own| own[row]),
            }),
        }
    };
    values.iter().enumerate().map(row).collect()
}

/// The exposures of the rows of a table, where the roles name a column of them: positive numbers.
pub(super) fn exposures(frame: &Frame, roles: &Roles) -> Result<Option<Vec<f64>>> {
    let Some(name) = &roles.exposure else {
        return Ok(None);
    };
    let cells = numbers(frame, name, "exposure")?;
    match cells.iter().position(|cell| *cell <= 0.0) {
        None => Ok(Some(cells.to_vec())),
        Some(row) => Err(Error::data(
            frame.location(row, name),
            format!(
                "the exposure is {}; it must be above 0: remove rows that were not watched at all",
                cells[row]
            ),
        )),
    }
}

/// Which rows were seen to the end, where the roles name a column that says so.
fn observed(frame: &Frame, roles: &Roles) -> Result<Option<Vec<bool>>> {
    let (name, sense) = match (&roles.event, &roles.censored) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => return Ok(None),
    };
    let what = if sense { "event" } else { "censoring" };
    let cells = numbers(frame, name, what)?;
    let flag = |(row, &cell): (usize, &f64)| {
        if cell == 0.0 || cell == 1.0 {
            Ok((cell == 1.0) == sense)
        } else {
            let meaning = if sense {
                "1 where the end was observed, 0 where the row is censored"
            } else {
                "1 where the row is censored, 0 where the end was observed"
            };
            Err(Error::data(
                frame.location(row, name),
                format!("found {cell}; the column must hold {meaning}"),
            ))
        }
    };
    cells
        .iter()
        .enumerate()
        .map(flag)
        .collect::<Result<_>>()
        .map(Some)
}

/// An error where no row of a table was seen to the end: then the rows only bound the answer from one side.
pub(super) fn check_seen(frame: &Frame, roles: &Roles, seen: &[Sighting]) -> Result<()> {
    if seen.iter().any(|row| row.observed) {
        return Ok(());
    }
    let column = roles.event.clone().or(roles.censored.clone());
    Err(Error::data(
        Location::in_source(&frame.header.source).column(column.unwrap_or_default()),
        "every row is censored: nothing says how long anything lasts; at least one end must have been observed",
    ))
}

/// The cells of a column that must be numbers, present and finite.
fn numbers<'f>(frame: &'f Frame, name: &str, what: &str) -> Result<&'f [f64]> {
    let wanted = format!("in the column of {what}; it must hold numbers");
    let cells = number_cells(frame, name, &wanted)?;
    match cells.iter().position(|cell| !cell.is_finite()) {
        None => Ok(cells),
        Some(row) => {
            let problem = if cells[row].is_nan() {
                "missing; fill the cell or remove the row"
            } else {
                "infinite; correct the cell or remove the row"
            };
            Err(Error::data(
                frame.location(row, name),
                format!("the {what} is {problem}"),
            ))
        }
    }
}
