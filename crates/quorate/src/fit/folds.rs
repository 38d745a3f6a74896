//! Parts of the rows, each predicted by a process that has not seen it.

use quorate_gp::data::{Dataset, Member};
use quorate_gp::posterior::{ExactPosterior, LeaveOneOut, Predict};

use crate::error::Result;

/// All rows, and what each was told without its part.
#[derive(Default)]
pub struct Unseen {
    pub members: Vec<Member>,
    pub told: LeaveOneOut,
}

impl Unseen {
    /// Divides distinct rows among so many parts and asks, for each, the process that `condition` makes of the others.
    pub fn of(
        data: &Dataset,
        parts: usize,
        condition: &dyn Fn(Dataset) -> Result<ExactPosterior>,
    ) -> Result<Self> {
        let parts = parts.min(data.rows());
        let mut unseen = Self::default();
        for part in 0..parts {
            let (held, others): (Vec<usize>, Vec<usize>) =
                (0..data.rows()).partition(|row| row % parts == part);
            // A single row can only be asked of itself.
            let others = match others.is_empty() {
                true => data.clone(),
                false => data.select(&others),
            };
            unseen.ask(&condition(others)?, &data.select(&held))?;
        }
        Ok(unseen)
    }

    fn ask(&mut self, posterior: &ExactPosterior, held: &Dataset) -> Result<()> {
        let answers = posterior.marginals(held.inputs())?;
        for (index, member) in held.members().iter().enumerate() {
            let group = member.group;
            for (output, target) in held.own_targets(index).enumerate() {
                self.told.target.push(target);
                self.told.mean.push(answers.mean[(group, output)]);
            }
            self.told.variance.push(answers.variance[(group, 0)]);
            let noise = posterior.noise().variance + held.known_noise()[group];
            self.told.noise.push(noise);
            self.members.push(*member);
        }
        Ok(())
    }
}
