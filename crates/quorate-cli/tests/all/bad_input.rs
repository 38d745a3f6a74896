//! Bad input and bad ends: `bad_input.table` has a line for every kind and every verb it can reach, with the exit code
//! and a piece of the message. Whatever goes wrong, the command does not panic and leaves no file behind.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use crate::harness;

use std::fs;
use std::time::Duration;

use harness::ending::Ending;
use harness::{Outcome, Place, rows};

/// Row 2 of a good table with one cell replaced.
fn with_cell(column: usize, cell: &str) -> String {
    let table = rows(12, 3);
    let mut lines: Vec<String> = table.lines().map(String::from).collect();
    let mut cells: Vec<&str> = lines[2].split(',').collect();
    cells[column] = cell;
    lines[2] = cells.join(",");
    lines.join("\n") + "\n"
}

/// A good table with every cell of a column replaced.
fn with_column(column: usize, cell: impl Fn(usize) -> String) -> String {
    let table = rows(12, 3);
    let change = |(row, line): (usize, &str)| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        if row > 0 {
            cells[column] = cell(row);
        }
        cells.join(",") + "\n"
    };
    table.lines().enumerate().map(change).collect()
}

/// The first rows of a good table with further cells behind each line; row 0 is the header.
fn with_further(count: usize, cells: impl Fn(usize, &str) -> String) -> String {
    let table = rows(count, 3);
    let longer = |(row, line): (usize, &str)| format!("{line},{}\n", cells(row, line));
    table.lines().enumerate().map(longer).collect()
}

/// Puts the bad thing into a folder that has a model and good tables.
fn prepare(place: &Place, kind: &str) {
    let good = rows(12, 3);
    let table = match kind {
        "NaN in an input" => with_cell(0, "NaN"),
        "NaN in the target" => with_cell(3, "NaN"),
        "infinity in an input" => with_cell(0, "inf"),
        "infinity in the target" => with_cell(3, "-inf"),
        "missing cells" => with_cell(0, "").replace("south", ""),
        "missing target" => with_cell(3, ""),
        "constant column" => with_column(0, |_| "2.5".into()),
        "equal columns" => with_further(12, |row, line| match row {
            0 => "c".into(),
            _ => line.split(',').next().unwrap().into(),
        }),
        "equal column names" => good.replace("a,b,", "a,a,"),
        "equal rows" => good.clone() + good.split_once('\n').unwrap().1,
        "one row" => with_further(1, |row, _| row.to_string()),
        "constant target" => with_column(3, |_| "7".into()),
        "more columns than rows" => with_further(8, |row, _| {
            let cell = |column: usize| match row {
                0 => format!("x{column}"),
                _ => ((row * 7 + column * 13) % 17).to_string(),
            };
            (0..30).map(cell).collect::<Vec<_>>().join(",")
        }),
        "inputs of 1e300" => with_column(0, |row| format!("{row}e300")),
        "targets of 1e300" => with_column(3, |row| format!("{}e300", row % 5)),
        "unknown column" => good.replace("site", "cite").replace(",y\n", ",z\n"),
        "empty file" => String::new(),
        "header only" => "a,b,site,y\n".into(),
        "text among numbers" => with_cell(0, "many"),
        "ragged row" => good.replacen(",y\n", ",y\n1,2,north,3\n1,2,north\n", 1),
        "text target" => with_column(3, |row| format!("class{}", row % 2)),
        "column with no name" => good.replacen("b,site", ",site", 1),
        "negative weight" => with_cell(0, "-1"),
        "negative count" => with_column(0, |row| match row {
            2 => "-1".into(),
            _ => (row % 4).to_string(),
        }),
        // The others need no bad table, or one that is no text.
        _ => String::new(),
    };
    place.write("bad.csv", table);
    let model = place.bytes("model.quorate");
    match kind {
        "bytes that are no text" => {
            place.write("bad.csv", b"a,b,site,y\n1,2,\xff\xfe\x00,3\n\x80,2,s,3\n");
        }
        "damaged model" => {
            let mut bytes = model;
            let middle = bytes.len() - 40;
            bytes[middle] ^= 0x10;
            place.write("bad.quorate", bytes);
        }
        "truncated model" => {
            place.write("bad.quorate", &model[..model.len() / 2]);
        }
        "newer model" => {
            let text = b"\\\"version\\\":1";
            let at = model
                .windows(text.len())
                .position(|part| part == text)
                .unwrap();
            let mut bytes = model.clone();
            bytes[at + text.len() - 1] = b'9';
            place.write("bad.quorate", bytes);
        }
        "empty model" => {
            place.write("bad.quorate", "");
        }
        "checkpoint" => {
            fs::create_dir(place.path("folder")).unwrap();
            // A fit that was broken off after its first steps, and the same file cut short.
            place.write("long.csv", rows(300, 4));
            let line = "fit long.csv --target y --checkpoint other.checkpoint -o other.quorate";
            let mut wait = Duration::from_millis(300);
            // The first lines take a few hundred bytes, the first steps more.
            while fs::metadata(place.path("other.checkpoint")).map_or(0, |c| c.len()) < 1000 {
                Ending::Kill(wait).of(place, line);
                wait *= 2;
            }
            let bytes = place.bytes("other.checkpoint");
            place.write("torn.checkpoint", &bytes[..bytes.len() - 5]);
        }
        "folder for a file" => fs::create_dir(place.path("folder")).unwrap(),
        "bad network" => {
            place.write("broken.json", "{\"parents\": ");
        }
        "bad specification" => {
            place.write("broken.json", "{\"target\": ");
            place.write("unknown.json", "{\"traget\": \"y\"}");
            place.write("kernel.json", "{\"target\": \"y\", \"kernel\": \"se(\"}");
            place.write("empty.json", "{}");
        }
        _ => {}
    }
}

/// Makes the landmarks models and the large tables that a command line names: `base` has no rows, `part` has those of
/// `train.csv` and their summary, `rest` was fitted to a table of its own.
fn enlarge(place: &Place, line: &str) {
    if line.contains("base.quorate") || line.contains("part.quorate") {
        place
            .run("prepare train.csv --target y --kernel se(ard)*category --learn none -o base.quorate")
            .ok();
    }
    if line.contains("part.quorate") {
        place
            .run("update base.quorate train.csv --keep-parts -o part.quorate")
            .ok();
    }
    if line.contains("rest.quorate") {
        place
            .run(
                "fit test.csv --target y --mode landmarks --kernel se --learn none -o rest.quorate",
            )
            .ok();
    }
    if line.contains("many.csv") {
        place.write("many.csv", rows(8000, 5));
    }
    if line.contains("huge.csv") {
        place.write("huge.csv", rows(3_000_000, 5));
    }
    if line.contains("long.csv") {
        place.run("generate friedman -n 1500 -o long.csv").ok();
    }
    if line.contains("large.csv") {
        place.run("generate friedman -n 7000 -o large.csv").ok();
    }
}

/// How the command of a kind is run to its end.
fn ending(kind: &str) -> Ending {
    match kind {
        "full standard output" => Ending::FullOutput,
        "disk that fills up" => Ending::SizeLimit,
        "closed pipe" => Ending::ClosedPipe,
        "Ctrl-C" => Ending::Interrupt(Duration::from_millis(500)),
        "killed" => Ending::Kill(Duration::from_millis(500)),
        _ => Ending::Natural,
    }
}

/// One line of the table.
struct Cell {
    kind: &'static str,
    code: i32,
    line: &'static str,
    piece: &'static str,
}

fn cells() -> Vec<Cell> {
    let lines = include_str!("bad_input.table").lines();
    let cells = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    cells
        .map(|line| {
            let parts: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
            Cell {
                kind: parts[0],
                code: parts[1].parse().unwrap(),
                line: parts[2],
                piece: parts[3],
            }
        })
        .collect()
}

/// What is wrong with the end of a command, if anything.
fn complaint(cell: &Cell, place: &Place, before: &[String], outcome: &Outcome) -> Option<String> {
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    let shown = if cell.code == 0 {
        &text
    } else {
        &outcome.stderr
    };
    let mut after = place.names();
    if outcome.code != Some(cell.code) {
        return Some(format!("exit code {:?}", outcome.code));
    }
    if !shown.contains(cell.piece) {
        return Some("other message".into());
    }
    if text.contains("panicked") || shown.contains("/.quorate-") {
        return Some("message shows the inside".into());
    }
    if cell.code == 0
        && cell.line.contains("-o out.")
        && !after.iter().any(|n| n.starts_with("out."))
    {
        return Some("no output".into());
    }
    match cell.code {
        // An output of its own, or none where it was asked to print.
        0 => after.retain(|name| !name.starts_with("out.") && name != "quorate-demo"),
        // The model was complete before its description could not be printed.
        1 if cell.kind == "full standard output" => after.retain(|name| name != "out.quorate"),
        // A checkpoint is there to stay.
        1 if cell.kind == "disk that fills up" => after.retain(|name| name != "new.checkpoint"),
        // Nobody can clean up after SIGKILL, but nothing has the name that was asked for.
        137 => after.retain(|name| !name.starts_with(".quorate-")),
        _ => {}
    }
    (after != before).then(|| format!("files {after:?} instead of {before:?}"))
}

#[test]
fn every_kind_of_bad_input_ends_as_the_table_says() {
    let mut wrong = Vec::new();
    let cells = cells();
    for cell in &cells {
        let place = Place::with_model();
        prepare(&place, cell.kind);
        enlarge(&place, cell.line);
        let before = place.names();
        let (outcome, seconds) = ending(cell.kind).of(&place, cell.line);
        let complaint = match complaint(cell, &place, &before, &outcome) {
            None if cell.code == 130 && seconds > 1.0 => Some(format!("{seconds} s to stop")),
            other => other,
        };
        if let Some(complaint) = complaint {
            wrong.push(format!(
                "{}: {}: {complaint}, wanted {} and «{}»\n{}{}",
                cell.kind, cell.line, cell.code, cell.piece, outcome.stdout, outcome.stderr
            ));
        }
    }
    let count = (wrong.len(), cells.len());
    assert!(wrong.is_empty(), "{count:?} cells:\n{}", wrong.join("\n"));
}
