//! Samplers on densities whose moments are known.
#![allow(clippy::unwrap_used)]

use quorate_gp::Result;
use quorate_gp::learn::sample::{Chain, HmcSettings, Sampler, Sampling, diagnose, sample};
use quorate_gp::learn::{Evaluation, Objective};
use quorate_gp::watch::Unwatched;

/// A correlated Gaussian with deviations 1 and 0.3 and correlation 0.8, around (1, -2).
struct Slope;

const TOP: [f64; 2] = [1.0, -2.0];
const DEVIATION: [f64; 2] = [1.0, 0.3];

impl Objective for Slope {
    fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
        let z = [0, 1].map(|i| (x[i] - TOP[i]) / DEVIATION[i]);
        let share = 1.0 / (1.0 - 0.64);
        let pull = [share * (z[0] - 0.8 * z[1]), share * (z[1] - 0.8 * z[0])];
        Ok(Evaluation {
            value: -0.5 * (z[0] * pull[0] + z[1] * pull[1]),
            // The third coordinate is fixed; nobody asks for its slope.
            gradient: vec![-pull[0] / DEVIATION[0], -pull[1] / DEVIATION[1], 5.0],
        })
    }
}

fn draw(objective: &dyn Objective, sampler: Sampler, size: usize) -> Vec<Chain> {
    let how = Sampling {
        sampler,
        draws: 500,
        warmup: 300,
        seed: 7,
        ..Sampling::default()
    };
    let mut free = vec![true; size];
    free.push(false);
    let mut start = vec![0.0; size];
    start.push(9.0);
    let bounds = vec![(-60.0, 60.0); size + 1];
    sample(objective, &start, &bounds, &free, &how, &Unwatched).unwrap()
}

fn coordinate(chains: &[Chain], i: usize) -> Vec<Vec<f64>> {
    let each = |chain: &Chain| chain.draws.iter().map(|draw| draw[i]).collect();
    chains.iter().map(each).collect()
}

#[test]
fn both_samplers_find_the_moments_of_a_correlated_gaussian() {
    for sampler in [Sampler::Nuts, Sampler::Hmc(HmcSettings::default())] {
        let chains = draw(&Slope, sampler, 2);
        assert_eq!(chains.len(), 4);
        for i in 0..2 {
            let seen = diagnose(&coordinate(&chains, i));
            let error = DEVIATION[i] / seen.effective_draws.sqrt();
            assert!(
                (seen.mean - TOP[i]).abs() < 4.0 * error,
                "{sampler:?} {seen:?}"
            );
            let ratio = seen.deviation / DEVIATION[i];
            assert!((ratio - 1.0).abs() < 0.12, "{sampler:?} {seen:?}");
            assert!(seen.r_hat < 1.02, "{sampler:?} {seen:?}");
            assert!(seen.effective_draws > 250.0, "{sampler:?} {seen:?}");
        }
        assert!(chains.iter().all(|chain| chain.divergences == 0));
        assert!(chains[0].draws.iter().all(|draw| draw[2] == 9.0));
    }
}

/// A normal density of the first coordinate that does not depend on the second.
struct Flat;

impl Objective for Flat {
    fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
        Ok(Evaluation {
            value: -0.5 * x[0] * x[0],
            gradient: vec![-x[0], 0.0, 0.0],
        })
    }
}

#[test]
fn a_coordinate_that_changes_nothing_is_drawn_from_all_its_range() {
    let chains = draw(&Flat, Sampler::Nuts, 2);
    let first = diagnose(&coordinate(&chains, 0));
    let error = 1.0 / first.effective_draws.sqrt();
    assert!(first.mean.abs() < 4.0 * error, "{first:?}");
    assert!((first.deviation - 1.0).abs() < 0.12, "{first:?}");
    // Uniform from -60 to 60 has the deviation 34.6; trajectories across the ends do not count, so that is all to ask for.
    let second = diagnose(&coordinate(&chains, 1));
    assert!(second.deviation > 20.0, "{second:?}");
}

#[test]
fn chains_do_not_depend_on_the_number_of_threads() {
    for sampler in [Sampler::Nuts, Sampler::Hmc(HmcSettings::default())] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| draw(&Slope, sampler, 2))
        };
        assert_eq!(on(1), on(3));
    }
}

/// Two narrow peaks far apart: a chain stays in the one it starts near.
struct Peaks;

impl Objective for Peaks {
    fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
        let side = x[0].signum();
        let off = x[0] - 0.6 * side;
        Ok(Evaluation {
            value: -0.5 * off * off / 0.0001,
            gradient: vec![-off / 0.0001, 0.0],
        })
    }
}

/// Neal's funnel: its neck is too narrow for any one step.
struct Funnel;

impl Objective for Funnel {
    fn evaluate(&self, x: &[f64]) -> Result<Evaluation> {
        let scale = (-x[0]).exp();
        let squares: f64 = x[1..9].iter().map(|v| v * v).sum();
        let mut gradient = vec![-x[0] / 9.0 - 4.0 + 0.5 * squares * scale];
        gradient.extend(x[1..9].iter().map(|v| -v * scale));
        gradient.push(0.0);
        Ok(Evaluation {
            value: -x[0] * x[0] / 18.0 - 4.0 * x[0] - 0.5 * squares * scale,
            gradient,
        })
    }
}

#[test]
fn chains_that_disagree_have_a_large_r_hat_and_few_effective_draws() {
    for sampler in [Sampler::Nuts, Sampler::Hmc(HmcSettings::default())] {
        let chains = draw(&Peaks, sampler, 1);
        let seen = diagnose(&coordinate(&chains, 0));
        assert!(seen.r_hat > 1.5, "{sampler:?} {seen:?}");
        assert!(seen.effective_draws < 20.0, "{sampler:?} {seen:?}");
    }
}

#[test]
fn a_funnel_is_reported_as_divergent_or_not_mixed() {
    let chains = draw(&Funnel, Sampler::Nuts, 9);
    let seen = diagnose(&coordinate(&chains, 0));
    let divergences: usize = chains.iter().map(|chain| chain.divergences).sum();
    assert!(divergences > 0 || seen.r_hat > 1.05, "{seen:?}");
}

/// Chains that tell the same, chains that do not, and chains that never move.
#[test]
fn the_scale_reduction_of_small_chains_is_what_the_formula_says() {
    let one: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 40)).collect();
    let other: Vec<f64> = (0..40).map(|i| 0.5 + f64::from(i * 23 % 40)).collect();
    let seen = diagnose(&[one.clone(), other]);
    assert!((seen.mean - 19.75).abs() < 1e-12);
    assert!(seen.r_hat < 1.03, "{seen:?}");
    let apart: Vec<f64> = one.iter().map(|x| x + 100.0).collect();
    let far = diagnose(&[one, apart]);
    assert!(far.r_hat > 1.5 && far.effective_draws < 10.0, "{far:?}");
    let still = diagnose(&[vec![1.0; 20], vec![1.0; 20]]);
    assert!(still.r_hat.is_infinite() && still.effective_draws == 0.0);
}
