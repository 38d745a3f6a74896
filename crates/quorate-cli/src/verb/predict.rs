//! `quorate predict`: beliefs about new rows, batch by batch.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use quorate::Model;
use quorate_gp::data::{Batches, Column, ColumnType, Frame, Header, Pieces, unknown_column};
use quorate_gp::error::Location;
use quorate_gp::watch::Watch;
use serde::Serialize;

use super::usage::check_apart;
use crate::columns::ColumnList;
use crate::failure::Result;
use crate::forecast::{Probability, Time, Wish};
use crate::progress::Progress;
use crate::sink::Sink;
use crate::tables::{self, Keep};
use crate::text::{Console, LITERAL, count, duration, printable};

/// Predict the rows of a table
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate predict houses.quorate new.csv -o prices.csv
  quorate predict houses.quorate new.csv --interval 0.9 --keep id -o prices.parquet
  quorate predict houses.quorate new.csv --quantiles 0.1,0.5,0.9 | head
  quorate predict houses.quorate - < new.csv > prices.csv
  quorate predict claims.quorate new.csv --probability-of 0,1,2 -o claims.csv
  quorate predict patients.quorate new.csv --survival-at 365,730 -o survival.csv

Columns, after those kept by --keep: mean, std, lower, upper, then one q<p> for each of --quantiles; with several \
targets each with the target's name in front; for classes label, then one p_<class> for each; for amounts and \
lifetimes a median behind the mean, for counts one p_<k> for each of --probability-of, and one survival_<t> for each of \
--survival-at.")]
pub struct Predict {
    /// Model file made by `quorate fit`
    model: PathBuf,
    /// Table with the model's inputs: CSV, CSV.gz, Parquet or Arrow; `-` reads CSV from standard input
    data: PathBuf,
    /// File to write: CSV, CSV.gz, Parquet or Arrow by its ending; `-` for CSV on standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Probability that a new target lies between lower and upper
    #[arg(long, value_name = "P", default_value = "0.95")]
    interval: Probability,
    /// Quantiles to add as columns q0.1, q0.5, ..
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    quantiles: Vec<Probability>,
    /// Belief about the function itself, without the noise of a new observation
    #[arg(long)]
    latent: bool,
    /// Counts whose probability is wanted, as columns p_0, p_1, ..
    #[arg(long, value_name = "K,..", value_delimiter = ',')]
    probability_of: Vec<u64>,
    /// Times at which the survival of a lifetime is wanted, as columns survival_30, ..
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    survival_at: Vec<Time>,
    /// Columns of the table to copy in front of the predictions, or `all`
    #[arg(long, value_name = "COL,..")]
    keep: Option<ColumnList>,
}

#[derive(Serialize)]
struct Report<'a> {
    output: &'a str,
    rows: usize,
    columns: &'a [String],
    notes: &'a [String],
}

impl Predict {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        let read = [Some(&*self.model), Some(&*self.data)];
        check_apart("predict", [self.output.as_deref()], read)?;
        let model = Model::load(&self.model)?;
        let mut sink = Sink::new(self.output.as_deref(), console)?;
        let keep = match self.keep.as_ref().map(|list| list.0.as_slice()) {
            None => Keep::Columns(&[]),
            Some([all]) if all == "all" => Keep::All,
            Some(names) => Keep::Columns(names),
        };
        let source = tables::queries(&self.data, &model, keep, sink.is_text(), console)?;
        let mut source = Pieces::new(source, model.piece_rows());
        let wish = Wish {
            interval: self.interval.clone(),
            quantiles: self.quantiles.clone(),
            latent: self.latent,
            counts: self.probability_of.clone(),
            survival: self.survival_at.clone(),
        };
        let layout = Layout::new(wish.header(&model)?, keep, source.header())?;
        let mut notes = Vec::new();
        if !self.latent {
            notes.extend(tables::unknown_noise(source.header(), &model));
        }
        let progress = Progress::new(console);
        let mut rows = 0;
        let mut header = Some(&layout.header);
        while let Some(piece) = source.next_batch()? {
            progress.check()?;
            let forecast = model.forecast(&piece)?;
            // Not before the first answers: a table that fails at once leaves nothing on standard output.
            if let Some(header) = header.take() {
                sink.header(header)?;
            }
            sink.write(&layout.frame(&piece, wish.columns(&forecast), rows + 1)?)?;
            rows += piece.rows();
            progress.progress("predicting", rows, 0);
            for note in forecast.notes() {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
        }
        progress.finish();
        if let Some(header) = header {
            sink.header(header)?;
        }
        let written = sink.finish(&notes)?;
        for note in &notes {
            console.note(note);
        }
        let Some(path) = written else {
            return Ok(());
        };
        let output = path.display().to_string();
        console.say(format!(
            "Wrote {LITERAL}{output}{LITERAL:#}: {}",
            count(rows, "row")
        ))?;
        console.detail(format!(
            "  columns {}\n  predicted in {}",
            printable(&layout.header.names.join(", ")),
            duration(started.elapsed())
        ))?;
        console.json(&Report {
            output: &output,
            rows,
            columns: &layout.header.names,
            notes: &notes,
        })
    }
}

/// The columns of the output: positions of those that are kept, and the names of all.
struct Layout {
    kept: Vec<usize>,
    header: Arc<Header>,
}

impl Layout {
    fn new(added: Vec<(String, ColumnType)>, keep: Keep<'_>, table: &Header) -> Result<Self> {
        let kept: Vec<usize> = match keep {
            Keep::All => (0..table.names.len()).collect(),
            Keep::Columns(names) => names
                .iter()
                .map(|name| {
                    table
                        .position(name)
                        .ok_or_else(|| unknown_column(table, name))
                })
                .collect::<quorate_gp::Result<_>>()?,
        };
        let mut names: Vec<String> = kept
            .iter()
            .map(|&index| table.names[index].clone())
            .collect();
        let mut types: Vec<ColumnType> = kept.iter().map(|&index| table.types[index]).collect();
        for (name, cells) in added {
            if names.contains(&name) {
                let place = Location::in_source(&table.source).column(&name);
                let problem = "a prediction has this name too; rename the column, or list it once";
                return Err(quorate_gp::Error::data(place, problem).into());
            }
            names.push(name);
            types.push(cells);
        }
        Ok(Self {
            kept,
            header: Arc::new(Header {
                source: String::new(),
                names,
                types,
            }),
        })
    }

    /// The output rows of one piece of the table.
    fn frame(&self, piece: &Frame, added: Vec<Column>, first_row: usize) -> Result<Frame> {
        let kept = self.kept.iter().map(|&index| piece.columns[index].clone());
        let columns = kept.chain(added).collect();
        Ok(Frame::new(self.header.clone(), columns, first_row)?)
    }
}
