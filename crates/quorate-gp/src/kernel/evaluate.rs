//! Blocks and pull-backs of a bound kernel, patch by patch through scratch that stays in the cache.

use super::bound::{BoundAtom, BoundFactor, BoundKernel, BoundTerm};
use super::covariance::Covariance;
use super::side::{Pair, Side};
use super::vector;
use super::workspace::Workspace;
use crate::Result;
use crate::data::Inputs;
use crate::linalg::{MatrixMut, MatrixRef};
use crate::parameters::Parameter;

/// Rows of a patch: their features fill the first-level cache together with one patch.
const PATCH_ROWS: usize = 256;
/// Columns of a patch.
const PATCH_COLUMNS: usize = 8;

impl Covariance for BoundKernel {
    fn diagonal(&self, inputs: Inputs<'_>) -> Vec<f64> {
        let sides = self.sides(inputs);
        let mut out = vec![0.0; inputs.rows()];
        self.sum_diagonal(&self.terms, &sides, &mut out);
        out
    }

    fn fill(&self, rows: Inputs<'_>, columns: Inputs<'_>, mut out: MatrixMut<'_>) {
        let mut work = Workspace::default();
        self.patches(rows, columns, &mut work, |patch, work| {
            let mut block = work.take(patch.len());
            self.sum(&self.terms, patch, &mut block, work);
            for (j, column) in patch.range.clone().zip(block.chunks(patch.stride.max(1))) {
                let target = out.as_mut().col_mut(j);
                let target = target.subrows_mut(patch.first_row, patch.rows);
                match target.try_as_col_major_mut() {
                    Some(target) => target.as_slice_mut().copy_from_slice(&column[..patch.rows]),
                    None => {
                        for i in 0..patch.rows {
                            out[(patch.first_row + i, j)] = column[i];
                        }
                    }
                }
            }
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
        let mut work = Workspace::default();
        self.patches(rows, columns, &mut work, |patch, work| {
            let mut weights = work.take(patch.len());
            for (j, column) in patch
                .range
                .clone()
                .zip(weights.chunks_mut(patch.stride.max(1)))
            {
                let (used, padding) = column.split_at_mut(patch.rows);
                let source = sensitivity.col(j).subrows(patch.first_row, patch.rows);
                match source.try_as_col_major() {
                    Some(source) => used.copy_from_slice(source.as_slice()),
                    None => (0..patch.rows).for_each(|i| used[i] = source[i]),
                }
                padding.fill(0.0);
            }
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

/// A few rows against a few columns, with the features of every atom.
struct Patch<'a> {
    row_sides: &'a [Side],
    column_sides: &'a [Side],
    first_row: usize,
    rows: usize,
    stride: usize,
    range: std::ops::Range<usize>,
}

impl Patch<'_> {
    fn len(&self) -> usize {
        self.stride * self.range.len()
    }

    fn pair(&self, atom: &BoundAtom) -> Pair<'_> {
        Pair {
            rows: &self.row_sides[atom.index],
            columns: &self.column_sides[atom.index],
            range: self.range.clone(),
        }
    }
}

impl BoundKernel {
    fn sides(&self, inputs: Inputs<'_>) -> Vec<Side> {
        self.atoms()
            .into_iter()
            .map(|atom| atom.correlation.side(self.own(atom), inputs))
            .collect()
    }

    fn own(&self, atom: &BoundAtom) -> &[f64] {
        &self.values[atom.parameters.clone()]
    }

    fn variance(&self, term: &BoundTerm) -> f64 {
        term.variance.map_or(1.0, |index| self.values[index])
    }

    /// Calls `work_on` for every patch of the block, in a fixed order.
    fn patches(
        &self,
        rows: Inputs<'_>,
        columns: Inputs<'_>,
        work: &mut Workspace,
        mut work_on: impl FnMut(&Patch<'_>, &mut Workspace),
    ) {
        let column_sides = self.sides(columns);
        for first_row in (0..rows.rows()).step_by(PATCH_ROWS) {
            let last_row = (first_row + PATCH_ROWS).min(rows.rows());
            let row_sides = self.sides(rows.slice(first_row, last_row));
            let stride = (last_row - first_row).next_multiple_of(super::side::PADDING);
            for first in (0..columns.rows()).step_by(PATCH_COLUMNS) {
                let patch = Patch {
                    row_sides: &row_sides,
                    column_sides: &column_sides,
                    first_row,
                    rows: last_row - first_row,
                    stride,
                    range: first..(first + PATCH_COLUMNS).min(columns.rows()),
                };
                work_on(&patch, work);
            }
        }
    }

    fn sum(&self, terms: &[BoundTerm], patch: &Patch<'_>, out: &mut [f64], work: &mut Workspace) {
        for (t, term) in terms.iter().enumerate() {
            let variance = self.variance(term);
            if t == 0 {
                self.product(term, patch, out, work);
                vector::scale(variance, out);
            } else {
                let mut product = work.take(out.len());
                self.product(term, patch, &mut product, work);
                vector::add_scaled(variance, &product, out);
                work.give(product);
            }
        }
    }

    fn product(&self, term: &BoundTerm, patch: &Patch<'_>, out: &mut [f64], work: &mut Workspace) {
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
            BoundFactor::Sum(terms) => self.sum(terms, patch, out, work),
            BoundFactor::Atom(atom) => {
                atom.correlation
                    .fill(self.own(atom), &patch.pair(atom), out, memo);
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
            let variance = self.variance(term);
            let mut values = Vec::with_capacity(term.factors.len());
            for factor in &term.factors {
                let mut value = work.take(patch.len());
                let mut memo = work.take(patch.len());
                self.factor(factor, patch, &mut value, Some(&mut memo), work);
                values.push((value, memo));
            }
            for (f, factor) in term.factors.iter().enumerate() {
                let mut weights = work.take(patch.len());
                weights.copy_from_slice(sensitivity);
                vector::scale(variance, &mut weights);
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
                        atom.correlation.pull_back(
                            self.own(atom),
                            &patch.pair(atom),
                            value,
                            memo,
                            &mut weights,
                            own,
                        );
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

    fn sum_diagonal(&self, terms: &[BoundTerm], sides: &[Side], out: &mut [f64]) {
        out.fill(0.0);
        for term in terms {
            let mut product = vec![self.variance(term); out.len()];
            for factor in &term.factors {
                let value = self.factor_diagonal(factor, sides, out.len());
                vector::multiply(&mut product, &value);
            }
            vector::add_scaled(1.0, &product, out);
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

    fn pull_back_sum_diagonal(
        &self,
        terms: &[BoundTerm],
        sides: &[Side],
        sensitivity: &[f64],
        gradient: &mut [f64],
    ) {
        for term in terms {
            let rows = sensitivity.len();
            let values: Vec<Vec<f64>> = term
                .factors
                .iter()
                .map(|factor| self.factor_diagonal(factor, sides, rows))
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
                        let side = &sides[atom.index];
                        let values = self.own(atom);
                        atom.correlation
                            .pull_back_diagonal(values, side, &weights, own);
                    }
                }
            }
        }
    }
}
