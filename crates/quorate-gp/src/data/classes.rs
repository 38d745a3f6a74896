//! Classes as targets: their labels, how often each occurs, and the numbers that stand for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Location;
use crate::{Error, Result};

use super::encoder::{check_finite, level_of_number};
use super::frame::{Column, ColumnType, Frame};
use super::names::unknown_column;
use super::scale::Scale;

/// More classes than this are hardly classes.
const MOST: usize = 1000;
/// Labels named in a message.
const NAMED: usize = 8;

/// The classes of a target column, learned from the training rows.
///
/// Each class is an output with the target +1 in its own rows and -1 in all others (Tresp 2000, sec. 6.5), less its mean
/// over the training rows, so that far from them its frequency returns. Two classes need one output: the second's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    labels: Vec<String>,
    column_type: ColumnType,
    /// Share of the training rows' weight that each class has.
    shares: Vec<f64>,
}

impl Classes {
    /// Learns the classes of a column of rows with the given weights; notes say what a person should know.
    pub fn learn(frame: &Frame, name: &str, weights: &[f64]) -> Result<(Classes, Vec<String>)> {
        let (cells, column_type) = cells(frame, name)?;
        let mut found: BTreeMap<&Arc<str>, (f64, usize)> = BTreeMap::new();
        for (cell, weight) in cells.iter().zip(weights) {
            let seen = found.entry(cell).or_default();
            seen.0 += weight;
            seen.1 += 1;
        }
        let place = Location::in_source(&frame.header.source).column(name);
        if let [(label, _)] = found.iter().collect::<Vec<_>>()[..] {
            return Err(Error::data(
                place,
                format!("every row has the label «{label}»: there is nothing to tell apart"),
            ));
        }
        if found.len() > MOST {
            return Err(Error::data(
                place,
                format!(
                    "{} different labels in {} rows are too many for classes; for numbers, use `--task regression`",
                    found.len(),
                    cells.len()
                ),
            ));
        }
        let total: f64 = found.values().map(|seen| seen.0).sum();
        let mut classes: Vec<(&Arc<str>, f64)> = found
            .iter()
            .map(|(label, seen)| (*label, seen.0 / total))
            .collect();
        if column_type == ColumnType::Number {
            // In the order of the numbers, not of their texts.
            let number = |label: &str| label.parse::<f64>().unwrap_or(f64::NAN);
            classes.sort_by(|a, b| number(a.0).total_cmp(&number(b.0)));
        }
        let lonely = found.iter().filter(|(_, seen)| seen.1 == 1);
        let notes = lonely.map(|(label, _)| {
            format!("class `{label}` has one row only: nothing else tells how it may vary")
        });
        let classes = Classes {
            labels: classes.iter().map(|(label, _)| label.to_string()).collect(),
            column_type,
            shares: classes.iter().map(|(_, share)| *share).collect(),
        };
        Ok((classes, notes.collect()))
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The labels as text, in their order.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Type of the cells that held the labels.
    pub fn column_type(&self) -> ColumnType {
        self.column_type
    }

    /// Share of the training rows' weight that each class has.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Numbers that stand for a class: one for each, one for two.
    pub fn outputs(&self) -> usize {
        match self.count() {
            2 => 1,
            many => many,
        }
    }

    /// Mean of each output's targets, and the deviation that all share: comparisons between classes survive scaling.
    pub fn scales(&self) -> Vec<Scale> {
        let first = self.count() - self.outputs();
        let variance = |share: &f64| 4.0 * share * (1.0 - share);
        let shares = &self.shares[first..];
        let deviation = (shares.iter().map(variance).sum::<f64>() / shares.len() as f64).sqrt();
        let scale = |share: &f64| Scale {
            mean: 2.0 * share - 1.0,
            deviation,
        };
        shares.iter().map(scale).collect()
    }

    /// The standardised targets of a row of a class, one for each output.
    pub(super) fn spread(&self, class: usize, scales: &[Scale], out: &mut Vec<f64>) {
        let first = self.count() - self.outputs();
        out.extend(scales.iter().enumerate().map(|(output, scale)| {
            let raw = if first + output == class { 1.0 } else { -1.0 };
            scale.apply(raw)
        }));
    }

    /// The class of a row with these standardised targets.
    pub fn class_of(&self, targets: &[f64], scales: &[Scale]) -> usize {
        let first = self.count() - self.outputs();
        let own = targets.iter().zip(scales);
        own.enumerate()
            .find(|(_, (target, scale))| scale.undo(**target) > 0.0)
            .map_or(0, |(output, _)| first + output)
    }

    /// The class of each row of a table; a label that training did not have is an error.
    pub fn codes(&self, frame: &Frame, name: &str) -> Result<Vec<usize>> {
        let (cells, _) = cells(frame, name)?;
        let code_of: BTreeMap<&str, usize> = self
            .labels
            .iter()
            .enumerate()
            .map(|(code, label)| (label.as_str(), code))
            .collect();
        let codes = cells.iter().enumerate().map(|(row, label)| {
            code_of.get(&**label).copied().ok_or_else(|| {
                Error::data(
                    frame.location(row, name),
                    format!(
                        "the label «{label}» was not among those of training: {}",
                        self.named()
                    ),
                )
            })
        });
        codes.collect()
    }

    /// The labels for a message.
    fn named(&self) -> String {
        let shown = &self.labels[..self.count().min(NAMED)];
        let more = if self.count() > NAMED { ", .." } else { "" };
        format!("{}{more}", shown.join(", "))
    }

    /// True when the parts agree with each other, which a damaged file need not.
    pub(super) fn is_sound(&self) -> bool {
        self.count() >= 2
            && self.shares.len() == self.count()
            && self.shares.iter().all(|share| *share > 0.0 && *share < 1.0)
            && self.column_type != ColumnType::Date
    }
}

/// The labels of a column as text, and the type of its cells; a missing one is an error.
fn cells(frame: &Frame, name: &str) -> Result<(Vec<Arc<str>>, ColumnType)> {
    let position = frame
        .header
        .position(name)
        .ok_or_else(|| unknown_column(&frame.header, name))?;
    let column_type = frame.header.types[position];
    if column_type == ColumnType::Date {
        return Err(Error::data(
            Location::in_source(&frame.header.source).column(name),
            "the target holds dates, which are no classes",
        ));
    }
    let labels: Vec<Option<Arc<str>>> = match &frame.columns[position] {
        Column::Text(cells) => cells.clone(),
        Column::Number(cells) => {
            check_finite(frame, name, cells)?;
            let cells = cells.iter();
            cells
                .map(|&cell| level_of_number(cell, column_type))
                .collect()
        }
    };
    let labels = labels.into_iter().enumerate().map(|(row, label)| {
        label.ok_or_else(|| {
            Error::data(
                frame.location(row, name),
                "the target is missing; remove the row or fill the cell",
            )
        })
    });
    Ok((labels.collect::<Result<_>>()?, column_type))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(labels: &[&str]) -> Frame {
        let cells = labels.iter().map(|label| Some((*label).into())).collect();
        Frame::from_columns(vec![("label", Column::Text(cells))]).unwrap()
    }

    #[test]
    fn targets_are_one_and_minus_one_less_their_mean() {
        let frame = text(&["b", "a", "c", "b"]);
        let (classes, notes) = Classes::learn(&frame, "label", &[1.0; 4]).unwrap();
        assert_eq!(classes.labels(), ["a", "b", "c"]);
        assert_eq!(classes.shares(), [0.25, 0.5, 0.25]);
        assert_eq!(notes.len(), 2);
        let scales = classes.scales();
        let mut targets = Vec::new();
        classes.spread(1, &scales, &mut targets);
        let raw: Vec<f64> = targets
            .iter()
            .zip(&scales)
            .map(|(t, s)| s.undo(*t))
            .collect();
        assert_eq!(raw, [-1.0, 1.0, -1.0]);
        for class in 0..3 {
            let mut targets = Vec::new();
            classes.spread(class, &scales, &mut targets);
            assert_eq!(classes.class_of(&targets, &scales), class);
        }
        // Targets of the training rows have mean 0 in every output and variance 1 on average.
        let rows: Vec<Vec<f64>> = classes
            .codes(&frame, "label")
            .unwrap()
            .iter()
            .map(|&class| {
                let mut targets = Vec::new();
                classes.spread(class, &scales, &mut targets);
                targets
            })
            .collect();
        for output in 0..3 {
            assert!(rows.iter().map(|row| row[output]).sum::<f64>().abs() < 1e-12);
        }
        let squares: f64 = rows.iter().flatten().map(|target| target * target).sum();
        assert!((squares / 12.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_classes_have_one_output_and_numbers_their_own_order() {
        let cells = vec![10.0, 9.0, 9.0, 10.0, 10.0];
        let frame = Frame::from_columns(vec![("label", Column::Number(cells))]).unwrap();
        let (classes, _) = Classes::learn(&frame, "label", &[1.0; 5]).unwrap();
        assert_eq!(classes.labels(), ["9", "10"]);
        assert_eq!(classes.outputs(), 1);
        let scales = classes.scales();
        for class in 0..2 {
            let mut targets = Vec::new();
            classes.spread(class, &scales, &mut targets);
            assert_eq!(targets.len(), 1);
            assert_eq!(classes.class_of(&targets, &scales), class);
        }
    }

    #[test]
    fn labels_that_cannot_be_used_are_named() {
        let problem = |frame: &Frame| {
            let weights = vec![1.0; frame.rows()];
            Classes::learn(frame, "label", &weights)
                .unwrap_err()
                .to_string()
        };
        assert!(problem(&text(&["a", "a"])).contains("«a»"));
        let gap = Column::Text(vec![Some("a".into()), None]);
        let gap = Frame::from_columns(vec![("label", gap)]).unwrap();
        assert!(problem(&gap).contains("2:label"));
        let (classes, _) = Classes::learn(&text(&["a", "b"]), "label", &[1.0; 2]).unwrap();
        let unseen = classes.codes(&text(&["a", "z"]), "label").unwrap_err();
        assert!(unseen.to_string().contains("«z»"), "{unseen}");
    }
}
