//! Kernels of fixed basis functions: phi(x)' phi(x') (GBCM eq. 11 with unit prior covariance of the weights).

use super::correlation::Correlation;
use crate::data::Inputs;
use crate::kernel::side::{Pair, Side};
use crate::kernel::vector::{self, Function};

/// Fixed basis functions of each number column; a missing-value indicator enters as itself.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct Basis {
    pub columns: Vec<usize>,
    /// For each column, its functions.
    pub functions: Vec<Functions>,
    /// True when the constant function 1 belongs to the basis.
    pub constant: bool,
}

/// The basis functions of one column.
#[derive(Clone, Debug)]
pub(in crate::kernel) enum Functions {
    /// x.
    Itself,
    /// x, x^2, ..., x^degree.
    Powers { degree: usize },
    /// sin(2 pi k x / period) and cos(2 pi k x / period) for k = 1 .. count.
    Waves { count: usize, period: f64 },
    /// exp(-(x - c)^2 / (2 width^2)) for each centre c.
    Bumps { centres: Vec<f64>, width: f64 },
}

impl Functions {
    fn count(&self) -> usize {
        match self {
            Functions::Itself => 1,
            Functions::Powers { degree } => *degree,
            Functions::Waves { count, .. } => 2 * count,
            Functions::Bumps { centres, .. } => centres.len(),
        }
    }

    /// Replaces the values of the column by those of one of its functions.
    fn apply(&self, index: usize, values: &mut [f64]) {
        match self {
            Functions::Itself => {}
            Functions::Powers { .. } => vector::apply(Power(index), values),
            Functions::Waves { period, .. } => {
                let wave = Wave {
                    half_turns: 2.0 * (index / 2 + 1) as f64 / period,
                    // cos(pi t) = sin(pi (t + 1/2)).
                    shift: if index.is_multiple_of(2) { 0.0 } else { 0.5 },
                };
                vector::apply(wave, values);
            }
            Functions::Bumps { centres, width } => {
                let (centre, inverse_width) = (centres[index], width.recip());
                vector::apply(
                    Bump {
                        centre,
                        inverse_width,
                    },
                    values,
                );
            }
        }
    }
}

/// x to the power of one more than the number.
#[derive(Clone, Copy)]
struct Power(usize);

impl Function for Power {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        (0..self.0).fold(x, |power, _| power * x)
    }
}

/// sin(pi (x f + shift)).
#[derive(Clone, Copy)]
struct Wave {
    half_turns: f64,
    shift: f64,
}

impl Function for Wave {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        vector::sin_pi(x.mul_add(self.half_turns, self.shift))
    }
}

/// exp(-((x - c) / w)^2 / 2).
#[derive(Clone, Copy)]
struct Bump {
    centre: f64,
    inverse_width: f64,
}

impl Function for Bump {
    #[inline(always)]
    fn at(self, x: f64) -> f64 {
        let apart = (x - self.centre) * self.inverse_width;
        vector::exp(-0.5 * apart * apart)
    }
}

impl Correlation for Basis {
    fn side(&self, _: &[f64], inputs: Inputs<'_>) -> Side {
        // Which column and which of its functions each feature is.
        let mut features: Vec<Option<(usize, usize)>> = Vec::new();
        features.extend(self.constant.then_some(None));
        for (place, functions) in self.functions.iter().enumerate() {
            features.extend((0..functions.count()).map(|index| Some((place, index))));
        }
        let columns = Side::scaled(inputs, &self.columns, |_| 1.0);
        let mut side = Side::new(inputs.rows(), features.len());
        for (feature, function) in features.iter().enumerate() {
            let values = side.feature_mut(feature);
            match *function {
                None => values.fill(1.0),
                Some((place, index)) => {
                    values.copy_from_slice(&columns.feature(place)[..inputs.rows()]);
                    self.functions[place].apply(index, values);
                }
            }
        }
        side.with_norms()
    }

    fn fill(&self, _: &[f64], pair: &Pair<'_>, out: &mut [f64], _: Option<&mut [f64]>) {
        vector::inner_products(pair, out);
    }

    fn pull_back(
        &self,
        _: &[f64],
        _: &Pair<'_>,
        _: &[f64],
        _: &[f64],
        _: &mut [f64],
        _: &mut [f64],
    ) {
    }

    fn diagonal(&self, _: &[f64], side: &Side, out: &mut [f64]) {
        out.copy_from_slice(&side.marks()[..out.len()]);
    }

    fn pull_back_diagonal(&self, _: &[f64], _: &Side, _: &[f64], _: &mut [f64]) {}

    fn relevance(&self, _: &[f64]) -> Vec<f64> {
        self.functions
            .iter()
            .map(|functions| match functions {
                Functions::Itself | Functions::Powers { .. } => 1.0,
                Functions::Waves { count, period } => *count as f64 / period,
                Functions::Bumps { width, .. } => width.recip(),
            })
            .collect()
    }
}
