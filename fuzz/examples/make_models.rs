//! Makes the files of `fuzz/corpus/model` and `fuzz/corpus/committee`: small models of small tables.
//!
//! ```text
//! cargo run --release -p quorate-fuzz --example make_models
//! ```

use quorate::classifier::CLASSIFIERS;
use quorate::ensemble::{CommitteeModel, CommitteeSpec, MakerChoice, NoGuests};
use quorate::file::members;
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{
    LearnChoice, LikelihoodChoice, MethodChoice, ModeChoice, Model, ModelSpec, TaskChoice,
};
use quorate_fuzz::corpus;
use quorate_paper::{Generator, Options, generate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = corpus::home().join("corpus").join("model");
    std::fs::create_dir_all(&folder)?;
    for (name, kind, rows, kernel) in [
        ("sine", Generator::Sine, 4, "se"),
        ("friedman", Generator::Friedman, 3, "matern32(ard) + linear"),
        (
            "categories",
            Generator::Categories,
            12,
            "se[load,temperature] + category[site] + periodic(period=365)[day]",
        ),
    ] {
        let table = generate(kind, rows, 0, &Options::default())?;
        let spec = ModelSpec {
            kernel: kernel.parse()?,
            learn: LearnChoice::None,
            ..ModelSpec::new(kind.target())
        };
        Model::fit(&spec, &table, &Unwatched)?.save(&folder.join(format!("{name}.quorate")))?;
    }
    let table = generate(Generator::Sine, 9, 0, &Options::default())?;
    let spec = ModelSpec {
        kernel: "se".parse()?,
        learn: LearnChoice::None,
        method: MethodChoice::Committee,
        mode: ModeChoice::Joint,
        part_size: Some(3),
        ..ModelSpec::new(Generator::Sine.target())
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("joint.quorate"))?;
    let spec = ModelSpec {
        mode: ModeChoice::Local,
        landmarks: Some(2),
        ..spec
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("supported.quorate"))?;
    let spec = ModelSpec {
        kernel: "se".parse()?,
        learn: LearnChoice::None,
        method: MethodChoice::Mixture,
        experts: Some(2),
        ..ModelSpec::new(Generator::Sine.target())
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("mixture.quorate"))?;
    let spec = ModelSpec {
        landmarks: Some(3),
        ..spec
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("mixture-landmarks.quorate"))?;
    let table = generate(Generator::Waveform, 12, 0, &Options::default())?;
    let spec = ModelSpec {
        kernel: "se".parse()?,
        learn: LearnChoice::None,
        task: TaskChoice::Multiclass,
        ..ModelSpec::new(Generator::Waveform.target())
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("classes.quorate"))?;
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        landmarks: Some(2),
        keep_parts: true,
        ..spec
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("classes-landmarks.quorate"))?;
    let number = |values: &[f64]| Column::Number(values.to_vec());
    let table = Frame::from_columns(vec![
        ("x", number(&[0.0, 1.0, 2.0, 3.0])),
        ("days", number(&[3.0, 1.5, 4.0, 2.0])),
        ("died", number(&[1.0, 1.0, 0.0, 1.0])),
        ("claims", number(&[0.0, 2.0, 1.0, 0.0])),
        ("years", number(&[1.0, 0.5, 2.0, 1.0])),
    ])?;
    let spec = ModelSpec {
        inputs: Some(vec!["x".into()]),
        kernel: "se".parse()?,
        learn: LearnChoice::None,
        event: Some("died".into()),
        ..ModelSpec::new("days")
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("lifetimes.quorate"))?;
    let spec = ModelSpec {
        target: "claims".into(),
        event: None,
        exposure: Some("years".into()),
        likelihood: LikelihoodChoice::NegativeBinomial,
        ..spec
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("counts.quorate"))?;
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        mode: ModeChoice::Landmarks,
        landmarks: Some(2),
        keep_parts: true,
        ..spec
    };
    Model::fit(&spec, &table, &Unwatched)?.save(&folder.join("counts-landmarks.quorate"))?;
    committees()
}

/// The files of `fuzz/corpus/committee`: every kind of member, for numbers and for classes.
fn committees() -> Result<(), Box<dyn std::error::Error>> {
    let folder = corpus::home().join("corpus").join("committee");
    std::fs::create_dir_all(&folder)?;
    let save = |name: &str, table: &Frame, spec: CommitteeSpec| -> quorate::Result<()> {
        let model = CommitteeModel::fit(&spec, table, &NoGuests, &Unwatched)?;
        members::save(&model, &folder.join(format!("{name}.quorate")))
    };
    let small = |count: usize, values: &dyn Fn(f64) -> f64| {
        Column::Number((0..count).map(|row| values(row as f64)).collect())
    };
    let sites = |count: usize| {
        let site = |row: usize| Some(if row.is_multiple_of(2) { "a" } else { "b" }.into());
        Column::Text((0..count).map(site).collect())
    };
    let numbers = Frame::from_columns(vec![
        ("x", small(9, &|row| row)),
        ("site", sites(9)),
        ("y", small(9, &|row| (0.7 * row).sin())),
    ])?;
    for (name, kinds, maker, rule) in [
        (
            "process",
            vec!["gp"],
            MakerChoice::Parts,
            "generalised-robust-bcm",
        ),
        ("tree", vec!["tree", "linear"], MakerChoice::All, "stacking"),
        ("network", vec!["network"], MakerChoice::Bags, "median"),
        (
            "radial",
            vec!["rbf", "quadratic"],
            MakerChoice::All,
            "model-averaging",
        ),
    ] {
        let spec = CommitteeSpec {
            target: "y".into(),
            members: kinds.into_iter().map(String::from).collect(),
            maker,
            rule: Some(rule.into()),
            count: Some(2),
            ..CommitteeSpec::default()
        };
        save(name, &numbers, spec)?;
    }
    let claims = Frame::from_columns(vec![
        ("x", small(12, &|row| row)),
        ("claims", small(12, &|row| (row * 5.0) % 4.0)),
    ])?;
    let spec = CommitteeSpec {
        target: "claims".into(),
        likelihood: LikelihoodChoice::Poisson,
        members: vec!["linear".into(), "rbf".into()],
        maker: MakerChoice::All,
        rule: Some("model-averaging".into()),
        ..CommitteeSpec::default()
    };
    save("counts", &claims, spec)?;
    let labels = |row: usize| Some(["in", "out"][row / 3 % 2].into());
    let classes = Frame::from_columns(vec![
        ("x", small(12, &|row| row)),
        ("label", Column::Text((0..12).map(labels).collect())),
    ])?;
    for kind in CLASSIFIERS {
        let spec = CommitteeSpec {
            target: "label".into(),
            members: vec![kind.name.into()],
            maker: MakerChoice::All,
            rule: Some("weighted-vote".into()),
            ..CommitteeSpec::default()
        };
        save(&format!("classes-{}", kind.name), &classes, spec)?;
    }
    Ok(())
}
