//! Two ways of asking what parts have learned in table 4.1: all of them together, as published, or the rows nearest to
//! each question, whichever parts they are in.

use quorate::Result;
use quorate::gp::data::{Dataset, random_rows};
use quorate::gp::gaussian::Marginals;
use quorate::hyper::FromParts;
use quorate::joint::{Cells, JointAnswers, JointShape};
use quorate::local::{LocalAnswers, Neighbourhood};
use quorate::partition::PartedRows;

use super::Context;

/// Questions of a cell, and those of them that are put to the parts at most: the thesis does not say how many it asked together.
pub const QUESTIONS: usize = 1000;
pub const ASKED: usize = 400;
/// Share of the noise variance that may be left unknown of the questions of a cell that are not put to the parts.
pub const UNKNOWN: f64 = 1e-3;
/// Nearest rows of a question, as a committee takes them by default.
pub const NEAREST: usize = 150;
/// Training rows whose error is told.
const TRAIN_ASKED: usize = 10_000;

/// What is asked about, and with whose clock.
pub struct Questions<'a> {
    pub asked: &'a Dataset,
    pub test: &'a Dataset,
    pub context: &'a Context<'a>,
}

/// Errors on training and on test rows in deviations of the training targets, and the seconds of the latter.
pub struct Asked {
    pub train: f64,
    pub test: f64,
    pub seconds: f64,
}

/// The training rows whose error is told.
pub fn some_training_rows(train: &Dataset, seed: u64) -> Dataset {
    train.select(&random_rows(train.rows(), TRAIN_ASKED, seed))
}

impl Questions<'_> {
    /// Put to all parts by the Bayesian committee machine.
    pub fn to_parts(&self, found: &FromParts, rows: &PartedRows, size: usize) -> Result<Asked> {
        let shape = JointShape {
            part_size: size,
            questions: QUESTIONS,
            companions: 0,
            prior: true,
        };
        let members = JointAnswers::new(found.kernel.clone(), found.noise, rows, shape)?;
        let cells = Cells {
            questions: QUESTIONS,
            asked: ASKED,
            unknown: UNKNOWN * found.noise.variance,
        };
        self.put(|rows| members.marginals_in_cells(rows.inputs(), cells, self.context.watch))
    }

    /// Answered from the rows nearest to each, under the same hyperparameters.
    pub fn to_nearest_rows(&self, found: &FromParts, train: &Dataset) -> Result<Asked> {
        let wide = Neighbourhood {
            neighbours: NEAREST,
            together: 32,
            least_rows: 0,
        };
        let (kernel, rows) = (found.kernel.clone(), train.clone());
        let answers = LocalAnswers::new(kernel, found.noise, rows, wide);
        self.put(|rows| answers.marginals(rows.inputs()))
    }

    fn put(&self, answer: impl Fn(&Dataset) -> Result<Marginals>) -> Result<Asked> {
        let error = |rows: &Dataset| -> Result<f64> {
            let belief = answer(rows)?;
            let targets = rows.targets().iter().enumerate();
            let squares = targets.map(|(row, target)| (target - belief.mean[(row, 0)]).powi(2));
            Ok((squares.sum::<f64>() / rows.rows() as f64).sqrt())
        };
        let train = error(self.asked)?;
        let started = (self.context.wall)();
        let test = error(self.test)?;
        Ok(Asked {
            train,
            test,
            seconds: (self.context.wall)() - started,
        })
    }
}
