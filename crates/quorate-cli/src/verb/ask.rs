//! `quorate ask`: predictions of many servers, fused.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use quorate::fusion::{Learned, RULES, Rule, rule};
use quorate::gp::data::{Column, ColumnType, Frame, nearest_name, read_all};
use quorate::plan::Span;
use quorate_server::{Address, Fused, Opinion, Panel, Trust, check_rule, fuse, record};
use quorate_table::{OpenOptions, open};
use serde::Serialize;

use super::usage::check_apart;
use crate::failure::{Failure, Result};
use crate::forecast::{Probability, Wish};
use crate::sink::Sink;
use crate::text::{Console, LITERAL, count};

/// Ask many servers about the rows of a table and fuse what they say
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate ask new.csv --agents http://north:8000 http://south:8000 -o out.csv
  quorate ask new.csv --agents http://north:8000/yield http://south:8000/yield --rule barycentre --quorum 1
  quorate ask new.csv --agents https://north https://south --ca root.pem --token-file token.txt --json

Predictions are shared, data are not. A server that is down, slow or answers nonsense is left out and named.")]
pub struct Ask {
    /// Table with the inputs: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    data: PathBuf,
    /// Addresses of `quorate serve`, with the model's name at the end where a server has several
    #[arg(long, value_name = "URL", required = true, num_args = 1..)]
    agents: Vec<Address>,
    /// Rule by which opinions become one [default: generalised-product; mixture for classes]
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Servers that must have answered [default: all]
    #[arg(long, value_name = "N")]
    quorum: Option<NonZeroUsize>,
    /// How long each reply is waited for
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    timeout: Span,
    /// Server that knows only the rows all others share, for `--rule generalised-robust-bcm`
    #[arg(long, value_name = "URL")]
    base: Option<Address>,
    /// Table with known targets that no server was trained on, for rules that weigh servers by their errors
    #[arg(long, value_name = "DATA", requires = "target")]
    held_out: Option<PathBuf>,
    /// Column of the target in that table
    #[arg(short, long, value_name = "COL", requires = "held_out")]
    target: Option<String>,
    /// File to write: CSV, CSV.gz, Parquet or Arrow by its ending; `-` for CSV on standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Probability that a new target lies between lower and upper
    #[arg(long, value_name = "P", default_value = "0.95")]
    interval: Probability,
    /// Quantiles to add as columns q0.1, q0.5, ..
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    quantiles: Vec<Probability>,
    /// File whose first line is the token that servers want
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Root certificate (PEM) of the servers, for addresses with https
    #[arg(long, value_name = "PEM")]
    ca: Option<PathBuf>,
    /// Certificate (PEM) to show to servers that want one
    #[arg(long, value_name = "PEM", requires_all = ["client_key", "ca"])]
    client_cert: Option<PathBuf>,
    /// Its private key (PEM)
    #[arg(long, value_name = "PEM", requires = "client_cert")]
    client_key: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report<'a> {
    output: &'a str,
    rows: usize,
    columns: &'a [String],
    rule: &'a str,
    agents: Vec<Answer<'a>>,
}

/// Who answered, and why others did not.
#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    answered: bool,
    model: Option<&'a str>,
    version: Option<&'a str>,
    problem: Option<&'a str>,
}

impl Ask {
    pub fn run(self, console: &Console) -> Result<()> {
        let read = [
            Some(&*self.data),
            self.held_out.as_deref(),
            self.token_file.as_deref(),
            self.ca.as_deref(),
            self.client_cert.as_deref(),
            self.client_key.as_deref(),
        ];
        check_apart("ask", [self.output.as_deref()], read)?;
        let rule_given = self.rule.as_deref().map(named).transpose()?;
        if let Some(rule) = rule_given {
            check_rule(rule, self.base.is_some(), self.held_out.is_some())?;
        }
        let mut addresses = self.agents.clone();
        addresses.extend(self.base.clone());
        let mut panel = Panel::gather(addresses, self.trust()?)?;
        let Some(described) = panel.described().cloned() else {
            return Err(too_few(&panel, 0, self.quorum_of()));
        };
        let rule = match rule_given {
            Some(rule) => rule,
            None => named(if described.is_of_classes {
                "mixture"
            } else {
                "generalised-product"
            })?,
        };
        let mut sink = Sink::new(self.output.as_deref(), console)?;
        let table = questions(&self.data, &described.inputs, None)?;
        let held_out = match (&self.held_out, &self.target) {
            (Some(path), Some(target)) => Some(questions(path, &described.inputs, Some(target))?),
            _ => None,
        };
        let before = held_out.as_ref().map(|table| panel.ask(table));
        let said = panel.ask(&table);
        // A server that dropped out after the first table has no opinion on the second.
        let present = |index: usize| said[index].is_some();
        let members: Vec<usize> = (0..self.agents.len()).filter(|&i| present(i)).collect();
        if members.len() < self.quorum_of() {
            return Err(too_few(&panel, members.len(), self.quorum_of()));
        }
        let opinions = |from: &[Option<Opinion>]| -> Vec<Opinion> {
            members
                .iter()
                .filter_map(|&index| from[index].clone())
                .collect()
        };
        let learned = match (&before, &held_out, &self.target) {
            (Some(before), Some(table), Some(target)) => {
                learn(rule, &opinions(before), table, target)?
            }
            _ => None,
        };
        let base = self
            .base
            .as_ref()
            .and_then(|_| said.last().cloned().flatten());
        if self.base.is_some() && base.is_none() {
            return Err(too_few(&panel, members.len(), self.quorum_of()));
        }
        let fused = fuse(rule, &opinions(&said), base.as_ref(), learned.as_ref())?;
        let frame = self.frame(fused)?;
        sink.header(&frame.header)?;
        sink.write(&frame)?;
        let agents = answers(&panel);
        let absent = agents
            .iter()
            .filter_map(|agent| Some((agent.url, agent.problem?)));
        let notes: Vec<String> = absent.map(|(url, why)| format!("{url} {why}")).collect();
        let written = sink.finish(&notes)?;
        notes.iter().for_each(|note| console.note(note));
        let Some(path) = written else {
            return Ok(());
        };
        let output = path.display().to_string();
        let servers = count(members.len(), "server");
        console.say(format!(
            "Wrote {LITERAL}{output}{LITERAL:#}: {} by {} of {servers}",
            count(frame.rows(), "row"),
            rule.name,
        ))?;
        console.json(&Report {
            output: &output,
            rows: frame.rows(),
            columns: &frame.header.names,
            rule: rule.name,
            agents,
        })
    }

    fn quorum_of(&self) -> usize {
        self.quorum.map_or(self.agents.len(), NonZeroUsize::get)
    }

    fn trust(&self) -> Result<Trust> {
        let patience = Duration::from_secs_f64(self.timeout.0.min(1e6));
        let mut trust = Trust::default().with_patience(patience);
        if let Some(path) = &self.token_file {
            trust = trust.with_token(path)?;
        }
        if let Some(root) = &self.ca {
            let own = self.client_cert.as_deref().zip(self.client_key.as_deref());
            trust = trust.with_root(root, own)?;
        }
        Ok(trust)
    }

    /// What is written: the columns of `predict`.
    fn frame(&self, fused: Fused) -> Result<Frame> {
        let mut columns: Vec<(String, Column)> = Vec::new();
        match fused {
            Fused::Number(prediction) => {
                let wish = Wish {
                    interval: self.interval.clone(),
                    quantiles: self.quantiles.clone(),
                    latent: false,
                    counts: Vec::new(),
                    survival: Vec::new(),
                };
                let plain = ["mean", "std", "lower", "upper"].map(String::from);
                let quantiles = self.quantiles.iter().map(|p| format!("q{}", p.text));
                let cells = wish.columns(&quorate::Forecast::Number(prediction));
                columns.extend(plain.into_iter().chain(quantiles).zip(cells));
            }
            Fused::Classes(labels, shares) => {
                let rows: Vec<&[f64]> = shares.chunks(labels.len().max(1)).collect();
                let likeliest = |row: &&[f64]| {
                    let best = (1..row.len()).fold(0, |b, i| if row[i] > row[b] { i } else { b });
                    labels.get(best).map(|label| Arc::from(label.as_str()))
                };
                columns.push((
                    "label".into(),
                    Column::Text(rows.iter().map(likeliest).collect()),
                ));
                for (class, label) in labels.iter().enumerate() {
                    let own = rows.iter().map(|row| row[class]).collect();
                    columns.push((format!("p_{label}"), Column::Number(own)));
                }
            }
        }
        Ok(Frame::from_columns(columns)?)
    }
}

/// What was found out about the servers on rows whose targets are known.
fn learn(rule: &Rule, said: &[Opinion], table: &Frame, target: &str) -> Result<Option<Learned>> {
    if !rule.fusion.needs_record() {
        return Ok(None);
    }
    let Some(Column::Number(targets)) = table.column(target) else {
        return Err(Failure::Failed(format!(
            "the target `{target}` must be a column of numbers"
        )));
    };
    if let Some(row) = targets.iter().position(|value| !value.is_finite()) {
        let place = table.location(row, target);
        return Err(quorate_gp::Error::data(place, "the target is missing or infinite").into());
    }
    Ok(Some(rule.fusion.learn(&record(said, targets))?))
}

/// The columns that servers want, and the target where it is wanted: text where they want text, else as it is found.
fn questions(path: &Path, inputs: &[(String, bool)], target: Option<&str>) -> Result<Frame> {
    let text = inputs.iter().filter(|(_, is_text)| *is_text);
    let types = text
        .map(|(name, _)| (name.clone(), ColumnType::Text))
        .collect();
    let mut names: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
    names.extend(target.map(String::from));
    let table = read_all(&mut open(
        path,
        &OpenOptions::default().expect(types).columns(names),
    )?)?;
    if table.rows() == 0 {
        let source = &table.header.source;
        return Err(Failure::Failed(format!(
            "{source}: there are no rows to ask about"
        )));
    }
    for (name, _) in inputs.iter().filter(|(_, is_text)| !is_text) {
        if let Some(Column::Text(cells)) = table.column(name) {
            let row = cells.iter().position(Option::is_some).unwrap_or(0);
            let place = table.location(row, name);
            let problem = "the servers want a number here";
            return Err(quorate_gp::Error::data(place, problem).into());
        }
    }
    Ok(table)
}

fn named(name: &str) -> Result<&'static Rule> {
    rule(name).ok_or_else(|| {
        let names = RULES.iter().map(|rule| rule.name);
        let hint = nearest_name(name, names).map(|near| format!("; did you mean `{near}`?"));
        Failure::Failed(format!(
            "there is no rule `{name}`{}",
            hint.unwrap_or_default()
        ))
    })
}

fn answers(panel: &Panel) -> Vec<Answer<'_>> {
    let agents = panel.agents().iter();
    let answer = agents.map(|agent| {
        let state = agent.state.as_ref();
        Answer {
            url: &agent.address.url,
            answered: state.is_ok(),
            model: state.ok().map(|found| found.model.as_str()),
            version: state.ok().map(|found| found.version.as_str()),
            problem: state.err().map(String::as_str),
        }
    });
    answer.collect()
}

fn too_few(panel: &Panel, present: usize, quorum: usize) -> Failure {
    let mut message = format!(
        "{} answered, and {quorum} must: lower `--quorum`, or see to the others",
        count(present, "server")
    );
    for agent in answers(panel) {
        if let Some(problem) = agent.problem {
            message.push_str(&format!("\n  {} {problem}", agent.url));
        }
    }
    Failure::Failed(message)
}
