//! A model as a page that a browser shows: one file, no network, no script.

mod answerers;
mod calibration;
mod card;
mod classes;
mod data;
mod facts;
mod html;
mod inputs;
mod learning;
mod predictions;
mod quantities;
mod scores;

use std::path::Path;

use quorate::diagnose::{Account, Answerers, Diagnosis, MapColumns};
use quorate::{Inspection, Scorecard, Scores};

pub use card::Shown;

use crate::plot::svg::{STYLE, escape};
use crate::text::count;

/// Rows drawn in scatter plots.
pub const DRAWN_ROWS: usize = 2500;

/// Everything that the page shows.
pub struct Page<'a> {
    /// The model file.
    pub model: &'a Path,
    /// The table it was scored on, if any.
    pub data: Option<&'a Path>,
    /// What the model says of itself.
    pub inspection: &'a Inspection,
    /// Counts over rows predicted without having been seen, where there are such rows.
    pub diagnosis: Option<&'a Diagnosis>,
    /// The same where the target is a class, a count, an amount or a lifetime.
    pub account: Option<&'a Account>,
    /// Who answered.
    pub answerers: &'a Answerers,
    /// Axes of maps.
    pub map: &'a MapColumns,
    /// Remarks on the table.
    pub notes: &'a [String],
}

/// What scores are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows of a table.
    Table,
    /// Training rows, each predicted from the others.
    LeaveOneOut,
    /// Training rows held out together.
    HeldOut,
}

impl Page<'_> {
    /// What the scores are of.
    pub fn kind(&self) -> Kind {
        match (self.data, &self.inspection.held_out) {
            (Some(_), _) => Kind::Table,
            (None, Some(_)) => Kind::HeldOut,
            (None, None) => Kind::LeaveOneOut,
        }
    }

    /// The scores of a number: of the rows counted, or those that the model keeps.
    pub fn scores(&self) -> Option<&Scores> {
        let kept = self.kept().and_then(Scorecard::number);
        self.diagnosis.map(|found| &found.scores).or(kept)
    }

    /// The scores of whatever is no number.
    pub fn card(&self) -> Option<&Scorecard> {
        let kept = self.kept().filter(|card| card.number().is_none());
        self.account.map(|found| &found.scores).or(kept)
    }

    fn kept(&self) -> Option<&Scorecard> {
        let kept = self.inspection.leave_one_out.as_ref();
        kept.or(self.inspection.held_out.as_ref())
    }

    /// What the rows scored are, in words.
    pub fn scored(&self) -> String {
        let rows = self.scores().map(|scores| scores.n);
        let rows = rows.or(self.card().map(Scorecard::rows)).unwrap_or(0);
        match (self.kind(), self.data) {
            (Kind::Table, Some(path)) => format!("{} of {}", count(rows, "row"), path.display()),
            (Kind::HeldOut, _) => format!("{} held out while it was fitted", count(rows, "row")),
            _ => format!(
                "{}, each predicted from the others",
                count(rows, "training row")
            ),
        }
    }

    /// What the page cannot show, with the reason.
    pub fn not_shown(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.card().is_some() {
            if self.account.is_none() {
                missing.push(
                    "What was taken for what, and where targets fall in their predicted distribution: name a table with the target \
                     after the model to see them."
                        .to_owned(),
                );
            }
        } else if self.diagnosis.is_none() {
            missing.push(
                "Predicted against seen, residuals, calibration and widths: there are no rows that the model has not seen. \
                 Name a table with the target after the model to see them."
                    .to_owned(),
            );
        }
        if self.map.names().is_empty() {
            missing.push("Maps: the kernel reads no number that could be an axis.".to_owned());
        }
        missing
    }

    /// The page as HTML.
    pub fn html(&self) -> String {
        let target = escape(&self.inspection.target.name);
        let sections = [
            predictions::section(self),
            calibration::section(self),
            classes::section(self),
            quantities::section(self),
            inputs::section(self),
            answerers::section(self),
            learning::section(self),
            scores::section(self),
            card::section(self),
            facts::section(self),
        ];
        let style = include_str!("style.css");
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{target}: quorate report</title>\n<style>\n{style}{STYLE}\n</style>\n</head>\n<body>\n\
             {}<main>\n{}{}</main>\n{}{}</body>\n</html>\n",
            facts::header(self),
            if self.card().is_some() {
                card::glance(self)
            } else {
                scores::glance(self)
            },
            sections.concat(),
            facts::footer(self),
            data::block(self),
        )
    }
}
