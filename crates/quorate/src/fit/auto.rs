//! Finding a kernel: a few candidates learned on a sample of the rows, the one with the most evidence kept.

use quorate_gp::data::{ColumnKind, Dataset, InputColumn, Member, random_rows};
use quorate_gp::kernel::{Covariance, Kernel};
use quorate_gp::learn::{Search, SearchLimits, learn};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::posterior::{ExactPosterior, LeaveOneOut};
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use super::folds::Unseen;
use crate::error::{Error, Result};
use crate::score::{STRONG, Yardstick, leave_one_out_scores};

/// Candidates are compared on at most this many distinct rows.
const TRIAL_ROWS: usize = 600;
/// Evidences this close (in nats) are a tie; leave-one-out density decides it.
const TIE: f64 = 2.0;
/// Parts that are foretold from the others, to see whether columns deserve length scales of their own.
const PARTS: usize = 4;
/// Rows for each hyperparameter below which evidence is not taken at its word.
pub(super) const FEW: usize = 30;
/// The kernel of targets that have nothing to do with the inputs.
const NOTHING: &str = "constant";
/// Categories with more levels than this may also try a low-rank kernel.
const MANY_LEVELS: usize = 12;

/// How one candidate did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The kernel's text without values.
    pub kernel: String,
    /// Log evidence on the sample; absent where neighbourhoods were scored instead.
    pub log_evidence: Option<f64>,
    /// Mean negative log predictive density, standardised: of rows left out one at a time, or of groups given their
    /// neighbourhoods.
    pub predictive_nlpd: f64,
}

/// The kernel texts worth trying for these columns.
pub fn candidates(columns: &[InputColumn]) -> Vec<String> {
    let numbers = columns.iter().any(|c| c.kind == ColumnKind::Number);
    let categories: Vec<(String, usize)> = columns
        .iter()
        .filter_map(|column| match column.kind {
            ColumnKind::Category { levels } => Some((quoted(&column.name), levels)),
            _ => None,
        })
        .collect();
    let factors: Vec<String> = categories
        .iter()
        .map(|(name, _)| format!("category[{name}]"))
        .collect();
    let main_effects: Vec<String> = categories
        .iter()
        .map(|(name, levels)| {
            if *levels > MANY_LEVELS {
                format!("category(rank=1)[{name}]")
            } else {
                format!("category[{name}]")
            }
        })
        .collect();
    let shapes: &[&str] = if numbers {
        &["se(ard)", "matern52(ard)", "matern32(ard)", "matern12(ard)"]
    } else {
        &[]
    };
    let mut texts: Vec<String> = shapes
        .iter()
        .map(|shape| {
            let mut product = vec![(*shape).to_string()];
            product.extend(factors.iter().cloned());
            product.join(" * ")
        })
        .collect();
    if numbers {
        texts.push(format!("{} + linear", texts[2]));
    }
    if !factors.is_empty() {
        let interaction = factors.join(" * ");
        let effects = main_effects.join(" + ");
        if numbers {
            texts.push(format!("matern32(ard) + {effects}"));
            texts.push(format!("matern32(ard) * {interaction} + {effects}"));
        } else {
            texts.push(interaction);
            texts.push(effects);
        }
    }
    texts
}

/// A kernel text multiplied by every category.
pub(crate) fn with_categories(columns: &[InputColumn], text: &str) -> String {
    let categories = columns
        .iter()
        .filter(|column| matches!(column.kind, ColumnKind::Category { .. }))
        .map(|column| format!("category[{}]", quoted(&column.name)));
    let numbers = columns
        .iter()
        .any(|column| column.kind == ColumnKind::Number);
    let factors: Vec<String> = numbers
        .then(|| text.to_owned())
        .into_iter()
        .chain(categories)
        .collect();
    factors.join(" * ")
}

/// A column name as it must be written in a kernel's brackets.
pub(super) fn quoted(name: &str) -> String {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if plain
        && name
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
    {
        name.to_string()
    } else {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// The kernel that is kept, with the values found.
pub struct Best {
    /// With its values.
    pub kernel: Kernel,
    /// The noise that goes with it.
    pub noise: GaussianNoise,
    /// How all kernels did.
    pub tried: Vec<Candidate>,
    /// What parts of few rows were told by processes of this kernel that had not even their hyperparameters from them.
    pub unseen: Option<Unseen>,
}

/// Learns each candidate on a sample and returns the best.
///
/// `classes` says how many classes the outputs stand for, where they do.
pub fn choose(
    columns: &[InputColumn],
    data: &Dataset,
    classes: Option<usize>,
    search: &Search,
    watch: &dyn Watch,
) -> Result<Best> {
    if let Some(count) = classes {
        return choose_for_classes(columns, data, count, search, watch);
    }
    let quick = Search {
        restarts: Some(1),
        ..*search
    };
    let texts = candidates(columns);
    let sample = sample(data, search.seed);
    let mut best: Option<(Kernel, GaussianNoise, usize)> = None;
    let mut tried: Vec<Candidate> = Vec::new();
    let mut failure = None;
    for (index, text) in texts.iter().enumerate() {
        watch.progress("choosing a kernel", index, texts.len());
        watch.check()?;
        match try_candidate(text, columns, &sample, &quick, watch) {
            Ok((kernel, noise, candidate)) => {
                let better = best
                    .as_ref()
                    .is_none_or(|(_, _, leader)| beats(&candidate, &tried[*leader]));
                tried.push(candidate);
                if better {
                    best = Some((kernel, noise, tried.len() - 1));
                }
            }
            Err(Error::Gp(error)) if error.is_recoverable() => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    watch.progress("choosing a kernel", texts.len(), texts.len());
    let (kernel, noise) = match (best, failure) {
        (Some((kernel, noise, _)), _) => (kernel, noise),
        (None, Some(error)) => return Err(error.into()),
        (None, None) => return Err(Error::Spec("no kernel fits these columns".into())),
    };
    let text = kernel.structure().to_string();
    let mut best = Best {
        kernel,
        noise,
        tried,
        unseen: None,
    };
    if let Some(foretold) = foretold(&text, columns, &sample, &quick, watch)? {
        best.unseen = foretold.unseen;
        if foretold.text != text {
            let plainer = try_candidate(&foretold.text, columns, &sample, &quick, watch)?;
            (best.kernel, best.noise) = (plainer.0, plainer.1);
            best.tried.push(plainer.2);
        }
    }
    Ok(best)
}

/// A kernel by what it tells of parts of the rows that it was learned without.
struct Foretold {
    text: String,
    /// None where a part cannot be learned without.
    unseen: Option<Unseen>,
    nlpd: f64,
}

impl Foretold {
    fn of(
        text: &str,
        columns: &[InputColumn],
        data: &Dataset,
        search: &Search,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let unseen = Unseen::of(data, PARTS, &|others| {
            watch.check()?;
            learned(text, columns, &others, search, watch)
        });
        let (unseen, nlpd) = match unseen {
            Ok(own) => {
                let nlpd = mean_nlpd(&own.members, &own.told, data.outputs())?;
                (Some(own), nlpd)
            }
            Err(Error::Gp(error)) if error.is_recoverable() => (None, f64::INFINITY),
            Err(error) => return Err(error),
        };
        Ok(Self {
            text: text.to_owned(),
            unseen,
            nlpd,
        })
    }
}

/// The kernel or a plainer one, whichever foretells parts of the rows best, learned without them; none where rows are many.
///
/// Of few rows evidence finds patterns that the next do not follow, and is surer of them than of noise: targets of 30 rows that have nothing to do with their
/// three inputs were explained without any noise, and a free number for each of 40 levels explains 120 rows. Rows left out one at a time do not tell,
/// because they had their say in the hyperparameters.
fn foretold(
    text: &str,
    columns: &[InputColumn],
    data: &Dataset,
    search: &Search,
    watch: &dyn Watch,
) -> Result<Option<Foretold>> {
    let count = text.parse::<Kernel>()?.bind(columns)?.parameters().len();
    if data.rows() >= FEW * count || data.rows() < PARTS {
        return Ok(None);
    }
    let levels_alike = text.replace("category(rank=1)", "category");
    let columns_alike = levels_alike.replace("(ard)", "");
    let of = |text: &str| Foretold::of(text, columns, data, search, watch);
    let mut best = of(text)?;
    let mut seen = vec![text.to_owned()];
    let lines = with_categories(columns, "linear");
    for plain in [levels_alike, columns_alike, lines] {
        if seen.contains(&plain) {
            continue;
        }
        let own = of(&plain)?;
        if own.nlpd < best.nlpd {
            best = own;
        }
        seen.push(plain);
    }
    // Where the rows hardly tell a pattern from none, an answer from the pattern is surer than anyone can be.
    let weight: f64 = data.members().iter().map(|own| own.weight).sum();
    let nothing = of(NOTHING)?;
    let is_noise = nothing.nlpd < best.nlpd + STRONG / weight;
    Ok(Some(if is_noise { nothing } else { best }))
}

/// The same for classes, which say little about single columns: shapes are compared with one length scale, then it is
/// asked whether columns deserve their own; where they do, every candidate is tried.
///
/// Every hyperparameter costs half the logarithm of the number of rows (Schwarz 1978): without that charge twenty
/// length scales always find more evidence than one, and tell the next rows less. Of the outputs of all classes, which add
/// up to a constant, one says nothing new, and their evidence counts that much less. Even so 135 rows can have much evidence for a
/// pattern of a few columns that the next rows do not follow: length scales of their own must also foretell parts of the rows
/// better, learned without them.
fn choose_for_classes(
    columns: &[InputColumn],
    data: &Dataset,
    classes: usize,
    search: &Search,
    watch: &dyn Watch,
) -> Result<Best> {
    let quick = Search {
        restarts: Some(0),
        limits: SearchLimits {
            relative_gain: 1e-5,
            ..search.limits
        },
        ..*search
    };
    let sample = sample(data, search.seed);
    let told = (classes.max(2) - 1) as f64 / data.outputs() as f64;
    let charge = 0.5 * (sample.members().len() as f64).ln();
    let mut tried: Vec<Candidate> = Vec::new();
    let mut best: Option<(Kernel, GaussianNoise, usize)> = None;
    let mut failure = None;
    let mut look = |text: &str, best: &mut Option<_>, tried: &mut Vec<Candidate>| -> Result<bool> {
        watch.check()?;
        match try_candidate(text, columns, &sample, &quick, watch) {
            Ok((kernel, noise, candidate)) => {
                let weighed = |candidate: &Candidate| -> Result<Candidate> {
                    let kernel: Kernel = candidate.kernel.parse()?;
                    let count = kernel.bind(columns)?.parameters().len() as f64;
                    let evidence = candidate
                        .log_evidence
                        .map(|own| told * own - charge * count);
                    Ok(Candidate {
                        log_evidence: evidence,
                        ..candidate.clone()
                    })
                };
                let better = match best {
                    Some((_, _, leader)) => {
                        beats(&weighed(&candidate)?, &weighed(&tried[*leader])?)
                    }
                    None => true,
                };
                tried.push(candidate);
                if better {
                    *best = Some((kernel, noise, tried.len() - 1));
                }
                Ok(better)
            }
            Err(Error::Gp(error)) if error.is_recoverable() => {
                failure = Some(error);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    };
    let numbers = columns.iter().filter(|c| c.kind == ColumnKind::Number);
    let mut shape = match numbers.count() {
        0 => "",
        _ => SHAPES[0],
    };
    if shape.is_empty() {
        for text in candidates(columns) {
            look(&text, &mut best, &mut tried)?;
        }
    } else {
        for (index, own) in SHAPES.iter().enumerate() {
            watch.progress("choosing a kernel", index, SHAPES.len() + 3);
            if look(&with_categories(columns, own), &mut best, &mut tried)? {
                shape = own;
            }
        }
        let plain = with_categories(columns, shape);
        look(&format!("{plain} + linear"), &mut best, &mut tried)?;
        look(&with_categories(columns, "linear"), &mut best, &mut tried)?;
        let own = with_categories(columns, &format!("{shape}(ard)"));
        let fewer = best.clone();
        if columns.len() > 1 && look(&own, &mut best, &mut tried)? {
            let unseen = |text: &str| Foretold::of(text, columns, &sample, &quick, watch);
            let pays = match &fewer {
                Some((kernel, ..)) => {
                    unseen(&own)?.nlpd < unseen(&kernel.structure().to_string())?.nlpd
                }
                None => true,
            };
            if pays {
                for text in candidates(columns).iter().filter(|text| **text != own) {
                    look(text, &mut best, &mut tried)?;
                }
            } else {
                best = fewer;
            }
        }
        watch.progress("choosing a kernel", SHAPES.len() + 3, SHAPES.len() + 3);
    }
    match (best, failure) {
        (Some((kernel, noise, _)), _) => Ok(Best {
            kernel,
            noise,
            tried,
            unseen: None,
        }),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(Error::Spec("no kernel fits these columns".into())),
    }
}

/// Shapes of a kernel from smooth to rough.
pub(super) const SHAPES: [&str; 4] = ["se", "matern52", "matern32", "matern12"];

fn beats(challenger: &Candidate, leader: &Candidate) -> bool {
    let gain = challenger
        .log_evidence
        .zip(leader.log_evidence)
        .map(|(ours, theirs)| ours - theirs);
    match gain {
        Some(gain) if gain.abs() > TIE => gain > 0.0,
        _ => challenger.predictive_nlpd < leader.predictive_nlpd,
    }
}

fn try_candidate(
    text: &str,
    columns: &[InputColumn],
    data: &Dataset,
    search: &Search,
    watch: &dyn Watch,
) -> Result<(Kernel, GaussianNoise, Candidate)> {
    let posterior = learned(text, columns, data, search, watch)?;
    let kernel = posterior.kernel().kernel();
    let candidate = Candidate {
        kernel: kernel.structure().to_string(),
        log_evidence: Some(posterior.log_evidence()),
        predictive_nlpd: left_out_nlpd(&posterior)?,
    };
    Ok((kernel, posterior.noise(), candidate))
}

/// A process of these rows with the hyperparameters of the most evidence.
fn learned(
    text: &str,
    columns: &[InputColumn],
    data: &Dataset,
    search: &Search,
    watch: &dyn Watch,
) -> Result<ExactPosterior> {
    let mut kernel = text.parse::<Kernel>()?.bind(columns)?;
    kernel.initialise(data.inputs(), data.targets());
    let noise = GaussianNoise { variance: 0.1 };
    let (kernel, noise, _) = learn(&kernel, noise, data, search, watch)?;
    let data = data.clone();
    Ok(ExactPosterior::condition(
        kernel,
        noise,
        data,
        search.jitter,
    )?)
}

/// Mean over the outputs of the standardised NLPD of rows left out one at a time.
fn left_out_nlpd(posterior: &ExactPosterior) -> Result<f64> {
    let data = posterior.data();
    mean_nlpd(data.members(), &posterior.leave_one_out(), data.outputs())
}

fn mean_nlpd(members: &[Member], answers: &LeaveOneOut, outputs: usize) -> Result<f64> {
    let standard = Yardstick {
        mean: 0.0,
        deviation: 1.0,
    };
    let mut sum = 0.0;
    for output in 0..outputs {
        let own = answers.of_output(output, outputs);
        sum += leave_one_out_scores(members, &own, standard)?.nlpd;
    }
    Ok(sum / outputs as f64)
}

/// The rows on which candidates are compared.
fn sample(data: &Dataset, seed: u64) -> Dataset {
    if data.rows() <= TRIAL_ROWS {
        data.clone()
    } else {
        data.select(&random_rows(data.rows(), TRIAL_ROWS, seed))
    }
}
