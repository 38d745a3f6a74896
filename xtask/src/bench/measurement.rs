//! One measurement: a line of JSON such as
//! `{"name": "evidence_gradient_n2000_d8", "tool": "scikit-learn", "wall_s": 1.2, "cpu_s": 1.2, "peak_bytes": 300000000}`.

use serde_json::{Map, Value};

use crate::process::Outcome;

/// What a contestant says about one piece of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    pub work: Work,
    pub tool: String,
    /// Wall-clock seconds.
    pub wall: f64,
    /// Processor seconds.
    pub cpu: f64,
    /// Rows of the problem, where the line says so.
    pub rows: Option<f64>,
    /// Thousand million floating-point operations a second.
    pub gflops: Option<f64>,
    /// The most memory in use, in bytes.
    pub peak_bytes: Option<f64>,
}

/// The work that is compared, recognised by a part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Evidence,
    Predict,
    Factorisation,
    MatrixProduct,
}

impl Work {
    pub fn title(self) -> &'static str {
        match self {
            Work::Evidence => "evidence and gradient, n = 2000, d = 8",
            Work::Predict => {
                "fit at fixed hyperparameters, mean and variance at 4000 rows, n = 4000"
            }
            Work::Factorisation => "Cholesky factorisation",
            Work::MatrixProduct => "matrix product",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [
            ("evidence", Work::Evidence),
            ("predict", Work::Predict),
            ("factorisation", Work::Factorisation),
            ("matrix_product", Work::MatrixProduct),
        ]
        .into_iter()
        .find_map(|(part, work)| name.contains(part).then_some(work))
    }
}

/// The measurements in a contestant's output; lines that are not JSON objects are talk.
pub fn read_lines(text: &str, default_tool: &str) -> Outcome<Vec<Measurement>> {
    let list = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| read_line(line, default_tool))
        .collect::<Outcome<Vec<_>>>()?;
    if list.is_empty() {
        return Err(format!("{default_tool} printed no measurement"));
    }
    Ok(list)
}

fn read_line(line: &str, default_tool: &str) -> Outcome<Measurement> {
    let wrong = |what: &str| format!("the measurement `{line}` {what}");
    let value: Value = serde_json::from_str(line).map_err(|_| wrong("is not JSON"))?;
    let object = value.as_object().ok_or_else(|| wrong("is no object"))?;
    let name = text(object, &["name", "task"]).ok_or_else(|| wrong("has no name"))?;
    let mut tool = text(object, &["tool"]).unwrap_or_else(|| default_tool.into());
    if let Some(version) = text(object, &["version"]) {
        tool = format!("{tool} {version}");
    }
    Ok(Measurement {
        work: Work::of(&name).ok_or_else(|| wrong("measures unknown work"))?,
        tool,
        wall: number(object, &["wall_s", "wall_seconds"]).ok_or_else(|| wrong("has no wall_s"))?,
        cpu: number(object, &["cpu_s", "cpu_seconds"]).ok_or_else(|| wrong("has no cpu_s"))?,
        rows: number(object, &["n"]).or_else(|| rows_in(&name)),
        gflops: number(object, &["gflops"]),
        peak_bytes: number(object, &["peak_bytes"]),
    })
}

/// The rows in a name such as `predict_n4000_m4000`.
fn rows_in(name: &str) -> Option<f64> {
    name.split('_')
        .find_map(|part| part.strip_prefix('n')?.parse().ok())
}

fn text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter()
        .find_map(|key| object.get(*key)?.as_str().map(String::from))
}

fn number(object: &Map<String, Value>, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| object.get(*key)?.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_line_are_read() -> Outcome<()> {
        let ours = "{\"name\": \"evidence_gradient_n2000_d8\", \"wall_s\": 0.5, \"cpu_s\": 0.4}";
        let theirs = "{\"task\": \"sklearn_evidence\", \"tool\": \"scikit-learn\", \"version\": \"1.9.1\", \
                      \"n\": 2000, \"wall_seconds\": 2, \"cpu_seconds\": 2}";
        let ours = read_lines(ours, "quorate")?;
        let theirs = read_lines(theirs, "peer")?;
        assert_eq!(ours[0].work, theirs[0].work);
        assert_eq!(ours[0].tool, "quorate");
        assert_eq!(ours[0].rows, Some(2000.0));
        assert_eq!(theirs[0].tool, "scikit-learn 1.9.1");
        assert_eq!(theirs[0].rows, Some(2000.0));
        Ok(())
    }

    #[test]
    fn a_line_without_a_time_or_with_unknown_work_is_refused() {
        assert!(read_lines("{\"name\": \"evidence\"}", "quorate").is_err());
        assert!(
            read_lines(
                "{\"name\": \"tea\", \"wall_s\": 1, \"cpu_s\": 1}",
                "quorate"
            )
            .is_err()
        );
        assert!(read_lines("{\"task\": \"evidence\", \"error\": \"no torch\"}", "peer").is_err());
        assert!(read_lines("nothing here", "quorate").is_err());
    }
}
