//! A few cells that are no numbers in a column of numbers, and cells that say that they are missing.

use crate::harness::Place;

/// Runs a command that should fail on a table, and gives back what it says.
#[track_caller]
fn refused(table: &str, flags: &str) -> String {
    let place = Place::new();
    place.write("t.csv", table);
    let outcome = place.run(&format!("fit t.csv -t y {flags} -o m.quorate"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.stderr
}

#[test]
fn one_word_among_numbers_does_not_make_classes_of_a_target() {
    let table = "x,y\n1,2.5\n2,3.1\n3,broken\n4,4.4\n5,5.5\n";
    let said = refused(table, "");
    assert!(
        said.starts_with("t.csv:3:y: «broken» is not a number, and 4 of the 5 cells"),
        "{said}"
    );
    assert!(said.contains("--task multiclass"), "{said}");
    let place = Place::new();
    place.write("t.csv", table);
    place
        .run("fit t.csv -t y --task multiclass --kernel se --learn none -o m.quorate")
        .ok();
}

#[test]
fn the_cell_that_is_no_number_is_named() {
    let said = refused("x,y\n1,2\n2,abc\n3,4\n", "--task regression");
    assert!(
        said.starts_with("t.csv:2:y: «abc» is not a number"),
        "{said}"
    );
    for flag in ["exposure", "weight", "noise", "event"] {
        let said = refused("x,e,y\n1,1,2\n2,a,3\n3,1,4\n", &format!("--{flag} e"));
        assert!(said.starts_with("t.csv:2:e: «a» is not a number"), "{said}");
        // Too few numbers to take the others for strays.
        let said = refused("x,e,y\n1,1,2\n2,a,3\n3,b,4\n", &format!("--{flag} e"));
        assert!(said.starts_with("t.csv:2:e: found «a»"), "{said}");
    }
}

#[test]
fn an_input_that_became_a_category_is_noted() {
    let place = Place::new();
    place.write(
        "t.csv",
        "day,x,site,y\n2020-02-28,1,a,2\n2020-02-30,2,b,3\n2020-03-01,-,a,4\n2020-03-02,4,b,6\n",
    );
    let line = "fit t.csv -t y --kernel se*category --learn none -o m.quorate";
    let said = place.run(line).ok().stderr;
    for piece in [
        "t.csv:2:day: «2020-02-30» is not a date, and 3 of the 4 cells of the column are dates",
        "t.csv:3:x: «-» is not a number, and 3 of the 4 cells of the column are numbers",
    ] {
        assert!(said.contains(piece), "{said}");
    }
    assert!(!said.contains("site"), "{said}");
    let ignored = place.run(&format!("{line} --ignore day,x")).ok().stderr;
    assert!(!ignored.contains("is not a"), "{ignored}");
}

#[test]
fn every_way_to_write_that_there_is_no_value_is_missing() {
    let place = Place::new();
    let cells = [
        "", "NA", "N/A", "n/a", "#N/A", "NaN", "null", "NULL", "None",
    ];
    let rows: String = (0..18)
        .map(|row| match row % 2 {
            0 => format!("{row},{}\n", row * row),
            _ => format!("{},{}\n", cells[row / 2], row * row),
        })
        .collect();
    place.write("t.csv", format!("x,y\n{rows}"));
    place
        .run("fit t.csv -t y --kernel se --learn none -o m.quorate -q")
        .ok();
    let page = place.run("inspect m.quorate").ok().stdout;
    // Input, kind, mean, deviation, missing.
    let mut lines = page.lines().map(|line| line.split_whitespace());
    let missing = lines.find_map(|mut cells| match cells.next() {
        Some("x") => cells.nth(3),
        _ => None,
    });
    assert_eq!(missing, Some("9"), "{page}");
    let said = refused("x,y\n1,2.5\n2,3.1\n3,n/a\n4,4.4\n5,5.5\n", "");
    assert!(
        said.starts_with("t.csv:3:y: the target is missing"),
        "{said}"
    );
}

#[test]
fn an_empty_line_of_one_column_has_its_answer() {
    let place = Place::new();
    place.write("t.csv", "x,y\n1,2\n2,3\n3,5\n4,4\n");
    place
        .run("fit t.csv -t y --kernel se --learn none -o m.quorate")
        .ok();
    place.write("quoted.csv", "x\n1\n\"\"\n3\n");
    place.write("empty.csv", "x\n1\n\n3\n");
    let quoted = place.run("predict m.quorate quoted.csv").ok().stdout;
    assert_eq!(quoted.lines().count(), 4);
    assert_eq!(place.run("predict m.quorate empty.csv").ok().stdout, quoted);
    let piped = place.run_with("predict m.quorate -", "x\r\n1\r\n\r\n3\r\n");
    assert_eq!(piped.ok().stdout, quoted);
}

#[test]
fn targets_whose_squares_are_no_numbers_are_refused() {
    let said = refused("x,y\n1,1e3\n2,-1e300\n3,1e300\n4,2e299\n", "");
    assert!(
        said.starts_with("t.csv:2:y: the target is -1e300"),
        "{said}"
    );
    assert!(said.contains("another unit"), "{said}");
    let said = refused("x,y\n1,1e-200\n2,3e-200\n3,2e-200\n", "");
    assert!(
        said.starts_with("t.csv:y: the target has a deviation of"),
        "{said}"
    );
}
