//! What a committee owes to the differences of its members (Tresp 2001, *Committee Machines*, eq. 1-4).

use quorate_gp::linalg::Matrix;

/// One committee's error split into that of its members and their disagreement (eq. 4; Krogh and Vedelsby 1995):
/// `(sum g_i f_i - t)^2 = sum g_i (f_i - t)^2 - sum g_i (f_i - sum g_j f_j)^2` for weights that sum to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambiguity {
    /// Mean squared error of the committee.
    pub committee: f64,
    /// Weighted mean of the members' mean squared errors.
    pub members: f64,
    /// Weighted mean squared distance of the members from the committee: what averaging gains.
    pub ambiguity: f64,
}

impl Ambiguity {
    /// Of predictions with a row for each target and a column for each member.
    pub fn of(targets: &[f64], means: &Matrix, weights: &[f64]) -> Self {
        let mut sums = (0.0, 0.0, 0.0);
        for (row, target) in targets.iter().enumerate() {
            let said = |member: usize| means[(row, member)];
            let together: f64 = weights.iter().enumerate().map(|(i, g)| g * said(i)).sum();
            sums.0 += (together - target).powi(2);
            for (member, weight) in weights.iter().enumerate() {
                sums.1 += weight * (said(member) - target).powi(2);
                sums.2 += weight * (said(member) - together).powi(2);
            }
        }
        let rows = targets.len().max(1) as f64;
        Self {
            committee: sums.0 / rows,
            members: sums.1 / rows,
            ambiguity: sums.2 / rows,
        }
    }
}

/// The expected error of an averaging committee over training sets (eq. 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// `(1/M sum_i (m_i - t))^2`.
    pub squared_bias: f64,
    /// `1/M^2 sum_i Omega_ii`: falls as one over the number of members.
    pub variance: f64,
    /// `1/M^2 sum_{i != j} Omega_ij`: does not fall.
    pub covariance: f64,
}

impl Decomposition {
    /// Of committees trained on several sets, each with a row for each target and a column for each member; expectations
    /// are means over the sets. None when there is no set.
    pub fn of(truth: &[f64], sets: &[Matrix]) -> Option<Self> {
        let members = sets.first()?.ncols();
        let count = sets.len() as f64;
        let square = (members * members) as f64;
        let mut found = Self {
            squared_bias: 0.0,
            variance: 0.0,
            covariance: 0.0,
        };
        for (row, target) in truth.iter().enumerate() {
            let expected: Vec<f64> = (0..members)
                .map(|i| sets.iter().map(|set| set[(row, i)]).sum::<f64>() / count)
                .collect();
            let bias: f64 = expected.iter().map(|m| m - target).sum::<f64>() / members as f64;
            found.squared_bias += bias * bias;
            for set in sets {
                let away: Vec<f64> = (0..members).map(|i| set[(row, i)] - expected[i]).collect();
                let squares: f64 = away.iter().map(|a| a * a).sum();
                found.variance += squares / square / count;
                found.covariance += (away.iter().sum::<f64>().powi(2) - squares) / square / count;
            }
        }
        let rows = truth.len().max(1) as f64;
        found.squared_bias /= rows;
        found.variance /= rows;
        found.covariance /= rows;
        Some(found)
    }
}
