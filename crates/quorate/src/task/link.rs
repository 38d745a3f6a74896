//! From Gaussian answers about classes to their probabilities.

use serde::{Deserialize, Serialize};

/// How means and variances of the classes' outputs become probabilities.
///
/// A regression on the targets +1 and -1 has the mean `m = 2 q - 1` where the class has probability `q`, so that
/// `(1 + m) / 2` is a first guess: it adds up to 1 over the classes, and to their frequencies far from all rows. It is
/// too timid between classes and may be negative. What is used is
///
/// `p_c ~ (max((1 + m_c) / 2, 0) + spread * s + floor) ^ (1 / temperature)`
///
/// with `s` the deviation of a new observation: a softmax of logarithms with a temperature. The decision is the largest
/// mean whatever the three numbers are (Tresp 2000, sec. 6.5); they are fitted on rows that the answers have not seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The greater, the closer are probabilities to each other.
    pub temperature: f64,
    /// What every class is granted for each deviation of a new observation.
    pub spread: f64,
    /// What every class is granted always.
    pub floor: f64,
}

/// One row's answers: means in units of the targets +1 and -1, and the variance they share, noise included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub means: &'a [f64],
    pub variance: f64,
}

/// A row that was not seen: what is said about it, its class, its weight.
pub(crate) type Judgement<'a> = (Answer<'a>, usize, f64);

/// Least and greatest logarithm of temperature, spread and floor that are looked at.
const RANGES: [(f64, f64); 3] = [(-2.5, 2.5), (-8.0, 1.0), (-12.0, 0.0)];
/// Rounds over the three numbers, and sections of a range in each.
const ROUNDS: usize = 4;
const SECTIONS: usize = 14;

impl Link {
    /// What is used where no row tells.
    pub(crate) const PLAIN: Link = Link {
        temperature: 0.5,
        spread: 0.05,
        floor: 0.01,
    };

    /// Probabilities of the classes for one row, put behind those in `out`.
    pub(crate) fn probabilities(&self, answer: Answer<'_>, out: &mut Vec<f64>) {
        let start = out.len();
        out.extend(self.logits(answer));
        let own = &mut out[start..];
        let largest = own.iter().copied().fold(f64::MIN, f64::max);
        own.iter_mut()
            .for_each(|logit| *logit = (*logit - largest).exp());
        let total: f64 = own.iter().sum();
        own.iter_mut().for_each(|share| *share /= total);
    }

    /// True when it can be used, which that of a damaged file need not.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = [self.temperature, self.spread, self.floor];
        numbers
            .iter()
            .all(|number| number.is_finite() && *number > 0.0)
    }

    fn logits(&self, answer: Answer<'_>) -> impl Iterator<Item = f64> {
        let granted = self.spread * answer.variance.max(0.0).sqrt() + self.floor;
        let share = move |mean: &f64| (0.5 * (1.0 + mean)).max(0.0) + granted;
        let temperature = self.temperature;
        let means = answer.means.iter();
        means.map(move |mean| share(mean).ln() / temperature)
    }

    fn of_coordinates(coordinates: [f64; 3]) -> Link {
        let [temperature, spread, floor] = coordinates.map(f64::exp);
        Link {
            temperature,
            spread,
            floor,
        }
    }

    /// The numbers with the least log loss on rows that were not seen.
    ///
    /// Where no row was in error the best temperature would be none at all, so a trace of every row is counted for the
    /// other classes, as if one more row of each kind had been seen (Platt 1999, sec. 2.2). Sections of the golden ratio
    /// along one logarithm at a time: the answer is the same every time.
    pub(crate) fn fit(rows: &[Judgement<'_>]) -> Link {
        let weight: f64 = rows.iter().map(|row| row.2).sum();
        if weight <= 0.0 {
            return Link::PLAIN;
        }
        let trace = 1.0 / (weight + 2.0);
        let loss = |coordinates: [f64; 3]| -> f64 {
            let link = Link::of_coordinates(coordinates);
            rows.iter().map(|row| row.2 * link.loss(row, trace)).sum()
        };
        let Link {
            temperature,
            spread,
            floor,
        } = Link::PLAIN;
        let mut here = [temperature, spread, floor].map(f64::ln);
        for _ in 0..ROUNDS {
            for (place, range) in RANGES.iter().enumerate() {
                here[place] = least(*range, |coordinate| {
                    let mut there = here;
                    there[place] = coordinate;
                    loss(there)
                });
            }
        }
        Link::of_coordinates(here)
    }

    /// Negative log probability of the row's class, with a trace of all classes.
    fn loss(&self, (answer, class, _): &Judgement<'_>, trace: f64) -> f64 {
        let logits: Vec<f64> = self.logits(*answer).collect();
        let largest = logits.iter().copied().fold(f64::MIN, f64::max);
        let shares = logits.iter().map(|logit| (logit - largest).exp());
        let total = largest + shares.sum::<f64>().ln();
        let mean = logits.iter().sum::<f64>() / logits.len() as f64;
        total - (1.0 - trace) * logits[*class] - trace * mean
    }
}

/// Where a function of one number with one valley is least.
fn least((mut low, mut high): (f64, f64), value: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (value(a), value(b));
    for _ in 0..SECTIONS {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = value(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = value(b);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means of three classes around the truth.
    fn rows(sure: f64) -> Vec<([f64; 3], usize)> {
        (0..300)
            .map(|row| {
                let class = row % 3;
                let slip = (f64::from(row as u32) * 0.7).sin();
                let own = -1.0 + 2.0 * (sure + 0.3 * slip).clamp(0.0, 1.0);
                let other = -0.5 * (1.0 + own);
                let mut means = [other; 3];
                means[class] = own;
                (means, class)
            })
            .collect()
    }

    fn judged(rows: &[([f64; 3], usize)]) -> Vec<Judgement<'_>> {
        rows.iter()
            .map(|(means, class)| {
                let variance = 0.01;
                (Answer { means, variance }, *class, 1.0)
            })
            .collect()
    }

    #[test]
    fn probabilities_add_up_to_one_and_the_largest_mean_is_likeliest() {
        let link = Link::fit(&judged(&rows(0.6)));
        let mut found = Vec::new();
        for means in [[0.9, -0.95, -0.95], [-3.0, 1.5, -0.5], [-0.4, -0.3, -0.3]] {
            found.clear();
            let variance = 0.2;
            link.probabilities(
                Answer {
                    means: &means,
                    variance,
                },
                &mut found,
            );
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let largest =
                |values: &[f64]| (0..3).fold(0, |b, i| if values[i] > values[b] { i } else { b });
            assert_eq!(largest(&found), largest(&means));
        }
    }

    #[test]
    fn rows_without_an_error_do_not_make_probabilities_certain() {
        let sure = rows(1.4);
        let link = Link::fit(&judged(&sure));
        let mut found = Vec::new();
        let means = [0.99, -0.99, -1.0];
        link.probabilities(
            Answer {
                means: &means,
                variance: 0.01,
            },
            &mut found,
        );
        // About one row in three hundred may be of another class: that is all these rows can say.
        assert!(found[0] > 0.98 && found[0] < 0.9999, "{found:?} {link:?}");
    }
}
