//! Rows drawn from a network: from top to bottom, or by rounds over all columns of a dependency network.

use std::sync::Arc;

use quorate_gp::data::{Column, ColumnType, Frame, Header};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::Network;
use crate::error::{Error, Result};

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A label.
    Label(String),
}

/// A column of equal cells.
fn constant(value: &Value, rows: usize, kind: ColumnType) -> Result<Column> {
    Ok(match (value, kind) {
        (Value::Label(label), ColumnType::Text) => {
            Column::Text(vec![Some(Arc::from(label.as_str())); rows])
        }
        (Value::Number(number), ColumnType::Text) => {
            Column::Text(vec![Some(Arc::from(number.to_string())); rows])
        }
        (Value::Number(number), _) => Column::Number(vec![*number; rows]),
        (Value::Label(label), _) => match (label.parse::<f64>(), label.as_str()) {
            (Ok(number), _) => Column::Number(vec![number; rows]),
            (_, "true") => Column::Number(vec![1.0; rows]),
            (_, "false") => Column::Number(vec![0.0; rows]),
            _ => return Err(Error::Spec(format!("`{label}` is not a number"))),
        },
    })
}

/// A number in (0, 1) with 53 random bits.
pub fn uniform(random: &mut ChaCha12Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Columns that grow as a network is sampled.
pub struct Drawn {
    pub rows: usize,
    names: Vec<String>,
    types: Vec<ColumnType>,
    columns: Vec<Column>,
}

impl Drawn {
    pub fn new(rows: usize) -> Self {
        Self {
            rows,
            names: Vec::new(),
            types: Vec::new(),
            columns: Vec::new(),
        }
    }

    pub fn set(&mut self, name: &str, kind: ColumnType, column: Column) {
        match self.names.iter().position(|own| own == name) {
            Some(place) => self.columns[place] = column,
            None => {
                self.names.push(name.to_owned());
                self.types.push(kind);
                self.columns.push(column);
            }
        }
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        let place = self.names.iter().position(|own| own == name)?;
        self.columns.get(place)
    }

    /// Some of the columns as a table.
    pub fn frame(&self, names: &[String]) -> Result<Frame> {
        let places: Vec<usize> = (names.iter())
            .map(|name| {
                let place = self.names.iter().position(|own| own == name);
                place.ok_or_else(|| Error::Spec(format!("`{name}` must be given")))
            })
            .collect::<Result<_>>()?;
        let header = Header {
            source: String::new(),
            names: names.to_vec(),
            types: places.iter().map(|&place| self.types[place]).collect(),
        };
        let columns = places.iter().map(|&place| self.columns[place].clone());
        Ok(Frame::new(Arc::new(header), columns.collect(), 1)?)
    }
}

impl Network {
    /// Draws rows given some columns, with the log weight of each row: the density of the given variables, each given
    /// its parents (likelihood weighting, Shachter and Peot 1990). Rows of a dependency network have no weight: its
    /// variables are drawn in turn for so many rounds, the given ones kept (Heckerman and others 2000).
    pub fn draw(
        &self,
        rows: usize,
        given: &[(String, Value)],
        rounds: usize,
        seed: u64,
    ) -> Result<(Frame, Vec<f64>)> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut drawn = Drawn::new(rows);
        for (name, value) in given {
            let own = self.conditionals.iter().find(|own| own.name == *name);
            let kind = match own {
                Some(own) => own.kind,
                None => self.exogenous_type(name)?,
            };
            drawn.set(name, kind, constant(value, rows, kind)?);
        }
        for name in &self.graph.exogenous {
            if drawn.column(name).is_none() {
                return Err(Error::Spec(format!(
                    "`{name}` is exogenous: give it a value, as in `{name}=1`"
                )));
            }
        }
        let is_given = |name: &str| given.iter().any(|(own, _)| own == name);
        let mut weights = vec![0.0; rows];
        if self.graph.dependency {
            for own in self.conditionals.iter().filter(|own| !is_given(&own.name)) {
                let column = own.draw_marginal(rows, &mut random);
                drawn.set(&own.name, own.kind, column);
            }
            for _ in 0..rounds.max(1) {
                for own in self.conditionals.iter().filter(|own| !is_given(&own.name)) {
                    let column = own.draw(&drawn, &mut random)?;
                    drawn.set(&own.name, own.kind, column);
                }
            }
        } else {
            for place in self.graph.order()? {
                let own = &self.conditionals[place];
                if is_given(&own.name) {
                    let each = weights.iter_mut().zip(own.log_densities(&drawn)?);
                    each.for_each(|(weight, log)| *weight += log);
                } else {
                    let column = own.draw(&drawn, &mut random)?;
                    drawn.set(&own.name, own.kind, column);
                }
            }
        }
        let names: Vec<String> = (self.graph.exogenous.iter().map(String::as_str))
            .chain(self.graph.variables())
            .map(str::to_owned)
            .collect();
        Ok((drawn.frame(&names)?, weights))
    }

    /// What an exogenous column holds, as the models that read it know it.
    fn exogenous_type(&self, name: &str) -> Result<ColumnType> {
        if !self.graph.exogenous.iter().any(|own| own == name) {
            return Err(Error::Spec(format!(
                "the network has no column `{name}`: it has {}",
                self.graph.variables().collect::<Vec<_>>().join(", ")
            )));
        }
        let readers = self
            .conditionals
            .iter()
            .filter_map(|own| own.model.as_ref());
        let mut types = readers.flat_map(|model| model.schema().expected_types());
        let found = types.find(|(own, _)| own == name);
        Ok(found.map_or(ColumnType::Number, |(_, kind)| kind))
    }
}
