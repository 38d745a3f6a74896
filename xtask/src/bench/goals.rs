//! What the numbers should show.

use super::measurement::{Measurement, Work};

/// A goal and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    pub sentence: String,
    /// The least that is asked for.
    pub least: f64,
    /// None when a measurement is missing, which counts as not reached.
    pub measured: Option<f64>,
}

impl Goal {
    pub fn reached(&self) -> bool {
        self.measured.is_some_and(|value| value >= self.least)
    }
}

/// The goals of exact regression, with what the measurements say about each.
pub fn check(ours: &[Measurement], theirs: &[Measurement]) -> Vec<Goal> {
    let our = |work| ours.iter().find(|one| one.work == work);
    let faster = |work: Work, tool: &str, least: f64| Goal {
        sentence: format!("times faster than {tool}: {}", work.title()),
        least,
        measured: theirs
            .iter()
            .find(|one| one.work == work && one.tool.starts_with(tool))
            .zip(our(work))
            .map(|(peer, our)| peer.wall / our.wall),
    };
    let rate = |work| our(work).and_then(|one: &Measurement| one.gflops);
    let memory = our(Work::Predict).and_then(|one| {
        // In units of the goal: 3 n^2 doubles over what was used.
        Some(3.0 * 8.0 * one.rows?.powi(2) / one.peak_bytes?)
    });
    vec![
        faster(Work::Evidence, "scikit-learn", 4.0),
        faster(Work::Predict, "scikit-learn", 3.0),
        faster(Work::Predict, "GPyTorch", 1.0),
        Goal {
            sentence: "rate of the factorisation as a share of the matrix product's".into(),
            least: 0.6,
            measured: rate(Work::Factorisation)
                .zip(rate(Work::MatrixProduct))
                .map(|(factorisation, product)| factorisation / product),
        },
        Goal {
            sentence: "3 n^2 doubles as a multiple of the peak memory of fit and predict".into(),
            least: 1.0,
            measured: memory,
        },
    ]
}

/// How much faster than a peer an answer could be at all: the operations that nobody can avoid, at the rate of the fastest
/// matrix product of the same run.
pub fn ceiling(ours: &[Measurement], theirs: &[Measurement], tool: &str) -> Option<String> {
    let all = || ours.iter().chain(theirs);
    let products = all().filter(|one| one.work == Work::MatrixProduct);
    let rate = products.filter_map(|one| one.gflops).reduce(f64::max)?;
    let rows = ours.iter().find(|one| one.work == Work::Predict)?.rows?;
    // A factor, and a triangular system for each of as many questions as rows.
    let operations = rows.powi(3) / 3.0 + rows.powi(3);
    let least = operations / (rate * 1e9);
    let peer = theirs
        .iter()
        .find(|one| one.work == Work::Predict && one.tool.starts_with(tool))?;
    Some(format!(
        "Factor and variances of {rows} rows are {:.0} billion operations. At the rate of the fastest matrix product of this\n\
         run, {rate:.0} billion a second, they take {least:.2} s: nothing that answers exactly can be more than {:.1} times \
         faster than\n{tool} here.\n",
        operations / 1e9,
        peer.wall / least
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(work: Work, tool: &str, wall: f64) -> Measurement {
        Measurement {
            work,
            tool: tool.into(),
            wall,
            cpu: wall,
            rows: Some(4000.0),
            gflops: Some(10.0 / wall),
            peak_bytes: Some(1e8),
        }
    }

    #[test]
    fn goals_are_reached_missed_or_not_measured() {
        let ours = [
            measured(Work::Evidence, "quorate", 0.1),
            measured(Work::Predict, "quorate", 1.0),
            measured(Work::Factorisation, "quorate", 1.0),
            measured(Work::MatrixProduct, "quorate", 0.5),
        ];
        let theirs = [
            measured(Work::Evidence, "scikit-learn 1.9.1", 0.5),
            measured(Work::Predict, "scikit-learn 1.9.1", 2.0),
        ];
        // 85.3 billion operations at 20 billion a second.
        let ceiling = ceiling(&ours, &theirs, "scikit-learn").unwrap_or_default();
        assert!(ceiling.contains("take 4.27 s"), "{ceiling}");
        assert!(ceiling.contains("than 0.5 times"), "{ceiling}");
        let goals = check(&ours, &theirs);
        let verdicts: Vec<(bool, Option<f64>)> = goals
            .iter()
            .map(|goal| (goal.reached(), goal.measured))
            .collect();
        assert_eq!(
            verdicts,
            [
                (true, Some(5.0)),
                (false, Some(2.0)),
                (false, None),
                (false, Some(0.5)),
                (true, Some(3.84))
            ]
        );
    }
}
