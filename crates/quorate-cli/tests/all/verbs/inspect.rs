//! `inspect`: the model as a page and as a specification.

use super::{FIT, with_train};
use crate::harness::Place;

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

#[test]
fn inspect_shows_a_committee_of_members_and_draws_its_weights() {
    use quorate::ensemble::{CommitteeModel, CommitteeSpec, MakerChoice, NoGuests};
    use quorate_gp::data::{Column, Frame};
    let place = Place::new();
    let x: Vec<f64> = (0..60).map(|row| (row as f64 * 0.7).sin()).collect();
    let y = x.iter().map(|x| 2.0 * x + 0.1 * (40.0 * x).sin()).collect();
    let table = Frame::from_columns(vec![("x", Column::Number(x)), ("y", Column::Number(y))]);
    let save = |rule: &str, file: &str| {
        let spec = CommitteeSpec {
            target: "y".into(),
            members: vec!["linear".into(), "tree".into()],
            maker: MakerChoice::All,
            rule: Some(rule.into()),
            ..CommitteeSpec::default()
        };
        let table = table.as_ref().unwrap();
        let model = CommitteeModel::fit(&spec, table, &NoGuests, &quorate_gp::watch::Unwatched);
        quorate::file::members::save(&model.unwrap(), &place.path(file)).unwrap();
    };
    save("stacking", "stacked.quorate");
    save("product", "product.quorate");
    let page = place
        .run("inspect stacked.quorate --plot weights.svg")
        .ok()
        .stdout;
    for piece in [
        "a committee of members",
        "2 members",
        "stacking",
        "linear",
        "weight",
    ] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    let json = place.run("inspect stacked.quorate --json").ok().json();
    let weights = json["weights"].as_array().unwrap();
    let picture = place.read("weights.svg");
    assert!(picture.starts_with("<svg") && picture.contains("1 linear"));
    // The line is right, and the picture has the weights of the file.
    assert!(weights[0].as_f64().unwrap() > weights[1].as_f64().unwrap());
    assert_eq!(picture.matches("class=\"bar\"").count(), 2);
    let spec = place.run("inspect stacked.quorate --spec").ok().json();
    assert_eq!(spec["rule"], "stacking");
    let refused = place.run("inspect product.quorate --plot none.svg");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("`product` weighs members anew"),
        "{refused:?}"
    );
    assert!(!place.path("none.svg").exists());
    let mut bytes = place.bytes("stacked.quorate");
    bytes.truncate(bytes.len() - 5);
    place.write("cut.quorate", bytes);
    assert_eq!(place.run("inspect cut.quorate").code, Some(1));
}
