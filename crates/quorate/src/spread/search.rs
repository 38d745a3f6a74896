//! A curve and parabolas by penalised maximum likelihood.

use quorate_gp::data::ColumnKind;
use quorate_gp::linalg::{self, Matrix};

use super::learn::{Unseen, WIDEST};
use super::{Basis, Parabola, Spread};

/// Places where the curve may bend, at equal shares of the rows; the outermost leave half a percent beyond them.
const PLACES: usize = 16;
const BEYOND: f64 = 0.005;
/// Rows for each number that is learned, at least; with fewer, the inputs are left out.
const ROWS_PER_TERM: usize = 8;
/// Columns whose parabolas are learned, at most.
const MOST_COLUMNS: usize = 100;
/// A parabola is penalised this much more than a step of the curve.
const INPUT_PENALTY: f64 = 4.0;
/// A trace that ties the curve to zero.
const CURVE_PENALTY: f64 = 1e-3;

/// Penalised maximum likelihood: half of `h + q exp(-h)` for each row, with `q` its squared error in units of its
/// variance and `h` the logarithm sought.
pub(super) struct Search {
    places: Vec<f64>,
    columns: Vec<usize>,
    /// One row for each row, one column for each term.
    terms: Matrix,
    /// `q` of each row.
    errors: Vec<f64>,
}

impl Search {
    pub fn new(rows: &Unseen<'_>) -> Self {
        let answers = rows.answers;
        let places = places(&answers.mean);
        let numbers = rows.columns.iter().enumerate();
        let mut columns: Vec<usize> = numbers
            .filter(|(_, column)| !matches!(column.kind, ColumnKind::Category { .. }))
            .map(|(index, _)| index)
            .collect();
        let terms = places.len() + 2 * columns.len();
        if columns.len() > MOST_COLUMNS || terms * ROWS_PER_TERM > rows.members.len() {
            columns.clear();
        }
        let count = places.len() + 2 * columns.len();
        let basis = Basis {
            answers: &places,
            columns: columns.iter().copied(),
        };
        let mut terms = Matrix::zeros(rows.members.len(), count);
        let mut own = vec![0.0; count];
        for (row, (member, mean)) in rows.members.iter().zip(&answers.mean).enumerate() {
            basis.fill(*mean, rows.inputs.row(member.group), &mut own);
            for (term, value) in own.iter().enumerate() {
                terms[(row, term)] = *value;
            }
        }
        let off = answers.target.iter().zip(&answers.mean).map(|(y, m)| y - m);
        let variance = answers.variance.iter().zip(&answers.noise);
        let errors = off.zip(variance).map(|(off, (latent, noise))| {
            let variance = (latent + noise).max(f64::MIN_POSITIVE);
            (off * off / variance).min(1e12)
        });
        Self {
            errors: errors.collect(),
            places,
            columns,
            terms,
        }
    }

    /// The same where only so much of each squared error counts.
    pub fn reweighed(&self, shares: Vec<f64>) -> Self {
        let errors = self
            .errors
            .iter()
            .zip(shares)
            .map(|(own, share)| own * share);
        Self {
            places: self.places.clone(),
            columns: self.columns.clone(),
            terms: self.terms.clone(),
            errors: errors.collect(),
        }
    }

    /// No spread.
    pub fn level(&self) -> Vec<f64> {
        vec![0.0; self.terms.ncols()]
    }

    /// The best constant.
    pub fn start(&self) -> Vec<f64> {
        let mean = self.errors.iter().sum::<f64>() / self.errors.len().max(1) as f64;
        let level = mean.max(f64::MIN_POSITIVE).ln().clamp(-WIDEST, WIDEST);
        let mut weights = vec![0.0; self.terms.ncols()];
        weights[..self.places.len()].fill(level);
        weights
    }

    /// Newton's method with step control, from `start`; `counts` are the weights of the rows.
    pub fn climb(&self, counts: &[f64], penalty: f64, start: Vec<f64>) -> Vec<f64> {
        const STEPS: usize = 40;
        let penalties = self.penalties(penalty);
        let mut here = start;
        let mut value = self.objective(&here, counts, &penalties);
        for _ in 0..STEPS {
            let Some(step) = self.step(&here, counts, &penalties) else {
                break;
            };
            let tried = (0..12)
                .map(|halvings| 0.5f64.powi(halvings))
                .find_map(|part| {
                    let there: Vec<f64> =
                        here.iter().zip(&step).map(|(w, s)| w - part * s).collect();
                    let own = self.objective(&there, counts, &penalties);
                    (own < value).then_some((own, there))
                });
            let Some((own, there)) = tried else { break };
            let gain = value - own;
            (value, here) = (own, there);
            if gain < 1e-9 * counts.len() as f64 {
                break;
            }
        }
        here
    }

    /// Newton's step. The curvature of a row is its error in units of the variance sought; rows with next to none would
    /// make steps too long.
    fn step(&self, weights: &[f64], counts: &[f64], penalties: &Matrix) -> Option<Vec<f64>> {
        const LEAST_CURVATURE: f64 = 0.3;
        let logarithms = self.logarithms(weights);
        let told: Vec<f64> = self.ratios(&logarithms).collect();
        let slopes: Vec<f64> = told
            .iter()
            .zip(counts)
            .map(|(e, c)| 0.5 * c * (1.0 - e))
            .collect();
        let curvature = told.iter().zip(counts);
        let roots: Vec<f64> = curvature
            .map(|(e, c)| (0.5 * c * e.max(LEAST_CURVATURE)).sqrt())
            .collect();
        let scaled = Matrix::from_fn(self.terms.nrows(), self.terms.ncols(), |row, term| {
            roots[row] * self.terms[(row, term)]
        });
        let mut hessian = penalties.clone();
        linalg::add_gram_lower(hessian.as_mut(), 1.0, scaled.as_ref());
        let mut step = Matrix::zeros(weights.len(), 1);
        for term in 0..weights.len() {
            let pull: f64 = (0..weights.len())
                .map(|other| penalties[(term, other)] * weights[other])
                .sum();
            step[(term, 0)] = linalg::dot(self.terms.col_as_slice(term), &slopes) + pull;
        }
        linalg::factor_if_positive(&hessian)?.solve(step.as_mut());
        Some(step.col_as_slice(0).to_vec())
    }

    fn objective(&self, weights: &[f64], counts: &[f64], penalties: &Matrix) -> f64 {
        let size = weights.len();
        let pairs = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        let tied: f64 = pairs
            .map(|(i, j)| weights[i] * penalties[(i, j)] * weights[j])
            .sum();
        self.losses(&self.logarithms(weights), counts).sum::<f64>() + 0.5 * tied
    }

    /// Negative log density of each row, without what no spread changes.
    pub fn losses<'a>(
        &'a self,
        logarithms: &'a [f64],
        counts: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let ratios = self.ratios(logarithms);
        let each = logarithms.iter().zip(ratios).zip(counts);
        each.map(|((h, e), count)| 0.5 * count * (h + e))
    }

    /// `q exp(-h)` of each row.
    pub fn ratios<'a>(&'a self, logarithms: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let each = self.errors.iter().zip(logarithms);
        each.map(|(q, h)| q * (-h).clamp(-50.0, 50.0).exp())
    }

    pub fn logarithms(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.terms.nrows()];
        for (term, weight) in weights.iter().enumerate() {
            for (own, value) in sum.iter_mut().zip(self.terms.col_as_slice(term)) {
                *own += weight * value;
            }
        }
        sum
    }

    /// Steps of the curve and all parabolas are held small.
    fn penalties(&self, penalty: f64) -> Matrix {
        let mut found = Matrix::zeros(self.terms.ncols(), self.terms.ncols());
        let curve = self.places.len();
        for term in 0..self.terms.ncols() {
            found[(term, term)] = penalty
                * if term < curve {
                    CURVE_PENALTY
                } else {
                    INPUT_PENALTY
                };
        }
        for (before, after) in (1..curve).map(|after| (after - 1, after)) {
            found[(before, before)] += penalty;
            found[(after, after)] += penalty;
            found[(before, after)] -= penalty;
            found[(after, before)] -= penalty;
        }
        found
    }

    pub fn spread(&self, weights: &[f64], range: (f64, f64)) -> Spread {
        let (curve, parabolas) = weights.split_at(self.places.len());
        let pairs = parabolas.chunks_exact(2).zip(&self.columns);
        Spread {
            answers: self.places.clone(),
            curve: curve.to_vec(),
            inputs: pairs
                .map(|(pair, &column)| Parabola {
                    column,
                    slope: pair[0],
                    bend: pair[1],
                })
                .collect(),
            range,
            tails: None,
        }
    }
}

/// Places at equal shares of the answers, each once.
fn places(answers: &[f64]) -> Vec<f64> {
    let mut sorted = answers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut found: Vec<f64> = (0..PLACES)
        .map(|place| {
            let share = BEYOND + (1.0 - 2.0 * BEYOND) * place as f64 / (PLACES - 1) as f64;
            sorted[(share * (sorted.len() - 1) as f64).round() as usize]
        })
        .collect();
    let width = found[PLACES - 1] - found[0];
    // Answers that differ by rounding alone are one place.
    found.dedup_by(|after, before| *after - *before <= 1e-9 * width.max(f64::MIN_POSITIVE));
    found
}
