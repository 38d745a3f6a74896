//! What a fitted member is made of, as text and numbers: for files and for processes that speak with each other.

use quorate_gp::data::Dataset;
use quorate_gp::linalg::{Factor, Matrix};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// All that is needed to make a member again. Long lists of numbers are kept as they are, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Everything but the long lists.
    pub text: serde_json::Value,
    /// The long lists, in the order in which they were written.
    pub numbers: Vec<Vec<f64>>,
}

impl State {
    /// A state of what can be written as text, and of lists of numbers.
    pub fn new(text: &impl Serialize, numbers: Vec<Vec<f64>>) -> Result<Self> {
        let text = serde_json::to_value(text).map_err(|error| damaged(&error.to_string()))?;
        Ok(Self { text, numbers })
    }

    /// What was written as text.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_value(self.text.clone()).map_err(|error| damaged(&error.to_string()))
    }

    /// One of the lists.
    pub fn list(&self, place: usize) -> Result<&[f64]> {
        self.numbers
            .get(place)
            .map(Vec::as_slice)
            .ok_or_else(|| damaged("numbers are missing"))
    }

    /// The factor that was written as a list.
    pub fn factor(&self, place: usize, size: usize) -> Result<Factor> {
        let lower = self.list(place)?;
        let sound = lower.len() == size * (size + 1) / 2;
        let mut numbers = lower.iter();
        let mut matrix = Matrix::zeros(size, size);
        for column in 0..size {
            for row in column..size {
                matrix[(row, column)] = numbers.next().copied().unwrap_or(f64::NAN);
            }
        }
        sound
            .then(|| Factor::of_lower(matrix))
            .flatten()
            .ok_or_else(|| damaged("a factor is not one"))
    }

    /// The rows that were written from this list on.
    pub fn rows(&self, place: usize, width: usize, outputs: usize) -> Result<Dataset> {
        let list = |further: usize| self.list(place + further).map(<[f64]>::to_vec);
        Ok(Dataset::with_outputs(
            list(0)?,
            width,
            list(1)?,
            outputs,
            Some(list(2)?),
            Some(list(3)?),
        )?)
    }
}

/// The lower triangle of a factor, column after column.
pub fn list_of_factor(factor: &Factor) -> Vec<f64> {
    let matrix = factor.clone().into_matrix();
    let size = matrix.nrows();
    let columns = (0..size).flat_map(|column| (column..size).map(move |row| (row, column)));
    columns.map(|place| matrix[place]).collect()
}

/// Rows as four lists: inputs, targets, weights and known noise of each row of the table, group after group, so that the
/// groups come again in their order.
pub fn lists_of_rows(rows: &Dataset) -> Vec<Vec<f64>> {
    let members = rows.members();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&place| members[place].group);
    let group = |place: &usize| members[*place].group;
    let inputs = order.iter().flat_map(|own| rows.inputs().row(group(own)));
    let noise = order.iter().map(|own| rows.known_noise()[group(own)]);
    vec![
        inputs.copied().collect(),
        order
            .iter()
            .flat_map(|&place| rows.own_targets(place))
            .collect(),
        order.iter().map(|&place| members[place].weight).collect(),
        noise.collect(),
    ]
}

/// The error of a state that is not one.
pub fn damaged(what: &str) -> Error {
    Error::ModelFile {
        origin: "committee".into(),
        problem: format!("the stored member is damaged: {what}"),
    }
}
