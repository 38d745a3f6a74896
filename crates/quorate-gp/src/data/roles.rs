//! Which column plays which part.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::Location;
use crate::{Error, Result};

use super::frame::Header;
use super::names::{check_names, unknown_column};

/// The parts that columns play in a fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roles {
    /// The column to predict.
    pub target: String,
    /// Further columns to predict from the same inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_targets: Vec<String>,
    /// The input columns, in this order; all columns without another part when not given.
    pub inputs: Option<Vec<String>>,
    /// Columns left out of the inputs.
    pub ignore: Vec<String>,
    /// Column of weights: k stands for k copies of the row.
    pub weight: Option<String>,
    /// Column of known noise variances, in squared units of the target.
    pub noise: Option<String>,
    /// Column of exposures: how much of a row was watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// Column that is 1 where a target was observed, 0 where it is right-censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Column that is 1 where a target is right-censored, 0 where it was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
}

impl Roles {
    /// Roles with a target and every other column an input.
    pub fn of_target(target: impl Into<String>) -> Self {
        Self {
            target: target.into(),
            ..Self::default()
        }
    }

    /// The columns to predict.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.target)
            .chain(&self.further_targets)
            .map(String::as_str)
    }

    /// Positions of the input columns in the table, after checking that every name exists and has one part only.
    pub(super) fn input_positions(&self, header: &Header) -> Result<Vec<usize>> {
        check_names(header)?;
        let taken = self.single_columns(header)?;
        for name in &self.ignore {
            find(header, name)?;
            if let Some(part) = part_of(&taken, name) {
                return Err(clash(header, name, part, "cannot be ignored"));
            }
        }
        let Some(inputs) = &self.inputs else {
            return Ok((0..header.names.len())
                .filter(|&index| {
                    let name = &header.names[index];
                    part_of(&taken, name).is_none() && !self.ignore.contains(name)
                })
                .collect());
        };
        let mut seen = HashSet::new();
        let mut positions = Vec::with_capacity(inputs.len());
        for name in inputs {
            positions.push(find(header, name)?);
            if let Some(part) = part_of(&taken, name) {
                return Err(clash(header, name, part, "cannot be an input too"));
            }
            if self.ignore.contains(name) {
                return Err(Error::data(
                    Location::in_source(&header.source).column(name),
                    "is both an input and ignored; take it out of one of the lists",
                ));
            }
            if !seen.insert(name) {
                return Err(Error::data(
                    Location::in_source(&header.source).column(name),
                    "is listed twice among the inputs",
                ));
            }
        }
        Ok(positions)
    }

    /// The columns with a part other than input, each named once.
    fn single_columns<'r>(&'r self, header: &Header) -> Result<Vec<(&'static str, &'r str)>> {
        if self.target.is_empty() {
            return Err(Error::Invalid(
                "no target column was named; say which column to predict".into(),
            ));
        }
        let mut taken: Vec<(&'static str, &str)> = Vec::new();
        let targets = self.targets().map(|name| ("target", name));
        let others = [
            ("weight", &self.weight),
            ("known noise", &self.noise),
            ("exposure", &self.exposure),
            ("event", &self.event),
            ("censoring", &self.censored),
        ];
        let others = others
            .into_iter()
            .filter_map(|(part, name)| Some((part, name.as_deref()?)));
        for (part, name) in targets.chain(others) {
            find(header, name)?;
            if let Some(other) = part_of(&taken, name) {
                return Err(clash(
                    header,
                    name,
                    other,
                    &format!("cannot be the {part} too"),
                ));
            }
            taken.push((part, name));
        }
        Ok(taken)
    }
}

fn find(header: &Header, name: &str) -> Result<usize> {
    header
        .position(name)
        .ok_or_else(|| unknown_column(header, name))
}

fn part_of(taken: &[(&'static str, &str)], name: &str) -> Option<&'static str> {
    taken
        .iter()
        .find(|(_, column)| *column == name)
        .map(|(part, _)| *part)
}

fn clash(header: &Header, name: &str, part: &str, problem: &str) -> Error {
    Error::data(
        Location::in_source(&header.source).column(name),
        format!("this column is the {part} and {problem}"),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::ColumnType;

    fn header() -> Header {
        let names = ["a", "b", "c", "weight", "noise", "y"];
        Header {
            source: "t.csv".into(),
            names: names.iter().map(|name| name.to_string()).collect(),
            types: vec![ColumnType::Number; names.len()],
        }
    }

    fn message(roles: &Roles) -> String {
        roles.input_positions(&header()).unwrap_err().to_string()
    }

    #[test]
    fn inputs_are_all_columns_without_another_part() {
        let mut roles = Roles::of_target("y");
        assert_eq!(roles.input_positions(&header()).unwrap(), [0, 1, 2, 3, 4]);
        roles.weight = Some("weight".into());
        roles.noise = Some("noise".into());
        roles.ignore = vec!["b".into()];
        assert_eq!(roles.input_positions(&header()).unwrap(), [0, 2]);
        roles.ignore.clear();
        roles.inputs = Some(vec!["c".into(), "a".into()]);
        assert_eq!(roles.input_positions(&header()).unwrap(), [2, 0]);
    }

    #[test]
    fn a_column_has_one_part_only() {
        let mut roles = Roles::of_target("y");
        roles.inputs = Some(vec!["a".into(), "y".into()]);
        assert_eq!(
            message(&roles),
            "t.csv:y: this column is the target and cannot be an input too"
        );
        roles.inputs = Some(vec!["a".into(), "a".into()]);
        assert!(message(&roles).contains("twice"));
        roles.ignore = vec!["a".into()];
        assert!(message(&roles).contains("both"));
        roles = Roles::of_target("y");
        roles.weight = Some("y".into());
        assert!(message(&roles).contains("cannot be the weight too"));
        roles.weight = None;
        roles.ignore = vec!["y".into()];
        assert!(message(&roles).contains("cannot be ignored"));
    }

    #[test]
    fn unknown_names_are_errors_in_every_part() {
        assert!(message(&Roles::of_target("why")).contains("`why`"));
        assert!(message(&Roles::default()).contains("target"));
        let mut roles = Roles::of_target("y");
        roles.noise = Some("nose".into());
        assert!(message(&roles).contains("did you mean `noise`?"));
        roles.noise = None;
        roles.ignore = vec!["wieght".into()];
        assert!(message(&roles).contains("did you mean `weight`?"));
    }
}
