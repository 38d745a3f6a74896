//! Scores of lifetimes of which some are known only to exceed their value.

/// A lifetime and what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lifetime {
    pub time: f64,
    pub observed: bool,
    pub expected: f64,
}

/// Share of comparable pairs whose order was foretold (Harrell and others 1982).
///
/// A pair is comparable where the shorter lifetime was observed, or both have the same value and one of them was; equal
/// expectations count half. None where no pair is.
pub(super) fn concordance(rows: &[Lifetime]) -> Option<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // From the longest lifetime down; of equal ones those that go on come first, because they are longer.
    order.sort_by(|&a, &b| {
        let (a, b) = (&rows[a], &rows[b]);
        b.time.total_cmp(&a.time).then(a.observed.cmp(&b.observed))
    });
    let mut expectations: Vec<f64> = rows.iter().map(|row| row.expected).collect();
    expectations.sort_by(f64::total_cmp);
    let rank = |value: f64| expectations.partition_point(|other| *other < value);
    let behind = |value: f64| expectations.partition_point(|other| *other <= value);
    let mut longer = Counts::new(rows.len());
    let (mut pairs, mut right) = (0.0, 0.0);
    let mut first = 0;
    while first < order.len() {
        let time = rows[order[first]].time;
        let last = first + order[first..].partition_point(|&row| rows[row].time == time);
        let ended = first + order[first..last].partition_point(|&row| !rows[row].observed);
        for &row in &order[first..ended] {
            longer.add(rank(rows[row].expected));
        }
        for &row in &order[ended..last] {
            let (low, high) = (rank(rows[row].expected), behind(rows[row].expected));
            let (below, upto) = (longer.before(low), longer.before(high));
            pairs += longer.total;
            right += longer.total - upto + 0.5 * (upto - below);
        }
        for &row in &order[ended..last] {
            longer.add(rank(rows[row].expected));
        }
        first = last;
    }
    (pairs > 0.0).then(|| right / pairs)
}

/// Counts by rank with fast sums (Fenwick 1994).
struct Counts {
    tree: Vec<f64>,
    total: f64,
}

impl Counts {
    fn new(size: usize) -> Self {
        Self {
            tree: vec![0.0; size + 1],
            total: 0.0,
        }
    }

    fn add(&mut self, rank: usize) {
        self.total += 1.0;
        let mut place = rank + 1;
        while place < self.tree.len() {
            self.tree[place] += 1.0;
            place += place & place.wrapping_neg();
        }
    }

    /// How many were added with a rank below this one.
    fn before(&self, rank: usize) -> f64 {
        let (mut sum, mut place) = (0.0, rank);
        while place > 0 {
            sum += self.tree[place];
            place -= place & place.wrapping_neg();
        }
        sum
    }
}

/// Mean squared error of survival probabilities at a time, rows that were censored before it made up for by the others
/// (Graf and others 1999); none where nobody was still watched.
pub(super) fn brier_at(rows: &[Lifetime], survival: &[f64], time: f64) -> Option<f64> {
    let watched = Watched::of(rows);
    let at_time = watched.share(time, true);
    let mut sum = 0.0;
    for (row, survival) in rows.iter().zip(survival) {
        if row.time > time {
            sum += (1.0 - survival).powi(2) / at_time;
        } else if row.observed {
            sum += survival.powi(2) / watched.share(row.time, false);
        }
    }
    let score = sum / rows.len() as f64;
    (at_time > 0.0 && score.is_finite()).then_some(score)
}

/// Probability of still being watched at a time (Kaplan and Meier 1958, with the censored rows as events).
struct Watched {
    /// Times at which rows were censored, and the share that is left from then on.
    steps: Vec<(f64, f64)>,
}

impl Watched {
    fn of(rows: &[Lifetime]) -> Self {
        let mut sorted: Vec<&Lifetime> = rows.iter().collect();
        sorted.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut steps = Vec::new();
        let (mut share, mut first) = (1.0, 0);
        while first < sorted.len() {
            let time = sorted[first].time;
            let last = first + sorted[first..].partition_point(|row| row.time == time);
            let ended = sorted[first..last]
                .iter()
                .filter(|row| row.observed)
                .count();
            let lost = last - first - ended;
            if lost > 0 {
                // Whoever ends at a time is gone before those that are lost then.
                let at_risk = sorted.len() - first - ended;
                share *= 1.0 - lost as f64 / at_risk as f64;
                steps.push((time, share));
            }
            first = last;
        }
        Self { steps }
    }

    /// The share still watched just before a time, or `after` it.
    fn share(&self, time: f64, after: bool) -> f64 {
        let passed = self
            .steps
            .partition_point(|(own, _)| *own < time || (after && *own == time));
        match passed {
            0 => 1.0,
            _ => self.steps[passed - 1].1,
        }
    }
}

/// Quartiles of the lifetimes that were observed, each once.
pub(super) fn quartiles(rows: &[Lifetime]) -> Vec<f64> {
    let observed = rows.iter().filter(|row| row.observed);
    let mut times: Vec<f64> = observed.map(|row| row.time).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((share * times.len() as f64) as usize).copied();
    let mut quartiles: Vec<f64> = [0.25, 0.5, 0.75].into_iter().filter_map(at).collect();
    quartiles.dedup();
    quartiles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Lifetime> {
        (0..60)
            .map(|i| Lifetime {
                time: f64::from((i * 37) % 11 + 1),
                observed: (i * 7) % 3 != 0,
                expected: f64::from((i * 29) % 13),
            })
            .collect()
    }

    #[test]
    fn concordance_counts_every_pair() {
        let rows = rows();
        let (mut pairs, mut right) = (0.0, 0.0);
        for a in &rows {
            for b in &rows {
                let shorter = a.time < b.time || (a.time == b.time && !b.observed);
                if a.observed && shorter {
                    pairs += 1.0;
                    right += match a.expected.total_cmp(&b.expected) {
                        std::cmp::Ordering::Less => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Greater => 0.0,
                    };
                }
            }
        }
        assert_eq!(concordance(&rows), Some(right / pairs));
        let censored: Vec<Lifetime> = rows
            .iter()
            .map(|row| Lifetime {
                observed: false,
                ..*row
            })
            .collect();
        assert_eq!(concordance(&censored), None);
    }

    #[test]
    fn without_censoring_the_brier_score_is_a_squared_error() {
        let mut rows = rows();
        rows.iter_mut().for_each(|row| row.observed = true);
        let survival: Vec<f64> = (0..60).map(|i| f64::from(i) / 60.0).collect();
        let plain: f64 = rows
            .iter()
            .zip(&survival)
            .map(|(row, s)| (s - f64::from(u8::from(row.time > 5.0))).powi(2) / 60.0)
            .sum();
        let found = brier_at(&rows, &survival, 5.0).unwrap_or(f64::NAN);
        assert!((found - plain).abs() < 1e-12);
    }

    #[test]
    fn censored_rows_are_made_up_for() {
        // Rows at 1 (lost), 2 (ended), 3 (still there), 4: half of those at risk after 1 stand for the lost one.
        let row = |time: f64, observed: bool| Lifetime {
            time,
            observed,
            expected: 0.0,
        };
        let rows = [
            row(1.0, false),
            row(2.0, true),
            row(3.0, true),
            row(4.0, true),
        ];
        let survival = [0.9, 0.4, 0.6, 0.8];
        let share = 0.75;
        let plain = (0.16 / share + 0.16 / share + 0.04 / share) / 4.0;
        let found = brier_at(&rows, &survival, 2.5).unwrap_or(f64::NAN);
        assert!((found - plain).abs() < 1e-12, "{found} {plain}");
        assert_eq!(quartiles(&rows), [2.0, 3.0, 4.0]);
    }
}
