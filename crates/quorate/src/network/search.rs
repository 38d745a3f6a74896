//! Finding a graph: greedy steps by evidence, without cycles.

use std::collections::BTreeMap;

use quorate_gp::data::Frame;
use quorate_gp::watch::Watch;

use super::Graph;
use super::learn::{NetworkSpec, conditional, is_discrete, table_score};
use crate::error::Result;

/// How far to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Parents of a column, at most.
    pub parents: usize,
    /// Rows that a process is judged by, at most.
    pub rows: usize,
    /// Gain in nats below which a step is not worth taking.
    pub gain: f64,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            parents: 3,
            rows: 200,
            gain: 1.0,
        }
    }
}

/// A step of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What was done, in words.
    pub what: String,
    /// Gain in nats.
    pub gain: f64,
}

/// Scores of families, each computed once.
struct Families<'a> {
    table: &'a Frame,
    spec: NetworkSpec,
    discrete: BTreeMap<String, bool>,
    known: BTreeMap<(String, Vec<String>), f64>,
    watch: &'a dyn Watch,
}

impl Families<'_> {
    fn score(&mut self, name: &str, parents: &[String]) -> Result<f64> {
        let mut sorted = parents.to_vec();
        sorted.sort();
        let key = (name.to_owned(), sorted);
        if let Some(score) = self.known.get(&key) {
            return Ok(*score);
        }
        self.watch.check()?;
        let labels = |name: &str| self.discrete.get(name).copied().unwrap_or(false);
        let all_labels = labels(name) && key.1.iter().all(|parent| labels(parent));
        let score = if all_labels {
            table_score(self.table, name, &key.1)?
        } else {
            // Judged on as many rows, whatever the parents: evidences of different rows cannot be compared.
            let rows =
                quorate_gp::data::random_rows(self.table.rows(), self.spec.rows, self.spec.seed);
            let some = self.table.select_rows(&rows);
            let scale = self.table.rows() as f64 / rows.len() as f64;
            let found = conditional(&some, name, &key.1, &self.spec, self.watch)?
                .0
                .score;
            // For labels that have both kinds of families, on the scale of the whole table.
            if labels(name) { scale * found } else { found }
        };
        self.known.insert(key, score);
        self.watch.progress("scoring families", self.known.len(), 0);
        Ok(score)
    }
}

/// A move on the edges of a graph.
#[derive(Clone, Debug)]
enum Move {
    Add(usize, String),
    Remove(usize, String),
    Reverse(usize, usize),
}

/// Greedy search over graphs without cycles: the best edge to add, remove or turn around, until none gains. Exogenous
/// columns may be parents only.
pub fn search_graph(
    table: &Frame,
    variables: &[String],
    exogenous: &[String],
    spec: &NetworkSpec,
    how: Search,
    watch: &dyn Watch,
) -> Result<(Graph, Vec<Step>)> {
    let mut graph = Graph {
        exogenous: exogenous.to_vec(),
        parents: variables
            .iter()
            .map(|name| (name.clone(), Vec::new()))
            .collect(),
        dependency: false,
    };
    graph.check()?;
    super::counts::check(table, &spec.counts)?;
    let mut discrete = BTreeMap::new();
    for name in variables.iter().chain(exogenous) {
        discrete.insert(name.clone(), is_discrete(table, name, spec)?);
    }
    let mut families = Families {
        table,
        spec: NetworkSpec {
            rows: how.rows,
            ..spec.clone()
        },
        discrete,
        known: BTreeMap::new(),
        watch,
    };
    let mut steps = Vec::new();
    loop {
        let mut best: Option<(f64, Move, Graph)> = None;
        for step in moves(&graph, how.parents) {
            let next = applied(&graph, &step);
            if next.order().is_err() {
                continue;
            }
            let mut gain = 0.0;
            for ((name, before), (_, after)) in graph.parents.iter().zip(&next.parents) {
                if before != after {
                    gain += families.score(name, after)? - families.score(name, before)?;
                }
            }
            if gain > how.gain && best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                best = Some((gain, step, next));
            }
        }
        let Some((gain, step, next)) = best else {
            return Ok((graph, steps));
        };
        let name = |place: usize| &graph.parents[place].0;
        let what = match &step {
            Move::Add(child, parent) => format!("{parent} -> {} added", name(*child)),
            Move::Remove(child, parent) => format!("{parent} -> {} removed", name(*child)),
            Move::Reverse(child, parent) => {
                format!("{} -> {} turned around", name(*parent), name(*child))
            }
        };
        steps.push(Step { what, gain });
        graph = next;
    }
}

fn moves(graph: &Graph, most: usize) -> Vec<Move> {
    let mut found = Vec::new();
    for (child, (name, parents)) in graph.parents.iter().enumerate() {
        let others = graph
            .exogenous
            .iter()
            .chain(graph.parents.iter().map(|(own, _)| own));
        for other in others.filter(|other| *other != name) {
            if !parents.contains(other) {
                if parents.len() < most {
                    found.push(Move::Add(child, other.clone()));
                }
                continue;
            }
            found.push(Move::Remove(child, other.clone()));
            if let Some(parent) = graph.variables().position(|own| own == other)
                && graph.parents[parent].1.len() < most
            {
                found.push(Move::Reverse(child, parent));
            }
        }
    }
    found
}

fn applied(graph: &Graph, step: &Move) -> Graph {
    let mut next = graph.clone();
    match step {
        Move::Add(child, parent) => next.parents[*child].1.push(parent.clone()),
        Move::Remove(child, parent) => next.parents[*child].1.retain(|own| own != parent),
        Move::Reverse(child, parent) => {
            let (below, above) = (graph.parents[*child].0.clone(), &graph.parents[*parent].0);
            next.parents[*child].1.retain(|own| own != above);
            next.parents[*parent].1.push(below);
        }
    }
    next
}
