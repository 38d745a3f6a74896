//! `quorate network query`: some columns given others, with standard errors.

use std::path::PathBuf;

use clap::Args;
use quorate::network::{Answer, Ask};

use super::{given, open};
use crate::columns::ColumnList;
use crate::failure::Result;
use crate::text::{Align, Console, HEADING, Table, count, printable, significant};

/// Tell about columns of a network, given others
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate network query patients.network --about disease --given age=70,fever=yes
  quorate network query patients.network --about disease,pulse --given age=70 --samples 100000 --json")]
pub struct Query {
    /// Network file made by `quorate network fit`
    network: PathBuf,
    /// Columns to tell about
    #[arg(long, value_name = "COL,..")]
    about: ColumnList,
    /// What is known, as column=value; exogenous columns always are
    #[arg(long, value_name = "COL=VALUE,..", value_delimiter = ',')]
    given: Vec<String>,
    /// Rows to draw
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    samples: usize,
    /// Rounds over all columns, for a dependency network
    #[arg(long, value_name = "N", default_value_t = 50)]
    rounds: usize,
    /// Seed of the rows
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

impl Query {
    pub fn run(self, console: &Console) -> Result<()> {
        let network = open(&self.network)?;
        let found = network.query(&Ask {
            about: self.about.0.clone(),
            given: given(&self.given)?,
            rows: self.samples,
            rounds: self.rounds,
            seed: self.seed,
        })?;
        for answer in &found.answers {
            match answer {
                Answer::Labels { name, shares } => {
                    let mut table = Table::new([
                        ("label", Align::Left),
                        ("probability", Align::Right),
                        ("standard error", Align::Right),
                    ]);
                    for (label, share, error) in shares {
                        table.row([
                            printable(label),
                            significant(*share, 4),
                            significant(*error, 2),
                        ]);
                    }
                    let name = printable(name);
                    console.answer(format!("{HEADING}{name}{HEADING:#}\n{}", table.render()))?;
                }
                Answer::Number {
                    name,
                    mean,
                    standard_error,
                    deviation,
                    quantiles,
                } => {
                    let short = |value: f64| significant(value, 4);
                    console.answer(format!(
                        "{HEADING}{}{HEADING:#}\n  mean {} (standard error {}), deviation {}, 95 % between {} and {}, median {}\n",
                        printable(name),
                        short(*mean),
                        significant(*standard_error, 2),
                        short(*deviation),
                        short(quantiles[0]),
                        short(quantiles[2]),
                        short(quantiles[1])
                    ))?;
                }
            }
        }
        console.say(format!(
            "{} drawn, worth {:.0} of equal weight",
            count(found.rows, "row"),
            found.effective_rows
        ))?;
        console.json(&found)
    }
}
