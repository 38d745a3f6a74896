//! Whole matrices in parallel: the same numbers as one block, and the same bits on any number of threads.
#![allow(clippy::unwrap_used)]

use crate::kernel_support;

use std::ops::Range;

use kernel_support::{bind, block, inputs, rows};
use quorate_gp::kernel::{Covariance, tiles};
use quorate_gp::linalg::{Matrix, MatrixMut};

const TEXTS: [&str; 3] = [
    "matern32(ard) + linear(ard)",
    "rq[b] * category(rank=2)[site] + network",
    "periodic(ard)[a,b] * (se + category[ward])",
];

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn symmetric(n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| ((i * j) as f64).sin() + ((i + j) as f64).cos())
}

#[test]
fn a_tiled_block_equals_one_block() {
    let (one, other) = (rows(600, 1), rows(259, 2));
    for text in TEXTS {
        let kernel = bind(text);
        let tiled = tiles::block(&kernel, inputs(&one), inputs(&other));
        assert_eq!(tiled, block(&kernel, &one, &other));
    }
}

#[test]
fn the_lower_triangle_equals_the_block_and_leaves_the_rest_alone() {
    let values = rows(600, 3);
    let kernel = bind(TEXTS[0]);
    let whole = block(&kernel, &values, &values);
    let mut lower = Matrix::from_fn(600, 600, |_, _| f64::NAN);
    tiles::fill_lower(&kernel, inputs(&values), lower.as_mut());
    for j in 0..600 {
        for i in 0..600 {
            if i >= j {
                assert_eq!(lower[(i, j)], whole[(i, j)]);
            } else if i / tiles::TILE != j / tiles::TILE {
                assert!(lower[(i, j)].is_nan());
            }
        }
    }
}

#[test]
fn a_row_major_target_receives_the_same_numbers() {
    let (one, other) = (rows(300, 4), rows(40, 5));
    let kernel = bind(TEXTS[1]);
    let mut transposed = Matrix::zeros(40, 300);
    tiles::fill(
        &kernel,
        inputs(&one),
        inputs(&other),
        transposed.as_mut().transpose_mut(),
    );
    assert_eq!(
        transposed.transpose().to_owned(),
        block(&kernel, &one, &other)
    );
    let sensitivity = Matrix::from_fn(40, 300, |i, j| (i as f64) - (j as f64) / 7.0);
    let count = kernel.parameters().len();
    let (mut strided, mut plain) = (vec![0.0; count], vec![0.0; count]);
    let copy = sensitivity.transpose().to_owned();
    tiles::pull_back(
        &kernel,
        inputs(&one),
        inputs(&other),
        sensitivity.as_ref().transpose(),
        &mut strided,
    );
    tiles::pull_back(
        &kernel,
        inputs(&one),
        inputs(&other),
        copy.as_ref(),
        &mut plain,
    );
    assert_eq!(strided, plain);
}

#[test]
fn the_pull_back_of_the_lower_triangle_stands_for_the_whole_matrix() {
    let values = rows(600, 6);
    let whole = symmetric(600);
    // What lies above the diagonal must not be read.
    let lower = Matrix::from_fn(
        600,
        600,
        |i, j| if i >= j { whole[(i, j)] } else { f64::NAN },
    );
    for text in TEXTS {
        let kernel = bind(text);
        let count = kernel.parameters().len();
        let (mut half, mut full) = (vec![0.0; count], vec![0.0; count]);
        tiles::pull_back_lower(&kernel, inputs(&values), lower.as_ref(), &mut half);
        tiles::pull_back(
            &kernel,
            inputs(&values),
            inputs(&values),
            whole.as_ref(),
            &mut full,
        );
        for (a, b) in half.iter().zip(&full) {
            assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{text}: {a} {b}");
        }
        let mut made = vec![0.0; count];
        let tile = |rows: Range<usize>, columns: Range<usize>, mut out: MatrixMut<'_>| {
            for j in 0..columns.len() {
                for i in 0..rows.len() {
                    out[(i, j)] = lower[(rows.start + i, columns.start + j)];
                }
            }
        };
        tiles::pull_back_lower_with(&kernel, inputs(&values), &tile, &mut made);
        assert_eq!(made, half);
    }
}

#[test]
fn blocks_and_gradients_have_the_same_bits_on_any_number_of_threads() {
    let values = rows(900, 7);
    let sensitivity = symmetric(900);
    for text in TEXTS {
        let kernel = bind(text);
        let answer = |threads: usize| {
            pool(threads).install(|| {
                let mut lower = Matrix::zeros(900, 900);
                tiles::fill_lower(&kernel, inputs(&values), lower.as_mut());
                let mut gradient = vec![0.0; kernel.parameters().len()];
                tiles::pull_back_lower(
                    &kernel,
                    inputs(&values),
                    sensitivity.as_ref(),
                    &mut gradient,
                );
                (lower, gradient)
            })
        };
        let one = answer(1);
        assert!(one == answer(2) && one == answer(3), "{text}");
    }
}
