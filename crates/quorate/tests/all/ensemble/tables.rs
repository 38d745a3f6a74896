//! Committees of a table: their files and their memory.

use quorate::ensemble::{CommitteeModel, CommitteeSpec, MakerChoice, NoGuests};
use quorate::file::members;
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;

use super::{table, table_of_classes, unit};

#[test]
fn committees_of_a_table_are_the_same_from_their_file_and_on_any_threads() {
    let makers = [
        (MakerChoice::Parts, "generalised-robust-bcm"),
        (MakerChoice::Bags, "average"),
        (MakerChoice::All, "model-averaging"),
        (MakerChoice::Noise, "stacking"),
    ];
    let (numbers, classes) = (table(60), table_of_classes(90));
    for (maker, rule) in makers {
        let spec = CommitteeSpec {
            target: "y".into(),
            members: vec!["linear".into(), "rbf".into()],
            maker,
            rule: Some(rule.into()),
            count: Some(4),
            ..CommitteeSpec::default()
        };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| CommitteeModel::fit(&spec, &numbers, &NoGuests, &Unwatched).unwrap())
        };
        let model = run(2);
        let bytes = members::to_bytes(&model).unwrap();
        assert_eq!(bytes, members::to_bytes(&run(1)).unwrap(), "{rule}");
        let again = members::from_bytes(&bytes, "file", &NoGuests).unwrap();
        let answer = |model: &CommitteeModel| model.forecast(&numbers, &Unwatched).unwrap();
        assert_eq!(answer(&model), answer(&again), "{rule}");
        assert_eq!(members::to_bytes(&again).unwrap(), bytes);
        assert_eq!(model.out_of_bag().is_some(), maker == MakerChoice::Bags);
        for cut in [0, 7, bytes.len() / 2, bytes.len() - 1] {
            assert!(members::from_bytes(&bytes[..cut], "file", &NoGuests).is_err());
        }
        let mut changed = bytes.clone();
        let last = changed.len() - 3;
        changed[last] ^= 1;
        assert!(members::from_bytes(&changed, "file", &NoGuests).is_err());
    }
    for maker in [MakerChoice::Parts, MakerChoice::Bags, MakerChoice::Flips] {
        let spec = CommitteeSpec {
            target: "label".into(),
            members: vec!["linear".into(), "tree".into()],
            maker,
            rule: Some("weighted-vote".into()),
            count: Some(4),
            ..CommitteeSpec::default()
        };
        let model = CommitteeModel::fit(&spec, &classes, &NoGuests, &Unwatched).unwrap();
        let bytes = members::to_bytes(&model).unwrap();
        let again = members::from_bytes(&bytes, "file", &NoGuests).unwrap();
        let answer = |model: &CommitteeModel| model.forecast(&classes, &Unwatched).unwrap();
        assert_eq!(answer(&model), answer(&again));
        assert_eq!(model.weights().map(<[f64]>::len), Some(model.kinds().len()));
    }
}

/// Most memory that the process has held so far, in bytes; none where the system does not say.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}

#[test]
fn a_hundred_members_over_a_hundred_thousand_rows_take_little_memory() {
    let rows = 100_000;
    let column = |salt: u64| (0..rows).map(|row| unit(row, salt)).collect::<Vec<f64>>();
    let (a, b, noise) = (column(1), column(2), column(3));
    let y = (0..rows).map(|row| (4.0 * a[row]).sin() + b[row] + 0.2 * noise[row]);
    let table = Frame::from_columns(vec![
        ("y", Column::Number(y.collect())),
        ("a", Column::Number(a)),
        ("b", Column::Number(b)),
    ])
    .unwrap();
    let spec = CommitteeSpec {
        target: "y".into(),
        members: vec!["tree".into(), "quadratic".into()],
        count: Some(100),
        rule: Some("mixture".into()),
        ..CommitteeSpec::default()
    };
    let before = most_memory();
    let model = CommitteeModel::fit(&spec, &table, &NoGuests, &Unwatched).unwrap();
    assert_eq!(model.kinds().len(), 100);
    let first: Vec<usize> = (0..500).collect();
    let forecast = model.forecast(&table.select_rows(&first), &Unwatched);
    let quorate::Forecast::Number(found) = forecast.unwrap() else {
        panic!("numbers were asked for")
    };
    let seen = quorate::gp::data::Schema::targets(model.schema(), &table).unwrap();
    let squares = found.mean.iter().zip(&seen).map(|(f, t)| (f - t).powi(2));
    assert!((squares.sum::<f64>() / 500.0).sqrt() < 0.2);
    // The table is 2.4 MB, and so is what all members see together; bags would be as many, one at a time for each thread.
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 200 << 20, "{} MB", (after - before) >> 20);
    }
}
