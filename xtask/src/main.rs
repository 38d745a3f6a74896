//! The project's table of contents: what README and the continuous integration call.
//!
//! Nothing to install first: `cargo xtask` is an alias for running this small program, which depends on the standard
//! library and `serde_json` only, and starts `cargo`, `git` and `python3` as they are found on the path.

mod bench;
mod docs;
mod golden;
mod options;
mod policy;
mod process;
mod programs;
mod python;
mod suite;
mod tally;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
Tasks of the Quorate workspace

Usage: cargo xtask TASK [OPTIONS]

Tasks:
  test      every check: formatting, policy, clippy, documentation, tests, the Python package, fuzzing
      --require-data   fail when the data folder is missing or a test was skipped for lack of it
      --full           also the long tests (those marked ignored) and ten minutes for each fuzz target
      --only STEP      one step: format, policy, clippy, docs, tests, python or fuzz
  policy    licences, banned and duplicate crates, layers, lints, file sizes, paths, spelling
  golden    compare the reference numbers in golden/ with the software that made them
  bench     exact, committee: measure against other software; plan, growth: what fits take; pages go to benches/
      exact            exact Gaussian-process regression
      committee        large tables; --only TABLE,.. --tools quorate,PEER,.. --seeds N --fresh
      --threads N      threads for every contestant (default: all cores)
  docs      build the documentation of the workspace
      --open           and show it in a browser

Environment:
  QUORATE_DATA     folder of the real data sets (default: shared/data beside the repository)
  QUORATE_PYTHON   a Python with the packages of golden/requirements.txt, so that none has to be installed
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let task = words.next().unwrap_or_else(|| String::from("--help"));
    let rest: Vec<String> = words.collect();
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let outcome = match task.as_str() {
        "test" => suite::run(&rest),
        "policy" => policy::run(&rest),
        "golden" => golden::run(&rest),
        "bench" => bench::run(&rest),
        "docs" => docs::run(&rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("xtask: there is no task `{other}`; `cargo xtask --help` lists them");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
