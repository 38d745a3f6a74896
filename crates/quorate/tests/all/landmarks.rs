//! Models that answer through landmarks, through the front door.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::shards::{bytes, quick, table};
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::landmarks::GivenLandmarks;
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
    assert_eq!(page.held_out.unwrap().rows(), 30);
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
        let held = model.leave_one_out().number().unwrap();
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

#[test]
fn landmarks_at_every_row_and_question_answer_as_the_exact_process() {
    let (rows, questions) = (table(0, 60), table(500, 510));
    let given = Frame::concat(vec![rows.clone(), questions.clone(), rows.clone()]).unwrap();
    let spec = ModelSpec {
        landmarks: None,
        landmark_rows: Some(GivenLandmarks::new(&given).unwrap()),
        ..quick()
    };
    let model = Model::fit(&spec, &rows, &Unwatched).unwrap();
    // Rows given twice are one landmark.
    assert_eq!(model.inspect().unwrap().committee.unwrap().landmarks, 70);
    let exact = ModelSpec {
        method: MethodChoice::Exact,
        kernel: quick().kernel,
        learn: LearnChoice::None,
        ..ModelSpec::new("y")
    };
    let exact = Model::fit(&exact, &rows, &Unwatched).unwrap();
    let (found, wanted) = (
        model.predict(&questions).unwrap(),
        exact.predict(&questions).unwrap(),
    );
    for row in 0..questions.rows() {
        assert!((found.mean[row] - wanted.mean[row]).abs() < 1e-6);
        let apart = found.latent_variance[row] - wanted.latent_variance[row];
        assert!(apart.abs() < 1e-6, "{apart}");
    }
    // The specification alone builds the same model again.
    let text = serde_json::to_string(model.spec()).unwrap();
    let again = Model::fit(&serde_json::from_str(&text).unwrap(), &rows, &Unwatched).unwrap();
    assert_eq!(bytes(&model), bytes(&again));
}

#[test]
fn given_landmarks_must_have_rows_and_the_inputs() {
    assert!(GivenLandmarks::new(&table(0, 0)).is_err());
    let given = GivenLandmarks::new(&table(0, 5)).unwrap();
    let counted = ModelSpec {
        landmark_rows: Some(given.clone()),
        ..quick()
    };
    let error = Model::fit(&counted, &table(0, 40), &Unwatched).unwrap_err();
    assert!(error.to_string().contains("leave their number"), "{error}");
    let foreign = Frame::from_columns(vec![("x", Column::Number(vec![0.5]))]).unwrap();
    let spec = ModelSpec {
        landmarks: None,
        landmark_rows: Some(GivenLandmarks::new(&foreign).unwrap()),
        ..quick()
    };
    let error = Model::fit(&spec, &table(0, 40), &Unwatched).unwrap_err();
    assert!(error.to_string().contains("`z`"), "{error}");
}
