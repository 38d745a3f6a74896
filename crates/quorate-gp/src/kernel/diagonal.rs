//! Sums and products of kernels along the diagonal, and their pull-back.

use super::bound::{BoundFactor, BoundKernel, BoundTerm};
use super::side::Side;
use super::vector;

impl BoundKernel {
    /// Writes a sum of terms along the diagonal.
    pub(super) fn sum_diagonal(&self, terms: &[BoundTerm], sides: &[Side], out: &mut [f64]) {
        out.fill(0.0);
        for term in terms {
            let mut product = vec![1.0; out.len()];
            for factor in &term.factors {
                let value = self.factor_diagonal(factor, sides, out.len());
                vector::multiply(&mut product, &value);
            }
            vector::add_scaled(self.variance(term), &product, out);
        }
    }

    fn factor_diagonal(&self, factor: &BoundFactor, sides: &[Side], rows: usize) -> Vec<f64> {
        let mut value = vec![0.0; rows];
        match factor {
            BoundFactor::Sum(terms) => self.sum_diagonal(terms, sides, &mut value),
            BoundFactor::Atom(atom) => {
                let side = &sides[atom.index];
                atom.correlation.diagonal(self.own(atom), side, &mut value);
            }
        }
        value
    }

    /// The product rule along the diagonal.
    pub(super) fn pull_back_sum_diagonal(
        &self,
        terms: &[BoundTerm],
        sides: &[Side],
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        for term in terms {
            let values: Vec<Vec<f64>> = term
                .factors
                .iter()
                .map(|factor| self.factor_diagonal(factor, sides, sensitivity.len()))
                .collect();
            for (f, factor) in term.factors.iter().enumerate() {
                let mut weights = sensitivity.to_vec();
                vector::scale(self.variance(term), &mut weights);
                for (g, value) in values.iter().enumerate() {
                    if g != f {
                        vector::multiply(&mut weights, value);
                    }
                }
                if let (0, Some(index)) = (f, term.variance) {
                    gradient[index] += vector::dot(&weights, &values[0]);
                }
                match factor {
                    BoundFactor::Sum(terms) => {
                        self.pull_back_sum_diagonal(terms, sides, &weights, gradient);
                    }
                    BoundFactor::Atom(atom) => {
                        let own = &mut gradient[atom.parameters.clone()];
                        let (values, side) = (self.own(atom), &sides[atom.index]);
                        atom.correlation
                            .pull_back_diagonal(values, side, &weights, own);
                    }
                }
            }
        }
    }
}
