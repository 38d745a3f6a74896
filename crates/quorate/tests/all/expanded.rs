//! Committees of rows with a likelihood: as good as one process, and adding up like those of a regression.
#![allow(clippy::unwrap_used)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::likelihood::{Latent, Likelihood};
use quorate::gp::watch::Unwatched;
use quorate::parts::Forget;
use quorate::{
    Forecast, InferenceChoice, LearnChoice, LikelihoodChoice, MethodChoice, ModeChoice, Model,
    ModelSpec, file,
};

fn place(i: usize, stride: f64) -> f64 {
    (i as f64 * stride + 0.377).fract()
}

/// Counts, lifetimes and labels of one latent function of two inputs.
fn table(rows: std::ops::Range<usize>) -> Frame {
    let names = ["x", "z", "years", "claims", "days", "died"];
    let mut columns = vec![Vec::new(); names.len()];
    let mut labels = Vec::new();
    let poisson: Likelihood = "poisson".parse().unwrap();
    let weibull: Likelihood = "weibull".parse().unwrap();
    for i in rows {
        let (x, z) = (4.0 * place(i, 0.754_877_666), place(i, 0.569_840_291));
        let years = 0.5 + place(i, 0.324_717_957);
        let f = 1.2 * (1.5 * x).sin() + 0.8 * z;
        let level = 0.001 + 0.998 * place(i * i + 7, 0.618_034);
        let latent = |mean: f64| Latent {
            mean,
            variance: 0.0,
        };
        let claims = poisson.quantile(latent(f + years.ln()), level);
        let days = weibull.quantile(latent(f), level);
        let row = [
            x,
            z,
            years,
            claims,
            days.min(2.0),
            f64::from(u8::from(days <= 2.0)),
        ];
        columns.iter_mut().zip(row).for_each(|(c, v)| c.push(v));
        let p = 1.0 / (1.0 + (-2.0 * f).exp());
        labels.push(Some(if level < p { "yes" } else { "no" }.into()));
    }
    let mut all: Vec<(&str, Column)> = names
        .into_iter()
        .zip(columns.into_iter().map(Column::Number))
        .collect();
    all.push(("label", Column::Text(labels)));
    Frame::from_columns(all).unwrap()
}

fn counts(mode: Option<ModeChoice>) -> ModelSpec {
    let method = match mode {
        Some(_) => MethodChoice::Committee,
        None => MethodChoice::Exact,
    };
    ModelSpec {
        kernel: "se(ard)".parse().unwrap(),
        inputs: Some(vec!["x".into(), "z".into()]),
        exposure: Some("years".into()),
        likelihood: LikelihoodChoice::Poisson,
        restarts: Some(0),
        method,
        mode: mode.unwrap_or_default(),
        landmarks: (mode == Some(ModeChoice::Landmarks)).then_some(60),
        part_size: (mode == Some(ModeChoice::Landmarks)).then_some(100),
        neighbours: (mode == Some(ModeChoice::Local)).then_some(300),
        ..ModelSpec::new("claims")
    }
}

/// Mean and variance of the latent values.
fn latents(model: &Model, table: &Frame) -> (Vec<f64>, Vec<f64>) {
    match model.forecast(table).unwrap() {
        Forecast::Quantity(found) => (found.latent_mean, found.latent_variance),
        other => panic!("{other:?}"),
    }
}

fn mean_gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64
}

#[test]
fn committees_of_counts_say_what_one_process_says() {
    let (train, test) = (table(0..600), table(600..800));
    let exact = Model::fit(&counts(None), &train, &Unwatched).unwrap();
    let kernel = exact.kernel().clone();
    let (mean, variance) = latents(&exact, &test);
    let deviation = variance.iter().map(|v| v.sqrt()).sum::<f64>() / 200.0;
    for mode in [ModeChoice::Landmarks, ModeChoice::Local] {
        // The same hyperparameters: what differs is the committee alone.
        let spec = ModelSpec {
            kernel: quorate::KernelChoice::Given(kernel.clone()),
            learn: LearnChoice::None,
            ..counts(Some(mode))
        };
        let model = Model::fit(&spec, &train, &Unwatched).unwrap();
        let (own, spread) = latents(&model, &test);
        // A neighbourhood is half of the rows.
        let bound = if mode == ModeChoice::Local { 0.5 } else { 0.25 };
        assert!(
            mean_gap(&own, &mean) < bound * deviation,
            "{mode} {}",
            mean_gap(&own, &mean)
        );
        let ratio = spread.iter().map(|v| v.sqrt()).sum::<f64>() / 200.0 / deviation;
        assert!((0.8..1.25).contains(&ratio), "{mode} {ratio}");
        if mode == ModeChoice::Landmarks {
            let gap = model.log_evidence().unwrap() - exact.log_evidence().unwrap();
            assert!(gap.abs() < 5.0, "{gap}");
        }
        // And learned by itself it is as good.
        let learned = Model::fit(&counts(Some(mode)), &train, &Unwatched).unwrap();
        let nlpd = |model: &Model| model.score(&test).unwrap().quantity().unwrap().nlpd;
        assert!(nlpd(&learned) < nlpd(&exact) + 0.03, "{mode}");
        let loaded = file::from_bytes(&file::to_bytes(&learned).unwrap(), "model").unwrap();
        assert_eq!(latents(&loaded, &test), latents(&learned, &test));
    }
}

/// Rare counts with exposures: one input matters, twelve indicators of a group do not.
fn rare(rows: std::ops::Range<usize>) -> Frame {
    let mut names: Vec<String> = ["x", "years", "claims"].map(String::from).to_vec();
    names.extend((0..12).map(|group| format!("group_{group}")));
    let mut columns = vec![Vec::new(); names.len()];
    for i in rows {
        let (x, years) = (
            4.0 * place(i, 0.754_877_666),
            0.1 + 0.9 * place(i, 0.324_717_957),
        );
        let group = (12.0 * place(i, 0.414_213_5)) as usize;
        let (level, mean) = (
            place(i * i + 7, 0.618_034),
            0.12 * years * (1.6 * x).sin().exp(),
        );
        let none = (-mean).exp();
        let claims = u8::from(level > none) + u8::from(level > none * (1.0 + mean));
        let mut row = vec![x, years, f64::from(claims)];
        row.extend((0..12).map(|own| f64::from(u8::from(own == group))));
        columns.iter_mut().zip(row).for_each(|(c, v)| c.push(v));
    }
    let named = names.iter().map(String::as_str);
    let cells = named.zip(columns.into_iter().map(Column::Number));
    Frame::from_columns(cells.collect()).unwrap()
}

#[test]
fn rare_counts_do_not_make_useless_columns_rough() {
    let spec = ModelSpec {
        kernel: "se(ard)".parse().unwrap(),
        exposure: Some("years".into()),
        likelihood: LikelihoodChoice::Poisson,
        mode: ModeChoice::Landmarks,
        landmarks: Some(60),
        ..ModelSpec::new("claims")
    };
    let model = Model::fit(&spec, &rare(0..4000), &Unwatched).unwrap();
    let shown = model.inspect().unwrap();
    let scale = |name: &str| {
        let column = shown.inputs.iter().find(|own| own.name == name).unwrap();
        column.length_scale.unwrap() / column.deviation.unwrap()
    };
    for group in 0..12 {
        let own = scale(&format!("group_{group}"));
        assert!(own > 3.0 * scale("x"), "{group}: {own} {}", scale("x"));
    }
    // Half way from a constant rate to the truth.
    let (test, train) = (rare(4000..7000), rare(0..4000));
    let column = |frame: &Frame, name: &str| match frame.column(name) {
        Some(Column::Number(cells)) => cells.clone(),
        _ => panic!("no numbers in {name}"),
    };
    let (x, years) = (column(&test, "x"), column(&test, "years"));
    let claims = column(&test, "claims");
    let deviance = |mean: &dyn Fn(usize) -> f64| {
        let own = |row: usize| {
            let (y, m) = (claims[row], mean(row));
            2.0 * (if y > 0.0 { y * (y / m).ln() } else { 0.0 } - y + m)
        };
        (0..test.rows()).map(own).sum::<f64>() / test.rows() as f64
    };
    let sum = |name: &str| column(&train, name).iter().sum::<f64>();
    let rate = sum("claims") / sum("years");
    let constant = deviance(&|row| rate * years[row]);
    let truth = deviance(&|row| 0.12 * years[row] * (1.6 * x[row]).sin().exp());
    let ours = model.score(&test).unwrap().quantity().unwrap().clone();
    let ours = ours.poisson_deviance.unwrap();
    assert!(ours < 0.5 * (constant + truth), "{truth} {ours} {constant}");
}

#[test]
fn parts_of_counts_are_added_merged_and_forgotten() {
    let spec = ModelSpec {
        method: MethodChoice::Auto,
        ..counts(Some(ModeChoice::Landmarks))
    };
    let base = Model::prepare(&spec, &table(0..300), &Unwatched).unwrap();
    let bytes = file::to_bytes(&base).unwrap();
    let fresh = || file::from_bytes(&bytes, "model").unwrap();
    let parts = [("a", table(300..500)), ("b", table(500..650))];
    let add = |model: Model, index: usize| {
        let (name, rows) = &parts[index];
        model.update(rows, name, false, &Unwatched).unwrap().0
    };
    let test = table(700..760);
    let (first, second) = (add(fresh(), 0), add(fresh(), 1));
    let both = add(add(fresh(), 0), 1);
    let merged = Model::merge(vec![
        ("second".into(), second.fork()),
        ("first".into(), first.fork()),
    ]);
    let (sum, _) = latents(&both, &test);
    assert!(mean_gap(&latents(&merged.unwrap(), &test).0, &sum) < 1e-9);
    let forget = Forget {
        part: Some("a"),
        rows: Some(&parts[0].1),
    };
    let (left, certificate) = both.fork().forget(forget, &Unwatched).unwrap();
    assert_eq!(
        (certificate.summary, certificate.rows_left),
        ("recomputed", 150)
    );
    let (wanted, _) = latents(&second, &test);
    assert!(mean_gap(&latents(&left, &test).0, &wanted) < 1e-7);
    // Another likelihood, or another function to expand at, cannot be merged.
    let other = ModelSpec {
        seed: 1,
        ..spec.clone()
    };
    let other = Model::prepare(&other, &table(0..300), &Unwatched).unwrap();
    let refused = Model::merge(vec![
        ("first".into(), first),
        ("other".into(), add(other, 1)),
    ]);
    assert!(refused.unwrap_err().to_string().contains("differ in"));
}

#[test]
fn lifetimes_and_two_classes_have_committees_too() {
    let (train, test) = (table(0..500), table(500..700));
    let lifetimes = ModelSpec {
        target: "days".into(),
        exposure: None,
        event: Some("died".into()),
        likelihood: LikelihoodChoice::Weibull,
        ..counts(Some(ModeChoice::Landmarks))
    };
    let model = Model::fit(&lifetimes, &train, &Unwatched).unwrap();
    let shape = &model.inspect().unwrap().quantity.unwrap().dispersions[0];
    assert!((shape.value - 1.0).abs() < 0.25, "{shape:?}");
    let scores = model.score(&test).unwrap();
    assert!(scores.quantity().unwrap().concordance.unwrap() > 0.65);
    for mode in [ModeChoice::Landmarks, ModeChoice::Local] {
        let classes = ModelSpec {
            target: "label".into(),
            exposure: None,
            likelihood: LikelihoodChoice::Bernoulli,
            inference: InferenceChoice::Laplace,
            ..counts(Some(mode))
        };
        let model = Model::fit(&classes, &train, &Unwatched).unwrap();
        let loss = model.score(&test).unwrap().classes().unwrap().log_loss;
        assert!(loss < 0.55, "{mode} {loss}");
    }
}

#[test]
fn what_committees_of_counts_cannot_do_is_refused() {
    let refused = |spec: ModelSpec| {
        let error = Model::fit(&spec, &table(0..60), &Unwatched).unwrap_err();
        error.to_string()
    };
    let joint = ModelSpec {
        mode: ModeChoice::Joint,
        landmarks: None,
        ..counts(Some(ModeChoice::Landmarks))
    };
    assert!(refused(joint).contains("`--mode joint` has Gaussian noise"));
    let supported = ModelSpec {
        landmarks: Some(9),
        ..counts(Some(ModeChoice::Local))
    };
    assert!(refused(supported).contains("with `--landmarks` has Gaussian noise"));
}
