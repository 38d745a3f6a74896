//! The corpus reads without harm, and the driver notices what it should.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use quorate::classifier::CLASSIFIERS;
use quorate::ensemble::NoGuests;
use quorate::file;
use quorate::member::MEMBERS;
use quorate_fuzz::drive::drive;
use quorate_fuzz::{Settings, TARGETS, Target, corpus};

#[test]
fn every_file_of_the_corpus_is_read_without_a_panic() {
    for target in TARGETS {
        for (path, bytes) in corpus::read(&target.corpus()).unwrap() {
            println!("{}", path.display());
            (target.read)(&bytes);
        }
    }
}

#[test]
fn a_thousand_damaged_inputs_are_read_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    for target in TARGETS {
        let files = corpus::read(&target.corpus()).unwrap();
        let seeds: Vec<Vec<u8>> = files.into_iter().map(|(_, bytes)| bytes).collect();
        let settings = Settings {
            time: Duration::from_secs(60),
            seed: 1,
            executions: Some(1_000),
            failures: folder.path().to_owned(),
        };
        let statistics = drive(target, &seeds, &settings).unwrap().unwrap();
        assert_eq!(statistics.executions, 1_000);
        assert!(statistics.corpus > seeds.len() && statistics.rate() > 0.0);
        // Some damage must survive the first checks, and some must not.
        assert!(
            (20..980).contains(&statistics.accepted),
            "{}: {statistics:?}",
            target.name
        );
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

/// A reader with a mistake: it trusts a length.
fn trusting(bytes: &[u8]) -> bool {
    if let Some((&length, rest)) = bytes.split_first() {
        assert!(
            length < 200 || rest.len() > 3,
            "length {length} is not to be trusted"
        );
    }
    true
}

#[test]
fn a_mistake_is_found_shortened_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target {
        name: "trusting",
        read: trusting,
        words: &[],
    };
    let settings = Settings {
        time: Duration::from_secs(60),
        seed: 0,
        executions: Some(100_000),
        failures: folder.path().to_owned(),
    };
    let failure = drive(&target, &[b"\x04abcd".to_vec()], &settings)
        .unwrap()
        .unwrap_err();
    assert!(failure.message.contains("not to be trusted"));
    let stored = std::fs::read(&failure.path).unwrap();
    assert!(stored.len() == 1 && stored[0] >= 200, "{stored:?}");
}

#[test]
fn the_corpus_of_models_holds_models_of_today() {
    let model = TARGETS
        .iter()
        .find(|target| target.name == "model")
        .unwrap();
    let files = corpus::read(&model.corpus()).unwrap();
    let models: Vec<_> = files
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "quorate"))
        .collect();
    assert!(!models.is_empty());
    for (path, bytes) in models {
        let verdict = file::from_bytes(bytes, "corpus").map(drop);
        assert!(
            verdict.is_ok(),
            "{}: {verdict:?}; after a change of the format, make them anew: \
             cargo run --release -p quorate-fuzz --example make_models",
            path.display()
        );
        let sealed = quorate_fuzz::seal::sealed(bytes).unwrap();
        assert!(
            file::from_bytes(&sealed, "sealed").is_ok(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_corpus_of_committees_holds_committees_of_today() {
    let target = TARGETS
        .iter()
        .find(|target| target.name == "committee")
        .unwrap();
    let mut known = std::collections::BTreeSet::new();
    for (path, bytes) in corpus::read(&target.corpus()).unwrap() {
        let verdict = file::members::from_bytes(&bytes, "corpus", &NoGuests);
        let model = verdict.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        known.extend(model.kinds().iter().cloned());
        let sealed = quorate_fuzz::seal::sealed(&bytes).unwrap();
        assert!(file::members::from_bytes(&sealed, "sealed", &NoGuests).is_ok());
    }
    // Every kind of member can be read back, so every kind is fuzzed.
    let kinds = MEMBERS.iter().map(|kind| kind.name);
    for kind in kinds.chain(CLASSIFIERS.iter().map(|kind| kind.name)) {
        assert!(known.contains(kind), "{kind}: make_models");
    }
}

#[test]
fn damage_behind_the_checksum_is_sealed_again() {
    let model = TARGETS
        .iter()
        .find(|target| target.name == "model")
        .unwrap();
    let mut bytes = std::fs::read(model.corpus().join("sine.quorate")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let damaged = file::from_bytes(&bytes, "damaged")
        .err()
        .unwrap()
        .to_string();
    assert!(damaged.contains("checksum"), "{damaged}");
    let sealed = quorate_fuzz::seal::sealed(&bytes).unwrap();
    let verdict = file::from_bytes(&sealed, "sealed")
        .err()
        .map(|error| error.to_string());
    assert!(!verdict.unwrap_or_default().contains("checksum"));
    assert_eq!(quorate_fuzz::seal::sealed(b"no model"), None);
}
