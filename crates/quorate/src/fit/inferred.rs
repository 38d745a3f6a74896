//! How classes are inferred where nobody says so: the fast version, or a likelihood of their own where rows are few
//! enough for it and fifths of them, each predicted from the others, lose less by it.
//!
//! The fast version compares shapes of the kernel by its own evidence, of targets that are -1 and 1: what is linear in the logarithm of the
//! odds bends there. Where the kernel is open too, a likelihood also tries straight lines, alone and beside a smooth rest, and all of it
//! is tried with the logarithms of positive columns, measurements of growing things differing by factors, and with the size and the
//! shapes of those that grow together.

use quorate_gp::data::{ColumnKind, Dataset, Frame, Schema};
use quorate_gp::kernel::{BoundKernel, Covariance};
use quorate_gp::learn::Hyperprior;
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::ExactPosterior;
use quorate_gp::watch::Watch;

use super::apart::Apart;
use super::auto::{FEW, with_categories};
use super::folds::Unseen;
use super::latent::FOLDS;
use super::{Found, coupled, exact, latent};
use crate::answers::Answers;
use crate::error::{Error, Result};
use crate::latent::Approximation;
use crate::score::STRONG;
use crate::spec::{KernelChoice, LearnChoice, ModelSpec};
use crate::task::{InferenceChoice, judge_left_out};

/// Distinct rows of two classes up to which Laplace's method is tried.
const LAPLACE_ROWS: usize = 800;
/// The same times their number of classes, where there are more.
const COUPLED_ROWS: usize = 1500;
/// Distinct rows up to which expectation propagation is tried.
const PROPAGATION_ROWS: usize = 250;
/// Log loss that a likelihood must gain: the fast version adds, streams and can be asked sooner.
const WORTH: f64 = 0.002;

/// True where it is left to this program how classes are inferred, and rows are few.
pub fn is_open(spec: &ModelSpec, schema: &Schema, rows: usize) -> bool {
    let own = spec.learn == LearnChoice::Auto && spec.noise_variance.is_none();
    own && spec.inference == InferenceChoice::Auto && !worth_trying(schema, rows).is_empty()
}

/// What is tried beside the fast version.
fn worth_trying(schema: &Schema, rows: usize) -> Vec<InferenceChoice> {
    let ways: &[(InferenceChoice, bool)] = match schema.target().classes().map(|own| own.count()) {
        Some(2) => &[
            (InferenceChoice::Laplace, rows <= LAPLACE_ROWS),
            (InferenceChoice::Ep, rows <= PROPAGATION_ROWS),
        ],
        Some(many) => &[(InferenceChoice::Laplace, rows * many <= COUPLED_ROWS)],
        None => &[],
    };
    let affordable = ways.iter().filter(|(_, affordable)| *affordable);
    affordable.map(|(way, _)| *way).collect()
}

fn is_of_two(schema: &Schema) -> bool {
    schema
        .target()
        .classes()
        .is_some_and(|own| own.count() == 2)
}

/// The kernels that likelihoods try: the fast version's and, of two classes and where nobody gave one, straight lines, all of them with
/// a scale of its own for a column of two values. Few rows have much evidence for length scales of many columns by luck, and
/// fifths of them as little to say against it.
fn kernels(spec: &ModelSpec, schema: &Schema, data: &Dataset, fast: &BoundKernel) -> Vec<String> {
    let own = fast.kernel().structure().to_string();
    let columns = schema.columns();
    let has_numbers = columns.iter().any(|own| own.kind == ColumnKind::Number);
    if spec.kernel != KernelChoice::Auto || !has_numbers || !is_of_two(schema) {
        return vec![own];
    }
    let many = data.rows() >= FEW * fast.parameters().len();
    let own = if many { own } else { own.replace("(ard)", "") };
    let lines = with_categories(columns, "linear");
    let rest = format!("{} + linear", with_categories(columns, "se"));
    let apart = Apart::of(columns, data.inputs());
    let mut all = Vec::new();
    for kernel in [own, lines, rest] {
        let kernel = match &apart {
            Some(apart) => apart.rewrite(&kernel),
            None => kernel,
        };
        if !all.contains(&kernel) {
            all.push(kernel);
        }
    }
    all
}

/// A way to infer, chosen.
struct Inferred {
    found: Found,
    answers: Answers,
    /// Log loss of fifths predicted from the others.
    loss: f64,
    /// Log evidence by expectation propagation, where that was tried.
    evidence: Option<f64>,
}

impl Inferred {
    /// Fifths of so few rows are told apart by luck; their evidence is that of all of them.
    fn beats(&self, other: &Self) -> bool {
        match (self.evidence, other.evidence) {
            (Some(own), Some(other)) => own > other,
            _ => self.loss < other.loss,
        }
    }

    /// What encodings are compared by, in words.
    fn merit(&self, encoding: &str) -> String {
        match self.evidence {
            Some(own) => format!("log evidence {own:.2} {encoding}"),
            None => format!("log loss of fifths {:.4} {encoding}", self.loss),
        }
    }
}

/// Rows as they are encoded.
pub struct Encoded {
    pub schema: Schema,
    pub data: Dataset,
}

/// The same rows encoded in further ways: with the logarithms of positive columns, where there are such, and with the
/// proportions of those that grow together.
pub fn further(schema: &Schema, table: &Frame) -> Result<Vec<Encoded>> {
    let mut schema = schema.clone();
    let logarithms = schema.take_logarithms(table)?;
    if logarithms.is_empty() {
        return Ok(Vec::new());
    }
    let encoded = |schema: &Schema| -> Result<Encoded> {
        Ok(Encoded {
            data: schema.training_data(table)?,
            schema: schema.clone(),
        })
    };
    let mut all = vec![encoded(&schema)?];
    if schema.take_proportions(table, &logarithms)? {
        all.push(encoded(&schema)?);
    }
    Ok(all)
}

/// The way of encoding, of several, with which fifths lose least.
pub fn fit(
    spec: &ModelSpec,
    plain: Encoded,
    further: Vec<Encoded>,
    watch: &dyn Watch,
) -> Result<(Encoded, Found, Answers)> {
    let own = infer(spec, &plain.schema, &plain.data, watch)?;
    if further.is_empty() {
        return Ok((plain, own.found, own.answers));
    }
    let mut told = vec![own.merit("as they are")];
    let mut best = (plain, own, "Columns are taken as they are".to_owned());
    for encoded in further {
        let own = infer(spec, &encoded.schema, &encoded.data, watch)?;
        let together = encoded.schema.proportions().join(", ");
        let (short, long) = if together.is_empty() {
            (
                "with logarithms of positive columns",
                "Positive columns are taken by their logarithms".to_owned(),
            )
        } else {
            (
                "with proportions of those that grow together",
                format!(
                    "Positive columns are taken by their logarithms, and {together} by their common size and their shapes beyond it"
                ),
            )
        };
        told.push(own.merit(short));
        if own.beats(&best.1) {
            best = (encoded, own, long);
        }
    }
    let (encoded, mut own, taken) = best;
    own.found.outcome += &format!(" {taken} ({}).", told.join(", "));
    Ok((encoded, own.found, own.answers))
}

fn infer(spec: &ModelSpec, schema: &Schema, data: &Dataset, watch: &dyn Watch) -> Result<Inferred> {
    let (found, answers) = exact::fit(spec, schema, data, watch)?;
    let fast = Tried {
        way: InferenceChoice::Fast,
        loss: fast_loss(schema, data, &found)?,
        found,
        answers,
    };
    let tried = likelihoods(spec, schema, data, &fast, watch)?;
    // Fifths of a hundred rows are told apart by luck within that, and a likelihood's probabilities need no numbers fitted to answers.
    let rows: f64 = data.members().iter().map(|own| own.weight).sum();
    let candidates = fast.found.candidates.clone();
    let evidence = tried.iter().filter_map(Tried::evidence).reduce(f64::max);
    let leads = |own: &Tried| own.evidence().is_none() || own.evidence() == evidence;
    let told = losses(&fast, tried.iter().filter(|own| leads(own)));
    // Kernels of expectation propagation are told apart by evidence, ways to infer by what they tell of others. A later one must be
    // better: they are in the order of their simplicity.
    let mut best = fast;
    let mut least = best.loss + STRONG / rows;
    for own in tried {
        if leads(&own) && own.loss < least - WORTH {
            least = own.loss;
            best = own;
        }
    }
    let mut found = best.found;
    found.candidates = candidates;
    found.outcome = format!(
        "Chose the inference {} by the log loss of fifths predicted from the others ({told}; fast is kept where it is less by {:.4}). {}",
        best.way,
        STRONG / rows,
        found.outcome
    );
    Ok(Inferred {
        found,
        answers: best.answers,
        loss: best.loss,
        evidence,
    })
}

/// What fifths lose by each way to infer, with the best of its kernels.
fn losses<'a>(fast: &Tried, tried: impl Iterator<Item = &'a Tried>) -> String {
    let mut least: Vec<(InferenceChoice, f64)> = vec![(fast.way, fast.loss)];
    for own in tried {
        match least.iter_mut().find(|(way, _)| *way == own.way) {
            Some((_, loss)) => *loss = loss.min(own.loss),
            None => least.push((own.way, own.loss)),
        }
    }
    let each = least.iter().map(|(way, loss)| format!("{way} {loss:.4}"));
    each.collect::<Vec<_>>().join(", ")
}

/// A way to infer and what it came to.
struct Tried {
    way: InferenceChoice,
    found: Found,
    answers: Answers,
    /// Log loss of fifths predicted from the others.
    loss: f64,
}

impl Tried {
    /// Log evidence by expectation propagation.
    fn evidence(&self) -> Option<f64> {
        let is_own = self.way == InferenceChoice::Ep;
        self.found.log_evidence.filter(|_| is_own)
    }
}

/// Every likelihood with every kernel that is worth trying.
fn likelihoods(
    spec: &ModelSpec,
    schema: &Schema,
    data: &Dataset,
    fast: &Tried,
    watch: &dyn Watch,
) -> Result<Vec<Tried>> {
    let bound = fast.found.kernel.bind(schema.columns())?;
    let kernels = kernels(spec, schema, data, &bound);
    // Who gives a kernel wants its evidence.
    let is_open = spec.kernel == KernelChoice::Auto && is_of_two(schema);
    let hyperprior = is_open.then_some(Hyperprior::Doubtful);
    let mut tried = Vec::new();
    for way in worth_trying(schema, data.rows()) {
        for kernel in &kernels {
            let own = ModelSpec {
                inference: way,
                kernel: KernelChoice::Given(kernel.parse()?),
                restarts: Some(spec.restarts.unwrap_or(0)),
                hyperprior,
                ..spec.clone()
            };
            let fitted = match way.approximation() {
                Some(how) if is_of_two(schema) => latent::fit(how, &own, schema, data, watch),
                Some(Approximation::Laplace) => coupled::fit(&own, schema, data, watch),
                _ => continue,
            };
            match fitted {
                Ok((found, answers)) => tried.push(Tried {
                    way,
                    loss: found.leave_one_out.loss(),
                    found,
                    answers,
                }),
                Err(Error::Gp(error)) if error.is_recoverable() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(tried)
}

/// Log loss of the fast version on the fifths by which the others are judged.
fn fast_loss(schema: &Schema, data: &Dataset, found: &Found) -> Result<f64> {
    let Unseen { members, told } = Unseen::of(data, FOLDS, &|others| {
        let kernel = found.kernel.bind(schema.columns())?;
        let policy = JitterPolicy::default();
        Ok(ExactPosterior::condition(
            kernel,
            found.noise,
            others,
            policy,
        )?)
    })?;
    Ok(judge_left_out(schema, &members, &told)?.scores.loss())
}
