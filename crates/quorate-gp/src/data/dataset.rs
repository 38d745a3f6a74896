//! Rows for the mathematics, checked, with exact duplicates merged.

use crate::{Error, Result};

use super::inputs::Inputs;
use super::merge::{group_rows, merge_targets};
use super::places::Places;

/// Rows for the mathematics, checked once and trusted after.
///
/// Rows whose inputs are equal to the last bit (with -0 equal to 0) and whose known noise is equal form one group, in
/// the order of first appearance. With s = sigma^2 + tau a group of total weight W, mean target m and scatter R enters
/// a Gaussian likelihood as one observation m of noise variance s / W, and the log evidence gains
/// -W/2 log(2 pi s) - R / (2 s) + 1/2 log(2 pi s / W).
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    values: Vec<f64>,
    width: usize,
    outputs: usize,
    /// Means of groups, output after output.
    targets: Vec<f64>,
    weights: Vec<f64>,
    known_noise: Vec<f64>,
    scatter: Vec<f64>,
    members: Vec<Member>,
    /// Targets of the members beyond their first, member after member.
    further: Vec<f64>,
    places: Places,
}

/// One row of the table and the group it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Position of the row in the table, counted from 0.
    pub row: usize,
    /// Position of its group in the data set.
    pub group: usize,
    /// Its own target; the first where there are several outputs.
    pub target: f64,
    /// Its own weight.
    pub weight: f64,
}

impl Dataset {
    /// Checks the numbers, leaves out rows of weight 0 and merges exact duplicates.
    ///
    /// `values` holds one row of `width` numbers for each target; weights are 1 and known noise is 0 when not given.
    pub fn new(
        values: Vec<f64>,
        width: usize,
        targets: Vec<f64>,
        weights: Option<Vec<f64>>,
        known_noise: Option<Vec<f64>>,
    ) -> Result<Dataset> {
        Dataset::with_outputs(values, width, targets, 1, weights, known_noise)
    }

    /// The same with several targets for each row, row after row.
    pub fn with_outputs(
        values: Vec<f64>,
        width: usize,
        targets: Vec<f64>,
        outputs: usize,
        weights: Option<Vec<f64>>,
        known_noise: Option<Vec<f64>>,
    ) -> Result<Dataset> {
        if outputs == 0 || !targets.len().is_multiple_of(outputs) {
            return Err(Error::Invalid(
                "every row of a data set needs the same number of targets, at least one".into(),
            ));
        }
        let rows = targets.len() / outputs;
        same_length("input values", rows * width, values.len())?;
        let weights = weights.unwrap_or_else(|| vec![1.0; rows]);
        same_length("weights", rows, weights.len())?;
        if let Some(noise) = &known_noise {
            same_length("known noise variances", rows, noise.len())?;
        }
        check_each("weights", &weights, |weight| weight >= 0.0)?;

        let kept: Vec<usize> = (0..rows).filter(|&row| weights[row] > 0.0).collect();
        if kept.len() == rows {
            return Dataset::of_rows(
                &kept,
                values,
                width,
                targets,
                outputs,
                &weights,
                known_noise.as_deref(),
            );
        }
        let pick = |numbers: &[f64]| kept.iter().map(|&row| numbers[row]).collect::<Vec<f64>>();
        let rows_of = |numbers: &[f64], width: usize| -> Vec<f64> {
            let rows = kept.iter();
            rows.flat_map(|&row| &numbers[row * width..(row + 1) * width])
                .copied()
                .collect()
        };
        Dataset::of_rows(
            &kept,
            rows_of(&values, width),
            width,
            rows_of(&targets, outputs),
            outputs,
            &pick(&weights),
            known_noise.as_deref().map(pick).as_deref(),
        )
    }

    /// A data set of rows of positive weight; `positions` are their places in the table.
    pub(super) fn of_rows(
        positions: &[usize],
        mut values: Vec<f64>,
        width: usize,
        targets: Vec<f64>,
        outputs: usize,
        weights: &[f64],
        known_noise: Option<&[f64]>,
    ) -> Result<Dataset> {
        if targets.is_empty() {
            return Err(Error::Invalid(
                "a data set needs at least one row of positive weight".into(),
            ));
        }
        if width == 0 {
            return Err(Error::Invalid(
                "a data set needs at least one input column".into(),
            ));
        }
        check_each("inputs", &values, |_| true)?;
        check_each("targets", &targets, |_| true)?;
        check_each(
            "known noise variances",
            known_noise.unwrap_or(&[]),
            |noise| noise >= 0.0,
        )?;
        // Equal numbers must have equal bits, also in what the kernels see.
        for value in &mut values {
            *value += 0.0;
        }
        let noise_of = |row: usize| known_noise.map_or(0.0, |noise| noise[row] + 0.0);

        let groups = group_rows(&values, width, noise_of);
        let rows = targets.len() / outputs;
        let members: Vec<Member> = (0..rows)
            .map(|row| Member {
                row: positions[row],
                group: groups.group_of[row],
                target: targets[row * outputs],
                weight: weights[row],
            })
            .collect();
        let merged = merge_targets(&members, &targets, groups.first_rows.len());
        for (what, numbers) in [
            ("the total weight", &merged.weights),
            ("the mean target", &merged.means),
            ("the scatter of the targets", &merged.scatter),
        ] {
            if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
                let group = place % groups.first_rows.len();
                return Err(Error::Invalid(format!(
                    "{what} of the rows equal to row {} is too large for a number; scale weights and targets down",
                    positions[groups.first_rows[group]] + 1
                )));
            }
        }
        if groups.first_rows.len() < rows {
            for (group, &row) in groups.first_rows.iter().enumerate() {
                values.copy_within(row * width..(row + 1) * width, group * width);
            }
            values.truncate(groups.first_rows.len() * width);
        }
        let further = targets.chunks_exact(outputs).flat_map(|own| &own[1..]);
        Ok(Dataset {
            values,
            width,
            outputs,
            further: further.copied().collect(),
            targets: merged.means,
            weights: merged.weights,
            known_noise: groups.first_rows.iter().map(|&row| noise_of(row)).collect(),
            scatter: merged.scatter,
            members,
            places: Places::default(),
        })
    }

    /// The distinct inputs.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs::of_checked(&self.values, self.rows(), self.width)
    }

    /// Number of distinct rows (groups).
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Number of targets of a row: they share the inputs, the weights and the noise.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Weighted mean of each group's targets; of the first output where there are several.
    pub fn targets(&self) -> &[f64] {
        self.targets_of(0)
    }

    /// Weighted mean of each group's targets of one output.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn targets_of(&self, output: usize) -> &[f64] {
        &self.targets[output * self.rows()..(output + 1) * self.rows()]
    }

    /// The targets of one member, output after output.
    pub fn own_targets(&self, member: usize) -> impl Iterator<Item = f64> + '_ {
        let more = self.outputs - 1;
        let further = &self.further[member * more..(member + 1) * more];
        std::iter::once(self.members[member].target).chain(further.iter().copied())
    }

    /// Total weight W of each group.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Known noise variance tau of each group: 0 when not given, equal inside a group.
    pub fn known_noise(&self) -> &[f64] {
        &self.known_noise
    }

    /// Scatter of each group: R = sum over its rows of weight times squared distance from the group's mean, all outputs
    /// together.
    pub fn scatter(&self) -> &[f64] {
        &self.scatter
    }

    /// The rows of the table, in its order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Sum of all weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The given groups, in that order, with their members.
    ///
    /// # Panics
    /// When a group is not in the data set.
    pub fn select(&self, groups: &[usize]) -> Dataset {
        let members = groups.iter().enumerate().flat_map(|(place, &group)| {
            let own = self.places.of(group, self.rows(), &self.members);
            own.iter().map(move |&index| (index as usize, place))
        });
        // In the order of the table.
        let mut members: Vec<(usize, usize)> = members.collect();
        members.sort_unstable();
        let mut chosen = Chosen::default();
        for (index, place) in members {
            chosen.push(self, index, place);
        }
        self.gather(groups, chosen)
    }

    /// Disjoint lists of groups, each as a data set of its own, in one pass over the rows.
    ///
    /// # Panics
    /// When a group is not in the data set.
    pub fn split(&self, lists: &[Vec<usize>]) -> Vec<Dataset> {
        let mut place: Vec<Option<(usize, usize)>> = vec![None; self.rows()];
        for (list, groups) in lists.iter().enumerate() {
            for (position, &group) in groups.iter().enumerate() {
                place[group] = Some((list, position));
            }
        }
        let mut chosen: Vec<Chosen> = lists.iter().map(|_| Chosen::default()).collect();
        for (index, member) in self.members.iter().enumerate() {
            if let Some((list, group)) = place[member.group] {
                chosen[list].push(self, index, group);
            }
        }
        let parts = lists.iter().zip(chosen);
        parts
            .map(|(groups, chosen)| self.gather(groups, chosen))
            .collect()
    }

    /// Puts the groups of another data set, of as many outputs, behind these; equal inputs of the two stay two groups.
    pub fn append(&mut self, other: &Dataset) {
        let groups = self.rows();
        let moved = |member: &Member| Member {
            group: member.group + groups,
            ..*member
        };
        self.values.extend_from_slice(&other.values);
        let outputs = 0..self.outputs;
        let targets = outputs.flat_map(|o| self.targets_of(o).iter().chain(other.targets_of(o)));
        self.targets = targets.copied().collect();
        self.further.extend_from_slice(&other.further);
        self.weights.extend_from_slice(&other.weights);
        self.known_noise.extend_from_slice(&other.known_noise);
        self.scatter.extend_from_slice(&other.scatter);
        self.members.extend(other.members.iter().map(moved));
        self.places = Places::default();
    }

    fn gather(&self, groups: &[usize], chosen: Chosen) -> Dataset {
        let inputs = groups.iter().flat_map(|&group| self.inputs().row(group));
        let pick = |numbers: &[f64]| groups.iter().map(|&group| numbers[group]).collect();
        let targets = (0..self.outputs).flat_map(|output| {
            let own = self.targets_of(output);
            groups.iter().map(|&group| own[group])
        });
        Dataset {
            values: inputs.copied().collect(),
            width: self.width,
            outputs: self.outputs,
            targets: targets.collect(),
            weights: pick(&self.weights),
            known_noise: pick(&self.known_noise),
            scatter: pick(&self.scatter),
            members: chosen.members,
            further: chosen.further,
            places: Places::default(),
        }
    }
}

/// Members on their way into another data set.
#[derive(Default)]
struct Chosen {
    members: Vec<Member>,
    further: Vec<f64>,
}

impl Chosen {
    fn push(&mut self, from: &Dataset, index: usize, group: usize) {
        self.members.push(Member {
            group,
            ..from.members[index]
        });
        let more = from.outputs - 1;
        let further = &from.further[index * more..(index + 1) * more];
        self.further.extend_from_slice(further);
    }
}

fn same_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Shape {
            what,
            expected,
            found,
        })
    }
}

/// An error naming the first number that is not finite or not allowed.
fn check_each(what: &str, numbers: &[f64], allowed: impl Fn(f64) -> bool) -> Result<()> {
    match numbers
        .iter()
        .position(|&number| !(number.is_finite() && allowed(number)))
    {
        None => Ok(()),
        Some(index) => Err(Error::Invalid(format!(
            "the {what} of a data set hold {} at position {}, which cannot be used",
            numbers[index],
            index + 1
        ))),
    }
}

#[cfg(test)]
#[path = "dataset_tests.rs"]
mod tests;
