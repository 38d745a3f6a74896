//! Which columns of a table are read, and as what.

use std::sync::Arc;

use quorate_gp::data::{ColumnType, Header, check_names, unknown_column};
use quorate_gp::error::Location;

use crate::{OpenOptions, Result};

/// A column of the file.
pub(crate) struct Found {
    pub name: String,
    /// Why the column cannot be read, when it cannot.
    pub unreadable: Option<String>,
}

/// The columns that are read.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Position in the file of each column that is read.
    pub positions: Vec<usize>,
    /// Type asked for; the file decides where none is.
    pub expected: Vec<Option<ColumnType>>,
    /// Names, in the order of the positions.
    pub names: Vec<String>,
    /// What a person should know: columns passed over.
    pub notes: Vec<String>,
    source: String,
}

impl Plan {
    /// Chooses columns; an error when one that is asked for is not there or cannot be read.
    pub fn choose(source: &str, found: &[Found], options: &OpenOptions) -> Result<Plan> {
        let everything = Header {
            source: source.into(),
            names: found.iter().map(|column| column.name.clone()).collect(),
            types: vec![ColumnType::Text; found.len()],
        };
        check_names(&everything)?;
        let asked = options.columns.iter().flatten().chain(&options.needed);
        for name in asked {
            if everything.position(name).is_none() {
                return Err(unknown_column(&everything, name).into());
            }
        }
        let mut plan = Plan {
            positions: Vec::new(),
            expected: Vec::new(),
            names: Vec::new(),
            notes: Vec::new(),
            source: source.into(),
        };
        for (position, column) in found.iter().enumerate() {
            let name = &column.name;
            if let Some(columns) = &options.columns
                && !columns.contains(name)
                && !options.needed.contains(name)
            {
                continue;
            }
            let expected = options
                .expect
                .iter()
                .flatten()
                .find(|(candidate, _)| candidate == name)
                .map(|(_, column_type)| *column_type);
            if let Some(problem) = &column.unreadable {
                let wanted = expected.is_some()
                    || options.columns.is_some()
                    || options.needed.contains(name);
                if wanted {
                    return Err(quorate_gp::Error::data(
                        Location::in_source(source).column(name),
                        format!("the column {problem}, which cannot be read as numbers or text"),
                    )
                    .into());
                }
                plan.notes
                    .push(format!("column `{name}` {problem} and was passed over"));
                continue;
            }
            plan.positions.push(position);
            plan.expected.push(expected);
            plan.names.push(name.clone());
        }
        Ok(plan)
    }

    /// The header, once every type is known.
    pub fn header(&self, types: Vec<ColumnType>) -> Arc<Header> {
        Arc::new(Header {
            source: self.source.clone(),
            names: self.names.clone(),
            types,
        })
    }
}
