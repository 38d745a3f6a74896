//! The committee as first published: modules asked about all query points together (GBCM eq. 4-5).

use quorate::Result;
use quorate::joint::Member;
use quorate::landmarks::{LandmarkBelief, Landmarks, SummaryTree};
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::Predict;

/// Modules are heard one after the other and let go: memory does not grow with their number.
pub struct Committee {
    noise: GaussianNoise,
    questions: Landmarks,
    heard: SummaryTree,
}

impl Committee {
    /// A committee that will answer these questions; `noise` is a standard deviation.
    pub fn new(kernel: &BoundKernel, noise: f64, questions: Inputs<'_>) -> Result<Self> {
        // Close questions make their prior singular to rounding.
        let policy = JitterPolicy {
            start: 0.0,
            first: 1e-12,
            last: 1e-6,
        };
        Ok(Self {
            noise: GaussianNoise {
                variance: noise * noise,
            },
            questions: Landmarks::with_jitter(kernel.clone(), questions, policy)?,
            heard: SummaryTree::default(),
        })
    }

    /// Hears the rows of a data set in modules of `size` rows, as they come.
    pub fn hear(&mut self, data: &Dataset, size: usize) -> Result<()> {
        let all: Vec<usize> = (0..data.rows()).collect();
        let modules: Vec<Vec<usize>> = all.chunks(size).map(<[usize]>::to_vec).collect();
        // Cut in one pass: taking modules out one by one would look at all rows for each.
        for part in data.split(&modules) {
            let member = Member::new(self.questions.kernel(), self.noise, part)?;
            self.heard.push(member.opinion(&self.questions)?)?;
        }
        Ok(())
    }

    /// Means at the questions, of everything heard so far.
    pub fn means(&self) -> Result<Vec<f64>> {
        let total = self.heard.clone().total(self.questions.count())?;
        let belief = LandmarkBelief::new(self.questions.clone(), &total)?;
        let answer = belief.marginals(self.questions.inputs())?;
        Ok((0..self.questions.count())
            .map(|row| answer.mean[(row, 0)])
            .collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::reproduce::setting::{Art, exact, exact_means, prior};

    #[test]
    fn one_module_is_the_exact_process() {
        let mut art = Art::new(3, 0.2);
        let (data, questions) = (art.rows(60).unwrap(), art.questions(25));
        let kernel = prior(0.8).unwrap();
        let mut committee = Committee::new(&kernel, 0.2, questions.inputs().unwrap()).unwrap();
        committee.hear(&data, 60).unwrap();
        let posterior = exact(&kernel, 0.2, data).unwrap();
        let pairs = exact_means(&posterior, &questions).unwrap();
        for (exact, ours) in pairs.iter().zip(committee.means().unwrap()) {
            assert!((exact - ours).abs() < 1e-8, "{exact} {ours}");
        }
    }
}
