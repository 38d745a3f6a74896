//! A first guess of a period: the strongest wave in the targets along a column.

/// Rows looked at; more would only cost time.
const MOST_ROWS: usize = 500;
/// Waves tried.
const FREQUENCIES: usize = 1000;

/// The period of the sine wave that explains most of the targets, after a straight line is taken out (the
/// periodogram of Lomb 1976 and Scargle 1982, without its shift of the origin). None when there is too little to see.
pub(super) fn strongest_period(x: &[f64], targets: &[f64]) -> Option<f64> {
    let step = x.len().div_ceil(MOST_ROWS).max(1);
    let points: Vec<(f64, f64)> = x
        .iter()
        .copied()
        .zip(targets.iter().copied())
        .step_by(step)
        .collect();
    let low = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let range = high - low;
    if points.len() < 8 || !(range.is_finite() && range > 0.0) {
        return None;
    }
    let rest = without_line(&points);
    // From one turn over the whole range to a turn for every three rows, as many waves as rows can tell apart.
    let fastest = points.len() as f64 / 3.0;
    let power = |turns: f64| {
        let (mut with_sine, mut with_cosine, mut sines, mut cosines) = (0.0, 0.0, 0.0, 0.0);
        for ((x, _), y) in points.iter().zip(&rest) {
            let (sine, cosine) = (std::f64::consts::TAU * turns * (x - low) / range).sin_cos();
            with_sine += y * sine;
            with_cosine += y * cosine;
            sines += sine * sine;
            cosines += cosine * cosine;
        }
        let share = |product: f64, square: f64| {
            if square > 1e-9 {
                product * product / square
            } else {
                0.0
            }
        };
        share(with_sine, sines) + share(with_cosine, cosines)
    };
    let mut best = (0.0, 1.0);
    for k in 0..FREQUENCIES {
        let turns = 1.0 + (fastest - 1.0) * k as f64 / FREQUENCIES as f64;
        let found = power(turns);
        if found > best.0 {
            best = (found, turns);
        }
    }
    (best.0 > 0.0).then(|| range / best.1)
}

/// The targets less the straight line through them.
fn without_line(points: &[(f64, f64)]) -> Vec<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / count;
    let (mut products, mut squares) = (0.0, 0.0);
    for (x, y) in points {
        products += (x - mean_x) * (y - mean_y);
        squares += (x - mean_x) * (x - mean_x);
    }
    let slope = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    points
        .iter()
        .map(|(x, y)| y - mean_y - slope * (x - mean_x))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_on_a_slope_is_found() {
        let x: Vec<f64> = (0..300)
            .map(|k| (k as f64 * 0.618_034).fract() * 3.4 - 1.7)
            .collect();
        let y: Vec<f64> = x
            .iter()
            .map(|x| 0.8 * x + (std::f64::consts::TAU * x / 0.37).sin())
            .collect();
        let period = strongest_period(&x, &y);
        assert!(
            period.is_some_and(|p| (p - 0.37).abs() < 0.01),
            "{period:?}"
        );
    }

    #[test]
    fn nothing_is_found_where_nothing_can_be_seen() {
        assert_eq!(strongest_period(&[], &[]), None);
        assert_eq!(strongest_period(&[1.0; 20], &[2.0; 20]), None);
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(strongest_period(&x, &[0.0; 20]), None);
    }
}
