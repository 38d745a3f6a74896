//! Committees of a table: their files and their memory.

use quorate::ensemble::{CommitteeModel, CommitteeSpec, MakerChoice, NoGuests};
use quorate::file::members;
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{Forecast, LikelihoodChoice};

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

#[test]
fn committees_behind_a_likelihood_find_it_and_are_the_same_from_their_file() {
    let rows = 240;
    let x: Vec<f64> = (0..rows).map(|row| 2.0 * unit(row, 1) - 1.0).collect();
    let years: Vec<f64> = (0..rows).map(|row| 0.5 + 2.0 * unit(row, 2)).collect();
    let rate = |x: f64| (0.8 + 1.1 * x).exp();
    // The count that a Poisson of this mean reaches with the probability `u`.
    let poisson = |mean: f64, u: f64| {
        let (mut count, mut term, mut sum) = (0.0, (-mean).exp(), (-mean).exp());
        while sum < u && count < 200.0 {
            count += 1.0;
            term *= mean / count;
            sum += term;
        }
        count
    };
    let claims = (0..rows).map(|row| poisson(years[row] * rate(x[row]), unit(row, 3)));
    let claims: Vec<f64> = claims.collect();
    let life = |row: usize| rate(x[row]) * (-unit(row, 4).max(1e-9).ln()).powf(0.7);
    let days: Vec<f64> = (0..rows).map(|row| life(row).min(4.0)).collect();
    let died: Vec<f64> = (0..rows).map(|row| f64::from(life(row) < 4.0)).collect();
    let number = |values: &[f64]| Column::Number(values.to_vec());
    let table = Frame::from_columns(vec![
        ("x", number(&x)),
        ("years", number(&years)),
        ("claims", number(&claims)),
        ("days", number(&days)),
        ("died", number(&died)),
    ])
    .unwrap();
    let counts = CommitteeSpec {
        target: "claims".into(),
        inputs: Some(vec!["x".into()]),
        exposure: Some("years".into()),
        likelihood: LikelihoodChoice::Poisson,
        members: vec!["linear".into(), "quadratic".into()],
        count: Some(4),
        ..CommitteeSpec::default()
    };
    let lifetimes = CommitteeSpec {
        target: "days".into(),
        exposure: None,
        event: Some("died".into()),
        likelihood: LikelihoodChoice::Weibull,
        ..counts.clone()
    };
    for (spec, maker) in [
        (&counts, MakerChoice::Parts),
        (&counts, MakerChoice::All),
        (&counts, MakerChoice::Bags),
        (&lifetimes, MakerChoice::Parts),
    ] {
        let spec = CommitteeSpec {
            maker,
            ..spec.clone()
        };
        let model = CommitteeModel::fit(&spec, &table, &NoGuests, &Unwatched).unwrap();
        assert!(model.through().is_some());
        let bytes = members::to_bytes(&model).unwrap();
        let again = members::from_bytes(&bytes, "file", &NoGuests).unwrap();
        assert_eq!(members::to_bytes(&again).unwrap(), bytes);
        let told = model.forecast(&table, &Unwatched).unwrap();
        assert_eq!(told, again.forecast(&table, &Unwatched).unwrap());
        let Forecast::Quantity(told) = told else {
            panic!("a committee behind a likelihood answers with quantities");
        };
        if spec.event.is_none() {
            for row in 0..rows {
                let truth = years[row] * rate(x[row]);
                let ratio = told.mean()[row] / truth;
                assert!((0.7..1.4).contains(&ratio), "{maker:?} {row}: {ratio}");
            }
        }
        let mut changed = bytes.clone();
        let last = changed.len() - 3;
        changed[last] ^= 1;
        for damaged in [&bytes[..bytes.len() / 2], &changed] {
            assert!(members::from_bytes(damaged, "file", &NoGuests).is_err());
        }
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
