//! What one contestant did on one table: a line of JSON, kept so that hours of peers need not be repeated.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::Outcome;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub table: String,
    pub tool: String,
    pub seed: u64,
    pub rmse: f64,
    pub nlpd: f64,
    pub coverage: f64,
    /// Processor seconds of learning and of answering; none where it ran on another machine.
    pub seconds: Option<[f64; 2]>,
}

impl Run {
    pub fn to_line(&self) -> Value {
        json!({
            "table": self.table, "tool": self.tool, "seed": self.seed, "rmse": self.rmse, "nlpd": self.nlpd,
            "coverage_95": self.coverage, "fit_cpu_s": self.seconds.map(|own| own[0]), "predict_cpu_s": self.seconds.map(|own| own[1]),
        })
    }

    pub fn from_line(line: &Value) -> Option<Run> {
        let number = |key: &str| line[key].as_f64();
        Some(Run {
            table: line["table"].as_str()?.to_owned(),
            tool: line["tool"].as_str()?.to_owned(),
            seed: line["seed"].as_u64()?,
            rmse: number("rmse")?,
            nlpd: number("nlpd")?,
            coverage: number("coverage_95")?,
            seconds: match (number("fit_cpu_s"), number("predict_cpu_s")) {
                (Some(fit), Some(predict)) => Some([fit, predict]),
                (None, None) => None,
                _ => return None,
            },
        })
    }
}

/// The runs of earlier times; a line that cannot be read is an error, not a run less.
pub fn read(path: &Path) -> Outcome<Vec<Run>> {
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(Vec::new());
    };
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .enumerate()
        .map(|(number, line)| {
            serde_json::from_str(line)
                .ok()
                .as_ref()
                .and_then(Run::from_line)
                .ok_or_else(|| format!("{}:{}: not a run", path.display(), number + 1))
        })
        .collect()
}

/// Adds a run to the file at once: what was measured survives whatever comes next.
pub fn append(path: &Path, run: &Run) -> Outcome<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(failed)?;
    writeln!(file, "{}", run.to_line()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_comes_back_from_its_line() {
        let run = Run {
            table: "pol".into(),
            tool: "quorate".into(),
            seed: 2,
            rmse: 0.06,
            nlpd: -1.4,
            coverage: 0.95,
            seconds: Some([30.5, 3.25]),
        };
        assert_eq!(Run::from_line(&run.to_line()), Some(run.clone()));
        let elsewhere = Run {
            seconds: None,
            ..run
        };
        assert_eq!(Run::from_line(&elsewhere.to_line()), Some(elsewhere));
        assert_eq!(Run::from_line(&json!({ "table": "pol" })), None);
    }
}
