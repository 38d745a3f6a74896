//! What a shell holds: a specification and the state fitted under it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use quorate_gp::data::{
    Batches, Encoded, Frame, InMemory, Schema, Survey, TargetCode, asked_noise,
};
use quorate_gp::gaussian::Joint;
use quorate_gp::kernel::Kernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::posterior::draw;
use quorate_gp::watch::Watch;

use crate::answers::{Answers, Method};
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::hyper::Component;
use crate::landmarks::{CHUNK_ROWS, Committee, State};
use crate::latent::LatentAnswers;
use crate::mixture::MixtureAnswers;
use crate::plan::Plan;
use crate::prediction::Prediction;
use crate::score::Yardstick;
use crate::spec::ModelSpec;
use crate::task::{ClassPrediction, Forecast, Reading, Scorecard};

/// A fitted model: predicts, scores, explains itself, and lives in a file.
#[derive(Debug)]
pub struct Model {
    pub(crate) fitted: Fitted,
    pub(crate) state: State,
    /// Made ready when first asked: a loaded model that is only inspected needs no factor.
    answers: OnceLock<Answers>,
    /// The same at every draw of the hyperparameters that predictions average over.
    components: OnceLock<Vec<Component>>,
}

impl Model {
    /// Fits a table under a specification.
    pub fn fit(spec: &ModelSpec, table: &Frame, watch: &dyn Watch) -> Result<Model> {
        let survey = survey(&mut InMemory::new(table.clone()), spec.seed)?;
        let plan = Model::plan(spec, &survey)?;
        if plan.streams() {
            let mut rows = InMemory::new(table.clone());
            Model::fit_stream(spec, &plan, &survey, &mut rows, watch)
        } else {
            Model::fit_planned(spec, &plan, Cow::Borrowed(table), watch)
        }
    }

    /// How a table would be fitted under a specification, and what that takes; refuses what memory or time do not allow.
    pub fn plan(spec: &ModelSpec, survey: &Survey) -> Result<Plan> {
        crate::fit::plan(spec, survey)
    }

    /// Fits a table that is held, as planned.
    pub fn fit_planned(
        spec: &ModelSpec,
        plan: &Plan,
        table: Cow<'_, Frame>,
        watch: &dyn Watch,
    ) -> Result<Model> {
        let (fitted, state, answers) = crate::fit::fit(spec, plan, table, watch)?;
        Ok(Model::with_answers(fitted, state, answers))
    }

    /// Fits a table as it comes, from its first row to its last, where the plan is to stream it. Memory does not grow with
    /// its rows.
    pub fn fit_stream(
        spec: &ModelSpec,
        plan: &Plan,
        survey: &Survey,
        table: &mut dyn Batches,
        watch: &dyn Watch,
    ) -> Result<Model> {
        let (fitted, state, answers) = crate::fit::stream(spec, plan, survey, table, watch)?;
        Ok(Model::with_answers(fitted, state, answers))
    }

    /// A landmarks model with no rows: a sample gives scaling, kernel, hyperparameters and landmarks, which parts
    /// absorbed anywhere then have in common. The scores are of rows of the sample that were held out.
    pub fn prepare(spec: &ModelSpec, sample: &Frame, watch: &dyn Watch) -> Result<Model> {
        let survey = survey(&mut InMemory::new(sample.clone()), spec.seed)?;
        let sample = &survey.sample;
        let (fitted, state, answers) = crate::fit::prepare(spec, sample, watch)?;
        Ok(Model::with_answers(fitted, state, answers))
    }

    pub(crate) fn with_answers(fitted: Fitted, state: State, answers: Answers) -> Model {
        Model {
            fitted,
            state,
            answers: OnceLock::from(answers),
            components: OnceLock::new(),
        }
    }

    pub(crate) fn from_parts(fitted: Fitted, state: State) -> Model {
        Model {
            fitted,
            state,
            answers: OnceLock::new(),
            components: OnceLock::new(),
        }
    }

    /// Sentences for people about the fit.
    pub fn notes(&self) -> &[String] {
        &self.fitted.notes
    }

    /// How learning ended, in one sentence.
    pub fn outcome(&self) -> &str {
        &self.fitted.found.outcome
    }

    /// The landmarks and the sum of all parts, for a model that has landmarks.
    pub fn committee(&self) -> Option<&Committee> {
        match &self.state {
            State::Committee(committee) | State::Supported(_, committee) => Some(committee),
            State::Rows(_) | State::Parts(_) | State::Mixture(_) => None,
        }
    }

    /// Scores of rows predicted from the others: all rows one at a time, or a random sample of a large table; for a
    /// model that answers through landmarks, a random sample that was held out together.
    pub fn leave_one_out(&self) -> &Scorecard {
        &self.fitted.found.leave_one_out
    }

    /// How many consecutive rows the model answers together, where that decides the answers.
    pub fn questions_together(&self) -> Option<usize> {
        match self.fitted.found.method {
            Method::Joint(shape) => Some(shape.questions.max(1)),
            _ => None,
        }
    }

    /// The choices the model was fitted under.
    pub fn spec(&self) -> &ModelSpec {
        &self.fitted.spec
    }

    /// How tables are encoded for it.
    pub fn schema(&self) -> &Schema {
        &self.fitted.schema
    }

    /// The kernel with the values found.
    pub fn kernel(&self) -> &Kernel {
        &self.fitted.found.kernel
    }

    /// Log evidence of the standardised rows; none where the rows were not conditioned on as one process.
    pub fn log_evidence(&self) -> Option<f64> {
        self.fitted.found.log_evidence
    }

    /// Predicts the rows of a table, where the target is one number.
    pub fn predict(&self, table: &Frame) -> Result<Prediction> {
        self.forecast(table).and_then(one_number)
    }

    /// What is believed about the rows of a table, whatever the task.
    pub fn forecast(&self, table: &Frame) -> Result<Forecast> {
        let encoded = self.schema().encode(table)?;
        self.forecast_rows(table, &encoded)
    }

    /// The same, of a table that was encoded already: with its notes, and with the noise that the table tells of its rows.
    pub(crate) fn forecast_rows(&self, table: &Frame, encoded: &Encoded) -> Result<Forecast> {
        let mut forecast = self.forecast_encoded(encoded)?;
        if let (Some(known), Forecast::Number(prediction)) =
            (asked_noise(table, self.schema().roles())?, &mut forecast)
        {
            prediction.add_noise(known);
        }
        forecast.note(encoded.notes.iter().cloned());
        Ok(forecast)
    }

    fn forecast_encoded(&self, encoded: &Encoded) -> Result<Forecast> {
        let query = encoded.inputs();
        let components = self.components()?;
        if !components.is_empty() {
            if let Some(through) = self.fitted.found.through {
                let (schema, offsets) = (self.schema(), &encoded.offsets);
                return crate::hyper::probabilities(components, query, schema, through, offsets);
            }
            let yardstick = Yardstick::from(self.schema());
            return crate::hyper::predict(components, query, yardstick).map(Forecast::Number);
        }
        if let (Answers::Coupled(posterior), Some(classes)) =
            (self.answers()?, self.schema().target().classes())
        {
            let told = posterior.probabilities(query)?;
            let rows = (0..told.nrows()).flat_map(|row| (0..told.ncols()).map(move |c| (row, c)));
            return Ok(Forecast::Classes(ClassPrediction {
                classes: classes.clone(),
                probabilities: rows.map(|place| told[place]).collect(),
                notes: Vec::new(),
            }));
        }
        let answers = self.answers()?;
        if let Answers::Mixture(mixture) = answers {
            let yardstick = Yardstick::from(self.schema());
            return mixture.predict(query, yardstick).map(Forecast::Number);
        }
        let answers = answers.marginals(query)?;
        let found = &self.fitted.found;
        let reading = Reading::new(self.schema(), found.link, found.through);
        let mut forecast = reading.forecast(&answers, found.noise.variance, &encoded.offsets)?;
        if let (Some(spread), Forecast::Number(prediction)) = (&found.spread, &mut forecast) {
            let means = (0..query.rows()).map(|row| answers.mean[(row, 0)]);
            let unit = self.schema().target_deviation().powi(2);
            spread.widen(prediction, means, query, unit);
        }
        Ok(forecast)
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
        self.only_numbers("draws")?;
        if let Answers::Mixture(answers) = self.answers()? {
            let Yardstick { mean, deviation } = Yardstick::from(self.schema());
            let mut draws = answers.sample(encoded.inputs(), count, seed, noisy)?;
            for value in draws.iter_mut().flatten() {
                *value = mean + deviation * *value;
            }
            return Ok(draws);
        }
        let alone = [(self.answers()?, self.fitted.found.noise)];
        let components = self.components()?.iter();
        let mut models: Vec<(&Answers, GaussianNoise)> =
            components.map(|own| (&own.answers, own.noise)).collect();
        if models.is_empty() {
            models.extend(alone);
        }
        let Yardstick { mean, deviation } = Yardstick::from(self.schema());
        let mut functions = vec![Vec::new(); count];
        // Draws of the hyperparameters take turns.
        for (first, (answers, noise)) in models.iter().enumerate().take(count) {
            let (joint, mut noises) = self.joint(answers, table, &encoded, noise.variance)?;
            if !noisy {
                noises.fill(0.0);
            }
            let turns = (first..count).step_by(models.len());
            let seed = seed ^ first as u64;
            let draws = draw(&joint, &noises, turns.len(), seed)?;
            for (column, place) in turns.enumerate() {
                let values = draws.col_as_slice(column).iter();
                functions[place] = values.map(|value| mean + deviation * value).collect();
            }
        }
        Ok(functions)
    }

    /// Mean and covariance of the rows of a table together with their spread, and the variance of each row's noise.
    pub(crate) fn joint(
        &self,
        answers: &Answers,
        table: &Frame,
        encoded: &Encoded,
        noise: f64,
    ) -> Result<(Joint, Vec<f64>)> {
        let query = encoded.inputs();
        let mut joint = answers.joint(query)?;
        let mut noises = match &self.fitted.found.spread {
            Some(spread) => spread.widen_joint(&mut joint, query, noise),
            None => vec![noise; query.rows()],
        };
        if let Some(known) = asked_noise(table, self.schema().roles())? {
            let deviation = self.schema().target_deviation();
            let each = noises.iter_mut().zip(known);
            each.for_each(|(own, known)| *own += known / deviation / deviation);
        }
        Ok((joint, noises))
    }

    /// Refuses what only a model of one number has.
    pub(crate) fn only_numbers(&self, what: &str) -> Result<()> {
        match self.schema().target() {
            TargetCode::Number(_) => Ok(()),
            _ => Err(Error::Spec(format!(
                "{what} can be had from a model of one number"
            ))),
        }
    }

    /// The model's rows, made ready to answer when first asked for.
    pub fn answers(&self) -> Result<&Answers> {
        if let Some(answers) = self.answers.get() {
            return Ok(answers);
        }
        let found = &self.fitted.found;
        let kernel = found.kernel.bind(self.schema().columns())?;
        let answers = match (found.method, found.through, &self.state) {
            (Method::Latent(how), Some(through), State::Rows(data)) => {
                let schema = self.schema();
                let latent = LatentAnswers::condition(how, kernel, schema, data, through)?;
                Answers::Latent(Box::new(latent))
            }
            (Method::Coupled, None, State::Rows(data)) => {
                let posterior = crate::fit::coupled::condition(kernel, self.schema(), data)?;
                Answers::Coupled(Box::new(posterior))
            }
            (Method::Mixture(_), _, State::Mixture(state)) => {
                let columns = self.schema().columns();
                let mixture = MixtureAnswers::new(found.mixture.as_ref(), columns, state)?;
                Answers::Mixture(Box::new(mixture))
            }
            _ => Answers::new(found.method, kernel, found.noise, &self.state)?,
        };
        Ok(self.answers.get_or_init(|| answers))
    }

    /// The model at every draw of its hyperparameters, made ready when first asked for; none where there is one set.
    pub(crate) fn components(&self) -> Result<&[Component]> {
        if let Some(components) = self.components.get() {
            return Ok(components);
        }
        let components = crate::hyper::components(&self.fitted, &self.state)?;
        Ok(self.components.get_or_init(|| components))
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

/// The forecast of a model of one number.
pub(crate) fn one_number(forecast: Forecast) -> Result<Prediction> {
    match forecast {
        Forecast::Number(prediction) => Ok(prediction),
        _ => Err(Error::Spec(
            "this model does not predict one number: ask for its forecast".into(),
        )),
    }
}

/// Looks through a table before it is fitted.
pub fn survey(table: &mut dyn Batches, seed: u64) -> Result<Survey> {
    Ok(Survey::across(table, CHUNK_ROWS, seed)?)
}

/// Looks at the first rows of a table that can be read only once; also gives the rows that were read behind them.
pub fn survey_first(table: &mut dyn Batches) -> Result<(Survey, Option<Frame>)> {
    Ok(Survey::first(table, CHUNK_ROWS)?)
}
