//! Counting what a run of tests says about itself.

use std::path::Path;

/// How many checks passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Tally {
    /// Takes in one line of a test program's output; only its closing line counts:
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub fn read_line(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let counts = result.split_once(". ").map_or(result, |(_, counts)| counts);
        for part in counts.split("; ") {
            let Some((count, what)) = part.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.parse::<usize>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.skipped += count,
                _ => {}
            }
        }
    }

    /// Takes in one line of pytest's output; only its closing line counts: `12 passed, 1 skipped, 3 warnings in 4.56s`.
    pub fn read_pytest_line(&mut self, line: &str) {
        let Some((counts, seconds)) = line.trim_matches(['=', ' ']).rsplit_once(" in ") else {
            return;
        };
        if !seconds.contains('s') || !seconds.starts_with(|c: char| c.is_ascii_digit()) {
            return;
        }
        let parts: Option<Vec<(usize, &str)>> = counts
            .split(", ")
            .map(|part| {
                let (count, what) = part.split_once(' ')?;
                Some((count.parse().ok()?, what))
            })
            .collect();
        for (count, what) in parts.unwrap_or_default() {
            match what {
                "passed" | "xpassed" => self.passed += count,
                "failed" | "error" | "errors" => self.failed += count,
                "skipped" | "xfailed" | "deselected" => self.skipped += count,
                _ => {}
            }
        }
    }

    /// Moves the tests that returned early for want of data from passed to skipped.
    pub fn move_to_skipped(&mut self, count: usize) {
        self.passed = self.passed.saturating_sub(count);
        self.skipped += count;
    }

    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// The lines that tests wrote into the skip log, one for each test that found no data.
pub fn skipped_tests(log: &Path) -> Vec<String> {
    std::fs::read_to_string(log)
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up_and_other_lines_do_not_count() {
        let mut tally = Tally::default();
        for line in [
            "running 4 tests",
            "test kernel::tests::three_passed ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1.25s",
        ] {
            tally.read_line(line);
        }
        assert_eq!(tally.to_string(), "13 passed, 2 failed, 1 skipped");
        tally.move_to_skipped(4);
        assert_eq!(tally.to_string(), "9 passed, 2 failed, 5 skipped");
    }

    #[test]
    fn the_closing_line_of_pytest_counts_and_others_do_not() {
        let mut tally = Tally::default();
        for line in [
            "....F [100%]",
            "FAILED python/tests/test_x.py::test_9 - 3 passed in the end",
            "1 failed, 131 passed, 2 skipped, 7 warnings in 33.10s",
            "========= 5 passed, 1 error in 61.02s (0:01:01) =========",
        ] {
            tally.read_pytest_line(line);
        }
        assert_eq!(tally.to_string(), "136 passed, 2 failed, 2 skipped");
    }
}
