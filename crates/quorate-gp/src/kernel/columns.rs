//! Finding the columns that a named kernel reads.

use super::bind::Binder;
use super::text::{Atom, Key, Place, suggestion};
use crate::data::{ColumnKind, InputColumn};
use crate::{Error, Result};

impl Binder<'_> {
    /// The number columns an atom reads, each followed by its missing-value indicator.
    pub fn number_columns(&self, atom: &Atom) -> Result<Vec<usize>> {
        let is_number = |column: &InputColumn| !matches!(column.kind, ColumnKind::Category { .. });
        let Some(names) = &atom.columns else {
            let all = 0..self.columns.len();
            return Ok(all.filter(|&c| is_number(&self.columns[c])).collect());
        };
        let mut found = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let before = found.len();
            for kind in [ColumnKind::Number, ColumnKind::Missing] {
                let matches = |column: &InputColumn| column.name == *name && column.kind == kind;
                found.extend(self.columns.iter().position(matches));
            }
            if found.len() == before {
                let wanted = format!("{} reads numbers; try category[{name}]", atom.family.name());
                return Err(self.no_such_column(place, name, &wanted, is_number));
            }
        }
        Ok(found)
    }

    /// The category columns an atom reads.
    pub fn category_columns(&self, atom: &Atom) -> Result<Vec<usize>> {
        let is_category = |column: &InputColumn| matches!(column.kind, ColumnKind::Category { .. });
        let all: Vec<usize> = (0..self.columns.len())
            .filter(|&c| is_category(&self.columns[c]))
            .collect();
        let found = match &atom.columns {
            None => match all.as_slice() {
                [] => {
                    let problem = "there is no category column for this kernel to read".to_owned();
                    return Err(self.error(Place::Name, problem));
                }
                [only] => vec![*only],
                several => {
                    let names: Vec<&str> = several
                        .iter()
                        .map(|&c| self.columns[c].name.as_str())
                        .collect();
                    let problem = format!(
                        "which category column? write one of {}",
                        listed(names.iter().map(|name| format!("category[{name}]")))
                    );
                    return Err(self.error(Place::Name, problem));
                }
            },
            Some(names) => {
                let mut found = Vec::new();
                for (place, name) in names.iter().enumerate() {
                    let matches = |&c: &usize| self.columns[c].name == *name;
                    match all.iter().copied().find(matches) {
                        Some(column) => found.push(column),
                        None => {
                            let wanted = "category reads text columns; try se or linear";
                            return Err(self.no_such_column(place, name, wanted, is_category));
                        }
                    }
                }
                found
            }
        };
        if found.len() > 1 && atom.whole(Key::Rank).is_some() {
            let problem = "category with a rank reads one column; multiply one for each".to_owned();
            return Err(self.error(Place::Column(1), problem));
        }
        Ok(found)
    }

    /// A named column is unknown, or of the other kind.
    fn no_such_column(
        &self,
        place: usize,
        name: &str,
        wanted: &str,
        fits: impl Fn(&InputColumn) -> bool,
    ) -> Error {
        let other_kind = self.columns.iter().any(|column| column.name == name);
        let problem = if other_kind {
            let kind = match self.columns.iter().any(|column| {
                column.name == name && matches!(column.kind, ColumnKind::Category { .. })
            }) {
                true => "categories",
                false => "numbers",
            };
            format!("column `{name}` holds {kind}, but {wanted}")
        } else {
            let mut names: Vec<&str> = self
                .columns
                .iter()
                .filter(|column| fits(column))
                .map(|column| column.name.as_str())
                .collect();
            names.dedup();
            let near = suggestion(name, names.iter().copied());
            let known = listed(names.iter().map(|name| (*name).to_owned()));
            format!("there is no input column `{name}`{near}; this kernel can read {known}")
        };
        self.error(Place::Column(place), problem)
    }
}

/// Names for a message: all of a few, the first of many.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let count = names.len();
    if count == 0 {
        return "no column".to_owned();
    }
    let mut text = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if count > SHOWN {
        text.push_str(&format!(" and {} more", count - SHOWN));
    }
    text
}
