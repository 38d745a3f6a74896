//! A council with a rule: answers as one, and can sit in a council itself.

use quorate_gp::data::Inputs;
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;

use super::Council;
use crate::error::{Error, Result};
use crate::fusion::{Fusion, Learned, Pool};
use crate::member::{Member, State};

/// Members and the rule by which they answer together.
pub struct Committee {
    council: Council,
    fusion: Fusion,
    learned: Option<Learned>,
}

impl Committee {
    /// A council under a rule, with what was found out about its members where the rule needs that.
    pub fn new(council: Council, fusion: Fusion, learned: Option<Learned>) -> Self {
        Self {
            council,
            fusion,
            learned,
        }
    }

    /// Its members.
    pub fn council(&self) -> &Council {
        &self.council
    }

    /// How they answer together.
    pub fn fusion(&self) -> &Fusion {
        &self.fusion
    }

    /// What was found out about them.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }
}

impl Predict for Committee {
    /// The mean of the members' prior information: the reference of every committee machine.
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        let said = self.council.members().iter().map(|m| m.prior(query));
        let said: Vec<Marginals> = said.collect();
        let count = said.len().max(1) as f64;
        let precision = |row: usize| {
            let each = said.iter().map(|belief| 1.0 / belief.variance[(row, 0)]);
            each.sum::<f64>() / count
        };
        let vector = |row: usize| {
            let each = said
                .iter()
                .map(|belief| belief.mean[(row, 0)] / belief.variance[(row, 0)]);
            each.sum::<f64>() / count
        };
        Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| vector(row) / precision(row)),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| 1.0 / precision(row)),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        self.council
            .ask(query, self.fusion.pool == Pool::Nested)
            .and_then(|said| said.fuse(&self.fusion, self.learned.as_ref()))
            .map_err(|error| match error {
                Error::Gp(error) => error,
                other => quorate_gp::Error::Invalid(other.to_string()),
            })
    }

    fn joint(&self, _query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        Err(quorate_gp::Error::Invalid(
            "opinions are fused one query at a time and have no joint covariance; fit with `--mode joint` for one"
                .into(),
        ))
    }
}

impl Member for Committee {
    fn noise_variance(&self) -> f64 {
        self.council.noise()
    }

    fn state(&self) -> Result<State> {
        Err(Error::Spec(
            "a committee inside a committee cannot be written to a file".into(),
        ))
    }
}
