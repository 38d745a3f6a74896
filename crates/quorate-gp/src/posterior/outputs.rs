//! Rows with several targets: the outputs share the inputs, the kernel and the noise, so that one factor serves all.

use std::ops::Range;

use crate::data::Dataset;
use crate::likelihood::GaussianNoise;
use crate::linalg::Matrix;

/// The targets of each group of rows, one column per output.
pub fn target_matrix(data: &Dataset) -> Matrix {
    Matrix::from_fn(data.rows(), data.outputs(), |row, output| {
        data.targets_of(output)[row]
    })
}

/// What the log evidence of the groups' means leaves out of that of all rows, for all outputs, and its derivative with
/// respect to `log sigma^2`.
pub fn within_groups(noise: GaussianNoise, data: &Dataset) -> (f64, f64) {
    within_rows(noise, data, 0..data.rows())
}

/// The same for some of the groups.
///
/// [`GaussianNoise::evidence_within_groups`] says it of one output; the scatter there is that of all. What does not
/// depend on targets, `-W/2 log(2 pi s) + 1/2 log(2 pi s / W)`, comes again with each further output.
pub(crate) fn within_rows(noise: GaussianNoise, data: &Dataset, rows: Range<usize>) -> (f64, f64) {
    let (mut value, mut slope) = noise.evidence_within_rows(data, rows.clone());
    let further = data.outputs() as f64 - 1.0;
    if further > 0.0 {
        for row in rows {
            let (weight, s) = (
                data.weights()[row],
                noise.variance + data.known_noise()[row],
            );
            let whole = (2.0 * std::f64::consts::PI * s).ln();
            value += 0.5 * further * ((1.0 - weight) * whole - weight.ln());
            slope += 0.5 * further * noise.variance / s * (1.0 - weight);
        }
    }
    (value, slope)
}
