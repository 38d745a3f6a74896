//! Whether chains can be trusted: rank-normalised split R-hat and effective draws (Vehtari and others 2021).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// What the draws of one coordinate say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Mean of all draws.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// Potential scale reduction: near 1 when chains, and halves of chains, tell the same.
    pub r_hat: f64,
    /// Independent draws that would tell as much about the mean.
    pub effective_draws: f64,
}

/// Judges the draws of one coordinate, one vector for each chain, all of one length.
pub fn diagnose(chains: &[Vec<f64>]) -> Diagnosis {
    let all: Vec<f64> = chains.concat();
    let count = all.len().max(1) as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    if deviation == 0.0 {
        // Draws that never move tell nothing, however many there are.
        return Diagnosis {
            mean,
            deviation,
            r_hat: f64::INFINITY,
            effective_draws: 0.0,
        };
    }
    // Folded draws show chains that differ in spread and agree in place.
    let folded: Vec<Vec<f64>> = {
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let fold = |chain: &Vec<f64>| chain.iter().map(|x| (x - median).abs()).collect();
        chains.iter().map(fold).collect()
    };
    let ranked = normal_scores(&halves(chains));
    let spread = normal_scores(&halves(&folded));
    Diagnosis {
        mean,
        deviation,
        r_hat: split_r_hat(&ranked).max(split_r_hat(&spread)),
        effective_draws: effective(&ranked),
    }
}

/// Each chain as two: a chain that drifts disagrees with itself.
fn halves(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    chains
        .iter()
        .flat_map(|chain| {
            let half = chain.len() / 2;
            [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()]
        })
        .collect()
}

/// Every draw replaced by the normal quantile of its rank among all: what follows then holds for any distribution.
fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut places: Vec<(f64, usize, usize)> = Vec::new();
    for (c, chain) in chains.iter().enumerate() {
        places.extend(chain.iter().enumerate().map(|(i, x)| (*x, c, i)));
    }
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = places.len() as f64;
    let normal = Normal::standard();
    let mut scores: Vec<Vec<f64>> = chains.iter().map(|chain| vec![0.0; chain.len()]).collect();
    let mut first = 0;
    while first < places.len() {
        // Equal draws (of rejected proposals) share the mean of their ranks.
        let mut last = first;
        while last + 1 < places.len() && places[last + 1].0 == places[first].0 {
            last += 1;
        }
        let rank = 0.5 * (first + last) as f64 + 1.0;
        let score = normal.inverse_cdf((rank - 0.375) / (count + 0.25));
        for &(_, c, i) in &places[first..=last] {
            scores[c][i] = score;
        }
        first = last + 1;
    }
    scores
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance_of(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// Within-chain variance, and the pooled estimate of the variance.
fn variances(chains: &[Vec<f64>]) -> (f64, f64) {
    let n = chains.first().map_or(0, Vec::len) as f64;
    let within = mean_of(&chains.iter().map(|c| variance_of(c)).collect::<Vec<_>>());
    let means: Vec<f64> = chains.iter().map(|chain| mean_of(chain)).collect();
    let between = if chains.len() > 1 {
        variance_of(&means)
    } else {
        0.0
    };
    (within, (n - 1.0) / n * within + between)
}

fn split_r_hat(chains: &[Vec<f64>]) -> f64 {
    let (within, pooled) = variances(chains);
    (pooled / within).sqrt()
}

/// Geyer's initial monotone sequence over the chains together.
fn effective(chains: &[Vec<f64>]) -> f64 {
    let n = chains.first().map_or(0, Vec::len);
    let total = (n * chains.len()) as f64;
    if n < 4 {
        return total;
    }
    let (within, pooled) = variances(chains);
    let centred: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| {
            let mean = mean_of(chain);
            chain.iter().map(|x| x - mean).collect()
        })
        .collect();
    let correlation = |lag: usize| {
        let each = centred.iter().map(|chain| {
            let products = chain[lag..].iter().zip(&chain[..n - lag]);
            products.map(|(a, b)| a * b).sum::<f64>() / n as f64
        });
        let covariance = each.sum::<f64>() / chains.len() as f64 * n as f64 / (n as f64 - 1.0);
        1.0 - (within - covariance) / pooled
    };
    // Sums of neighbouring pairs are positive and fall in a reversible chain; what does not is noise.
    let mut sum = 0.0;
    let mut last = f64::INFINITY;
    let mut lag = 0;
    while lag + 1 < n {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        last = pair.min(last);
        sum += last;
        lag += 2;
    }
    let time = (2.0 * sum - 1.0).max(1.0 / total.log10().max(1.0));
    total / time
}
