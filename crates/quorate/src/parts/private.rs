//! A part with noise: what one row changes in it is bounded, and drowned.

use std::f64::consts::PI;

use quorate_gp::data::Frame;
use quorate_gp::kernel::Covariance;
use quorate_gp::linalg::{Matrix, without_negative};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};

use super::{PartMessage, bound};
use crate::error::{Error, Result};
use crate::landmarks::{Cut, PartRecord, State, Summary};
use crate::model::Model;

/// How much one row may change a part, and how much noise hides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Privacy {
    /// Greatest length of a row's features `v / sqrt(q)`; a longer row is shrunk, as if it counted for less than one.
    pub features: f64,
    /// Greatest size of a row's target `y / sqrt(q)` after that, for each output; larger ones are cut.
    pub targets: f64,
    /// Standard deviation of the noise in units of what one row can change.
    pub multiplier: f64,
}

/// Rows whose features are held at one time.
const WAVE: usize = 1_024;

impl Privacy {
    /// The most that one row, added or removed, changes the sums: the length of (φφ', φt) in Frobenius norm,
    /// `sqrt(C^4 + o C^2 Y^2)` with features φ bounded by C and each of o targets t by Y.
    pub fn sensitivity(&self, outputs: usize) -> f64 {
        let squared = self.features * self.features;
        (squared * squared + outputs as f64 * squared * self.targets * self.targets).sqrt()
    }
}

impl Model {
    /// The message of a table's rows with Gaussian noise on its sums. Every row is an expert of its own, so that the sums
    /// are sums over rows: features `v = L^-1 k(Z, x)` with the variance `q = k(x, x) - v'v + noise` (Tresp 2000, eq. 13 for
    /// parts of one row). The number of rows is told as it is; the evidence is not told, and the fingerprint is that
    /// of the noisy sums. Also tells the share of rows that were shortened or cut, which is for the site alone.
    ///
    /// The seed must come from a source of secrets and be used once.
    pub fn private_part_message(
        &self,
        table: &Frame,
        name: &str,
        privacy: &Privacy,
        seed: [u8; 32],
    ) -> Result<(PartMessage, f64)> {
        let numbers = [privacy.features, privacy.targets, privacy.multiplier];
        if numbers.iter().any(|n| !(n.is_finite() && *n > 0.0)) {
            return Err(Error::Spec(
                "bounds and noise must be positive numbers".into(),
            ));
        }
        let shared = self.shared_fingerprint()?;
        let State::Committee(committee) = &self.state else {
            return Err(Error::Spec(
                "only parts of landmarks models can be sent".into(),
            ));
        };
        let data = self.schema().training_data(table)?;
        if data.members().iter().any(|member| member.weight != 1.0) {
            return Err(Error::Spec(
                "weights say that a row stands for several people: none can be given with noise"
                    .into(),
            ));
        }
        let landmarks = committee.under(bound(&self.fitted)?)?;
        let (count, outputs) = (landmarks.count(), committee.total.outputs());
        let mut summary = Summary::empty(count, outputs);
        let mut changed = 0usize;
        let members: Vec<usize> = (0..data.members().len()).collect();
        for wave in members.chunks(WAVE) {
            let groups: Vec<usize> = wave.iter().map(|&i| data.members()[i].group).collect();
            let rows: Vec<f64> = groups
                .iter()
                .flat_map(|&group| data.inputs().row(group).iter().copied())
                .collect();
            let inputs = quorate_gp::data::Inputs::new(&rows, groups.len(), data.inputs().width())?;
            let whitened = landmarks.whitened(inputs);
            let prior = landmarks.kernel().diagonal(inputs);
            for (column, &member) in wave.iter().enumerate() {
                let features = whitened.col_as_slice(column);
                let length: f64 = features.iter().map(|v| v * v).sum();
                let noise = self.fitted.found.noise.variance + data.known_noise()[groups[column]];
                let deviation = ((prior[column] - length).max(0.0) + noise).sqrt();
                let length = length.sqrt() / deviation;
                let shrink =
                    (privacy.features / length.max(f64::MIN_POSITIVE)).min(1.0) / deviation;
                let mut is_changed = length > privacy.features;
                for i in 0..count {
                    let own = features[i] * shrink;
                    let below = &mut summary.information.col_as_slice_mut(i)[i..];
                    for (entry, other) in below.iter_mut().zip(&features[i..]) {
                        *entry += own * other * shrink;
                    }
                }
                for (output, target) in data.own_targets(member).enumerate() {
                    // A row that is shortened counts for less than one row: its target shrinks along, and the mean is not bent.
                    let target = target * shrink;
                    let cut = target.clamp(-privacy.targets, privacy.targets);
                    is_changed |= cut != target;
                    let vector = summary.vector.col_as_slice_mut(output).iter_mut();
                    vector
                        .zip(features)
                        .for_each(|(entry, own)| *entry += own * shrink * cut);
                }
                changed += usize::from(is_changed);
            }
        }
        let share = changed as f64 / members.len().max(1) as f64;
        let deviation = privacy.multiplier * privacy.sensitivity(outputs);
        let mut normal = normals(seed);
        for i in 0..count {
            let below = &mut summary.information.col_as_slice_mut(i)[i..];
            below
                .iter_mut()
                .for_each(|entry| *entry += deviation * normal());
        }
        for output in 0..outputs {
            let vector = summary.vector.col_as_slice_mut(output).iter_mut();
            vector.for_each(|entry| *entry += deviation * normal());
        }
        // Noise leaves directions with less than no information: taking them away uses the noisy sums alone.
        let symmetric = Matrix::from_fn(count, count, |row, column| {
            summary.information[(row.max(column), row.min(column))]
        });
        summary.information = without_negative(&symmetric)?;
        summary.rows = members.len() as f64;
        let record = PartRecord {
            name: name.to_owned(),
            rows: members.len(),
            distinct_rows: members.len(),
            fingerprint: digest(&summary),
            cut: Cut {
                parts: self.spec().parts_through_landmarks(),
                part_size: 1,
                held_out: 0,
                seed: 0,
            },
            streamed: None,
        };
        let message = PartMessage {
            shared,
            summary,
            record,
        };
        message.check().map_err(Error::Spec)?;
        Ok((message, share))
    }
}

/// Standard normal numbers from a secret seed, in pairs (Box and Muller 1958).
fn normals(seed: [u8; 32]) -> impl FnMut() -> f64 {
    let mut random = ChaCha20Rng::from_seed(seed);
    let mut unit = move || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut spare = None;
    move || {
        if let Some(second) = spare.take() {
            return second;
        }
        // Between 0 and 1 with 0 left out, whose logarithm there is not.
        let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
        let angle = 2.0 * PI * unit();
        spare = Some(radius * angle.sin());
        radius * angle.cos()
    }
}

fn digest(summary: &Summary) -> String {
    let mut hash = Sha256::new();
    for column in 0..summary.landmarks() {
        for value in &summary.information.col_as_slice(column)[column..] {
            hash.update(value.to_le_bytes());
        }
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
