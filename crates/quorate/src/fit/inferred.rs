//! How classes are inferred where nobody says so: the fast version, or a likelihood of their own where rows are few
//! enough for it and fifths of them, each predicted from the others, lose less by it.
//!
//! The fast version compares shapes of the kernel by its own evidence, of targets that are -1 and 1: what is linear in the logarithm of the
//! odds bends there. Where the kernel is open too, a likelihood also tries straight lines, alone and beside a smooth rest, and all of it
//! is tried with the logarithms of positive columns: measurements of growing things differ by factors.

use quorate_gp::data::{ColumnKind, Dataset, Schema};
use quorate_gp::linalg::JitterPolicy;
use quorate_gp::posterior::ExactPosterior;
use quorate_gp::watch::Watch;

use super::auto::with_categories;
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

/// The kernels that Laplace's method tries: the fast version's and, of two classes and where nobody gave one, straight lines.
fn kernels(spec: &ModelSpec, schema: &Schema, fast: &str) -> Vec<String> {
    let mut all = vec![fast.to_owned()];
    let columns = schema.columns();
    let has_numbers = columns.iter().any(|own| own.kind == ColumnKind::Number);
    if spec.kernel == KernelChoice::Auto && has_numbers && is_of_two(schema) {
        let lines = with_categories(columns, "linear");
        let rest = format!("{} + linear", with_categories(columns, "se"));
        all.extend([lines, rest].into_iter().filter(|own| own != fast));
    }
    all
}

/// A way to infer, chosen.
struct Inferred {
    found: Found,
    answers: Answers,
    /// Log loss of fifths predicted from the others.
    loss: f64,
}

/// Rows as they are encoded.
pub struct Encoded {
    pub schema: Schema,
    pub data: Dataset,
}

/// The columns as they are or, where there are such and they lose less, with logarithms.
pub fn fit(
    spec: &ModelSpec,
    plain: Encoded,
    logarithms: Option<Encoded>,
    watch: &dyn Watch,
) -> Result<(Encoded, Found, Answers)> {
    let mut own = infer(spec, &plain.schema, &plain.data, watch)?;
    let Some(logarithms) = logarithms else {
        return Ok((plain, own.found, own.answers));
    };
    let mut other = infer(spec, &logarithms.schema, &logarithms.data, watch)?;
    let told = format!(
        " (log loss of fifths {:.4} with logarithms of positive columns, {:.4} without)",
        other.loss, own.loss
    );
    if other.loss < own.loss {
        other.found.outcome += &format!(" Positive columns are taken by their logarithms{told}.");
        Ok((logarithms, other.found, other.answers))
    } else {
        own.found.outcome += &format!(" Columns are taken as they are{told}.");
        Ok((plain, own.found, own.answers))
    }
}

fn infer(spec: &ModelSpec, schema: &Schema, data: &Dataset, watch: &dyn Watch) -> Result<Inferred> {
    let (mut best, mut answers) = exact::fit(spec, schema, data, watch)?;
    let fast = fast_loss(schema, data, &best)?;
    let rows: f64 = data.members().iter().map(|own| own.weight).sum();
    // Fifths of a hundred rows are told apart by luck within that, and a likelihood's probabilities need no numbers fitted to answers.
    let mut least = fast + STRONG / rows;
    let mut loss_of_best = fast;
    let mut chosen = InferenceChoice::Fast;
    let mut losses = vec![(chosen, best.kernel.structure().to_string(), fast)];
    // The kernel with which a likelihood has lost least so far; expectation propagation tries no other.
    let mut leader = (f64::INFINITY, best.kernel.structure().to_string());
    for way in worth_trying(schema, data.rows()) {
        let kernels = match way {
            InferenceChoice::Laplace => kernels(spec, schema, &leader.1),
            _ => vec![leader.1.clone()],
        };
        for kernel in kernels {
            let own = ModelSpec {
                inference: way,
                kernel: KernelChoice::Given(kernel.parse()?),
                restarts: Some(spec.restarts.unwrap_or(0)),
                ..spec.clone()
            };
            let fitted = match way.approximation() {
                Some(how) if is_of_two(schema) => latent::fit(how, &own, schema, data, watch),
                Some(Approximation::Laplace) => coupled::fit(&own, schema, data, watch),
                _ => continue,
            };
            let (mut found, own) = match fitted {
                Ok(fitted) => fitted,
                Err(Error::Gp(error)) if error.is_recoverable() => continue,
                Err(error) => return Err(error),
            };
            let loss = found.leave_one_out.loss();
            losses.push((way, kernel.clone(), loss));
            if loss < leader.0 {
                leader = (loss, kernel);
            }
            if loss < least - WORTH {
                found.candidates.clone_from(&best.candidates);
                (best, answers, least, chosen) = (found, own, loss, way);
                loss_of_best = loss;
            }
        }
    }
    let told: Vec<String> = losses
        .iter()
        .map(|(way, kernel, loss)| format!("{way} {loss:.4} with {kernel}"))
        .collect();
    best.outcome = format!(
        "Chose the inference {chosen} by the log loss of fifths predicted from the others ({}). {}",
        told.join(", "),
        best.outcome
    );
    Ok(Inferred {
        found: best,
        answers,
        loss: loss_of_best,
    })
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
