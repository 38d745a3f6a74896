//! Correlations of errors, as far as the number of rows allows.

use quorate_gp::linalg::Matrix;

use super::Record;

/// Correlation of the members' errors about zero, each shrunk towards none by the same share.
///
/// With `shrunk` the share is `sum var(r_ij) / sum r_ij^2` over pairs, between 0 and 1 (Schaefer and Strimmer 2005, table 2,
/// target D), else 0.
pub(super) fn correlation(record: &Record, shrunk: bool) -> Matrix {
    let members = record.members();
    let moments = record.second_moments();
    let scale: Vec<f64> = (0..members)
        .map(|i| moments[(i, i)].max(f64::MIN_POSITIVE).sqrt())
        .collect();
    let plain = Matrix::from_fn(members, members, |i, j| match i == j {
        true => 1.0,
        false => moments[(i, j)] / (scale[i] * scale[j]),
    });
    let share = if shrunk {
        share(record, &plain, &scale)
    } else {
        0.0
    };
    Matrix::from_fn(members, members, |i, j| match i == j {
        true => 1.0,
        false => (1.0 - share) * plain[(i, j)],
    })
}

fn share(record: &Record, plain: &Matrix, scale: &[f64]) -> f64 {
    let rows = record.targets.len() as f64;
    let total: f64 = record.weights.iter().sum();
    if rows < 2.0 {
        return 1.0;
    }
    let (mut variances, mut squares) = (0.0, 0.0);
    for i in 0..record.members() {
        for j in 0..i {
            let scatter: f64 = (0..record.targets.len())
                .map(|row| {
                    let product = record.error(row, i) * record.error(row, j);
                    let away = product / (scale[i] * scale[j]) - plain[(i, j)];
                    record.weights[row] * away * away
                })
                .sum();
            variances += scatter / total / (rows - 1.0);
            squares += plain[(i, j)].powi(2);
        }
    }
    if squares > 0.0 {
        (variances / squares).clamp(0.0, 1.0)
    } else {
        1.0
    }
}
