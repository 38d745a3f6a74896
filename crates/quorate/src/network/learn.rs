//! From a table to a network: one conditional for each column.

use std::sync::Arc;

use quorate_gp::data::{
    Column, ColumnType, Frame, Header, Quantity, Schema, TargetKind, random_rows,
};
use quorate_gp::kernel::Covariance;
use quorate_gp::watch::Watch;
use statrs::function::gamma::ln_gamma;

use super::conditional::{Conditional, Marginal};
use super::counts::{self, Tally};
use super::{Graph, Network};
use crate::error::{Error, Result};
use crate::fit::auto::with_categories;
use crate::model::Model;
use crate::spec::{KernelChoice, MethodChoice, ModelSpec};
use crate::task::{LikelihoodChoice, TaskChoice, decide};

/// Prior rows behind the frequencies of labels, spread over all cells (Heckerman, Geiger and Chickering 1995).
const PRIOR_ROWS: f64 = 1.0;

/// How conditionals are learned.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// Kernel of the conditionals; a rough one with a length scale for each number, times every category, when `auto`.
    pub kernel: KernelChoice,
    /// Method of the conditionals of numbers.
    pub method: MethodChoice,
    /// Their likelihood; `poisson` and `negative-binomial` are those of the counts, and leave other numbers as they are.
    pub likelihood: LikelihoodChoice,
    /// Columns that hold counts.
    pub counts: Vec<String>,
    /// Rows that a conditional with parents learns from, at most.
    pub rows: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for NetworkSpec {
    fn default() -> Self {
        Self {
            kernel: KernelChoice::Auto,
            method: MethodChoice::Auto,
            likelihood: LikelihoodChoice::Auto,
            counts: Vec::new(),
            rows: 1000,
            seed: 0,
        }
    }
}

/// Fits every conditional of a graph.
pub fn fit_network(
    graph: &Graph,
    table: &Frame,
    spec: &NetworkSpec,
    watch: &dyn Watch,
) -> Result<Network> {
    graph.check()?;
    if let Some(name) =
        (spec.counts.iter()).find(|name| !graph.variables().any(|own| own == **name))
    {
        return Err(Error::Spec(format!(
            "the counts `{name}` are no variable of the network: it has {}",
            graph.variables().collect::<Vec<_>>().join(", ")
        )));
    }
    counts::check(table, &spec.counts)?;
    let mut conditionals = Vec::new();
    let mut notes = Vec::new();
    for (place, (name, parents)) in graph.parents.iter().enumerate() {
        watch.check()?;
        watch.progress("fitting conditionals", place, graph.parents.len());
        let (own, remarks) = conditional(table, name, parents, spec, watch)?;
        notes.extend(remarks.into_iter().map(|note| format!("{name}: {note}")));
        conditionals.push(own);
    }
    for name in &graph.exogenous {
        cells(table, name)?;
    }
    watch.progress(
        "fitting conditionals",
        graph.parents.len(),
        graph.parents.len(),
    );
    Ok(Network {
        graph: graph.clone(),
        conditionals,
        notes,
    })
}

/// A column of the table with its type.
fn cells<'a>(table: &'a Frame, name: &str) -> Result<(&'a Column, ColumnType)> {
    match table.header.position(name) {
        Some(place) => Ok((&table.columns[place], table.header.types[place])),
        None => Err(quorate_gp::data::unknown_column(&table.header, name).into()),
    }
}

/// The rows in which a column is there.
fn present(column: &Column) -> Vec<usize> {
    match column {
        Column::Number(cells) => (0..cells.len())
            .filter(|&row| cells[row].is_finite())
            .collect(),
        Column::Text(cells) => (0..cells.len())
            .filter(|&row| cells[row].is_some())
            .collect(),
    }
}

/// The given columns of a table.
fn columns(table: &Frame, names: &[String]) -> Result<Frame> {
    let each: Vec<(&Column, ColumnType)> = (names.iter())
        .map(|name| cells(table, name))
        .collect::<Result<_>>()?;
    let header = Header {
        source: table.header.source.clone(),
        names: names.to_vec(),
        types: each.iter().map(|(_, kind)| *kind).collect(),
    };
    let columns = each.into_iter().map(|(column, _)| column.clone());
    Ok(Frame::new(
        Arc::new(header),
        columns.collect(),
        table.first_row,
    )?)
}

/// Labels of a column with their counts, in the order of the labels.
fn counted(column: &Column) -> Vec<(String, f64)> {
    let mut found: Vec<(String, f64)> = Vec::new();
    let mut count = |label: String| match found.binary_search_by(|(own, _)| own.cmp(&label)) {
        Ok(place) => found[place].1 += 1.0,
        Err(place) => found.insert(place, (label, 1.0)),
    };
    match column {
        Column::Number(cells) => cells
            .iter()
            .for_each(|cell| count((cell + 0.0).to_string())),
        Column::Text(cells) => {
            cells
                .iter()
                .flatten()
                .for_each(|cell| count(cell.to_string()));
        }
    }
    found
}

/// True where a column holds labels.
pub(super) fn is_discrete(table: &Frame, name: &str, spec: &NetworkSpec) -> Result<bool> {
    if spec.counts.iter().any(|own| own == name) {
        return Ok(false);
    }
    let (column, _) = cells(table, name)?;
    let there = table.select_rows(&present(column));
    Ok(decide(&ModelSpec::new(name), &there)?.0 == TargetKind::Classes)
}

fn marginal(column: &Column, discrete: bool, rows: usize) -> Marginal {
    if discrete {
        let counts = counted(column);
        let share = |(label, count): (String, f64)| (label, count / rows as f64);
        return Marginal::Labels(counts.into_iter().map(share).collect());
    }
    let cells: &[f64] = match column {
        Column::Number(cells) => cells,
        Column::Text(_) => &[],
    };
    let count = cells.len().max(1) as f64;
    let mean = cells.iter().sum::<f64>() / count;
    let spread = cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / count;
    Marginal::Number {
        mean,
        deviation: spread.sqrt().max(1e-12 * (1.0 + mean.abs())),
    }
}

/// Learns one column given its parents, from the rows in which it is there.
pub(super) fn conditional(
    table: &Frame,
    name: &str,
    parents: &[String],
    spec: &NetworkSpec,
    watch: &dyn Watch,
) -> Result<(Conditional, Vec<String>)> {
    let (column, kind) = cells(table, name)?;
    let there = present(column);
    if there.len() < 2 {
        return Err(Error::Spec(format!(
            "`{name}` is missing in all rows but {}: leave it out of the network",
            there.len()
        )));
    }
    let mut notes = Vec::new();
    if there.len() < table.rows() {
        let missing = table.rows() - there.len();
        notes.push(format!(
            "missing in {missing} rows, which it does not learn from"
        ));
    }
    let discrete = is_discrete(table, name, spec)?;
    let alone = match spec.counts.iter().any(|own| own == name) {
        true => Marginal::Count(Tally::of(name, &column.select(&there))?),
        false => marginal(&column.select(&there), discrete, there.len()),
    };
    let mut own = Conditional {
        name: name.to_owned(),
        kind,
        marginal: alone,
        model: None,
        parents: parents.to_vec(),
        score: 0.0,
    };
    let constant = matches!(&own.marginal, Marginal::Labels(shares) if shares.len() < 2);
    if parents.is_empty() || constant {
        if constant && !parents.is_empty() {
            notes.push("has one label and needs no parents".to_owned());
            own.parents.clear();
        }
        own.score = alone_score(&own.marginal, &column.select(&there));
        return Ok((own, notes));
    }
    let names: Vec<String> = parents.iter().cloned().chain([name.to_owned()]).collect();
    let some: Vec<usize> = (random_rows(there.len(), spec.rows.max(2), spec.seed).iter())
        .map(|&row| there[row])
        .collect();
    let rows = columns(table, &names)?.select_rows(&some);
    let model = Model::fit(&model_spec(&rows, &own, discrete, spec)?, &rows, watch)?;
    own.score = model_score(&model, some.len());
    notes.extend(model.notes().iter().cloned());
    own.model = Some(model);
    Ok((own, notes))
}

fn model_spec(
    rows: &Frame,
    own: &Conditional,
    discrete: bool,
    spec: &NetworkSpec,
) -> Result<ModelSpec> {
    let plain = ModelSpec {
        inputs: Some(own.parents.clone()),
        seed: spec.seed,
        restarts: Some(0),
        ..ModelSpec::new(&own.name)
    };
    let of_counts = spec.likelihood.quantity() == Some(Quantity::Count);
    let is_count = matches!(own.marginal, Marginal::Count(_));
    let likelihood = match is_count == of_counts {
        true => spec.likelihood,
        false => LikelihoodChoice::Auto,
    };
    let mut plain = match (discrete, is_count) {
        (true, _) => ModelSpec {
            task: TaskChoice::Multiclass,
            inference: crate::task::InferenceChoice::Fast,
            ..plain
        },
        (false, true) => ModelSpec {
            task: TaskChoice::Count,
            likelihood,
            ..plain
        },
        (false, false) => ModelSpec {
            task: TaskChoice::Regression,
            method: spec.method,
            likelihood,
            ..plain
        },
    };
    plain.kernel = match &spec.kernel {
        KernelChoice::Auto => {
            let kind = match (discrete, is_count) {
                (true, _) => TargetKind::Classes,
                (false, true) => TargetKind::Quantity(Quantity::Count),
                (false, false) => TargetKind::Numbers,
            };
            let (schema, _) = Schema::learn_as(kind, rows, &plain.roles())?;
            KernelChoice::Given(with_categories(schema.columns(), "matern32(ard)").parse()?)
        }
        given => given.clone(),
    };
    Ok(plain)
}

/// Log evidence of a column alone: frequencies with a prior, a standardised Gaussian with half a log of the rows for its
/// variance, or a tally of counts with half a log for its mean and for its size.
fn alone_score(marginal: &Marginal, column: &Column) -> f64 {
    let n = match column {
        Column::Number(cells) => cells.len(),
        Column::Text(cells) => cells.len(),
    } as f64;
    match marginal {
        Marginal::Count(tally) => {
            let cells: &[f64] = match column {
                Column::Number(cells) => cells,
                Column::Text(_) => &[],
            };
            let told: f64 = cells.iter().map(|cell| tally.log_probability(*cell)).sum();
            told - 0.5 * n.ln() * (1 + usize::from(tally.size.is_some())) as f64
        }
        Marginal::Labels(shares) => {
            let counts: Vec<f64> = shares.iter().map(|(_, share)| share * n).collect();
            dirichlet(&counts, PRIOR_ROWS / counts.len().max(1) as f64)
        }
        Marginal::Number { .. } => {
            -0.5 * n * ((2.0 * std::f64::consts::PI).ln() + 1.0) - 0.5 * n.ln()
        }
    }
}

/// Log evidence of a model, or the density of rows it did not see; less half a log of the rows for each hyperparameter that
/// was fitted to them.
fn model_score(model: &Model, rows: usize) -> f64 {
    let n = rows as f64;
    let free = match model.kernel().bind(model.schema().columns()) {
        Ok(kernel) => kernel.parameters().iter().filter(|own| !own.fixed).count(),
        Err(_) => 0,
    };
    let told = match (model.leave_one_out().classes(), model.log_evidence()) {
        (Some(scores), _) => -n * scores.log_loss,
        (None, Some(evidence)) => evidence,
        (None, None) => {
            let scores = model.leave_one_out();
            let numbers = scores.number().map(|own| own.nlpd_standardised);
            let counts = scores.quantity().map(|own| own.nlpd);
            -n * numbers.or(counts).unwrap_or(f64::INFINITY)
        }
    };
    told - 0.5 * n.ln() * (free + 1) as f64
}

/// Log evidence of counts under a Dirichlet prior with so many rows for each cell.
fn dirichlet(counts: &[f64], each: f64) -> f64 {
    let (total, prior) = (counts.iter().sum::<f64>(), each * counts.len() as f64);
    let cells = counts
        .iter()
        .map(|count| ln_gamma(each + count) - ln_gamma(each));
    ln_gamma(prior) - ln_gamma(prior + total) + cells.sum::<f64>()
}

/// Log evidence of labels given labels, by the counts of all their combinations.
pub(super) fn table_score(table: &Frame, name: &str, parents: &[String]) -> Result<f64> {
    let all: Vec<&Column> = (parents.iter().map(String::as_str).chain([name]))
        .map(|name| Ok(cells(table, name)?.0))
        .collect::<Result<_>>()?;
    let complete: Vec<usize> = (0..table.rows())
        .filter(|row| {
            all.iter().all(|column| match column {
                Column::Number(cells) => cells[*row].is_finite(),
                Column::Text(cells) => cells[*row].is_some(),
            })
        })
        .collect();
    let labels: Vec<Vec<String>> = (all.iter())
        .map(|column| {
            counted(column)
                .into_iter()
                .map(|(label, _)| label)
                .collect()
        })
        .collect();
    let code = |column: &Column, labels: &[String], row: usize| {
        let label = match column {
            Column::Number(cells) => (cells[row] + 0.0).to_string(),
            Column::Text(cells) => cells[row].as_deref().unwrap_or("").to_owned(),
        };
        labels.binary_search(&label).unwrap_or(0)
    };
    let own = labels.last().map_or(1, Vec::len).max(1);
    let states: usize = labels.iter().take(parents.len()).map(Vec::len).product();
    let mut counts = std::collections::BTreeMap::<Vec<usize>, Vec<f64>>::new();
    for row in complete {
        let mut codes: Vec<usize> = (all.iter().zip(&labels))
            .map(|(column, labels)| code(column, labels, row))
            .collect();
        let cell = codes.pop().unwrap_or(0);
        counts.entry(codes).or_insert_with(|| vec![0.0; own])[cell] += 1.0;
    }
    let each = PRIOR_ROWS / (own * states.max(1)) as f64;
    Ok(counts.values().map(|counts| dirichlet(counts, each)).sum())
}
