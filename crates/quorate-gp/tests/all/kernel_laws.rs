//! Laws that every kernel keeps, alone and composed.
#![allow(clippy::unwrap_used)]

use crate::kernel_support;

use kernel_support::{Noise, WIDTH, bind, block, cases, inputs, rows};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::linalg::Matrix;

#[test]
fn every_block_equals_its_formula() {
    // More rows than one patch, and counts that are no multiple of any vector.
    let (one, other) = (rows(301, 1), rows(45, 2));
    for case in cases() {
        let kernel = bind(case.text);
        let found = block(&kernel, &one, &other);
        for (i, x) in one.chunks(WIDTH).enumerate() {
            for (j, y) in other.chunks(WIDTH).enumerate() {
                let expected = (case.formula)(x, y);
                let scale = (case.formula)(x, x).abs().max((case.formula)(y, y).abs());
                let error = (found[(i, j)] - expected).abs();
                assert!(
                    error <= 1e-13 * scale,
                    "{}: {i},{j}: {} {expected}",
                    case.text,
                    found[(i, j)]
                );
            }
        }
    }
}

#[test]
fn every_kernel_is_symmetric_to_the_last_bit() {
    let values = rows(67, 3);
    for case in cases() {
        let found = block(&bind(case.text), &values, &values);
        for i in 0..found.nrows() {
            for j in 0..i {
                assert_eq!(found[(i, j)], found[(j, i)], "{}", case.text);
            }
        }
    }
}

#[test]
fn an_entry_depends_on_its_two_rows_and_not_on_its_place() {
    let values = rows(530, 4);
    let picked: Vec<f64> = [3, 77, 300, 529]
        .into_iter()
        .flat_map(|row| values[row * WIDTH..(row + 1) * WIDTH].to_vec())
        .collect();
    for case in cases() {
        let kernel = bind(case.text);
        let whole = block(&kernel, &values, &picked);
        let few = block(&kernel, &picked, &values);
        for row in 0..530 {
            for place in 0..4 {
                assert_eq!(whole[(row, place)], few[(place, row)], "{}", case.text);
            }
        }
    }
}

#[test]
fn every_kernel_is_positive_semi_definite() {
    for seed in 5..8 {
        let values = rows(40, seed);
        for case in cases() {
            let found = block(&bind(case.text), &values, &values);
            let trace: f64 = (0..40).map(|i| found[(i, i)]).sum();
            let eigenvalues = found.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            let least = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(least >= -1e-10 * trace, "{}: {least}", case.text);
        }
    }
}

#[test]
fn the_diagonal_is_the_diagonal_of_the_block() {
    let values = rows(83, 8);
    for case in cases() {
        let kernel = bind(case.text);
        let found = block(&kernel, &values, &values);
        let diagonal = kernel.diagonal(inputs(&values));
        for (i, value) in diagonal.iter().enumerate() {
            let error = (found[(i, i)] - value).abs();
            assert!(error <= 1e-14 * value.abs(), "{}: {i}", case.text);
        }
    }
}

/// The kernel with one coordinate moved.
fn moved(kernel: &BoundKernel, parameter: usize, by: f64) -> BoundKernel {
    let mut coordinates: Vec<f64> = kernel.parameters().iter().map(|p| p.coordinate()).collect();
    coordinates[parameter] += by;
    let mut moved = kernel.clone();
    moved.set_coordinates(&coordinates).unwrap();
    moved
}

/// Derivative by a coordinate through central differences of two step sizes, the error term eliminated.
fn difference(kernel: &BoundKernel, parameter: usize, scalar: impl Fn(&BoundKernel) -> f64) -> f64 {
    let slope = |step: f64| {
        let (up, down) = (
            moved(kernel, parameter, step),
            moved(kernel, parameter, -step),
        );
        (scalar(&up) - scalar(&down)) / (2.0 * step)
    };
    (4.0 * slope(1e-4) - slope(2e-4)) / 3.0
}

#[test]
fn the_pull_back_equals_central_differences() {
    let (one, other) = (rows(61, 9), rows(23, 10));
    let sensitivity = Matrix::from_fn(61, 23, |i, j| Noise((i * 23 + j) as u64 + 99).many(3)[2]);
    for case in cases() {
        let kernel = bind(case.text);
        let parameters = kernel.parameters();
        let mut gradient = vec![0.0; parameters.len()];
        kernel.pull_back(
            inputs(&one),
            inputs(&other),
            sensitivity.as_ref(),
            &mut gradient,
        );
        let size = block(&kernel, &one, &other).norm_max() * (61.0 * 23.0);
        for (p, parameter) in parameters.iter().enumerate() {
            let expected = difference(&kernel, p, |kernel| {
                let found = block(kernel, &one, &other);
                (0..61)
                    .map(|i| {
                        (0..23)
                            .map(|j| sensitivity[(i, j)] * found[(i, j)])
                            .sum::<f64>()
                    })
                    .sum()
            });
            let error = (gradient[p] - expected).abs();
            let allowed = 1e-10 * size.max(expected.abs());
            assert!(
                error <= allowed,
                "{} {}: {} {expected}",
                case.text,
                parameter.name,
                gradient[p]
            );
        }
    }
}

#[test]
fn the_pull_back_of_the_diagonal_equals_central_differences() {
    let values = rows(61, 11);
    let sensitivity = Noise(12).many(61);
    for case in cases() {
        let kernel = bind(case.text);
        let parameters = kernel.parameters();
        let mut gradient = vec![0.0; parameters.len()];
        kernel.pull_back_diagonal(inputs(&values), &sensitivity, &mut gradient);
        let size: f64 = kernel
            .diagonal(inputs(&values))
            .iter()
            .map(|k| k.abs())
            .sum();
        for (p, parameter) in parameters.iter().enumerate() {
            let expected = difference(&kernel, p, |kernel| {
                let diagonal = kernel.diagonal(inputs(&values));
                diagonal.iter().zip(&sensitivity).map(|(k, s)| k * s).sum()
            });
            let error = (gradient[p] - expected).abs();
            assert!(
                error <= 1e-10 * size,
                "{} {}: {} {expected}",
                case.text,
                parameter.name,
                gradient[p]
            );
        }
    }
}

#[test]
fn the_pull_back_is_linear_in_the_sensitivity_and_adds_to_what_is_there() {
    let (one, other) = (rows(35, 13), rows(21, 14));
    let first = Matrix::from_fn(35, 21, |i, j| (i as f64 - 2.0 * j as f64) / 10.0);
    let second = Matrix::from_fn(35, 21, |i, j| ((3 * i + j) as f64).sin());
    let both = &first + &second;
    for case in cases() {
        let kernel = bind(case.text);
        let count = kernel.parameters().len();
        let (mut apart, mut together) = (vec![0.0; count], vec![0.0; count]);
        for sensitivity in [&first, &second] {
            kernel.pull_back(
                inputs(&one),
                inputs(&other),
                sensitivity.as_ref(),
                &mut apart,
            );
        }
        kernel.pull_back(inputs(&one), inputs(&other), both.as_ref(), &mut together);
        let size = block(&kernel, &one, &other).norm_max() * 35.0 * 21.0 * 3.0;
        for (a, b) in apart.iter().zip(&together) {
            assert!((a - b).abs() <= 1e-13 * size, "{}: {a} {b}", case.text);
        }
    }
}

#[test]
fn stationary_kernels_do_not_see_where_the_origin_is() {
    let values = rows(30, 15);
    let shifted: Vec<f64> = values
        .chunks(WIDTH)
        .flat_map(|row| {
            [
                row[0] + 8.0,
                row[1],
                row[2] - 4.0,
                row[3] + 16.0,
                row[4],
                row[5],
            ]
        })
        .collect();
    for text in [
        "se",
        "matern12",
        "matern32(ard)",
        "matern52",
        "rq",
        "periodic[a,b,c]",
    ] {
        let kernel = bind(text);
        let (one, other) = (
            block(&kernel, &values, &values),
            block(&kernel, &shifted, &shifted),
        );
        assert!((&one - &other).norm_max() < 1e-13, "{text}");
    }
}

#[test]
fn scaling_inputs_and_length_scales_together_changes_nothing() {
    let values = rows(30, 16);
    // A power of two, so that not even the last bit may change.
    let scaled: Vec<f64> = values
        .chunks(WIDTH)
        .flat_map(|row| {
            [
                4.0 * row[0],
                4.0 * row[1],
                4.0 * row[2],
                4.0 * row[3],
                row[4],
                row[5],
            ]
        })
        .collect();
    for family in ["se", "matern12", "matern32", "matern52", "rq"] {
        let kernel = bind(&format!("{family}(ard, length_scale=[1,2,3,0.7])"));
        let wider = bind(&format!("{family}(ard, length_scale=[4,8,12,2.8])"));
        assert_eq!(
            block(&kernel, &values, &values),
            block(&wider, &scaled, &scaled),
            "{family}"
        );
    }
}

#[test]
fn permuting_rows_permutes_the_block() {
    let values = rows(50, 17);
    let order: Vec<usize> = (0..50).map(|k| (k * 17) % 50).collect();
    let permuted: Vec<f64> = order
        .iter()
        .flat_map(|&row| values[row * WIDTH..(row + 1) * WIDTH].to_vec())
        .collect();
    for case in cases() {
        let kernel = bind(case.text);
        let (one, other) = (
            block(&kernel, &values, &values),
            block(&kernel, &permuted, &permuted),
        );
        for i in 0..50 {
            for j in 0..50 {
                assert_eq!(other[(i, j)], one[(order[i], order[j])], "{}", case.text);
            }
        }
    }
}
