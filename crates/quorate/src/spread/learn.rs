//! The spread that rows left out ask for.

use quorate_gp::data::{InputColumn, Inputs, Member};
use quorate_gp::posterior::LeaveOneOut;

use super::Spread;
use super::search::Search;
use super::tails::{Errors, Found};
use crate::score::STRONG;

/// Fewer rows do not say how a spread changes.
const LEAST_ROWS: usize = 400;
/// Weights of the penalty, of which the rows choose one.
const PENALTIES: [f64; 4] = [0.3, 3.0, 30.0, 300.0];
/// Every fold of the rows is foretold by the others.
const FOLDS: usize = 4;
/// Gain in log density per row that a spread must bring, on rows it has not seen.
const WORTH: f64 = 0.005;
/// The square of what 95 % of normal errors stay within.
const WITHIN: f64 = 3.841_458_820_694_124;
/// Greatest logarithm of a factor, either way.
pub(super) const WIDEST: f64 = 12.0;
/// Share of the rows beyond the range of factors that is kept, on either side.
const OUTLYING: f64 = 0.01;

/// Rows that were foretold without having been seen; the group of a member is its row among the inputs.
#[derive(Clone, Copy)]
pub(crate) struct Unseen<'a> {
    pub inputs: Inputs<'a>,
    pub columns: &'a [InputColumn],
    pub members: &'a [Member],
    pub answers: &'a LeaveOneOut,
}

/// A spread, and what it does for each row when it is learned from the other folds.
pub(crate) struct Lesson {
    pub spread: Spread,
    /// Factors of the rows' variances.
    pub factors: Vec<f64>,
}

/// Learns a spread where rows left out show one: where it makes rows it was not learned from likelier.
pub(crate) fn learn(rows: &Unseen<'_>) -> Option<Lesson> {
    if rows.members.len() < LEAST_ROWS {
        return None;
    }
    let search = Search::new(rows);
    let folds = folds(rows.members);
    let counts: Vec<f64> = rows.members.iter().map(|member| member.weight).collect();
    let all: f64 = counts.iter().sum();
    let none = vec![0.0; counts.len()];
    let plain: f64 = search.losses(&none, &counts).sum();

    // Usual errors alone say how wide answers are: tails are found first, then the spread without them, then tails anew.
    let level = Told::new(rows, &search, &counts, search.level(), none);
    let first = chosen(&search, &folds, &counts)?;
    let first = Told::new(rows, &search, &counts, first.weights, first.logarithms);
    let usual = search.reweighed(first.of_usual_errors(rows, &search, &counts));
    let second = chosen(&usual, &folds, &counts)?;
    let second = Told::new(rows, &search, &counts, second.weights, second.logarithms);
    let followed = if second.loss < first.loss {
        second
    } else {
        first
    };
    // Written so that what is not a number is no gain.
    let best = if level.loss - followed.loss >= WORTH * all {
        followed
    } else {
        level
    };
    (plain - best.loss >= WORTH * all).then(|| best.lesson(&search, &counts))
}

/// One factor with tails for rows too few to show how a spread changes: where they were foretold too surely, by more than luck.
pub(crate) fn learn_level(members: &[Member], answers: &LeaveOneOut) -> Option<Lesson> {
    let counts: Vec<f64> = members.iter().map(|member| member.weight).collect();
    let told = answers.variance.iter().zip(&answers.noise);
    let variances: Vec<f64> = told.map(|(own, noise)| (own + noise).max(1e-300)).collect();
    let errors = answers.target.iter().zip(&answers.mean).zip(&variances);
    let ratios: Vec<f64> = errors
        .map(|((target, mean), variance)| (target - mean).powi(2) / variance)
        .collect();
    let errors = Errors {
        ratios: &ratios,
        variances: &variances,
        counts: &counts,
    };
    let plain: f64 = ratios.iter().zip(&counts).map(|(r, w)| 0.5 * w * r).sum();
    let found = Found::new(&errors);
    let gain = plain - found.losses(&errors).sum::<f64>();
    let held = ratios.iter().zip(&counts).filter(|(r, _)| **r < WITHIN);
    let held: f64 = held.map(|(_, weight)| weight).sum();
    let is_sure = held < 0.95 * counts.iter().sum::<f64>();
    // Written so that what is not a number is no gain.
    (is_sure && gain >= STRONG).then(|| {
        let level = found.level.ln().clamp(-WIDEST, WIDEST);
        let spread = Spread {
            answers: vec![0.0],
            curve: vec![level],
            inputs: Vec::new(),
            range: (level, level),
            tails: Some(found.tails),
        };
        Lesson {
            spread,
            factors: vec![level.exp(); counts.len()],
        }
    })
}

/// A spread with the tails that go with it.
struct Told {
    /// Of the curve and the parabolas, by all rows.
    weights: Vec<f64>,
    /// Of each row, by the other folds.
    logarithms: Vec<f64>,
    found: Found,
    loss: f64,
}

impl Told {
    fn new(
        rows: &Unseen<'_>,
        search: &Search,
        counts: &[f64],
        weights: Vec<f64>,
        logarithms: Vec<f64>,
    ) -> Self {
        let (ratios, variances) = seen_with(rows, search, &logarithms);
        let errors = Errors {
            ratios: &ratios,
            variances: &variances,
            counts,
        };
        let found = Found::new(&errors);
        // The densities of errors in units of their deviations, and what these units are.
        let units = logarithms
            .iter()
            .zip(counts)
            .map(|(h, count)| 0.5 * count * h);
        let loss = found.losses(&errors).sum::<f64>() + units.sum::<f64>();
        Self {
            weights,
            logarithms,
            found,
            loss,
        }
    }

    /// How much of each row's squared error is that of a usual error.
    fn of_usual_errors(&self, rows: &Unseen<'_>, search: &Search, counts: &[f64]) -> Vec<f64> {
        let (ratios, variances) = seen_with(rows, search, &self.logarithms);
        let errors = Errors {
            ratios: &ratios,
            variances: &variances,
            counts,
        };
        self.found.weights(&errors).collect()
    }

    fn lesson(self, search: &Search, counts: &[f64]) -> Lesson {
        let level = self.found.level.ln();
        let lift = |own: f64| (own + level).clamp(-WIDEST, WIDEST);
        let (low, high) = range(&search.logarithms(&self.weights), counts);
        let mut spread = search.spread(&self.weights, (lift(low), lift(high)));
        spread.curve.iter_mut().for_each(|own| *own += level);
        spread.tails = Some(self.found.tails);
        Lesson {
            spread,
            factors: self.logarithms.iter().map(|own| lift(*own).exp()).collect(),
        }
    }
}

/// Squared errors in units of the rows' variances, and these, under a spread.
fn seen_with(rows: &Unseen<'_>, search: &Search, logarithms: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let told = rows.answers.variance.iter().zip(&rows.answers.noise);
    let variances = told.zip(logarithms);
    let variances = variances.map(|((latent, noise), h)| ((latent + noise) * h.exp()).max(1e-300));
    (search.ratios(logarithms).collect(), variances.collect())
}

/// The penalty that rows of other folds speak for, with what came of it.
fn chosen(search: &Search, folds: &[usize], all: &[f64]) -> Option<Tried> {
    let mut weights = search.start();
    let mut tried: Vec<Tried> = Vec::new();
    for penalty in PENALTIES {
        weights = search.climb(all, penalty, weights);
        let mut logarithms = vec![0.0; all.len()];
        for fold in 0..FOLDS {
            let others: Vec<f64> = all
                .iter()
                .zip(folds)
                .map(|(weight, own)| if *own == fold { 0.0 } else { *weight })
                .collect();
            let own = search.climb(&others, penalty, weights.clone());
            let told = search.logarithms(&own);
            let range = range(&told, &others);
            for (row, _) in folds.iter().enumerate().filter(|(_, own)| **own == fold) {
                logarithms[row] = told[row].clamp(range.0, range.1);
            }
        }
        tried.push(Tried {
            losses: search.losses(&logarithms, all).collect(),
            weights: weights.clone(),
            logarithms,
        });
    }
    strictest(tried)
}

/// What came of one penalty.
struct Tried {
    /// What each row loses when the other folds foretell it.
    losses: Vec<f64>,
    logarithms: Vec<f64>,
    /// By all rows.
    weights: Vec<f64>,
}

/// The last of the penalties, which rise, that is not worse than the best by more than one standard error.
///
/// A few rows far off decide most of a loss: what gains little more than chance there would make others too sure.
fn strictest(tried: Vec<Tried>) -> Option<Tried> {
    let total = |own: &Tried| own.losses.iter().sum::<f64>();
    let best = tried.iter().min_by(|a, b| total(a).total_cmp(&total(b)))?;
    let rows = best.losses.len() as f64;
    let close = tried.iter().rposition(|own| {
        let apart = own.losses.iter().zip(&best.losses).map(|(a, b)| a - b);
        let (sum, squares) = apart.fold((0.0, 0.0), |(s, q), d| (s + d, q + d * d));
        sum <= (squares - sum * sum / rows).max(0.0).sqrt()
    })?;
    tried.into_iter().nth(close)
}

/// Rows with the same inputs are in one fold.
fn folds(members: &[Member]) -> Vec<usize> {
    let mut groups: Vec<usize> = members.iter().map(|member| member.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let fold = |member: &Member| groups.partition_point(|group| *group < member.group) % FOLDS;
    members.iter().map(fold).collect()
}

/// The logarithms between which all but a few rows lie that count.
fn range(logarithms: &[f64], weights: &[f64]) -> (f64, f64) {
    let counted = logarithms.iter().zip(weights);
    let mut counted: Vec<f64> = counted
        .filter(|(_, w)| **w > 0.0)
        .map(|(l, _)| *l)
        .collect();
    counted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| -> f64 {
        let place = (share * counted.len().saturating_sub(1) as f64).round() as usize;
        counted
            .get(place)
            .map_or(0.0, |own| own.clamp(-WIDEST, WIDEST))
    };
    (at(OUTLYING), at(1.0 - OUTLYING))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use quorate_gp::data::ColumnKind;

    use super::*;
    use crate::prediction::standard_quantile;

    /// Rows in two columns whose deviation is known, and what was foretold of them: a variance of one.
    struct Rows {
        values: Vec<f64>,
        members: Vec<Member>,
        answers: LeaveOneOut,
    }

    fn rows(count: usize, deviation: impl Fn(f64, f64) -> f64) -> Rows {
        let mut found = Rows {
            values: Vec::new(),
            members: Vec::new(),
            answers: LeaveOneOut::default(),
        };
        // Steps of irrational numbers fill the square evenly.
        let share = |row: usize, step: f64| ((row as f64 + 0.5) * step).fract();
        for row in 0..count {
            let answer = 4.0 * share(row, 0.618_033_988_7) - 2.0;
            let input = 3.0 * share(row, 0.414_213_562_4) - 1.5;
            let normal = standard_quantile(share(row, 0.732_050_807_6).clamp(1e-6, 1.0 - 1e-6));
            let target = answer + deviation(answer, input) * normal;
            found.values.extend([7.0, input]);
            found.members.push(Member {
                row,
                group: row,
                target,
                weight: 1.0,
            });
            found.answers.target.push(target);
            found.answers.mean.push(answer);
            found.answers.variance.push(0.4);
            found.answers.noise.push(0.6);
        }
        found
    }

    fn learned(rows: &Rows) -> Option<Lesson> {
        let column = |name: &str| InputColumn {
            name: name.to_owned(),
            kind: ColumnKind::Number,
            deviation: 1.0,
        };
        learn(&Unseen {
            inputs: Inputs::new(&rows.values, rows.members.len(), 2).unwrap(),
            columns: &[column("a"), column("b")],
            members: &rows.members,
            answers: &rows.answers,
        })
    }

    #[test]
    fn a_spread_that_follows_answer_and_inputs_is_found() {
        let truth = |answer: f64, input: f64| (0.3 * answer - 0.4 * input).exp();
        let lesson = learned(&rows(4000, truth)).expect("the rows show it");
        let mut worst: f64 = 0.0;
        for answer in [-1.5, -0.5, 0.0, 0.8, 1.6] {
            for input in [-1.2, 0.0, 1.2] {
                let found = lesson.spread.factor(answer, &[7.0, input]).sqrt();
                worst = worst.max((found / truth(answer, input) - 1.0).abs());
            }
        }
        // 4,000 rows, 20 numbers: a deviation is known to about 20 / (2 * 4000) in its square, 5 % in itself.
        assert!(worst < 0.1, "{worst}");
        assert!(lesson.spread.is_sound(2));
    }

    #[test]
    fn tails_are_told_apart_from_the_spread() {
        // One row in twenty is six times as far off as the others.
        let truth = |answer: f64| (0.5 * answer).exp();
        let mut own = rows(4000, |answer, _| truth(answer));
        for row in (0..4000).step_by(20) {
            let mean = own.answers.mean[row];
            let target = mean + 6.0 * (own.answers.target[row] - mean);
            own.answers.target[row] = target;
            own.members[row].target = target;
        }
        let lesson = learned(&own).expect("the rows show it");
        let tails = lesson.spread.tails.expect("they are learned with it");
        assert!((tails.wide - 0.05).abs() < 0.01, "{tails:?}");
        assert!((tails.factor / 36.0 - 1.0).abs() < 0.3, "{tails:?}");
        for answer in [-1.5, 0.0, 1.5] {
            let found = lesson.spread.factor(answer, &[7.0, 0.0]).sqrt();
            assert!((found / truth(answer) - 1.0).abs() < 0.1, "{found}");
        }
    }

    #[test]
    fn one_noise_that_suits_all_rows_is_left_alone() {
        assert!(learned(&rows(2000, |_, _| 1.0)).is_none());
    }

    #[test]
    fn few_rows_say_nothing_and_rows_without_error_stay_in_bounds() {
        assert!(learned(&rows(LEAST_ROWS - 1, |answer, _| answer.exp())).is_none());
        let lesson = learned(&rows(500, |_, _| 0.0)).expect("much too wide");
        assert!(lesson.spread.is_sound(2));
        assert!(
            lesson
                .factors
                .iter()
                .all(|factor| *factor > 0.0 && *factor < 1e-3)
        );
    }

    #[test]
    fn few_rows_that_were_foretold_too_surely_ask_for_wider_answers() {
        let learned = |deviation: f64| {
            let own = rows(60, |_, _| deviation);
            learn_level(&own.members, &own.answers)
        };
        // Three times as far off as was said.
        let lesson = learned(3.0).expect("the rows show it");
        let tails = lesson.spread.tails.expect("they are learned with it");
        let variance =
            lesson.spread.factor(0.7, &[7.0, 0.2]) * (1.0 + tails.wide * (tails.factor - 1.0));
        assert!((variance.sqrt() / 3.0 - 1.0).abs() < 0.2, "{variance}");
        assert!(lesson.spread.is_sound(2));
        assert_eq!(lesson.factors.len(), 60);
        // As far off as was said, and less.
        assert!(learned(1.0).is_none());
        assert!(learned(0.2).is_none());
        assert!(learn_level(&[], &LeaveOneOut::default()).is_none());
    }

    #[test]
    fn rows_with_the_same_inputs_are_in_one_fold() {
        let member = |group: usize| Member {
            row: 0,
            group,
            target: 0.0,
            weight: 1.0,
        };
        let members = [3, 9, 3, 4, 9, 12, 30].map(member);
        assert_eq!(folds(&members), [0, 2, 0, 1, 2, 3, 0]);
    }
}
