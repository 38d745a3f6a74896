//! Numbers, classes, counts or lifetimes: what a target column says.

use quorate_gp::data::{Column, ColumnType, Frame, Quantity, TargetKind, unknown_column};
use serde::{Deserialize, Serialize};

use super::inference::LikelihoodChoice;
use crate::error::{Error, Result};
use crate::spec::{LearnChoice, ModelSpec};

/// Whole numbers may be labels of at most this many classes.
const MOST_CLASSES: usize = 100;
/// And every class must have so many rows on average.
const ROWS_OF_CLASS: usize = 20;
/// Two values are classes from so many rows on.
const ROWS_OF_TWO: usize = 10;

/// What is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskChoice {
    /// What the target column looks like.
    #[default]
    Auto,
    /// Numbers.
    Regression,
    /// One of two classes.
    Binary,
    /// One of any number of classes.
    Multiclass,
    /// Counts.
    Count,
    /// Lifetimes, right-censored or not.
    Lifetime,
}

/// What kind of number reaches the function through a likelihood, by the flags alone; none for Gaussian noise and
/// classes.
pub(crate) fn quantity(spec: &ModelSpec) -> Result<Option<Quantity>> {
    let likelihood = spec.likelihood;
    let censored = spec.event.is_some() || spec.censored.is_some();
    let contradicts = |what: &str| {
        Err(Error::Spec(format!(
            "`--likelihood {likelihood}` is not for {what}: leave one of the two flags out"
        )))
    };
    let quantity = match spec.task {
        TaskChoice::Binary | TaskChoice::Multiclass => match likelihood.quantity() {
            Some(_) => return contradicts("classes"),
            None => return Ok(None),
        },
        TaskChoice::Count => match (likelihood, likelihood.quantity()) {
            (LikelihoodChoice::Auto, _) | (_, Some(Quantity::Count)) => Some(Quantity::Count),
            _ => return contradicts("counts"),
        },
        TaskChoice::Lifetime => match (likelihood, likelihood.quantity()) {
            (LikelihoodChoice::Auto, _) | (_, Some(Quantity::Positive)) => Some(Quantity::Positive),
            _ => return contradicts("lifetimes"),
        },
        TaskChoice::Regression => match likelihood {
            other if other.is_of_classes() => return contradicts("numbers"),
            other => other.quantity(),
        },
        TaskChoice::Auto => match likelihood {
            LikelihoodChoice::Auto if censored => Some(Quantity::Positive),
            LikelihoodChoice::Auto if spec.exposure.is_some() => Some(Quantity::Count),
            other => other.quantity(),
        },
    };
    let Some(quantity) = quantity else {
        return Ok(None);
    };
    let lifetime = quantity == Quantity::Positive
        && (likelihood == LikelihoodChoice::Auto || likelihood.takes_censoring());
    if censored && !lifetime {
        return Err(Error::Spec(
            "`--event` and `--censored` are about lifetimes: use `--likelihood weibull` or `exponential`".into(),
        ));
    }
    if spec.exposure.is_some() && (lifetime || quantity == Quantity::Real) {
        return Err(Error::Spec(
            "`--exposure` is about counts and amounts: use `--likelihood poisson`, `negative-binomial`, `gamma` or `inverse-gaussian`".into(),
        ));
    }
    Ok(Some(quantity))
}

/// True when targets reach the function through a likelihood, by the flags alone.
pub(crate) fn has_likelihood(spec: &ModelSpec) -> bool {
    spec.inference.approximation().is_some() || quantity(spec).is_ok_and(|found| found.is_some())
}

/// What the target is, and a sentence for people where that was found out rather than said.
pub(crate) fn decide(spec: &ModelSpec, table: &Frame) -> Result<(TargetKind, Option<String>)> {
    let several = !spec.further_targets.is_empty();
    if let Some(quantity) = quantity(spec)? {
        return Ok((TargetKind::Quantity(quantity), said(spec, quantity)));
    }
    let (kind, note) = match spec.task {
        _ if spec.likelihood == LikelihoodChoice::Gaussian => (TargetKind::Numbers, None),
        TaskChoice::Regression | TaskChoice::Count | TaskChoice::Lifetime => {
            (TargetKind::Numbers, None)
        }
        TaskChoice::Binary | TaskChoice::Multiclass => (TargetKind::Classes, None),
        TaskChoice::Auto if several || spec.mixture().is_some() => (TargetKind::Numbers, None),
        TaskChoice::Auto => match labels(table, &spec.target)? {
            Some(why) => (
                TargetKind::Classes,
                Some(format!(
                    "`{}` was taken for classes: it holds {why} (`--task regression` for numbers)",
                    spec.target
                )),
            ),
            None => (TargetKind::Numbers, looks_counted(table, &spec.target)),
        },
    };
    if kind == TargetKind::Classes {
        let contradiction = [
            ("several targets", several),
            ("`--noise`", spec.noise.is_some()),
            ("`--noise-variance`", spec.noise_variance.is_some()),
        ]
        .into_iter()
        .find(|(_, given)| *given);
        if let Some((what, _)) = contradiction {
            return Err(Error::Spec(format!(
                "{what} can be had for numbers only, and the target `{}` is a class",
                spec.target
            )));
        }
    }
    use LearnChoice::{Auto, Block, Committee, Conditional, Hmc, Nuts};
    let summed = [Auto, Block, Conditional, Committee, LearnChoice::None].contains(&spec.learn);
    let drawn = [Nuts, Hmc].contains(&spec.learn) && spec.inference.approximation().is_some();
    if (several || (kind == TargetKind::Classes && !drawn)) && !summed {
        return Err(Error::Spec(format!(
            "`--learn {}` is for one number: leave it out for classes and several targets",
            spec.learn
        )));
    }
    if several && spec.noise.is_some() {
        return Err(Error::Spec(
            "`--noise` is about one target: fit several targets without it, or one at a time"
                .into(),
        ));
    }
    Ok((kind, note))
}

/// A sentence where the flags decided what was not said.
fn said(spec: &ModelSpec, quantity: Quantity) -> Option<String> {
    let open = spec.task == TaskChoice::Auto && spec.likelihood == LikelihoodChoice::Auto;
    let what = match quantity {
        Quantity::Count => "counts, because there is an exposure",
        _ => "lifetimes, because there is a column that says where they end",
    };
    open.then(|| format!("`{}` was taken for {what}", spec.target))
}

/// A sentence where numbers may be counts.
fn looks_counted(table: &Frame, name: &str) -> Option<String> {
    let Some(Column::Number(cells)) = table.column(name) else {
        return None;
    };
    let is_count = |cell: &f64| cell.is_finite() && *cell >= 0.0 && cell.fract() == 0.0;
    let zeros = cells.iter().filter(|cell| **cell == 0.0).count();
    // Whole numbers alone may be grades or ages; counts of rare things are often none.
    let counted = 20 * zeros >= cells.len() && zeros < cells.len() && cells.iter().all(is_count);
    counted.then(|| {
        format!(
            "`{name}` was taken for a number; it holds 0, 1, 2, ..: `--task count` is for counts"
        )
    })
}

/// What makes a column look like labels of classes, in words; none where it looks like numbers.
///
/// Text and booleans are labels. So are two values, and whole numbers that count from 0 or 1 without a gap, where there
/// are few of them and many rows of each. Counts and grades rarely look like that; `--task` is for those that do.
fn labels(table: &Frame, name: &str) -> Result<Option<String>> {
    let position = table
        .header
        .position(name)
        .ok_or_else(|| unknown_column(&table.header, name))?;
    match (&table.columns[position], table.header.types[position]) {
        (Column::Text(_), _) => Ok(Some("text".into())),
        (_, ColumnType::Boolean) => Ok(Some("true and false".into())),
        (Column::Number(cells), ColumnType::Number) => Ok(few_whole_numbers(cells)),
        _ => Ok(None),
    }
}

fn few_whole_numbers(cells: &[f64]) -> Option<String> {
    let mut values: Vec<f64> = Vec::new();
    for &cell in cells {
        if !(cell.is_finite() && cell.fract() == 0.0) {
            return None;
        }
        if let Err(place) = values.binary_search_by(|value| value.total_cmp(&(cell + 0.0))) {
            if values.len() == MOST_CLASSES {
                return None;
            }
            values.insert(place, cell + 0.0);
        }
    }
    match values[..] {
        [low, high] if cells.len() >= ROWS_OF_TWO && high - low <= 2.0 => {
            Some(format!("two values, {low} and {high}"))
        }
        [first, .., last] if values.len() > 2 => {
            let without_gap = last - first == (values.len() - 1) as f64;
            let counts = without_gap && (first == 0.0 || first == 1.0);
            let many = cells.len() >= ROWS_OF_CLASS * values.len();
            (counts && many).then(|| format!("the whole numbers from {first} to {last}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(values: &[f64], times: usize) -> Vec<f64> {
        let copies = std::iter::repeat_n(values, times);
        copies.flatten().copied().collect()
    }

    #[test]
    fn labels_count_without_a_gap_and_have_many_rows() {
        let some = |values: &[f64], times| few_whole_numbers(&repeated(values, times)).is_some();
        assert!(some(&[0.0, 1.0], 5) && some(&[1.0, 2.0], 5) && some(&[-1.0, 1.0], 5));
        assert!(some(&[0.0, 1.0, 2.0], 20) && some(&[1.0, 2.0, 3.0, 4.0], 20));
        // Few rows, a gap, another start, fractions, one value, a value that is missing.
        assert!(!some(&[0.0, 1.0], 4) && !some(&[0.0, 1.0, 2.0], 19));
        assert!(!some(&[0.0, 1.0, 3.0], 30) && !some(&[3.0, 4.0, 5.0, 6.0], 30));
        assert!(!some(&[0.0, 0.5, 1.0], 30) && !some(&[7.0], 30));
        assert!(!some(&[0.0, 1.0, f64::NAN], 30) && !some(&[0.0, 1000.0], 30));
        let many: Vec<f64> = (0..MOST_CLASSES + 1).map(|value| value as f64).collect();
        assert!(!some(&many, ROWS_OF_CLASS));
    }
}
