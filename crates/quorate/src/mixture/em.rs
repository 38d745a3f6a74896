//! Expectation and maximisation for a mixture of Gaussian processes (Tresp 2001, sec. 4.1 and appendix).

use std::sync::Arc;

use quorate_gp::linalg::dot;
use quorate_gp::watch::Watch;
use rayon::prelude::*;

use super::between::Covariances;
use super::gate::{self, log_prior, log_shares, log_sum};
use super::noise::{Errors, precision};
use super::processes::{MixtureOfProcesses, MixtureRows, Prior, Track};
use super::sites::{Sites, Smoothed};
use crate::error::{Error, Result};

/// With which responses experts claim a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Responses {
    /// With what they would say had they not seen it: else the expert that follows every row wins them all (sec. 4.1). The
    /// objective may then decrease; the best mixture on the way, by the density of rows left out, is kept.
    #[default]
    LeftOut,
    /// With what they say, having seen it: the objective never decreases.
    Seen,
}

/// By what the round that is kept is told, where responses are left out.
///
/// A row that is left out has not been heard at its own place, but the shares of its neighbours were decided while it spoke: those that
/// agree with it count more for the experts that it taught. So rows left out are told too well, most of all in the first rounds and
/// by little noise, even where targets do not depend on the inputs at all. Who wants the least error of new rows makes all rounds and
/// lets rows sit out whole climbs to choose the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judge {
    /// The density of rows left out.
    #[default]
    Density,
    /// Nothing: all rounds are made, and the last is kept.
    Last,
}

/// What an expert is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belief {
    /// A belief with a variance: the objective is a lower bound of the evidence, and with one expert and constant noise it
    /// is the evidence.
    #[default]
    Distribution,
    /// Its most probable function, as printed: the objective is the penalised likelihood.
    Mode,
}

/// How to climb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// With which responses experts claim a row.
    pub responses: Responses,
    /// What an expert is taken for.
    pub belief: Belief,
    /// Rounds at most.
    pub rounds: usize,
    /// Gain for each row below which it ends.
    pub gain: f64,
    /// By what the round that is kept is told.
    pub judge: Judge,
    /// Whether the start may be kept, where every expert has heard every row: with several experts that is their average.
    pub keeps_start: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            responses: Responses::default(),
            belief: Belief::default(),
            rounds: 100,
            gain: 1e-4,
            judge: Judge::default(),
            keeps_start: true,
        }
    }
}

/// How a climb went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Climb {
    /// The objective at the start of each round.
    pub objective: Vec<f64>,
    /// Log density of the rows, each left out, at the start of each round.
    pub left_out: Vec<f64>,
    /// Which round was kept.
    pub kept: usize,
}

/// What changes from round to round.
struct Round {
    /// Responsibilities: one list of shares for each expert.
    shares: Vec<Vec<f64>>,
    experts: Vec<Smoothed>,
    gates: Vec<Track>,
    noises: Vec<Track>,
}

impl Round {
    /// The sites under which all processes are where this round has them: all that is kept of a round.
    fn sites(&self) -> Vec<Sites> {
        let experts = self.experts.iter().map(|own| own.sites().clone());
        // One expert has no gate.
        let gates = self.gates.iter().filter(|_| self.gates.len() > 1);
        experts
            .chain(gates.chain(&self.noises).map(Track::sites))
            .collect()
    }
}

/// Fits a mixture: every expert hears all rows at first, then they divide them among themselves.
pub fn climb(
    prior: &Prior,
    rows: &MixtureRows,
    settings: Settings,
    watch: &dyn Watch,
) -> Result<(MixtureOfProcesses, Climb)> {
    let covariances = Covariances::of_pairs(prior, rows)?;
    climb_between(prior, rows, covariances, settings, watch)
}

/// The same with rows that are connected through landmarks alone (row after row of encoded inputs): the time of a round is linear in
/// the rows, and what is kept of them is a sum for each process.
pub fn climb_through(
    prior: &Prior,
    rows: &Arc<MixtureRows>,
    landmarks: &[f64],
    settings: Settings,
    watch: &dyn Watch,
) -> Result<(MixtureOfProcesses, Climb)> {
    let covariances = Covariances::through(prior, rows, landmarks)?;
    climb_between(prior, rows, covariances, settings, watch)
}

fn climb_between(
    prior: &Prior,
    rows: &MixtureRows,
    covariances: Covariances,
    settings: Settings,
    watch: &dyn Watch,
) -> Result<(MixtureOfProcesses, Climb)> {
    let count = prior.count();
    if count == 0 {
        return Err(Error::Spec("a mixture needs at least one expert".into()));
    }
    let climber = Climber {
        prior,
        rows,
        settings,
        covariances,
    };
    let mut round = climber.start()?;
    let mut record = Climb::default();
    let mut best: Option<(f64, Vec<Sites>)> = None;
    let enough = settings.gain * rows.weights().iter().sum::<f64>();
    for number in 0..settings.rounds.max(1) {
        watch.check()?;
        watch.progress("mixing experts", number, settings.rounds);
        let seen = climber.densities(&round, false);
        let left_out = climber.densities(&round, true);
        let objective = climber.objective(&round, &seen);
        let density: f64 =
            climber.weighted(left_out.iter().map(|logs| log_sum(logs.iter().copied())));
        let (chosen, value) = match (settings.responses, settings.judge) {
            (Responses::LeftOut, Judge::Density) => (&left_out, density),
            // Each is better than the one before.
            (Responses::LeftOut, Judge::Last) => (&left_out, number as f64),
            (Responses::Seen, _) => (&seen, objective),
        };
        record.objective.push(objective);
        record.left_out.push(density);
        let gain = best
            .as_ref()
            .map_or(f64::INFINITY, |(best, _)| value - best);
        let counts = number > 0 || count == 1 || settings.keeps_start;
        if gain > 0.0 && counts {
            best = Some((value, round.sites()));
            record.kept = number;
        }
        let settled = match settings.responses {
            Responses::Seen => gain < enough,
            // It may fall before it rises: a few rounds without gain are allowed.
            Responses::LeftOut => gain < enough && number >= record.kept + 5,
        };
        if settled && number > 2 {
            break;
        }
        climber.claim(&mut round, chosen);
        climber.maximise(&mut round)?;
    }
    let sites = best.map_or_else(|| round.sites(), |(_, best)| best);
    let covariances = &climber.covariances;
    let mixture = MixtureOfProcesses::hear(prior.clone(), rows.clone(), sites, covariances)?;
    Ok((mixture, record))
}

struct Climber<'a> {
    prior: &'a Prior,
    rows: &'a MixtureRows,
    settings: Settings,
    covariances: Covariances,
}

impl Climber<'_> {
    fn start(&self) -> Result<Round> {
        let (rows, count) = (self.rows.count(), self.prior.count());
        let all = self.rows.weights();
        let share = 1.0 / count as f64;
        let gate = all.iter().map(|weight| weight * share * (1.0 - share));
        let noise = all.iter().map(|weight| 2.0 * weight);
        let mut round = Round {
            shares: vec![vec![1.0; rows]; count],
            experts: Vec::new(),
            gates: vec![Track::new(gate.collect()); count],
            noises: vec![Track::new(noise.collect()); count],
        };
        round.experts = self.experts(&round)?;
        Ok(round)
    }

    /// A sum over rows, each counted by its weight.
    fn weighted(&self, each: impl Iterator<Item = f64>) -> f64 {
        let rows = each.zip(self.rows.weights());
        rows.map(|(value, weight)| weight * value).sum()
    }

    /// Log of gate times density for each row and expert: as they respond having seen the row, or without it.
    ///
    /// A belief that has seen the row enters through its expected log density, `log N(y; m, s^2) - v / (2 s^2)`, so that
    /// the objective is a bound; one that has not enters through its predictive density, `log N(y; m, s^2 + v)`.
    fn densities(&self, round: &Round, left_out: bool) -> Vec<Vec<f64>> {
        let level = self.prior.level;
        let with_variance = self.settings.belief == Belief::Distribution;
        (0..self.rows.count())
            .into_par_iter()
            .map(|row| {
                let shares = if left_out {
                    let heights = round.gates.iter().map(|gate| gate.without(row));
                    let all = log_sum(heights.clone());
                    heights.map(|height| height - all).collect()
                } else {
                    log_shares(&round.gates, row)
                };
                let experts = round.experts.iter().zip(&round.noises).zip(shares);
                experts
                    .map(|((expert, noise), share)| {
                        let (mean, variance, spread) = if left_out {
                            let (mean, variance) = expert.left_out(row);
                            (mean, variance, noise.without(row))
                        } else {
                            (expert.mean[row], expert.variance[row], noise.value[row])
                        };
                        let variance = if with_variance { variance } else { 0.0 };
                        let noise = (2.0 * (level + spread)).exp();
                        let error = self.rows.targets()[row] - mean;
                        share
                            + if left_out {
                                log_normal(error, noise + variance)
                            } else {
                                log_normal(error, noise) - 0.5 * variance / noise
                            }
                    })
                    .collect()
            })
            .collect()
    }

    /// Penalised likelihood, or a lower bound of the evidence: what rounds without left-out responses climb.
    fn objective(&self, round: &Round, seen: &[Vec<f64>]) -> f64 {
        let rows = self.weighted(seen.iter().map(|logs| log_sum(logs.iter().copied())));
        let experts = round
            .experts
            .iter()
            .map(|expert| match self.settings.belief {
                Belief::Distribution => -expert.divergence(),
                Belief::Mode => -0.5 * dot(&expert.mean, &expert.weights),
            });
        let processes = round.gates.iter().chain(&round.noises).map(log_prior);
        rows + experts.sum::<f64>() + processes.sum::<f64>()
    }

    /// The E-step: each expert's share of each row.
    fn claim(&self, round: &mut Round, densities: &[Vec<f64>]) {
        for (row, logs) in densities.iter().enumerate() {
            for (expert, share) in gate::softmax(logs).into_iter().enumerate() {
                round.shares[expert][row] = share;
            }
        }
    }

    /// The M-step: experts exactly, gates and noises by one step of Fisher scoring each.
    fn maximise(&self, round: &mut Round) -> Result<()> {
        round.experts = self.experts(round)?;
        let noises: Vec<Track> = (0..self.prior.count())
            .into_par_iter()
            .map(|expert| {
                let mut track = round.noises[expert].clone();
                let (squares, counts) = self.errors(round, expert);
                let errors = Errors {
                    squares: &squares,
                    counts: &counts,
                    level: self.prior.level,
                };
                errors.step(&mut track, &self.covariances.noise)?;
                Ok(track)
            })
            .collect::<Result<_>>()?;
        round.noises = noises;
        if self.prior.count() > 1 {
            let (covariance, weights) = (&self.covariances.gate, self.rows.weights());
            gate::sweep(&mut round.gates, covariance, &round.shares, weights)?;
        }
        Ok(())
    }

    /// Every expert hears the rows, each with the noise variance over its share (Tresp 2001, sec. 4.1).
    fn experts(&self, round: &Round) -> Result<Vec<Smoothed>> {
        (0..self.prior.count())
            .into_par_iter()
            .map(|expert| {
                let sites = self.expert_sites(round, expert);
                self.covariances.experts[expert].hear(sites)
            })
            .collect()
    }

    fn expert_sites(&self, round: &Round, expert: usize) -> Sites {
        let mut sites = Sites::default();
        for row in 0..self.rows.count() {
            let count = self.rows.weights()[row] * round.shares[expert][row];
            let spread = self.prior.level + round.noises[expert].value[row];
            let precision = count * precision(spread);
            sites.precision.push(precision);
            sites.shift.push(precision * self.rows.targets()[row]);
        }
        sites
    }

    /// Squared errors of an expert, and how much each row counts for it.
    fn errors(&self, round: &Round, expert: usize) -> (Vec<f64>, Vec<f64>) {
        let belief = &round.experts[expert];
        let rows = 0..self.rows.count();
        let squares = rows.clone().map(|row| {
            let error = self.rows.targets()[row] - belief.mean[row];
            let variance = match self.settings.belief {
                Belief::Distribution => belief.variance[row],
                Belief::Mode => 0.0,
            };
            error * error + variance
        });
        let counts = rows.map(|row| self.rows.weights()[row] * round.shares[expert][row]);
        (squares.collect(), counts.collect())
    }
}

fn log_normal(error: f64, variance: f64) -> f64 {
    -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
}
