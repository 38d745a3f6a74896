//! What is believed about new rows together, and predictions of many rows in pieces.

use quorate_gp::data::Frame;
use quorate_gp::watch::Watch;

use crate::error::{Error, Result};
use crate::model::{Model, one_number};
use crate::prediction::Prediction;
use crate::score::Yardstick;
use crate::task::Forecast;

/// Gaussian beliefs about rows together, in the target's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPrediction {
    /// Expected targets.
    pub mean: Vec<f64>,
    /// Covariance of the latent function between all pairs of rows, row after row.
    pub latent_covariance: Vec<f64>,
    /// Variance of the noise that a new observation adds, for each row.
    pub noise_variance: Vec<f64>,
}

impl JointPrediction {
    /// Covariance of the function (`latent`) or of new observations, row after row.
    pub fn covariance(&self, latent: bool) -> Vec<f64> {
        let mut covariance = self.latent_covariance.clone();
        if !latent {
            let diagonal = covariance.iter_mut().step_by(self.mean.len() + 1);
            let each = diagonal.zip(&self.noise_variance);
            each.for_each(|(variance, noise)| *variance += noise);
        }
        covariance
    }
}

impl Model {
    /// Predicts the rows of a table together, where the method defines a joint covariance.
    pub fn predict_joint(&self, table: &Frame) -> Result<JointPrediction> {
        if !self.components()?.is_empty() {
            return Err(Error::Spec(
                "predictions that average over draws of the hyperparameters are a mixture and have no one covariance: draw functions instead"
                    .into(),
            ));
        }
        let encoded = self.schema().encode(table)?;
        self.only_numbers("a joint covariance")?;
        let noise = self.fitted.found.noise.variance;
        let (joint, noises) = self.joint(self.answers()?, table, &encoded, noise)?;
        let Yardstick { mean, deviation } = Yardstick::from(self.schema());
        let (rows, variance) = (encoded.rows, deviation * deviation);
        let means = (0..rows).map(|row| mean + deviation * joint.mean[(row, 0)]);
        let pairs = (0..rows).flat_map(|row| (0..rows).map(move |column| (row, column)));
        Ok(JointPrediction {
            mean: means.collect(),
            latent_covariance: pairs
                .map(|pair| variance * joint.covariance[pair])
                .collect(),
            noise_variance: noises.iter().map(|noise| variance * noise).collect(),
        })
    }

    /// Predicts the rows of a table as [`Model::forecast_watched`], where the target is one number.
    pub fn predict_watched(&self, table: &Frame, watch: &dyn Watch) -> Result<Prediction> {
        self.forecast_watched(table, watch).and_then(one_number)
    }

    /// What is believed about the rows of a table, in pieces; tells how far it is, and stops when asked to. Each note
    /// comes once.
    pub fn forecast_watched(&self, table: &Frame, watch: &dyn Watch) -> Result<Forecast> {
        let size = self.piece_rows();
        if table.rows() <= size {
            return self.forecast(table);
        }
        let mut whole: Option<Forecast> = None;
        for first in (0..table.rows()).step_by(size) {
            watch.check()?;
            watch.progress("predicting", first, table.rows());
            let last = table.rows().min(first + size);
            let piece = self.forecast(&table.select_rows(&(first..last).collect::<Vec<_>>()))?;
            match &mut whole {
                Some(whole) => whole.append(piece),
                None => whole = Some(piece),
            }
        }
        watch.progress("predicting", table.rows(), table.rows());
        whole.map_or_else(|| self.forecast(table), Ok)
    }

    /// Another model with the same state, for what takes a model apart.
    pub fn fork(&self) -> Model {
        Model::from_parts(self.fitted.clone(), self.state.clone())
    }
}
