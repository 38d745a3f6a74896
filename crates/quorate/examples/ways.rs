//! How should a committee be asked? Fits once by `--mode joint`, then answers a test table in several ways.
//!
//!     cargo run --release -p quorate --example ways -- TRAIN TEST KERNEL LEARN tree:1000:1000:0,random:500:1000:1000
//!
//! The target is the last column of TRAIN; LEARN is `auto` (committee evidence), `block`, or `landmarks`, which learns
//! through the other mode; `tree:1000:2000:500` means balanced parts of 1,000 rows asked about 2,000 rows at a time and
//! 500 others. Scores are in units of the training targets' standard deviation, seconds are processor seconds of
//! answering.

mod shared;

use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::Matrix;
use quorate::gp::watch::Unwatched;
use quorate::joint::{JointAnswers, JointShape};
use quorate::partition::{PartedRows, Partition};
use quorate::score::{Scores, Yardstick};
use quorate::{MethodChoice, ModeChoice, Model, ModelSpec};
use shared::{Outcome, processor_seconds, read};

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, kernel, learn, ways] = &words[..] else {
        return Err("usage: ways TRAIN TEST KERNEL LEARN WAYS".into());
    };
    let (train, test) = (read(train)?, read(test)?);
    let target = train.header.names.last().ok_or("the table has no column")?;
    let spec = ModelSpec {
        method: MethodChoice::Committee,
        kernel: kernel.parse()?,
        ..ModelSpec::new(target)
    };
    let spec = match learn.as_str() {
        "landmarks" => ModelSpec {
            mode: ModeChoice::Landmarks,
            ..spec
        },
        _ => ModelSpec {
            mode: ModeChoice::Joint,
            learn: learn.parse()?,
            ..spec
        },
    };
    let began = processor_seconds();
    let model = Model::fit(&spec, &train, &Unwatched)?;
    println!(
        "{learn}: {:.1} s, noise {:.5}",
        processor_seconds() - began,
        model.inspect()?.noise_variance
    );

    let schema = model.schema();
    let data = schema.training_data(&train)?;
    let encoded = schema.encode(&test)?;
    let scale = schema.target_scale();
    let targets: Vec<f64> = schema
        .targets(&test)?
        .iter()
        .map(|y| scale.apply(*y))
        .collect();
    let noise = GaussianNoise {
        variance: model.inspect()?.noise_variance / schema.target_deviation().powi(2),
    };
    let bound = model.kernel().bind(schema.columns())?;
    for way in ways.split(',') {
        let began = processor_seconds();
        let pieces: Vec<&str> = way.split(':').collect();
        let [choice, size, questions, companions] = pieces[..] else {
            return Err("a way is written tree:1000:2000:500".into());
        };
        let shape = JointShape {
            part_size: size.parse()?,
            questions: questions.parse()?,
            companions: companions.parse()?,
            prior: true,
        };
        let partition = Partition {
            choice: &choice.parse()?,
            size: shape.part_size,
            seed: 0,
        };
        let lists = partition.assign(&bound, &data, None, &Unwatched)?;
        let rows = PartedRows::new(data.clone(), &lists);
        let joint = JointAnswers::new(bound.clone(), noise, &rows, shape)?;
        let belief = joint.marginals(encoded.inputs())?;
        let column = |matrix: &Matrix, extra: f64| -> Vec<f64> {
            let rows = 0..targets.len();
            rows.map(|row| matrix[(row, 0)] + extra).collect()
        };
        let standard = Yardstick {
            mean: 0.0,
            deviation: 1.0,
        };
        let scores = Scores::of(
            &targets,
            &column(&belief.mean, 0.0),
            &column(&belief.variance, noise.variance),
            None,
            standard,
        )?;
        println!(
            "{way}: rmse {:.4}, nlpd {:.4}, 95 % coverage {:.3}, {:.1} s",
            scores.rmse,
            scores.nlpd,
            scores.coverage_95,
            processor_seconds() - began
        );
    }
    Ok(())
}
