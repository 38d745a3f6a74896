//! Finding a kernel's columns in a table and naming its parameters.

use std::collections::HashMap;
use std::ops::Range;

use super::bound::{BoundAtom, BoundFactor, BoundKernel, BoundTerm};
use super::text::{Atom, Factor, Family, Kernel, Key, Place, Term};
use crate::data::{ColumnKind, InputColumn};
use crate::parameters::{Parameter, Role};
use crate::{Error, Result};

/// Most coordinates of category embeddings in one kernel, so that its text form stays readable by the parser.
const MOST_EMBEDDED: usize = 30_000;

impl Kernel {
    /// Finds the columns that the kernel names among the encoded columns of a table and lists its parameters.
    ///
    /// A kernel of numbers with no brackets reads all number columns with their missing-value indicators; naming a
    /// column takes its indicator along. Values that the text does not give start at 1 (embeddings at small distinct
    /// numbers); [`BoundKernel::initialise`] sets starts that suit the data.
    ///
    /// ```
    /// use quorate_gp::data::{ColumnKind, InputColumn};
    /// use quorate_gp::kernel::{Covariance, Kernel};
    ///
    /// let age = InputColumn { name: "age".into(), kind: ColumnKind::Number, deviation: 12.0 };
    /// let kernel = "matern32(ard)".parse::<Kernel>()?.bind(&[age])?;
    /// let names: Vec<String> = kernel.parameters().into_iter().map(|p| p.name).collect();
    /// assert_eq!(names, ["matern32.variance", "matern32.length_scale[age]"]);
    /// # Ok::<(), quorate_gp::Error>(())
    /// ```
    pub fn bind(&self, columns: &[InputColumn]) -> Result<BoundKernel> {
        let mut binder = Binder {
            kernel: self,
            columns,
            atoms: 0,
            seen: HashMap::new(),
            embedded: 0,
            parameters: Vec::new(),
            units: Vec::new(),
            given: Vec::new(),
        };
        let (_, terms) = binder.terms(self)?;
        Ok(BoundKernel {
            kernel: self.clone(),
            columns: columns.to_vec(),
            terms,
            values: binder.parameters.iter().map(|p| p.value).collect(),
            parameters: binder.parameters,
            units: binder.units,
            given: binder.given,
        })
    }
}

/// What binding knows so far.
pub(super) struct Binder<'a> {
    kernel: &'a Kernel,
    pub columns: &'a [InputColumn],
    atoms: usize,
    seen: HashMap<Family, usize>,
    embedded: usize,
    parameters: Vec<Parameter>,
    units: Vec<f64>,
    given: Vec<bool>,
}

/// A run of parameters about to be listed: one key of one atom.
struct Run<'a> {
    key: Key,
    role: Role,
    /// What stands in brackets after each name; empty for no brackets.
    labels: Vec<String>,
    units: Vec<f64>,
    /// Start of a value that the text does not give.
    start: &'a dyn Fn(usize) -> f64,
}

impl Binder<'_> {
    /// An error that points at a part of the atom being bound.
    pub fn error(&self, place: Place, problem: String) -> Error {
        self.kernel.error_at(self.atoms, place, problem)
    }

    fn terms(&mut self, kernel: &Kernel) -> Result<(String, Vec<BoundTerm>)> {
        let mut names = Vec::new();
        let mut terms = Vec::new();
        for term in &kernel.terms {
            let (name, term) = self.term(term)?;
            names.push(name);
            terms.push(term);
        }
        Ok((names.join("+"), terms))
    }

    fn term(&mut self, term: &Term) -> Result<(String, BoundTerm)> {
        let carries_amplitude = term.carries_amplitude();
        // Its name needs the factors' names, which are known only after them; it is listed before them.
        let variance = (term.scale.is_some() || !carries_amplitude).then(|| {
            let start = term.scale.map_or(1.0, |scale| scale.value);
            let mut parameter = Parameter::positive("", Role::Variance, start);
            // Beside a factor with its own amplitude a learned variance would be the same freedom twice.
            parameter.fixed = carries_amplitude || term.scale.is_some_and(|scale| scale.fixed);
            self.parameters.push(parameter);
            self.units.push(1.0);
            self.given.push(term.scale.is_some());
            self.parameters.len() - 1
        });
        let mut names = Vec::new();
        let mut factors = Vec::new();
        for factor in &term.factors {
            let (name, factor) = self.factor(factor)?;
            names.push(name);
            factors.push(factor);
        }
        let name = names.join("*");
        if let Some(index) = variance {
            self.parameters[index].name = format!("{name}.variance");
        }
        Ok((name, BoundTerm { variance, factors }))
    }

    fn factor(&mut self, factor: &Factor) -> Result<(String, BoundFactor)> {
        match factor {
            Factor::Group(group) => {
                let (name, terms) = self.terms(group)?;
                Ok((format!("({name})"), BoundFactor::Sum(terms)))
            }
            Factor::Atom(atom) => {
                let count = self.seen.entry(atom.family).or_insert(0);
                *count += 1;
                let name = match *count {
                    1 => atom.family.name().to_owned(),
                    again => format!("{}#{again}", atom.family.name()),
                };
                let bound = self.atom(atom, &name)?;
                self.atoms += 1;
                Ok((name, BoundFactor::Atom(bound)))
            }
        }
    }

    fn atom(&mut self, atom: &Atom, name: &str) -> Result<BoundAtom> {
        let columns = match atom.family {
            Family::Constant => Vec::new(),
            Family::Category => self.category_columns(atom)?,
            _ => self.number_columns(atom)?,
        };
        let first = self.parameters.len();
        let mut keys = Vec::new();
        for run in self.runs(atom, &columns)? {
            let range = self.list(atom, name, &run)?;
            keys.push((run.key, range));
        }
        Ok(BoundAtom {
            index: self.atoms,
            correlation: super::families::correlation(atom, &columns, self.columns),
            columns,
            parameters: first..self.parameters.len(),
            keys,
        })
    }

    /// The runs of parameters of an atom, in the order in which its computation expects them.
    fn runs(&mut self, atom: &Atom, columns: &[usize]) -> Result<Vec<Run<'static>>> {
        let one = |key: Key, role: Role| Run {
            key,
            role,
            labels: vec![String::new()],
            units: vec![1.0],
            start: &|_| 1.0,
        };
        let each = |key: Key, role: Role, columns: Vec<&InputColumn>| Run {
            key,
            role,
            labels: columns.iter().map(|c| format!("[{}]", c.label())).collect(),
            units: columns.iter().map(|_| 1.0).collect(),
            start: &|_| 1.0,
        };
        let chosen: Vec<&InputColumn> = columns.iter().map(|&c| &self.columns[c]).collect();
        let length_scale = || match atom.ard {
            true => each(Key::LengthScale, Role::LengthScale, chosen.clone()),
            false => one(Key::LengthScale, Role::LengthScale),
        };
        Ok(match atom.family {
            Family::Constant | Family::Basis => Vec::new(),
            Family::Linear if !atom.ard => Vec::new(),
            Family::RationalQuadratic => vec![length_scale(), one(Key::Shape, Role::Shape)],
            Family::Periodic => {
                let numbers: Vec<&InputColumn> = chosen
                    .iter()
                    .copied()
                    .filter(|column| column.kind == ColumnKind::Number)
                    .collect();
                let units = numbers.iter().map(|column| column.deviation).collect();
                let period = Run {
                    units,
                    ..each(Key::Period, Role::Period, numbers)
                };
                vec![length_scale(), period]
            }
            Family::Polynomial => vec![one(Key::Offset, Role::Offset)],
            Family::Network => vec![one(Key::Weight, Role::Offset), one(Key::Bias, Role::Offset)],
            Family::Category => match (atom.whole(Key::Rank), chosen.first()) {
                (Some(rank), Some(column)) => {
                    let levels = super::families::levels(column);
                    self.embedded += levels * rank;
                    if self.embedded > MOST_EMBEDDED {
                        let problem = format!(
                            "{levels} levels times rank {rank} is more than the {MOST_EMBEDDED} numbers a kernel \
                             may embed; try a lower rank, or category without rank"
                        );
                        return Err(self.error(Place::Key(Key::Rank), problem));
                    }
                    vec![
                        embedding(levels, rank),
                        Run {
                            start: &|_| 0.5,
                            ..one(Key::Kappa, Role::Variance)
                        },
                    ]
                }
                _ => vec![length_scale()],
            },
            _ => vec![length_scale()],
        })
    }

    /// Lists a run of parameters and returns their places.
    fn list(&mut self, atom: &Atom, name: &str, run: &Run<'_>) -> Result<Range<usize>> {
        let first = self.parameters.len();
        let count = run.labels.len();
        let numbers = atom.numbers(run.key);
        if let Some(numbers) = numbers
            && numbers.len() != 1
            && numbers.len() != count
        {
            let labels = match count {
                0 => String::new(),
                1..=12 => format!(" ({})", run.labels.join(" ")),
                _ => format!(" ({} ... {})", run.labels[0], run.labels[count - 1]),
            };
            let problem = format!(
                "`{}` takes one number or {count}{labels}, found {}",
                run.key.name(),
                numbers.len()
            );
            return Err(self.error(Place::Key(run.key), problem));
        }
        for (k, (label, unit)) in run.labels.iter().zip(&run.units).enumerate() {
            let given = numbers.map(|numbers| numbers[k.min(numbers.len() - 1)]);
            let value = match given {
                Some(value) => value / unit,
                None => (run.start)(k),
            };
            let full = format!("{name}.{}{label}", run.key.name());
            let mut parameter = match run.role {
                Role::Embedding => Parameter::signed(full, run.role, value),
                _ => Parameter::positive(full, run.role, value),
            };
            parameter.fixed = atom.is_fixed(run.key);
            self.parameters.push(parameter);
            self.units.push(*unit);
            self.given.push(given.is_some());
        }
        Ok(first..self.parameters.len())
    }
}

/// Coordinates of every level; small distinct starts, since equal ones would stay equal under a gradient.
fn embedding(levels: usize, rank: usize) -> Run<'static> {
    let labels = (0..levels)
        .flat_map(|level| (0..rank).map(move |k| format!("[{level},{}]", k + 1)))
        .collect();
    Run {
        key: Key::Embedding,
        role: Role::Embedding,
        labels,
        units: vec![1.0; levels * rank],
        start: &|index| super::start::pattern(index),
    }
}
