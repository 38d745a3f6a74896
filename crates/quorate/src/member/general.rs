//! Generalised linear models: fixed functions of the inputs behind any likelihood (counts, amounts, lifetimes, outliers).
//!
//! Weights at their most probable values by Newton's method; the precision of their prior and the dispersions of the likelihood by
//! the evidence with Laplace's method (MacKay 1992, as for two classes; Fahrmeir and Tutz 1994 for the models). A member speaks of
//! the latent function, so that every rule can fuse members, and the likelihood makes targets of what they say together.

use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::likelihood::{Derivatives, Likelihood, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot, multiply};
use quorate_gp::posterior::Predict;
use serde::{Deserialize, Serialize};

use super::state::{damaged, list_of_factor};
use super::{Basis, Expansion, InWeights, Member, State};
use crate::error::Result;

/// Newton steps at most, and halvings of each.
const STEPS: usize = 60;
const HALVINGS: usize = 40;
/// Updates of the precision at most, the change of its logarithm at which they end, and its bounds.
const ROUNDS: usize = 60;
const SMALL: f64 = 1e-5;
const BOUNDS: (f64, f64) = (1e-6, 1e6);
/// Steps in the logarithm of a dispersion: the first, and the one below which it is found.
const FIRST_STEP: f64 = 0.8;
const LAST_STEP: f64 = 2e-3;

/// A belief about the weights of fixed functions behind a likelihood, `N(mean, H^-1)` with `H = alpha I + Phi' W Phi`.
#[derive(Clone, Debug)]
pub struct GeneralLinear {
    shape: Shape,
    alpha: f64,
    mean: Vec<f64>,
    factor: Factor,
    log_evidence: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shape {
    basis: Basis,
    expansion: Expansion,
    likelihood: Likelihood,
    level: f64,
}

/// What does not change while weights are looked for.
struct Rows<'a> {
    design: Matrix,
    seen: &'a Observations,
    likelihood: Likelihood,
    level: f64,
}

/// The most probable weights under a precision, and the evidence there.
struct Mode {
    mean: Vec<f64>,
    factor: Factor,
    log_evidence: f64,
}

impl GeneralLinear {
    /// Learns weights, their precision and the dispersions of the likelihood. The latent function departs from a common level, as
    /// it does for a process; what was seen is given for each distinct row of the data.
    pub fn fit(
        basis: Basis,
        expansion: Expansion,
        likelihood: Likelihood,
        rows: &Dataset,
        seen: &Observations,
    ) -> Result<Self> {
        likelihood.check(seen)?;
        let likelihood = likelihood.started(seen)?;
        let mut rows = Rows {
            design: basis.design(&expansion, rows.inputs()),
            seen,
            level: likelihood.level(seen)?,
            likelihood,
        };
        let (mut alpha, mut found) = rows.with_precision(1.0)?;
        let mut step = FIRST_STEP;
        while step > LAST_STEP {
            let mut moved = false;
            for (which, parameter) in rows.likelihood.parameters().iter().enumerate() {
                if parameter.fixed {
                    continue;
                }
                for way in [step, -step] {
                    let kept = rows.likelihood;
                    let each = kept.parameters();
                    let mut there: Vec<f64> = each.iter().map(|own| own.coordinate()).collect();
                    there[which] += way;
                    // A dispersion beyond its bounds is no step.
                    if rows.likelihood.set_coordinates(&there).is_err() {
                        continue;
                    }
                    // Neither is one where densities overflow: rows that a line fits exactly ask for ever less dispersion.
                    match rows.with_precision(alpha) {
                        Ok((precision, tried)) if tried.log_evidence > found.log_evidence => {
                            (alpha, found, moved) = (precision, tried, true);
                            break;
                        }
                        _ => rows.likelihood = kept,
                    }
                }
            }
            if !moved {
                step *= 0.5;
            }
        }
        let shape = Shape {
            basis,
            expansion,
            likelihood: rows.likelihood,
            level: rows.level,
        };
        Ok(Self::new(shape, alpha, found))
    }

    /// Learns weights and their precision under a given likelihood, around the level 0.
    pub fn fit_weights(
        basis: Basis,
        expansion: Expansion,
        likelihood: Likelihood,
        rows: &Dataset,
        seen: &Observations,
    ) -> Result<Self> {
        likelihood.check(seen)?;
        let own = Rows {
            design: basis.design(&expansion, rows.inputs()),
            seen,
            likelihood,
            level: 0.0,
        };
        let (alpha, found) = own.with_precision(1.0)?;
        let shape = Shape {
            basis,
            expansion,
            likelihood,
            level: 0.0,
        };
        Ok(Self::new(shape, alpha, found))
    }

    /// The most probable weights under a given precision and likelihood, around the level 0.
    pub fn fit_with(
        basis: Basis,
        expansion: Expansion,
        likelihood: Likelihood,
        alpha: f64,
        rows: &Dataset,
        seen: &Observations,
    ) -> Result<Self> {
        likelihood.check(seen)?;
        let own = Rows {
            design: basis.design(&expansion, rows.inputs()),
            seen,
            likelihood,
            level: 0.0,
        };
        let found = own.mode(alpha, vec![0.0; own.design.ncols()])?;
        let shape = Shape {
            basis,
            expansion,
            likelihood,
            level: 0.0,
        };
        Ok(Self::new(shape, alpha, found))
    }

    fn new(shape: Shape, alpha: f64, found: Mode) -> Self {
        Self {
            shape,
            alpha,
            mean: found.mean,
            factor: found.factor,
            log_evidence: found.log_evidence,
        }
    }

    /// How targets come from the latent value, its dispersions as they were learned.
    pub fn likelihood(&self) -> Likelihood {
        self.shape.likelihood
    }

    /// What is added to the latent function everywhere.
    pub fn level(&self) -> f64 {
        self.shape.level
    }

    fn functions(&self, query: Inputs<'_>) -> Matrix {
        let design = self.shape.basis.design(&self.shape.expansion, query);
        design.transpose().to_owned()
    }
}

impl Rows<'_> {
    fn latent(&self, weights: &[f64]) -> Vec<f64> {
        let weights = Matrix::from_fn(weights.len(), 1, |row, _| weights[row]);
        let product = multiply(self.design.as_ref(), weights.as_ref());
        let values = product.col_as_slice(0).iter();
        values.map(|value| value + self.level).collect()
    }

    fn derivatives(&self, weights: &[f64]) -> Vec<Derivatives> {
        self.likelihood
            .derivatives_of(self.seen, &self.latent(weights))
    }

    /// Log density of all rows with that of the weights; minus infinity where it overflows.
    fn value(&self, alpha: f64, weights: &[f64]) -> f64 {
        let each = self.derivatives(weights);
        let value = each.iter().map(|own| own.log_density).sum::<f64>()
            - 0.5 * alpha * dot(weights, weights);
        if value.is_nan() {
            f64::NEG_INFINITY
        } else {
            value
        }
    }

    /// The precision with the most evidence, by `alpha = gamma / m'm` from a first guess, and the weights under it.
    fn with_precision(&self, first: f64) -> Result<(f64, Mode)> {
        let size = self.design.ncols();
        let all: Vec<usize> = (0..size).collect();
        let mut alpha = first;
        let mut found = self.mode(alpha, vec![0.0; size])?;
        for _ in 0..ROUNDS {
            let traced: f64 = found.factor.inverse_diagonal(&all).iter().sum();
            let effective = (size as f64 - alpha * traced).clamp(1e-9, size as f64);
            let squares = dot(&found.mean, &found.mean).max(f64::MIN_POSITIVE);
            let next = (effective / squares).clamp(BOUNDS.0, BOUNDS.1);
            if (next / alpha).ln().abs() < SMALL {
                break;
            }
            alpha = next;
            found = self.mode(alpha, found.mean)?;
        }
        Ok((alpha, found))
    }

    /// Newton's method from given weights, with steps that are halved until they gain.
    fn mode(&self, alpha: f64, mut mean: Vec<f64>) -> Result<Mode> {
        let (rows, size) = (self.design.nrows(), self.design.ncols());
        let mut here = self.value(alpha, &mean);
        let mut step = 0;
        loop {
            let each = self.derivatives(&mean);
            let scaled = Matrix::from_fn(rows, size, |row, column| {
                self.design[(row, column)] * each[row].curvature.max(0.0).sqrt()
            });
            let mut gram = Matrix::zeros(size, size);
            add_gram_lower(gram.as_mut(), 1.0, scaled.as_ref());
            let factor = Factor::new(size, JitterPolicy::default(), |mut out| {
                for column in 0..size {
                    for row in column..size {
                        out[(row, column)] = gram[(row, column)];
                    }
                    out[(column, column)] += alpha;
                }
            })?;
            let slopes = Matrix::from_fn(rows, 1, |row, _| each[row].slope);
            let mut change = multiply(self.design.transpose(), slopes.as_ref());
            for (place, weight) in mean.iter().enumerate() {
                change[(place, 0)] -= alpha * weight;
            }
            let slope = change.clone();
            factor.solve(change.as_mut());
            let promised = dot(slope.col_as_slice(0), change.col_as_slice(0));
            step += 1;
            let small = promised < 1e-12 * (1.0 + here.abs());
            let moved = (0..HALVINGS).find_map(|halving| {
                let length = 0.5f64.powi(halving as i32);
                let own = mean.iter().enumerate();
                let there: Vec<f64> = own.map(|(i, w)| w + length * change[(i, 0)]).collect();
                let value = self.value(alpha, &there);
                (value > here).then_some((there, value))
            });
            match moved {
                Some((there, value)) if !small && step < STEPS => (mean, here) = (there, value),
                _ => {
                    let log_evidence =
                        here + 0.5 * size as f64 * alpha.ln() - 0.5 * factor.log_determinant();
                    return Ok(Mode {
                        mean,
                        factor,
                        log_evidence,
                    });
                }
            }
        }
    }
}

impl Predict for GeneralLinear {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let functions = self.functions(query);
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| {
                let own = functions.col_as_slice(row);
                dot(own, own) / self.alpha
            }),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let mut functions = self.functions(query);
        let told: Vec<f64> = (0..query.rows())
            .map(|row| dot(functions.col_as_slice(row), &self.mean))
            .collect();
        self.factor.whiten(functions.as_mut());
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| told[row]),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| {
                let own = functions.col_as_slice(row);
                dot(own, own)
            }),
        })
    }

    fn joint(&self, query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        let mean = self.marginals(query)?.mean;
        let mut functions = self.functions(query);
        self.factor.whiten(functions.as_mut());
        let rows = query.rows();
        let mut lower = Matrix::zeros(rows, rows);
        add_gram_lower(lower.as_mut(), 1.0, functions.as_ref());
        let covariance = Matrix::from_fn(rows, rows, |i, j| lower[(i.max(j), i.min(j))]);
        Ok(Joint { mean, covariance })
    }
}

impl Member for GeneralLinear {
    /// None: the likelihood makes targets of the latent function.
    fn noise_variance(&self) -> f64 {
        0.0
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.log_evidence)
    }

    fn state(&self) -> Result<State> {
        State::new(
            &self.shape,
            vec![
                vec![self.alpha, self.log_evidence],
                self.mean.clone(),
                list_of_factor(&self.factor),
            ],
        )
    }
}

impl InWeights for GeneralLinear {
    fn weights(&self) -> &[f64] {
        &self.mean
    }

    fn precision(&self) -> &Factor {
        &self.factor
    }

    fn prior_precision(&self) -> f64 {
        self.alpha
    }

    fn under(&self, weights: &[f64], query: Inputs<'_>) -> (Vec<f64>, Matrix) {
        let design = self.shape.basis.design(&self.shape.expansion, query);
        let column = Matrix::from_fn(weights.len(), 1, |row, _| weights[row]);
        let outputs = multiply(design.as_ref(), column.as_ref());
        (outputs.col_as_slice(0).to_vec(), design)
    }
}

/// Makes a member again from its state.
pub fn restore(state: &State) -> Result<GeneralLinear> {
    let shape: Shape = state.read()?;
    let [alpha, log_evidence] = *state.list(0)? else {
        return Err(damaged("the size of its weights"));
    };
    let mean = state.list(1)?.to_vec();
    if mean.len() != shape.basis.count(shape.expansion.width()) {
        return Err(damaged("the number of its weights"));
    }
    Ok(GeneralLinear {
        factor: state.factor(2, mean.len())?,
        shape,
        alpha,
        mean,
        log_evidence,
    })
}
