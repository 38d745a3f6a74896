//! Hybrid Monte Carlo with trajectories of a fixed number of leapfrog steps (Williams and Barber 1998, App. D; Duane and
//! others 1987).

use rand::Rng;
use rand_chacha::ChaCha12Rng;

use super::{Chain, Sampling, Target};
use crate::learn::Evaluation;
use crate::posterior::standard_normal;
use crate::{Error, Result};

/// How a trajectory goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HmcSettings {
    /// Leapfrog steps of a trajectory.
    pub steps: usize,
    /// Length of a step, the same for all coordinates. It is shortened while warming up as long as more than a tenth of
    /// the proposals is rejected, and varies by a fifth from trajectory to trajectory so that none closes on itself.
    pub step: f64,
}

impl Default for HmcSettings {
    fn default() -> Self {
        Self {
            steps: 20,
            step: 0.1,
        }
    }
}

/// Trajectories after which rejections are counted while warming up.
const COUNTED: usize = 20;
/// Energy a trajectory may gain before it counts as lost.
const LOST: f64 = 1000.0;

pub(super) fn chain(
    target: &Target<'_>,
    first: &[f64],
    settings: HmcSettings,
    how: &Sampling,
    random: &mut ChaCha12Rng,
) -> Result<Chain> {
    let mut step = settings.step;
    let mut here = first.to_vec();
    let mut belief = target.evaluate(&here)?;
    let mut chain = Chain {
        draws: Vec::with_capacity(how.draws),
        divergences: 0,
        evaluations: 1,
        step,
    };
    let mut rejected = 0;
    for draw in 0..how.warmup + how.draws {
        let momentum: Vec<f64> = here.iter().map(|_| standard_normal(random)).collect();
        let length = step * (0.8 + 0.4 * uniform(random));
        let before = belief.value - kinetic(&momentum);
        let end = trajectory(target, &here, &belief, momentum, length, settings.steps)?;
        chain.evaluations += settings.steps;
        let kept = draw >= how.warmup;
        let gain = end.as_ref().map_or(f64::NEG_INFINITY, |end| {
            end.belief.value - kinetic(&end.momentum) - before
        });
        // The draw comes first, so that the stream of random numbers does not depend on rounding.
        let luck = uniform(random).ln();
        match end {
            Some(end) if luck < gain => {
                here = end.place;
                belief = end.belief;
            }
            _ => rejected += 1,
        }
        if kept {
            chain.divergences += usize::from(gain.is_nan() || gain <= -LOST);
            chain.draws.push(target.whole(&here));
        } else if (draw + 1) % COUNTED == 0 {
            if 10 * rejected > COUNTED {
                step *= if 2 * rejected > COUNTED { 0.4 } else { 0.75 };
            }
            rejected = 0;
        }
    }
    chain.step = step;
    Ok(chain)
}

struct End {
    place: Vec<f64>,
    momentum: Vec<f64>,
    belief: Evaluation,
}

/// Half a step of the momentum, whole steps of both in turn, half a step of the momentum: the density of phase space is
/// kept, and a trajectory can be gone back. None when it leaves where the density can be computed.
fn trajectory(
    target: &Target<'_>,
    here: &[f64],
    belief: &Evaluation,
    mut momentum: Vec<f64>,
    length: f64,
    steps: usize,
) -> Result<Option<End>> {
    let mut place = here.to_vec();
    let mut belief = belief.clone();
    let push = |momentum: &mut [f64], gradient: &[f64], share: f64| {
        for (p, g) in momentum.iter_mut().zip(gradient) {
            *p += share * length * g;
        }
    };
    push(&mut momentum, &belief.gradient, 0.5);
    for step in 0..steps {
        for (x, p) in place.iter_mut().zip(&momentum) {
            *x += length * p;
        }
        belief = match target.evaluate(&place) {
            Ok(found) => found,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) if error.is_recoverable() => return Ok(None),
            Err(error) => return Err(error),
        };
        let share = if step + 1 == steps { 0.5 } else { 1.0 };
        push(&mut momentum, &belief.gradient, share);
    }
    Ok(Some(End {
        place,
        momentum,
        belief,
    }))
}

fn kinetic(momentum: &[f64]) -> f64 {
    0.5 * momentum.iter().map(|p| p * p).sum::<f64>()
}

/// Between 0 and 1, never 0.
fn uniform(random: &mut ChaCha12Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}
