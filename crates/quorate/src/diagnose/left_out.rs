//! A model judged by its own rows, each predicted from the others.

use quorate_gp::data::Member;
use quorate_gp::posterior::LeaveOneOut;
use quorate_gp::watch::Watch;

use super::{Diagnosis, Tally};
use crate::answers::Answers;
use crate::error::Result;
use crate::model::Model;
use crate::prediction::Prediction;
use crate::score::Yardstick;

impl Model {
    /// Diagnoses the model on the training rows whose leave-one-out scores it keeps; none where it keeps no rows.
    pub fn diagnose_left_out(
        &self,
        sampled: usize,
        watch: &dyn Watch,
    ) -> Result<Option<Diagnosis>> {
        self.only_numbers("these pictures")?;
        match self.answers()? {
            Answers::Exact(posterior) => {
                let members = posterior.data().members();
                let inputs = posterior.data().inputs();
                let answers = posterior.leave_one_out();
                let row = |member: &Member| inputs.row(member.group);
                self.tally(members, row, &answers, sampled).map(Some)
            }
            Answers::Local(local) => {
                let places = crate::fit::scored_rows(local.data(), self.spec());
                let (members, answers) =
                    local.leave_one_out(&places, local.rows_in_company(), watch)?;
                let inputs = local.data().inputs();
                let row = |member: &Member| inputs.row(member.group);
                self.tally(&members, row, &answers, sampled).map(Some)
            }
            // The pictures are of Gaussians, which a mixture's answers are not.
            Answers::Mixture(_) => Ok(None),
            // Their scores are of rows that were held out and then taken in.
            Answers::Landmarks(_)
            | Answers::Joint(_)
            | Answers::Supported(_)
            | Answers::Latent(_)
            | Answers::Coupled(_) => Ok(None),
        }
    }

    fn tally<'a>(
        &self,
        members: &[Member],
        inputs: impl Fn(&Member) -> &'a [f64],
        answers: &LeaveOneOut,
        sampled: usize,
    ) -> Result<Diagnosis> {
        let yardstick = Yardstick::from(self.schema());
        let Yardstick { mean, deviation } = yardstick;
        let columns = self.map_columns()?.columns();
        let mut tally = Tally::new(yardstick, columns, sampled, self.spec().seed);
        let mut told = Prediction::of_left_out(answers, yardstick);
        if let Some(spread) = &self.fitted.found.spread {
            let each = members.iter().zip(&answers.mean);
            let factors = each.map(|(member, answer)| spread.factor(*answer, inputs(member)));
            spread.widen_by(&mut told, factors, deviation * deviation);
        }
        let rows = members.iter().map(|member| {
            (
                mean + deviation * member.target,
                member.weight,
                inputs(member),
            )
        });
        tally.add_all(&told, rows);
        tally.finish()
    }
}
