//! What a shell holds: a specification and the state fitted under it.

use std::path::Path;
use std::sync::OnceLock;

use quorate_gp::data::{Dataset, Frame, Inputs, Schema};
use quorate_gp::kernel::Kernel;
use quorate_gp::learn::{Search, SearchRecord, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Jitter, JitterPolicy};
use quorate_gp::posterior::{ExactPosterior, Predict, draw};
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use crate::auto::{self, Candidate};
use crate::error::{Error, Result};
use crate::prediction::Prediction;
use crate::score::{Scores, Yardstick};
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};

/// Noise variance learning starts from, in units of the target's variance.
const FIRST_NOISE: f64 = 0.1;
/// Bytes an exact fit may take: two n x n matrices.
const EXACT_BYTES: u64 = 16 << 30;

/// Everything about a fitted model but its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub spec: ModelSpec,
    pub schema: Schema,
    pub kernel: Kernel,
    pub noise: GaussianNoise,
    pub jitter: Jitter,
    pub log_evidence: f64,
    pub effective_parameters: f64,
    pub leave_one_out: Scores,
    pub candidates: Vec<Candidate>,
    pub history: Vec<SearchRecord>,
    pub outcome: String,
    pub notes: Vec<String>,
}

/// A fitted model: predicts, scores, explains itself, and lives in a file.
#[derive(Debug)]
pub struct Model {
    pub(crate) summary: Summary,
    pub(crate) data: Dataset,
    /// Factored when first asked: a loaded model that is only inspected needs no factor.
    posterior: OnceLock<ExactPosterior>,
}

impl Model {
    /// Fits a table under a specification.
    pub fn fit(spec: &ModelSpec, table: &Frame, watch: &dyn Watch) -> Result<Model> {
        let (schema, mut notes) = Schema::learn(table, &spec.roles())?;
        let data = schema.training_data(table)?;
        check_memory(data.rows())?;
        let merged = data.members().len() - data.rows();
        if merged > 0 {
            notes.push(format!(
                "{merged} of {} rows repeat the inputs of another and were merged with it",
                data.members().len()
            ));
        }
        let found = find_hyperparameters(spec, &schema, &data, watch)?;
        // Bound anew from its text, so that the model in memory and the model read from its file are the same numbers.
        let bound = found.kernel.bind(schema.columns())?;
        for column in bound.unused_columns() {
            notes.push(format!(
                "input `{}` is not used by the kernel",
                schema.columns()[column].label()
            ));
        }
        watch.progress("conditioning on all rows", 0, 1);
        let posterior =
            ExactPosterior::condition(bound, found.noise, data.clone(), JitterPolicy::default())?;
        let yardstick = yardstick(&schema);
        let answers = posterior.leave_one_out();
        let jitter = posterior.jitter();
        if jitter.relative > 0.0 {
            notes.push(format!(
                "the covariance needed jitter of {:.0e} of its diagonal",
                jitter.relative
            ));
        }
        watch.progress("conditioning on all rows", 1, 1);
        let summary = Summary {
            spec: spec.clone(),
            kernel: found.kernel,
            noise: found.noise,
            jitter,
            log_evidence: posterior.log_evidence(),
            effective_parameters: answers.effective_parameters,
            leave_one_out: auto::leave_one_out_scores(&posterior, yardstick)?,
            candidates: found.candidates,
            history: found.history,
            outcome: found.outcome,
            notes,
            schema,
        };
        Ok(Model {
            summary,
            data,
            posterior: OnceLock::from(posterior),
        })
    }

    pub(crate) fn from_parts(summary: Summary, data: Dataset) -> Model {
        Model {
            summary,
            data,
            posterior: OnceLock::new(),
        }
    }

    /// Sentences for people about the fit.
    pub fn notes(&self) -> &[String] {
        &self.summary.notes
    }

    /// How learning ended, in one sentence.
    pub fn outcome(&self) -> &str {
        &self.summary.outcome
    }

    /// Scores of every row predicted from all others.
    pub fn leave_one_out(&self) -> &Scores {
        &self.summary.leave_one_out
    }

    /// The choices the model was fitted under.
    pub fn spec(&self) -> &ModelSpec {
        &self.summary.spec
    }

    /// How tables are encoded for it.
    pub fn schema(&self) -> &Schema {
        &self.summary.schema
    }

    /// The kernel with the values found.
    pub fn kernel(&self) -> &Kernel {
        &self.summary.kernel
    }

    /// Log evidence of the standardised rows.
    pub fn log_evidence(&self) -> f64 {
        self.summary.log_evidence
    }

    /// Predicts the rows of a table.
    pub fn predict(&self, table: &Frame) -> Result<Prediction> {
        let encoded = self.schema().encode(table)?;
        let mut prediction = self.predict_encoded(encoded.inputs())?;
        prediction.notes.extend(encoded.notes.iter().cloned());
        Ok(prediction)
    }

    fn predict_encoded(&self, query: Inputs<'_>) -> Result<Prediction> {
        let marginals = self.posterior()?.marginals(query)?;
        let Yardstick { mean, deviation } = yardstick(self.schema());
        let variance = deviation * deviation;
        Ok(Prediction {
            mean: (0..query.rows())
                .map(|row| mean + deviation * marginals.mean[(row, 0)])
                .collect(),
            latent_variance: (0..query.rows())
                .map(|row| variance * marginals.variance[(row, 0)])
                .collect(),
            noise_variance: vec![variance * self.summary.noise.variance; query.rows()],
            notes: Vec::new(),
        })
    }

    /// Scores the model on a table that has the target.
    pub fn evaluate(&self, table: &Frame) -> Result<Scores> {
        let targets = self.schema().targets(table)?;
        let prediction = self.predict(table)?;
        Scores::of(
            &targets,
            &prediction.mean,
            &prediction.variance(false),
            None,
            yardstick(self.schema()),
        )
    }

    /// Draws functions (or, with `noisy`, observations) at the rows of a table, jointly; one inner vector per draw.
    pub fn sample(
        &self,
        table: &Frame,
        count: usize,
        seed: u64,
        noisy: bool,
    ) -> Result<Vec<Vec<f64>>> {
        let encoded = self.schema().encode(table)?;
        let joint = self.posterior()?.joint(encoded.inputs())?;
        let noise = if noisy {
            self.summary.noise.variance
        } else {
            0.0
        };
        let draws = draw(&joint, &vec![noise; encoded.rows], count, seed)?;
        let Yardstick { mean, deviation } = yardstick(self.schema());
        Ok((0..count)
            .map(|column| {
                draws
                    .col_as_slice(column)
                    .iter()
                    .map(|value| mean + deviation * value)
                    .collect()
            })
            .collect())
    }

    /// The posterior over the latent function, factored when first asked for.
    pub fn posterior(&self) -> Result<&ExactPosterior> {
        if let Some(posterior) = self.posterior.get() {
            return Ok(posterior);
        }
        let kernel = self.summary.kernel.bind(self.schema().columns())?;
        let posterior = ExactPosterior::condition(
            kernel,
            self.summary.noise,
            self.data.clone(),
            JitterPolicy::default(),
        )?;
        Ok(self.posterior.get_or_init(|| posterior))
    }

    /// Writes the model to a file: whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        crate::file::save(self, path)
    }

    /// Reads a model from a file.
    pub fn load(path: &Path) -> Result<Model> {
        crate::file::load(path)
    }
}

/// The training targets' mean and standard deviation.
pub(crate) fn yardstick(schema: &Schema) -> Yardstick {
    Yardstick {
        mean: schema.target_mean(),
        deviation: schema.target_deviation(),
    }
}

/// Hyperparameters and how they were found.
struct Found {
    kernel: Kernel,
    noise: GaussianNoise,
    candidates: Vec<Candidate>,
    history: Vec<SearchRecord>,
    outcome: String,
}

fn find_hyperparameters(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Found> {
    let search = Search {
        restarts: spec.restarts,
        seed: spec.seed,
        ..Search::default()
    };
    let first_noise = GaussianNoise {
        variance: FIRST_NOISE,
    };
    let (kernel, noise, candidates) = match &spec.kernel {
        KernelChoice::Given(kernel) => (kernel.clone(), first_noise, Vec::new()),
        KernelChoice::Auto if spec.learn == LearnChoice::None => {
            return Err(Error::Spec(
                "`auto` compares kernels by learning them: give a kernel, or let it learn".into(),
            ));
        }
        KernelChoice::Auto => auto::choose(schema.columns(), data, &search, watch)?,
    };
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(data.inputs(), data.targets());
    if spec.learn == LearnChoice::None {
        return Ok(Found {
            kernel: bound.kernel(),
            noise,
            candidates,
            history: Vec::new(),
            outcome: "Hyperparameters were kept as given.".into(),
        });
    }
    let (bound, noise, history) = learn(&bound, noise, data, &search, watch)?;
    let outcome = outcome(&candidates, &kernel, &history);
    Ok(Found {
        kernel: bound.kernel(),
        noise,
        candidates,
        history,
        outcome,
    })
}

fn outcome(candidates: &[Candidate], kernel: &Kernel, history: &[SearchRecord]) -> String {
    use quorate_gp::learn::Stop;
    let evaluations: usize = history.iter().map(|record| record.evaluations).sum();
    let starts = history
        .iter()
        .map(|record| record.start)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    let last = history.iter().max_by(|a, b| {
        (a.rows, a.value)
            .partial_cmp(&(b.rows, b.value))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let ending = match last.map(|record| record.stop) {
        Some(Stop::Converged) | None => "and converged",
        Some(Stop::Steps) => "and stopped at the limit of steps: more restarts may help",
        Some(Stop::Stalled) => "and ended where no further step gained anything",
    };
    let chosen = if candidates.is_empty() {
        String::new()
    } else {
        format!(
            "Chose {} from {} kernels. ",
            kernel.structure(),
            candidates.len()
        )
    };
    let starts = if starts == 1 {
        "1 start".into()
    } else {
        format!("{starts} starts")
    };
    format!(
        "{chosen}Learning took {evaluations} evaluations of the evidence from {starts} {ending}."
    )
}

/// Refuses with the number instead of dying.
fn check_memory(rows: usize) -> Result<()> {
    let bytes = 16 * (rows as u64).saturating_mul(rows as u64);
    if bytes <= EXACT_BYTES {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "an exact fit of {rows} distinct rows needs {:.1} GiB, more than {:.0} GiB: fit fewer rows",
        bytes as f64 / f64::from(1 << 30),
        EXACT_BYTES as f64 / f64::from(1 << 30),
    )))
}
