//! How targets become numbers for the mathematics, and what they are.

use serde::{Deserialize, Serialize};

use super::classes::Classes;
use super::quantity::{NUMBERS, Quantity, QuantityCode, Sighting};
use super::scale::Scale;

/// What a target column holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetKind {
    /// Numbers.
    #[default]
    Numbers,
    /// Labels of classes.
    Classes,
    /// Numbers that reach the function through a likelihood.
    Quantity(Quantity),
}

/// How targets become numbers: one output for each target column, or one for each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TargetCode {
    /// A number, standardised.
    Number(Scale),
    /// Labels of classes.
    Classes(Classes),
    /// Several numbers, each standardised.
    Numbers(Vec<Scale>),
    /// A number that reaches the function through a likelihood.
    Quantity(QuantityCode),
}

impl TargetCode {
    /// Centre and width of each output.
    pub fn scales(&self) -> Vec<Scale> {
        match self {
            TargetCode::Number(scale) => vec![*scale],
            TargetCode::Numbers(scales) => scales.clone(),
            TargetCode::Classes(classes) => classes.scales(),
            TargetCode::Quantity(code) => code.scales(),
        }
    }

    /// Numbers that stand for the target of a row.
    pub fn outputs(&self) -> usize {
        match self {
            TargetCode::Number(_) => 1,
            TargetCode::Quantity(_) => NUMBERS,
            TargetCode::Numbers(scales) => scales.len(),
            TargetCode::Classes(classes) => classes.outputs(),
        }
    }

    /// The classes, where the target is one.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            TargetCode::Classes(classes) => Some(classes),
            _ => None,
        }
    }

    /// What the target is where it reaches the function through a likelihood.
    pub fn quantity(&self) -> Option<&QuantityCode> {
        match self {
            TargetCode::Quantity(code) => Some(code),
            _ => None,
        }
    }

    /// Functions that are learned: one for each output, and one behind a quantity.
    pub fn functions(&self) -> usize {
        match self {
            TargetCode::Quantity(_) => 1,
            _ => self.outputs(),
        }
    }

    /// True when the parts agree with each other, which a damaged file need not.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            TargetCode::Classes(classes) => classes.is_sound(),
            TargetCode::Quantity(code) => code.is_sound(),
            TargetCode::Numbers(scales) if scales.len() < 2 => false,
            _ => self.scales().iter().all(Scale::is_sound),
        }
    }
}

/// The targets of rows as they were observed, in their own units.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// The numbers of each target column.
    Numbers(Vec<Vec<f64>>),
    /// The class of each row.
    Classes(Vec<usize>),
    /// What was seen of each row's quantity.
    Quantities(Vec<Sighting>),
}
