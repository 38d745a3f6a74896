//! Models that answer through landmarks, through the front door.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::shards::{bytes, quick, table};
use quorate::gp::watch::Unwatched;
use quorate::{LandmarkChoice, LearnChoice, MethodChoice, ModeChoice, Model, ModelSpec, file};

#[test]
fn the_mode_is_chosen_and_no_row_is_kept() {
    let model = Model::fit(&quick(), &table(0, 300), &Unwatched).unwrap();
    let page = model.inspect().unwrap();
    assert_eq!((page.rows, page.distinct_rows), (300, 300));
    let committee = page.committee.unwrap();
    assert_eq!(committee.landmarks, 30);
    assert_eq!(committee.parts[0].name, "part-1");
    assert!(committee.saturation > 0.0 && committee.saturation < 1.0);
    assert_eq!(page.held_out.unwrap().n, 30);
    assert!(page.leave_one_out.is_none());
    let bytes = file::to_bytes(&model).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names: Vec<&str> = tensors.names();
    names.sort_unstable();
    assert_eq!(names, ["information", "landmarks", "vector"]);
    assert!(bytes.len() < 20_000, "{} bytes", bytes.len());
}

#[test]
fn a_saved_landmarks_model_answers_to_the_last_bit() {
    let spec = ModelSpec {
        keep_parts: true,
        ..quick()
    };
    let model = Model::fit(&spec, &table(0, 200), &Unwatched).unwrap();
    let bytes = file::to_bytes(&model).unwrap();
    let loaded = file::from_bytes(&bytes, "model").unwrap();
    let (p, q) = (
        model.predict(&table(500, 540)).unwrap(),
        loaded.predict(&table(500, 540)).unwrap(),
    );
    assert_eq!(p.mean, q.mean);
    assert_eq!(p.latent_variance, q.latent_variance);
    assert_eq!(bytes, file::to_bytes(&loaded).unwrap());
    let draws = loaded.sample(&table(500, 505), 2, 1, true).unwrap();
    assert!(draws.iter().flatten().all(|value| value.is_finite()));
}

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let spec = ModelSpec {
        learn: LearnChoice::Auto,
        kernel: "auto".parse().unwrap(),
        ..quick()
    };
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            Model::fit(&spec, &table(0, 700), &Unwatched)
                .and_then(|model| file::to_bytes(&model))
                .unwrap()
        })
    };
    assert_eq!(fit(1), fit(2));
}

#[test]
fn it_learns_the_function_and_its_noise_with_every_choice_of_landmarks() {
    for choice in [
        LandmarkChoice::Kmeans,
        LandmarkChoice::Random,
        LandmarkChoice::Greedy,
    ] {
        let spec = ModelSpec {
            landmark_choice: Some(choice),
            learn: LearnChoice::Auto,
            landmarks: Some(60),
            ..quick()
        };
        let model = Model::fit(&spec, &table(0, 900), &Unwatched).unwrap();
        let scores = model.evaluate(&table(2000, 2300)).unwrap();
        // The noise of the table has a deviation of 0.1; the target one of about 1.
        assert!(scores.rmse < 0.13, "{choice}: {}", scores.rmse);
        assert!(scores.coverage_95 > 0.9, "{choice}: {}", scores.coverage_95);
        let held = model.leave_one_out();
        assert!((held.rmse / scores.rmse - 1.0).abs() < 0.25, "{choice}");
    }
}

#[test]
fn more_landmarks_than_rows_and_a_kernel_that_reads_nothing_are_met() {
    let many = ModelSpec {
        landmarks: Some(5000),
        ..quick()
    };
    let model = Model::fit(&many, &table(0, 40), &Unwatched).unwrap();
    assert!(model.inspect().unwrap().committee.unwrap().landmarks <= 36);
    for choice in [
        LandmarkChoice::Kmeans,
        LandmarkChoice::Random,
        LandmarkChoice::Greedy,
    ] {
        let flat = ModelSpec {
            kernel: "constant".parse().unwrap(),
            landmark_choice: Some(choice),
            ..quick()
        };
        let model = Model::fit(&flat, &table(0, 40), &Unwatched).unwrap();
        let means = model.predict(&table(50, 60)).unwrap().mean;
        assert!(means.iter().all(|mean| (mean - means[0]).abs() < 1e-12));
    }
}

#[test]
fn few_landmarks_are_noted() {
    let few = ModelSpec {
        landmarks: Some(3),
        ..quick()
    };
    let page = Model::fit(&few, &table(0, 300), &Unwatched).unwrap();
    let notes = page.inspect().unwrap().notes.join("\n");
    assert!(notes.contains("more landmarks"), "{notes}");
}

#[test]
fn choices_that_contradict_each_other_are_refused() {
    let refusals = [
        ModelSpec {
            method: MethodChoice::Exact,
            ..quick()
        },
        ModelSpec {
            mode: ModeChoice::Joint,
            ..quick()
        },
        ModelSpec {
            mode: ModeChoice::Local,
            landmarks: None,
            ..quick()
        },
    ];
    let pieces = ["--method committee", "--landmarks", "--landmarks N"];
    for (spec, piece) in refusals.iter().zip(pieces) {
        let error = Model::fit(spec, &table(0, 40), &Unwatched).unwrap_err();
        assert!(error.to_string().contains(piece), "{error}");
    }
}

#[test]
fn every_damaged_byte_of_a_landmarks_model_is_noticed() {
    let spec = ModelSpec {
        landmarks: Some(3),
        keep_parts: true,
        ..quick()
    };
    let bytes = bytes(&Model::fit(&spec, &table(0, 30), &Unwatched).unwrap());
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        assert!(file::from_bytes(&damaged, "model").is_err(), "byte {place}");
    }
}

#[test]
fn the_landmarks_lie_among_the_rows() {
    let model = Model::fit(&quick(), &table(0, 300), &Unwatched).unwrap();
    let committee = model.committee().unwrap();
    let inputs = committee.inputs().unwrap();
    for row in 0..inputs.rows() {
        for (value, (low, high)) in inputs.row(row).iter().zip(&committee.range) {
            assert!((low..=high).contains(&value));
        }
    }
}
