//! `quorate forget`: a landmarks model that never saw one of its parts.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use quorate::Model;
use quorate::parts::Certificate;
use quorate_gp::data::read_all;
use serde::Serialize;

use super::choices::model_path;
use super::sums::{self, Sum};
use super::usage::check_apart;
use crate::failure::Result;
use crate::progress::Progress;
use crate::staged::Staged;
use crate::tables;
use crate::text::{Console, HEADING, count, printable};

/// Take a part out of a landmarks model and certify what was removed
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate forget all.quorate --part ward-7 -o without.quorate           a part kept with --keep-parts
  quorate forget all.quorate --data ward-7.csv -o without.quorate       recomputed from its rows

The rows must be those of the part, in the same order: their fingerprint is compared.")]
pub struct Forget {
    /// Model file made by `quorate update`, `quorate merge` or `quorate fit --mode landmarks`
    model: PathBuf,
    /// Name of the part, as `quorate inspect` shows it
    #[arg(long, value_name = "NAME", required_unless_present = "data")]
    part: Option<String>,
    /// Table with the part's rows, for a part whose summary was not kept
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Model file to write; may be the one that was read
    #[arg(short, long, value_name = "MODEL", value_parser = PathBufValueParser::new().try_map(model_path))]
    output: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    certificate: &'a Certificate,
    #[serde(flatten)]
    sum: Sum<'a>,
}

impl Forget {
    pub fn run(self, console: &Console) -> Result<()> {
        let started = Instant::now();
        check_apart("forget", [Some(&*self.output)], [self.data.as_deref()])?;
        let staged = Staged::new(&self.output)?;
        let model = Model::load(&self.model)?;
        let rows = match &self.data {
            Some(path) => Some(read_all(&mut tables::further(path, &model, console)?)?),
            None => None,
        };
        let what = quorate::parts::Forget {
            part: self.part.as_deref(),
            rows: rows.as_ref(),
        };
        let progress = Progress::new(console);
        let (model, certificate) = model.forget(what, &progress)?;
        progress.finish();
        console.say(page(&certificate))?;
        let sum = sums::write(&model, staged, &self.output, started, console)?;
        console.json(&Report {
            certificate: &certificate,
            sum,
        })
    }
}

/// The certificate as text.
fn page(certificate: &Certificate) -> String {
    format!(
        "{HEADING}Forgotten{HEADING:#}  part {}, {}\n  \
         fingerprint     {}\n  \
         its summary     {}\n  \
         removed         {}\n  \
         not recomputed  {}\n",
        printable(&certificate.part),
        count(certificate.rows, "row"),
        printable(&certificate.fingerprint),
        match certificate.summary {
            "kept" => "was kept in the model",
            _ => "was recomputed from its rows",
        },
        certificate.removed.join(", "),
        certificate.not_recomputed.join(", "),
    )
}
