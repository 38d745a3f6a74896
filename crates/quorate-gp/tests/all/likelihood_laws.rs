//! Laws that every likelihood keeps: densities sum to one, derivatives agree with differences, predictions with averages.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate_gp::likelihood::{
    Gamma, Hinge, InverseGaussian, Latent, Likelihood, Logit, NegativeBinomial, Normal,
    Observation, Poisson, Probit, StudentT, Support, Weibull,
};

fn all() -> Vec<Likelihood> {
    let weibull = |shape| Weibull {
        shape,
        fixed: false,
    };
    vec![
        Likelihood::Gaussian(Normal { variance: 0.4 }),
        Likelihood::Bernoulli(Logit {}),
        Likelihood::Probit(Probit {}),
        Likelihood::Hinge(Hinge { sharpness: 6.0 }),
        Likelihood::Poisson(Poisson {}),
        Likelihood::NegativeBinomial(NegativeBinomial { size: 0.7 }),
        Likelihood::NegativeBinomial(NegativeBinomial { size: 30.0 }),
        Likelihood::Gamma(Gamma { shape: 0.8 }),
        Likelihood::Gamma(Gamma { shape: 9.0 }),
        Likelihood::InverseGaussian(InverseGaussian { shape: 3.0 }),
        Likelihood::Weibull(weibull(0.7)),
        Likelihood::Weibull(weibull(2.5)),
        Likelihood::Weibull(Weibull::exponential()),
        Likelihood::StudentT(StudentT {
            degrees: 3.5,
            scale: 0.6,
        }),
    ]
}

/// Targets that occur, with censored ones where there are any.
fn targets(likelihood: &Likelihood) -> Vec<Observation> {
    let values: &[f64] = match likelihood.support() {
        Support::Binary => &[0.0, 1.0],
        Support::Count => &[0.0, 1.0, 4.0, 150.0],
        Support::Positive => &[0.05, 0.7, 3.0, 40.0],
        Support::Real => &[-3.0, 0.1, 1.0, 8.0],
    };
    let mut seen: Vec<Observation> = values.iter().map(|&v| Observation::of(v)).collect();
    if likelihood.takes_censoring() {
        seen.extend(values.iter().map(|&v| Observation::of(v).censored()));
    }
    seen
}

const LATENTS: [f64; 6] = [-3.0, -0.8, 0.0, 0.4, 1.3, 3.0];

/// Sums `weight(y) * function(y)` over every target the likelihood can give at latent values up to 3 or so.
fn over_targets(likelihood: &Likelihood, function: &dyn Fn(f64) -> f64) -> f64 {
    match likelihood.support() {
        Support::Binary => function(0.0) + function(1.0),
        Support::Count => (0..20_000).map(|y| function(f64::from(y))).sum(),
        // In u = log y a smooth function that vanishes at both ends: the trapezoid rule is exact to rounding.
        Support::Positive => {
            let step = 0.002;
            let term = |k: i32| {
                let y = (f64::from(k) * step).exp();
                step * y * function(y)
            };
            (-20_000..6_000).map(term).sum()
        }
        // y = sinh(u) reaches heavy tails.
        Support::Real => {
            let step = 0.0005;
            let term = |k: i32| {
                let u = f64::from(k) * step;
                step * u.cosh() * function(u.sinh())
            };
            (-50_000..=50_000).map(term).sum()
        }
    }
}

fn close(ours: f64, reference: f64, tolerance: f64, what: &str) {
    let scale = 1.0 + reference.abs();
    assert!(
        (ours - reference).abs() <= tolerance * scale,
        "{what}: {ours} against {reference}"
    );
}

#[test]
fn densities_sum_to_one() {
    for likelihood in all() {
        if likelihood.name() == "hinge" {
            // A cost, not a density: its two values are in the ratio of the probabilities it predicts.
            for f in LATENTS {
                let at = |y| likelihood.derivatives(&Observation::of(y), f).log_density;
                let latent = Latent {
                    mean: f,
                    variance: 0.0,
                };
                let odds = likelihood.mean(latent).ln() - (1.0 - likelihood.mean(latent)).ln();
                close(at(1.0) - at(0.0), odds, 1e-12, "hinge");
            }
            continue;
        }
        for f in LATENTS {
            let density = |y: f64| {
                let seen = Observation::of(y);
                likelihood.derivatives(&seen, f).log_density.exp()
            };
            let total = over_targets(&likelihood, &density);
            close(total, 1.0, 1e-9, &format!("{likelihood:?} at {f}"));
        }
    }
}

#[test]
fn derivatives_agree_with_central_differences() {
    for likelihood in all() {
        for seen in targets(&likelihood) {
            for f in LATENTS {
                let what = format!("{likelihood:?} {seen:?} at {f}");
                let h = 1e-5;
                let here = likelihood.derivatives(&seen, f);
                let (up, down) = (
                    likelihood.derivatives(&seen, f + h),
                    likelihood.derivatives(&seen, f - h),
                );
                let difference = |a: f64, b: f64| (a - b) / (2.0 * h);
                let size = 1.0 + here.log_density.abs() + here.curvature.abs();
                let bound = 3e-9 * size;
                close(
                    here.slope,
                    difference(up.log_density, down.log_density),
                    bound,
                    &what,
                );
                close(
                    here.observed_curvature,
                    -difference(up.slope, down.slope),
                    bound,
                    &what,
                );
                close(
                    here.curvature_slope,
                    difference(up.curvature, down.curvature),
                    bound,
                    &what,
                );
                assert!(here.curvature >= 0.0, "{what}");
            }
        }
    }
}

#[test]
fn derivatives_by_dispersion_agree_with_central_differences() {
    for likelihood in all() {
        let coordinates: Vec<f64> = likelihood
            .parameters()
            .iter()
            .map(|p| p.coordinate())
            .collect();
        for which in 0..coordinates.len() {
            if likelihood.parameters()[which].fixed {
                continue;
            }
            let h = 1e-5;
            let moved = |by: f64| {
                let mut there = likelihood;
                let mut point = coordinates.clone();
                point[which] += by;
                there.set_coordinates(&point).unwrap();
                there
            };
            let (up, down) = (moved(h), moved(-h));
            for seen in targets(&likelihood) {
                for f in LATENTS {
                    let what = format!("{likelihood:?} {seen:?} at {f}, parameter {which}");
                    let alone = quorate_gp::likelihood::Observations::each(vec![seen]).unwrap();
                    let ours = likelihood.dispersions_of(&alone, &[f], which)[0];
                    let (a, b) = (up.derivatives(&seen, f), down.derivatives(&seen, f));
                    let size = 1.0 + a.log_density.abs() + a.curvature.abs();
                    let bound = 3e-9 * size;
                    let difference = |a: f64, b: f64| (a - b) / (2.0 * h);
                    close(
                        ours.log_density,
                        difference(a.log_density, b.log_density),
                        bound,
                        &what,
                    );
                    close(ours.slope, difference(a.slope, b.slope), bound, &what);
                    close(
                        ours.curvature,
                        difference(a.curvature, b.curvature),
                        bound,
                        &what,
                    );
                }
            }
        }
    }
}

#[test]
fn where_the_curvature_may_be_negative_its_expectation_stands_for_it() {
    for likelihood in all() {
        if !matches!(
            likelihood,
            Likelihood::InverseGaussian(_) | Likelihood::StudentT(_)
        ) {
            continue;
        }
        for f in LATENTS {
            let weighted = |y: f64| {
                let own = likelihood.derivatives(&Observation::of(y), f);
                own.log_density.exp() * own.observed_curvature
            };
            let expected = over_targets(&likelihood, &weighted);
            let ours = likelihood.derivatives(&Observation::of(1.0), f).curvature;
            close(ours, expected, 1e-8, &format!("{likelihood:?} at {f}"));
        }
    }
}

const BELIEFS: [(f64, f64); 4] = [(0.2, 0.0), (-0.5, 0.3), (0.6, 0.5), (0.3, 0.01)];

#[test]
fn predictive_densities_sum_to_one_and_give_the_moments() {
    for likelihood in all() {
        for (mean, variance) in BELIEFS {
            let latent = Latent { mean, variance };
            let what = format!("{likelihood:?} {latent:?}");
            let density = |y: f64| likelihood.log_predictive(&Observation::of(y), latent).exp();
            // Coarser than the densities above: each value is an average itself.
            let grid: Vec<(f64, f64)> = coarse_grid(&likelihood)
                .iter()
                .map(|&(y, weight)| (y, weight * density(y)))
                .collect();
            let moment = |k: i32| -> f64 { grid.iter().map(|&(y, mass)| mass * y.powi(k)).sum() };
            let first = moment(1);
            close(moment(0), 1.0, 1e-7, &what);
            close(likelihood.mean(latent), first, 2e-6, &what);
            let heavy = matches!(likelihood, Likelihood::StudentT(_));
            if !heavy {
                let centred: f64 = grid
                    .iter()
                    .map(|&(y, mass)| mass * (y - first).powi(2))
                    .sum();
                close(likelihood.variance(latent), centred, 2e-5, &what);
            }
        }
    }
    // A tail that falls like y^-4.5 has its variance outside any grid: the closed form by hand.
    let t = Likelihood::StudentT(StudentT {
        degrees: 3.5,
        scale: 0.6,
    });
    let variance = t.variance(Latent {
        mean: 0.1,
        variance: 0.25,
    });
    close(variance, 0.25 + 0.36 * 3.5 / 1.5, 1e-14, "student-t");
}

fn coarse_grid(likelihood: &Likelihood) -> Vec<(f64, f64)> {
    match likelihood.support() {
        Support::Binary => vec![(0.0, 1.0), (1.0, 1.0)],
        Support::Count => (0..3000).map(|y| (f64::from(y), 1.0)).collect(),
        Support::Positive => (-600..260)
            .map(|k| {
                let y = (f64::from(k) * 0.05).exp();
                (y, 0.05 * y)
            })
            .collect(),
        Support::Real => (-300..=300)
            .map(|k| {
                let u = f64::from(k) * 0.03;
                (u.sinh(), 0.03 * u.cosh())
            })
            .collect(),
    }
}

#[test]
fn distributions_are_sums_of_densities_and_quantiles_invert_them() {
    for likelihood in all() {
        for (mean, variance) in BELIEFS {
            let latent = Latent { mean, variance };
            let what = format!("{likelihood:?} {latent:?}");
            let grid = coarse_grid(&likelihood);
            let density = |y: f64| likelihood.log_predictive(&Observation::of(y), latent).exp();
            match likelihood.support() {
                Support::Binary | Support::Count => {
                    let mut below = 0.0;
                    for &(y, _) in grid.iter().take(30) {
                        below += density(y);
                        close(likelihood.distribution(latent, y), below, 1e-8, &what);
                    }
                }
                _ => {
                    // Between two points of the grid, ten times finer.
                    let (a, b) = (0.4_f64, 1.7_f64);
                    let step = (b - a) / 400.0;
                    let mut sum = 0.5 * (density(a) + density(b));
                    for k in 1..400 {
                        sum += density(a + f64::from(k) * step);
                    }
                    let found =
                        likelihood.distribution(latent, b) - likelihood.distribution(latent, a);
                    close(found, sum * step, 2e-6, &what);
                }
            }
            for level in [0.001, 0.05, 0.5, 0.9, 0.999] {
                let quantile = likelihood.quantile(latent, level);
                match likelihood.support() {
                    Support::Binary | Support::Count => {
                        assert!(
                            likelihood.distribution(latent, quantile) >= level - 1e-12,
                            "{what} {level}"
                        );
                        assert!(
                            quantile == 0.0
                                || likelihood.distribution(latent, quantile - 1.0) < level,
                            "{what} {level}"
                        );
                    }
                    _ => close(
                        likelihood.distribution(latent, quantile),
                        level,
                        1e-9,
                        &what,
                    ),
                }
            }
        }
    }
}

#[test]
fn a_censored_row_tells_what_survival_tells() {
    for shape in [0.7, 1.0, 2.5] {
        let weibull = Likelihood::Weibull(Weibull {
            shape,
            fixed: false,
        });
        for (mean, variance) in BELIEFS {
            let latent = Latent { mean, variance };
            for time in [0.1, 1.0, 5.0] {
                let censored = Observation::of(time).censored();
                let log = weibull.log_predictive(&censored, latent);
                close(log.exp(), weibull.survival(latent, time), 1e-10, "censored");
            }
        }
    }
}

#[test]
fn extreme_latent_values_stay_finite_or_fall_to_nothing() {
    for likelihood in all() {
        for seen in targets(&likelihood) {
            for f in [-700.0, -60.0, 60.0, 700.0] {
                let at = likelihood.derivatives(&seen, f);
                assert!(!at.log_density.is_nan(), "{likelihood:?} {seen:?} {f}");
                assert!(
                    at.log_density < f64::INFINITY,
                    "{likelihood:?} {seen:?} {f}"
                );
            }
        }
        for level in [0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0] {
            let far = likelihood.quantile(
                Latent {
                    mean: 3.0,
                    variance: 25.0,
                },
                level,
            );
            assert!(!far.is_nan(), "{likelihood:?} {level}");
        }
    }
}

#[test]
fn targets_that_cannot_occur_are_told_in_words() {
    for (name, bad, good) in [
        ("bernoulli", 2.0, 1.0),
        ("hinge", -1.0, 0.0),
        ("poisson", 1.5, 0.0),
        ("negative-binomial", -1.0, 3.0),
        ("gamma", 0.0, 0.1),
        ("weibull", -2.0, 2.0),
        ("student-t", f64::NAN, -2.0),
    ] {
        let likelihood: Likelihood = name.parse().unwrap();
        assert!(likelihood.complaint(bad, true).is_some(), "{name}");
        assert!(likelihood.complaint(good, true).is_none(), "{name}");
        assert_eq!(
            likelihood.complaint(good, false).is_none(),
            name == "weibull"
        );
        let text = serde_json::to_string(&likelihood).unwrap();
        assert_eq!(
            serde_json::from_str::<Likelihood>(&text).unwrap(),
            likelihood
        );
        assert_eq!(likelihood.name(), name);
    }
    let error = "possion".parse::<Likelihood>().unwrap_err().to_string();
    assert!(error.contains("poisson"));
}
