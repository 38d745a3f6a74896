//! Every rule against its formula as printed, and what the rules say in the limits.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use quorate::fusion::{
    Between, Cell, Fusion, Learned, Moments, Needs, Opinions, RULES, Record, rule,
};
use quorate::gp::gaussian::Marginals;
use quorate::gp::linalg::Matrix;

const PRIOR: Moments = Moments {
    mean: 0.0,
    variance: 1.5,
};

fn opinions() -> Vec<Moments> {
    [(0.3, 0.4), (-0.7, 0.9), (1.1, 0.05)]
        .map(|(mean, variance)| Moments { mean, variance })
        .to_vec()
}

/// Errors of three members on rows they have not seen.
fn record(rows: usize) -> Record {
    let noise = |row: usize, member: usize| ((row * 7 + member * 13) as f64 * 1.7).sin();
    let target = |row: usize| (row as f64 * 0.37).sin() * 2.0;
    Record {
        targets: (0..rows).map(target).collect(),
        weights: vec![1.0; rows],
        means: Matrix::from_fn(rows, 3, |row, member| {
            target(row) + (0.2 + 0.2 * member as f64) * noise(row, member)
        }),
        variances: Matrix::from_fn(rows, 3, |_, member| 0.1 + 0.1 * member as f64),
        log_evidence: vec![Some(-10.0), Some(-11.0), Some(-13.5)],
    }
}

/// Numbers between -1 and 1 without a pattern.
fn draw(row: usize, member: usize) -> f64 {
    let mut bits = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (member as u64 + 7).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for _ in 0..3 {
        bits ^= bits >> 31;
        bits = bits.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn close(found: Moments, mean: f64, variance: f64) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(near(found.mean, mean), "{} {mean}", found.mean);
    assert!(
        near(found.variance, variance),
        "{} {variance}",
        found.variance
    );
}

fn fuse(fusion: Fusion) -> Moments {
    fusion.combine_one(&opinions(), PRIOR).unwrap()
}

fn cell<'a>(said: &'a [Moments], priors: &'a [Moments], learned: Option<&'a Learned>) -> Cell<'a> {
    Cell {
        opinions: said,
        priors,
        base: None,
        noise: 0.2,
        learned,
        between: None,
    }
}

#[test]
fn products_and_committee_machines_equal_their_formulas() {
    let said = opinions();
    let (m, v): (Vec<f64>, Vec<f64>) = said.iter().map(|o| (o.mean, o.variance)).unzip();
    // Latouche 2007, 3.2.4
    let b = 1.0 / (1.0 / v[0] + 1.0 / v[1] + 1.0 / v[2]);
    close(
        fuse(Fusion::product()),
        b * (m[0] / v[0] + m[1] / v[1] + m[2] / v[2]),
        b,
    );
    // Tresp 2000, eq. 4-5: -(M - 1) prior
    let b = 1.0 / (1.0 / v[0] + 1.0 / v[1] + 1.0 / v[2] - 2.0 / 1.5);
    close(
        fuse(Fusion::bayesian_committee_machine()),
        b * (m[0] / v[0] + m[1] / v[1] + m[2] / v[2]),
        b,
    );
    // Deisenroth and Ng 2015: beta_k = (log prior - log variance) / 2
    let beta: Vec<f64> = v.iter().map(|v| 0.5 * (1.5_f64.ln() - v.ln())).collect();
    let sum: f64 = beta.iter().sum();
    let b = 1.0 / (beta[0] / v[0] + beta[1] / v[1] + beta[2] / v[2] + (1.0 - sum) / 1.5);
    let vector = beta[0] * m[0] / v[0] + beta[1] * m[1] / v[1] + beta[2] * m[2] / v[2];
    close(fuse(Fusion::robust_committee_machine()), b * vector, b);
    // Cao and Fleet 2014, weights that sum to one
    let b = sum / (beta[0] / v[0] + beta[1] / v[1] + beta[2] / v[2]);
    close(fuse(Fusion::generalised_product()), b * vector / sum, b);
    // Cohen et al. 2020, eq. 9
    let raw: Vec<f64> = v.iter().map(|v| (-2.0 * v / 1.5).exp()).collect();
    let w: Vec<f64> = raw.iter().map(|r| r / raw.iter().sum::<f64>()).collect();
    let b = 1.0 / (w[0] / v[0] + w[1] / v[1] + w[2] / v[2]);
    let vector = w[0] * m[0] / v[0] + w[1] * m[1] / v[1] + w[2] * m[2] / v[2];
    close(fuse(Fusion::tempered_product(2.0)), b * vector, b);
    // Liu et al. 2018, eq. 14-15, opinions two and three behind the first augmented expert
    let base = Moments {
        mean: 0.2,
        variance: 0.95,
    };
    let priors = vec![PRIOR; 3];
    let given = Cell {
        base: Some(base),
        ..cell(&said, &priors, None)
    };
    let fused = Fusion::generalised_robust_committee_machine()
        .combine_cell(&given)
        .unwrap();
    let beta = [
        1.0,
        0.5 * (0.95_f64.ln() - v[1].ln()),
        0.5 * (0.95_f64.ln() - v[2].ln()),
    ];
    let sum: f64 = beta.iter().sum();
    let b = 1.0 / (beta[0] / v[0] + beta[1] / v[1] + beta[2] / v[2] - (sum - 1.0) / 0.95);
    let vector = beta[0] * m[0] / v[0] + beta[1] * m[1] / v[1] + beta[2] * m[2] / v[2]
        - (sum - 1.0) * 0.2 / 0.95;
    close(fused, b * vector, b);
}

#[test]
fn linear_pools_equal_their_formulas() {
    let said = opinions();
    let mean = (0.3 - 0.7 + 1.1) / 3.0;
    let second = (0.4 + 0.3 * 0.3 + 0.9 + 0.7 * 0.7 + 0.05 + 1.1 * 1.1) / 3.0;
    close(fuse(Fusion::mixture()), mean, second - mean * mean);
    let deviation = (0.4_f64.sqrt() + 0.9_f64.sqrt() + 0.05_f64.sqrt()) / 3.0;
    close(fuse(Fusion::barycentre()), mean, deviation * deviation);
    close(
        fuse(Fusion::barycentre_of_variances()),
        mean,
        (0.4 + 0.9 + 0.05) / 3.0,
    );
    // Latouche 2007, 3.2.1: (sum of variances + 2 sum of covariances) / m^2, noise 0.2 inside and taken off again
    let r = [[1.0, 0.3, -0.1], [0.3, 1.0, 0.5], [-0.1, 0.5, 1.0]];
    let learned = Learned {
        weights: vec![0.5, 0.2, 0.3],
        correlation: Matrix::from_fn(3, 3, |i, j| r[i][j]),
    };
    let s: Vec<f64> = said.iter().map(|o| (o.variance + 0.2).sqrt()).collect();
    let covariances = r[0][1] * s[0] * s[1] + r[0][2] * s[0] * s[2] + r[1][2] * s[1] * s[2];
    let variances: f64 = s.iter().map(|s| s * s).sum();
    let priors = vec![PRIOR; 3];
    let fused = Fusion::error_averaging()
        .combine_cell(&cell(&said, &priors, Some(&learned)))
        .unwrap();
    close(fused, mean, (variances + 2.0 * covariances) / 9.0 - 0.2);
}

#[test]
fn weights_found_from_errors_equal_their_formulas() {
    let record = record(400);
    let rows = 400;
    let e = |row: usize, member: usize| record.targets[row] - record.means[(row, member)];
    let c = |i: usize, j: usize| (0..rows).map(|row| e(row, i) * e(row, j)).sum::<f64>() / 400.0;
    // Perrone and Cooper 1993, eq. 16, by Cramer's rule: row sums of the adjugate
    let minor = |i: usize, j: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let (p, q) = ((j + 1) % 3, (j + 2) % 3);
        c(a, p) * c(b, q) - c(a, q) * c(b, p)
    };
    let sums: Vec<f64> = (0..3).map(|i| (0..3).map(|j| minor(i, j)).sum()).collect();
    let total: f64 = sums.iter().sum();
    let found = Fusion::covariance_weighted(false).learn(&record).unwrap();
    for (weight, sum) in found.weights.iter().zip(&sums) {
        assert!((weight - sum / total).abs() < 1e-12);
    }
    // The optimality conditions of non-negative least squares
    let found = Fusion::stacking().learn(&record).unwrap().weights;
    for (member, &weight) in found.iter().enumerate() {
        let slope: f64 = (0..rows)
            .map(|row| {
                let sum: f64 = (0..3).map(|j| found[j] * record.means[(row, j)]).sum();
                record.means[(row, member)] * (sum - record.targets[row])
            })
            .sum();
        assert!(
            weight >= 0.0 && slope > -1e-5 && (weight == 0.0 || slope < 1e-5),
            "{slope}"
        );
    }
    // Weights in proportion to the evidence
    let found = Fusion::bayesian_model_averaging()
        .learn(&record)
        .unwrap()
        .weights;
    let total = 1.0 + (-1.0_f64).exp() + (-3.5_f64).exp();
    for (weight, raw) in found.iter().zip([1.0, (-1.0_f64).exp(), (-3.5_f64).exp()]) {
        assert!((weight - raw / total).abs() < 1e-12);
    }
    // Stationary: every member in use has a mean responsibility equal to its weight
    let found = Fusion::density_stacking().learn(&record).unwrap().weights;
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let density = |weights: &[f64]| -> f64 {
        let one = |row: usize| -> f64 {
            let terms = (0..3).map(|j| weights[j] * record.log_density(row, j).exp());
            terms.sum::<f64>().ln()
        };
        (0..rows).map(one).sum()
    };
    let best = density(&found);
    for other in [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0 / 3.0; 3],
        [0.6, 0.3, 0.1],
    ] {
        assert!(best >= density(&other) - 1e-6);
    }
}

#[test]
fn plain_covariance_weights_break_with_few_rows_and_shrunk_ones_do_not() {
    // Twelve members that are wrong together, and hardly more rows than members.
    let (rows, members) = (14, 12);
    let few = Record {
        targets: vec![0.0; rows],
        weights: vec![1.0; rows],
        means: Matrix::from_fn(rows, members, |row, member| {
            draw(row, 99) + 0.3 * draw(row, member)
        }),
        variances: Matrix::from_fn(rows, members, |_, _| 1.0),
        log_evidence: vec![None; members],
    };
    let plain = Fusion::covariance_weighted(false)
        .learn(&few)
        .unwrap()
        .weights;
    let shrunk = Fusion::covariance_weighted(true)
        .learn(&few)
        .unwrap()
        .weights;
    let size = |weights: &[f64]| weights.iter().map(|w| w.abs()).sum::<f64>();
    // Weights that sum to one with large ones of both signs multiply every error.
    assert!(size(&plain) > 3.0, "{plain:?}");
    assert!(size(&shrunk) < 0.5 * size(&plain), "{shrunk:?}");
    assert!((shrunk.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn nested_aggregation_equals_conditioning_on_the_means() {
    let said = opinions();
    let priors = vec![
        Moments {
            mean: 0.0,
            variance: 3.0,
        };
        3
    ];
    let k = [0.8, 0.4, 1.2];
    let big = [[0.8, 0.1, 0.3], [0.1, 0.4, 0.2], [0.3, 0.2, 1.2]];
    let between = Between {
        with_function: k.to_vec(),
        covariance: Matrix::from_fn(3, 3, |i, j| big[i][j]),
    };
    let given = Cell {
        between: Some(&between),
        ..cell(&said, &priors, None)
    };
    let fused = Fusion::nested().combine_cell(&given).unwrap();
    // Conditioning on one mean after the other, each step a scalar one.
    let means: Vec<f64> = said.iter().map(|own| own.mean).collect();
    let mut covariance = [[0.0; 4]; 4];
    for i in 0..3 {
        for j in 0..3 {
            covariance[i][j] = big[i][j];
        }
        covariance[i][3] = k[i];
        covariance[3][i] = k[i];
    }
    covariance[3][3] = 3.0;
    let mut mean = [0.0; 4];
    for seen in 0..3 {
        let gain: Vec<f64> = (0..4)
            .map(|i| covariance[i][seen] / covariance[seen][seen])
            .collect();
        let surprise = means[seen] - mean[seen];
        let row = covariance[seen];
        for i in 0..4 {
            mean[i] += gain[i] * surprise;
            for j in 0..4 {
                covariance[i][j] -= gain[i] * row[j];
            }
        }
    }
    close(fused, mean[3], covariance[3][3]);
}

#[test]
fn one_member_is_that_member_except_where_the_rule_says_otherwise() {
    let own = Moments {
        mean: 0.4,
        variance: 0.3,
    };
    let (said, priors) = (vec![own], vec![PRIOR]);
    let learned = Learned {
        weights: vec![1.0],
        correlation: Matrix::identity(1, 1),
    };
    let between = Between {
        with_function: vec![1.2],
        covariance: Matrix::from_fn(1, 1, |_, _| 1.2),
    };
    for rule in RULES {
        let given = Cell {
            base: Some(PRIOR),
            between: Some(&between),
            ..cell(&said, &priors, Some(&learned))
        };
        let fused = rule.fusion.combine_cell(&given).unwrap();
        if rule.name == "robust-bcm" {
            let beta = 0.5 * (1.5_f64 / 0.3).ln();
            close(
                fused,
                0.4 * beta / 0.3 / (beta / 0.3 + (1.0 - beta) / 1.5),
                1.0 / (beta / 0.3 + (1.0 - beta) / 1.5),
            );
        } else {
            close(fused, 0.4, 0.3);
        }
    }
}

#[test]
fn members_with_priors_of_their_own_are_each_divided_by_theirs() {
    let said = opinions();
    let priors = [1.5, 3.0, 0.8].map(|variance| Moments {
        mean: 0.0,
        variance,
    });
    let fused = Fusion::bayesian_committee_machine()
        .combine_cell(&cell(&said, &priors, None))
        .unwrap();
    let shared = (1.0 / 1.5 + 1.0 / 3.0 + 1.0 / 0.8) / 3.0;
    let precision =
        (1.0 / 0.4 - 1.0 / 1.5) + (1.0 / 0.9 - 1.0 / 3.0) + (1.0 / 0.05 - 1.0 / 0.8) + shared;
    close(
        fused,
        (0.3 / 0.4 - 0.7 / 0.9 + 1.1 / 0.05) / precision,
        1.0 / precision,
    );
}

#[test]
fn beliefs_of_many_queries_are_fused_one_by_one_and_what_is_missing_is_an_error() {
    let belief = |shift: f64| Marginals {
        mean: Matrix::from_fn(2, 1, |row, _| shift + row as f64),
        variance: Matrix::from_fn(2, 1, |row, _| 0.2 + 0.1 * row as f64),
    };
    let (said, priors) = ([belief(0.0), belief(1.0)], [belief(5.0), belief(5.0)]);
    let fused = Fusion::product()
        .combine(&Opinions::new(&said, &priors))
        .unwrap();
    assert!(
        (fused.mean[(1, 0)] - 1.5).abs() < 1e-14 && (fused.variance[(1, 0)] - 0.15).abs() < 1e-14
    );
    for rule in RULES
        .iter()
        .filter(|rule| rule.needs != Needs::Opinions && rule.name != "average")
    {
        let error = rule
            .fusion
            .combine(&Opinions::new(&said, &priors))
            .unwrap_err();
        assert!(
            error.to_string().contains("query 1"),
            "{}: {error}",
            rule.name
        );
    }
    assert!(Fusion::product().combine(&Opinions::new(&[], &[])).is_err());
    assert!(rule("nested").is_some() && rule("nothing").is_none());
}

#[test]
fn the_median_is_the_member_in_the_middle_of_the_weight() {
    let moments = |(mean, variance): (f64, f64)| Moments { mean, variance };
    let said = [(3.0, 0.1), (-1.0, 0.2), (0.5, 0.3)].map(moments);
    let priors = [PRIOR; 3];
    let fuse = |learned: Option<&Learned>| {
        Fusion::median()
            .combine_cell(&cell(&said, &priors, learned))
            .unwrap()
    };
    let spread = 0.2 + (2.5_f64.powi(2) + 1.5_f64.powi(2)) / 3.0;
    close(fuse(None), 0.5, spread);
    let learned = Learned {
        weights: vec![5.0, 1.0, 2.0],
        correlation: Matrix::identity(3, 3),
    };
    let spread = (5.0 * 0.1 + 0.2 + 2.0 * 0.3 + 4.0_f64.powi(2) + 2.0 * 2.5_f64.powi(2)) / 8.0;
    close(fuse(Some(&learned)), 3.0, spread);
}

proptest! {
    #[test]
    fn fused_variances_are_positive_and_log_linear_ones_below_the_prior(
        said in prop::collection::vec((-2.0..2.0f64, 0.001..1.0f64), 1..8),
    ) {
        let said: Vec<Moments> = said.into_iter().map(|(mean, variance)| Moments { mean, variance }).collect();
        let prior = Moments { mean: 0.0, variance: 1.0 };
        for rule in RULES.iter().filter(|rule| rule.needs == Needs::Opinions) {
            let fused = rule.fusion.combine_one(&said, prior).unwrap();
            prop_assert!(fused.variance > 0.0 && fused.mean.is_finite(), "{}", rule.name);
            if rule.fusion.pool == quorate::fusion::Pool::LogLinear {
                prop_assert!(fused.variance <= 1.0 + 1e-12, "{} {}", rule.name, fused.variance);
            }
        }
    }

    #[test]
    fn identical_members_do_not_change_the_mean_of_any_pool_that_averages(mean in -2.0..2.0f64, variance in 0.01..1.0f64, count in 1usize..9) {
        let said = vec![Moments { mean, variance }; count];
        for name in ["generalised-product", "average", "mixture", "barycentre", "barycentre-variances", "tempered-product"] {
            let fused = rule(name).unwrap().fusion.combine_one(&said, Moments { mean: 0.0, variance: 1.0 }).unwrap();
            prop_assert!((fused.mean - mean).abs() < 1e-12 && (fused.variance - variance).abs() < 1e-12, "{name}");
        }
    }
}
