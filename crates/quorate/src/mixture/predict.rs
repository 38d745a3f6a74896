//! What a mixture of Gaussian processes says of new rows: shares, densities, draws.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::Marginals;
use quorate_gp::linalg::Matrix;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::gate::softmax;
use super::processes::MixtureOfProcesses;
use super::speakers::{AtRows, Speakers};
use crate::error::Result;
use crate::hyper::{Mixture, MixturePart};

/// Three points of a standard normal with their shares (Gauss and Hermite): exact to the fifth power, so that what is not
/// known of the noise widens the density as it should.
const NODES: [(f64, f64); 3] = [
    (1.0 / 6.0, -1.732_050_807_568_877_2),
    (2.0 / 3.0, 0.0),
    (1.0 / 6.0, 1.732_050_807_568_877_2),
];

/// What one expert says of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    /// Probability that it speaks, in each row.
    pub share: Vec<f64>,
    /// Mean and variance of its function.
    pub mean: Vec<f64>,
    /// Variance of its function.
    pub variance: Vec<f64>,
    /// Mean of the logarithm of its noise's deviation.
    pub spread: Vec<f64>,
    /// Variance of that.
    pub spread_variance: Vec<f64>,
}

impl MixtureOfProcesses {
    /// Its processes, ready to be asked.
    fn speakers(&self) -> Result<Speakers<AtRows<'_>>> {
        let rows = self.rows.inputs()?;
        let shared = |own| std::iter::repeat_n(own, self.prior.count());
        let at = |(own, kernel)| AtRows { own, kernel, rows };
        let experts = self.experts.iter().zip(&self.prior.experts);
        Ok(Speakers {
            experts: experts.map(at).collect(),
            gates: (self.gates.iter().zip(shared(&self.prior.gate)))
                .map(at)
                .collect(),
            noises: (self.noises.iter().zip(shared(&self.prior.noise)))
                .map(at)
                .collect(),
            level: self.prior.level,
        })
    }

    /// What each expert says at query points.
    pub fn voices(&self, query: Inputs<'_>) -> Result<Vec<Voice>> {
        self.speakers()?.voices(query)
    }

    /// What each expert says of the rows themselves, each without its own.
    pub fn left_out(&self) -> Vec<Voice> {
        let rows = self.rows.count();
        let gates: Vec<Vec<f64>> = self
            .gates
            .iter()
            .map(|gate| (0..rows).map(|row| gate.left_out(row).0).collect())
            .collect();
        let shares = shares(&gates, rows);
        let each = self.experts.iter().zip(&self.noises).zip(shares);
        each.map(|((expert, noise), share)| {
            let (mean, variance) = (0..rows).map(|row| expert.left_out(row)).unzip();
            let (spread, spread_variance): (Vec<f64>, Vec<f64>) =
                (0..rows).map(|row| noise.left_out(row)).unzip();
            Voice {
                share,
                mean,
                variance,
                spread: spread.iter().map(|own| own + self.prior.level).collect(),
                spread_variance,
            }
        })
        .collect()
    }

    /// Mean and variance of the function that the experts make together at query points.
    pub fn marginals(&self, query: Inputs<'_>) -> Result<Marginals> {
        moments(&self.voices(query)?, query.rows())
    }

    /// Draws functions (or, with `noisy`, observations) at query points: those of the experts, the gates and the noises are
    /// drawn jointly, then an expert for each row. One inner vector for each draw.
    pub fn sample(
        &self,
        query: Inputs<'_>,
        count: usize,
        seed: u64,
        noisy: bool,
    ) -> Result<Vec<Vec<f64>>> {
        self.speakers()?.sample(query, count, seed, noisy)
    }
}

/// Mean and variance of the function that voices make together.
pub(super) fn moments(voices: &[Voice], rows: usize) -> Result<Marginals> {
    let told = density(voices, 0.0, 1.0).prediction(rows);
    let column = |values: &[f64]| Matrix::from_fn(values.len(), 1, |row, _| values[row]);
    Ok(Marginals {
        mean: column(&told.mean),
        variance: column(&told.latent_variance),
    })
}

/// Draws of experts that are sure of their functions: an expert for each row, and its noise.
pub(super) fn sample_voices(
    voices: &[Voice],
    rows: usize,
    count: usize,
    seed: u64,
    noisy: bool,
) -> Vec<Vec<f64>> {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut one = || {
        let cells = (0..rows).map(|row| {
            let shares: Vec<f64> = voices.iter().map(|voice| voice.share[row]).collect();
            let voice = &voices[pick(&shares, &mut random)];
            let noise = if noisy {
                voice.spread[row].exp() * normal(&mut random)
            } else {
                0.0
            };
            voice.mean[row] + noise
        });
        cells.collect()
    };
    (0..count).map(|_| one()).collect()
}

/// The density that voices make together, in units in which a standardised target has this mean and deviation.
pub fn density(voices: &[Voice], mean: f64, deviation: f64) -> Mixture {
    let unit = deviation * deviation;
    let mut components = Vec::with_capacity(voices.len() * NODES.len());
    for voice in voices {
        for (weight, node) in NODES {
            let spread = voice.spread.iter().zip(&voice.spread_variance);
            components.push(MixturePart {
                share: voice.share.iter().map(|share| weight * share).collect(),
                mean: voice
                    .mean
                    .iter()
                    .map(|own| mean + deviation * own)
                    .collect(),
                variance: voice.variance.iter().map(|own| unit * own).collect(),
                noise: spread
                    .map(|(log, variance)| unit * (2.0 * (log + node * variance.sqrt())).exp())
                    .collect(),
            });
        }
    }
    Mixture { components }
}

/// The share of each expert in each row, one list for each expert; one expert has no gate.
pub(super) fn shares(gates: &[Vec<f64>], rows: usize) -> Vec<Vec<f64>> {
    if gates.is_empty() {
        return vec![vec![1.0; rows]];
    }
    let mut shares = vec![Vec::with_capacity(rows); gates.len()];
    for row in 0..rows {
        let heights: Vec<f64> = gates.iter().map(|gate| gate[row]).collect();
        for (own, share) in shares.iter_mut().zip(softmax(&heights)) {
            own.push(share);
        }
    }
    shares
}

/// One of several by their shares; the last where rounding leaves nobody.
pub(super) fn pick(shares: &[f64], random: &mut impl Rng) -> usize {
    let mut rest = uniform(random);
    for (place, share) in shares.iter().enumerate() {
        if rest < *share {
            return place;
        }
        rest -= share;
    }
    shares.len().saturating_sub(1)
}

/// A number in (0, 1) with 53 random bits.
fn uniform(random: &mut impl Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

pub(super) fn normal(random: &mut impl Rng) -> f64 {
    crate::prediction::standard_quantile(uniform(random))
}
