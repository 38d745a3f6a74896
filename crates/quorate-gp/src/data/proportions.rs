//! Columns that grow together, told as their common size and what each has beyond it.
//!
//! Measurements of growing things differ mostly by size, and what tells their kinds apart is often shape: how long one is for
//! its size. Among standardised columns a difference of shape is small beside one of size, and a kernel with one length
//! scale sees size alone. The logarithm of size is the mean of the logarithms, shape what they have beyond it (Mosimann 1970;
//! the centred log-ratios of Aitchison 1986); here size counts as much as one direction of shape.

use serde::{Deserialize, Serialize};

use super::scale::Scale;

/// Fewer columns have no shape that their ratio would not tell.
const LEAST_COLUMNS: usize = 3;
/// Correlation of a column's logarithms with the common size from which it belongs to the others.
const TOGETHER: f64 = 0.9;
/// Shapes that vary by less than this share of the size are the rounding of copies.
const LEAST_SHAPE: f64 = 1e-3;

/// How columns of logarithms become one of size, spread over all of them, and shapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proportions {
    /// Names of the columns; their logarithms are taken.
    pub columns: Vec<String>,
    /// Deviation of the logarithm of size.
    pub size: f64,
    /// Deviation of the logarithms of shape, of all columns together, in each of its directions.
    pub shape: f64,
}

/// A column of standardised logarithms: where it stands among the encoded ones, and the deviation of its logarithms.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub offset: usize,
    pub deviation: f64,
}

impl Proportions {
    /// The columns among `named` that grow together, from the encoded rows with their weights; none where fewer than three do.
    pub fn learn(
        named: &[(String, Place)],
        rows: &[f64],
        width: usize,
        weights: &[f64],
    ) -> Option<Self> {
        let mut together: Vec<usize> = (0..named.len()).collect();
        while together.len() >= LEAST_COLUMNS {
            let places: Vec<Place> = together.iter().map(|&own| named[own].1).collect();
            // Standardised for now: a column of factors of a thousand is not the size of others.
            let alike = places.iter().map(|own| Place {
                deviation: 1.0,
                ..*own
            });
            let alike = Moments::of(&alike.collect::<Vec<_>>(), rows, width, weights);
            let (worst, least) = alike.least_correlated()?;
            if least < TOGETHER {
                together.remove(worst);
                continue;
            }
            let moments = Moments::of(&places, rows, width, weights);
            let (size, shape) = (moments.size.sqrt(), moments.pooled_shape().sqrt());
            let sound = Scale {
                mean: size,
                deviation: shape,
            }
            .is_sound();
            return (sound && shape >= LEAST_SHAPE * size).then(|| Self {
                columns: together.iter().map(|&own| named[own].0.clone()).collect(),
                size,
                shape,
            });
        }
        None
    }

    /// Replaces standardised logarithms by shapes, and the size that all of them carry a part of.
    ///
    /// Shapes add up to nothing over the columns, so a difference of size adds `(difference / size)²` to the squared distance of two
    /// rows, and leaves what their shapes add. What is missing is as large as the others.
    pub fn apply(&self, places: &[Place], missing: &[bool], row: &mut [f64]) {
        let logarithm = |place: &Place, row: &[f64]| place.deviation * row[place.offset];
        let seen = || (places.iter().zip(missing)).filter(|(_, missing)| !**missing);
        let sum: f64 = seen().map(|(own, _)| logarithm(own, row)).sum();
        let size = sum / seen().count().max(1) as f64;
        let common = size / (self.size * (places.len() as f64).sqrt());
        for (own, missing) in places.iter().zip(missing) {
            let beyond = match missing {
                true => 0.0,
                false => logarithm(own, row) - size,
            };
            row[own.offset] = beyond / self.shape + common;
        }
    }

    /// True when the numbers can be used for scaling.
    pub fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_normal() && number > 0.0;
        self.columns.len() >= LEAST_COLUMNS && positive(self.size) && positive(self.shape)
    }
}

/// Weighted second moments of logarithms (which have mean 0) around their common size.
struct Moments {
    size: f64,
    /// Of each column: its variance, and its covariance with the size.
    columns: Vec<(f64, f64)>,
}

impl Moments {
    fn of(places: &[Place], rows: &[f64], width: usize, weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let count = places.len() as f64;
        let mut moments = Self {
            size: 0.0,
            columns: vec![(0.0, 0.0); places.len()],
        };
        for (row, weight) in rows.chunks_exact(width).zip(weights) {
            let share = weight / total;
            let each = || places.iter().map(|own| own.deviation * row[own.offset]);
            let size = each().sum::<f64>() / count;
            moments.size += share * size * size;
            for (own, value) in moments.columns.iter_mut().zip(each()) {
                own.0 += share * value * value;
                own.1 += share * value * size;
            }
        }
        moments
    }

    /// The column that goes least with the size, and its correlation; none where there is no size.
    fn least_correlated(&self) -> Option<(usize, f64)> {
        let correlations = self
            .columns
            .iter()
            .map(|(variance, shared)| shared / (variance * self.size).sqrt());
        let mut least: Option<(usize, f64)> = None;
        for (column, own) in correlations.enumerate() {
            if own.is_nan() {
                return None;
            }
            if least.is_none_or(|(_, lowest)| own < lowest) {
                least = Some((column, own));
            }
        }
        least
    }

    /// Variance of the shapes in each of their directions, of which there is one fewer than columns.
    fn pooled_shape(&self) -> f64 {
        let sum: f64 = self.columns.iter().map(|(variance, _)| variance).sum();
        let count = self.columns.len() as f64;
        ((sum - count * self.size) / (count - 1.0)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of three columns that grow together and one that does not, standardised.
    fn animals() -> (Vec<(String, Place)>, Vec<f64>) {
        let deviations = [0.3, 0.31, 0.29, 1.0];
        let named = (0..4).map(|offset| {
            let deviation = deviations[offset];
            (format!("x{offset}"), Place { offset, deviation })
        });
        let mut rows = Vec::new();
        for index in 0..40 {
            let turn = f64::from(index);
            let size = 0.3 * 1.4 * (0.7 * turn).sin();
            let shapes = [0.03 * (1.9 * turn).cos(), 0.02 * (2.3 * turn).sin()];
            let lengths = [
                size + shapes[0],
                size - shapes[0] + shapes[1],
                size - shapes[1],
            ];
            rows.extend(lengths.iter().zip(deviations).map(|(own, d)| own / d));
            rows.push(1.4 * (3.1 * turn).cos());
        }
        (named.collect(), rows)
    }

    #[test]
    fn those_that_grow_together_are_found() {
        let (named, rows) = animals();
        let found = Proportions::learn(&named, &rows, 4, &[1.0; 40]).expect("three grow together");
        assert_eq!(found.columns, ["x0", "x1", "x2"]);
        assert!(found.is_sound());
        assert!((found.size / 0.297 - 1.0).abs() < 0.05, "{}", found.size);
        assert!((0.01..0.05).contains(&found.shape), "{}", found.shape);
        let apart: Vec<(String, Place)> = named[1..].to_vec();
        assert_eq!(Proportions::learn(&apart, &rows, 4, &[1.0; 40]), None);
        let alike: Vec<(String, Place)> = (named.iter().cloned())
            .map(|(name, place)| {
                (
                    name,
                    Place {
                        deviation: 0.3,
                        ..place
                    },
                )
            })
            .collect();
        let copies: Vec<f64> = (0..40).flat_map(|i| [f64::from(i - 20); 4]).collect();
        assert_eq!(Proportions::learn(&alike, &copies, 4, &[1.0; 40]), None);
        assert_eq!(Proportions::learn(&named, &[0.0; 160], 4, &[1.0; 40]), None);
    }

    /// Squared distances are those of size and of centred logarithms, each over its variance.
    #[test]
    fn distances_are_those_of_size_and_shape() {
        let (named, rows) = animals();
        let found = Proportions::learn(&named, &rows, 4, &[1.0; 40]).expect("three grow together");
        let places: Vec<Place> = named[..3].iter().map(|own| own.1).collect();
        let (first, second) = (&rows[..4], &rows[20..24]);
        let (mut a, mut b) = (first.to_vec(), second.to_vec());
        found.apply(&places, &[false; 3], &mut a);
        found.apply(&places, &[false; 3], &mut b);
        assert_eq!(
            (a[3], b[3]),
            (first[3], second[3]),
            "the others stay as they are"
        );
        let squared: f64 = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum();
        let logarithms = |row: &[f64]| -> Vec<f64> {
            places.iter().map(|p| p.deviation * row[p.offset]).collect()
        };
        let away: Vec<f64> = (logarithms(first).iter().zip(logarithms(second)))
            .map(|(x, y)| x - y)
            .collect();
        let size = away.iter().sum::<f64>() / 3.0;
        let shape: f64 = away.iter().map(|own| (own - size).powi(2)).sum();
        let expected = (size / found.size).powi(2) + shape / found.shape.powi(2);
        assert!((squared / expected - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_missing_is_as_large_as_the_others() {
        let (named, rows) = animals();
        let found = Proportions::learn(&named, &rows, 4, &[1.0; 40]).expect("three grow together");
        let places: Vec<Place> = named[..3].iter().map(|own| own.1).collect();
        let mut without = rows[..4].to_vec();
        let mut between = without.clone();
        without[2] = 0.0;
        let logarithm = |place: usize| places[place].deviation * rows[place];
        between[2] = 0.5 * (logarithm(0) + logarithm(1)) / places[2].deviation;
        found.apply(&places, &[false, false, true], &mut without);
        found.apply(&places, &[false; 3], &mut between);
        for (a, b) in without.iter().zip(&between) {
            assert!((a - b).abs() < 1e-12, "{without:?} {between:?}");
        }
        // Of an animal of which nothing is known, nothing is told.
        let mut nothing = vec![0.0; 4];
        found.apply(&places, &[true; 3], &mut nothing);
        assert_eq!(nothing, [0.0; 4]);
    }

    #[test]
    fn weights_stand_for_copies() {
        let (named, rows) = animals();
        let weighted = Proportions::learn(&named, &rows, 4, &[2.0; 40]);
        let copied = [rows.clone(), rows.clone()].concat();
        let copied = Proportions::learn(&named, &copied, 4, &[1.0; 80]);
        let (weighted, copied) = (weighted.expect("three"), copied.expect("three"));
        assert!((weighted.size / copied.size - 1.0).abs() < 1e-12);
        assert!((weighted.shape / copied.shape - 1.0).abs() < 1e-12);
    }
}
