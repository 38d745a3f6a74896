//! Opinions in, one belief out.
//!
//! A [`Fusion`] is a small value: who is listened to how much ([`Weights`]), how what they say is put together ([`Pool`]),
//! and what everybody knew before ([`Reference`]). The rules of the literature are its named constructors, listed once in
//! [`RULES`]. Opinions are about the latent function; the noise of an observation is added once, by whoever asks.
//!
//! The classical committees are one formula. With information = (precision, precision x mean),
//!
//! > information(fused) = sum_i w_i information(opinion_i) + (1 - sum_i w_i) information(reference).
//!
//! Members whose priors differ are each divided by their own: sum_i w_i (information(opinion_i) - information(prior_i)) +
//! information(reference), the reference being the mean of the priors' information. With one prior it is the formula above.
//!
//! ```
//! use quorate::fusion::{Fusion, Moments};
//! let prior = Moments { mean: 0.0, variance: 1.0 };
//! let opinions = [Moments { mean: 1.0, variance: 0.5 }, Moments { mean: 2.0, variance: 0.25 }];
//! let fused = Fusion::bayesian_committee_machine().combine_one(&opinions, prior)?;
//! // precision 2 + 4 - 1, and the mean (2 * 1 + 4 * 2) / 5
//! assert!((fused.variance - 0.2).abs() < 1e-15 && (fused.mean - 2.0).abs() < 1e-15);
//! # Ok::<(), quorate::Error>(())
//! ```

mod barycentre;
mod cell;
mod classes;
mod learned;
mod linear;
mod log_linear;
mod median;
mod nested;
mod record;
mod rules;
mod shrinkage;
mod vote;
mod weights;

pub use cell::{Cell, Moments};
pub use classes::{CLASS_RULES, ClassFusion, ClassRecord, ClassRule, class_rule};
pub use learned::Learned;
pub use nested::Between;
pub use record::Record;
pub use rules::{Needs, RULES, Rule, rule};
pub(crate) use vote::largest;
pub use vote::{majority, weighted_vote};

use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::Matrix;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How much each member is listened to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// One each: everything they say counts as independent evidence.
    One,
    /// One over the number of members.
    Equal,
    /// What the member has learned here: half the logarithm of its variance's drop from its prior, at least 0.
    Learned,
    /// The same, made to sum to one; equal where nobody has learned anything.
    LearnedShare,
    /// Half the logarithm of the variance's drop from the base member, at least 0; the first member has one.
    BeyondBase,
    /// Softmax of minus the temperature times the variance, in units of the reference's variance.
    Tempered {
        /// How strongly the surest member is preferred; 0 makes all equal.
        temperature: f64,
    },
    /// `C^-1 1 / 1'C^-1 1` with C the second moments of errors on rows the members have not seen.
    Covariance {
        /// Shrink the errors' correlations by as much as their number asks for; without it few rows make nonsense.
        shrunk: bool,
    },
    /// In proportion to the evidence of the rows under each member.
    Evidence,
    /// Non-negative least squares on rows the members have not seen.
    Stacked,
    /// The mixture that gives rows not seen the largest density.
    Density,
    /// Those that were found when the members were boosted; equal where there are none.
    Boosted,
}

/// How weighted opinions are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Weighted product of densities: information adds.
    LogLinear,
    /// Weighted mean of densities: a mixture, told by its mean and variance.
    Linear,
    /// Weighted mean of the members' values, with the correlation of their errors.
    Average,
    /// The Gaussian nearest to all in transport distance: its deviation is the mean of theirs.
    Barycentre,
    /// The same mean with the mean of the variances, which is never smaller.
    BarycentreOfVariances,
    /// The best linear estimate from the members' means under their common process.
    Nested,
    /// The mean of the member in the middle.
    Median,
}

/// What everybody knew before the members spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Nothing.
    Nothing,
    /// The prior.
    Prior,
    /// A member that saw the rows all members share.
    Base,
}

/// How opinions become one belief: weights, pool and reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fusion {
    /// Who is listened to how much.
    pub weights: Weights,
    /// How what they say is put together.
    pub pool: Pool,
    /// What everybody knew before.
    pub reference: Reference,
}

/// What the members of a committee say about some queries, with all that a rule may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Opinions<'a> {
    /// Each member's belief about the latent function.
    pub posteriors: &'a [Marginals],
    /// What each member believed before it saw its rows.
    pub priors: &'a [Marginals],
    /// The belief of a member that saw only the rows all members share.
    pub base: Option<&'a Marginals>,
    /// Variance of the noise that is added after fusion: errors on rows not seen contain it.
    pub noise: f64,
    /// What was found out about the members on rows they have not seen.
    pub learned: Option<&'a Learned>,
    /// For each query, how the members' means vary together under their common process.
    pub between: Option<&'a [Between]>,
}

impl<'a> Opinions<'a> {
    /// Beliefs and priors alone: enough for rules that learn nothing about the members.
    pub fn new(posteriors: &'a [Marginals], priors: &'a [Marginals]) -> Self {
        Self {
            posteriors,
            priors,
            base: None,
            noise: 0.0,
            learned: None,
            between: None,
        }
    }
}

impl Fusion {
    /// One belief out of many opinions, at every query and output.
    pub fn combine(&self, opinions: &Opinions<'_>) -> Result<Marginals> {
        let members = opinions.posteriors.len();
        let Some(first) = opinions.posteriors.first() else {
            return Err(Error::Spec("a committee needs at least one member".into()));
        };
        if opinions.priors.len() != members {
            return Err(Error::Spec("every opinion needs its prior".into()));
        }
        let (rows, outputs) = (first.mean.nrows(), first.mean.ncols());
        let mut fused = Marginals {
            mean: Matrix::zeros(rows, outputs),
            variance: Matrix::zeros(rows, outputs),
        };
        let at = |beliefs: &[Marginals], row: usize, output: usize| -> Vec<Moments> {
            let one = |belief: &Marginals| Moments {
                mean: belief.mean[(row, output)],
                variance: belief.variance[(row, output)],
            };
            beliefs.iter().map(one).collect()
        };
        for output in 0..outputs {
            for row in 0..rows {
                let (said, before) = (
                    at(opinions.posteriors, row, output),
                    at(opinions.priors, row, output),
                );
                let base = opinions.base.map(|base| Moments {
                    mean: base.mean[(row, output)],
                    variance: base.variance[(row, output)],
                });
                let cell = Cell {
                    opinions: &said,
                    priors: &before,
                    base,
                    noise: opinions.noise,
                    learned: opinions.learned,
                    between: opinions.between.and_then(|between| between.get(row)),
                };
                let moments = self.combine_cell(&cell).map_err(|error| match error {
                    Error::Spec(problem) => Error::Spec(format!(
                        "fusing opinions about query {}: {problem}",
                        row + 1
                    )),
                    other => other,
                })?;
                fused.mean[(row, output)] = moments.mean;
                fused.variance[(row, output)] = moments.variance;
            }
        }
        Ok(fused)
    }

    /// One belief out of opinions about one value, all of them formed under one prior; for rules that need no more.
    pub fn combine_one(&self, opinions: &[Moments], prior: Moments) -> Result<Moments> {
        let priors = vec![prior; opinions.len()];
        self.combine_cell(&Cell {
            opinions,
            priors: &priors,
            base: None,
            noise: 0.0,
            learned: None,
            between: None,
        })
    }

    /// One belief out of opinions about one value.
    pub fn combine_cell(&self, cell: &Cell<'_>) -> Result<Moments> {
        if cell.opinions.is_empty() || cell.priors.len() != cell.opinions.len() {
            return Err(Error::Spec(
                "a committee needs members, each with an opinion and a prior".into(),
            ));
        }
        let weights = self.weights.at(cell)?;
        match self.pool {
            Pool::LogLinear => log_linear::combine(self.reference, &weights, cell),
            Pool::Linear => Ok(linear::mixture(&weights, cell)),
            Pool::Average => Ok(linear::average(&weights, cell)),
            Pool::Barycentre => Ok(barycentre::of_deviations(&weights, cell)),
            Pool::BarycentreOfVariances => Ok(barycentre::of_variances(&weights, cell)),
            Pool::Nested => nested::combine(cell),
            Pool::Median => Ok(median::median(&weights, cell)),
        }
    }
}
