//! A kernel bound to the columns of a table: it has parameters and can compute.

use std::ops::Range;
use std::sync::Arc;

use super::families::Correlation;
use super::text::{Factor, Kernel, Key, LEAST, MOST, Scale, Term, number};
use crate::data::InputColumn;
use crate::parameters::{Parameter, Transform};
use crate::{Error, Result};

/// A kernel with its columns found and its hyperparameters named; see [`Kernel::bind`].
///
/// It computes through [`super::Covariance`]; [`super::tiles`] walks whole matrices in parallel.
#[derive(Clone, Debug)]
pub struct BoundKernel {
    pub(super) kernel: Kernel,
    pub(super) columns: Vec<InputColumn>,
    pub(super) terms: Vec<BoundTerm>,
    pub(super) parameters: Vec<Parameter>,
    /// The parameters' values again, side by side.
    pub(super) values: Vec<f64>,
    /// What a value is multiplied by in the text form: a column's deviation for its period, else 1.
    pub(super) units: Vec<f64>,
    /// Which values the text gave.
    pub(super) given: Vec<bool>,
}

/// A product: the place of its variance among the parameters, and its factors.
#[derive(Clone, Debug)]
pub(super) struct BoundTerm {
    pub variance: Option<usize>,
    pub factors: Vec<BoundFactor>,
}

/// A factor of a product.
#[derive(Clone, Debug)]
pub(super) enum BoundFactor {
    Atom(BoundAtom),
    Sum(Vec<BoundTerm>),
}

/// A named kernel on its encoded columns.
#[derive(Clone, Debug)]
pub(super) struct BoundAtom {
    /// Its rank in reading order.
    pub index: usize,
    pub correlation: Arc<dyn Correlation>,
    /// The encoded columns it reads.
    pub columns: Vec<usize>,
    /// Its parameters, and which key each run of them belongs to.
    pub parameters: Range<usize>,
    pub keys: Vec<(Key, Range<usize>)>,
}

impl BoundKernel {
    /// The tree with the current value of every parameter written into it.
    pub fn kernel(&self) -> Kernel {
        let mut kernel = self.kernel.clone();
        self.write_terms(&self.terms, &mut kernel.terms);
        kernel
    }

    fn write_terms(&self, bound: &[BoundTerm], terms: &mut [Term]) {
        for (bound, term) in bound.iter().zip(terms) {
            if let Some(index) = bound.variance {
                let fixed = term.scale.is_some_and(|scale| scale.fixed);
                let value = self.values[index];
                term.scale = Some(Scale { value, fixed });
            }
            for (bound, factor) in bound.factors.iter().zip(&mut term.factors) {
                match (bound, factor) {
                    (BoundFactor::Sum(bound), Factor::Group(group)) => {
                        self.write_terms(bound, &mut group.terms);
                    }
                    (BoundFactor::Atom(bound), Factor::Atom(atom)) => {
                        for (key, range) in &bound.keys {
                            let values = range.clone().map(|index| self.written(index)).collect();
                            atom.set_numbers(*key, values);
                        }
                    }
                    _ => unreachable!("a bound kernel has the shape of its tree"),
                }
            }
        }
    }

    /// The encoded columns that no factor reads.
    pub fn unused_columns(&self) -> Vec<usize> {
        let mut used = vec![false; self.columns.len()];
        for atom in self.atoms() {
            for &column in &atom.columns {
                used[column] = true;
            }
        }
        (0..used.len()).filter(|&column| !used[column]).collect()
    }

    /// How strongly each encoded column counts: its label and the largest inverse length scale over the factors
    /// that read it, 0 when none does. Larger means that smaller changes matter.
    pub fn relevance(&self) -> Vec<(String, f64)> {
        let mut relevance = vec![0.0_f64; self.columns.len()];
        for atom in self.atoms() {
            let values = &self.values[atom.parameters.clone()];
            for (&column, value) in atom.columns.iter().zip(atom.correlation.relevance(values)) {
                relevance[column] = relevance[column].max(value);
            }
        }
        self.columns
            .iter()
            .map(InputColumn::label)
            .zip(relevance)
            .collect()
    }

    /// The encoded columns it is bound to.
    pub fn columns(&self) -> &[InputColumn] {
        &self.columns
    }

    /// Every atom, in reading order.
    pub(super) fn atoms(&self) -> Vec<&BoundAtom> {
        fn collect<'a>(terms: &'a [BoundTerm], found: &mut Vec<&'a BoundAtom>) {
            for factor in terms.iter().flat_map(|term| &term.factors) {
                match factor {
                    BoundFactor::Atom(atom) => found.push(atom),
                    BoundFactor::Sum(terms) => collect(terms, found),
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.terms, &mut found);
        found
    }

    /// A parameter's value as the text form writes it: a period in the column's own units.
    ///
    /// Among the numbers that read back as exactly this value, the one with the shortest text.
    fn written(&self, index: usize) -> f64 {
        let value = self.values[index];
        let unit = self.units[index];
        if unit == 1.0 {
            return value;
        }
        let near = value * unit;
        let below = near.next_down();
        let above = near.next_up();
        [near, below, above, below.next_down(), above.next_up()]
            .into_iter()
            .filter(|written| written / unit == value)
            .min_by_key(|written| number(*written).len())
            .unwrap_or(near)
    }

    /// Sets one value, keeping it as the text form can write it.
    pub(super) fn set_value(&mut self, index: usize, value: f64) {
        let unit = self.units[index];
        // A period is stored as a quotient that the text form can reproduce to the last bit.
        let value = if unit == 1.0 {
            value
        } else {
            value * unit / unit
        };
        self.values[index] = value;
        self.parameters[index].value = value;
    }

    pub(super) fn set_all(&mut self, coordinates: &[f64]) -> Result<()> {
        if coordinates.len() != self.values.len() {
            return Err(Error::Shape {
                what: "kernel coordinates",
                expected: self.values.len(),
                found: coordinates.len(),
            });
        }
        let transforms = self.parameters.iter().map(|parameter| parameter.transform);
        let mut values = Vec::with_capacity(coordinates.len());
        for (transform, &coordinate) in transforms.zip(coordinates) {
            let value = transform.value(coordinate);
            let in_range = match transform {
                Transform::Log => (LEAST..=MOST).contains(&value),
                Transform::Identity => value.abs() <= MOST,
            };
            if !in_range {
                return Err(Error::NotFinite {
                    what: "a hyperparameter of the kernel",
                });
            }
            values.push(value);
        }
        for (index, value) in values.into_iter().enumerate() {
            self.set_value(index, value);
        }
        Ok(())
    }
}
