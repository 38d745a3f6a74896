//! A Gaussian process that tells classes apart: regression on +1 and -1 of every class under one kernel (Tresp 2000, 6.5).

use quorate_gp::data::{Classes, Dataset, InputColumn, Inputs, Scale, random_rows};
use quorate_gp::kernel::{BoundKernel, Kernel};
use quorate_gp::learn::{Search, SearchLimits, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::posterior::{ExactPosterior, Predict};
use serde::{Deserialize, Serialize};

use super::{ClassRecipe, ClassSetting, Classifier};
use crate::error::Result;
use crate::fit::auto::with_categories;
use crate::member::State;
use crate::member::state::{damaged, lists_of_rows};
use crate::task::{Judgement, Link, class_answer};

/// Rows from whose evidence the hyperparameters are learned.
const LEARN_ROWS: usize = 500;
const FIRST_NOISE: GaussianNoise = GaussianNoise { variance: 0.1 };
/// Rows from which a member learns what its answers mean; one with fewer believes what was learned from all.
const LINK_ROWS: usize = 20;

/// An exact posterior whose outputs are classes.
#[derive(Clone, Debug)]
pub struct ProcessClassifier {
    posterior: ExactPosterior,
    classes: Classes,
    link: Link,
}

impl ProcessClassifier {
    fn of(posterior: ExactPosterior, classes: &Classes, shared: Option<Link>) -> Self {
        let link = match shared {
            Some(link) if posterior.data().members().len() < LINK_ROWS => link,
            _ => link_of(&posterior, classes, &classes.scales()),
        };
        Self {
            posterior,
            classes: classes.clone(),
            link,
        }
    }
}

/// What makes probabilities of the answers, from rows left out one at a time.
fn link_of(posterior: &ExactPosterior, classes: &Classes, scales: &[Scale]) -> Link {
    let left_out = posterior.leave_one_out();
    let members = posterior.data().members();
    let outputs = scales.len();
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); members.len()];
    let mut rows: Vec<Judgement<'_>> = Vec::with_capacity(members.len());
    for (row, (own, member)) in means.iter_mut().zip(members).enumerate() {
        let range = row * outputs..(row + 1) * outputs;
        let class = classes.class_of(&left_out.target[range.clone()], scales);
        let told = left_out.mean[range].iter().copied();
        let variance = left_out.variance[row] + left_out.noise[row];
        rows.push((
            class_answer(classes, scales, told, variance, own),
            class,
            member.weight,
        ));
    }
    Link::fit(&rows)
}

impl Classifier for ProcessClassifier {
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let answers = self.posterior.marginals(query)?;
        let noise = self.posterior.noise().variance;
        let scales = self.classes.scales();
        let mut found = Vec::with_capacity(query.rows() * self.classes.count());
        let mut means = Vec::new();
        for row in 0..query.rows() {
            let own = (0..scales.len()).map(|output| answers.mean[(row, output)]);
            let variance = answers.variance[(row, 0)] + noise;
            let answer = class_answer(&self.classes, &scales, own, variance, &mut means);
            self.link.probabilities(answer, &mut found);
        }
        let count = self.classes.count();
        Ok(Matrix::from_fn(query.rows(), count, |row, class| {
            found[row * count + class]
        }))
    }

    fn state(&self) -> Result<State> {
        let kernel = self.posterior.kernel();
        let stored = Stored {
            kernel: kernel.kernel(),
            columns: kernel.columns().to_vec(),
            noise: self.posterior.noise(),
            classes: self.classes.clone(),
            link: self.link,
        };
        State::new(&stored, lists_of_rows(self.posterior.data()))
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    columns: Vec<InputColumn>,
    noise: GaussianNoise,
    classes: Classes,
    link: Link,
}

struct Process {
    kernel: BoundKernel,
    noise: GaussianNoise,
    classes: Classes,
    link: Link,
}

impl ClassRecipe for Process {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>> {
        let posterior = ExactPosterior::condition(
            self.kernel.clone(),
            self.noise,
            rows.clone(),
            JitterPolicy::default(),
        )?;
        let fitted = ProcessClassifier::of(posterior, &self.classes, Some(self.link));
        Ok(Box::new(fitted))
    }
}

pub fn prepare(setting: &ClassSetting<'_>, rows: &Dataset) -> Result<Box<dyn ClassRecipe>> {
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
    let posterior =
        ExactPosterior::condition(kernel.clone(), noise, trial, JitterPolicy::default())?;
    let link = link_of(&posterior, setting.classes, &setting.classes.scales());
    Ok(Box::new(Process {
        kernel,
        noise,
        classes: setting.classes.clone(),
        link,
    }))
}

pub fn restore(state: &State) -> Result<Box<dyn Classifier>> {
    let stored: Stored = state.read()?;
    let classes = &stored.classes;
    if !stored.link.is_sound() || classes.shares().len() != classes.count() {
        return Err(damaged("its probabilities"));
    }
    let rows = state.rows(0, stored.columns.len(), stored.classes.outputs())?;
    let kernel = stored.kernel.bind(&stored.columns)?;
    let posterior = ExactPosterior::condition(kernel, stored.noise, rows, JitterPolicy::default())?;
    Ok(Box::new(ProcessClassifier {
        posterior,
        classes: stored.classes,
        link: stored.link,
    }))
}
