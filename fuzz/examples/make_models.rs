//! Makes the files of `fuzz/corpus/model`: small models of generated tables.
//!
//! ```text
//! cargo run --release -p quorate-fuzz --example make_models
//! ```

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
    Ok(())
}
