//! Elementary functions without branches, so that loops over them become vector instructions.

#![allow(clippy::excessive_precision)]

/// 1.5 * 2^52: adding it pushes everything below the unit digit out of a number of moderate size.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// ln 2 to double precision, and what that leaves out.
const LN_2: f64 = std::f64::consts::LN_2;
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// 2^n for a whole number n between -1022 and 1023, through the exponent bits.
#[inline(always)]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n + (ROUNDER + 1023.0)).to_bits() << 52)
}

/// c0 + c1 x + c2 x^2 + ...
#[inline(always)]
fn polynomial<const N: usize>(coefficients: [f64; N], x: f64) -> f64 {
    let mut value = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        value = value.mul_add(x, coefficients[k]);
    }
    value
}

/// e^x within one unit in the last place; underflow is gradual, overflow is infinite, NaN stays NaN.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 q(r) with q interpolated at Chebyshev nodes
/// (error of e^r below 2e-17). 2^k is applied in two steps, the second nearly always 1, so that neither end of the range needs a branch.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    const Q: [f64; 10] = [
        0.500_000_000_000_000_1,
        0.166_666_666_666_666_69,
        0.041_666_666_666_624_164,
        0.008_333_333_333_330_065,
        0.001_388_888_891_719_671_9,
        0.000_198_412_698_630_405_45,
        2.480_152_132_236_869_2e-5,
        2.755_726_848_031_002_4e-6,
        2.762_007_587_998_336_7e-7,
        2.510_037_583_256_123_4e-8,
    ];
    let x = if x < -746.0 { -746.0 } else { x };
    let x = if x > 710.0 { 710.0 } else { x };
    let k = x.mul_add(std::f64::consts::LOG2_E, ROUNDER) - ROUNDER;
    let r = k.mul_add(-LN_2_REST, k.mul_add(-LN_2, x));
    let value = 1.0 + (r * r).mul_add(polynomial(Q, r), r);
    let near = if k < -1000.0 { -1000.0 } else { k };
    let near = if near > 1000.0 { 1000.0 } else { near };
    value * power_of_two(near) * power_of_two(k - near)
}

/// ln(1 + x) for x >= 0, within a few units in the last place; infinity stays, NaN stays.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    const Q: [f64; 8] = [
        0.666_666_666_666_666_6,
        0.400_000_000_000_008_8,
        0.285_714_285_708_036_14,
        0.222_222_223_917_139_17,
        0.181_817_956_401_329_06,
        0.153_862_397_028_146_58,
        0.132_687_731_386_568_86,
        0.130_866_261_478_401_02,
    ];
    const MANTISSA: u64 = (1 << 52) - 1;
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let sum = 1.0 + x;
    // What rounding took from the sum, relative to it.
    let rest = (x - (sum - 1.0)) / sum;
    let bits = sum.to_bits();
    // sum = 2^k m with m in [1, 2), then m in [1/sqrt 2, sqrt 2).
    let m = f64::from_bits((bits & MANTISSA) | 1.0_f64.to_bits());
    let k = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    let is_high = m > std::f64::consts::SQRT_2;
    let m = if is_high { 0.5 * m } else { m };
    let k = if is_high { k + 1.0 } else { k };
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let log = (s * s2).mul_add(polynomial(Q, s2), 2.0 * s);
    let value = k.mul_add(LN_2, log + (rest + k * LN_2_REST));
    if x < f64::INFINITY { value } else { x }
}

/// sin(pi t) within two units in the last place, for |t| < 2^51.
///
/// t - round(t) is exact, so the reduction adds no error however many turns there are; the sign of a half turn is
/// kept. sin(pi r) / r is a polynomial in r^2 (error below 1e-18).
#[inline(always)]
pub(crate) fn sin_pi(t: f64) -> f64 {
    const Q: [f64; 9] = [
        std::f64::consts::PI,
        -5.167_712_780_049_969,
        2.550_164_039_877_300_7,
        -0.599_264_529_318_944_7,
        0.082_145_886_573_102_9,
        -0.007_370_430_505_916_944,
        0.000_466_299_816_189_839_4,
        -2.190_349_707_462_601_8e-5,
        7.697_826_768_224_191e-7,
    ];
    let shifted = t + ROUNDER;
    let r = t - (shifted - ROUNDER);
    // An odd number of half turns flips the sign: the last bit of the whole part becomes the sign bit.
    let sign = shifted.to_bits() << 63;
    f64::from_bits((r * polynomial(Q, r * r)).to_bits() ^ sign)
}

/// asin(z) for 0 <= z <= 1/2, within two units in the last place.
#[inline(always)]
pub(crate) fn asin_half(z: f64) -> f64 {
    const Q: [f64; 13] = [
        0.166_666_666_666_666_69,
        0.074_999_999_999_984_33,
        0.044_642_857_146_355_43,
        0.030_381_944_138_531_247,
        0.022_372_172_942_149_89,
        0.017_352_392_720_869_973,
        0.013_971_212_973_552_933,
        0.011_479_177_415_184_906,
        0.010_322_814_350_185_78,
        0.005_457_506_718_640_358,
        0.017_400_879_442_694_02,
        -0.014_851_887_071_247_204,
        0.028_757_851_367_421_566,
    ];
    let z2 = z * z;
    (z * z2).mul_add(polynomial(Q, z2), z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of the expected value.
    fn ulps(found: f64, expected: f64) -> f64 {
        if found == expected {
            return 0.0;
        }
        let unit = expected.abs().next_up() - expected.abs();
        ((found - expected) / unit).abs()
    }

    /// A few million points spread evenly over an interval, off any round number.
    fn points(low: f64, high: f64, count: usize) -> impl Iterator<Item = f64> {
        let golden = 0.618_033_988_749_894_9;
        (0..count).map(move |k| {
            let place = (k as f64 + golden * (k % 7) as f64) / count as f64;
            low + (high - low) * place.min(1.0)
        })
    }

    #[test]
    fn exp_is_within_two_units_of_the_library_everywhere() {
        let mut worst = 0.0_f64;
        for x in points(-745.0, 709.0, 4_000_000).chain(points(-1.0, 1.0, 1_000_000)) {
            worst = worst.max(ulps(exp(x), x.exp()));
        }
        assert!(worst <= 2.0, "{worst}");
    }

    #[test]
    fn exp_keeps_its_edges() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(800.0), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
        assert!(exp(-744.0) > 0.0);
    }

    #[test]
    fn ln_1p_is_close_to_the_library() {
        let mut worst = 0.0_f64;
        for exponent in points(-30.0, 300.0, 2_000_000) {
            let x = 10_f64.powf(exponent);
            worst = worst.max(ulps(ln_1p(x), x.ln_1p()));
        }
        for x in points(0.0, 10.0, 2_000_000) {
            worst = worst.max(ulps(ln_1p(x), x.ln_1p()));
        }
        assert!(worst <= 3.0, "{worst}");
        assert_eq!(ln_1p(0.0), 0.0);
        assert_eq!(ln_1p(f64::INFINITY), f64::INFINITY);
        assert!(ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn sin_pi_is_exact_at_half_turns_and_close_between() {
        let mut worst = 0.0_f64;
        for t in points(-0.5, 0.5, 2_000_000) {
            // The library's argument is rounded, so compare only where that rounding is harmless.
            let expected = (std::f64::consts::PI * t).sin();
            worst = worst.max((sin_pi(t) - expected).abs());
        }
        assert!(worst <= 4e-16, "{worst}");
        for turns in [0.0, 1.0, -3.0, 1e8, 4_503_599_627_370.0] {
            assert_eq!(sin_pi(turns), 0.0);
            let odd = turns % 2.0 != 0.0;
            assert_eq!(sin_pi(turns + 0.5), if odd { -1.0 } else { 1.0 });
        }
        assert!(sin_pi(f64::NAN).is_nan());
    }

    #[test]
    fn asin_half_is_close_to_the_library() {
        let mut worst = 0.0_f64;
        for z in points(0.0, 0.5, 2_000_000) {
            worst = worst.max(ulps(asin_half(z), z.asin()));
        }
        assert!(worst <= 2.0, "{worst}");
    }
}
