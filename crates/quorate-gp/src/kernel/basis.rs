//! Kernels of fixed basis functions: phi(x)' phi(x') (GBCM eq. 11 with unit prior covariance of the weights).

use super::correlation::Correlation;
use super::side::{Pair, Side};
use super::vector;
use crate::data::Inputs;

/// Fixed basis functions of each number column; a missing-value indicator enters as itself.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub columns: Vec<usize>,
    /// For each column, its functions.
    pub functions: Vec<Functions>,
    /// True when the constant function 1 belongs to the basis.
    pub constant: bool,
}

/// The basis functions of one column.
#[derive(Clone, Debug)]
pub(super) enum Functions {
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

    fn at(&self, index: usize, x: f64) -> f64 {
        match self {
            Functions::Itself => x,
            Functions::Powers { .. } => (0..index).fold(x, |power, _| power * x),
            Functions::Waves { period, .. } => {
                let half_turns = 2.0 * ((index / 2 + 1) as f64 * x / period);
                // cos(pi t) = sin(pi (t + 1/2)).
                let quarter = if index.is_multiple_of(2) { 0.0 } else { 0.5 };
                vector::sin_pi(half_turns % 2.0 + quarter)
            }
            Functions::Bumps { centres, width } => {
                let apart = (x - centres[index]) / width;
                (-0.5 * apart * apart).exp()
            }
        }
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
        let (values, width) = (inputs.values(), inputs.width());
        Side::new(
            inputs.rows(),
            features.len(),
            |feature, row| match features[feature] {
                None => 1.0,
                Some((place, index)) => {
                    let x = values[row * width + self.columns[place]];
                    self.functions[place].at(index, x)
                }
            },
        )
        .with_norms()
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
