//! Evidence and its gradient at any hyperparameters, of a whole model or part by part.
//!
//! Objectives are sums over parts, so whoever brings their own engine can evaluate parts where they are stored and add:
//! block evidence in one pass, committee evidence in two (first the summaries at a point, whose sum gives the value, then
//! what each part adds to the gradient, given that sum).

use quorate_gp::data::{Dataset, Frame};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::learn::{BlockEvidence, Evaluation, Objective, at};
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::parameters::Parameter;
use quorate_gp::watch::Unwatched;

use crate::answers::Method;
use crate::error::{Error, Result};
use crate::landmarks::{State, Summary, cut, part_gradient};
use crate::model::Model;
use crate::partition::Labels;
use crate::parts::further_cut;

impl Model {
    /// The hyperparameters in the order of a point's coordinates: the kernel's, then the noise variance. Coordinates of
    /// positive ones are their logarithms.
    pub fn hyperparameters(&self) -> Result<Vec<Parameter>> {
        if self.fitted.found.through.is_some() {
            return Err(Error::Spec(
                "the evidence at other hyperparameters can be had with Gaussian noise only".into(),
            ));
        }
        let mut parameters = self.bound()?.parameters();
        parameters.push(self.fitted.found.noise.parameter());
        Ok(parameters)
    }

    /// Log evidence of the standardised training rows as one exact process, with its gradient, at any coordinates.
    pub fn evidence_at(&self, coordinates: &[f64]) -> Result<Evaluation> {
        match (&self.state, self.fitted.found.method) {
            (State::Rows(data), Method::Exact) => self.block_evidence(data, coordinates),
            (
                State::Rows(_) | State::Parts(_) | State::Supported(..) | State::Mixture(_),
                _,
            ) => Err(Error::Spec(
                "the evidence of all rows as one process belongs to exact models: fit with `--method exact`"
                    .into(),
            )),
            (State::Committee(_), _) => Err(Error::Spec(
                "a landmarks model has no rows to evaluate at other hyperparameters; parts can be, where they are stored"
                    .into(),
            )),
        }
    }

    /// Log evidence of the rows of a table as one block, encoded as this model does, with its gradient.
    pub fn block_evidence_of(&self, table: &Frame, coordinates: &[f64]) -> Result<Evaluation> {
        self.block_evidence(&self.schema().training_data(table)?, coordinates)
    }

    /// The same landmarks model at other hyperparameters, with no rows: parts absorbed into it add up to the summary
    /// that the committee evidence at these coordinates needs.
    pub fn emptied_at(&self, coordinates: &[f64]) -> Result<Model> {
        let State::Committee(committee) = &self.state else {
            return Err(needs_landmarks());
        };
        self.check_length(coordinates)?;
        let (kernel, noise) = at(&self.bound()?, coordinates)?;
        let mut fitted = self.fitted.clone();
        fitted.found.kernel = kernel.kernel();
        fitted.found.noise = noise;
        fitted.found.log_evidence = Some(0.0);
        fitted.found.effective_parameters = Some(0.0);
        let mut committee = committee.clone();
        committee.total = Summary::empty(committee.total.landmarks(), committee.total.outputs());
        committee.parts.clear();
        Ok(Model::from_parts(fitted, State::Committee(committee)))
    }

    /// What the rows of a table, cut into experts as `update` cuts them, add to the gradient of the committee evidence
    /// of everything absorbed here. The sum over all parts is the whole gradient.
    pub fn committee_gradient(&self, table: &Frame) -> Result<Vec<f64>> {
        let State::Committee(committee) = &self.state else {
            return Err(needs_landmarks());
        };
        self.hyperparameters()?;
        let data = self.schema().training_data(table)?;
        let kernel = self.bound()?;
        let belief = committee.belief(kernel.clone())?;
        let how = further_cut(&self.fitted, data.rows());
        let labels = Labels::of(&how.parts, table)?;
        let parts = cut(&kernel, &data, &how, labels.as_ref(), &Unwatched)?;
        Ok(part_gradient(&belief, self.fitted.found.noise, &parts)?)
    }

    fn block_evidence(&self, data: &Dataset, coordinates: &[f64]) -> Result<Evaluation> {
        self.check_length(coordinates)?;
        let kernel = self.bound()?;
        let evidence = BlockEvidence::new(&kernel, data, JitterPolicy::default());
        Ok(evidence.evaluate(coordinates)?)
    }

    fn check_length(&self, coordinates: &[f64]) -> Result<()> {
        let expected = self.hyperparameters()?.len();
        if coordinates.len() == expected {
            return Ok(());
        }
        Err(quorate_gp::Error::Shape {
            what: "hyperparameters",
            expected,
            found: coordinates.len(),
        }
        .into())
    }

    fn bound(&self) -> Result<BoundKernel> {
        Ok(self.kernel().bind(self.schema().columns())?)
    }
}

fn needs_landmarks() -> Error {
    Error::Spec("only a committee that speaks through landmarks has a summary: fit with `--method committee --mode landmarks`, or `quorate prepare`".into())
}
