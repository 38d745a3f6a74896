//! A table of every kernel beside its formula, typed literally, and inputs to try them on.
#![allow(clippy::unwrap_used)]

use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::linalg::Matrix;

/// Encoded columns: `a` with its indicator, `b`, `c`, and two categories.
pub fn table() -> Vec<InputColumn> {
    let column = |name: &str, kind: ColumnKind, deviation: f64| InputColumn {
        name: name.to_owned(),
        kind,
        deviation,
    };
    vec![
        column("a", ColumnKind::Number, 2.0),
        column("a", ColumnKind::Missing, 1.0),
        column("b", ColumnKind::Number, 0.7),
        column("c", ColumnKind::Number, 1.0),
        column("site", ColumnKind::Category { levels: 3 }, 1.0),
        column("ward", ColumnKind::Category { levels: 5 }, 1.0),
    ]
}

pub const WIDTH: usize = 6;

/// Repeatable numbers between -1 and 1.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) / (1_u64 << 52) as f64 - 1.0
    }

    pub fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// Rows with values of every kind; every seventh row repeats the one before it, and unseen levels occur.
pub fn rows(count: usize, seed: u64) -> Vec<f64> {
    let mut noise = Noise(seed);
    let mut values: Vec<f64> = Vec::with_capacity(count * WIDTH);
    for row in 0..count {
        if row % 7 == 6 {
            let before = values[values.len() - WIDTH..].to_vec();
            values.extend(before);
            continue;
        }
        let is_missing = noise.next() > 0.6;
        values.push(if is_missing { 0.0 } else { 2.0 * noise.next() });
        values.push(f64::from(u8::from(is_missing)));
        values.push(2.0 * noise.next());
        values.push(2.0 * noise.next());
        values.push(((noise.next() + 1.0) * 2.0).floor().min(3.0));
        values.push(((noise.next() + 1.0) * 3.0).floor().min(5.0));
    }
    values
}

pub fn inputs(values: &[f64]) -> Inputs<'_> {
    Inputs::new(values, values.len() / WIDTH, WIDTH).unwrap()
}

pub fn bind(text: &str) -> BoundKernel {
    text.parse::<Kernel>().unwrap().bind(&table()).unwrap()
}

pub fn block(kernel: &BoundKernel, one: &[f64], other: &[f64]) -> Matrix {
    let mut out = Matrix::zeros(one.len() / WIDTH, other.len() / WIDTH);
    kernel.fill(inputs(one), inputs(other), out.as_mut());
    out
}

/// A kernel and its formula on two encoded rows.
pub struct Case {
    pub text: &'static str,
    pub formula: fn(&[f64], &[f64]) -> f64,
}

const PI: f64 = std::f64::consts::PI;

/// sum_d ((x_d - x'_d) / l_d)^2 over the number columns 0 to 3.
fn u(x: &[f64], y: &[f64], l: [f64; 4]) -> f64 {
    (0..4).map(|d| ((x[d] - y[d]) / l[d]).powi(2)).sum()
}

/// x . x' over the number columns 0 to 3.
fn t(x: &[f64], y: &[f64]) -> f64 {
    (0..4).map(|d| x[d] * y[d]).sum()
}

fn m32(r: f64) -> f64 {
    (1.0 + 3_f64.sqrt() * r) * (-(3_f64.sqrt()) * r).exp()
}

fn m52(r: f64) -> f64 {
    (1.0 + 5_f64.sqrt() * r + 5.0 * r * r / 3.0) * (-(5_f64.sqrt()) * r).exp()
}

fn network(x: &[f64], y: &[f64], w: f64, b: f64) -> f64 {
    let bottom = ((w * t(x, x) + b + 1.0) * (w * t(y, y) + b + 1.0)).sqrt();
    2.0 / PI * ((w * t(x, y) + b) / bottom).asin()
}

/// The embedding of a level of `site`, of rank 2; a level never seen has the mean.
fn embedding(level: f64) -> [f64; 2] {
    match level as usize {
        0 => [0.5, -1.0],
        1 => [2.0, 0.25],
        2 => [-1.0, 0.75],
        _ => [0.5, 0.0],
    }
}

fn embedded(x: &[f64], y: &[f64]) -> f64 {
    let (p, q) = (embedding(x[4]), embedding(y[4]));
    p[0] * q[0] + p[1] * q[1] + if x[4] == y[4] { 0.3 } else { 0.0 }
}

fn differs(x: &[f64], y: &[f64], d: usize) -> f64 {
    if x[d] == y[d] { 0.0 } else { 1.0 }
}

/// sin^2(pi (x - x') / p).
fn swing(x: f64, y: f64, period: f64) -> f64 {
    (PI * (x - y) / period).sin().powi(2)
}

fn bumps(x: f64, y: f64, centres: &[f64], width: f64) -> f64 {
    let bump = |x: f64, c: f64| (-(x - c) * (x - c) / (2.0 * width * width)).exp();
    centres.iter().map(|&c| bump(x, c) * bump(y, c)).sum()
}

fn waves(x: f64, y: f64, count: usize, period: f64) -> f64 {
    (1..=count)
        .map(|k| {
            let (p, q) = (
                2.0 * PI * k as f64 * x / period,
                2.0 * PI * k as f64 * y / period,
            );
            p.sin() * q.sin() + p.cos() * q.cos()
        })
        .sum()
}

/// Every kernel, alone and composed.
pub fn cases() -> Vec<Case> {
    let case = |text, formula| Case { text, formula };
    vec![
        case("se", |x, y| (-u(x, y, [1.0; 4]) / 2.0).exp()),
        case("1.5 * se(length_scale=0.7)", |x, y| {
            1.5 * (-u(x, y, [0.7; 4]) / 2.0).exp()
        }),
        case("2 * se(ard, length_scale=[0.5,1,2,3])", |x, y| {
            2.0 * (-u(x, y, [0.5, 1.0, 2.0, 3.0]) / 2.0).exp()
        }),
        case("matern12(length_scale=1.3)", |x, y| {
            (-u(x, y, [1.3; 4]).sqrt()).exp()
        }),
        case("matern12(ard, length_scale=[0.5,1,2,3])", |x, y| {
            (-u(x, y, [0.5, 1.0, 2.0, 3.0]).sqrt()).exp()
        }),
        case("matern32(length_scale=1.3)", |x, y| {
            m32(u(x, y, [1.3; 4]).sqrt())
        }),
        case("3 * matern32(ard, length_scale=[0.5,1,2,3])", |x, y| {
            3.0 * m32(u(x, y, [0.5, 1.0, 2.0, 3.0]).sqrt())
        }),
        case("matern52(length_scale=1.3)", |x, y| {
            m52(u(x, y, [1.3; 4]).sqrt())
        }),
        case("0.25 * matern52(ard, length_scale=[0.5,1,2,3])", |x, y| {
            0.25 * m52(u(x, y, [0.5, 1.0, 2.0, 3.0]).sqrt())
        }),
        case("rq(shape=0.8, length_scale=1.3)", |x, y| {
            (1.0 + u(x, y, [1.3; 4]) / 1.6).powf(-0.8)
        }),
        case("2 * rq(ard, shape=30, length_scale=[0.5,1,2,3])", |x, y| {
            2.0 * (1.0 + u(x, y, [0.5, 1.0, 2.0, 3.0]) / 60.0).powf(-30.0)
        }),
        case(
            "1.7 * periodic(period=[1.5,0.9], length_scale=0.8)[b,c]",
            |x, y| {
                // Periods are in the columns' own units, the rows in standard deviations.
                let swings = swing(x[2], y[2], 1.5 / 0.7) + swing(x[3], y[3], 0.9);
                1.7 * (-2.0 * swings / 0.64).exp()
            },
        ),
        case(
            "periodic(ard, period=3, length_scale=[0.8,1.5])[a]",
            |x, y| {
                // The indicator is half a turn away from itself.
                let swings = swing(x[0], y[0], 1.5) / 0.64 + swing(x[1], y[1], 2.0) / 2.25;
                (-2.0 * swings).exp()
            },
        ),
        case("0.5 * linear", |x, y| 0.5 * t(x, y)),
        case("linear(ard, length_scale=[0.5,1,2,4])", |x, y| {
            x[0] * y[0] * 4.0 + x[1] * y[1] + x[2] * y[2] / 4.0 + x[3] * y[3] / 16.0
        }),
        case("0.1 * polynomial(offset=0.7)", |x, y| {
            0.1 * (0.7 + t(x, y)).powi(2)
        }),
        case("0.1 * polynomial(degree=3, offset=1.2)[b]", |x, y| {
            0.1 * (1.2 + x[2] * y[2]).powi(3)
        }),
        case("polynomial(degree=1, offset=2)", |x, y| 2.0 + t(x, y)),
        case("2.5 * constant", |_, _| 2.5),
        case("1.4 * network(weight=1.8, bias=0.4)", |x, y| {
            1.4 * network(x, y, 1.8, 0.4)
        }),
        case("network(weight=30, bias=5)", |x, y| {
            network(x, y, 30.0, 5.0)
        }),
        case("2 * basis[b]", |x, y| {
            2.0 * bumps(
                x[2],
                y[2],
                &[-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0],
                0.5,
            )
        }),
        case(
            "basis(functions=gaussian, centres=[-1,0,2], width=0.8)[b,c]",
            |x, y| {
                let centres = [-1.0, 0.0, 2.0];
                bumps(x[2], y[2], &centres, 0.8) + bumps(x[3], y[3], &centres, 0.8)
            },
        ),
        case("0.3 * basis(functions=polynomial, degree=3)[a]", |x, y| {
            let powers: f64 = (1..=3).map(|k| (x[0] * y[0]).powi(k)).sum();
            0.3 * (1.0 + powers + x[1] * y[1])
        }),
        case(
            "basis(functions=fourier, count=2, period=2.1)[b,c]",
            |x, y| waves(x[2], y[2], 2, 3.0) + waves(x[3], y[3], 2, 2.1),
        ),
        case("basis(functions=fourier)[c]", |x, y| {
            waves(x[3], y[3], 3, 4.0)
        }),
        case("2 * category(length_scale=0.6)[site]", |x, y| {
            2.0 * (-differs(x, y, 4) / 0.6).exp()
        }),
        case("category(length_scale=1.6)[site,ward]", |x, y| {
            (-(differs(x, y, 4) + differs(x, y, 5)) / 1.6).exp()
        }),
        case("category(ard, length_scale=[0.5,2])[site,ward]", |x, y| {
            (-differs(x, y, 4) / 0.5 - differs(x, y, 5) / 2.0).exp()
        }),
        case(
            "category(rank=2, embedding=[0.5,-1,2,0.25,-1,0.75], kappa=0.3)[site]",
            embedded,
        ),
        case("2 * se[a] * matern32(length_scale=2)[b,c]", |x, y| {
            let near: f64 = (0..2).map(|d| (x[d] - y[d]).powi(2)).sum();
            let far: f64 = (2..4).map(|d| (x[d] - y[d]).powi(2)).sum();
            2.0 * (-near / 2.0).exp() * m32(far.sqrt() / 2.0)
        }),
        case(
            "0.7 * matern32(ard, length_scale=[1,2,3,4]) + 0.2 * linear + 0.5",
            |x, y| 0.7 * m32(u(x, y, [1.0, 2.0, 3.0, 4.0]).sqrt()) + 0.2 * t(x, y) + 0.5,
        ),
        case(
            "(0.5 * se + 2 * constant) * category(length_scale=2)[ward]",
            |x, y| (0.5 * (-u(x, y, [1.0; 4]) / 2.0).exp() + 2.0) * (-differs(x, y, 5) / 2.0).exp(),
        ),
        case(
            "3 * (se + 0.5 * linear[b]) * (0.1 * constant + matern12[c]) * se(length_scale=4)[a] + 0.2 * se[b]",
            |x, y| {
                let one = (-u(x, y, [1.0; 4]) / 2.0).exp() + 0.5 * x[2] * y[2];
                let two = 0.1 + (-(x[3] - y[3]).abs()).exp();
                let three = (-((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)) / 32.0).exp();
                3.0 * one * two * three + 0.2 * (-(x[2] - y[2]).powi(2) / 2.0).exp()
            },
        ),
        case(
            "se * category(rank=2, embedding=[0.5,-1,2,0.25,-1,0.75], kappa=0.3)[site] * linear(ard, length_scale=2)[c]",
            |x, y| (-u(x, y, [1.0; 4]) / 2.0).exp() * embedded(x, y) * x[3] * y[3] / 4.0,
        ),
    ]
}
