//! `quorate-fuzz TARGET|all [--seconds N] [--seed N] [--executions N]`.

use std::process::ExitCode;
use std::time::Duration;

use quorate_fuzz::{Settings, TARGETS, Target, corpus, drive};

const USAGE: &str = "usage: quorate-fuzz TARGET|all [--seconds 20] [--seed 0] [--executions N]";

fn main() -> ExitCode {
    drive::silence_panics();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = read_arguments(&words).and_then(|(targets, settings)| {
        // All at once: a clock for each would only make the whole test longer.
        std::thread::scope(|scope| {
            let started: Vec<_> = targets
                .into_iter()
                .map(|target| scope.spawn(|| run(target, &settings)))
                .collect();
            started.into_iter().try_for_each(|target| {
                target
                    .join()
                    .map_err(|_| "the driver itself panicked".to_owned())?
            })
        })
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read_arguments(words: &[String]) -> Result<(Vec<&'static Target>, Settings), String> {
    let mut settings = Settings {
        time: Duration::from_secs(20),
        seed: 0,
        executions: None,
        failures: corpus::home().join("failures"),
    };
    let mut words = words.iter();
    let name = words.next().ok_or_else(usage)?;
    while let Some(flag) = words.next() {
        let number = words.next().and_then(|text| text.parse::<u64>().ok());
        let number = number.ok_or_else(|| format!("{flag} needs a whole number\n{USAGE}"))?;
        match flag.as_str() {
            "--seconds" => settings.time = Duration::from_secs(number),
            "--seed" => settings.seed = number,
            "--executions" => settings.executions = Some(number),
            _ => return Err(usage()),
        }
    }
    let targets: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| name == "all" || target.name == name)
        .collect();
    if targets.is_empty() {
        return Err(usage());
    }
    Ok((targets, settings))
}

fn usage() -> String {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    format!("{USAGE}\ntargets: {}", names.join(", "))
}

fn run(target: &Target, settings: &Settings) -> Result<(), String> {
    let folder = target.corpus();
    let files = corpus::read(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let seeds: Vec<Vec<u8>> = files.into_iter().map(|(_, bytes)| bytes).collect();
    match drive::drive(target, &seeds, settings) {
        Err(error) => Err(format!("{}: {error}", settings.failures.display())),
        Ok(Ok(statistics)) => {
            println!(
                "fuzz {:<8} {:>10} executions, {:>8.0} a second, {:>4.1} % accepted, corpus {}",
                target.name,
                statistics.executions,
                statistics.rate(),
                100.0 * statistics.accepted as f64 / statistics.executions.max(1) as f64,
                statistics.corpus
            );
            Ok(())
        }
        Ok(Err(failure)) => Err(format!(
            "fuzz {}: execution {} of seed {} panics: {}\nthe shortened input is in {}",
            target.name,
            failure.execution,
            settings.seed,
            failure.message,
            failure.path.display()
        )),
    }
}
