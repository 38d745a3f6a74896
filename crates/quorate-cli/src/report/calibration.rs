//! Does the model know what it does not know: PIT, reliability, and the widths of its intervals.

use quorate::diagnose::Diagnosis;

use super::{Page, html};
use crate::plot::{Figure, Mark};
use crate::text::significant;

/// Two and a half standard deviations: what chance explains.
pub(super) const CHANCE: f64 = 2.5;

/// The section.
pub fn section(page: &Page<'_>) -> String {
    let Some(found) = page.diagnosis else {
        return String::new();
    };
    let target = &page.inspection.target.name;
    html::section(
        "Calibration",
        "calibration",
        &html::cards(&[
            html::figure(
                &histogram(&found.pit, found.scores.n),
                "Where targets fall in their predicted distribution. Flat is calibrated; a valley means intervals too \
                 narrow, a hill too wide, a slope means bias.",
            ),
            html::figure(
                &reliability(found),
                "Share of targets inside intervals of each probability. On the diagonal, intervals hold what they promise; \
                 below it they are too narrow.",
            ),
            html::figure(
                &widths(target, found),
                "Widths of the 95 % intervals. Narrow is good as long as the coverage is right. The widest hundredth is in \
                 the last bar.",
            ),
            html::figure(
                &honesty(found),
                "Rows in about ten classes by predicted deviation: where the model is unsure, errors should be as large \
                 as it says.",
            ),
        ]),
    )
}

/// Where targets fall in their predicted distribution.
pub(super) fn histogram(pit: &[f64], rows: usize) -> Figure {
    let bars = pit.len() as f64;
    let expected = 1.0 / bars;
    let chance = CHANCE * (expected * (1.0 - expected) / rows as f64).sqrt() * bars;
    let steps = pit.iter().enumerate().map(|(index, share)| {
        let index = index as f64;
        (index / bars, (index + 1.0) / bars, share * bars)
    });
    let highest = pit
        .iter()
        .fold(1.0 + chance, |most, share| most.max(share * bars));
    let mut figure = Figure::new(
        "Probability integral transform",
        "predicted probability of a smaller target",
        "density",
    )
    .described("Histogram of the predicted distribution function at the targets, 1 everywhere when calibrated.")
    .with("targets", Mark::Bars(steps.collect()))
    .with(
        "what chance explains",
        Mark::Band(vec![
            (0.0, (1.0 - chance).max(0.0), 1.0 + chance),
            (1.0, (1.0 - chance).max(0.0), 1.0 + chance),
        ]),
    )
    .with("", Mark::Dashes(vec![(0.0, 1.0), (1.0, 1.0)]));
    figure.x.range = Some((0.0, 1.0));
    figure.y.range = Some((0.0, highest * 1.08));
    figure
}

fn reliability(found: &Diagnosis) -> Figure {
    let rows = found.scores.n as f64;
    let band = (0..=40).map(|step| {
        let level = f64::from(step) / 40.0;
        let chance = CHANCE * (level * (1.0 - level) / rows).sqrt();
        (level, (level - chance).max(0.0), (level + chance).min(1.0))
    });
    let mut line = vec![(0.0, 0.0)];
    line.extend(&found.reliability);
    line.push((1.0, 1.0));
    let mut figure = Figure::new(
        "Reliability of intervals",
        "probability of the interval",
        "share of targets inside",
    )
    .described("Share of targets inside central intervals over the probability of the interval; the diagonal when calibrated.")
    .with("what chance explains", Mark::Band(band.collect()))
    .with("", Mark::Dashes(vec![(0.0, 0.0), (1.0, 1.0)]))
    .with("seen", Mark::Line(line))
    .with("", Mark::Points(found.reliability.clone()));
    figure.x.range = Some((0.0, 1.0));
    figure.y.range = Some((0.0, 1.0));
    figure
}

/// A histogram of the sampled rows' interval widths.
fn widths(target: &str, found: &Diagnosis) -> Figure {
    const BARS: usize = 30;
    let mut values: Vec<f64> = found
        .sample
        .iter()
        .map(|row| 2.0 * 1.959_964 * row.deviation)
        .collect();
    values.sort_by(f64::total_cmp);
    // One far row would leave a single bar for all the others.
    let last = values.len().saturating_sub(1 + values.len() / 100);
    let (low, high) = match (values.first(), values.get(last)) {
        (Some(low), Some(high)) if high > low => (*low, *high),
        (Some(low), _) => (low - 0.5 * low.abs(), low + 0.5 * low.abs().max(1e-300)),
        _ => (0.0, 1.0),
    };
    let step = (high - low) / BARS as f64;
    let mut counts = [0.0; BARS];
    for value in &values {
        let bar = ((value - low) / step).max(0.0) as usize;
        counts[bar.min(BARS - 1)] += 1.0 / values.len() as f64;
    }
    let bars = counts
        .iter()
        .enumerate()
        .map(|(index, share)| {
            let left = low + step * index as f64;
            (left, left + step, 100.0 * share)
        })
        .collect();
    let middle = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    let most = counts
        .iter()
        .fold(0.0, |most: f64, share| most.max(100.0 * share));
    let mut figure = Figure::new(
        "Width of intervals",
        format!("width of the 95 % interval of {target}"),
        "share of rows, %",
    )
    .described(format!(
        "Histogram of the widths of 95 % intervals, between {} and {}, half of them below {}.",
        significant(low, 3),
        significant(high, 3),
        significant(middle, 3)
    ))
    .with("rows", Mark::Bars(bars))
    .with(
        "median",
        Mark::Dashes(vec![(middle, 0.0), (middle, most * 1.05)]),
    );
    figure.y.range = Some((0.0, most * 1.08));
    figure
}

fn honesty(found: &Diagnosis) -> Figure {
    let points: Vec<(f64, f64)> = found
        .widths
        .iter()
        .filter(|class| class.predicted > 0.0)
        .map(|class| (class.predicted, class.seen))
        .collect();
    let least = points
        .iter()
        .map(|row| row.0.min(row.1))
        .fold(f64::INFINITY, f64::min);
    let most = points
        .iter()
        .map(|row| row.0.max(row.1))
        .fold(0.0, f64::max);
    let mut figure = Figure::new(
        "Sure when right, unsure when wrong",
        "predicted standard deviation",
        "root mean squared error",
    )
    .described("Root mean squared error over predicted standard deviation, for rows of about equal predicted deviation.")
    .with("as predicted", Mark::Dashes(vec![(least, least), (most, most)]))
    .with("", Mark::Line(points.clone()))
    .with("classes of rows", Mark::Points(points));
    // Equal factors are equal steps where deviations span more than a few times their size.
    let wide = least > 0.0 && most > 4.0 * least;
    figure.x.logarithmic = wide;
    figure.y.logarithmic = wide;
    figure
}
