//! Members that believe in weights, and say what other weights would give: what fusion in the space of weights needs.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::{Factor, Matrix, dot, multiply};

use super::{Member, NetworkMember, WeightSpace};

/// A member whose function has weights, about which it has a Gaussian belief.
pub trait InWeights: Member {
    /// The most probable weights.
    fn weights(&self) -> &[f64];

    /// Factor of the precision of the belief about them.
    fn precision(&self) -> &Factor;

    /// Precision of each weight before rows were seen.
    fn prior_precision(&self) -> f64;

    /// Values of the function under any weights, and their slopes in the weights: a row for each query.
    fn under(&self, weights: &[f64], query: Inputs<'_>) -> (Vec<f64>, Matrix);

    /// The values alone.
    fn values_under(&self, weights: &[f64], query: Inputs<'_>) -> Vec<f64> {
        self.under(weights, query).0
    }

    /// The prior over functions by linearisation around the most probable weights (Latouche 2007, 3.3.4): mean
    /// `F(w) - J w` and variance `J J' / alpha`.
    fn linearised_prior(&self, query: Inputs<'_>) -> Marginals {
        let (outputs, slopes) = self.under(self.weights(), query);
        let rows = 0..query.rows();
        let moments: Vec<(f64, f64)> = rows
            .map(|row| {
                let own: Vec<f64> = (0..slopes.ncols())
                    .map(|place| slopes[(row, place)])
                    .collect();
                let mean = outputs[row] - dot(&own, self.weights());
                (mean, dot(&own, &own) / self.prior_precision())
            })
            .collect();
        Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| moments[row].0),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| moments[row].1),
        }
    }
}

impl InWeights for WeightSpace {
    fn weights(&self) -> &[f64] {
        &self.posterior().mean
    }

    fn precision(&self) -> &Factor {
        &self.posterior().factor
    }

    fn prior_precision(&self) -> f64 {
        self.posterior().alpha
    }

    fn under(&self, weights: &[f64], query: Inputs<'_>) -> (Vec<f64>, Matrix) {
        let design = self.design(query);
        let column = Matrix::from_fn(weights.len(), 1, |row, _| weights[row]);
        let outputs = multiply(design.as_ref(), column.as_ref());
        (outputs.col_as_slice(0).to_vec(), design)
    }
}

impl InWeights for NetworkMember {
    fn weights(&self) -> &[f64] {
        &self.found().weights
    }

    fn precision(&self) -> &Factor {
        &self.found().factor
    }

    fn prior_precision(&self) -> f64 {
        self.found().alpha
    }

    fn under(&self, weights: &[f64], query: Inputs<'_>) -> (Vec<f64>, Matrix) {
        self.network().slopes(weights, &self.expanded(query))
    }

    fn values_under(&self, weights: &[f64], query: Inputs<'_>) -> Vec<f64> {
        let (network, rows) = (self.network(), self.expanded(query));
        let each = rows.chunks_exact(network.inputs.max(1));
        each.map(|row| network.output(weights, row)).collect()
    }
}
