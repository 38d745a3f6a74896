//! `inspect`: the model as a page and as a specification.

use crate::harness::Place;
use crate::{FIT, with_train};

#[test]
fn inspect_shows_the_model_and_its_specification_makes_it_again() {
    let place = with_train();
    place.run(&format!("{FIT} --seed 5")).ok();
    let page = place.run("inspect model.quorate").ok().stdout;
    for piece in [
        "model.quorate",
        "target",
        "40 rows",
        "kernel",
        "Inputs",
        "category, 3 levels",
        "relevance",
        "Learning",
    ] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    let quiet = place.run("inspect model.quorate -q").ok().stdout;
    assert_eq!(quiet, page, "what was asked for is printed");
    let json = place.run("inspect model.quorate --json").ok().json();
    assert_eq!(json["rows"], 40);
    assert_eq!(json["file"], "model.quorate");
    assert_eq!(json["bytes"], place.bytes("model.quorate").len());
    assert_eq!(json["spec"]["seed"], 5);
    let spec = place.run("inspect model.quorate --spec").ok().stdout;
    place.write("spec.json", &spec);
    place
        .run("fit train.csv --spec spec.json -o again.quorate")
        .ok();
    assert_eq!(place.bytes("again.quorate"), place.bytes("model.quorate"));
    place
        .run("fit train.csv --spec spec.json --seed 6 --kernel se -o other.quorate")
        .ok();
    let other = place.run("inspect other.quorate --json").ok().json();
    assert_eq!(other["spec"]["seed"], 6);
    assert_eq!(other["spec"]["kernel"], "se");
    assert_eq!(other["spec"]["restarts"], 0);
}

#[test]
fn inspect_shows_dates_as_dates() {
    let place = Place::new();
    place.run("generate categories -n 60 -o train.csv").ok();
    let kernel = "se(ard)[day,open,load]";
    place
        .run(&format!(
            "fit train.csv --target y --kernel {kernel} --learn none -o m.quorate"
        ))
        .ok();
    let page = place.run("inspect m.quorate").ok().stdout;
    let day = page
        .lines()
        .find(|line| line.trim().starts_with("day"))
        .unwrap();
    assert!(
        day.contains(" date ") && day.contains(" 202") && day.contains(" days"),
        "{page}"
    );
    assert!(
        page.lines()
            .any(|line| line.trim().starts_with("open") && line.contains(" boolean ")),
        "{page}"
    );
}
