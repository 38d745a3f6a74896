//! Functions that the likelihoods need, computed so that tails keep their digits.

use std::f64::consts::{PI, SQRT_2};

pub(super) use statrs::function::beta::beta_reg;
pub(super) use statrs::function::gamma::{digamma, ln_gamma};

/// `log(1 + e^x)`.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `1 / (1 + e^-x)`.
pub(super) fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// `logistic(x) * logistic(-x)`, exact in both tails.
pub(super) fn logistic_slope(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    e / ((1.0 + e) * (1.0 + e))
}

/// Log density of the standard normal.
pub(super) fn log_normal_density(x: f64) -> f64 {
    -0.5 * x * x - 0.5 * (2.0 * PI).ln()
}

/// Distribution function of the standard normal.
pub fn normal_distribution(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// Quantile of the standard normal, to about ten digits.
pub fn normal_quantile(level: f64) -> f64 {
    -SQRT_2 * statrs::function::erf::erfc_inv(2.0 * level)
}

/// Below this the ratio of density and distribution function is taken from its continued fraction.
const TAIL: f64 = -5.0;

/// `log Phi(x)`, `q = phi(x) / Phi(x)` and `q + x`, each without cancellation.
///
/// In the tail `q = z + 1/(z + 2/(z + 3/(z + ...)))` with `z = -x` (Abramowitz and Stegun 26.2.14), so `q + x` is the
/// fraction behind the first term and keeps all its digits although q and x nearly cancel.
pub(super) fn normal_tail(x: f64) -> (f64, f64, f64) {
    if x > TAIL {
        let phi = normal_distribution(x);
        let q = (log_normal_density(x) - phi.ln()).exp();
        (phi.ln(), q, q + x)
    } else {
        let z = -x;
        let mut rest = 0.0;
        for k in (2..=90).rev() {
            rest = f64::from(k) / (z + rest);
        }
        let excess = 1.0 / (z + rest);
        let q = z + excess;
        (log_normal_density(x) - q.ln(), q, excess)
    }
}

/// `log y! - y log y + y`, without cancellation for large y.
pub(super) fn stirling_rest(y: f64) -> f64 {
    if y < 15.0 {
        ln_gamma(y + 1.0) - y * y.ln() + y
    } else {
        let inverse = 1.0 / (y * y);
        let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0))) / y;
        0.5 * (2.0 * PI * y).ln() + series
    }
}

/// `log Gamma(r + y) - log Gamma(r)` and its derivative with respect to r, for a whole number y.
///
/// For small y a sum of logarithms, which stays exact when r is so large that the two logarithms agree in every digit.
pub(super) fn log_rising(r: f64, y: f64) -> (f64, f64) {
    if y <= 100.0 {
        let mut sum = (0.0, 0.0);
        let mut k = 0.0;
        while k < y {
            sum.0 += (r + k).ln();
            sum.1 += 1.0 / (r + k);
            k += 1.0;
        }
        sum
    } else {
        (ln_gamma(r + y) - ln_gamma(r), digamma(r + y) - digamma(r))
    }
}

/// Shapes beyond this are left to the asymptotic form: series would need about as many terms as its root.
const LARGE_SHAPE: f64 = 1e4;

/// Regularised lower incomplete gamma function, with its limits.
pub(super) fn gamma_lower(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if !x.is_finite() {
        1.0
    } else if a > LARGE_SHAPE {
        gamma_lower_uniform(a, x)
    } else {
        statrs::function::gamma::checked_gamma_lr(a, x).unwrap_or(f64::NAN)
    }
}

/// The uniform expansion of Temme (1979) with its first term: an error below 1e-9 for a > 1e4.
fn gamma_lower_uniform(a: f64, x: f64) -> f64 {
    let excess = (x - a) / a;
    // eta^2 / 2 = excess - log(1 + excess), with a series where the two cancel.
    let half_square = if excess.abs() < 1e-3 {
        excess * excess * (0.5 - excess * (1.0 / 3.0 - excess * (0.25 - excess * 0.2)))
    } else {
        excess - excess.ln_1p()
    };
    let eta = (2.0 * half_square).sqrt().copysign(excess);
    let first = if eta.abs() < 1e-3 {
        -1.0 / 3.0 + eta * (1.0 / 12.0 - eta * (2.0 / 135.0))
    } else {
        1.0 / excess - 1.0 / eta
    };
    let rest = (-a * half_square).exp() * first / (2.0 * PI * a).sqrt();
    (normal_distribution(eta * a.sqrt()) - rest).clamp(0.0, 1.0)
}

/// `P(y <= count)` of a negative binomial with the given size and `share = size / (size + mean)`.
pub(super) fn negative_binomial_distribution(size: f64, count: f64, share: f64) -> f64 {
    if count > LARGE_SHAPE || size > LARGE_SHAPE {
        // Both continuous limits: a Gamma mean's Poisson count is nearly its mean, and a very large size nearly Poisson.
        let mean = size * (1.0 - share) / share;
        return if size > count {
            1.0 - gamma_lower(count + 1.0, mean * (1.0 - 0.5 * (mean - count) / size))
        } else {
            gamma_lower(size, size * (count + 0.5) / mean)
        };
    }
    statrs::function::beta::beta_reg(size, count + 1.0, share)
}

/// `log(e^a + e^b)`.
pub(super) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_branches_of_the_normal_tail_meet() {
        let (above, below) = (normal_tail(TAIL + 1e-9), normal_tail(TAIL - 1e-9));
        assert!((above.0 - below.0).abs() < 2e-8);
        assert!((above.1 - below.1).abs() < 3e-9);
        assert!((above.2 - below.2).abs() < 1e-9);
    }

    #[test]
    fn far_tails_keep_their_digits() {
        // log Phi(-40) from the asymptotic series: log phi - log 40 + log(1 - 1/z^2 + 3/z^4 - 15/z^6).
        let z: f64 = 40.0;
        let series = 1.0 - z.powi(-2) + 3.0 * z.powi(-4) - 15.0 * z.powi(-6) + 105.0 * z.powi(-8);
        let (log, q, excess) = normal_tail(-z);
        assert!((log - (log_normal_density(z) - z.ln() + series.ln())).abs() < 1e-12);
        assert!((q - z / series).abs() < 1e-11);
        assert!((excess / (z / series - z) - 1.0).abs() < 1e-9);
        assert!((logistic(-40.0) / (-40.0_f64).exp() - 1.0).abs() < 1e-15);
        assert!((softplus(-40.0) / (-40.0_f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!(softplus(800.0), 800.0);
        assert!((logistic_slope(-40.0) / (-40.0_f64).exp() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn rising_factorials_agree_on_both_sides_of_the_change_of_method() {
        for r in [0.3, 5.0, 80.0] {
            let direct: f64 = (0..150).map(|k| (r + f64::from(k)).ln()).sum();
            let slope: f64 = (0..150).map(|k| 1.0 / (r + f64::from(k))).sum();
            let (value, derivative) = log_rising(r, 150.0);
            assert!((value - direct).abs() < 1e-11 * direct);
            assert!((derivative - slope).abs() < 1e-11 * slope);
        }
    }

    #[test]
    fn the_rest_of_stirlings_formula_agrees_with_the_gamma_function() {
        for y in [0.5, 3.0, 14.999, 15.0, 40.0, 170.0] {
            let direct = ln_gamma(y + 1.0) - y * y.ln() + y;
            assert!((stirling_rest(y) - direct).abs() < 1e-10, "{y}");
        }
    }

    #[test]
    fn logarithms_of_sums() {
        assert!((log_add(-1000.0, -1001.0) - (-1000.0 + (-1.0_f64).exp().ln_1p())).abs() < 1e-12);
    }
}
