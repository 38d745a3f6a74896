//! Rows for the mathematics, checked, with exact duplicates merged.

use crate::{Error, Result};

use super::inputs::Inputs;
use super::merge::{group_rows, merge_targets};

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
    targets: Vec<f64>,
    weights: Vec<f64>,
    known_noise: Vec<f64>,
    scatter: Vec<f64>,
    members: Vec<Member>,
}

/// One row of the table and the group it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Position of the row in the table, counted from 0.
    pub row: usize,
    /// Position of its group in the data set.
    pub group: usize,
    /// Its own target.
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
        let rows = targets.len();
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
                &weights,
                known_noise.as_deref(),
            );
        }
        let pick = |numbers: &[f64]| kept.iter().map(|&row| numbers[row]).collect::<Vec<f64>>();
        Dataset::of_rows(
            &kept,
            kept.iter()
                .flat_map(|&row| &values[row * width..(row + 1) * width])
                .copied()
                .collect(),
            width,
            pick(&targets),
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
        let members: Vec<Member> = (0..targets.len())
            .map(|row| Member {
                row: positions[row],
                group: groups.group_of[row],
                target: targets[row],
                weight: weights[row],
            })
            .collect();
        let merged = merge_targets(&members, groups.first_rows.len());
        for (what, numbers) in [
            ("the total weight", &merged.weights),
            ("the mean target", &merged.means),
            ("the scatter of the targets", &merged.scatter),
        ] {
            if let Some(group) = numbers.iter().position(|number| !number.is_finite()) {
                return Err(Error::Invalid(format!(
                    "{what} of the rows equal to row {} is too large for a number; scale weights and targets down",
                    positions[groups.first_rows[group]] + 1
                )));
            }
        }
        if groups.first_rows.len() < targets.len() {
            for (group, &row) in groups.first_rows.iter().enumerate() {
                values.copy_within(row * width..(row + 1) * width, group * width);
            }
            values.truncate(groups.first_rows.len() * width);
        }
        Ok(Dataset {
            values,
            width,
            targets: merged.means,
            weights: merged.weights,
            known_noise: groups.first_rows.iter().map(|&row| noise_of(row)).collect(),
            scatter: merged.scatter,
            members,
        })
    }

    /// The distinct inputs.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs::of_checked(&self.values, self.targets.len(), self.width)
    }

    /// Number of distinct rows (groups).
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// Weighted mean of each group's targets.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Total weight W of each group.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Known noise variance tau of each group: 0 when not given, equal inside a group.
    pub fn known_noise(&self) -> &[f64] {
        &self.known_noise
    }

    /// Scatter of each group: R = sum over its rows of weight times squared distance from the group's mean.
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
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.rows()];
        for (place, &group) in groups.iter().enumerate() {
            places[group].push(place);
        }
        let copies = self.members.iter().flat_map(|member| {
            let places = places[member.group].iter();
            places.map(|&group| Member { group, ..*member })
        });
        self.gather(groups, copies.collect())
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
        let mut members: Vec<Vec<Member>> = vec![Vec::new(); lists.len()];
        for member in &self.members {
            if let Some((list, group)) = place[member.group] {
                members[list].push(Member { group, ..*member });
            }
        }
        let parts = lists.iter().zip(members);
        parts
            .map(|(groups, members)| self.gather(groups, members))
            .collect()
    }

    /// Puts the groups of another data set behind these; equal inputs of the two stay two groups.
    pub fn append(&mut self, other: &Dataset) {
        let groups = self.rows();
        let moved = |member: &Member| Member {
            group: member.group + groups,
            ..*member
        };
        self.values.extend_from_slice(&other.values);
        self.targets.extend_from_slice(&other.targets);
        self.weights.extend_from_slice(&other.weights);
        self.known_noise.extend_from_slice(&other.known_noise);
        self.scatter.extend_from_slice(&other.scatter);
        self.members.extend(other.members.iter().map(moved));
    }

    fn gather(&self, groups: &[usize], members: Vec<Member>) -> Dataset {
        let inputs = groups.iter().flat_map(|&group| self.inputs().row(group));
        let pick = |numbers: &[f64]| groups.iter().map(|&group| numbers[group]).collect();
        Dataset {
            values: inputs.copied().collect(),
            width: self.width,
            targets: pick(&self.targets),
            weights: pick(&self.weights),
            known_noise: pick(&self.known_noise),
            scatter: pick(&self.scatter),
            members,
        }
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn duplicates_merge_and_members_remember_their_rows() {
        let data = Dataset::new(
            vec![0.0, 1.0, -0.0, 2.0],
            1,
            vec![1.0, 5.0, 3.0, 7.0],
            Some(vec![1.0, 1.0, 3.0, 0.0]),
            None,
        )
        .unwrap();
        assert_eq!(data.inputs().values(), [0.0, 1.0]);
        assert_eq!(data.targets(), [2.5, 5.0]);
        assert_eq!(data.weights(), [4.0, 1.0]);
        assert_eq!(data.scatter(), [3.0, 0.0]);
        assert_eq!(data.known_noise(), [0.0, 0.0]);
        let places: Vec<(usize, usize)> = data
            .members()
            .iter()
            .map(|member| (member.row, member.group))
            .collect();
        assert_eq!(places, [(0, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn selected_groups_bring_their_members() {
        let data = Dataset::new(
            vec![1.0, 2.0, 1.0, 3.0],
            1,
            vec![1.0, 2.0, 3.0, 4.0],
            None,
            Some(vec![0.5, 0.25, 0.5, 0.0]),
        )
        .unwrap();
        let part = data.select(&[2, 0]);
        assert_eq!(part.inputs().values(), [3.0, 1.0]);
        assert_eq!(part.targets(), [4.0, 2.0]);
        assert_eq!(part.known_noise(), [0.0, 0.5]);
        let places: Vec<(usize, usize)> = part
            .members()
            .iter()
            .map(|member| (member.row, member.group))
            .collect();
        assert_eq!(places, [(0, 1), (2, 1), (3, 0)]);
    }

    #[test]
    fn numbers_that_cannot_be_used_are_errors() {
        let one = |value: f64, target: f64, weight: f64, noise: f64| {
            Dataset::new(
                vec![value],
                1,
                vec![target],
                Some(vec![weight]),
                Some(vec![noise]),
            )
        };
        assert!(one(0.0, 0.0, 1.0, 0.0).is_ok());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(one(bad, 0.0, 1.0, 0.0).is_err());
            assert!(one(0.0, bad, 1.0, 0.0).is_err());
            assert!(one(0.0, 0.0, bad, 0.0).is_err());
            assert!(one(0.0, 0.0, 1.0, bad).is_err());
        }
        assert!(one(0.0, 0.0, -1.0, 0.0).is_err());
        assert!(one(0.0, 0.0, 0.0, 0.0).is_err());
        assert!(one(0.0, 0.0, 1.0, -1.0).is_err());
        assert!(Dataset::new(vec![], 1, vec![], None, None).is_err());
        assert!(Dataset::new(vec![], 0, vec![1.0], None, None).is_err());
        assert!(Dataset::new(vec![1.0, 2.0, 3.0], 2, vec![1.0], None, None).is_err());
        assert!(Dataset::new(vec![1.0], 1, vec![1.0], Some(vec![]), None).is_err());
        let heavy = Some(vec![f64::MAX, f64::MAX]);
        assert!(Dataset::new(vec![1.0, 1.0], 1, vec![1.0, 2.0], heavy, None).is_err());
    }

    proptest! {
        #[test]
        fn merging_keeps_weight_and_weighted_sums(
            rows in prop::collection::vec((0u8..3, 0u8..3, -10.0..10.0f64, 0u8..4, 0u8..2), 1..60)
        ) {
            let values: Vec<f64> = rows.iter().flat_map(|row| [f64::from(row.0), f64::from(row.1)]).collect();
            let targets: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.3)).collect();
            let noise: Vec<f64> = rows.iter().map(|row| f64::from(row.4)).collect();
            let total: f64 = weights.iter().sum();
            let built = Dataset::new(values.clone(), 2, targets.clone(), Some(weights.clone()), Some(noise.clone()));
            if total == 0.0 {
                prop_assert!(built.is_err());
                return Ok(());
            }
            let data = built.unwrap();
            prop_assert_eq!(data.total_weight(), total);
            let sum: f64 = targets.iter().zip(&weights).map(|(target, weight)| target * weight).sum();
            let merged: f64 = data.targets().iter().zip(data.weights()).map(|(target, weight)| target * weight).sum();
            prop_assert!((sum - merged).abs() <= 1e-11 * total.max(1.0));
            // sum w y^2 = sum over groups of W m^2 + R
            let squares: f64 = targets.iter().zip(&weights).map(|(target, weight)| target * target * weight).sum();
            let merged: f64 = (0..data.rows())
                .map(|group| data.weights()[group] * data.targets()[group].powi(2) + data.scatter()[group])
                .sum();
            prop_assert!((squares - merged).abs() <= 1e-10 * total.max(1.0));
            for left in 0..data.rows() {
                for right in 0..left {
                    prop_assert!(
                        data.inputs().row(left) != data.inputs().row(right)
                            || data.known_noise()[left] != data.known_noise()[right]
                    );
                }
            }
            prop_assert_eq!(data.members().len(), weights.iter().filter(|&&weight| weight > 0.0).count());
            for member in data.members() {
                prop_assert_eq!(data.inputs().row(member.group), &values[member.row * 2..member.row * 2 + 2]);
                prop_assert_eq!(data.known_noise()[member.group], noise[member.row]);
                prop_assert_eq!((member.target, member.weight), (targets[member.row], weights[member.row]));
            }
            let everything: Vec<usize> = (0..data.rows()).collect();
            prop_assert_eq!(data.select(&everything), data);
        }
    }
}
