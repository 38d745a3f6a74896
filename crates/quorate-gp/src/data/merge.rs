//! Finding rows with equal inputs, and what their targets amount to together.

use std::hash::{DefaultHasher, Hasher};

use super::dataset::Member;

/// Rows sorted into groups of equal inputs and equal known noise.
pub struct Groups {
    /// Group of each row.
    pub group_of: Vec<usize>,
    /// First row of each group, in the order of appearance.
    pub first_rows: Vec<usize>,
}

/// Targets of groups.
pub struct Merged {
    /// Total weight.
    pub weights: Vec<f64>,
    /// Weighted mean, output after output.
    pub means: Vec<f64>,
    /// Weighted sum of squared distances from the mean, of all outputs.
    pub scatter: Vec<f64>,
}

const FREE: usize = usize::MAX;

/// Groups rows by the bits of their inputs and noise; numbers must have been cleaned of -0.
///
/// A hash table of group numbers with linear probing: the rows themselves are the keys, so nothing is copied, and the
/// order of groups does not depend on the hash.
pub fn group_rows(values: &[f64], width: usize, noise_of: impl Fn(usize) -> f64) -> Groups {
    let rows = values.len() / width;
    let row = |index: usize| &values[index * width..(index + 1) * width];
    let mask = (2 * rows).next_power_of_two() - 1;
    let mut slots = vec![FREE; mask + 1];
    let mut groups = Groups {
        group_of: Vec::with_capacity(rows),
        first_rows: Vec::new(),
    };
    for index in 0..rows {
        let mut hasher = DefaultHasher::new();
        for value in row(index) {
            hasher.write_u64(value.to_bits());
        }
        hasher.write_u64(noise_of(index).to_bits());
        let mut slot = hasher.finish() as usize & mask;
        let group = loop {
            match slots[slot] {
                FREE => {
                    slots[slot] = groups.first_rows.len();
                    groups.first_rows.push(index);
                    break slots[slot];
                }
                group => {
                    let first = groups.first_rows[group];
                    if row(first) == row(index) && noise_of(first) == noise_of(index) {
                        break group;
                    }
                }
            }
            slot = (slot + 1) & mask;
        };
        groups.group_of.push(group);
    }
    groups
}

/// Weight, mean and scatter of each group; `targets` holds those of each member, one after the other.
///
/// Sums run over distances from the group's first target, and the scatter over distances from the mean, so nothing
/// cancels; a group of one row keeps its target and weight to the last bit.
pub fn merge_targets(members: &[Member], targets: &[f64], groups: usize) -> Merged {
    let outputs = targets.len() / members.len().max(1);
    let mut merged = Merged {
        weights: vec![0.0; groups],
        means: Vec::with_capacity(outputs * groups),
        scatter: vec![0.0; groups],
    };
    for member in members {
        merged.weights[member.group] += member.weight;
    }
    for output in 0..outputs {
        let own = targets[output..].iter().step_by(outputs.max(1));
        let own = members.iter().zip(own);
        let mut origin = vec![f64::NAN; groups];
        let mut means = vec![0.0; groups];
        for (member, target) in own.clone() {
            let group = member.group;
            if origin[group].is_nan() {
                origin[group] = *target;
            }
            means[group] += member.weight * (target - origin[group]);
        }
        for group in 0..groups {
            means[group] = origin[group] + means[group] / merged.weights[group];
        }
        for (member, target) in own {
            let distance = target - means[member.group];
            merged.scatter[member.group] += member.weight * distance * distance;
        }
        merged.means.extend(means);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_share_a_group_and_groups_keep_their_order() {
        let values = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 5.0, 6.0, 3.0, 4.0];
        let groups = group_rows(&values, 2, |_| 0.0);
        assert_eq!(groups.group_of, [0, 1, 0, 2, 1]);
        assert_eq!(groups.first_rows, [0, 1, 3]);
    }

    #[test]
    fn rows_of_different_noise_stay_apart() {
        let noise = [0.1, 0.2, 0.1];
        let groups = group_rows(&[7.0, 7.0, 7.0], 1, |row| noise[row]);
        assert_eq!(groups.group_of, [0, 1, 0]);
    }

    #[test]
    fn weight_mean_and_scatter_known_by_hand() {
        let member = |group, target, weight| Member {
            row: 0,
            group,
            target,
            weight,
        };
        let members = [
            member(0, 1.0, 2.0),
            member(1, 0.1, 3.0),
            member(0, 4.0, 1.0),
        ];
        let merged = merge_targets(&members, &[1.0, 0.1, 4.0], 2);
        assert_eq!(merged.weights, [3.0, 3.0]);
        assert_eq!(merged.means, [2.0, 0.1]);
        assert_eq!(merged.scatter, [6.0, 0.0]);
        let two = merge_targets(&members, &[1.0, -2.0, 0.1, 5.0, 4.0, 1.0], 2);
        assert_eq!(two.means, [2.0, 0.1, -1.0, 5.0]);
        assert_eq!(two.scatter, [12.0, 0.0]);
    }
}
