//! Flags that say what to learn and how, for the verbs that learn.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use quorate::gp::learn::Hyperprior;
use quorate::landmarks::GivenLandmarks;
use quorate::mixture::{ExpertKind, GateKind, Training};
use quorate::plan::{Memory, Span};
use quorate::{
    InferenceChoice, KernelChoice, LandmarkChoice, LearnChoice, LikelihoodChoice, MethodChoice,
    ModeChoice, ModelSpec, PartChoice, SpreadChoice, TaskChoice,
};
use quorate_gp::data::Header;

use super::usage::usage;
use crate::columns::ColumnList;
use crate::failure::{Failure, Result};
use crate::tables;

/// Every choice of a specification.
#[derive(Args, Debug)]
pub struct Choices {
    /// Column to predict, or several columns of numbers
    #[arg(short, long, value_name = "COL,..", required_unless_present = "spec")]
    target: Option<ColumnList>,
    /// Numbers (`regression`), classes (`binary`, `multiclass`), counts (`count`) or lifetimes (`lifetime`); `auto` looks at
    /// the column and the other flags [default: auto]
    #[arg(long, value_name = "TASK", value_parser = tasks())]
    task: Option<TaskChoice>,
    /// How classes are inferred: `fast`, as regressions in every mode, or through a likelihood by `laplace` or `ep`, for two
    /// classes and one process over all rows [default: auto, which is fast]
    #[arg(long, value_name = "HOW", value_parser = inferences())]
    inference: Option<InferenceChoice>,
    /// How a target comes from the latent function: `student-t` for numbers with outliers; `bernoulli`, `probit` for two
    /// classes, with `--inference laplace` or `ep`; `poisson`, `negative-binomial` for counts; `gamma`, `inverse-gaussian`
    /// for positive amounts; `weibull`, `exponential` for lifetimes; `heteroscedastic` for a number whose noise depends on
    /// the inputs [default: auto, what suits the task]
    #[arg(long, value_name = "NAME", value_parser = likelihoods())]
    likelihood: Option<LikelihoodChoice>,
    /// Columns to use as inputs [default: all others]
    #[arg(long, value_name = "COL,..", conflicts_with = "ignore")]
    inputs: Option<ColumnList>,
    /// Columns to leave out
    #[arg(long, value_name = "COL,..")]
    ignore: Option<ColumnList>,
    /// Column of weights: weight k counts as k copies of the row
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// Column of known noise: the variance of the row's target, in squared units of the target
    #[arg(long, value_name = "COL")]
    noise: Option<String>,
    /// Column of exposures, such as years at risk: multiplies the mean of a count or an amount
    #[arg(long, value_name = "COL")]
    exposure: Option<String>,
    /// Column that is 1 where the end of a lifetime was observed, 0 where it is right-censored
    #[arg(long, value_name = "COL", conflicts_with = "censored")]
    event: Option<String>,
    /// Column that is 1 where a lifetime is right-censored, 0 where its end was observed
    #[arg(long, value_name = "COL")]
    censored: Option<String>,
    /// Variance of the noise, in squared units of the target, kept instead of learned
    #[arg(long, value_name = "V", value_parser = positive)]
    noise_variance: Option<f64>,
    /// Kernel: `auto` chooses by evidence, or a kernel as text [default: auto]
    #[arg(long, value_name = "SPEC")]
    kernel: Option<KernelChoice>,
    /// One exact process, a committee of experts, or a mixture of experts with gates; `auto` decides by size between the first
    /// two [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = methods())]
    method: Option<MethodChoice>,
    /// How a committee answers: `local` from the rows nearest to each question, `landmarks` from a sum that keeps no
    /// rows and can be updated, merged and forgotten from, `joint` from all parts asked about many questions together
    /// [default: auto, which is local]
    #[arg(long, value_name = "MODE", value_parser = modes())]
    mode: Option<ModeChoice>,
    /// Number of experts of a mixture [default: 5]
    #[arg(long, value_name = "N", value_parser = between::<1, 100>)]
    experts: Option<usize>,
    /// What the experts of a mixture are: process, linear or network [default: process]
    #[arg(long, value_name = "KIND")]
    expert: Option<ExpertKind>,
    /// What decides which of them speaks: process, linear, network, density (Gaussian mixture regression) or tree (a soft
    /// decision tree) [default: process, or linear for experts that are no processes]
    #[arg(long, value_name = "KIND")]
    gates: Option<GateKind>,
    /// What linear and network experts are trained for: competing (likelihood) or cooperating (squared error)
    /// [default: competing]
    #[arg(long, value_name = "HOW")]
    training: Option<Training>,
    /// Nearest rows an expert of the committee takes for each question [default: 150]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    neighbours: Option<usize>,
    #[command(flatten)]
    landmarks: LandmarkFlags,
    /// How hyperparameters are learned: by the method's own objective (`auto`), by evidence (`block`, `committee`), by
    /// prediction (`conditional`, `loo`, `validation`), from parts that exchange approximations (`lla`,
    /// `laplace-propagation`), as draws that predictions average over (`nuts`, `hmc`); `none` keeps those of the kernel's text [default: auto]
    #[arg(long, value_name = "HOW", value_parser = ways_of_learning())]
    learn: Option<LearnChoice>,
    /// How wide answers of a committee are: `auto`, by the answer and the inputs where rows left out ask for it, or
    /// `constant`, as one noise says [default: auto]
    #[arg(long, value_name = "HOW", value_parser = spreads())]
    spread: Option<SpreadChoice>,
    /// What is believed about hyperparameters before any row, for `nuts`, `hmc`, `lla`, `laplace-propagation`: `broad`,
    /// `weak` (flat over all plausible values), or `normal:MEAN,DEVIATION` of each logarithm [default: broad]
    #[arg(long, value_name = "PRIOR")]
    hyperprior: Option<Hyperprior>,
    /// Markov chains of `--learn nuts` and `hmc` [default: 4]
    #[arg(long, value_name = "N", value_parser = between::<1, 64>)]
    chains: Option<usize>,
    /// Draws kept of each chain [default: 250]
    #[arg(long, value_name = "N", value_parser = between::<4, 100_000>)]
    draws: Option<usize>,
    /// Draws of each chain before that, while the sampler adapts [default: 300]
    #[arg(long, value_name = "N", value_parser = between::<0, 100_000>)]
    warmup: Option<usize>,
    /// Further starting points of the search [default: as many as the size of the table affords]
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Memory the fit may take, like 8GiB; it is planned before anything starts [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = amount::<Memory>)]
    memory: Option<Memory>,
    /// Time the fit may take, like 2min, by a fixed table of costs on two cores [default: as long as it needs]
    #[arg(long, value_name = "SPAN", value_parser = amount::<Span>)]
    time: Option<Span>,
    /// Every choice from a file, as `quorate inspect --spec` prints it; other flags override it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
}

/// Flags of a committee whose parts are fixed.
#[derive(Args, Debug)]
struct LandmarkFlags {
    /// Number of landmarks, or a table whose rows they are, such as the rows to be predicted [default: a quarter of the
    /// rows, at most 1000; none in `local` mode]
    #[arg(long, value_name = "N|FILE")]
    landmarks: Option<LandmarkWish>,
    /// How landmarks are found [default: kmeans]
    #[arg(long, value_name = "HOW", value_parser = landmark_choices())]
    landmark_choice: Option<LandmarkChoice>,
    /// Which rows form a part, in `landmarks` and `joint` mode: `tree` (balanced cells), `random`, `cluster`, `given`
    /// (in the order of the table) or `column:NAME` (rows with the same value) [default: random in `landmarks`, tree in
    /// `joint` mode]
    #[arg(long, value_name = "HOW")]
    parts: Option<PartChoice>,
    /// Rows of one expert at most, in `landmarks` and `joint` mode [default: 500 and 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    part_size: Option<usize>,
    /// Count the rows of a neighbourhood on one side only, in `local` mode with landmarks: slow
    #[arg(long)]
    replace_touched: bool,
    /// Consecutive rows that are answered together, in `joint` mode [default: 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    questions: Option<usize>,
    /// Random rows asked about along with every block, in `joint` mode; 0 for none [default: 1000]
    #[arg(long, value_name = "N")]
    companions: Option<usize>,
    /// Leave the prior out of the sum, in `joint` mode: the committee that is not Bayesian
    #[arg(long)]
    negligible_prior: bool,
    /// Keep each part's own summary, so that it can be forgotten without its rows
    #[arg(long)]
    keep_parts: bool,
    /// Name under which a landmarks model remembers these rows [default: part-1]
    #[arg(long, value_name = "NAME")]
    part_name: Option<String>,
}

impl Choices {
    /// The choices of the file, if any, overridden by those of the command line.
    pub fn specification(&self, verb: &str) -> Result<ModelSpec> {
        let mut spec = match &self.spec {
            Some(path) => read_specification(path)?,
            None => ModelSpec::new(""),
        };
        if let Some(ColumnList(targets)) = &self.target {
            let mut targets = targets.iter().cloned();
            spec.target = targets.next().unwrap_or_default();
            spec.further_targets = targets.collect();
        }
        spec.task = self.task.unwrap_or(spec.task);
        spec.inference = self.inference.unwrap_or(spec.inference);
        spec.likelihood = self.likelihood.unwrap_or(spec.likelihood);
        if let Some(ColumnList(inputs)) = &self.inputs {
            spec.inputs = Some(inputs.clone());
            spec.ignore.clear();
        }
        if let Some(ColumnList(ignore)) = &self.ignore {
            spec.ignore.clone_from(ignore);
            spec.inputs = None;
        }
        if self.weight.is_some() {
            spec.weight.clone_from(&self.weight);
        }
        if self.noise.is_some() {
            spec.noise.clone_from(&self.noise);
        }
        if self.exposure.is_some() {
            spec.exposure.clone_from(&self.exposure);
        }
        if self.event.is_some() || self.censored.is_some() {
            spec.event.clone_from(&self.event);
            spec.censored.clone_from(&self.censored);
        }
        spec.noise_variance = self.noise_variance.or(spec.noise_variance);
        if let Some(kernel) = &self.kernel {
            spec.kernel = kernel.clone();
        }
        if let Some(learn) = &self.learn {
            spec.learn = *learn;
        }
        spec.spread = self.spread.unwrap_or(spec.spread);
        if let Some(method) = &self.method {
            spec.method = *method;
        }
        if let Some(mode) = &self.mode {
            spec.mode = *mode;
        }
        spec.experts = self.experts.or(spec.experts);
        spec.expert = self.expert.or(spec.expert);
        spec.gates = self.gates.or(spec.gates);
        spec.training = self.training.or(spec.training);
        let flags = &self.landmarks;
        match &flags.landmarks {
            Some(LandmarkWish::Count(count)) => {
                spec.landmarks = Some(*count);
                spec.landmark_rows = None;
            }
            Some(LandmarkWish::Table(_)) => spec.landmarks = None,
            None => {}
        }
        spec.landmark_choice = flags.landmark_choice.or(spec.landmark_choice);
        spec.part_size = flags.part_size.or(spec.part_size);
        spec.questions = flags.questions.or(spec.questions);
        spec.companions = flags.companions.or(spec.companions);
        spec.replace_touched |= flags.replace_touched;
        spec.negligible_prior |= flags.negligible_prior;
        if flags.parts.is_some() {
            spec.parts.clone_from(&flags.parts);
        }
        spec.keep_parts |= flags.keep_parts;
        if flags.part_name.is_some() {
            spec.part_name.clone_from(&flags.part_name);
        }
        spec.neighbours = self.neighbours.or(spec.neighbours);
        spec.hyperprior = self.hyperprior.or(spec.hyperprior);
        spec.chains = self.chains.or(spec.chains);
        spec.draws = self.draws.or(spec.draws);
        spec.warmup = self.warmup.or(spec.warmup);
        spec.restarts = self.restarts.or(spec.restarts);
        spec.seed = self.seed.unwrap_or(spec.seed);
        spec.memory = self.memory.or(spec.memory);
        spec.time = self.time.or(spec.time);
        if spec.target.is_empty() {
            let message = "the specification names no target; add --target COL";
            return Err(usage(verb, ErrorKind::MissingRequiredArgument, message).into());
        }
        Ok(spec)
    }

    /// Files that the choices are read from.
    pub fn files(&self) -> [Option<&Path>; 2] {
        let landmarks = match &self.landmarks.landmarks {
            Some(LandmarkWish::Table(path)) => Some(path.as_path()),
            _ => None,
        };
        [self.spec.as_deref(), landmarks]
    }

    /// Reads the landmarks, where they are in a table: its columns are those of the table to learn from.
    pub fn give_landmarks(&self, spec: &mut ModelSpec, header: &Header) -> Result<()> {
        if let Some(LandmarkWish::Table(path)) = &self.landmarks.landmarks {
            let rows = tables::inputs_like(path, spec, header)?;
            spec.landmark_rows = Some(GivenLandmarks::new(&rows)?);
        }
        Ok(())
    }
}

/// How many landmarks, or where they are.
#[derive(Clone, Debug)]
enum LandmarkWish {
    Count(usize),
    Table(PathBuf),
}

impl FromStr for LandmarkWish {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let looks_counted = text
            .chars()
            .all(|c| c.is_ascii_digit() || "+-.".contains(c));
        if looks_counted {
            at_least_one(text).map(LandmarkWish::Count)
        } else {
            Ok(LandmarkWish::Table(text.into()))
        }
    }
}

pub(super) fn tasks() -> impl TypedValueParser<Value = TaskChoice> {
    let names = TaskChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<TaskChoice>())
}

fn inferences() -> impl TypedValueParser<Value = InferenceChoice> {
    let names = InferenceChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<InferenceChoice>())
}

pub fn likelihoods() -> impl TypedValueParser<Value = LikelihoodChoice> {
    let names = LikelihoodChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<LikelihoodChoice>())
}

fn spreads() -> impl TypedValueParser<Value = SpreadChoice> {
    let names = SpreadChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<SpreadChoice>())
}

fn methods() -> impl TypedValueParser<Value = MethodChoice> {
    let names = MethodChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<MethodChoice>())
}

/// A count that is not zero.
pub fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number of at least 1 is needed".to_owned()),
        Ok(count) => Ok(count),
    }
}

/// A count within bounds, which are those of the specification.
fn between<const LEAST: usize, const MOST: usize>(
    text: &str,
) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(count) if (LEAST..=MOST).contains(&count) => Ok(count),
        _ => Err(format!(
            "a whole number between {LEAST} and {MOST} is needed"
        )),
    }
}

/// A number above 0.
fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a positive number is needed".to_owned()),
    }
}

/// An amount with its unit; the message says how to write it.
fn amount<T: FromStr<Err = quorate::Error>>(text: &str) -> std::result::Result<T, String> {
    text.parse()
        .map_err(|error: quorate::Error| error.to_string())
}

fn ways_of_learning() -> impl TypedValueParser<Value = LearnChoice> {
    let names = LearnChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<LearnChoice>())
}

fn modes() -> impl TypedValueParser<Value = ModeChoice> {
    let names = ModeChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<ModeChoice>())
}

fn landmark_choices() -> impl TypedValueParser<Value = LandmarkChoice> {
    let names = LandmarkChoice::NAMES.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<LandmarkChoice>())
}

fn read_specification(path: &Path) -> Result<ModelSpec> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        // The parser ends its message with the place; ours goes first, as in every message.
        let message = error.to_string();
        let problem = message.split(" at line ").next().unwrap_or(&message);
        Failure::Failed(format!(
            "{}:{}:{}: {problem}; `quorate inspect MODEL --spec` prints a specification to start from",
            path.display(),
            error.line(),
            error.column()
        ))
    })
}

/// A model is a file.
pub fn model_path(path: PathBuf) -> std::result::Result<PathBuf, &'static str> {
    if path == Path::new("-") {
        return Err("a model is written to a file, not to standard output");
    }
    Ok(path)
}

/// A checkpoint is a file that can be replaced.
pub fn checkpoint_path(path: PathBuf) -> std::result::Result<PathBuf, &'static str> {
    if path == Path::new("-") {
        return Err("a checkpoint is a file, not standard output");
    }
    Ok(path)
}
