//! What every generated table promises, through the public interface.
#![allow(clippy::unwrap_used)]

use quorate_gp::data::{Column, ColumnType, Frame};
use quorate_paper::{Bumps, Generator, Options, friedman, generate, sine};

fn made(kind: Generator, rows: usize, seed: u64) -> Frame {
    generate(kind, rows, seed, &Options::default()).unwrap()
}

fn numbers<'a>(table: &'a Frame, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Number(cells)) => cells,
        other => panic!("{name} is {other:?}"),
    }
}

/// The cells as bits, so that a missing one equals itself.
fn bits(table: &Frame) -> Vec<Vec<String>> {
    let column = |column: &Column| match column {
        Column::Number(cells) => cells
            .iter()
            .map(|cell| format!("{:x}", cell.to_bits()))
            .collect(),
        Column::Text(cells) => cells.iter().map(|cell| format!("{cell:?}")).collect(),
    };
    table.columns.iter().map(column).collect()
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_does_not() {
    for kind in Generator::ALL {
        assert_eq!(bits(&made(kind, 40, 5)), bits(&made(kind, 40, 5)), "{kind}");
        assert_ne!(bits(&made(kind, 40, 5)), bits(&made(kind, 40, 6)), "{kind}");
    }
}

#[test]
fn a_short_table_begins_a_long_one() {
    for kind in Generator::ALL {
        let long = made(kind, 40, 5).select_rows(&(0..10).collect::<Vec<_>>());
        assert_eq!(bits(&made(kind, 10, 5)), bits(&long), "{kind}");
    }
}

#[test]
fn every_table_ends_with_its_target_and_names_parse_back() {
    for kind in Generator::ALL {
        let table = made(kind, 3, 0);
        assert_eq!(
            table.header.names.last().map(String::as_str),
            Some(kind.target())
        );
        assert_eq!(kind.name().parse::<Generator>().unwrap(), kind);
        assert!(!kind.description().is_empty());
    }
    assert!("sinus".parse::<Generator>().is_err());
}

#[test]
fn another_seed_of_the_function_changes_the_map_but_not_the_inputs() {
    let options = |function| Options {
        function,
        truth: true,
        ..Options::default()
    };
    let first = generate(Generator::Art, 20, 1, &options(0)).unwrap();
    let second = generate(Generator::Art, 20, 1, &options(1)).unwrap();
    assert_eq!(numbers(&first, "x3"), numbers(&second, "x3"));
    assert_ne!(numbers(&first, "truth"), numbers(&second, "truth"));
    let row: Vec<f64> = (1..=5)
        .map(|i| numbers(&first, &format!("x{i}"))[7])
        .collect();
    assert_eq!(numbers(&first, "truth")[7], Bumps::draw(5, 0).value(&row));
}

#[test]
fn targets_are_the_function_plus_noise_of_the_stated_deviation() {
    const ROWS: usize = 20_000;
    for (kind, deviation) in [
        (Generator::Art, 0.2),
        (Generator::Sine, 0.2),
        (Generator::Step, 0.0),
        (Generator::Friedman, 1.0),
        (Generator::Categories, 0.3),
        (Generator::Noise, 1.0),
    ] {
        let options = Options {
            truth: true,
            ..Options::default()
        };
        let table = generate(kind, ROWS, 2, &options).unwrap();
        let pairs = || numbers(&table, "y").iter().zip(numbers(&table, "truth"));
        let bias = mean(pairs().map(|(y, truth)| y - truth), ROWS);
        let variance = mean(pairs().map(|(y, truth)| (y - truth).powi(2)), ROWS);
        // Five standard errors of a mean and of a variance of normal numbers.
        let share = (ROWS as f64).sqrt();
        assert!(bias.abs() <= 5.0 * deviation / share, "{kind}: bias {bias}");
        let wanted = deviation * deviation;
        let allowed = 5.0 * wanted * 2.0_f64.sqrt() / share;
        assert!(
            (variance - wanted).abs() <= allowed,
            "{kind}: variance {variance}"
        );
    }
}

#[test]
fn inputs_fill_the_stated_range() {
    for (kind, column, low, high) in [
        (Generator::Art, "x2", -1.0, 1.0),
        (Generator::Sine, "x", 0.0, 2.0),
        (Generator::Friedman, "x10", 0.0, 1.0),
    ] {
        const ROWS: usize = 5_000;
        let table = made(kind, ROWS, 4);
        let cells = numbers(&table, column);
        assert!(
            cells.iter().all(|cell| (low..high).contains(cell)),
            "{kind}"
        );
        let middle = mean(cells.iter().copied(), ROWS);
        let allowed = 5.0 * (high - low) / (12.0 * ROWS as f64).sqrt();
        assert!(
            (middle - (low + high) / 2.0).abs() < allowed,
            "{kind}: {middle}"
        );
    }
}

#[test]
fn functions_without_noise_have_the_values_computed_by_hand() {
    for (x, value) in [
        (0.0, 0.0),
        (0.25, 1.0),
        (1.0 / 12.0, 0.5),
        (0.75, -1.0),
        (1.125, 0.5_f64.sqrt()),
    ] {
        assert!((sine(x) - value).abs() < 1e-14, "sin(2 pi {x})");
    }
    // sin(pi / 6) = 1/2, so 5 + 20 * 0.04 + 10 * 0.1 + 5 * 0.9.
    let value = friedman(&[0.5, 1.0 / 3.0, 0.3, 0.1, 0.9, 0.77]);
    assert!((value - (5.0 + 0.8 + 1.0 + 4.5)).abs() < 1e-13);
}

#[test]
fn noise_moves_rows_across_the_border_of_the_classes() {
    let options = |noise| Options {
        noise: Some(noise),
        truth: true,
        ..Options::default()
    };
    let clean = generate(Generator::ArtClasses, 2_000, 3, &options(0.0)).unwrap();
    let wrong = |table: &Frame| {
        let pairs = numbers(table, "label").iter().zip(numbers(table, "truth"));
        pairs
            .filter(|(label, truth)| (**label > 0.5) != (**truth > 0.0))
            .count()
    };
    assert_eq!(wrong(&clean), 0);
    let positive = numbers(&clean, "label").iter().sum::<f64>() / 2_000.0;
    assert!(
        (0.05..0.95).contains(&positive),
        "share of class 1: {positive}"
    );
    assert!(wrong(&generate(Generator::ArtClasses, 2_000, 3, &options(0.5)).unwrap()) > 100);
}

#[test]
fn the_table_of_categories_has_every_kind_of_column_and_missing_cells() {
    const ROWS: usize = 4_000;
    let table = made(Generator::Categories, ROWS, 8);
    use ColumnType::{Boolean, Date, Number, Text};
    assert_eq!(
        table.header.types,
        [Text, Text, Date, Boolean, Number, Number, Number]
    );
    let missing = |name: &str| match table.column(name).unwrap() {
        Column::Number(cells) => cells.iter().filter(|cell| cell.is_nan()).count(),
        Column::Text(cells) => cells.iter().filter(|cell| cell.is_none()).count(),
    };
    for (name, share) in [("load", 0.1), ("temperature", 0.05), ("site", 0.05)] {
        let expected = share * ROWS as f64;
        let allowed = 5.0 * (expected * (1.0 - share)).sqrt();
        assert!(
            (missing(name) as f64 - expected).abs() < allowed,
            "{name}: {}",
            missing(name)
        );
    }
    for name in ["machine", "day", "open", "y"] {
        assert_eq!(missing(name), 0, "{name}");
    }
    let Some(Column::Text(machines)) = table.column("machine") else {
        panic!("machines are text");
    };
    let levels: std::collections::BTreeSet<_> = machines.iter().flatten().collect();
    assert_eq!(levels.len(), 40);
    // 2023-01-01 is day 19,358 and 2024-12-31 day 20,088.
    assert!(
        numbers(&table, "day")
            .iter()
            .all(|day| (19_358.0..=20_088.0).contains(day))
    );
    assert!(
        numbers(&table, "open")
            .iter()
            .all(|open| [0.0, 1.0].contains(open))
    );
}

#[test]
fn settings_that_make_no_sense_are_refused_in_words() {
    let refused = |kind, options: Options| generate(kind, 5, 0, &options).unwrap_err().to_string();
    let inputs = |inputs| Options {
        inputs: Some(inputs),
        ..Options::default()
    };
    let noise = |noise| Options {
        noise: Some(noise),
        ..Options::default()
    };
    assert_eq!(
        refused(Generator::Sine, inputs(2)),
        "the number of inputs of the generator sine is always 1, not 2"
    );
    assert!(refused(Generator::Friedman, inputs(4)).contains("5 to 10000"));
    assert!(refused(Generator::Art, inputs(0)).contains("not 0"));
    assert!(refused(Generator::Art, noise(-1.0)).contains("standard deviation"));
    assert!(refused(Generator::Art, noise(f64::NAN)).contains("standard deviation"));
    let truth = Options {
        truth: true,
        ..Options::default()
    };
    assert!(refused(Generator::Waveform, truth).contains("no target without noise"));
}
