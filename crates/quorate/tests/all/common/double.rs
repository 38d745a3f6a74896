//! Numbers with twice the digits, for references: a sum of two doubles (Dekker 1971; Knuth, TAOCP vol. 2, 4.2.2).

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the obvious linear algebra needs of a number.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn rounded(self) -> f64;
}

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn rounded(self) -> f64 {
        self
    }
}

/// About 32 digits: the value is `high + low`.
#[derive(Clone, Copy, Debug)]
pub struct Double {
    high: f64,
    low: f64,
}

/// The sum of two doubles and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

fn normal(high: f64, low: f64) -> Double {
    let (high, low) = two_sum(high, low);
    Double { high, low }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (high, error) = two_sum(self.high, other.high);
        let (low, rest) = two_sum(self.low, other.low);
        let first = normal(high, error + low);
        normal(first.high, first.low + rest)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + (-other)
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let error = self.high.mul_add(other.high, -high);
        normal(high, error + self.high * other.low + self.low * other.high)
    }
}

impl Div for Double {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::of(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::of(second);
        normal(first, second) + Self::of(rest.high / other.high)
    }
}

impl Number for Double {
    fn of(value: f64) -> Self {
        Self {
            high: value,
            low: 0.0,
        }
    }

    fn rounded(self) -> f64 {
        self.high + self.low
    }
}
