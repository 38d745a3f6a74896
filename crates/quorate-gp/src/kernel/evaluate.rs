//! Sums and products of kernels over a patch, and their pull-back.

use super::bound::{BoundAtom, BoundFactor, BoundKernel, BoundTerm};
use super::covariance::Covariance;
use super::patch::Patch;
use super::vector;
use super::workspace::Workspace;
use crate::Result;
use crate::data::Inputs;
use crate::linalg::{MatrixMut, MatrixRef};
use crate::parameters::Parameter;

impl Covariance for BoundKernel {
    fn diagonal(&self, inputs: Inputs<'_>) -> Vec<f64> {
        let mut out = vec![0.0; inputs.rows()];
        self.sum_diagonal(&self.terms, &self.sides(inputs), &mut out);
        out
    }

    fn fill(&self, rows: Inputs<'_>, columns: Inputs<'_>, mut out: MatrixMut<'_>) {
        self.patches(rows, columns, |patch, work| {
            let mut block = work.take(patch.len());
            let factor = self.sum(&self.terms, patch, &mut block, work);
            patch.write(factor, &block, out.as_mut());
            work.give(block);
        });
    }

    fn pull_back(
        &self,
        rows: Inputs<'_>,
        columns: Inputs<'_>,
        sensitivity: MatrixRef<'_>,
        gradient: &mut [f64],
    ) {
        self.patches(rows, columns, |patch, work| {
            let mut weights = work.take(patch.len());
            patch.read(sensitivity, &mut weights);
            self.pull_back_sum(&self.terms, patch, &weights, gradient, work);
            work.give(weights);
        });
    }

    fn pull_back_diagonal(&self, inputs: Inputs<'_>, sensitivity: &[f64], gradient: &mut [f64]) {
        let sides = self.sides(inputs);
        self.pull_back_sum_diagonal(&self.terms, &sides, sensitivity, gradient);
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.parameters.clone()
    }

    fn set_coordinates(&mut self, coordinates: &[f64]) -> Result<()> {
        self.set_all(coordinates)
    }
}

impl BoundKernel {
    /// The values of an atom's own parameters.
    pub(super) fn own(&self, atom: &BoundAtom) -> &[f64] {
        &self.values[atom.parameters.clone()]
    }

    pub(super) fn variance(&self, term: &BoundTerm) -> f64 {
        term.variance.map_or(1.0, |index| self.values[index])
    }

    /// Writes a sum to `out`, up to the factor it returns: a single term leaves its variance to the caller, who
    /// passes over the numbers once more anyway.
    fn sum(
        &self,
        terms: &[BoundTerm],
        patch: &Patch<'_>,
        out: &mut [f64],
        work: &mut Workspace,
    ) -> f64 {
        let mut factor = 1.0;
        for (t, term) in terms.iter().enumerate() {
            if t == 0 {
                factor = self.product(term, patch, out, work);
                if terms.len() > 1 {
                    vector::scale(factor, out);
                    factor = 1.0;
                }
            } else {
                let mut product = work.take(out.len());
                let factor = self.product(term, patch, &mut product, work);
                vector::add_scaled(factor, &product, out);
                work.give(product);
            }
        }
        factor
    }

    /// Writes a product to `out`, up to the factor it returns.
    fn product(
        &self,
        term: &BoundTerm,
        patch: &Patch<'_>,
        out: &mut [f64],
        work: &mut Workspace,
    ) -> f64 {
        for (f, factor) in term.factors.iter().enumerate() {
            if f == 0 {
                self.factor(factor, patch, out, None, work);
            } else {
                let mut value = work.take(out.len());
                self.factor(factor, patch, &mut value, None, work);
                vector::multiply(out, &value);
                work.give(value);
            }
        }
        self.variance(term)
    }

    fn factor(
        &self,
        factor: &BoundFactor,
        patch: &Patch<'_>,
        out: &mut [f64],
        memo: Option<&mut [f64]>,
        work: &mut Workspace,
    ) {
        match factor {
            BoundFactor::Sum(terms) => {
                let factor = self.sum(terms, patch, out, work);
                vector::scale(factor, out);
            }
            BoundFactor::Atom(atom) => {
                let pair = patch.pair(atom);
                atom.correlation.fill(self.own(atom), &pair, out, memo);
            }
        }
    }

    /// The product rule: each factor sees the sensitivity times the variance and all other factors.
    fn pull_back_sum(
        &self,
        terms: &[BoundTerm],
        patch: &Patch<'_>,
        sensitivity: &[f64],
        gradient: &mut [f64],
        work: &mut Workspace,
    ) {
        for term in terms {
            let mut values = Vec::with_capacity(term.factors.len());
            for factor in &term.factors {
                let mut value = work.take(patch.len());
                let mut memo = work.take(patch.len());
                self.factor(factor, patch, &mut value, Some(&mut memo), work);
                values.push((value, memo));
            }
            for (f, factor) in term.factors.iter().enumerate() {
                let mut weights = work.take(patch.len());
                vector::copy_scaled(self.variance(term), sensitivity, &mut weights);
                for (g, (value, _)) in values.iter().enumerate() {
                    if g != f {
                        vector::multiply(&mut weights, value);
                    }
                }
                let (value, memo) = &values[f];
                if let (0, Some(index)) = (f, term.variance) {
                    // d/d ln v of v times the product is the term itself.
                    gradient[index] += vector::dot(&weights, value);
                }
                match factor {
                    BoundFactor::Sum(terms) => {
                        self.pull_back_sum(terms, patch, &weights, gradient, work);
                    }
                    BoundFactor::Atom(atom) => {
                        let own = &mut gradient[atom.parameters.clone()];
                        let pair = patch.pair(atom);
                        let values = self.own(atom);
                        atom.correlation
                            .pull_back(values, &pair, value, memo, &mut weights, own);
                    }
                }
                work.give(weights);
            }
            for (value, memo) in values {
                work.give(value);
                work.give(memo);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{ColumnKind, InputColumn};
    use crate::kernel::Kernel;
    use crate::kernel::vector::tests::{every_arch, with_arch};
    use crate::linalg::Matrix;

    #[test]
    fn processors_with_other_vectors_compute_the_same() {
        let column = |name: &str, kind: ColumnKind| InputColumn {
            name: name.to_owned(),
            kind,
            deviation: 1.0,
        };
        let table = [
            column("a", ColumnKind::Number),
            column("b", ColumnKind::Number),
            column("s", ColumnKind::Category { levels: 3 }),
        ];
        let text = "se + matern12(ard) + matern32 * network + matern52(ard) + rq(ard) * category[s] + periodic \
                    + linear(ard) * category(rank=2)[s] + polynomial + basis + basis(functions=fourier)";
        let kernel = text.parse::<Kernel>().unwrap().bind(&table).unwrap();
        let value = |k: usize| match k % 3 {
            2 => (k % 4) as f64,
            _ => 2.0 * (k as f64).sin(),
        };
        let values: Vec<f64> = (0..3 * 77).map(value).collect();
        let inputs = Inputs::new(&values, 77, 3).unwrap();
        let sensitivity = Matrix::from_fn(77, 77, |i, j| ((i * 3 + j) as f64).cos());
        let answers: Vec<(Matrix, Vec<f64>)> = every_arch()
            .into_iter()
            .map(|arch| {
                with_arch(arch, || {
                    let mut block = Matrix::zeros(77, 77);
                    kernel.fill(inputs, inputs, block.as_mut());
                    let mut gradient = vec![0.0; kernel.parameters().len()];
                    kernel.pull_back(inputs, inputs, sensitivity.as_ref(), &mut gradient);
                    (block, gradient)
                })
            })
            .collect();
        let (block, gradient) = &answers[0];
        for (other_block, other_gradient) in &answers[1..] {
            // Entries are the same to the last bit; sums over lanes differ in order.
            assert_eq!(block, other_block);
            for (a, b) in gradient.iter().zip(other_gradient) {
                assert!((a - b).abs() <= 1e-11 * (1.0 + a.abs()), "{a} {b}");
            }
        }
    }
}
