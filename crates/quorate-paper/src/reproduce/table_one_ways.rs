//! One process and committees over rows of two classes, and the width of their prior (GBCM, section 7).

use quorate::Result;
use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::{Extras, Latent, Observations};
use quorate_gp::posterior::Working;

use super::classes::Classes;
use super::generalized::{ClassCommittee, log_loss, one_process, percent_correct};
use super::setting::scaled_prior;

/// The prior's variance (GBCM, section 7: A = 10, a weak prior).
const AMPLITUDE: f64 = 10.0;
/// Rows that choose the width (the same place).
const VALIDATION: usize = 100;
/// Widths looked at; distances grow with the root of the number of inputs, so each is times that.
const WIDTHS: [f64; 9] = [0.15, 0.25, 0.4, 0.6, 0.9, 1.3, 2.0, 3.0, 4.5];

/// The table's rows: one process, then committees of module size K/M and query-set size N_Q.
pub const COMMITTEES: [Option<(usize, usize)>; 5] = [
    None,
    Some((10, 50)),
    Some((100, 50)),
    Some((10, 100)),
    Some((100, 100)),
];

/// Who answers: one process, or a committee whose modules are expanded at modes of their own or at a common one.
#[derive(Clone, Copy)]
pub struct Way {
    pub committee: Option<(usize, usize)>,
    pub in_common: bool,
}

impl Way {
    /// One process over all rows.
    pub const PROCESS: Way = Way {
        committee: None,
        in_common: false,
    };

    /// The same asked about all questions at a time.
    pub fn asked_together(self) -> Self {
        Self {
            committee: self.committee.map(|(module, _)| (module, usize::MAX)),
            ..self
        }
    }

    pub fn name(self) -> String {
        match self.committee {
            None => "GPR".to_owned(),
            Some((module, questions)) => format!("GBCM({module}, {questions})"),
        }
    }

    /// Percent correct at the test rows.
    pub fn percent(self, kernel: &BoundKernel, train: &Classes, test: &Classes) -> Result<f64> {
        let inputs = Inputs::new(&test.values, test.labels.len(), test.width)?;
        let beliefs = self.beliefs(kernel, train.data()?, inputs)?;
        let means: Vec<f64> = beliefs.iter().map(|belief| belief.mean).collect();
        let sides: Vec<f64> = test.labels.iter().map(|label| label - 0.5).collect();
        Ok(percent_correct(&means, &sides))
    }

    /// The prior whose width predicts a hundred of the rows best when they are answered this way.
    pub fn validated(self, train: &Classes, seed: u64) -> Result<BoundKernel> {
        let count = train.labels.len();
        let held = random_rows(count, VALIDATION, seed ^ 0x5a);
        let others: Vec<usize> = (0..count)
            .filter(|row| held.binary_search(row).is_err())
            .collect();
        let (data, validation) = (train.select(&others).data()?, train.select(&held).data()?);
        let unit = (train.width as f64).sqrt();
        let mut best: Option<(f64, BoundKernel)> = None;
        for width in WIDTHS {
            let kernel = scaled_prior(train.width, AMPLITUDE, width * unit)?;
            let beliefs = self.beliefs(&kernel, data.clone(), validation.inputs())?;
            let loss = log_loss(&beliefs, &validation)?;
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, kernel));
            }
        }
        match best {
            Some((_, kernel)) => Ok(kernel),
            None => scaled_prior(train.width, AMPLITUDE, unit),
        }
    }

    fn beliefs(
        self,
        kernel: &BoundKernel,
        data: Dataset,
        asked: Inputs<'_>,
    ) -> Result<Vec<Latent>> {
        let Some((module, questions)) = self.committee else {
            return Ok(one_process(kernel, data)?.latents(asked)?);
        };
        let all: Vec<usize> = (0..data.rows()).collect();
        let modules: Vec<Vec<usize>> = all.chunks(module).map(<[usize]>::to_vec).collect();
        let parts = data.split(&modules);
        let expanded = if self.in_common {
            let process = one_process(kernel, data)?;
            let mut expanded = Vec::with_capacity(parts.len());
            for (part, rows) in parts.iter().zip(&modules) {
                let latent: Vec<f64> = rows.iter().map(|&row| process.mode()[row]).collect();
                let seen = Observations::of(part, Extras::default())?;
                expanded.push(Working::at(process.likelihood(), &seen, &latent)?);
            }
            expanded
        } else {
            let own = |part: &Dataset| Ok(one_process(kernel, part.clone())?.working());
            parts.iter().map(own).collect::<Result<Vec<Working>>>()?
        };
        let mut beliefs = Vec::with_capacity(asked.rows());
        for start in (0..asked.rows()).step_by(questions) {
            let inputs = asked.slice(start, start.saturating_add(questions).min(asked.rows()));
            let mut committee = ClassCommittee::new(kernel, inputs)?;
            for (part, working) in parts.iter().zip(&expanded) {
                committee.hear_expanded(part.inputs(), working)?;
            }
            beliefs.extend(committee.beliefs()?);
        }
        Ok(beliefs)
    }
}
