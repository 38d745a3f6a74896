//! What is believed about counts, amounts and lifetimes, in their own units.

use quorate_gp::data::{Quantity, QuantityCode, Sighting};
use quorate_gp::likelihood::{Latent, Likelihood, Observation};
use rayon::prelude::*;

use crate::prediction::{standard_distribution, standard_quantile};

/// Beliefs about the latent value behind each row, and what makes targets of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantityPrediction {
    /// What kind of number the target is, and its units.
    pub code: QuantityCode,
    /// How a target comes from the latent value.
    pub likelihood: Likelihood,
    /// Mean of the latent value, level and exposure included.
    pub latent_mean: Vec<f64>,
    /// Its variance.
    pub latent_variance: Vec<f64>,
    /// What each draw of the hyperparameters says, where predictions average over draws; the moments above are then
    /// those of all draws together.
    pub draws: Vec<QuantityDraw>,
    /// Sentences for people: missing cells, levels never seen.
    pub notes: Vec<String>,
}

/// Beliefs under one draw of the hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantityDraw {
    /// The likelihood with the dispersions of the draw.
    pub likelihood: Likelihood,
    /// Mean of the latent value, level and exposure included.
    pub latent_mean: Vec<f64>,
    /// Its variance.
    pub latent_variance: Vec<f64>,
}

impl QuantityPrediction {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.latent_mean.len()
    }

    /// The belief about one row's latent value.
    pub fn latent(&self, row: usize) -> Latent {
        Latent {
            mean: self.latent_mean[row],
            variance: self.latent_variance[row],
        }
    }

    pub(crate) fn append(&mut self, other: QuantityPrediction) {
        self.latent_mean.extend(other.latent_mean);
        self.latent_variance.extend(other.latent_variance);
        for (ours, theirs) in self.draws.iter_mut().zip(other.draws) {
            ours.latent_mean.extend(theirs.latent_mean);
            ours.latent_variance.extend(theirs.latent_variance);
        }
    }

    /// The belief of every draw about one row's latent value, with its likelihood; all count the same.
    fn beliefs(&self, row: usize) -> Vec<(Likelihood, Latent)> {
        if self.draws.is_empty() {
            return vec![(self.likelihood, self.latent(row))];
        }
        let own = |draw: &QuantityDraw| {
            let latent = Latent {
                mean: draw.latent_mean[row],
                variance: draw.latent_variance[row],
            };
            (draw.likelihood, latent)
        };
        self.draws.iter().map(own).collect()
    }

    /// A number for each row. Averages over beliefs take long enough for several threads.
    fn each(&self, of: impl Fn(&[(Likelihood, Latent)]) -> f64 + Sync) -> Vec<f64> {
        let rows = 0..self.rows();
        rows.into_par_iter()
            .map(|row| of(&self.beliefs(row)))
            .collect()
    }

    /// Expected targets.
    pub fn mean(&self) -> Vec<f64> {
        self.each(|all| self.code.unit.undo(average(all, expected)))
    }

    /// Standard deviation of new targets, or with `latent` of the expected target.
    pub fn deviation(&self, latent: bool) -> Vec<f64> {
        let width = self.code.unit.deviation;
        let own = |likelihood: &Likelihood, belief: Latent| {
            if !latent {
                likelihood.variance(belief)
            } else if self.code.quantity == Quantity::Real {
                belief.variance
            } else {
                // The expected target is proportional to e^f, whose logarithm is Gaussian.
                likelihood.mean(belief).powi(2) * belief.variance.exp_m1()
            }
        };
        self.each(|all| {
            let mean = average(all, expected);
            let apart = |likelihood: &Likelihood, belief: Latent| {
                (expected(likelihood, belief) - mean).powi(2)
            };
            let between = if all.len() > 1 {
                average(all, apart)
            } else {
                0.0
            };
            width * (average(all, own) + between).sqrt()
        })
    }

    /// The value that new targets (or with `latent` the expected target) do not exceed with probability `p`.
    pub fn quantile(&self, p: f64, latent: bool) -> Vec<f64> {
        let z = standard_quantile(p);
        let alone = |likelihood: &Likelihood, belief: Latent| {
            if latent {
                // The expected target grows with f, so that its quantiles are those of f.
                likelihood.mean(Latent {
                    mean: belief.mean + z * belief.variance.sqrt(),
                    variance: 0.0,
                })
            } else {
                likelihood.quantile(belief, p)
            }
        };
        self.each(|all| {
            let value = match all {
                [(likelihood, belief)] => alone(likelihood, *belief),
                _ => self.mixed_quantile(all, p, latent, &alone),
            };
            self.code.unit.undo(value)
        })
    }

    /// The quantile of all draws together, which lies between theirs.
    fn mixed_quantile(
        &self,
        all: &[(Likelihood, Latent)],
        p: f64,
        latent: bool,
        alone: &dyn Fn(&Likelihood, Latent) -> f64,
    ) -> f64 {
        let ends = all.iter().map(|(likelihood, own)| alone(likelihood, *own));
        let (mut low, mut high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), end| {
            (l.min(end), h.max(end))
        });
        let below = |value: f64| {
            average(all, |likelihood, belief| {
                if !latent {
                    return likelihood.distribution(belief, value);
                }
                // The expected target at f is its value at 0 times e^f, or f itself.
                let deviation = belief.variance.sqrt().max(f64::MIN_POSITIVE);
                let at = match self.code.quantity {
                    Quantity::Real => value,
                    _ => (value
                        / likelihood.mean(Latent {
                            mean: 0.0,
                            variance: 0.0,
                        }))
                    .ln(),
                };
                standard_distribution((at - belief.mean) / deviation)
            })
        };
        if !latent && self.code.quantity == Quantity::Count {
            while low < high {
                let middle = ((low + high) / 2.0).floor();
                if below(middle) >= p {
                    high = middle;
                } else {
                    low = middle + 1.0;
                }
            }
            return high;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if below(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Probability that a new target exceeds a value: the survival curve of a lifetime.
    pub fn survival(&self, value: f64) -> Vec<f64> {
        let value = self.code.unit.apply(value);
        self.each(|all| average(all, |likelihood, own| likelihood.survival(own, value)))
    }

    /// Probability that a new count is this number.
    pub fn probability(&self, count: u64) -> Vec<f64> {
        let seen = Observation::of(count as f64);
        self.each(|all| {
            average(all, |likelihood, own| {
                likelihood.log_predictive(&seen, own).exp()
            })
        })
    }

    /// `P(target <= value)` for one row.
    pub(crate) fn distribution(&self, row: usize, value: f64) -> f64 {
        let value = self.code.unit.apply(value);
        average(&self.beliefs(row), |likelihood, own| {
            likelihood.distribution(own, value)
        })
    }

    /// Log density of what was seen of one row, in its own units; its survival where it is censored.
    pub(crate) fn log_density(&self, row: usize, seen: &Sighting) -> f64 {
        let mut observation = Observation::of(self.code.unit.apply(seen.value));
        observation.observed = seen.observed;
        let logs: Vec<f64> = (self.beliefs(row).iter())
            .map(|(likelihood, own)| likelihood.log_predictive(&observation, *own))
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let own = match logs[..] {
            [alone] => alone,
            _ if most == f64::NEG_INFINITY => most,
            _ => {
                let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
                most + (sum / logs.len() as f64).ln()
            }
        };
        if seen.observed {
            own - self.code.unit.deviation.ln()
        } else {
            own
        }
    }
}

/// The expected target under one belief.
fn expected(likelihood: &Likelihood, belief: Latent) -> f64 {
    likelihood.mean(belief)
}

/// The mean over draws, which all count the same.
fn average(all: &[(Likelihood, Latent)], of: impl Fn(&Likelihood, Latent) -> f64) -> f64 {
    let sum: f64 = all.iter().map(|(own, belief)| of(own, *belief)).sum();
    sum / all.len() as f64
}
