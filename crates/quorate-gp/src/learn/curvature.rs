//! Second derivatives of objectives: what turns a maximum into a Gaussian belief about the hyperparameters.

use crate::Result;
use crate::data::Inputs;
use crate::kernel::{BoundKernel, Covariance, tiles};
use crate::learn::evidence::at;
use crate::learn::{BlockEvidence, Evaluation, Objective};
use crate::linalg::{Matrix, MatrixMut, MatrixRef, add_product, dot};
use crate::parameters::Parameter;
use crate::posterior::exact;
use crate::{Error, likelihood::GaussianNoise};

/// An objective at a point to second order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// Value and gradient.
    pub evaluation: Evaluation,
    /// Second derivatives; rows and columns of coordinates that do not move are zero.
    pub hessian: Matrix,
}

/// An objective with second derivatives.
pub trait Curved: Objective {
    /// Value, gradient and second derivatives with respect to the coordinates with `free[i]`.
    fn expand(&self, coordinates: &[f64], free: &[bool]) -> Result<Expansion>;
}

/// Places and weights of the five-point formula `f' = sum w_k f(x + s_k) `, exact for polynomials of degree four. Kernels
/// are smooth functions of their coordinates, so its error (`h^4 f^(5) / 30` and rounding over `h`) is about 1e-12 for smooth ones, 1e-9 for waves of a short period.
const STEP: f64 = 5e-4;
const STENCIL: [(f64, f64); 4] = [
    (-2.0 * STEP, 1.0 / (12.0 * STEP)),
    (-STEP, -8.0 / (12.0 * STEP)),
    (STEP, 8.0 / (12.0 * STEP)),
    (2.0 * STEP, -1.0 / (12.0 * STEP)),
];

impl Curved for BlockEvidence<'_> {
    /// Latouche 2007, eq. 4.9-4.10 (Zhang and Leithead 2005), which is the derivative of the gradient
    /// `sum_ij S_ij dC_ij/da` with `S = 1/2 (a a' - C^-1)`:
    ///
    /// `L_ab = sum_ij S_ij d2C_ij/(da db) + sum_ij R_ij dC_ij/da`, with `R = dS/db
    ///      = 1/2 (C^-1 C_b C^-1 - w a' - a w')`, `w = C^-1 C_b a`.
    ///
    /// One `R` gives the whole row b by one pull-back, so besides the factor a single n x n matrix lives at a time.
    /// Kernels give first derivatives summed over entries only; their entries' derivatives, and the second derivatives
    /// against a fixed `S`, come from five-point differences of the kernel (not of the evidence).
    fn expand(&self, coordinates: &[f64], free: &[bool]) -> Result<Expansion> {
        let evaluation = self.evaluate(coordinates)?;
        let (kernel, noise) = at(self.kernel, coordinates)?;
        let data = self.data;
        let (n, count) = (data.rows(), coordinates.len());
        let kernel_count = count - 1;
        let factor = exact::factor_in(self.spares.take(), &kernel, noise, data, self.policy)?;
        let mut solved = Matrix::from_fn(n, 1, |row, _| data.targets()[row]);
        factor.solve(solved.as_mut());
        let weights = solved.col_as_slice(0);
        let noise_slopes: Vec<f64> = (data.weights().iter())
            .map(|weight| noise.variance / weight)
            .collect();

        let mut hessian = Matrix::zeros(count, count);
        let mut work = self.spares.take();
        for b in (0..count).filter(|&b| free[b]) {
            // C_b, whole.
            if b == kernel_count {
                work.fill(0.0);
                (0..n).for_each(|i| work[(i, i)] = noise_slopes[i]);
            } else {
                let slope = EntrySlope::new(&kernel, &coordinates[..kernel_count], b)?;
                tiles::fill(&slope, data.inputs(), data.inputs(), work.as_mut());
            }
            let mut moved = Matrix::zeros(n, 1);
            add_product(moved.as_mut(), 1.0, work.as_ref(), solved.as_ref());
            factor.solve(moved.as_mut());
            let moved = moved.col_as_slice(0);
            factor.solve(work.as_mut());
            transpose(work.as_mut());
            factor.solve(work.as_mut());
            for j in 0..n {
                let column = work.col_as_slice_mut(j);
                for (i, entry) in column.iter_mut().enumerate() {
                    *entry = 0.5 * (*entry - moved[i] * weights[j] - weights[i] * moved[j]);
                }
            }
            let mut row = vec![0.0; kernel_count];
            tiles::pull_back_lower(&kernel, data.inputs(), work.as_ref(), &mut row);
            row.push((0..n).map(|i| work[(i, i)] * noise_slopes[i]).sum());
            (0..count).for_each(|a| hessian[(b, a)] += row[a]);
        }

        // Second derivatives of the covariance against S, all pairs in one pass over the tiles of S.
        let inverse = factor.inverse_lower_in(work);
        let seconds = SecondSlopes::new(&kernel, &coordinates[..kernel_count], free)?;
        let mut pairs = vec![0.0; kernel_count * kernel_count];
        tiles::pull_back_lower_with(
            &seconds,
            data.inputs(),
            &|rows, columns, tile| self.sensitivity_tile(&inverse, &solved, rows, columns, tile),
            &mut pairs,
        );
        for b in 0..kernel_count {
            for a in 0..kernel_count {
                hessian[(b, a)] += pairs[b * kernel_count + a];
            }
        }
        if free[kernel_count] {
            // The noise enters as its exponential: its second derivative is its first.
            hessian[(kernel_count, kernel_count)] += within_curvature(noise, data)
                + (0..n)
                    .map(|i| {
                        let column = &inverse.col_as_slice(i)[i..];
                        0.5 * (weights[i] * weights[i] - dot(column, column)) * noise_slopes[i]
                    })
                    .sum::<f64>();
        }
        self.spares.give_back(inverse);
        self.spares.give_back(factor.into_matrix());
        symmetrise(&mut hessian, free);
        Ok(Expansion {
            evaluation,
            hessian,
        })
    }
}

/// Second derivative, with respect to the logarithm of the noise variance, of what lies within groups of equal inputs.
fn within_curvature(noise: GaussianNoise, data: &crate::data::Dataset) -> f64 {
    let u = noise.variance;
    (0..data.rows())
        .map(|row| {
            let (weight, scatter) = (data.weights()[row], data.scatter()[row]);
            let known = data.known_noise()[row];
            let s = u + known;
            let inner = 0.5 * (1.0 - weight) + 0.5 * scatter / s;
            u * (known / (s * s) * inner - u / s * 0.5 * scatter / (s * s))
        })
        .sum()
}

/// Second derivatives of any objective from four gradients for each free coordinate.
pub fn differenced(
    objective: &dyn Objective,
    coordinates: &[f64],
    free: &[bool],
) -> Result<Expansion> {
    let evaluation = objective.evaluate(coordinates)?;
    let count = coordinates.len();
    let mut hessian = Matrix::zeros(count, count);
    for b in (0..count).filter(|&b| free[b]) {
        for (shift, weight) in STENCIL {
            let mut beside = coordinates.to_vec();
            beside[b] += shift;
            let gradient = objective.evaluate(&beside)?.gradient;
            (0..count).for_each(|a| hessian[(b, a)] += weight * gradient[a]);
        }
    }
    symmetrise(&mut hessian, free);
    Ok(Expansion {
        evaluation,
        hessian,
    })
}

/// Both halves alike, and nothing where coordinates do not move.
fn symmetrise(hessian: &mut Matrix, free: &[bool]) {
    for b in 0..free.len() {
        for a in 0..=b {
            let mean = if free[a] && free[b] {
                0.5 * (hessian[(a, b)] + hessian[(b, a)])
            } else {
                0.0
            };
            hessian[(a, b)] = mean;
            hessian[(b, a)] = mean;
        }
    }
}

/// In place: the matrix is square.
fn transpose(mut matrix: MatrixMut<'_>) {
    for j in 0..matrix.ncols() {
        for i in 0..j {
            let above = matrix[(i, j)];
            matrix[(i, j)] = matrix[(j, i)];
            matrix[(j, i)] = above;
        }
    }
}

/// A kernel at the four places of the stencil along one coordinate, with their weights.
fn beside(
    kernel: &BoundKernel,
    here: &[f64],
    coordinate: usize,
) -> Result<Vec<(f64, BoundKernel)>> {
    STENCIL
        .iter()
        .map(|(shift, weight)| {
            let mut place = here.to_vec();
            place[coordinate] += shift;
            let mut kernel = kernel.clone();
            kernel.set_coordinates(&place)?;
            Ok((*weight, kernel))
        })
        .collect()
}

/// `dk/dtheta_b` entry by entry, as if it were a kernel.
struct EntrySlope(Vec<(f64, BoundKernel)>);

impl EntrySlope {
    fn new(kernel: &BoundKernel, here: &[f64], coordinate: usize) -> Result<Self> {
        Ok(Self(beside(kernel, here, coordinate)?))
    }
}

impl Covariance for EntrySlope {
    fn diagonal(&self, inputs: Inputs<'_>) -> Vec<f64> {
        let mut out = vec![0.0; inputs.rows()];
        for (weight, kernel) in &self.0 {
            let values = kernel.diagonal(inputs);
            out.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += weight * value);
        }
        out
    }

    fn fill(&self, rows: Inputs<'_>, columns: Inputs<'_>, mut out: MatrixMut<'_>) {
        let mut own = Matrix::zeros(rows.rows(), columns.rows());
        out.fill(0.0);
        for (weight, kernel) in &self.0 {
            kernel.fill(rows, columns, own.as_mut());
            for j in 0..columns.rows() {
                for i in 0..rows.rows() {
                    out[(i, j)] += weight * own[(i, j)];
                }
            }
        }
    }

    fn pull_back(&self, rows: Inputs<'_>, columns: Inputs<'_>, s: MatrixRef<'_>, out: &mut [f64]) {
        for (weight, kernel) in &self.0 {
            let mut own = vec![0.0; out.len()];
            kernel.pull_back(rows, columns, s, &mut own);
            out.iter_mut()
                .zip(own)
                .for_each(|(sum, value)| *sum += weight * value);
        }
    }

    fn pull_back_diagonal(&self, inputs: Inputs<'_>, s: &[f64], out: &mut [f64]) {
        for (weight, kernel) in &self.0 {
            let mut own = vec![0.0; out.len()];
            kernel.pull_back_diagonal(inputs, s, &mut own);
            out.iter_mut()
                .zip(own)
                .for_each(|(sum, value)| *sum += weight * value);
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn set_coordinates(&mut self, _: &[f64]) -> Result<()> {
        Err(Error::Invalid("a slope has no coordinates".into()))
    }
}

/// `d2k/(dtheta_a dtheta_b)` for all pairs, as if it were a kernel with p^2 parameters: pair (b, a) at `b p + a`.
struct SecondSlopes {
    slopes: Vec<Option<EntrySlope>>,
}

impl SecondSlopes {
    fn new(kernel: &BoundKernel, here: &[f64], free: &[bool]) -> Result<Self> {
        let slopes = (0..here.len())
            .map(|b| {
                free[b]
                    .then(|| EntrySlope::new(kernel, here, b))
                    .transpose()
            })
            .collect::<Result<_>>()?;
        Ok(Self { slopes })
    }
}

impl Covariance for SecondSlopes {
    fn diagonal(&self, inputs: Inputs<'_>) -> Vec<f64> {
        vec![0.0; inputs.rows()]
    }

    fn fill(&self, _: Inputs<'_>, _: Inputs<'_>, mut out: MatrixMut<'_>) {
        out.fill(0.0);
    }

    fn pull_back(&self, rows: Inputs<'_>, columns: Inputs<'_>, s: MatrixRef<'_>, out: &mut [f64]) {
        let count = self.slopes.len();
        for (slope, out) in self.slopes.iter().zip(out.chunks_mut(count.max(1))) {
            if let Some(slope) = slope {
                slope.pull_back(rows, columns, s, out);
            }
        }
    }

    fn pull_back_diagonal(&self, inputs: Inputs<'_>, s: &[f64], out: &mut [f64]) {
        let count = self.slopes.len();
        for (slope, out) in self.slopes.iter().zip(out.chunks_mut(count.max(1))) {
            if let Some(slope) = slope {
                slope.pull_back_diagonal(inputs, s, out);
            }
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn set_coordinates(&mut self, _: &[f64]) -> Result<()> {
        Err(Error::Invalid("a slope has no coordinates".into()))
    }
}
