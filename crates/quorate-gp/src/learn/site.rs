//! Parts wherever they are stored: each answers questions about hyperparameters, and never shows a row.
//!
//! Everything that learns from parts asks through [`Site`]; questions and replies are plain data, so that a site may be a
//! slice of memory, another process or another hospital.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    BlockEvidence, Curved, Evaluation, Message, Objective, Quadratic, SearchLimits, maximise,
};
use crate::data::Dataset;
use crate::kernel::BoundKernel;
use crate::linalg::JitterPolicy;
use crate::watch::{Journal, Watch};
use crate::{Error, Result};

/// What a site can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Log evidence and gradient at a point (Latouche 2007, eq. 4.7-4.8).
    Evaluate {
        /// The point.
        at: Vec<f64>,
    },
    /// The part's evidence as a quadratic, at the maximum of the evidence times what all others say (eq. 4.11). With the
    /// prior alone for the others this is a local Laplace approximation (sec. 4.3.2).
    Expand {
        /// Prior and all other parts.
        others: Quadratic,
        /// Where the search starts.
        start: Vec<f64>,
        /// Within which bounds it stays.
        bounds: Vec<(f64, f64)>,
        /// Which coordinates move.
        free: Vec<bool>,
        /// At most so many steps.
        steps: u64,
    },
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Question::Evaluate`].
    Evaluation(Evaluation),
    /// To [`Question::Expand`].
    Message(Message),
}

/// A part that answers.
pub trait Site: Sync {
    /// Answers; a recoverable error says that the point cannot be computed.
    fn answer(&self, question: &Question, watch: &dyn Watch) -> Result<Reply>;
}

/// A part in this memory.
#[derive(Clone, Copy, Debug)]
pub struct LocalSite<'a> {
    /// Kernels of this shape.
    pub kernel: &'a BoundKernel,
    /// Its rows.
    pub data: &'a Dataset,
    /// How far covariance matrices may be repaired.
    pub policy: JitterPolicy,
}

impl Site for LocalSite<'_> {
    fn answer(&self, question: &Question, watch: &dyn Watch) -> Result<Reply> {
        // Made anew each time: between questions a part holds its rows and no matrix.
        let evidence = BlockEvidence::new(self.kernel, self.data, self.policy);
        match question {
            Question::Evaluate { at } => {
                watch.check()?;
                Ok(Reply::Evaluation(evidence.evaluate(at)?))
            }
            Question::Expand {
                others,
                start,
                bounds,
                free,
                steps,
            } => {
                let objective = Tilted {
                    evidence: &evidence,
                    others,
                };
                let limits = SearchLimits {
                    steps: *steps,
                    relative_gain: 1e-8,
                    ..SearchLimits::default()
                };
                let quiet = Unrecorded(watch);
                let found = maximise(&objective, start, bounds, free, limits, &quiet)?;
                let expansion = evidence.expand(&found.coordinates, free)?;
                let evaluations = found.evaluations;
                Ok(Reply::Message(Message::new(
                    found.coordinates,
                    &expansion,
                    evaluations,
                )))
            }
        }
    }
}

/// A part's evidence times what the others say.
pub(super) struct Tilted<'a> {
    pub evidence: &'a dyn Objective,
    pub others: &'a Quadratic,
}

impl Objective for Tilted<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let own = self.evidence.evaluate(coordinates)?;
        Ok(own.merge(&self.others.evaluate(coordinates)))
    }
}

/// Searches of parts run side by side in no fixed order: they can be interrupted, and are not written down.
pub(super) struct Unrecorded<'a>(pub &'a dyn Watch);

impl Watch for Unrecorded<'_> {
    fn progress(&self, _: &str, _: usize, _: usize) {}

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn journal(&self) -> Option<&dyn Journal> {
        None
    }
}

/// The sum of the log evidences of all sites: hyperparameters that parts share (Latouche 2007, sec. 4.3.1).
pub struct Shared<'a> {
    /// The parts.
    pub sites: &'a [&'a dyn Site],
    /// Told of nothing; asked whether to stop.
    pub watch: &'a dyn Watch,
}

impl Objective for Shared<'_> {
    fn evaluate(&self, coordinates: &[f64]) -> Result<Evaluation> {
        let question = Question::Evaluate {
            at: coordinates.to_vec(),
        };
        let replies: Vec<Reply> = self
            .sites
            .par_iter()
            .map(|site| site.answer(&question, self.watch))
            .collect::<Result<_>>()?;
        let mut total = Evaluation {
            value: 0.0,
            gradient: vec![0.0; coordinates.len()],
        };
        for reply in replies {
            match reply {
                Reply::Evaluation(own) if own.gradient.len() == coordinates.len() => {
                    total = total.merge(&own);
                }
                _ => return Err(misunderstood()),
            }
        }
        Ok(total)
    }
}

pub(super) fn misunderstood() -> Error {
    Error::Invalid("a site answered another question than it was asked".into())
}
