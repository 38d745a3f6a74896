//! How wide should an expert look? Learns once, then answers a test table with several shapes of neighbourhood.
//!
//!     cargo run --release -p quorate --example neighbourhoods -- TRAIN TEST KERNEL STEPS 400x1,300x8
//!
//! STEPS may carry the length of the first steps: `120@0.1`. The target is the last column of TRAIN; `300x8` means 300 nearest rows for each question, 8 questions together.
//! Scores are in units of the training targets' standard deviation, seconds are processor seconds.

mod shared;

use quorate::gp::data::{Dataset, Inputs, Roles, Schema, random_rows};
use quorate::gp::kernel::{BoundKernel, Kernel};
use quorate::gp::learn::{Search, SearchLimits, learn};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::watch::Unwatched;
use quorate::local::{ConditionalSearch, LocalAnswers, Neighbourhood, learn_conditional};
use quorate::score::{Scores, Yardstick};
use shared::{Outcome, processor_seconds, read};

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, kernel, steps, shapes] = &words[..] else {
        return Err("usage: neighbourhoods TRAIN TEST KERNEL STEPS SHAPES".into());
    };
    let (train, test) = (read(train)?, read(test)?);
    let target = train.header.names.last().ok_or("the table has no column")?;
    let (schema, _) = Schema::learn(&train, &Roles::of_target(target))?;
    let data = schema.training_data(&train)?;

    let began = processor_seconds();
    let (kernel, noise) = learn_from(&schema, &kernel.parse()?, &data, parse_climb(steps)?)?;
    println!(
        "learning: {:.1} s, noise {:.5}",
        processor_seconds() - began,
        noise.variance
    );
    let encoded = schema.encode(&test)?;
    let scale = schema.target_scale();
    let targets: Vec<f64> = schema
        .targets(&test)?
        .iter()
        .map(|y| scale.apply(*y))
        .collect();
    for shape in shapes.split(',') {
        let began = processor_seconds();
        let shape = parse_shape(shape)?;
        let local = LocalAnswers::new(kernel.clone(), noise, data.clone(), shape);
        let scores = score(&local, noise, encoded.inputs(), &targets)?;
        println!(
            "{} rows x {} questions: rmse {:.4}, nlpd {:.4}, 95 % coverage {:.3}, {:.1} s",
            shape.neighbours,
            shape.together,
            scores.rmse,
            scores.nlpd,
            scores.coverage_95,
            processor_seconds() - began
        );
    }
    Ok(())
}

/// Block evidence of a random part, then the grouped conditional likelihood of all rows.
fn learn_from(
    schema: &Schema,
    kernel: &Kernel,
    data: &Dataset,
    climb: ConditionalSearch,
) -> Outcome<(BoundKernel, GaussianNoise)> {
    let part = data.select(&random_rows(data.rows(), 1000, 0));
    let mut bound = kernel.bind(schema.columns())?;
    bound.initialise(part.inputs(), part.targets());
    let search = Search {
        restarts: Some(1),
        limits: SearchLimits {
            steps: 40,
            relative_gain: 1e-5,
            ..SearchLimits::default()
        },
        ..Search::default()
    };
    let (bound, noise, _) = learn(
        &bound,
        GaussianNoise { variance: 0.1 },
        &part,
        &search,
        &Unwatched,
    )?;
    let noise = GaussianNoise {
        variance: noise.variance.clamp(0.003, 0.5),
    };
    let (kernel, noise, _) = learn_conditional(&bound, noise, data, &climb, &Unwatched)?;
    Ok((kernel, noise))
}

fn score(
    local: &LocalAnswers,
    noise: GaussianNoise,
    query: Inputs<'_>,
    targets: &[f64],
) -> Outcome<Scores> {
    let belief = local.marginals(query)?;
    let column = |matrix: &quorate::gp::linalg::Matrix, extra: f64| -> Vec<f64> {
        (0..targets.len())
            .map(|row| matrix[(row, 0)] + extra)
            .collect()
    };
    let (means, variances) = (
        column(&belief.mean, 0.0),
        column(&belief.variance, noise.variance),
    );
    let standard = Yardstick {
        mean: 0.0,
        deviation: 1.0,
    };
    Ok(Scores::of(targets, &means, &variances, None, standard)?)
}

fn parse_climb(text: &str) -> Outcome<ConditionalSearch> {
    let (steps, rate) = text.split_once('@').unwrap_or((text, ""));
    let mut climb = ConditionalSearch {
        steps: steps.parse()?,
        ..ConditionalSearch::default()
    };
    if !rate.is_empty() {
        climb.rate = rate.parse()?;
    }
    Ok(climb)
}

fn parse_shape(text: &str) -> Outcome<Neighbourhood> {
    let (neighbours, together) = text.split_once('x').ok_or("a shape is written 300x8")?;
    Ok(Neighbourhood {
        neighbours: neighbours.parse()?,
        together: together.parse()?,
        least_rows: 0,
    })
}
