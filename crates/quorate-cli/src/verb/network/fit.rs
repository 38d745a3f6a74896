//! `quorate network fit`: from a table and a structure, or a search for one, to a network.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::network::{Graph, NetworkSpec, Search, fit_network, save_network, search_graph};
use quorate::{KernelChoice, LikelihoodChoice, MethodChoice};
use quorate_gp::data::{Batches, Frame, read_all};
use quorate_table::{OpenOptions, open};
use serde::Serialize;

use crate::columns::ColumnList;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables::tell_stray;
use crate::text::{Align, Console, HEADING, LITERAL, Table, count, printable, significant};
use crate::verb::usage::check_apart;

/// Fit a network to a table and write it to a file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate network fit patients.csv --structure graph.json -o patients.network
  quorate network fit patients.csv --search --exogenous age --max-parents 2 -o patients.network
  quorate network fit policies.csv --search --counts claims -o policies.network")]
pub struct Fit {
    /// Table to learn from: CSV, CSV.gz, Parquet or Arrow; rows in which a column is missing do not teach that column
    train: PathBuf,
    /// Network file to write
    #[arg(short, long, value_name = "NETWORK")]
    output: PathBuf,
    /// JSON file with the parents of every column
    #[arg(long, value_name = "FILE", required_unless_present_any = ["search", "dependency"])]
    structure: Option<PathBuf>,
    /// Search for a structure: greedy by evidence, without cycles
    #[arg(long, conflicts_with_all = ["structure", "dependency"])]
    search: bool,
    /// A dependency network: every column given all others
    #[arg(long, conflicts_with = "structure")]
    dependency: bool,
    /// Columns that are given from outside, with `--search` and `--dependency`
    #[arg(long, value_name = "COL,..", conflicts_with = "structure")]
    exogenous: Option<ColumnList>,
    /// Columns to leave out, with `--search` and `--dependency`
    #[arg(long, value_name = "COL,..", conflicts_with = "structure")]
    ignore: Option<ColumnList>,
    /// Parents of a column at most, with `--search`
    #[arg(long, value_name = "N", default_value_t = 3, requires = "search")]
    max_parents: usize,
    /// Kernel of the conditionals [default: matern32(ard), times every category]
    #[arg(long, value_name = "SPEC")]
    kernel: Option<KernelChoice>,
    /// Method of the conditionals of numbers: auto, exact, committee or mixture [default: auto]
    #[arg(long, value_name = "METHOD")]
    method: Option<MethodChoice>,
    /// Likelihood of the conditionals of numbers, such as heteroscedastic, or of counts: poisson or negative-binomial [default:
    /// auto]
    #[arg(long, value_name = "NAME")]
    likelihood: Option<LikelihoodChoice>,
    /// Columns that hold counts
    #[arg(long, value_name = "COL,..")]
    counts: Option<ColumnList>,
    /// Rows that a conditional learns from at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,
    /// Seed of everything random
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

#[derive(Serialize)]
struct Report<'a> {
    network: &'a Path,
    rows: usize,
    structure: &'a Graph,
    score: f64,
    steps: Vec<(String, f64)>,
    notes: &'a [String],
}

impl Fit {
    pub fn run(self, console: &Console) -> Result<()> {
        let read = [Some(&*self.train), self.structure.as_deref()];
        check_apart("network fit", [Some(&*self.output)], read)?;
        let staged = Staged::new(&self.output)?;
        let mut source = open(&self.train, &OpenOptions::default())?;
        let ignored = self.ignore.as_ref().map_or(&[][..], |list| &list.0);
        for stray in source.strays() {
            if !ignored.contains(&stray.column) {
                tell_stray(stray, &source.header().source, console);
            }
        }
        let table = read_all(&mut source)?;
        if table.rows() == 0 {
            return Err(Failure::Failed(format!(
                "{}: the table has no rows; a network needs at least one",
                self.train.display()
            )));
        }
        let spec = NetworkSpec {
            kernel: self.kernel.clone().unwrap_or_default(),
            method: self.method.unwrap_or_default(),
            likelihood: self.likelihood.unwrap_or_default(),
            counts: self
                .counts
                .as_ref()
                .map_or_else(Vec::new, |own| own.0.clone()),
            rows: self.rows,
            seed: self.seed,
        };
        let progress = Progress::new(console);
        let mut steps = Vec::new();
        let graph = match &self.structure {
            Some(path) => read_structure(path)?,
            None if self.dependency => self.everything(&table)?,
            None => {
                let how = Search {
                    parents: self.max_parents,
                    ..Search::default()
                };
                let (variables, exogenous) = self.columns(&table)?;
                let found = search_graph(&table, &variables, &exogenous, &spec, how, &progress);
                let (graph, taken) = progress.outcome(found)?;
                steps = taken
                    .into_iter()
                    .map(|step| (step.what, step.gain))
                    .collect();
                graph
            }
        };
        let network = fit_network(&graph, &table, &spec, &progress);
        let network = progress.outcome(network)?;
        save_network(&network, &staged.path()).map_err(|error| staged.blame(error.into()))?;
        staged.commit()?;
        for note in &network.notes {
            console.note(note);
        }
        for (what, gain) in &steps {
            console.detail(format!(
                "  {}: {} nats",
                printable(what),
                significant(*gain, 4)
            ))?;
        }
        let mut page = Table::new([
            ("column", Align::Left),
            ("parents", Align::Left),
            ("log evidence", Align::Right),
        ]);
        for own in &network.conditionals {
            page.row([
                printable(&own.name),
                printable(&own.parents.join(", ")),
                significant(own.score, 5),
            ]);
        }
        let score: f64 = network.conditionals.iter().map(|own| own.score).sum();
        console.say(format!(
            "{HEADING}Network{HEADING:#} from {}, log evidence {}\n\n{}",
            count(table.rows(), "row"),
            significant(score, 6),
            page.render()
        ))?;
        console.say(format!(
            "Wrote {LITERAL}{}{LITERAL:#}",
            self.output.display()
        ))?;
        console.json(&Report {
            network: &self.output,
            rows: table.rows(),
            structure: &network.graph,
            score,
            steps,
            notes: &network.notes,
        })
    }

    /// Columns to model, and those given from outside.
    fn columns(&self, table: &Frame) -> Result<(Vec<String>, Vec<String>)> {
        let list =
            |flag: &Option<ColumnList>| flag.as_ref().map_or_else(Vec::new, |own| own.0.clone());
        let (exogenous, ignored) = (list(&self.exogenous), list(&self.ignore));
        for name in exogenous.iter().chain(&ignored) {
            if table.header.position(name).is_none() {
                return Err(quorate_gp::data::unknown_column(&table.header, name).into());
            }
        }
        let names = table.header.names.iter();
        let others = names.filter(|name| !exogenous.contains(name) && !ignored.contains(name));
        Ok((others.cloned().collect(), exogenous))
    }

    /// Every column given all others.
    fn everything(&self, table: &Frame) -> Result<Graph> {
        let (variables, exogenous) = self.columns(table)?;
        Ok(Graph::of_everybody(&variables, &exogenous))
    }
}

fn read_structure(path: &Path) -> Result<Graph> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        let message = error.to_string();
        let problem = message.split(" at line ").next().unwrap_or(&message);
        Failure::Failed(format!(
            "{}:{}:{}: {problem}; a structure looks like {{\"parents\": {{\"a\": [], \"b\": [\"a\"]}}}}",
            path.display(),
            error.line(),
            error.column()
        ))
    })
}
