//! Hyperparameters from parts that exchange expansions of their evidence: local Laplace approximations, and Laplace
//! propagation, which goes on until all parts agree.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::site::{Tilted, misunderstood};
use super::{Message, Objective, Quadratic, Question, Reply, Shared, Site};
use crate::watch::Watch;
use crate::{Error, Result};

/// In which order parts are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// All at once, then all estimates are replaced.
    #[default]
    Parallel,
    /// One after the other; each hears what those before it have just said.
    Sequential,
}

/// How Laplace propagation goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagation {
    /// In which order.
    pub schedule: Schedule,
    /// Share of a new message that replaces the old one; halved when parts drift apart.
    pub damping: f64,
    /// At most so many rounds over all parts.
    pub rounds: usize,
    /// Parts agree when none is further from the fused estimate than this, in its standard deviations (at least a tenth).
    pub tolerance: f64,
    /// Steps of a part's search in the first round, and in each round after.
    pub steps: (u64, u64),
}

impl Default for Propagation {
    fn default() -> Self {
        Self {
            schedule: Schedule::Parallel,
            damping: 1.0,
            rounds: 10,
            tolerance: 0.1,
            steps: (60, 15),
        }
    }
}

/// What one round did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Largest distance of a part's maximum from the fused one, in standard deviations (at least a tenth) of the latter.
    pub disagreement: f64,
    /// Evaluations of evidences, all parts together.
    pub evaluations: usize,
    /// Parts that could not be computed and were left as they were.
    pub silent: usize,
}

/// What parts agreed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The fused estimate.
    pub coordinates: Vec<f64>,
    /// Standard deviations of the fused Gaussian; zero where nothing moves.
    pub deviations: Vec<f64>,
    /// Prior and all messages.
    pub belief: Quadratic,
    /// What each round did.
    pub rounds: Vec<Round>,
    /// True when all parts agreed; of local approximations, which stop before that, always false.
    pub agreed: bool,
    /// True when the sum of the expansions had no maximum, and parts were heard only where their evidence curves downwards.
    pub damped: bool,
}

/// Where a search may go.
struct Room<'a> {
    bounds: &'a [(f64, f64)],
    free: &'a [bool],
}

/// Each part maximises its own hyperposterior and sends its expansion; the expansions are added (Latouche 2007, sec. 4.3.2,
/// corrected): with `H_j` the curvature of part j's hyperposterior, `H = sum_j H_j - (m - 1) H_prior`, and the estimate is
/// `H^-1 (sum_j H_j phi_j - (m - 1) H_prior mu_prior)`.
///
/// `H` may be indefinite although every `H_j` is positive. Then the parts' evidences count only where they curve downwards,
/// and the answer says so.
pub fn local_approximations(
    sites: &[&dyn Site],
    prior: &Quadratic,
    start: &[f64],
    bounds: &[(f64, f64)],
    free: &[bool],
    watch: &dyn Watch,
) -> Result<Agreement> {
    let how = Propagation {
        rounds: 1,
        ..Propagation::default()
    };
    propagate(sites, prior, start, bounds, free, &how, watch)
}

/// Laplace propagation (Smola, Vishwanathan and Eskin 2004; Latouche 2007, sec. 4.4): part j maximises its own evidence
/// times the prior and the expansions of all others, and replaces its expansion by one made there. Where all parts agree,
/// the gradients of all evidences and the prior add up to zero: a maximum of the shared objective.
pub fn propagate(
    sites: &[&dyn Site],
    prior: &Quadratic,
    start: &[f64],
    bounds: &[(f64, f64)],
    free: &[bool],
    how: &Propagation,
    watch: &dyn Watch,
) -> Result<Agreement> {
    let room = Room { bounds, free };
    let mut table = Table {
        prior,
        said: vec![None; sites.len()],
    };
    let objective = Tilted {
        evidence: &Shared { sites, watch },
        others: prior,
    };
    let mut here = start.to_vec();
    let mut best: Option<f64> = None;
    let mut damping = how.damping.clamp(0.05, 1.0);
    // Holds parts near the fused estimate after a step that lost; it does not move a point on which all agree.
    let mut hold = 0.0;
    let mut rounds: Vec<Round> = Vec::new();
    let mut agreed = false;
    for round in 0..how.rounds.max(1) {
        watch.progress("asking parts", round, how.rounds);
        watch.check()?;
        let steps = if round == 0 { how.steps.0 } else { how.steps.1 };
        let maxima = match how.schedule {
            Schedule::Parallel => {
                let replies: Vec<Result<Message>> = (0..sites.len())
                    .into_par_iter()
                    .map(|site| {
                        let others = table.others(site, hold, &here, free);
                        ask(sites[site], others, &here, &room, steps, watch)
                    })
                    .collect();
                let mut maxima = Vec::with_capacity(sites.len());
                for (site, reply) in replies.into_iter().enumerate() {
                    maxima.push(table.hear(site, reply, damping)?);
                }
                maxima
            }
            Schedule::Sequential => {
                let mut maxima = Vec::with_capacity(sites.len());
                let mut moving = here.clone();
                for (site, asked) in sites.iter().enumerate() {
                    let others = table.others(site, hold, &moving, free);
                    let reply = ask(*asked, others, &moving, &room, steps, watch);
                    maxima.push(table.hear(site, reply, damping)?);
                    if let (Some((fused, _)), _) = table.fused(free, &moving) {
                        moving = within(fused, bounds);
                    }
                }
                maxima
            }
        };
        let silent = maxima.iter().filter(|heard| heard.is_none()).count();
        if silent == sites.len() {
            return Err(Error::NotFinite {
                what: "the log evidence of every part",
            });
        }
        let (Some((fused, deviations)), _) = table.fused(free, &here) else {
            return Err(Error::NotFinite {
                what: "the fused hyperposterior",
            });
        };
        let fused = within(fused, bounds);
        let distance = |maximum: &Vec<f64>| {
            let each = (0..fused.len()).filter(|&i| free[i]);
            each.map(|i| (maximum[i] - fused[i]).abs() / deviations[i].max(0.1))
                .fold(0.0, f64::max)
        };
        let heard = maxima.iter().flatten();
        let mut report = Round {
            disagreement: heard
                .clone()
                .map(|(at, _)| distance(at))
                .fold(0.0, f64::max),
            evaluations: heard.map(|(_, evaluations)| evaluations).sum(),
            silent,
        };
        if how.rounds <= 1 {
            // Local approximations stop here, whatever the shared objective says.
            rounds.push(report);
            here = fused;
            break;
        }
        let agree = report.disagreement <= how.tolerance && silent == 0;
        let step = forward(&objective, &here, best, fused)?;
        report.evaluations += step.evaluations * sites.len();
        let parted = rounds
            .last()
            .is_some_and(|last| report.disagreement > last.disagreement);
        rounds.push(report);
        here = step.place;
        best = Some(step.value);
        agreed = agree && table.is_top(&here, &step.gradient, &room, how.tolerance);
        if agreed {
            break;
        }
        if step.whole {
            hold = if hold < 0.1 { 0.0 } else { 0.25 * hold };
        } else {
            hold = (4.0 * hold).clamp(1.0, 1e6);
        }
        if parted && round > 1 {
            damping = (0.5 * damping).max(0.25);
        }
    }
    watch.progress("asking parts", how.rounds, how.rounds);
    let (_, damped) = table.fused(free, &here);
    let belief = table.sum(damped, None);
    let deviations = belief
        .maximum(free, &here)
        .map_or_else(|| vec![0.0; here.len()], |(_, deviations)| deviations);
    Ok(Agreement {
        coordinates: here,
        deviations,
        belief,
        agreed,
        rounds,
        damped,
    })
}

/// A step towards the fused estimate that does not lose.
struct Step {
    place: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// True when the whole way was gone.
    whole: bool,
    evaluations: usize,
}

/// Expansions can be far off where the evidence is no quadratic: the way to the fused estimate is halved until the shared
/// objective does not fall, and not gone at all where that does not help.
fn forward(
    objective: &dyn Objective,
    here: &[f64],
    best: Option<f64>,
    fused: Vec<f64>,
) -> Result<Step> {
    let mut evaluations = 0;
    let mut share = 1.0;
    loop {
        let mix = |(from, to): (&f64, &f64)| from + share * (to - from);
        let place: Vec<f64> = here.iter().zip(&fused).map(mix).collect();
        evaluations += 1;
        match objective.evaluate(&place) {
            Ok(found) => {
                let slack = best.map_or(f64::NEG_INFINITY, |best| best - 1e-9 * best.abs());
                if found.value >= slack || share == 0.0 {
                    return Ok(Step {
                        place,
                        value: found.value,
                        gradient: found.gradient,
                        whole: share == 1.0,
                        evaluations,
                    });
                }
            }
            Err(error) if error.is_recoverable() && share > 0.0 => {}
            Err(error) => return Err(error),
        }
        share = if share > 0.1 { 0.5 * share } else { 0.0 };
    }
}

/// Means and standard deviations.
type Gaussian = (Vec<f64>, Vec<f64>);

/// What everybody has said so far.
struct Table<'a> {
    prior: &'a Quadratic,
    said: Vec<Option<Said>>,
}

/// A part's latest message, damped, as it is and where it is concave.
#[derive(Clone)]
struct Said {
    plain: Quadratic,
    concave: Quadratic,
}

impl Table<'_> {
    /// Prior and all messages, or all but one.
    fn sum(&self, concave: bool, without: Option<usize>) -> Quadratic {
        let mut total = self.prior.clone();
        for (site, said) in self.said.iter().enumerate() {
            if let (Some(said), true) = (said, Some(site) != without) {
                total.add(1.0, if concave { &said.concave } else { &said.plain });
            }
        }
        total
    }

    /// What a part is told of the others: their plain messages, or the concave ones where the plain ones have no maximum.
    /// `hold` times the diagonal of everything said holds it near `here`.
    fn others(&self, site: usize, hold: f64, here: &[f64], free: &[bool]) -> Quadratic {
        let plain = self.sum(false, Some(site));
        let mut told = match plain.maximum(free, here) {
            Some(_) => plain,
            None => self.sum(true, Some(site)),
        };
        if hold > 0.0 {
            let everything = self.sum(true, None);
            let size = here.len();
            for i in (0..size).filter(|&i| free[i]) {
                let precision = hold * everything.precision[i * size + i];
                told.precision[i * size + i] += precision;
                told.vector[i] += precision * here[i];
            }
        }
        told
    }

    /// Maximum and deviations of everything said, and whether only concave messages have one.
    fn fused(&self, free: &[bool], here: &[f64]) -> (Option<Gaussian>, bool) {
        match self.sum(false, None).maximum(free, here) {
            Some(found) => (Some(found), false),
            None => (self.sum(true, None).maximum(free, here), true),
        }
    }

    /// True when a Newton step with this slope would go no further than a share of a standard deviation.
    fn is_top(&self, here: &[f64], gradient: &[f64], room: &Room<'_>, share: f64) -> bool {
        // A slope that leads out of the bounds is none.
        let slope = |i: usize| match (here[i] <= room.bounds[i].0, here[i] >= room.bounds[i].1) {
            _ if !room.free[i] => 0.0,
            (true, _) => gradient[i].max(0.0),
            (_, true) => gradient[i].min(0.0),
            _ => gradient[i],
        };
        let mut newton = self.sum(self.fused(room.free, here).1, None);
        newton.vector = (0..here.len()).map(slope).collect();
        let nowhere = vec![0.0; here.len()];
        newton
            .maximum(room.free, &nowhere)
            .is_some_and(|(step, _)| {
                let squared: f64 = step.iter().zip(&newton.vector).map(|(s, g)| s * g).sum();
                squared <= share * share
            })
    }

    /// Takes a message in; a part that cannot be computed stays as it was.
    fn hear(
        &mut self,
        site: usize,
        reply: Result<Message>,
        damping: f64,
    ) -> Result<Option<(Vec<f64>, usize)>> {
        let message = match reply {
            Ok(message) => message,
            Err(error) if error.is_recoverable() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut fresh = Said {
            plain: message.quadratic(),
            concave: message.concave()?,
        };
        if let Some(old) = &self.said[site] {
            fresh.plain = mixed(&fresh.plain, &old.plain, damping);
            fresh.concave = mixed(&fresh.concave, &old.concave, damping);
        }
        self.said[site] = Some(fresh);
        Ok(Some((message.at, message.evaluations)))
    }
}

fn mixed(fresh: &Quadratic, old: &Quadratic, share: f64) -> Quadratic {
    let mut sum = Quadratic::none(fresh.size());
    sum.add(share, fresh);
    sum.add(1.0 - share, old);
    sum
}

fn ask(
    site: &dyn Site,
    others: Quadratic,
    start: &[f64],
    room: &Room<'_>,
    steps: u64,
    watch: &dyn Watch,
) -> Result<Message> {
    let size = start.len();
    let question = Question::Expand {
        others,
        start: start.to_vec(),
        bounds: room.bounds.to_vec(),
        free: room.free.to_vec(),
        steps,
    };
    match site.answer(&question, watch)? {
        Reply::Message(message)
            if message.at.len() == size
                && message.gradient.len() == size
                && message.hessian.len() == size * size =>
        {
            Ok(message)
        }
        _ => Err(misunderstood()),
    }
}

fn within(mut point: Vec<f64>, bounds: &[(f64, f64)]) -> Vec<f64> {
    for (value, (low, high)) in point.iter_mut().zip(bounds) {
        *value = value.clamp(*low, *high);
    }
    point
}
