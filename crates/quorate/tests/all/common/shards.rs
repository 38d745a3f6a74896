//! Tables that can be cut anywhere: row i is the same whatever table it is in.

use quorate::gp::data::{Column, Frame};
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, file};

/// Rows `from..to` of an endless table with two numbers, a category and a noisy target.
pub fn table(from: usize, to: usize) -> Frame {
    let place = |i: usize, stride: f64| (i as f64 * stride + 0.377).fract();
    let x: Vec<f64> = (from..to).map(|i| place(i, 0.754_877_666) * 4.0).collect();
    let z: Vec<f64> = (from..to).map(|i| place(i, 0.569_840_291) * 2.0).collect();
    let site = |i: usize| Some(["north", "south"][i % 7 % 2].into());
    let y = (from..to).zip(x.iter().zip(&z)).map(|(i, (x, z))| {
        // A sum of three uniform numbers, of deviation 0.1.
        let noise: f64 = (1..4).map(|k| place(i * i + k, 0.618_034 * k as f64)).sum();
        x.sin() * z + (i % 7 % 2) as f64 + 0.2 * (noise - 1.5)
    });
    let y = y.collect();
    Frame::from_columns(vec![
        ("x", Column::Number(x)),
        ("z", Column::Number(z)),
        ("site", Column::Text((from..to).map(site).collect())),
        ("y", Column::Number(y)),
    ])
    .unwrap()
}

/// A small committee that keeps the hyperparameters it is given.
pub fn quick() -> ModelSpec {
    ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        kernel: "matern52(length_scale=0.8) * category".parse().unwrap(),
        learn: LearnChoice::None,
        landmarks: Some(30),
        part_size: Some(50),
        ..ModelSpec::new("y")
    }
}

pub fn bytes(model: &Model) -> Vec<u8> {
    file::to_bytes(model).unwrap()
}
