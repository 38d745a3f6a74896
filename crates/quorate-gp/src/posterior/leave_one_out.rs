//! Leave-one-out predictions in closed form (Rasmussen and Williams 2006, sec. 5.4.2), for groups of equal inputs too.

use super::ExactPosterior;
use crate::data::Member;

/// What each row would have been told had it not been seen, and the effective number of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaveOneOut {
    /// The target of each original row; those of several outputs follow each other.
    pub target: Vec<f64>,
    /// Latent mean for each original row, without that row; those of several outputs follow each other.
    pub mean: Vec<f64>,
    /// Latent variance for each original row, without that row.
    pub variance: Vec<f64>,
    /// Noise variance of each original row (one copy of it).
    pub noise: Vec<f64>,
    /// `trace(K (K + Psi)^-1)`: how many parameters the rows pin down (Tresp 2000, sec. 6.1).
    pub effective_parameters: f64,
}

impl LeaveOneOut {
    /// The answers about one of several outputs.
    pub fn of_output(&self, output: usize, outputs: usize) -> LeaveOneOut {
        let every = |values: &[f64]| {
            let own = values.iter().skip(output).step_by(outputs.max(1));
            own.copied().collect()
        };
        LeaveOneOut {
            target: every(&self.target),
            mean: every(&self.mean),
            ..self.clone()
        }
    }

    /// Adds row `index` of another set of answers.
    pub fn push(&mut self, other: &LeaveOneOut, index: usize) {
        let outputs = other.mean.len() / other.variance.len().max(1);
        let own = index * outputs..(index + 1) * outputs;
        self.target.extend_from_slice(&other.target[own.clone()]);
        self.mean.extend_from_slice(&other.mean[own]);
        self.variance.push(other.variance[index]);
        self.noise.push(other.noise[index]);
    }
}

impl ExactPosterior {
    /// Leave-one-out answers for every original row, in the order of [`crate::data::Dataset::members`].
    ///
    /// Leaving out a whole group i of equal inputs gives the latent variance `1 / [C^-1]_ii - Psi_i` and the mean
    /// `ybar_i - [C^-1 y]_i / [C^-1]_ii`, with `C = K + Psi`. The other members of the row's own group are then put
    /// back as one more Gaussian observation.
    pub fn leave_one_out(&self) -> LeaveOneOut {
        let groups: Vec<usize> = (0..self.data().rows()).collect();
        self.leave_one_out_of(&groups).1
    }

    /// The members of some groups, given in increasing order, with their leave-one-out answers; the effective parameters
    /// are those of these groups.
    pub fn leave_one_out_of(&self, groups: &[usize]) -> (Vec<Member>, LeaveOneOut) {
        let data = self.data();
        let psi = self.noise().group_variances(data);
        let mut precision: Vec<Option<f64>> = vec![None; data.rows()];
        for (&group, entry) in groups.iter().zip(self.factor().inverse_diagonal(groups)) {
            precision[group] = Some(entry);
        }
        let share = |&group: &usize| precision[group].map_or(0.0, |p| 1.0 - p * psi[group]);
        let mut answer = LeaveOneOut {
            effective_parameters: groups.iter().map(share).sum(),
            ..LeaveOneOut::default()
        };
        let mut members = Vec::new();
        for (index, member) in data.members().iter().enumerate() {
            let group = member.group;
            let Some(precision) = precision[group] else {
                continue;
            };
            let noise = self.noise().variance + data.known_noise()[group];
            let alone = (1.0 / precision - psi[group]).max(0.0);
            let others = data.weights()[group] - member.weight;
            let mut variance = alone;
            for (output, own) in data.own_targets(index).enumerate() {
                let seen = data.targets_of(output)[group];
                let mut mean = seen - self.weights()[(group, output)] / precision;
                // A remainder of pure rounding is nobody: dividing by it would invent an observation.
                if others > 1e-12 * data.weights()[group] {
                    let total = seen * data.weights()[group];
                    let rest = (total - own * member.weight) / others;
                    (mean, variance) = observe(mean, alone, rest, noise / others);
                }
                answer.target.push(own);
                answer.mean.push(mean);
            }
            answer.variance.push(variance);
            answer.noise.push(noise);
            members.push(*member);
        }
        (members, answer)
    }
}

/// A Gaussian belief after one observation with the given noise.
fn observe(mean: f64, variance: f64, seen: f64, noise: f64) -> (f64, f64) {
    let gain = variance / (variance + noise);
    (mean + gain * (seen - mean), variance * (1.0 - gain))
}
