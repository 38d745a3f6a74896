//! What was seen of each latent value: targets with their offsets, censoring and weights.

use crate::data::Dataset;
use crate::{Error, Result};

/// One row's target and what comes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The target in its own units: 0 or 1 for two classes, a count, a duration.
    pub value: f64,
    /// Added to the latent value before the likelihood sees it: the logarithm of the exposure, or a common level.
    pub offset: f64,
    /// False when the row is right-censored: all that is known is that the target exceeds `value`.
    pub observed: bool,
    /// How many copies of the row it stands for.
    pub weight: f64,
}

impl Observation {
    /// One fully observed copy of a target, with no offset.
    pub fn of(value: f64) -> Self {
        Self {
            value,
            offset: 0.0,
            observed: true,
            weight: 1.0,
        }
    }

    /// The same with an offset added to the latent value; an exposure e is the offset `ln e`.
    pub fn with_offset(mut self, offset: f64) -> Self {
        self.offset = offset;
        self
    }

    /// The same, known only to exceed its value.
    pub fn censored(mut self) -> Self {
        self.observed = false;
        self
    }

    /// The same, standing for so many copies.
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

/// Columns that come with the targets, by row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extras<'a> {
    /// Added to each row's latent value (the logarithm of an exposure); 0 when not given.
    pub offset: Option<&'a [f64]>,
    /// False where a row is right-censored; true when not given.
    pub observed: Option<&'a [bool]>,
}

/// All that was seen, by latent value: rows with equal inputs share one.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// The rows of latent value i are `rows[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    rows: Vec<Observation>,
}

impl Observations {
    /// One observation for each latent value.
    pub fn each(rows: Vec<Observation>) -> Result<Self> {
        let groups = rows.len();
        Self::grouped(groups, rows.into_iter().enumerate())
    }

    /// Any number of observations for each of `groups` latent values, given as (group, observation).
    pub fn grouped(
        groups: usize,
        rows: impl IntoIterator<Item = (usize, Observation)>,
    ) -> Result<Self> {
        let mut rows: Vec<(usize, Observation)> = rows.into_iter().collect();
        for (place, (group, seen)) in rows.iter().enumerate() {
            let finite = seen.value.is_finite() && seen.offset.is_finite();
            if !(finite && seen.weight.is_finite() && seen.weight > 0.0) {
                return Err(Error::Invalid(format!(
                    "observation {} has value {}, offset {} and weight {}: all must be finite and the weight positive",
                    place + 1,
                    seen.value,
                    seen.offset,
                    seen.weight
                )));
            }
            if *group >= groups {
                return Err(Error::Shape {
                    what: "groups of the observations",
                    expected: groups,
                    found: group + 1,
                });
            }
        }
        // Stable: rows of a group keep their order, so that sums have one order.
        rows.sort_by_key(|(group, _)| *group);
        let mut starts = vec![0; groups + 1];
        for (group, _) in &rows {
            starts[group + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        Ok(Self {
            starts,
            rows: rows.into_iter().map(|(_, seen)| seen).collect(),
        })
    }

    /// The targets and weights of a data set (or of a part of one), with further columns by row of the table.
    pub fn of(data: &Dataset, extras: Extras<'_>) -> Result<Self> {
        let missing = |what, length: usize, row: usize| Error::Shape {
            what,
            expected: row + 1,
            found: length,
        };
        let mut rows = Vec::with_capacity(data.members().len());
        for member in data.members() {
            let offset = match extras.offset {
                None => 0.0,
                Some(offsets) => *offsets
                    .get(member.row)
                    .ok_or_else(|| missing("offsets", offsets.len(), member.row))?,
            };
            let observed = match extras.observed {
                None => true,
                Some(flags) => *flags
                    .get(member.row)
                    .ok_or_else(|| missing("censoring flags", flags.len(), member.row))?,
            };
            let seen = Observation {
                value: member.target,
                offset,
                observed,
                weight: member.weight,
            };
            rows.push((member.group, seen));
        }
        Self::grouped(data.rows(), rows)
    }

    /// Number of latent values.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// What was seen of one latent value.
    pub fn of_group(&self, group: usize) -> &[Observation] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }

    /// The given latent values, in that order, with all that was seen of each.
    ///
    /// # Panics
    /// When a group is not among them.
    pub fn select(&self, groups: &[usize]) -> Observations {
        let mut starts = vec![0];
        let mut rows = Vec::new();
        for &group in groups {
            rows.extend_from_slice(self.of_group(group));
            starts.push(rows.len());
        }
        Self { starts, rows }
    }

    /// Everything, group after group.
    pub fn rows(&self) -> &[Observation] {
        &self.rows
    }

    /// Rows, counting weights.
    pub fn total_weight(&self) -> f64 {
        self.rows.iter().map(|seen| seen.weight).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_equal_inputs_share_a_latent_value_and_keep_their_own_columns() {
        let data = Dataset::new(
            vec![0.0, 1.0, 0.0],
            1,
            vec![2.0, 5.0, 3.0],
            Some(vec![1.0, 2.0, 4.0]),
            None,
        )
        .unwrap();
        let offsets = [0.1, 0.2, 0.3];
        let observed = [true, false, true];
        let extras = Extras {
            offset: Some(&offsets),
            observed: Some(&observed),
        };
        let seen = Observations::of(&data, extras).unwrap();
        assert_eq!(seen.groups(), 2);
        let first = [
            Observation::of(2.0).with_offset(0.1),
            Observation::of(3.0).with_offset(0.3).with_weight(4.0),
        ];
        assert_eq!(seen.of_group(0), first);
        let second = Observation::of(5.0).with_offset(0.2).with_weight(2.0);
        assert_eq!(seen.of_group(1), [second.censored()]);
        assert!(
            Observations::of(
                &data,
                Extras {
                    offset: Some(&offsets[..2]),
                    observed: None
                }
            )
            .is_err()
        );
    }

    #[test]
    fn numbers_that_cannot_be_used_are_errors() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(Observations::each(vec![Observation::of(bad)]).is_err());
            assert!(Observations::each(vec![Observation::of(1.0).with_offset(bad)]).is_err());
        }
        assert!(Observations::each(vec![Observation::of(1.0).with_weight(0.0)]).is_err());
        assert!(Observations::grouped(1, [(1, Observation::of(1.0))]).is_err());
    }
}
