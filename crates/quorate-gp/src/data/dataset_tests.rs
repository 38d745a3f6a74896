//! The laws of a data set.
#![allow(clippy::unwrap_used)]

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
