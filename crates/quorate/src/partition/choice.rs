//! The names of the ways to form parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// By what rows are put into parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PartChoice {
    /// Balanced cells in the kernel's metric.
    #[default]
    Tree,
    /// At random.
    Random,
    /// Clusters in the kernel's metric.
    Cluster,
    /// In the order of the table.
    Given,
    /// Rows with the same value in this column, which need not be an input.
    Column(String),
}

const BY_COLUMN: &str = "column:";

impl fmt::Display for PartChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartChoice::Tree => f.write_str("tree"),
            PartChoice::Random => f.write_str("random"),
            PartChoice::Cluster => f.write_str("cluster"),
            PartChoice::Given => f.write_str("given"),
            PartChoice::Column(name) => write!(f, "{BY_COLUMN}{name}"),
        }
    }
}

impl FromStr for PartChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "tree" => PartChoice::Tree,
            "random" => PartChoice::Random,
            "cluster" => PartChoice::Cluster,
            "given" => PartChoice::Given,
            _ => match text.strip_prefix(BY_COLUMN) {
                Some(name) if !name.is_empty() => PartChoice::Column(name.to_owned()),
                _ => {
                    return Err(Error::Spec(format!(
                        "unknown choice of parts `{text}`: choose tree, random, cluster, given or column:NAME"
                    )));
                }
            },
        })
    }
}

impl TryFrom<String> for PartChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<PartChoice> for String {
    fn from(choice: PartChoice) -> String {
        choice.to_string()
    }
}
