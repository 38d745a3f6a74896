//! The generalized committee for two classes: every module is expanded at its own mode and then adds like rows with
//! Gaussian noise (GBCM 5.1, 5.2 and App. A and B).

use quorate::Result;
use quorate::landmarks::Landmarks;
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::{BoundKernel, tiles};
use quorate_gp::likelihood::{Extras, Latent, Likelihood, Observations};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, add_product};
use quorate_gp::posterior::{LaplacePosterior, Working};

/// What was said of the query points so far: `B - I` (its lower half) and `b`.
pub struct ClassCommittee {
    questions: Landmarks,
    information: Matrix,
    vector: Matrix,
}

impl ClassCommittee {
    /// A committee that will answer these questions.
    pub fn new(kernel: &BoundKernel, questions: Inputs<'_>) -> Result<Self> {
        let count = questions.rows();
        // Close questions make their prior singular to rounding.
        let policy = JitterPolicy {
            start: 1e-10,
            first: 1e-9,
            last: 1e-5,
        };
        Ok(Self {
            questions: Landmarks::with_jitter(kernel.clone(), questions, policy)?,
            information: Matrix::zeros(count, count),
            vector: Matrix::zeros(count, 1),
        })
    }

    /// Hears one module, whose targets are 0 and 1.
    pub fn hear(&mut self, module: Dataset) -> Result<()> {
        let member = one_process(self.questions.kernel(), module)?;
        self.hear_expanded(member.data().inputs(), &member.working())
    }

    /// Hears rows that were expanded at any latent values.
    pub fn hear_expanded(&mut self, inputs: Inputs<'_>, working: &Working) -> Result<()> {
        let seen = self.questions.whitened(inputs);
        let mut remainder = tiles::block(self.questions.kernel(), inputs, inputs);
        add_product(
            remainder.as_mut(),
            -1.0,
            seen.as_ref().transpose(),
            seen.as_ref(),
        );
        let condensed = working.condense(remainder.as_ref())?;
        let own = Matrix::from_fn(condensed.vector().len(), 1, |row, _| {
            condensed.vector()[row]
        });
        add_product(self.vector.as_mut(), 1.0, seen.as_ref(), own.as_ref());
        let mut whitened = seen.transpose().to_owned();
        condensed.whiten(whitened.as_mut());
        // The Gram matrix of the columns is V Q^-1 V'.
        add_gram_lower(self.information.as_mut(), 1.0, whitened.as_ref());
        Ok(())
    }

    /// Latent means at the questions: `L B^-1 b`. Their sign is the decision.
    pub fn means(&self) -> Result<Vec<f64>> {
        self.means_under(&self.factor()?)
    }

    /// Latent beliefs at the questions; their covariance is `L B^-1 L'`.
    pub fn beliefs(&self) -> Result<Vec<Latent>> {
        let factor = self.factor()?;
        let count = self.questions.count();
        let unit = Matrix::from_fn(count, count, |row, column| f64::from(row == column));
        let prior = self.questions.factor().colour(unit.as_ref());
        let mut spread = prior.transpose().to_owned();
        factor.whiten(spread.as_mut());
        let means = self.means_under(&factor)?.into_iter().enumerate();
        Ok(means
            .map(|(place, mean)| Latent {
                mean,
                variance: (0..count).map(|row| spread[(row, place)].powi(2)).sum(),
            })
            .collect())
    }

    fn factor(&self) -> Result<Factor> {
        let count = self.questions.count();
        Ok(Factor::new(count, JitterPolicy::default(), |mut out| {
            for column in 0..count {
                for row in column..count {
                    out[(row, column)] = self.information[(row, column)];
                }
                out[(column, column)] += 1.0;
            }
        })?)
    }

    fn means_under(&self, factor: &Factor) -> Result<Vec<f64>> {
        let mut answer = self.vector.clone();
        factor.solve(answer.as_mut());
        let means = self.questions.factor().colour(answer.as_ref());
        Ok((0..self.questions.count())
            .map(|row| means[(row, 0)])
            .collect())
    }
}

/// One process over rows of two classes.
pub fn one_process(kernel: &BoundKernel, rows: Dataset) -> Result<LaplacePosterior> {
    let likelihood: Likelihood = "bernoulli".parse()?;
    let seen = Observations::of(&rows, Extras::default())?;
    Ok(LaplacePosterior::fit(
        kernel.clone(),
        likelihood,
        rows,
        seen,
        None,
    )?)
}

/// Log loss of latent beliefs about rows whose classes are known.
pub fn log_loss(beliefs: &[Latent], rows: &Dataset) -> Result<f64> {
    let likelihood: Likelihood = "bernoulli".parse()?;
    let members = rows.members();
    let loss = members.iter().map(|member| {
        let one = likelihood.mean(beliefs[member.group]);
        let own = if member.target > 0.5 { one } else { 1.0 - one };
        -own.max(f64::MIN_POSITIVE).ln()
    });
    Ok(loss.sum::<f64>() / members.len() as f64)
}

/// The share of questions whose decision is right, in percent.
pub fn percent_correct(means: &[f64], truth: &[f64]) -> f64 {
    let right = means
        .iter()
        .zip(truth)
        .filter(|(mean, truth)| (**mean > 0.0) == (**truth > 0.0));
    100.0 * right.count() as f64 / truth.len() as f64
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::reproduce::setting::{Art, INPUTS, scaled_prior};

    #[test]
    fn one_module_answers_as_one_process() {
        let mut art = Art::new(5, 0.3);
        let (rows, questions) = (art.rows(50).unwrap(), art.questions(17));
        let labels = rows.targets().iter().map(|y| f64::from(*y > 0.0)).collect();
        let values = rows.inputs().values().to_vec();
        let rows = Dataset::new(values, INPUTS, labels, None, None).unwrap();
        let kernel = scaled_prior(INPUTS, 4.0, 0.9).unwrap();
        let asked = questions.inputs().unwrap();
        let mut committee = ClassCommittee::new(&kernel, asked).unwrap();
        committee.hear(rows.clone()).unwrap();
        let process = one_process(&kernel, rows).unwrap();
        let beliefs = process.latents(asked).unwrap();
        for (own, belief) in committee.beliefs().unwrap().iter().zip(&beliefs) {
            assert!((own.variance - belief.variance).abs() < 1e-6);
        }
        for (mean, belief) in committee.means().unwrap().iter().zip(beliefs) {
            assert!((mean - belief.mean).abs() < 1e-6, "{mean} {}", belief.mean);
        }
    }
}
