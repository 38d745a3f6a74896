//! The approximate evidence of the process that is nothing but its landmarks, with its full gradient.
//!
//! `f = V'a` with `a ~ N(0, I)` and `V = L^-1 k(Z, X)` (the projected process of Rasmussen and Williams 2006, sec. 8.3.4) has
//! Laplace's evidence `sum log p(y | f) - 1/2 a'a - 1/2 log |B|`, `B = I + V W V'`, at its mode `a = V g`. Unlike the committee's
//! evidence of working targets it has no place for what varies from row to row: where targets scatter more than their
//! likelihood allows (claims within a few days of exposure), that evidence explains the scatter by a function so rough that
//! it tells nothing of the next row. Here only what the landmarks can say of other rows counts.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, tiles};
use quorate_gp::learn::{Evaluation, Objective, latent_at};
use quorate_gp::likelihood::{Derivatives, Likelihood, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_product, dot, multiply};
use quorate_gp::{Error, Result};
use rayon::prelude::*;

use super::projection::{Mode, Piece, Projection};

/// The evidence of some rows through fixed landmark inputs; coordinates are the kernel's, then the likelihood's.
pub struct ProjectedEvidence<'a> {
    kernel: &'a BoundKernel,
    likelihood: Likelihood,
    data: &'a Dataset,
    seen: &'a Observations,
    places: Inputs<'a>,
    /// The mode at the landmarks for the values that kernel and likelihood came with: every search starts there, so that
    /// a value depends on its coordinates alone.
    anchor: Vec<f64>,
}

impl<'a> ProjectedEvidence<'a> {
    /// The evidence under kernels and likelihoods of these shapes.
    pub fn new(
        kernel: &'a BoundKernel,
        likelihood: Likelihood,
        data: &'a Dataset,
        seen: &'a Observations,
        places: Inputs<'a>,
    ) -> Result<Self> {
        likelihood.check(seen)?;
        let projection = Projection::new(kernel, places, data.inputs())?;
        let mode = projection.mode(&likelihood, seen, vec![0.0; places.rows()])?;
        let weights = Matrix::from_fn(places.rows(), 1, |row, _| mode.weights[row]);
        let anchor = projection.landmarks.factor().colour(weights.as_ref());
        Ok(Self {
            kernel,
            likelihood,
            data,
            seen,
            places,
            anchor: anchor.col_as_slice(0).to_vec(),
        })
    }
}

impl Objective for ProjectedEvidence<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let (kernel, likelihood) = latent_at(self.kernel, self.likelihood, coordinates)?;
        let projection = Projection::new(&kernel, self.places, self.data.inputs())?;
        let mut start = Matrix::from_fn(self.anchor.len(), 1, |row, _| self.anchor[row]);
        projection.landmarks.factor().whiten(start.as_mut());
        let start = start.col_as_slice(0).to_vec();
        let mode = projection.mode(&likelihood, self.seen, start)?;
        let value = mode.objective - 0.5 * mode.factor.log_determinant();
        let gradient = projection.gradient(&kernel, &likelihood, self.seen, &mode)?;
        if value.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            Ok(Evaluation { value, gradient })
        } else {
            Err(Error::NotFinite {
                what: "the evidence through landmarks or its gradient",
            })
        }
    }
}

impl Projection<'_> {
    /// Derivatives with respect to all coordinates.
    ///
    /// With `s_i = v_i' B^-1 v_i`, the determinant feels a latent value by `u_i = -1/2 s_i dW_i/df_i`, and the mode moves by
    /// `da = B'^-1 (dV g - V W' dV'a)`, W' being the curvature itself and `B' = I + V W' V'`. With `c = B'^-1 V u` the
    /// sensitivity to V is `S = a (g + u - W' V'c)' + c g' - B^-1 V W`; that to `k(Z, X)` is `L^-T S`, and that to
    /// `k(Z, Z)` is `-1/2 L^-T S V' L^-1`, because the evidence depends on V through `V'V` alone.
    fn gradient(
        &self,
        kernel: &BoundKernel,
        likelihood: &Likelihood,
        seen: &Observations,
        mode: &Mode,
    ) -> Result<Vec<f64>> {
        // B^-1/2 V, then B^-1 V, piece by piece.
        let solved: Vec<(Matrix, Vec<f64>)> = self
            .pieces
            .par_iter()
            .map(|piece| {
                let mut inner = piece.whitened.clone();
                mode.factor.whiten(inner.as_mut());
                let rows = 0..inner.ncols();
                let spread = rows.map(|row| dot(inner.col_as_slice(row), inner.col_as_slice(row)));
                let spread = spread.collect();
                mode.factor.unwhiten(inner.as_mut());
                (inner, spread)
            })
            .collect();
        let spread: Vec<f64> = solved.iter().flat_map(|(_, own)| own.clone()).collect();
        let terms = &mode.terms;
        let through: Vec<f64> = terms
            .iter()
            .zip(&spread)
            .map(|(term, s)| -0.5 * s * term.curvature_slope)
            .collect();
        let moved = self.moved(mode, &self.gathered(&through))?;
        let along = self.along(&moved);
        let slopes: Vec<Slopes> = self
            .pieces
            .par_iter()
            .zip(&solved)
            .map(|(piece, (inner, _))| {
                let felt = Felt {
                    terms: piece.of(terms),
                    along: piece.of(&along),
                    through: piece.of(&through),
                };
                self.piece_slopes(kernel, piece, inner, &felt, (&mode.weights, &moved))
            })
            .collect();
        let own = kernel.parameters().len();
        let mut gradient = vec![0.0; own + likelihood.parameters().len()];
        let count = self.landmarks.count();
        let mut prior = Matrix::zeros(count, count);
        for piece in &slopes {
            prior += &piece.prior;
            let both = gradient.iter_mut().zip(&piece.gradient);
            both.for_each(|(sum, slope)| *sum += slope);
        }
        // Symmetric at the mode: what is left of Newton's last step must not tilt it.
        let mut middle =
            Matrix::from_fn(count, count, |i, j| -0.25 * (prior[(i, j)] + prior[(j, i)]));
        self.landmarks.factor().unwhiten(middle.as_mut());
        let mut outer = middle.transpose().to_owned();
        self.landmarks.factor().unwhiten(outer.as_mut());
        let places = self.landmarks.inputs();
        tiles::pull_back(kernel, places, places, outer.as_ref(), &mut gradient[..own]);
        for (which, slope) in gradient[own..].iter_mut().enumerate() {
            let terms = likelihood.dispersions_of(seen, &mode.latent, which);
            let each = terms.iter().zip(&spread).zip(&along);
            *slope = each
                .map(|((term, s), along)| {
                    term.log_density - 0.5 * s * term.curvature + along * term.slope
                })
                .sum();
        }
        Ok(gradient)
    }

    /// `c = B'^-1 V u`, with the curvature itself where the evidence has its expectation.
    fn moved(&self, mode: &Mode, right: &[f64]) -> Result<Vec<f64>> {
        let count = right.len();
        let mut right = Matrix::from_fn(count, 1, |row, _| right[row]);
        let difference = |term: &Derivatives| term.observed_curvature - term.curvature;
        if mode.terms.iter().all(|term| difference(term) == 0.0) {
            mode.factor.solve(right.as_mut());
        } else {
            let observed: Vec<f64> = mode.terms.iter().map(|t| t.observed_curvature).collect();
            let of = |piece: &Piece<'_>| gram(piece, piece.of(&observed));
            let all: Vec<Matrix> = self.pieces.par_iter().map(of).collect();
            let factor = Factor::new(count, JitterPolicy::default(), |mut out| {
                out.fill(0.0);
                for own in &all {
                    out += own;
                }
                for i in 0..count {
                    out[(i, i)] += 1.0;
                }
            })?;
            factor.solve(right.as_mut());
        }
        Ok(right.col_as_slice(0).to_vec())
    }

    fn piece_slopes(
        &self,
        kernel: &BoundKernel,
        piece: &Piece<'_>,
        inner: &Matrix,
        felt: &Felt<'_>,
        (a, c): (&[f64], &[f64]),
    ) -> Slopes {
        let mut sensitivity = Matrix::zeros(a.len(), inner.ncols());
        for (row, term) in felt.terms.iter().enumerate() {
            let own = term.slope + felt.through[row] - term.observed_curvature * felt.along[row];
            let column = sensitivity.col_as_slice_mut(row).iter_mut();
            for (landmark, value) in column.enumerate() {
                *value = a[landmark] * own + c[landmark] * term.slope
                    - inner[(landmark, row)] * term.curvature;
            }
        }
        let mut prior = Matrix::zeros(a.len(), a.len());
        let whitened = piece.whitened.transpose();
        add_product(prior.as_mut(), 1.0, sensitivity.as_ref(), whitened);
        self.landmarks.factor().unwhiten(sensitivity.as_mut());
        let mut gradient = vec![0.0; kernel.parameters().len()];
        let places = self.landmarks.inputs();
        tiles::pull_back(
            kernel,
            places,
            piece.inputs,
            sensitivity.as_ref(),
            &mut gradient,
        );
        Slopes { gradient, prior }
    }
}

/// What the rows of a piece feel: derivatives, `V'c` and `u`.
struct Felt<'a> {
    terms: &'a [Derivatives],
    along: &'a [f64],
    through: &'a [f64],
}

/// What a piece adds: to the gradient, and `S V'`.
struct Slopes {
    gradient: Vec<f64>,
    prior: Matrix,
}

/// `V w V'` of a piece, both halves.
fn gram(piece: &Piece<'_>, weights: &[f64]) -> Matrix {
    let mut scaled = piece.whitened.clone();
    for (row, weight) in weights.iter().enumerate() {
        let column = scaled.col_as_slice_mut(row).iter_mut();
        column.for_each(|value| *value *= weight);
    }
    multiply(scaled.as_ref(), piece.whitened.transpose())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use quorate_gp::data::{ColumnKind, InputColumn};
    use quorate_gp::kernel::Kernel;
    use quorate_gp::learn::LaplaceEvidence;
    use quorate_gp::likelihood::Observation;
    use quorate_gp::parameters::Parameter;

    use super::*;

    const ROWS: usize = 40;

    fn scattered(i: usize, stride: f64) -> f64 {
        (i as f64 * stride + 0.377).fract()
    }

    fn kernel() -> BoundKernel {
        let column = |name: &str| InputColumn {
            name: name.into(),
            kind: ColumnKind::Number,
            deviation: 1.0,
        };
        let kernel: Kernel = "0.8 * matern32(ard, length_scale=[0.7, 1.3])"
            .parse()
            .unwrap();
        kernel.bind(&[column("x"), column("z")]).unwrap()
    }

    fn problem() -> (Dataset, Observations) {
        let inputs = (0..ROWS).flat_map(|i| [3.0 * scattered(i, 0.7549), scattered(i, 0.5698)]);
        let data = Dataset::new(inputs.collect(), 2, vec![0.0; ROWS], None, None).unwrap();
        let row = |i: usize| {
            let value = (1.0 + 6.0 * scattered(i * i, 0.618)).floor();
            Observation::of(value).with_offset(0.3 * scattered(i, 0.31))
        };
        (
            data,
            Observations::each((0..ROWS).map(row).collect()).unwrap(),
        )
    }

    fn coordinates(kernel: &BoundKernel, likelihood: &Likelihood) -> Vec<f64> {
        let mut parameters = kernel.parameters();
        parameters.extend(likelihood.parameters());
        parameters.iter().map(Parameter::coordinate).collect()
    }

    #[test]
    fn landmarks_at_every_row_give_the_evidence_of_one_process() {
        let (kernel, (data, seen)) = (kernel(), problem());
        for name in [
            "poisson",
            "negative-binomial",
            "gamma",
            "weibull",
            "student-t",
        ] {
            let likelihood: Likelihood = name.parse().unwrap();
            let point = coordinates(&kernel, &likelihood);
            let here = data.inputs();
            let ours = ProjectedEvidence::new(&kernel, likelihood, &data, &seen, here).unwrap();
            let ours = ours.evaluate(&point).unwrap();
            let exact = LaplaceEvidence::new(&kernel, likelihood, &data, &seen).unwrap();
            let exact = exact.evaluate(&point).unwrap();
            assert!(
                (ours.value - exact.value).abs() < 1e-5,
                "{name}: {} {}",
                ours.value,
                exact.value
            );
            for (a, b) in ours.gradient.iter().zip(&exact.gradient) {
                assert!((a - b).abs() < 1e-4, "{name}: {a} and {b}");
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_evidence() {
        let (kernel, (data, seen)) = (kernel(), problem());
        let places = data.inputs().slice(0, 7);
        for name in [
            "poisson",
            "negative-binomial",
            "weibull",
            "inverse-gaussian",
            "student-t",
        ] {
            let likelihood: Likelihood = name.parse().unwrap();
            let evidence =
                ProjectedEvidence::new(&kernel, likelihood, &data, &seen, places).unwrap();
            let point: Vec<f64> = coordinates(&kernel, &likelihood)
                .iter()
                .map(|c| c + 0.1)
                .collect();
            let found = evidence.evaluate(&point).unwrap();
            for which in 0..point.len() {
                let at = |step: f64| {
                    let mut there = point.clone();
                    there[which] += step;
                    evidence.evaluate(&there).unwrap().value
                };
                let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
                let error = (found.gradient[which] - slope).abs();
                assert!(
                    error < 1e-4 * (1.0 + slope.abs()),
                    "{name} {which}: {} and {slope}",
                    found.gradient[which]
                );
            }
        }
    }
}
