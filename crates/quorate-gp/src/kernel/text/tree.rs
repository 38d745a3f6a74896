//! The text-level tree of a kernel: a sum of products of named kernels, with the values that were given.

use super::catalogue::{Family, Key};

/// A kernel as people write it: a sum of products of named kernels on named columns.
///
/// It is built by parsing its text form and printed back exactly; values that were never set are not printed.
/// Binding it to the encoded columns of a table gives a [`BoundKernel`](crate::kernel::BoundKernel), which can compute.
///
/// ```
/// use quorate_gp::kernel::Kernel;
///
/// let kernel: Kernel = "2*matern32(ard) + se[age, bmi]*category[site]".parse()?;
/// assert_eq!(kernel.to_string(), "2 * matern32(ard) + se[age,bmi] * category[site]");
/// assert_eq!(kernel.structure(), "matern32(ard) + se[age,bmi] * category[site]");
/// # Ok::<(), quorate_gp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub(in crate::kernel) terms: Vec<Term>,
}

/// A product; `scale` is the number among its factors.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::kernel) struct Term {
    pub scale: Option<Scale>,
    pub factors: Vec<Factor>,
}

/// The number among the factors of a product: the start of the term's variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::kernel) struct Scale {
    pub value: f64,
    pub fixed: bool,
}

/// A factor of a product. A group always holds two terms or more; the parser dissolves smaller ones.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::kernel) enum Factor {
    Atom(Atom),
    Group(Kernel),
}

/// A named kernel with its settings, in the order of their keys, and its columns.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::kernel) struct Atom {
    pub family: Family,
    pub ard: bool,
    pub settings: Vec<(Key, Value)>,
    pub columns: Option<Vec<String>>,
}

/// What stands after an equals sign.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::kernel) enum Value {
    Numbers { values: Vec<f64>, fixed: bool },
    Word(&'static str),
}

impl Kernel {
    /// The text form without the values that learning may move: what two models must share to be the same model.
    ///
    /// Choices such as a degree or a rank, and values marked `fixed`, belong to the structure and stay.
    pub fn structure(&self) -> String {
        self.without_values().to_string()
    }

    /// How many named kernels it is made of.
    pub fn atoms(&self) -> usize {
        let factors = self.terms.iter().flat_map(|term| &term.factors);
        factors
            .map(|factor| match factor {
                Factor::Atom(_) => 1,
                Factor::Group(kernel) => kernel.atoms(),
            })
            .sum()
    }

    fn without_values(&self) -> Kernel {
        let terms = self
            .terms
            .iter()
            .map(|term| Term {
                // Beside a factor with its own amplitude the number is not learned: it belongs to the structure.
                scale: term
                    .scale
                    .filter(|scale| scale.fixed || term.carries_amplitude()),
                factors: term.factors.iter().map(Factor::without_values).collect(),
            })
            .collect();
        Kernel { terms }
    }
}

impl Term {
    /// True when a factor already sets the size of the product.
    pub fn carries_amplitude(&self) -> bool {
        self.factors.iter().any(Factor::carries_amplitude)
    }
}

impl Factor {
    fn without_values(&self) -> Factor {
        match self {
            Factor::Group(kernel) => Factor::Group(kernel.without_values()),
            Factor::Atom(atom) => {
                let mut atom = atom.clone();
                let family = atom.family;
                atom.settings.retain(|(key, value)| match value {
                    Value::Numbers { fixed, .. } => {
                        *fixed
                            || !family
                                .meaning(*key)
                                .is_some_and(|meaning| meaning.is_learned())
                    }
                    Value::Word(_) => true,
                });
                Factor::Atom(atom)
            }
        }
    }

    /// True when the factor's own parameters already set its size, so that the product needs no variance.
    fn carries_amplitude(&self) -> bool {
        match self {
            Factor::Group(_) => true,
            Factor::Atom(atom) => match atom.family {
                Family::Linear => atom.ard,
                Family::Category => atom.whole(Key::Rank).is_some(),
                _ => false,
            },
        }
    }
}

impl Atom {
    /// The numbers given for a key, if any.
    pub fn numbers(&self, key: Key) -> Option<&[f64]> {
        self.settings.iter().find_map(|(known, value)| match value {
            Value::Numbers { values, .. } if *known == key => Some(values.as_slice()),
            _ => None,
        })
    }

    /// True when the values of a key were marked `fixed`.
    pub fn is_fixed(&self, key: Key) -> bool {
        self.settings.iter().any(|(known, value)| {
            *known == key && matches!(value, Value::Numbers { fixed: true, .. })
        })
    }

    /// The whole number given for a key, if any.
    pub fn whole(&self, key: Key) -> Option<usize> {
        self.numbers(key)
            .and_then(|values| values.first())
            .map(|value| *value as usize)
    }

    /// The word given for a key, if any.
    pub fn word(&self, key: Key) -> Option<&'static str> {
        self.settings.iter().find_map(|(known, value)| match value {
            Value::Word(word) if *known == key => Some(*word),
            _ => None,
        })
    }

    /// Sets the numbers of a key, keeping its `fixed` mark and the order of the keys.
    pub fn set_numbers(&mut self, key: Key, numbers: Vec<f64>) {
        let fixed = self.is_fixed(key);
        self.settings.retain(|(known, _)| *known != key);
        if numbers.is_empty() {
            return;
        }
        let place = self.settings.partition_point(|(known, _)| *known < key);
        let value = Value::Numbers {
            values: numbers,
            fixed,
        };
        self.settings.insert(place, (key, value));
    }
}
