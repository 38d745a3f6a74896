//! Kernels on rows that are few, equal, huge or of no width.
#![allow(clippy::unwrap_used)]

use crate::kernel_support;

use kernel_support::{WIDTH, bind, block, cases, inputs, rows};
use quorate_gp::data::{ColumnKind, InputColumn, Inputs};
use quorate_gp::kernel::{Covariance, Kernel, tiles};
use quorate_gp::linalg::Matrix;

#[test]
fn no_rows_give_empty_blocks_and_no_gradient() {
    let some = rows(5, 1);
    for case in cases() {
        let kernel = bind(case.text);
        for (one, other) in [
            (&[][..], &some[..]),
            (&some[..], &[][..]),
            (&[][..], &[][..]),
        ] {
            let found = block(&kernel, one, other);
            let mut gradient = vec![0.0; kernel.parameters().len()];
            kernel.pull_back(inputs(one), inputs(other), found.as_ref(), &mut gradient);
            assert!(gradient.iter().all(|value| *value == 0.0));
        }
        assert!(kernel.diagonal(inputs(&[])).is_empty());
        assert_eq!(tiles::block(&kernel, inputs(&[]), inputs(&some)).nrows(), 0);
        tiles::pull_back_lower(&kernel, inputs(&[]), Matrix::zeros(0, 0).as_ref(), &mut []);
    }
}

#[test]
fn one_row_and_equal_rows_are_perfectly_alike() {
    let one = rows(1, 2);
    let equal = one.repeat(37);
    for case in cases() {
        let kernel = bind(case.text);
        let value = kernel.diagonal(inputs(&one))[0];
        let found = block(&kernel, &equal, &equal);
        let mut gradient = vec![0.0; kernel.parameters().len()];
        kernel.pull_back(
            inputs(&equal),
            inputs(&equal),
            found.as_ref(),
            &mut gradient,
        );
        for i in 0..37 {
            for j in 0..37 {
                assert!(
                    (found[(i, j)] - value).abs() <= 1e-14 * value.abs(),
                    "{}",
                    case.text
                );
            }
        }
        assert!(
            gradient.iter().all(|value| value.is_finite()),
            "{}",
            case.text
        );
    }
}

#[test]
fn stationary_kernels_of_equal_rows_are_exactly_one() {
    let equal = rows(1, 3).repeat(20);
    for text in [
        "se",
        "matern12",
        "matern32(ard)",
        "matern52",
        "rq",
        "periodic",
    ] {
        let kernel = bind(text);
        let found = block(&kernel, &equal, &equal);
        assert!(
            (0..20).all(|i| (0..20).all(|j| found[(i, j)] == 1.0)),
            "{text}"
        );
        // The slope of a length scale vanishes there, even for the kernel with a kink.
        let mut gradient = vec![0.0; kernel.parameters().len()];
        kernel.pull_back(
            inputs(&equal),
            inputs(&equal),
            found.as_ref(),
            &mut gradient,
        );
        assert!(
            gradient[1..].iter().all(|value| *value == 0.0),
            "{text}: {gradient:?}"
        );
    }
}

#[test]
fn huge_and_tiny_values_stay_finite() {
    for scale in [1e8, 1e-8, 1e-160] {
        let values: Vec<f64> = rows(40, 4)
            .chunks(WIDTH)
            .flat_map(|row| {
                [
                    row[0] * scale,
                    row[1],
                    row[2] * scale,
                    row[3] * scale,
                    row[4],
                    row[5],
                ]
            })
            .collect();
        let sensitivity = Matrix::from_fn(40, 40, |i, j| (i + j) as f64);
        for case in cases() {
            let kernel = bind(case.text);
            let found = block(&kernel, &values, &values);
            assert!(
                (0..40).all(|i| (0..40).all(|j| found[(i, j)].is_finite())),
                "{}",
                case.text
            );
            let mut gradient = vec![0.0; kernel.parameters().len()];
            kernel.pull_back(
                inputs(&values),
                inputs(&values),
                sensitivity.as_ref(),
                &mut gradient,
            );
            assert!(
                gradient.iter().all(|value| value.is_finite()),
                "{}: {gradient:?}",
                case.text
            );
        }
    }
}

#[test]
fn far_rows_are_unrelated_and_close_rows_far_from_the_origin_are_not() {
    let row = |a: f64| [a, 0.0, 0.0, 0.0, 0.0, 0.0];
    let kernel = bind("matern32");
    let found = block(&kernel, &row(1e8), &row(-1e8));
    assert_eq!(found[(0, 0)], 0.0);
    let found = block(&kernel, &row(1e8), &row(1e8 + 0.5));
    let s = 3_f64.sqrt() * 0.5;
    assert!((found[(0, 0)] - (1.0 + s) * (-s).exp()).abs() < 1e-14);
}

#[test]
fn extreme_parameters_give_no_nan() {
    let values = rows(20, 6);
    for length in ["1e-100", "1e100"] {
        for family in ["se", "matern12", "matern32", "matern52", "rq", "periodic"] {
            let kernel = bind(&format!("{family}(length_scale={length})[a,b]"));
            let found = block(&kernel, &values, &values);
            for i in 0..20 {
                assert_eq!(found[(i, i)], 1.0, "{family} {length}");
                assert!(
                    (0..20).all(|j| (0.0..=1.0).contains(&found[(i, j)])),
                    "{family} {length}"
                );
            }
        }
    }
    for text in [
        "rq(shape=1e-100)",
        "rq(shape=1e100)",
        "network(weight=1e-100)",
        "network(weight=1e100, bias=1e-100)",
    ] {
        let found = block(&bind(text), &values, &values);
        assert!(
            (0..20).all(|i| (0..20).all(|j| found[(i, j)].is_finite())),
            "{text}"
        );
    }
}

#[test]
fn a_kernel_that_reads_no_columns_is_constant() {
    let categories = [InputColumn {
        name: "site".into(),
        kind: ColumnKind::Category { levels: 2 },
        deviation: 1.0,
    }];
    let values = [0.0, 1.0, 2.0];
    for (columns, width) in [(&categories[..], 1), (&[][..], 0)] {
        let inputs = Inputs::new(&values[..3 * width], 3, width).unwrap();
        for (text, expected) in [
            ("se", 1.0),
            ("matern32(ard)", 1.0),
            ("rq(ard)", 1.0),
            ("periodic(ard)", 1.0),
            ("linear", 0.0),
            ("linear(ard)", 0.0),
            ("polynomial", 1.0),
            ("2", 2.0),
            ("basis", 0.0),
        ] {
            let kernel = text.parse::<Kernel>().unwrap().bind(columns).unwrap();
            let found = tiles::block(&kernel, inputs, inputs);
            assert!(
                (0..3).all(|i| (0..3).all(|j| found[(i, j)] == expected)),
                "{text}"
            );
            let mut gradient = vec![0.0; kernel.parameters().len()];
            tiles::pull_back_lower(&kernel, inputs, found.as_ref(), &mut gradient);
            assert_eq!(
                kernel.kernel().to_string().parse::<Kernel>().unwrap(),
                kernel.kernel()
            );
        }
    }
}

#[test]
fn starts_suit_the_data_and_keep_what_the_text_gave() {
    let values = rows(60, 5);
    let targets: Vec<f64> = values
        .chunks(WIDTH)
        .map(|row| [1.0, -1.0, 0.5, 0.0][row[4] as usize])
        .collect();
    let mut kernel = bind("3 * se(length_scale=0.25)[b] + matern32(ard) + category(rank=2)[site]");
    kernel.initialise(inputs(&values), &targets);
    let find = |name: &str| {
        let parameters = kernel.parameters();
        parameters
            .into_iter()
            .find(|p| p.name == name)
            .unwrap()
            .value
    };
    assert_eq!(find("se.variance"), 3.0);
    assert_eq!(find("se.length_scale"), 0.25);
    assert_eq!(find("matern32.variance"), 1.0 / 3.0);
    assert_eq!(find("matern32.length_scale[c]"), 2.0);
    let first = [0, 1, 2].map(|level| find(&format!("category.embedding[{level},1]")));
    assert!(first[0] > first[2] && first[2] > first[1], "{first:?}");
    assert!(first[0] > 0.5 && first[1] < -0.5, "{first:?}");
}

#[test]
fn the_period_starts_at_the_strongest_wave() {
    let values = rows(300, 7);
    let wave = |row: &[f64]| (std::f64::consts::TAU * row[2] / 0.8).sin();
    let targets: Vec<f64> = values.chunks(WIDTH).map(wave).collect();
    let mut kernel = bind("periodic[b]");
    kernel.initialise(inputs(&values), &targets);
    let period = kernel.parameters().pop().unwrap();
    assert!((period.value - 0.8).abs() < 0.02, "{period:?}");
}

#[test]
fn terms_that_are_written_alike_start_apart() {
    let values = rows(20, 5);
    let targets: Vec<f64> = values.chunks(WIDTH).map(|row| row[0]).collect();
    let lengths = |text: &str| -> Vec<f64> {
        let mut kernel = bind(text);
        kernel.initialise(inputs(&values), &targets);
        let parameters = kernel.parameters().into_iter();
        parameters
            .filter(|p| p.name.contains("length_scale"))
            .map(|p| p.value)
            .collect()
    };
    assert_eq!(
        lengths("se[b] + se[b] + matern32[b] + se[b]"),
        [1.0, 4.0, 1.0, 16.0]
    );
    assert_eq!(lengths("2 * (se[b] + se[b])"), [1.0, 4.0]);
    assert_eq!(
        lengths("se(length_scale=3)[b] + se(length_scale=3)[b]"),
        [3.0, 3.0]
    );
}
