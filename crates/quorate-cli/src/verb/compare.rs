//! `quorate compare`: every kind of member and every rule of a committee on one table.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use quorate::classifier::CLASSIFIERS;
use quorate::compare::{self, CompareSpec, Comparison, Line, Maker};
use quorate::fusion::{CLASS_RULES, RULES};
use quorate::member::{LATENT_MEMBERS, MEMBERS};
use quorate::{LikelihoodChoice, ModelSpec, Scorecard, TaskChoice};

use super::choices::{at_least_one, likelihoods, tasks};
use super::reproduce::wall_seconds;
use super::usage::{check_apart, usage};
use crate::columns::ColumnList;
use crate::failure::{Failure, Result};
use crate::plot::svg::{Ranked, Shades, document_bars};
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables::Training;
use crate::text::{Align, Console, HEADING, LITERAL, Table, count, percent, significant};

/// Entries that are printed unless all are asked for.
const SHOWN: usize = 20;

/// Compare every kind of member and every rule of a committee on a table, by cross-validation
#[derive(Args, Debug)]
#[command(after_help = examples())]
pub struct Compare {
    /// Table to compare on: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    train: PathBuf,
    /// Column to predict
    #[arg(short, long, value_name = "COL")]
    target: String,
    /// Columns to use as inputs [default: all others]
    #[arg(long, value_name = "COL,..", conflicts_with = "ignore")]
    inputs: Option<ColumnList>,
    /// Columns to leave out
    #[arg(long, value_name = "COL,..")]
    ignore: Option<ColumnList>,
    /// Column of weights: weight k counts as k copies of the row
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// What is predicted [default: what the target looks like]
    #[arg(long, value_name = "TASK", value_parser = tasks())]
    task: Option<TaskChoice>,
    /// How counts, amounts and lifetimes come from the latent function [default: what suits the task]
    #[arg(long, value_name = "NAME", value_parser = likelihoods())]
    likelihood: Option<LikelihoodChoice>,
    /// Column of exposures: how much of a row was watched, for counts and amounts
    #[arg(long, value_name = "COL")]
    exposure: Option<String>,
    /// Column that is 1 where the end of a lifetime was observed, 0 where it is right-censored
    #[arg(long, value_name = "COL", conflicts_with = "censored")]
    event: Option<String>,
    /// The same the other way round: 1 where it is right-censored
    #[arg(long, value_name = "COL")]
    censored: Option<String>,
    /// Kinds of member [default: all]
    #[arg(long, value_name = "KIND,..", value_delimiter = ',')]
    members: Option<Vec<String>>,
    /// Rules of committees [default: all]
    #[arg(long, value_name = "RULE,..", value_delimiter = ',')]
    rules: Option<Vec<String>>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = CompareSpec::default().folds)]
    folds: usize,
    /// Members of a committee on parts [default: 2 to 10, of at least 25 rows]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    parts: Option<usize>,
    /// Rows at most; of a longer table, so many at random
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = CompareSpec::default().rows)]
    rows: usize,
    /// Seed of folds, parts and everything else random
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Draw the entries as bars, and the weights of members as shades, into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Compare {
    pub fn run(self, console: &Console) -> Result<()> {
        check_apart("compare", [self.svg.as_deref()], [Some(&*self.train)])?;
        let spec = CompareSpec {
            target: self.target,
            inputs: self.inputs.map(|list| list.0),
            ignore: self.ignore.map(|list| list.0).unwrap_or_default(),
            weight: self.weight,
            task: self.task.unwrap_or_default(),
            likelihood: self.likelihood.unwrap_or_default(),
            exposure: self.exposure,
            event: self.event,
            censored: self.censored,
            members: self.members,
            rules: self.rules,
            folds: self.folds,
            parts: self.parts,
            rows: self.rows,
            seed: self.seed,
        };
        // Said before anything is read.
        spec.check_names()
            .map_err(|error| usage("compare", ErrorKind::InvalidValue, &error.to_string()))?;
        let picture = self.svg.as_deref().map(Staged::new).transpose()?;
        let reading = ModelSpec {
            inputs: spec.inputs.clone(),
            ignore: spec.ignore.clone(),
            weight: spec.weight.clone(),
            task: spec.task,
            likelihood: spec.likelihood,
            exposure: spec.exposure.clone(),
            event: spec.event.clone(),
            censored: spec.censored.clone(),
            seed: spec.seed,
            ..ModelSpec::new(&spec.target)
        };
        let table = Training::open(&self.train, &reading, console)?.whole()?;
        let progress = Progress::new(console);
        let found = compare::compare(&spec, &table, &wall_seconds, &progress);
        let found = progress.outcome(found)?;
        for note in &found.notes {
            console.note(note);
        }
        console.answer(format!(
            "{HEADING}{} entries compared on {}, {} folds, committees of {}{HEADING:#}\n",
            found.lines.len(),
            count(found.rows, "row"),
            found.folds,
            count(found.parts, "part")
        ))?;
        let shown = if console.verbose {
            found.lines.len()
        } else {
            SHOWN.min(found.lines.len())
        };
        console.answer(table_of(&found.lines[..shown]).render().trim_end())?;
        let hidden = found.lines.len() - shown;
        if hidden > 0 {
            console.answer(format!("\n  and {hidden} more; -v shows all"))?;
        }
        if let Some(staged) = picture {
            let path = staged.path();
            std::fs::write(&path, document_bars(&bars(&found), &weights(&found)))
                .map_err(|error| staged.blame(Failure::file(&path, &error)))?;
            staged.commit()?;
            if let Some(path) = &self.svg {
                console.say(format!("\nWrote {LITERAL}{}{LITERAL:#}", path.display()))?;
            }
        }
        console.json(&found)
    }
}

fn table_of(lines: &[Line]) -> Table {
    let of_classes = lines.iter().any(is_about_classes);
    let scores = match of_classes {
        true => ["error", "log loss", "ECE"],
        false => ["RMSE", "NLPD", "in 95 %"],
    };
    let mut table = Table::new([
        ("", Align::Right),
        ("members", Align::Left),
        ("rows of each", Align::Left),
        ("rule", Align::Left),
        (scores[0], Align::Right),
        (scores[1], Align::Right),
        (scores[2], Align::Right),
        ("seconds", Align::Right),
    ]);
    for (place, line) in lines.iter().enumerate() {
        let mut cells = vec![
            (place + 1).to_string(),
            line.entry.member.to_owned(),
            rows_of(line.entry.maker).to_owned(),
            line.entry.rule.unwrap_or("").to_owned(),
        ];
        match (&line.scores, &line.problem) {
            (Some(scores), _) => cells.extend(numbers(scores)),
            (None, problem) => {
                let why = problem.as_deref().unwrap_or("failed");
                cells.extend([
                    "failed".to_owned(),
                    why.chars().take(40).collect(),
                    String::new(),
                ]);
            }
        }
        cells.push(format!("{:.2}", line.seconds));
        table.row(cells);
    }
    table
}

fn is_about_classes(line: &Line) -> bool {
    matches!(line.scores, Some(Scorecard::Classes(_)))
}

/// The three scores that are printed.
fn numbers(scores: &Scorecard) -> [String; 3] {
    match scores {
        Scorecard::Classes(scores) => [
            percent(scores.error_rate),
            format!("{:.4}", scores.log_loss),
            format!("{:.3}", scores.ece),
        ],
        Scorecard::Number(scores) => [
            significant(scores.rmse, 4),
            format!("{:.3}", scores.nlpd),
            percent(scores.coverage_95),
        ],
        Scorecard::Quantity(scores) => [
            significant(scores.rmse, 4),
            format!("{:.3}", scores.nlpd),
            percent(scores.coverage_95),
        ],
        Scorecard::Numbers(_) => Default::default(),
    }
}

fn rows_of(maker: Maker) -> &'static str {
    match maker {
        Maker::Alone => "all",
        Maker::Parts => "a part",
        Maker::Mixed => "all, every kind",
    }
}

fn bars(found: &Comparison) -> Ranked {
    let bar = |line: &Line| {
        let scores = line.scores.as_ref()?;
        let entry = &line.entry;
        let name = match entry.rule {
            None => entry.member.to_owned(),
            Some(rule) => format!("{}, {rule}", entry.member),
        };
        let [first, second, third] = numbers(scores);
        let (length, text) = match scores {
            Scorecard::Classes(scores) => (
                scores.error_rate,
                format!("{first}   log loss {second}   ECE {third}"),
            ),
            Scorecard::Number(scores) => {
                (scores.rmse, format!("{first}   NLPD {second}   {third}"))
            }
            Scorecard::Quantity(scores) => {
                (scores.rmse, format!("{first}   NLPD {second}   {third}"))
            }
            Scorecard::Numbers(_) => return None,
        };
        Some((name, length, text))
    };
    let (title, description) = match found.lines.iter().any(is_about_classes) {
        true => (
            "Share of errors, best log loss first",
            "One bar for each member alone and each committee under each rule: its length is the share of errors in \
             cross-validation; behind it the mean log loss and the expected calibration error.",
        ),
        false => (
            "Root mean squared error, best log density first",
            "One bar for each member alone and each committee under each rule: its length is the root mean squared error \
             in cross-validation; behind it the mean negative log density and the share of targets inside the 95 % interval.",
        ),
    };
    Ranked {
        title: title.into(),
        description: description.into(),
        bars: found.lines.iter().filter_map(bar).collect(),
    }
}

/// Weights of members of every kind, and of members on parts, under the rules that have found some; the best entry first.
fn weights(found: &Comparison) -> Vec<Shades> {
    let table = |maker: Maker, title: &str| {
        let mut shades = Shades {
            title: title.into(),
            ..Shades::default()
        };
        let own = found.lines.iter().filter(|line| line.entry.maker == maker);
        for line in own {
            let (Some(weights), Some(rule)) = (&line.weights, line.entry.rule) else {
                continue;
            };
            let mut cells = vec![None; shades.columns.len()];
            for weight in weights {
                let known = shades.columns.iter().position(|own| *own == weight.member);
                let place = known.unwrap_or_else(|| {
                    shades.columns.push(weight.member.clone());
                    cells.push(None);
                    cells.len() - 1
                });
                cells[place] = Some(weight.weight);
            }
            let name = match maker {
                Maker::Parts => format!("{}, {rule}", line.entry.member),
                _ => rule.to_owned(),
            };
            shades.rows.push((name, cells));
        }
        shades
    };
    let tables = [
        table(
            Maker::Mixed,
            "Weights of members of every kind, mean over the folds",
        ),
        table(
            Maker::Parts,
            "Weights of members on parts, mean over the folds",
        ),
    ];
    let drawn = tables.into_iter().filter(|table| !table.rows.is_empty());
    drawn.collect()
}

fn examples() -> String {
    let mut members = Table::new([("", Align::Left), ("", Align::Left)]);
    for kind in MEMBERS {
        members.row([kind.name, kind.sentence]);
    }
    let mut rules = Table::new([("", Align::Left), ("", Align::Left)]);
    for rule in RULES {
        rules.row([rule.name, rule.sentence]);
    }
    let mut class_members = Table::new([("", Align::Left), ("", Align::Left)]);
    for kind in CLASSIFIERS {
        class_members.row([kind.name, kind.sentence]);
    }
    let mut latent_members = Table::new([("", Align::Left), ("", Align::Left)]);
    for kind in LATENT_MEMBERS {
        latent_members.row([kind.name, kind.sentence]);
    }
    let mut class_rules = Table::new([("", Align::Left), ("", Align::Left)]);
    for rule in CLASS_RULES {
        class_rules.row([rule.name, rule.sentence]);
    }
    format!(
        "\
Members:
{}
Rules:
{}
Members that tell classes apart:
{}
Rules for classes:
{}
Members for counts, amounts and lifetimes, under all rules that do not learn from errors:
{}
Examples:
  quorate compare houses.csv --target price
  quorate compare houses.csv --target price --members gp,rbf --rules bcm,robust-bcm,nested --parts 8
  quorate compare houses.csv --target price --svg compared.svg --json
  quorate compare flowers.csv --target species --members gp,linear,svm --rules mixture,majority
  quorate compare claims.csv --target claims --exposure years --svg compared.svg
  quorate compare patients.csv --target days --event died --members linear,rbf",
        members.render(),
        rules.render(),
        class_members.render(),
        class_rules.render(),
        latent_members.render()
    )
}
