//! Makes the files of `fuzz/corpus/model`: small models of generated tables.
//!
//! ```text
//! cargo run --release -p quorate-fuzz --example make_models
//! ```

use quorate::gp::watch::Unwatched;
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, TaskChoice};
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
    Ok(())
}
