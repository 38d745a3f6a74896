//! The page of results: means and standard errors over the seeds.

use std::fmt::Write as _;

use super::result::Run;
use super::sets::TABLES;

pub fn page(runs: &[Run], heading: &str) -> String {
    let mut page = format!(
        "# Committees on large tables: scores and processor seconds\n\n{heading}\n\
         Scores are in units of the training targets' standard deviation, means over the seeds with their standard\n\
         errors; seconds are processor seconds of learning and of answering the test rows, means over the seeds that ran here.\n\n\
         | table | tool | seeds | RMSE | NLPD | 95 % coverage | learning s | answering s | seconds relative to ours |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    for table in &TABLES {
        let here: Vec<&Run> = runs.iter().filter(|run| run.table == table.name).collect();
        let mut tools: Vec<&str> = Vec::new();
        for run in &here {
            if !tools.contains(&run.tool.as_str()) {
                tools.push(&run.tool);
            }
        }
        tools.sort_by_key(|tool| *tool != "quorate");
        let of = |tool: &str, value: fn(&Run) -> f64| {
            let values = here.iter().filter(|run| run.tool == tool);
            moments(&values.map(|run| value(run)).collect::<Vec<_>>())
        };
        let seconds = |tool: &str| -> Option<[f64; 2]> {
            let own = here.iter().filter(|run| run.tool == tool);
            let own: Vec<[f64; 2]> = own.filter_map(|run| run.seconds).collect();
            let mean =
                |place: usize| own.iter().map(|all| all[place]).sum::<f64>() / own.len() as f64;
            (!own.is_empty()).then(|| [mean(0), mean(1)])
        };
        let ours = seconds("quorate").map(|[fit, predict]| fit + predict);
        for tool in tools {
            let seeds = here.iter().filter(|run| run.tool == tool).count();
            let (rmse, nlpd) = (of(tool, |run| run.rmse), of(tool, |run| run.nlpd));
            // Writing to a string cannot fail.
            let _ = writeln!(
                page,
                "| {} | {tool} | {seeds} | {:.4} | {:.4}{} | {:.1} % | {} |",
                table.name,
                rmse.0,
                nlpd.0,
                error(nlpd.1),
                100.0 * of(tool, |run| run.coverage).0,
                match (seconds(tool), ours) {
                    (Some([fit, predict]), Some(ours)) => {
                        format!("{fit:.0} | {predict:.0} | {:.2}", (fit + predict) / ours)
                    }
                    _ => " | | ".to_owned(),
                }
            );
        }
    }
    page += "\n| goal | at most | measured | reached |\n|---|---:|---:|---|\n";
    for table in &TABLES {
        let ours = runs
            .iter()
            .find(|run| run.table == table.name && run.tool == "quorate" && run.seed == 0);
        if let (Some(goal), Some(run)) = (table.goal, ours) {
            let reached = if run.nlpd <= goal { "yes" } else { "no" };
            let _ = writeln!(
                page,
                "| NLPD on {}, seed 0 | {goal} | {:.4} | {reached} |",
                table.name, run.nlpd
            );
        }
    }
    page
}

/// The heading of a page that was written before.
pub fn heading(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("\n\n")?;
    let (heading, _) = rest.split_once("\nScores are in units")?;
    Some(heading)
}

fn error(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!(" +- {value:.4}"))
}

/// Mean and standard error; one value has no error.
fn moments(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (values.len() > 1).then(|| (square / (n - 1.0) / n).sqrt());
    (mean, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_their_standard_errors_and_goals_their_verdict() {
        let run = |tool: &str, seed: u64, nlpd: f64, fit: f64| Run {
            table: "pol".into(),
            tool: tool.into(),
            seed,
            rmse: 0.06,
            nlpd,
            coverage: 0.95,
            seconds: (fit > 0.0).then_some([fit, 0.0]),
        };
        let runs = [
            run("slow", 0, -1.0, 40.0),
            run("elsewhere", 0, -1.1, 0.0),
            run("quorate", 0, -1.4, 10.0),
            run("quorate", 1, -1.2, 10.0),
        ];
        let page = page(&runs, "- machine: one\n- threads: 2\n");
        assert_eq!(heading(&page), Some("- machine: one\n- threads: 2\n"));
        assert!(page.contains(
            "| pol | quorate | 2 | 0.0600 | -1.3000 +- 0.1000 | 95.0 % | 10 | 0 | 1.00 |"
        ));
        assert!(page.contains("| pol | slow | 1 | 0.0600 | -1.0000 | 95.0 % | 40 | 0 | 4.00 |"));
        assert!(page.contains("| pol | elsewhere | 1 | 0.0600 | -1.1000 | 95.0 % |  | |  |"));
        assert!(page.contains("| NLPD on pol, seed 0 | -1.36 | -1.4000 | yes |"));
        assert!(page.find("quorate | 2") < page.find("slow"));
    }
}
