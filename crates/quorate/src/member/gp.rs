//! A Gaussian process as a member: one kernel for all, each conditioned on rows of its own.

use quorate_gp::data::{Dataset, InputColumn, Inputs, random_rows};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchLimits, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::{ExactPosterior, Predict};
use serde::{Deserialize, Serialize};

use super::state::lists_of_rows;
use super::{Member, Recipe, Setting, State};
use crate::error::Result;
use crate::fit::auto::with_categories;

/// Rows from whose evidence the hyperparameters are learned.
const LEARN_ROWS: usize = 500;
const FIRST_NOISE: GaussianNoise = GaussianNoise { variance: 0.1 };

/// An exact posterior in a committee.
#[derive(Clone, Debug)]
pub struct ProcessMember(ExactPosterior);

impl ProcessMember {
    /// A process that has seen its rows.
    pub fn new(posterior: ExactPosterior) -> Self {
        Self(posterior)
    }
}

impl Predict for ProcessMember {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        self.0.prior(query)
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        self.0.marginals(query)
    }

    fn joint(&self, query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        self.0.joint(query)
    }
}

impl Member for ProcessMember {
    fn noise_variance(&self) -> f64 {
        self.0.noise().variance
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.0.log_evidence())
    }

    fn process(&self) -> Option<&ExactPosterior> {
        Some(&self.0)
    }

    fn state(&self) -> Result<State> {
        let stored = Stored {
            kernel: self.0.kernel().kernel(),
            columns: self.0.kernel().columns().to_vec(),
            noise: self.0.noise(),
        };
        State::new(&stored, lists_of_rows(self.0.data()))
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    columns: Vec<InputColumn>,
    noise: GaussianNoise,
}

pub fn restore(state: &State) -> Result<Box<dyn Member>> {
    let stored: Stored = state.read()?;
    let rows = state.rows(0, stored.columns.len(), 1)?;
    let kernel = stored.kernel.bind(&stored.columns)?;
    let posterior = ExactPosterior::condition(kernel, stored.noise, rows, JitterPolicy::default())?;
    Ok(Box::new(ProcessMember(posterior)))
}

struct Process {
    kernel: BoundKernel,
    noise: GaussianNoise,
}

impl Recipe for Process {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let posterior = ExactPosterior::condition(
            self.kernel.clone(),
            self.noise,
            rows.clone(),
            JitterPolicy::default(),
        )?;
        Ok(Box::new(ProcessMember(posterior)))
    }
}

pub fn prepare(setting: &Setting<'_>, rows: &Dataset) -> Result<Box<dyn Recipe>> {
    let kernel: Kernel = with_categories(setting.columns, "matern52(ard)").parse()?;
    let trial = rows.select(&random_rows(rows.rows(), LEARN_ROWS, setting.seed));
    let mut bound = kernel.bind(setting.columns)?;
    bound.initialise(trial.inputs(), trial.targets());
    let search = Search {
        restarts: Some(0),
        seed: setting.seed,
        limits: SearchLimits {
            steps: 60,
            relative_gain: 1e-5,
            ..SearchLimits::default()
        },
        ..Search::default()
    };
    let (kernel, noise, _) = learn(&bound, FIRST_NOISE, &trial, &search, setting.watch)?;
    Ok(Box::new(Process { kernel, noise }))
}
