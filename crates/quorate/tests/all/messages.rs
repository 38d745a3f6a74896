//! Parts that travel: the sum is the same to the last bit whoever was first, and nonsense is refused by name.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::shards::{bytes, quick, table};
use quorate::gp::watch::Unwatched;
use quorate::parts::{Forget, ObjectiveMessage, PartMessage, Privacy};
use quorate::{Model, file};

fn prepared() -> Model {
    Model::prepare(&quick(), &table(0, 200), &Unwatched).unwrap()
}

fn message(model: &Model, from: usize, to: usize, name: &str) -> PartMessage {
    let (message, _) = model
        .part_message(&table(from, to), name, &Unwatched)
        .unwrap();
    // Through its bytes, as it would travel.
    PartMessage::from_bytes(&message.to_bytes().unwrap(), name).unwrap()
}

fn three(model: &Model) -> Vec<(String, PartMessage)> {
    let spans = [(0, 90, "a"), (90, 200, "b"), (200, 310, "c")];
    let sent = spans.map(|(from, to, name)| (name.to_owned(), message(model, from, to, name)));
    sent.to_vec()
}

#[test]
fn absorbed_messages_are_the_bytes_of_update_and_merge_in_any_order() {
    let model = prepared();
    let sent = three(&model);
    let mut orders = vec![sent.clone(), sent.clone(), sent.clone()];
    orders[1].reverse();
    orders[2].rotate_left(1);
    let absorbed: Vec<Vec<u8>> = orders
        .into_iter()
        .map(|sent| bytes(&model.fork().absorb(sent, false).unwrap()))
        .collect();
    assert!(absorbed.iter().all(|own| *own == absorbed[0]));
    let updated = |from: usize, to: usize, name: &str| {
        let model = model
            .fork()
            .update(&table(from, to), name, false, &Unwatched);
        (name.to_owned(), model.unwrap().0)
    };
    let merged = Model::merge(vec![
        updated(200, 310, "c"),
        updated(0, 90, "a"),
        updated(90, 200, "b"),
    ]);
    assert_eq!(bytes(&merged.unwrap()), absorbed[0]);
    // Any number of threads.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let alone = pool.install(|| bytes(&model.fork().absorb(three(&model), false).unwrap()));
    assert_eq!(alone, absorbed[0]);
}

#[test]
fn a_part_that_was_absorbed_and_forgotten_was_never_there() {
    let model = prepared();
    let sent = three(&model);
    let without: Vec<_> = sent
        .iter()
        .filter(|(name, _)| name != "b")
        .cloned()
        .collect();
    let all = model.fork().absorb(sent, true).unwrap();
    let what = Forget {
        part: Some("b"),
        rows: None,
    };
    let (left, _) = all.forget(what, &Unwatched).unwrap();
    assert_eq!(bytes(&left), bytes(&model.absorb(without, true).unwrap()));
}

#[test]
fn what_cannot_be_believed_is_refused_and_named() {
    let model = prepared();
    let good = message(&model, 0, 90, "a");
    let refused = |change: &dyn Fn(&mut PartMessage)| {
        let mut bad = good.clone();
        change(&mut bad);
        let sent = vec![("north".to_owned(), bad)];
        let text = model.fork().absorb(sent, false).unwrap_err().to_string();
        assert!(text.starts_with("north: "), "{text}");
        text
    };
    assert!(refused(&|m| m.summary.information[(3, 1)] = f64::NAN).contains("not finite"));
    assert!(refused(&|m| m.summary.vector[(0, 0)] = f64::INFINITY).contains("not finite"));
    assert!(refused(&|m| m.summary.log_evidence = f64::NAN).contains("not finite"));
    assert!(refused(&|m| m.summary.information[(2, 2)] = -1.0).contains("negative"));
    assert!(refused(&|m| m.summary.information[(4, 0)] += 1e6).contains("semi-definite"));
    assert!(refused(&|m| m.summary.rows = -3.0).contains("no rows"));
    assert!(refused(&|m| m.summary.rows = f64::NAN).contains("no rows"));
    assert!(refused(&|m| m.record.name = String::new()).contains("name"));
    assert!(refused(&|m| m.record.name = "a\n".into()).contains("name"));
    assert!(refused(&|m| m.record.fingerprint = "x".into()).contains("fingerprint"));
    assert!(refused(&|m| m.shared = "0".repeat(64)).contains("made under other columns"));
    let shrink = |m: &mut PartMessage| m.summary = quorate::landmarks::Summary::empty(3, 1);
    assert!(refused(&shrink).contains("number of landmarks"));
    // A part that is there already, and one that comes twice.
    let twice = vec![
        ("a".to_owned(), good.clone()),
        ("again".to_owned(), good.clone()),
    ];
    let text = model.fork().absorb(twice, false).unwrap_err().to_string();
    assert!(
        text.starts_with("again: there is a part `a` already"),
        "{text}"
    );
    // Another specification.
    let mut spec = quick();
    spec.seed = 9;
    let other = Model::prepare(&spec, &table(300, 500), &Unwatched).unwrap();
    assert!(other.check_part(&good, "north").is_err());
    assert!(model.check_part(&good, "north").is_ok());
}

#[test]
fn damaged_bytes_are_refused_wherever_they_are_damaged() {
    let model = prepared();
    let sound = message(&model, 0, 90, "a").to_bytes().unwrap();
    assert!(PartMessage::from_bytes(&sound, "x").is_ok());
    for place in (0..sound.len()).step_by(sound.len() / 97) {
        let mut damaged = sound.clone();
        damaged[place] ^= 0x20;
        let Ok(read) = PartMessage::from_bytes(&damaged, "x") else {
            continue;
        };
        // Padding between the header and the numbers may change without changing anything.
        assert_eq!(
            read,
            PartMessage::from_bytes(&sound, "x").unwrap(),
            "byte {place}"
        );
    }
    for length in [0, 7, 8, 100, sound.len() - 1] {
        assert!(PartMessage::from_bytes(&sound[..length], "x").is_err());
    }
    // A model is no part, and a part is no model.
    assert!(PartMessage::from_bytes(&bytes(&model), "x").is_err());
    assert!(file::from_bytes(&sound, "x").is_err());
}

#[test]
fn shares_of_an_objective_add_in_the_order_of_names() {
    let model = prepared();
    let shared = model.shared_fingerprint().unwrap();
    let share = |part: &str, value: f64| ObjectiveMessage {
        shared: shared.clone(),
        part: part.into(),
        coordinates: vec![0.1, 0.2],
        value,
        gradient: vec![value / 3.0, 1e-17],
    };
    let all = [share("a", 1e16), share("b", 1.0), share("c", -1e16)];
    let sent: Vec<Vec<u8>> = all.iter().map(|own| own.to_bytes().unwrap()).collect();
    let read = |order: [usize; 3]| {
        let messages = order.map(|i| ObjectiveMessage::from_bytes(&sent[i], "x").unwrap());
        ObjectiveMessage::sum(messages.to_vec()).unwrap()
    };
    let first = read([0, 1, 2]);
    for order in [[2, 1, 0], [1, 2, 0], [1, 0, 2]] {
        assert_eq!(read(order), first);
    }
    assert_eq!(first.0, (1e16 + 1.0) - 1e16);
    let mut elsewhere = share("d", 1.0);
    elsewhere.coordinates[0] = 0.3;
    assert!(ObjectiveMessage::sum(vec![share("a", 1.0), elsewhere]).is_err());
    assert!(ObjectiveMessage::sum(vec![share("a", 1.0), share("a", 2.0)]).is_err());
    let mut damaged = sent[0].clone();
    let at = damaged.len() - 8;
    damaged[at] ^= 1;
    assert!(ObjectiveMessage::from_bytes(&damaged, "x").is_err());
    let nonsense = share("a", f64::NAN).to_bytes();
    assert!(nonsense.is_err() || ObjectiveMessage::from_bytes(&nonsense.unwrap(), "x").is_err());
}

#[test]
fn noise_hides_a_row_and_bounds_hold() {
    let model = prepared();
    let privacy = Privacy {
        features: 1.0,
        targets: 1.0,
        multiplier: 1e-9,
    };
    // Almost without noise: what one row changes is within the sensitivity.
    let sums = |to: usize| {
        let sent = model.private_part_message(&table(0, to), "a", &privacy, [7; 32]);
        let (message, share) = sent.unwrap();
        assert!((0.0..=1.0).contains(&share));
        message.summary
    };
    let (with, without) = (sums(200), sums(199));
    let count = with.landmarks();
    let mut squared = 0.0;
    for row in 0..count {
        for column in 0..count {
            let at = (row.max(column), row.min(column));
            squared += (with.information[at] - without.information[at]).powi(2);
        }
        squared += (with.vector[(row, 0)] - without.vector[(row, 0)]).powi(2);
    }
    let sensitivity = privacy.sensitivity(1);
    assert!((sensitivity - 2f64.sqrt()).abs() < 1e-15);
    assert!(squared.sqrt() > 0.0 && squared.sqrt() <= sensitivity * (1.0 + 1e-6));
    // The same seed gives the same bytes, another does not; a noisy part is a part like others.
    let noisy = Privacy {
        multiplier: 1.0,
        ..privacy
    };
    let sent = |seed: u8| {
        let sent = model.private_part_message(&table(0, 200), "a", &noisy, [seed; 32]);
        sent.unwrap().0
    };
    assert_eq!(sent(1), sent(1));
    assert_ne!(sent(1), sent(2));
    assert_eq!(sent(1).summary.log_evidence, 0.0);
    let fused = model
        .fork()
        .absorb(vec![("a".to_owned(), sent(1))], false)
        .unwrap();
    assert!(
        fused
            .predict(&table(0, 5))
            .unwrap()
            .mean
            .iter()
            .all(|m| m.is_finite())
    );
    for wrong in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let wrong = Privacy {
            multiplier: wrong,
            ..privacy
        };
        assert!(
            model
                .private_part_message(&table(0, 20), "a", &wrong, [0; 32])
                .is_err()
        );
    }
}
