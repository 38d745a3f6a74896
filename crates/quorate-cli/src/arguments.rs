//! What a person can type. Each verb keeps its own flags in its own file.

use std::num::NonZeroUsize;

use clap::builder::styling::{AnsiColor, Effects, Styles};
use clap::{Args, Parser, Subcommand};

use crate::failure::Result;
use crate::text::Console;
use crate::verb::{
    Ask, Compare, Completions, Demo, Evaluate, Fit, Forget, Generate, Inspect, Merge, Network,
    Plan, Predict, Prepare, Report, Reproduce, Serve, Update,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default().effects(Effects::DIMMED));

/// Gaussian-process predictions with honest uncertainty, from tables.
#[derive(Debug, Parser)]
#[command(
    name = "quorate",
    version,
    styles = STYLES,
    max_term_width = 100,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = "\
Examples:
  quorate demo                                           a complete run on generated data
  quorate fit houses.csv --target price -o houses.quorate
  quorate predict houses.quorate new.csv -o prices.csv

Exit codes: 0 done, 1 data or model error, 2 usage error, 130 interrupted.
Set NO_COLOR=1 for output without colours."
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    common: Common,
}

/// One variant a verb.
#[derive(Debug, Subcommand)]
enum Verb {
    Demo(Demo),
    Fit(Fit),
    Plan(Plan),
    Compare(Compare),
    Predict(Predict),
    Evaluate(Evaluate),
    Inspect(Inspect),
    Report(Report),
    Prepare(Prepare),
    Update(Update),
    Merge(Merge),
    Forget(Forget),
    Serve(Serve),
    Ask(Ask),
    Network(Network),
    Generate(Generate),
    Reproduce(Reproduce),
    Completions(Completions),
}

/// Flags that every verb takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Common options")]
struct Common {
    /// Print one JSON object on standard output instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Print nothing but errors and the output asked for
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print details as well
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Number of threads [default: all cores]; the result is the same for any number
    #[arg(long, global = true, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Arguments {
    /// How the command talks.
    pub fn console(&self) -> Console {
        Console {
            json: self.common.json,
            quiet: self.common.quiet,
            verbose: self.common.verbose,
        }
    }

    /// Number of threads to use; 0 stands for all cores.
    pub fn threads(&self) -> usize {
        self.common.threads.map_or(0, NonZeroUsize::get)
    }

    /// Does what was asked for.
    pub fn run(self, console: &Console) -> Result<()> {
        match self.verb {
            Verb::Demo(verb) => verb.run(console),
            Verb::Fit(verb) => verb.run(console),
            Verb::Plan(verb) => verb.run(console),
            Verb::Compare(verb) => verb.run(console),
            Verb::Predict(verb) => verb.run(console),
            Verb::Evaluate(verb) => verb.run(console),
            Verb::Inspect(verb) => verb.run(console),
            Verb::Report(verb) => verb.run(console),
            Verb::Prepare(verb) => verb.run(console),
            Verb::Update(verb) => verb.run(console),
            Verb::Merge(verb) => verb.run(console),
            Verb::Forget(verb) => verb.run(console),
            Verb::Serve(verb) => verb.run(console),
            Verb::Ask(verb) => verb.run(console),
            Verb::Network(verb) => verb.run(console),
            Verb::Generate(verb) => verb.run(console),
            Verb::Reproduce(verb) => verb.run(console),
            Verb::Completions(verb) => verb.run(console),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_verb_has_a_sentence_an_example_and_explained_flags() {
        let mut command = Arguments::command();
        command.build();
        for verb in command.get_subcommands().filter(|v| v.get_name() != "help") {
            let name = verb.get_name();
            let after = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                after.contains(&format!("quorate {name}")),
                "{name} has no example"
            );
            assert!(verb.get_about().is_some(), "{name} has no sentence");
            for flag in verb.get_arguments() {
                assert!(
                    flag.get_help().is_some(),
                    "{name} {} is not explained",
                    flag.get_id()
                );
            }
        }
    }

    #[test]
    fn only_the_verbs_that_exist_are_offered() {
        let command = Arguments::command();
        let verbs: Vec<&str> = command
            .get_subcommands()
            .map(|verb| verb.get_name())
            .collect();
        let expected = [
            "demo",
            "fit",
            "plan",
            "compare",
            "predict",
            "evaluate",
            "inspect",
            "report",
            "prepare",
            "update",
            "merge",
            "forget",
            "serve",
            "ask",
            "network",
            "generate",
            "reproduce",
            "completions",
        ];
        assert_eq!(verbs, expected);
    }
}
