//! Each verb as a person would use it: what it prints, what it writes.
#![allow(clippy::unwrap_used)]

mod harness;

use harness::{Place, assert_only, rows};

const FIT: &str =
    "fit train.csv --target y --kernel se(ard)+category[site] --restarts 0 -o model.quorate";

/// Field names of scores, the contract of `evaluate --json`.
const SCORES: [&str; 15] = [
    "n",
    "rmse",
    "mae",
    "crps",
    "nlpd",
    "coverage_50",
    "coverage_90",
    "coverage_95",
    "width_50",
    "width_90",
    "width_95",
    "smse",
    "msll",
    "rmse_standardised",
    "nlpd_standardised",
];

fn with_train() -> Place {
    let place = Place::new();
    place.write("train.csv", rows(40, 1));
    place
}

/// Cells of a CSV text, header first.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| line.split(',').map(String::from).collect())
        .collect()
}

fn numbers(text: &str, column: &str) -> Vec<f64> {
    let table = cells(text);
    let index = table[0].iter().position(|name| name == column).unwrap();
    table[1..]
        .iter()
        .map(|row| row[index].parse().unwrap())
        .collect()
}

#[test]
fn fit_says_what_it_used_found_and_wrote() {
    let place = with_train();
    let outcome = place.run(FIT).ok();
    for piece in [
        "y from 40 rows and 3 inputs: a, b, site",
        "Kernel",
        "category",
        "Leave-one-out scores over 40 rows",
        "own units",
        "RMSE",
        "95 %",
        "Wrote model.quorate (",
    ] {
        assert!(
            outcome.stdout.contains(piece),
            "{piece}: {}",
            outcome.stdout
        );
    }
    assert!(
        !outcome.stdout.contains('\u{1b}'),
        "colours outside a terminal"
    );
    assert_eq!(outcome.stderr, "", "progress outside a terminal");
    assert_only(&place, &["model.quorate", "train.csv"]);
}

#[test]
fn quiet_commands_print_nothing_and_json_commands_one_object() {
    let place = with_train();
    let outcome = place.run(&format!("{FIT} -q")).ok();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let json = place.run(&format!("{FIT} --json")).ok().json();
    assert_eq!(json["rows"], 40);
    assert_eq!(json["inputs"], serde_json::json!(["a", "b", "site"]));
    assert_eq!(json["model"], "model.quorate");
    assert!(json["leave_one_out"]["rmse"].as_f64().unwrap() > 0.0);
    assert!(json["outcome"].as_str().unwrap().ends_with('.'));
}

#[test]
fn flags_choose_the_columns() {
    let place = with_train();
    let fit = |flags: &str| {
        let line = format!(
            "fit train.csv --target y --kernel se --learn none -o m.quorate --json {flags}"
        );
        place.run(&line).ok().json()["inputs"].clone()
    };
    assert_eq!(fit("--inputs b,a"), serde_json::json!(["b", "a"]));
    assert_eq!(fit("--ignore site,b"), serde_json::json!(["a"]));
    assert_eq!(fit("--inputs a --weight b"), serde_json::json!(["a"]));
    assert_eq!(fit("--ignore site --noise b"), serde_json::json!(["a"]));
}

#[test]
fn fit_reads_standard_input_and_shows_more_when_asked() {
    let place = with_train();
    place.run(&format!("{FIT} -q")).ok();
    let input = place.read("train.csv");
    let line = FIT
        .replace("train.csv", "-")
        .replace("model.quorate", "piped.quorate");
    let outcome = place.run_with(&format!("{line} -v"), &input).ok();
    assert_eq!(place.bytes("piped.quorate"), place.bytes("model.quorate"));
    assert!(
        outcome.stdout.contains("relevance") && outcome.stdout.contains("evaluations"),
        "{outcome:?}"
    );
}

#[test]
fn names_from_a_file_cannot_steer_the_terminal() {
    let place = Place::new();
    place.write("train.csv", rows(20, 1).replacen("a,b", "a\u{1b}[2J,b", 1));
    let outcome = place
        .run("fit train.csv --target y --kernel se --learn none -o m.quorate")
        .ok();
    let page = place.run("inspect m.quorate -v").ok();
    let error = place.run("fit train.csv --target z -o m.quorate");
    for text in [
        outcome.stdout,
        outcome.stderr,
        page.stdout,
        error.stdout,
        error.stderr,
    ] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn predict_writes_mean_deviation_and_interval() {
    let place = Place::with_model();
    let outcome = place.run("predict model.quorate test.csv -o out.csv").ok();
    assert_eq!(outcome.stdout, "Wrote out.csv: 15 rows\n");
    let text = place.read("out.csv");
    assert_eq!(cells(&text)[0], ["mean", "std", "lower", "upper"]);
    let (mean, std) = (numbers(&text, "mean"), numbers(&text, "std"));
    let (lower, upper) = (numbers(&text, "lower"), numbers(&text, "upper"));
    assert_eq!(mean.len(), 15);
    for row in 0..15 {
        // 1.959964 is the 97.5 % point of the normal distribution.
        assert!((upper[row] - mean[row] - 1.959_964 * std[row]).abs() < 1e-5 * std[row]);
        assert!((mean[row] - lower[row] - 1.959_964 * std[row]).abs() < 1e-5 * std[row]);
    }
    let bytes = place.bytes("out.csv");
    let piped = place.run("predict model.quorate test.csv").ok();
    assert_eq!(
        piped.stdout.as_bytes(),
        bytes,
        "standard output and file differ"
    );
    let dashed = place.run("predict model.quorate test.csv -o -").ok();
    assert_eq!(dashed.stdout, piped.stdout);
    let input = place.read("test.csv");
    let from_input = place.run_with("predict model.quorate -", &input).ok();
    assert_eq!(from_input.stdout, piped.stdout);
}

#[test]
fn latent_belief_is_narrower_and_quantiles_are_columns() {
    let place = Place::with_model();
    let noisy = place
        .run("predict model.quorate test.csv --interval 0.8 --quantiles 0.1,0.5,0.90")
        .ok()
        .stdout;
    let latent = place
        .run("predict model.quorate test.csv --latent")
        .ok()
        .stdout;
    assert_eq!(
        cells(&noisy)[0],
        ["mean", "std", "lower", "upper", "q0.1", "q0.5", "q0.90"]
    );
    assert_eq!(numbers(&noisy, "q0.5"), numbers(&noisy, "mean"));
    let close = |a: &str, b: &str| {
        let (a, b) = (numbers(&noisy, a), numbers(&noisy, b));
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9)
    };
    assert!(close("q0.1", "lower") && close("q0.90", "upper"));
    let (wide, narrow) = (numbers(&noisy, "std"), numbers(&latent, "std"));
    assert!(wide.iter().zip(&narrow).all(|(wide, narrow)| narrow < wide));
    assert_eq!(numbers(&noisy, "mean"), numbers(&latent, "mean"));
}

#[test]
fn kept_columns_come_first_and_stay_as_written() {
    let place = Place::with_model();
    place.write(
        "ids.csv",
        "id,a,b,site,when\n007,1.50,1,north,x\n010,2.0,0.5,west,y\n",
    );
    let some = place
        .run("predict model.quorate ids.csv --keep when,id")
        .ok()
        .stdout;
    let table = cells(&some);
    assert_eq!(table[0], ["when", "id", "mean", "std", "lower", "upper"]);
    assert_eq!(table[1][..2], ["x", "007"]);
    assert_eq!(table[2][..2], ["y", "010"]);
    let all = place
        .run("predict model.quorate ids.csv --keep all")
        .ok()
        .stdout;
    let table = cells(&all);
    assert_eq!(table[0][..5], ["id", "a", "b", "site", "when"]);
    assert_eq!(table[1][..5], ["007", "1.5", "1", "north", "x"]);
    place.write("clash.csv", "mean,a,b,site\n1,1,1,north\n");
    let clash = place.run("predict model.quorate clash.csv --keep mean");
    assert_eq!(clash.code, Some(1));
    assert!(clash.stderr.starts_with("clash.csv:mean: "), "{clash:?}");
}

#[test]
fn predictions_are_the_same_in_every_format() {
    let place = Place::with_model();
    let csv = place.run("predict model.quorate test.csv").ok().stdout;
    for name in ["out.csv", "out.csv.gz", "out.parquet", "out.arrow"] {
        place
            .run(&format!(
                "predict model.quorate test.csv --keep all -o {name}"
            ))
            .ok();
        // Read back: inputs and target are among the kept columns, so the file can be predicted and scored again.
        let json = place
            .run(&format!("predict model.quorate {name} --json"))
            .ok()
            .json();
        let rows = json["rows"].as_array().unwrap();
        let means: Vec<f64> = rows
            .iter()
            .map(|row| row["mean"].as_f64().unwrap())
            .collect();
        assert_eq!(means, numbers(&csv, "mean"), "{name}");
        let scores = place
            .run(&format!("evaluate model.quorate {name} --json"))
            .ok()
            .json();
        assert_eq!(scores["n"], 15, "{name}");
    }
}

#[test]
fn json_predictions_are_rows_with_types() {
    let place = Place::with_model();
    let json = place
        .run("predict model.quorate test.csv --keep site,a --json")
        .ok()
        .json();
    let csv = place.run("predict model.quorate test.csv").ok().stdout;
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 15);
    assert!(rows[0]["site"].is_string() && rows[0]["a"].is_f64());
    let means: Vec<f64> = rows
        .iter()
        .map(|row| row["mean"].as_f64().unwrap())
        .collect();
    assert_eq!(means, numbers(&csv, "mean"));
    let report = place
        .run("predict model.quorate test.csv -o out.csv --json")
        .ok()
        .json();
    assert_eq!(report["rows"], 15);
    assert_eq!(report["output"], "out.csv");
}

#[test]
fn evaluate_prints_every_score() {
    let place = Place::with_model();
    let json = place
        .run("evaluate model.quorate test.csv --json")
        .ok()
        .json();
    let names: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, SCORES);
    assert_eq!(json["n"], 15);
    let text = place.run("evaluate model.quorate test.csv").ok().stdout;
    let head = "Scores of model.quorate on 15 rows of test.csv\n";
    assert!(text.starts_with(head), "{text}");
    // RMSE by hand from the predictions.
    let mean = numbers(
        &place.run("predict model.quorate test.csv").ok().stdout,
        "mean",
    );
    let target = numbers(&place.read("test.csv"), "y");
    let squares: f64 = mean.iter().zip(&target).map(|(m, y)| (m - y).powi(2)).sum();
    let rmse = (squares / 15.0).sqrt();
    assert!((json["rmse"].as_f64().unwrap() - rmse).abs() < 1e-12);
}

#[test]
fn inspect_shows_the_model_and_its_specification_makes_it_again() {
    let place = with_train();
    place.run(&format!("{FIT} --seed 5")).ok();
    let page = place.run("inspect model.quorate").ok().stdout;
    for piece in [
        "model.quorate",
        "target",
        "40 rows",
        "kernel",
        "Inputs",
        "category, 3 levels",
        "relevance",
        "Learning",
    ] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    let quiet = place.run("inspect model.quorate -q").ok().stdout;
    assert_eq!(quiet, page, "what was asked for is printed");
    let json = place.run("inspect model.quorate --json").ok().json();
    assert_eq!(json["rows"], 40);
    assert_eq!(json["file"], "model.quorate");
    assert_eq!(json["bytes"], place.bytes("model.quorate").len());
    assert_eq!(json["spec"]["seed"], 5);
    let spec = place.run("inspect model.quorate --spec").ok().stdout;
    place.write("spec.json", &spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate")
        .ok();
    assert_eq!(place.bytes("again.quorate"), place.bytes("model.quorate"));
    place
        .run("fit train.csv --spec spec.json --seed 6 --kernel se -o other.quorate")
        .ok();
    let other = place.run("inspect other.quorate --json").ok().json();
    assert_eq!(other["spec"]["seed"], 6);
    assert_eq!(other["spec"]["kernel"], "se");
    assert_eq!(other["spec"]["restarts"], 0);
}

#[test]
fn inspect_shows_dates_as_dates() {
    let place = Place::new();
    place.run("generate categories -n 60 -o train.csv").ok();
    let kernel = "se(ard)[day,open,load]";
    place
        .run(&format!(
            "fit train.csv --target y --kernel {kernel} --learn none -o m.quorate"
        ))
        .ok();
    let page = place.run("inspect m.quorate").ok().stdout;
    let day = page
        .lines()
        .find(|line| line.trim().starts_with("day"))
        .unwrap();
    assert!(
        day.contains(" date ") && day.contains(" 202") && day.contains(" days"),
        "{page}"
    );
    assert!(
        page.lines()
            .any(|line| line.trim().starts_with("open") && line.contains(" boolean ")),
        "{page}"
    );
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    let place = Place::new();
    place
        .run("generate categories -n 300 --seed 4 -o train.csv")
        .ok();
    place
        .run("generate categories -n 1500 --seed 5 -o test.csv")
        .ok();
    for threads in [1, 2] {
        place
            .run(&format!(
                "fit train.csv --target y --restarts 1 --threads {threads} -o {threads}.quorate"
            ))
            .ok();
        place
            .run(&format!(
                "predict {threads}.quorate test.csv --threads {threads} -o {threads}.csv"
            ))
            .ok();
    }
    assert_eq!(place.bytes("1.quorate"), place.bytes("2.quorate"));
    assert_eq!(place.bytes("1.csv"), place.bytes("2.csv"));
}

#[test]
fn generate_makes_the_same_table_from_the_same_seed() {
    let place = Place::new();
    let outcome = place.run("generate friedman -n 30 --seed 1 -o a.csv").ok();
    assert!(
        outcome
            .stdout
            .starts_with("Wrote a.csv: 30 rows of friedman"),
        "{outcome:?}"
    );
    place.run("generate friedman -n 30 --seed 1 -o b.csv").ok();
    place.run("generate friedman -n 30 --seed 2 -o c.csv").ok();
    assert_eq!(place.bytes("a.csv"), place.bytes("b.csv"));
    assert_ne!(place.bytes("a.csv"), place.bytes("c.csv"));
    let printed = place.run("generate friedman -n 30 --seed 1").ok().stdout;
    assert_eq!(printed, place.read("a.csv"));
    let json = place.run("generate categories -n 3 --json").ok().json();
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
    let report = place
        .run("generate sine -n 7 -o s.parquet --json")
        .ok()
        .json();
    assert_eq!(
        (report["rows"].clone(), report["target"].clone()),
        (7.into(), "y".into())
    );
    let help = place.run("generate --help").ok().stdout;
    assert!(
        help.contains("friedman") && help.contains("5 of 10 inputs matter"),
        "{help}"
    );
}

#[test]
fn demo_fits_draws_and_says_what_to_type_next() {
    let place = Place::new();
    let outcome = place.run("demo").ok();
    for piece in [
        "A noisy sine with a gap",
        "░",
        "95 % interval",
        "held-out rows",
        "What to type next",
    ] {
        assert!(
            outcome.stdout.contains(piece),
            "{piece}: {}",
            outcome.stdout
        );
    }
    assert_only(&place, &["quorate-demo"]);
    let svg = place.read("quorate-demo/sine.svg");
    assert!(svg.starts_with("<svg") && svg.contains("95 % interval"));
    // What it says to type next works as typed.
    let next = outcome
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("quorate "));
    let commands: Vec<&str> = next
        .map(|line| line.split("   ").next().unwrap().trim())
        .filter(|line| !line.contains("YOUR"))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        place.run(command.split("  ").next().unwrap()).ok();
    }
    let json = place.run("demo --json --output other").ok().json();
    let runs = json["runs"].as_array().unwrap();
    for run in runs {
        let (rmse, noise) = (
            run["scores"]["rmse"].as_f64().unwrap(),
            run["noise"].as_f64().unwrap(),
        );
        assert!(rmse < 2.5 * noise, "{run}");
        assert!(
            run["scores"]["coverage_95"].as_f64().unwrap() > 0.85,
            "{run}"
        );
    }
}

#[test]
fn completions_know_the_verbs_of_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&format!("completions {shell}")).ok().stdout;
        assert!(
            script.contains("predict") && script.contains("quantiles"),
            "{shell}"
        );
    }
    let json = place.run("completions fish --json").ok().json();
    assert_eq!(json["shell"], "fish");
}

#[test]
fn help_has_an_example_for_every_verb() {
    let place = Place::new();
    let help = place.run("--help").ok().stdout;
    for verb in [
        "demo",
        "fit",
        "predict",
        "evaluate",
        "inspect",
        "prepare",
        "update",
        "merge",
        "forget",
        "generate",
        "completions",
    ] {
        assert!(help.contains(&format!("  {verb}")), "{help}");
        let own = place.run(&format!("{verb} --help")).ok().stdout;
        assert!(
            own.contains("Examples:") && own.contains(&format!("  quorate {verb}")),
            "{own}"
        );
        assert!(own.contains("--json") && own.contains("--threads"), "{own}");
    }
    for verb in ["plan", "network", "serve", "report", "compare"] {
        assert!(
            !help.contains(&format!("  {verb}")),
            "{verb} is not there yet"
        );
    }
    assert!(place.run("--version").ok().stdout.starts_with("quorate "));
    assert_eq!(place.run("").code, Some(2));
}
