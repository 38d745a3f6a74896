//! Bayesian logistic regression on fixed functions of the inputs: each class against the others.
//!
//! Weights at their most probable values by Newton's method, the precision of their prior by the evidence with Laplace's
//! method (MacKay 1992, *The evidence framework applied to classification networks*), probabilities moderated by what is not
//! known about the weights (eq. 9 there).

use std::f64::consts::PI;

use quorate_gp::data::{Classes, Dataset, Inputs};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, dot, multiply};
use serde::{Deserialize, Serialize};

use super::{ClassRecipe, ClassSetting, Classifier, normalised, shares};
use crate::error::Result;
use crate::member::state::{damaged, list_of_factor};
use crate::member::{Basis, Expansion, PRODUCTS_UP_TO, Setting, State, radial_basis};

/// Updates of the precision at most, and Newton steps for each.
const ROUNDS: usize = 50;
const STEPS: usize = 30;
const SMALL: f64 = 1e-4;
const BOUNDS: (f64, f64) = (1e-6, 1e6);

/// Belief about the weights of one class against the others, `N(mean, H^-1)` with `H = alpha I + Phi' W Phi`.
#[derive(Clone, Debug)]
pub struct Logistic {
    /// Precision of the prior of every weight.
    pub alpha: f64,
    /// Most probable weights.
    pub mean: Vec<f64>,
    /// The factor of H.
    pub factor: Factor,
    /// Log evidence by Laplace's method.
    pub log_evidence: f64,
}

impl Logistic {
    /// Learns the weights from a design with a row for each distinct row, the share of each row that is of the class, and
    /// how many copies each row stands for.
    pub fn fit(design: &Matrix, share: &[f64], copies: &[f64]) -> Result<Self> {
        let size = design.ncols();
        let all: Vec<usize> = (0..size).collect();
        let mut alpha = 1.0;
        let mut mean = vec![0.0; size];
        for round in 0.. {
            let factor = newton(design, share, copies, alpha, &mut mean)?;
            let traced: f64 = factor.inverse_diagonal(&all).iter().sum();
            let effective = (size as f64 - alpha * traced).clamp(1e-9, size as f64);
            let squares = dot(&mean, &mean);
            let next = (effective / squares.max(f64::MIN_POSITIVE)).clamp(BOUNDS.0, BOUNDS.1);
            if (next / alpha).ln().abs() < SMALL || round == ROUNDS {
                let log_evidence = log_likelihood(design, share, copies, &mean)
                    + 0.5 * size as f64 * alpha.ln()
                    - 0.5 * alpha * squares
                    - 0.5 * factor.log_determinant();
                return Ok(Self {
                    alpha,
                    mean,
                    factor,
                    log_evidence,
                });
            }
            alpha = next;
        }
        unreachable!("the last round returns")
    }
}

/// `log(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    match x >= 0.0 {
        true => 1.0 / (1.0 + (-x).exp()),
        false => x.exp() / (1.0 + x.exp()),
    }
}

fn scores(design: &Matrix, weights: &[f64]) -> Vec<f64> {
    let weights = Matrix::from_fn(weights.len(), 1, |row, _| weights[row]);
    let product = multiply(design.as_ref(), weights.as_ref());
    product.col_as_slice(0).to_vec()
}

fn log_likelihood(design: &Matrix, share: &[f64], copies: &[f64], weights: &[f64]) -> f64 {
    let rows = scores(design, weights).into_iter().zip(share).zip(copies);
    rows.map(|((f, y), w)| w * (y * f - softplus(f))).sum()
}

/// Moves the weights to the most probable ones under a precision; gives the curvature there.
fn newton(
    design: &Matrix,
    share: &[f64],
    copies: &[f64],
    alpha: f64,
    mean: &mut Vec<f64>,
) -> Result<Factor> {
    let (rows, size) = (design.nrows(), design.ncols());
    let value = |weights: &[f64]| {
        log_likelihood(design, share, copies, weights) - 0.5 * alpha * dot(weights, weights)
    };
    let mut here = value(mean);
    let mut step = 0;
    loop {
        let probabilities: Vec<f64> = scores(design, mean).into_iter().map(sigmoid).collect();
        let scaled = Matrix::from_fn(rows, size, |row, column| {
            let p = probabilities[row];
            design[(row, column)] * (copies[row] * p * (1.0 - p)).sqrt()
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
        if step == STEPS {
            return Ok(factor);
        }
        step += 1;
        let errors = Matrix::from_fn(rows, 1, |row, _| {
            copies[row] * (share[row] - probabilities[row])
        });
        let mut change = multiply(design.transpose(), errors.as_ref());
        for (place, weight) in mean.iter().enumerate() {
            change[(place, 0)] -= alpha * weight;
        }
        let slope = change.clone();
        factor.solve(change.as_mut());
        let gain = dot(slope.col_as_slice(0), change.col_as_slice(0));
        // The objective is concave: halving the step ends.
        let mut length = 1.0;
        let moved = loop {
            let own = mean.iter().enumerate();
            let moved: Vec<f64> = own.map(|(i, w)| w + length * change[(i, 0)]).collect();
            let there = value(&moved);
            if there >= here || length < 1e-6 {
                here = there.max(here);
                break moved;
            }
            length *= 0.5;
        };
        if gain < 1e-10 * (1.0 + here.abs()) {
            return Ok(factor);
        }
        *mean = moved;
    }
}

/// A member that believes in weights of fixed functions, for each class against the others.
#[derive(Clone, Debug)]
pub struct LogisticMember {
    shape: Shape,
    each: Vec<Logistic>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shape {
    basis: Basis,
    expansion: Expansion,
    classes: usize,
}

impl LogisticMember {
    /// Learns the weights from rows.
    pub fn fit(
        basis: Basis,
        expansion: Expansion,
        classes: &Classes,
        rows: &Dataset,
    ) -> Result<Self> {
        let design = basis.design(&expansion, rows.inputs());
        let told = shares(classes, rows);
        let count = classes.count();
        // Of two classes the second against the first.
        let first = count - classes.outputs();
        let each = (first..count)
            .map(|class| {
                let own: Vec<f64> = told.iter().skip(class).step_by(count).copied().collect();
                Logistic::fit(&design, &own, rows.weights())
            })
            .collect::<Result<_>>()?;
        let shape = Shape {
            basis,
            expansion,
            classes: count,
        };
        Ok(Self { shape, each })
    }
}

impl Classifier for LogisticMember {
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let Shape {
            basis, expansion, ..
        } = &self.shape;
        let functions = basis.design(expansion, query).transpose().to_owned();
        let mut found = Matrix::zeros(query.rows(), self.shape.classes);
        let first = self.shape.classes - self.each.len();
        for (place, own) in self.each.iter().enumerate() {
            let mut whitened = functions.clone();
            own.factor.whiten(whitened.as_mut());
            for row in 0..query.rows() {
                let left = whitened.col_as_slice(row);
                let doubt = dot(left, left);
                let score = dot(functions.col_as_slice(row), &own.mean);
                let probability = sigmoid(score / (1.0 + PI * doubt / 8.0).sqrt());
                found[(row, first + place)] = probability;
                if first == 1 {
                    found[(row, 0)] = 1.0 - probability;
                }
            }
        }
        Ok(normalised(found))
    }

    fn state(&self) -> Result<State> {
        let mut numbers = Vec::new();
        for own in &self.each {
            numbers.push(vec![own.alpha, own.log_evidence]);
            numbers.push(own.mean.clone());
            numbers.push(list_of_factor(&own.factor));
        }
        State::new(&self.shape, numbers)
    }
}

struct Fitting {
    basis: Basis,
    expansion: Expansion,
    classes: Classes,
}

impl ClassRecipe for Fitting {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>> {
        let (basis, expansion) = (self.basis.clone(), self.expansion.clone());
        let fitted = LogisticMember::fit(basis, expansion, &self.classes, rows)?;
        Ok(Box::new(fitted))
    }
}

fn fitting(setting: &ClassSetting<'_>, basis: Basis) -> Box<dyn ClassRecipe> {
    Box::new(Fitting {
        basis,
        expansion: Expansion::of(setting.columns),
        classes: setting.classes.clone(),
    })
}

pub fn prepare_linear(setting: &ClassSetting<'_>, _rows: &Dataset) -> Result<Box<dyn ClassRecipe>> {
    Ok(fitting(setting, Basis::Linear))
}

pub fn prepare_quadratic(
    setting: &ClassSetting<'_>,
    _rows: &Dataset,
) -> Result<Box<dyn ClassRecipe>> {
    let products_up_to = PRODUCTS_UP_TO;
    Ok(fitting(setting, Basis::Quadratic { products_up_to }))
}

pub fn prepare_radial(setting: &ClassSetting<'_>, rows: &Dataset) -> Result<Box<dyn ClassRecipe>> {
    let plain = Setting {
        columns: setting.columns,
        seed: setting.seed,
        watch: setting.watch,
    };
    let (basis, _) = radial_basis(&plain, rows)?;
    Ok(fitting(setting, basis))
}

pub fn restore(state: &State) -> Result<Box<dyn Classifier>> {
    let shape: Shape = state.read()?;
    let mut each = Vec::new();
    for place in (0..state.numbers.len()).step_by(3) {
        let [alpha, log_evidence] = *state.list(place)? else {
            return Err(damaged("the size of its weights"));
        };
        let mean = state.list(place + 1)?.to_vec();
        let factor = state.factor(place + 2, mean.len())?;
        each.push(Logistic {
            alpha,
            mean,
            factor,
            log_evidence,
        });
    }
    let width = shape.basis.count(shape.expansion.width());
    let outputs = if shape.classes == 2 { 1 } else { shape.classes };
    if each.len() != outputs || each.iter().any(|own| own.mean.len() != width) {
        return Err(damaged("the number of its weights"));
    }
    Ok(Box::new(LogisticMember { shape, each }))
}
