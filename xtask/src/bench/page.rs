//! The page of results.

use std::fmt::Write as _;

use super::goals::{Goal, ceiling};
use super::measurement::Measurement;

/// Each piece of work with everybody's times, then the goals.
pub fn page(ours: &[Measurement], theirs: &[Measurement], goals: &[Goal], heading: &str) -> String {
    let mut page = format!("# Exact Gaussian-process regression: measured times\n\n{heading}\n");
    page +=
        "| work | tool | wall s | processor s | ratio | processor ratio | gflop/s | peak MB |\n";
    page += "|---|---|---:|---:|---:|---:|---:|---:|\n";
    for our in ours {
        page += &row(our, None);
        for peer in theirs.iter().filter(|one| one.work == our.work) {
            page += &row(peer, Some(our));
        }
    }
    page += "\nA ratio above 1 means that Quorate is faster by that factor. On a machine with other work to do, the ratio of\n";
    page += "processor seconds says more than that of wall-clock seconds.\n\n";
    page += "| goal | at least | measured | reached |\n|---|---:|---:|---|\n";
    for goal in goals {
        let measured = goal
            .measured
            .map_or("not measured".into(), |value| format!("{value:.2}"));
        let reached = if goal.reached() { "yes" } else { "no" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | {} | {measured} | {reached} |",
            goal.sentence, goal.least
        );
    }
    if let Some(ceiling) = ceiling(ours, theirs, "scikit-learn") {
        page += "\n";
        page += &ceiling;
    }
    page
}

fn row(one: &Measurement, ours: Option<&Measurement>) -> String {
    let shown = |value: Option<f64>, digits: usize| {
        value.map_or(String::new(), |value| format!("{value:.digits$}"))
    };
    format!(
        "| {} | {} | {:.4} | {:.4} | {} | {} | {} | {} |\n",
        one.work.title(),
        one.tool,
        one.wall,
        one.cpu,
        shown(ours.map(|our| one.wall / our.wall), 2),
        shown(ours.map(|our| one.cpu / our.cpu), 2),
        shown(one.gflops, 1),
        shown(one.peak_bytes.map(|bytes| bytes / 1e6), 0),
    )
}

#[cfg(test)]
mod tests {
    use super::super::measurement::Work;
    use super::*;

    #[test]
    fn peers_stand_below_us_with_their_ratio() {
        let ours = Measurement {
            work: Work::Evidence,
            tool: "quorate".into(),
            wall: 0.5,
            cpu: 0.4,
            rows: None,
            gflops: Some(40.0),
            peak_bytes: Some(2e8),
        };
        let peer = Measurement {
            tool: "scikit-learn".into(),
            wall: 2.0,
            cpu: 2.0,
            gflops: None,
            peak_bytes: None,
            ..ours.clone()
        };
        let goal = Goal {
            sentence: "speed".into(),
            least: 4.0,
            measured: Some(4.0),
        };
        let page = page(&[ours], &[peer], &[goal], "- machine: test\n");
        assert!(page.contains("| quorate | 0.5000 | 0.4000 |  |  | 40.0 | 200 |"));
        assert!(page.contains("| scikit-learn | 2.0000 | 2.0000 | 4.00 | 5.00 |  |  |"));
        assert!(page.contains("| speed | 4 | 4.00 | yes |"));
    }
}
