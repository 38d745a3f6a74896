//! Ways of learning hyperparameters that a person chooses.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use quorate::gp::data::{Schema, random_rows};
use quorate::gp::kernel::{BoundKernel, Kernel};
use quorate::gp::learn::{Hyperprior, Propagation, Schedule};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::watch::Unwatched;
use quorate::hyper::{FromPartsWay, from_parts};
use quorate::{LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec};

/// Rows of kin40k in random parts.
fn kin40k(parts: usize, size: usize) -> Option<(BoundKernel, Vec<quorate::gp::data::Dataset>)> {
    let Some(path) = common::data_file("kin40k.parquet") else {
        common::skipped("kin40k.parquet");
        return None;
    };
    let frame = common::read(&path);
    let some = frame.select_rows(&random_rows(frame.rows(), parts * size, 5));
    let (schema, _) = Schema::learn(&some, &ModelSpec::new("y").roles()).unwrap();
    let data = schema.training_data(&some).unwrap();
    let lists: Vec<Vec<usize>> = (0..parts)
        .map(|part| (part..data.rows()).step_by(parts).collect())
        .collect();
    let kernel: Kernel = "se(ard)".parse().unwrap();
    let mut kernel = kernel.bind(schema.columns()).unwrap();
    kernel.initialise(data.inputs(), data.targets());
    Some((kernel, data.split(&lists)))
}

#[test]
fn propagation_reaches_the_shared_optimum_of_kin40k_in_fewer_than_ten_rounds() {
    let Some((kernel, parts)) = kin40k(8, 200) else {
        return;
    };
    let noise = GaussianNoise { variance: 0.1 };
    let learn = |way| {
        from_parts(
            &kernel,
            noise,
            false,
            &parts,
            way,
            Hyperprior::Broad,
            &Unwatched,
        )
        .unwrap()
    };
    let shared = learn(FromPartsWay::Shared);
    let local = learn(FromPartsWay::LocalLaplace);
    for schedule in [Schedule::Parallel, Schedule::Sequential] {
        let how = Propagation {
            schedule,
            ..Propagation::default()
        };
        let found = learn(FromPartsWay::Propagation(how));
        println!(
            "{schedule:?}: shared {:.3}, local {:.3}, propagation {:.3} after {} rounds {:?}",
            shared.value,
            local.value,
            found.value,
            found.rounds.len(),
            found
                .rounds
                .iter()
                .map(|r| r.disagreement)
                .collect::<Vec<_>>()
        );
        assert!(found.settled, "{:?}", found.rounds);
        assert!(found.rounds.len() < 10);
        let lost = shared.value - found.value;
        assert!(lost < 0.01 * shared.value.abs(), "{lost}");
        assert!(found.value >= local.value - 1e-6);
    }
}

#[test]
fn every_way_of_learning_suits_every_method() {
    let path = common::workspace().join("golden/data/mcycle.csv.gz");
    let frame = common::read(&path);
    let target = frame.header.names.last().unwrap().clone();
    let ways = [
        LearnChoice::Block,
        LearnChoice::Conditional,
        LearnChoice::Committee,
        LearnChoice::Lla,
        LearnChoice::LaplacePropagation,
        LearnChoice::Loo,
        LearnChoice::Validation,
    ];
    let methods = [
        (MethodChoice::Exact, ModeChoice::Auto),
        (MethodChoice::Committee, ModeChoice::Local),
        (MethodChoice::Committee, ModeChoice::Landmarks),
        (MethodChoice::Committee, ModeChoice::Joint),
    ];
    for learn in ways {
        for (method, mode) in methods {
            let spec = ModelSpec {
                method,
                mode,
                kernel: "matern32".parse().unwrap(),
                learn,
                ..ModelSpec::new(target.as_str())
            };
            let model = Model::fit(&spec, &frame, &Unwatched).unwrap();
            let seen = model.inspect().unwrap();
            let scores = model.leave_one_out().number().unwrap();
            println!("{learn} {mode}: {} {}", scores.nlpd, seen.outcome);
            assert!(scores.nlpd < 5.3, "{learn} {mode}: {}", scores.nlpd);
            let fuses = matches!(learn, LearnChoice::Lla | LearnChoice::LaplacePropagation);
            assert_eq!(seen.hyperposterior.is_some(), fuses);
            if let Some(belief) = seen.hyperposterior {
                assert!(belief.parameters.iter().all(|p| p.deviation > 0.0));
            }
            let bytes = quorate::file::to_bytes(&model).unwrap();
            let again = quorate::file::from_bytes(&bytes, "memory").unwrap();
            assert_eq!(quorate::file::to_bytes(&again).unwrap(), bytes);
        }
    }
}
