//! Counts and amounts, from a table to predictions in their own units.
#![allow(clippy::unwrap_used)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::likelihood::{Latent, Likelihood};
use quorate::gp::watch::Unwatched;
use quorate::{LikelihoodChoice, Model, ModelSpec, TaskChoice, file};

use crate::common::quantities::{forecast, numbers, place, spec, table, truth};

#[test]
fn counts_and_amounts_follow_the_truth_for_their_exposure_and_survive_a_file() {
    use LikelihoodChoice::{Gamma, InverseGaussian, NegativeBinomial, Poisson};
    for (choice, name) in [
        (Poisson, "poisson"),
        (NegativeBinomial, "negative-binomial"),
        (Gamma, "gamma"),
        (InverseGaussian, "inverse-gaussian"),
    ] {
        let model = Model::fit(
            &spec(choice),
            &table(name, 0..250, f64::INFINITY),
            &Unwatched,
        );
        let model = model.unwrap();
        let test = table(name, 250..650, f64::INFINITY);
        let found = forecast(&model, &test);
        let (x, exposure) = (numbers(&test, "x"), numbers(&test, "exposure"));
        let gap: f64 = (found.mean().iter().enumerate())
            .map(|(row, mean)| (mean / (exposure[row] * truth(x[row]).exp())).ln().abs() / 400.0)
            .sum();
        assert!(gap < 0.2, "{name}: {gap}");
        let scores = model.score(&test).unwrap();
        let scores = scores.quantity().unwrap();
        assert!(
            (scores.coverage_95 - 0.95).abs() < 0.05,
            "{name} {scores:?}"
        );
        assert!(scores.coverage_50 > 0.4, "{name} {scores:?}");
        let kept = model.leave_one_out().quantity().unwrap();
        assert!(
            (scores.nlpd - kept.nlpd).abs() < 0.3,
            "{name} {scores:?} {kept:?}"
        );
        assert_eq!(
            scores.poisson_deviance.is_some(),
            found.code.quantity == quorate::gp::data::Quantity::Count
        );
        let loaded = file::from_bytes(&file::to_bytes(&model).unwrap(), "model").unwrap();
        assert_eq!(forecast(&loaded, &test), found);
        // Means are those of the distribution, and quantiles invert it.
        if choice == Poisson {
            let sum: f64 = (0..200u64)
                .map(|count| count as f64 * found.probability(count)[3])
                .sum();
            assert!((sum - found.mean()[3]).abs() < 1e-6);
        }
        let (below, above) = (
            found.quantile(0.05, false)[3],
            found.quantile(0.95, false)[3],
        );
        assert!(below < found.mean()[3] && found.mean()[3] < above);
        let narrow = found.quantile(0.95, true)[3] - found.quantile(0.05, true)[3];
        assert!(narrow < above - below, "{name}");
    }
}

#[test]
fn a_few_wild_targets_do_not_bend_a_student_t() {
    let x: Vec<f64> = (0..120).map(|i| place(i, 0.754_877_666) * 4.0).collect();
    let y = |(i, x): (usize, &f64)| {
        let wild = if i % 15 == 0 { 400.0 } else { 0.0 };
        1000.0 + 100.0 * truth(*x) + 10.0 * (place(i, 0.618_034) - 0.5) + wild
    };
    let y: Vec<f64> = x.iter().enumerate().map(y).collect();
    let columns = vec![("x", Column::Number(x.clone())), ("y", Column::Number(y))];
    let spec = ModelSpec {
        exposure: None,
        ..spec(LikelihoodChoice::StudentT)
    };
    let table = Frame::from_columns(columns).unwrap();
    let found = forecast(&Model::fit(&spec, &table, &Unwatched).unwrap(), &table);
    for (mean, x) in found.mean().iter().zip(&x) {
        assert!(
            (mean - 1000.0 - 100.0 * truth(*x)).abs() < 25.0,
            "{mean} at {x}"
        );
    }
}

#[test]
fn auto_chooses_the_scatter_of_counts() {
    for (name, wide) in [("poisson", false), ("negative-binomial", true)] {
        let spec = ModelSpec {
            likelihood: LikelihoodChoice::Auto,
            ..spec(LikelihoodChoice::Auto)
        };
        let model = Model::fit(&spec, &table(name, 0..200, f64::INFINITY), &Unwatched).unwrap();
        let found = model
            .inspect()
            .unwrap()
            .quantity
            .unwrap()
            .through
            .likelihood;
        assert_eq!(
            found.name() == "negative-binomial",
            wide,
            "{}",
            model.outcome()
        );
        assert!(
            model
                .notes()
                .iter()
                .any(|note| note.contains("taken for counts"))
        );
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let fit = |spec: &ModelSpec, change: &dyn Fn(&mut Vec<Vec<f64>>)| {
        let good = table("poisson", 0..40, f64::INFINITY);
        let names = ["x", "exposure", "y", "event"];
        let mut cells: Vec<Vec<f64>> = names.map(|name| numbers(&good, name).to_vec()).into();
        change(&mut cells);
        let columns = names.into_iter().zip(cells.into_iter().map(Column::Number));
        Model::fit(
            spec,
            &Frame::from_columns(columns.collect()).unwrap(),
            &Unwatched,
        )
        .map_err(|error| error.to_string())
    };
    let poisson = spec(LikelihoodChoice::Poisson);
    type Change = fn(&mut Vec<Vec<f64>>);
    let cases: [(Change, &str); 5] = [
        (|cells| cells[2][4] = -1.0, "5:y: the target is -1"),
        (|cells| cells[2][4] = 1.5, "a count is needed"),
        (|cells| cells[1][6] = 0.0, "7:exposure: the exposure is 0"),
        (|cells| cells[1][6] = -2.0, "must be above 0"),
        (|cells| cells[1][6] = f64::NAN, "the exposure is missing"),
    ];
    for (change, problem) in cases {
        let message = fit(&poisson, &change).unwrap_err();
        assert!(message.contains(problem), "{message}");
    }
    let lifetimes = ModelSpec {
        exposure: None,
        event: Some("event".into()),
        ..spec(LikelihoodChoice::Weibull)
    };
    let positive: Change = |cells| cells[2].iter_mut().for_each(|y| *y += 1.0);
    assert!(fit(&lifetimes, &positive).is_ok());
    let message = fit(&lifetimes, &|cells| {
        positive(cells);
        cells[3].fill(0.0);
    });
    assert!(message.unwrap_err().contains("every row is censored"));
    let message = fit(&lifetimes, &|cells| {
        positive(cells);
        cells[3][1] = 2.0;
    });
    assert!(message.unwrap_err().contains("2:event: found 2"));
    assert!(
        fit(&lifetimes, &|cells| cells[2][0] = 0.0)
            .unwrap_err()
            .contains("above 0")
    );
    // Nothing ever happened: the rate is small, and known to be.
    let nothing = fit(&poisson, &|cells| cells[2].fill(0.0)).unwrap();
    let mean = forecast(&nothing, &table("poisson", 50..60, f64::INFINITY)).mean();
    assert!(
        mean.iter().all(|mean| *mean > 0.0 && *mean < 0.2),
        "{mean:?}"
    );
    for (spec, problem) in [
        (
            ModelSpec {
                task: TaskChoice::Count,
                ..spec(LikelihoodChoice::Gamma)
            },
            "is not for counts",
        ),
        (
            ModelSpec {
                event: Some("event".into()),
                ..spec(LikelihoodChoice::Poisson)
            },
            "are about lifetimes",
        ),
        (spec(LikelihoodChoice::Weibull), "about counts and amounts"),
        (
            ModelSpec {
                task: TaskChoice::Regression,
                ..spec(LikelihoodChoice::Auto)
            },
            "is about counts",
        ),
    ] {
        let message = fit(&spec, &|_| {}).unwrap_err();
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
fn weights_are_copies_and_repeated_inputs_keep_their_exposures() {
    let good = table("poisson", 0..40, f64::INFINITY);
    let names = ["x", "exposure", "y"];
    let copies = |row: usize| 1 + row % 3;
    let rows: Vec<usize> = (0..40).flat_map(|row| vec![row; copies(row)]).collect();
    let column = |name: &str, rows: &[usize]| {
        let cells = numbers(&good, name);
        Column::Number(rows.iter().map(|&row| cells[row]).collect())
    };
    let all: Vec<usize> = (0..40).collect();
    let mut weighted: Vec<(&str, Column)> = names
        .iter()
        .map(|name| (*name, column(name, &all)))
        .collect();
    let weights = (0..40).map(|row| copies(row) as f64).collect();
    weighted.push(("w", Column::Number(weights)));
    let copied = names.iter().map(|name| (*name, column(name, &rows)));
    let copied = Frame::from_columns(copied.collect()).unwrap();
    let weighted = Frame::from_columns(weighted).unwrap();
    let plain = spec(LikelihoodChoice::Poisson);
    let heavy = ModelSpec {
        weight: Some("w".into()),
        ..plain.clone()
    };
    let [a, b] = [(&heavy, &weighted), (&plain, &copied)]
        .map(|(spec, table)| Model::fit(spec, table, &Unwatched).unwrap());
    let (a, b) = (a.log_evidence().unwrap(), b.log_evidence().unwrap());
    assert!((a - b).abs() < 1e-5 * a.abs(), "{a} {b}");
}

#[test]
fn quantities_average_over_draws_of_their_hyperparameters() {
    for (choice, limit) in [
        (LikelihoodChoice::NegativeBinomial, f64::INFINITY),
        (LikelihoodChoice::Weibull, 4.0),
    ] {
        let name = choice.to_string();
        let (train, test) = (table(&name, 0..70, limit), table(&name, 70..110, limit));
        let lifetimes = limit.is_finite();
        let mode = ModelSpec {
            exposure: (!lifetimes).then(|| "exposure".into()),
            event: lifetimes.then(|| "event".into()),
            task: if lifetimes {
                TaskChoice::Lifetime
            } else {
                TaskChoice::Count
            },
            ..spec(choice)
        };
        let drawn = ModelSpec {
            learn: quorate::LearnChoice::Nuts,
            chains: Some(2),
            draws: Some(30),
            warmup: Some(40),
            ..mode.clone()
        };
        let model = Model::fit(&drawn, &train, &Unwatched).unwrap();
        let told = forecast(&model, &test);
        assert_eq!(told.draws.len(), 60);
        let bytes = file::to_bytes(&model).unwrap();
        let again = file::from_bytes(&bytes, "memory").unwrap();
        assert_eq!(forecast(&again, &test), told);
        // Everything is the mean over draws, typed literally.
        let value = 2.0;
        let (means, survival) = (told.mean(), told.survival(value));
        let (deviations, medians) = (told.deviation(false), told.quantile(0.5, false));
        for row in 0..test.rows() {
            let each = |of: &dyn Fn(&Likelihood, Latent) -> f64| {
                let draw = |draw: &quorate::QuantityDraw| {
                    let latent = Latent {
                        mean: draw.latent_mean[row],
                        variance: draw.latent_variance[row],
                    };
                    of(&draw.likelihood, latent)
                };
                told.draws.iter().map(draw).sum::<f64>() / 60.0
            };
            let unit = told.code.unit;
            let mean = each(&|own, latent| own.mean(latent));
            assert!((means[row] - unit.undo(mean)).abs() < 1e-9 * means[row]);
            let beyond = each(&|own, latent| own.survival(latent, unit.apply(value)));
            assert!((survival[row] - beyond).abs() < 1e-12);
            let variance =
                each(&|own, latent| own.variance(latent) + (own.mean(latent) - mean).powi(2));
            let deviation = unit.deviation * variance.sqrt();
            assert!((deviations[row] - deviation).abs() < 1e-9 * deviation);
            let median = unit.apply(medians[row]);
            let below = each(&|own, latent| own.distribution(latent, median));
            if lifetimes {
                assert!((below - 0.5).abs() < 1e-9, "{below}");
            } else {
                let less = each(&|own, latent| own.distribution(latent, median - 1.0));
                assert!(below >= 0.5 && less < 0.5, "{less} {below}");
            }
        }
        // As good as the maximum, and a committee is refused with the reason.
        let nlpd = |model: &Model| model.score(&test).unwrap().quantity().unwrap().nlpd;
        let top = Model::fit(&mode, &train, &Unwatched).unwrap();
        assert!((nlpd(&model) - nlpd(&top)).abs() < 0.1, "{name}");
        let committee = ModelSpec {
            mode: quorate::ModeChoice::Local,
            ..drawn
        };
        let refused = Model::fit(&committee, &train, &Unwatched).unwrap_err();
        assert!(
            refused.to_string().contains("one process over all rows"),
            "{refused}"
        );
    }
}
