//! The model through its front door: weights, files, threads, notes.
#![allow(clippy::unwrap_used, missing_docs)]

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::{Unwatched, Watch};
use quorate::{Error, Model, ModelSpec, file};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

fn table(rows: usize) -> Frame {
    let x: Vec<f64> = (0..rows).map(|i| (i as f64 * 0.61).sin() * 3.0).collect();
    let z: Vec<f64> = (0..rows).map(|i| (i as f64 * 1.37).cos()).collect();
    let y = x.iter().zip(&z).enumerate();
    let y = y
        .map(|(i, (x, z))| x.sin() + 0.5 * z + 0.1 * ((i * i) as f64).sin())
        .collect();
    Frame::from_columns(vec![
        ("x", Column::Number(x)),
        ("z", Column::Number(z)),
        ("y", Column::Number(y)),
    ])
    .unwrap()
}

fn quick(target: &str) -> ModelSpec {
    ModelSpec {
        kernel: "se(ard)".parse().unwrap(),
        restarts: Some(1),
        ..ModelSpec::new(target)
    }
}

fn with_column(frame: &Frame, name: &str, values: Vec<f64>) -> Frame {
    let mut columns: Vec<(String, Column)> = frame
        .header
        .names
        .iter()
        .cloned()
        .zip(frame.columns.iter().cloned())
        .collect();
    columns.push((name.into(), Column::Number(values)));
    Frame::from_columns(columns).unwrap()
}

#[test]
fn a_weighted_fit_equals_the_fit_of_repeated_rows_learned_hyperparameters_included() {
    let plain = table(40);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
    let repeated: Vec<usize> = (0..40)
        .flat_map(|i| vec![i as usize; i as usize % 4])
        .collect();
    let mut spec = quick("y");
    let copies = Model::fit(&spec, &plain.select_rows(&repeated), &Unwatched).unwrap();
    spec.weight = Some("w".into());
    let weighted = Model::fit(&spec, &with_column(&plain, "w", weights), &Unwatched).unwrap();

    let near = |a: f64, b: f64| (a - b).abs() <= 1e-8 * (1.0 + b.abs());
    assert!(near(
        weighted.log_evidence().unwrap(),
        copies.log_evidence().unwrap()
    ));
    let (ours, theirs) = (weighted.inspect().unwrap(), copies.inspect().unwrap());
    for (a, b) in ours.parameters.iter().zip(&theirs.parameters) {
        assert!(
            near(a.value, b.value),
            "{}: {} and {}",
            a.name,
            a.value,
            b.value
        );
    }
    assert!(near(ours.noise_variance, theirs.noise_variance));
    let (p, q) = (
        weighted.predict(&plain).unwrap(),
        copies.predict(&plain).unwrap(),
    );
    for row in 0..plain.rows() {
        assert!(near(p.mean[row], q.mean[row]));
        assert!(near(p.latent_variance[row], q.latent_variance[row]));
    }
}

#[test]
fn a_saved_model_answers_to_the_last_bit_like_the_fitted_one() {
    let frame = table(60);
    let model = Model::fit(&ModelSpec::new("y"), &frame, &Unwatched).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.qr");
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    let (p, q) = (
        model.predict(&frame).unwrap(),
        loaded.predict(&frame).unwrap(),
    );
    assert_eq!(p.mean, q.mean);
    assert_eq!(p.latent_variance, q.latent_variance);
    assert_eq!(
        file::to_bytes(&model).unwrap(),
        file::to_bytes(&loaded).unwrap()
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let frame = table(400);
    let bytes: Vec<Vec<u8>> = [1, 2]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let model = pool
                .install(|| Model::fit(&quick("y"), &frame, &Unwatched))
                .unwrap();
            file::to_bytes(&model).unwrap()
        })
        .to_vec();
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn every_damaged_byte_of_a_model_file_is_noticed() {
    let model = Model::fit(&quick("y"), &table(12), &Unwatched).unwrap();
    let bytes = file::to_bytes(&model).unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        match file::from_bytes(&damaged, "model") {
            Err(Error::ModelFile { .. }) => {}
            other => panic!("byte {place}: {:?}", other.map(|_| "a model")),
        }
    }
    for length in (0..bytes.len()).step_by(7) {
        assert!(file::from_bytes(&bytes[..length], "model").is_err());
    }
}

#[test]
fn a_newer_file_says_so() {
    let model = Model::fit(&quick("y"), &table(12), &Unwatched).unwrap();
    let bytes = file::to_bytes(&model).unwrap();
    let text = b"\\\"version\\\":1";
    let place = bytes.windows(text.len()).position(|part| part == text);
    let at = place.unwrap() + text.len() - 1;
    let mut newer = bytes.clone();
    newer[at] = b'9';
    let error = file::from_bytes(&newer, "model").unwrap_err().to_string();
    assert!(
        error.contains("version 9") && error.contains("newer quorate"),
        "{error}"
    );
}

#[test]
fn a_fit_can_be_stopped() {
    struct Impatient;
    impl Watch for Impatient {
        fn progress(&self, _: &str, _: usize, _: usize) {}
        fn stop_requested(&self) -> bool {
            true
        }
    }
    let error = Model::fit(&quick("y"), &table(30), &Impatient).unwrap_err();
    assert!(matches!(error, Error::Gp(quorate::gp::Error::Interrupted)));
}

#[test]
fn noise_that_is_independent_of_the_inputs_gives_the_mean_and_the_right_spread() {
    let rows = 150;
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let mut noise = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let x = (0..rows).map(|_| noise()).collect();
    let y: Vec<f64> = (0..rows).map(|_| 10.0 + noise()).collect();
    let frame =
        Frame::from_columns(vec![("x", Column::Number(x)), ("y", Column::Number(y))]).unwrap();
    let model = Model::fit(&ModelSpec::new("y"), &frame, &Unwatched).unwrap();
    let scores = model.leave_one_out().number().unwrap();
    let deviation = (1.0f64 / 12.0).sqrt();
    assert!(
        (scores.rmse / deviation - 1.0).abs() < 0.1,
        "{}",
        scores.rmse
    );
    assert!(scores.coverage_95 > 0.93, "{}", scores.coverage_95);
}
