//! What happened so far, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets of response times, in seconds.
const BOUNDS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

/// Counters of a server.
#[derive(Default)]
pub struct Metrics {
    by_model: Mutex<BTreeMap<String, Counts>>,
}

#[derive(Default)]
struct Counts {
    /// Replies by status.
    replies: BTreeMap<u16, u64>,
    rows: u64,
    reloads: u64,
    failed_reloads: u64,
    buckets: [u64; BOUNDS.len()],
    seconds: f64,
}

impl Metrics {
    /// A request about a model was answered.
    pub fn answered(&self, model: &str, status: u16, rows: usize, took: Duration) {
        let mut counts = self.lock();
        let counts = counts.entry(model.to_owned()).or_default();
        *counts.replies.entry(status).or_default() += 1;
        counts.rows += rows as u64;
        counts.seconds += took.as_secs_f64();
        for (bucket, bound) in counts.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(took.as_secs_f64() <= bound);
        }
    }

    /// A model's file was replaced.
    pub fn reloaded(&self, model: &str, well: bool) {
        let mut counts = self.lock();
        let counts = counts.entry(model.to_owned()).or_default();
        match well {
            true => counts.reloads += 1,
            false => counts.failed_reloads += 1,
        }
    }

    /// All of it, and how many requests are being answered, as Prometheus reads it.
    pub fn text(&self, in_flight: usize) -> String {
        let mut out = String::new();
        let all = self.lock();
        let mut family = |name: &str, kind: &str, help: &str, lines: &dyn Fn(&mut String)| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            lines(&mut out);
        };
        family(
            "quorate_requests_total",
            "counter",
            "Inference requests answered.",
            &|out| {
                for (model, counts) in all.iter() {
                    for (status, count) in &counts.replies {
                        let _ = writeln!(
                            out,
                            "quorate_requests_total{{model=\"{model}\",code=\"{status}\"}} {count}"
                        );
                    }
                }
            },
        );
        family("quorate_rows_total", "counter", "Rows answered.", &|out| {
            for (model, counts) in all.iter() {
                let _ = writeln!(
                    out,
                    "quorate_rows_total{{model=\"{model}\"}} {}",
                    counts.rows
                );
            }
        });
        family(
            "quorate_reloads_total",
            "counter",
            "Model files that were replaced.",
            &|out| {
                for (model, counts) in all.iter() {
                    for (outcome, count) in
                        [("done", counts.reloads), ("failed", counts.failed_reloads)]
                    {
                        let _ = writeln!(
                            out,
                            "quorate_reloads_total{{model=\"{model}\",outcome=\"{outcome}\"}} {count}"
                        );
                    }
                }
            },
        );
        family(
            "quorate_request_seconds",
            "histogram",
            "Time from a request to its reply.",
            &|out| {
                for (model, counts) in all.iter() {
                    let total: u64 = counts.replies.values().sum();
                    let bounds = BOUNDS.iter().map(|bound| bound.to_string());
                    let buckets = counts.buckets.iter().copied();
                    for (bound, count) in bounds.zip(buckets).chain([("+Inf".to_owned(), total)]) {
                        let _ = writeln!(
                            out,
                            "quorate_request_seconds_bucket{{model=\"{model}\",le=\"{bound}\"}} {count}"
                        );
                    }
                    let _ = writeln!(
                        out,
                        "quorate_request_seconds_sum{{model=\"{model}\"}} {}",
                        counts.seconds
                    );
                    let _ = writeln!(
                        out,
                        "quorate_request_seconds_count{{model=\"{model}\"}} {total}"
                    );
                }
            },
        );
        family(
            "quorate_requests_in_flight",
            "gauge",
            "Inference requests being answered.",
            &|out| {
                let _ = writeln!(out, "quorate_requests_in_flight {in_flight}");
            },
        );
        out
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Counts>> {
        self.by_model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
