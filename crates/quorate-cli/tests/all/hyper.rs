//! Hyperparameters as a distribution, as people would use them.
#![allow(clippy::unwrap_used)]

use crate::harness;

use harness::{Place, rows};

#[test]
fn parts_that_exchange_approximations_give_error_bars() {
    let place = Place::new();
    place.write("train.csv", rows(80, 1));
    for learn in ["lla", "laplace-propagation"] {
        let line = format!(
            "fit train.csv --target y --mode landmarks --landmarks 20 --part-size 30 --kernel se(ard)*category --learn {learn} --hyperprior normal:0,2 -o m.quorate"
        );
        place.run(&line).ok();
        let page = place.run("inspect m.quorate").ok().stdout;
        assert!(
            page.contains("What is believed about the hyperparameters"),
            "{page}"
        );
        assert!(page.contains("hyperprior normal:0,2"), "{page}");
        let json = place.run("inspect m.quorate --json").ok().json();
        let beliefs = json["hyperposterior"]["parameters"].as_array().unwrap();
        assert!(
            beliefs
                .iter()
                .all(|b| b["deviation"].as_f64().unwrap() > 0.0)
        );
    }
    let spec = place.run("inspect m.quorate --spec").ok().stdout;
    place.write("spec.json", spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate --threads 1")
        .ok();
    assert_eq!(place.bytes("m.quorate"), place.bytes("again.quorate"));
}

#[test]
fn draws_are_kept_shown_drawn_and_averaged_over() {
    let place = Place::new();
    place.write("train.csv", rows(60, 1));
    place.write("new.csv", rows(5, 2));
    let line = "fit train.csv --target y --kernel se(ard)*category --learn nuts --chains 2 --draws 40 --warmup 60 -o m.quorate";
    let outcome = place.run(line).ok();
    assert!(
        outcome.stdout.contains("NUTS drew 80 times in 2 chains"),
        "{outcome:?}"
    );
    let page = place
        .run("inspect m.quorate --plot relevance.svg")
        .ok()
        .stdout;
    assert!(
        page.contains("R-hat") && page.contains("by NUTS: 2 chains of 40 draws"),
        "{page}"
    );
    let picture = place.read("relevance.svg");
    assert!(
        picture.contains("log w: ") && picture.ends_with("</svg>\n"),
        "{picture}"
    );
    let answers = place
        .run("predict m.quorate new.csv --quantiles 0.5")
        .ok()
        .stdout;
    assert_eq!(answers.lines().count(), 6);
    place.run("evaluate m.quorate train.csv").ok();

    place
        .run("fit train.csv --target y --kernel se --learn none -o plain.quorate")
        .ok();
    let refused = place.run("inspect plain.quorate --plot none.svg");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("nothing to draw"), "{refused:?}");
    for (flags, words) in [
        ("--chains 3", "`--chains` needs `--learn nuts`"),
        ("--hyperprior broad", "`--hyperprior` needs"),
        ("--learn lla --hyperprior weak", "normal hyperprior"),
        ("--learn hmc --draws 2", "between 4 and"),
    ] {
        let refused = place.run(&format!("fit train.csv --target y -o n.quorate {flags}"));
        // What a flag cannot be by itself is an error of usage.
        let code = if flags.contains("--draws") { 2 } else { 1 };
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
}
