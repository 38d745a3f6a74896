//! The text form of kernels: what it accepts, what it prints, and where its errors point.
#![allow(clippy::unwrap_used)]

use quorate_gp::Error;
use quorate_gp::data::{ColumnKind, InputColumn};
use quorate_gp::kernel::{Covariance, Kernel};

fn column(name: &str, kind: ColumnKind, deviation: f64) -> InputColumn {
    InputColumn {
        name: name.to_owned(),
        kind,
        deviation,
    }
}

fn table() -> Vec<InputColumn> {
    vec![
        column("age", ColumnKind::Number, 10.0),
        column("age", ColumnKind::Missing, 1.0),
        column("bmi", ColumnKind::Number, 3.7),
        column("site", ColumnKind::Category { levels: 3 }, 1.0),
        column("ward", ColumnKind::Category { levels: 4 }, 1.0),
    ]
}

fn parse(text: &str) -> Kernel {
    text.parse().unwrap()
}

/// Position and problem of the error that the text gives, when parsed and bound.
fn fault(text: &str) -> (usize, String) {
    let error = text
        .parse::<Kernel>()
        .and_then(|kernel| kernel.bind(&table()))
        .unwrap_err();
    match error {
        Error::Kernel {
            position, problem, ..
        } => (position, problem),
        other => panic!("{other}"),
    }
}

fn names(text: &str) -> Vec<String> {
    let bound = parse(text).bind(&table()).unwrap();
    bound.parameters().into_iter().map(|p| p.name).collect()
}

#[test]
fn text_is_printed_in_one_canonical_way() {
    for (text, printed) in [
        ("se", "se"),
        (
            " matern32 ( ard )+linear+constant ",
            "matern32(ard) + linear + constant",
        ),
        ("se[age,bmi]*category[site]", "se[age,bmi] * category[site]"),
        ("2*3*se", "6 * se"),
        ("se*0.5", "0.5 * se"),
        ("1e+2 * se + 1E-3*se", "100 * se + 0.001 * se"),
        ("0.25", "0.25 * constant"),
        ("2 fixed * se", "2 fixed * se"),
        ("(se)", "se"),
        ("((se + linear)) + constant", "se + linear + constant"),
        ("(2*se)*(3*linear)", "6 * se * linear"),
        ("2*(se + linear)", "2 * (se + linear)"),
        (
            "(se + linear)*(se + constant)",
            "(se + linear) * (se + constant)",
        ),
        (
            "se(length_scale=[1,2.50,3e0],ard)",
            "se(ard, length_scale=[1,2.5,3])",
        ),
        (
            "rq(shape=2 fixed, length_scale=0.1)",
            "rq(length_scale=0.1, shape=2 fixed)",
        ),
        (
            "periodic(period=365.25)[\"the date\"]",
            "periodic(period=365.25)[\"the date\"]",
        ),
        ("se[\"age\"]", "se[age]"),
        (r#"se["a\"b\\c"]"#, r#"se["a\"b\\c"]"#),
        (
            "basis(functions=fourier,count=4)",
            "basis(functions=fourier, count=4)",
        ),
        ("category(rank=2)[site]", "category(rank=2)[site]"),
    ] {
        assert_eq!(parse(text).to_string(), printed);
        assert_eq!(parse(printed), parse(text));
    }
}

#[test]
fn structure_drops_learned_values_and_keeps_choices() {
    for (text, structure) in [
        (
            "2 * se(ard, length_scale=[1,2])[age,bmi]",
            "se(ard)[age,bmi]",
        ),
        ("2 fixed * se", "2 fixed * se"),
        ("rq(shape=3 fixed, length_scale=2)", "rq(shape=3 fixed)"),
        ("polynomial(degree=3, offset=2)", "polynomial(degree=3)"),
        (
            "basis(functions=fourier, period=12)",
            "basis(functions=fourier, period=12)",
        ),
        ("category(rank=1, kappa=2)[site]", "category(rank=1)[site]"),
        ("4 * (2 * se + 3 * linear)", "4 * (se + linear)"),
        (
            "9 * (se + matern12[age]) + category(rank=2)[site]",
            "9 * (se + matern12[age]) + category(rank=2)[site]",
        ),
    ] {
        let structure = structure.parse::<Kernel>().unwrap().to_string();
        let found = parse(text).structure();
        assert_eq!(found.parse::<Kernel>().unwrap().to_string(), structure);
    }
}

#[test]
fn errors_point_at_the_character_and_suggest_the_nearest_name() {
    for (text, position, words) in [
        ("", 0, "the end"),
        ("matern23", 0, "did you mean `matern32`"),
        ("se + liner", 5, "did you mean `linear`"),
        ("se(lenght_scale=1)", 3, "did you mean `length_scale`"),
        ("se(ard", 6, "found the end"),
        ("se)", 2, "closes nothing"),
        ("(se", 3, "found the end"),
        ("se se", 3, "found `se`"),
        ("se * ", 4, "found the end"),
        ("se + + se", 5, "found `+`"),
        ("-1 * se", 0, "above 0"),
        ("0 * se", 0, "above 0"),
        ("1e999 * se", 0, "too large"),
        ("1e200 * se", 0, "between 1e-100 and 1e100"),
        ("se(length_scale=1e-200)", 16, "between 1e-100 and 1e100"),
        (
            "category(rank=1, embedding=[1,1e200])[site]",
            30,
            "between -1e100 and 1e100",
        ),
        ("1.2.3 * se", 0, "not a number"),
        ("se(length_scale=0)", 16, "above 0"),
        ("se(length_scale=-1)", 16, "above 0"),
        ("se(length_scale=[1,2])", 3, "needs `ard`"),
        ("se(length_scale=[])", 17, "needs a number"),
        ("se(ard, ard)", 8, "given twice"),
        ("se(length_scale=1, length_scale=2)", 19, "given twice"),
        ("polynomial(degree=2.5)", 18, "whole number"),
        ("polynomial(degree=2 fixed)", 20, "never learned"),
        ("polynomial(ard)", 11, "does not apply"),
        ("constant(ard)", 9, "does not apply"),
        ("constant[age]", 8, "reads no columns"),
        ("linear(length_scale=2)", 7, "only with `ard`"),
        ("basis(functions=furier)", 16, "did you mean `fourier`"),
        ("basis(functions=fourier, width=1)", 25, "does not belong"),
        ("category(rank=2, length_scale=1)[site]", 9, "not both"),
        ("category(kappa=1)[site]", 9, "needs `rank`"),
        ("se[agee]", 3, "did you mean `age`"),
        ("se + se[bmi, agee]", 12, "did you mean `age`"),
        ("se[site]", 3, "holds categories"),
        ("category[age]", 9, "holds numbers"),
        ("linear + category", 9, "category[site], category[ward]"),
        ("category(rank=2)[site,ward]", 22, "reads one column"),
        ("se[age,age]", 7, "named twice"),
        ("se[\"age]", 3, "never closed"),
        ("se € linear", 3, "unexpected character"),
        ("\"é\"", 0, "expected a kernel name"),
        ("se[é, agee]", 3, "no input column"),
        ("se(ard, length_scale=[1,2])", 8, "takes one number or 3"),
    ] {
        let (found, problem) = fault(text);
        assert!(problem.contains(words), "{text}: {problem}");
        assert_eq!(found, position, "{text}: {problem}");
    }
}

#[test]
fn the_caret_stands_under_the_problem() {
    let error = "se + liner".parse::<Kernel>().unwrap_err().to_string();
    let mut lines = error.lines().rev();
    let caret = lines.next().unwrap().find('^').unwrap();
    let text = lines.next().unwrap();
    assert_eq!(&text[caret..], "liner");
    let error = "se\n\t+ liner".parse::<Kernel>().unwrap_err().to_string();
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn a_category_kernel_without_a_category_column_is_an_error() {
    let numbers = [column("x", ColumnKind::Number, 1.0)];
    let error = parse("se * category").bind(&numbers).unwrap_err();
    assert!(error.to_string().contains("no category column"), "{error}");
}

#[test]
fn hostile_text_is_refused_without_harm() {
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<Kernel>().is_err());
    let balanced = format!("{}se{}", "(".repeat(39), ")".repeat(39));
    assert_eq!(parse(&balanced), parse("se"));
    let long = vec!["se"; 200_000].join("+");
    assert!(long.parse::<Kernel>().is_err());
    assert!("se+".repeat(1_000_000).parse::<Kernel>().is_err());
}

#[test]
fn parameters_are_named_after_their_kernel_and_column() {
    assert_eq!(
        names("matern32(ard)"),
        [
            "matern32.variance",
            "matern32.length_scale[age]",
            "matern32.length_scale[age missing]",
            "matern32.length_scale[bmi]"
        ]
    );
    assert_eq!(
        names("se[bmi] * category[site] + se + linear(ard)[bmi]"),
        [
            "se*category.variance",
            "se.length_scale",
            "category.length_scale",
            "se#2.variance",
            "se#2.length_scale",
            "linear.length_scale[bmi]"
        ]
    );
    assert_eq!(
        names("(se[bmi] + constant) * periodic[bmi]"),
        [
            "se.variance",
            "se.length_scale",
            "constant.variance",
            "periodic.length_scale",
            "periodic.period[bmi]"
        ]
    );
    assert_eq!(names("category(rank=2)[site]").len(), 3 * 2 + 1);
}

#[test]
fn every_product_has_one_variance_unless_a_factor_has_its_own() {
    let count = |text: &str| {
        let bound = parse(text).bind(&table()).unwrap();
        let variances = bound.parameters();
        variances
            .iter()
            .filter(|p| p.name.ends_with(".variance") && !p.fixed)
            .count()
    };
    assert_eq!(count("se"), 1);
    assert_eq!(count("se * se"), 1);
    assert_eq!(count("se + se"), 2);
    assert_eq!(count("linear"), 1);
    assert_eq!(count("linear(ard)"), 0);
    assert_eq!(count("2 * linear(ard)"), 0);
    assert_eq!(count("category(rank=1)[site]"), 0);
    assert_eq!(count("(se + linear) * category[site]"), 2);
    assert_eq!(count("2 fixed * se"), 0);
}

#[test]
fn a_period_is_written_in_the_units_of_its_column() {
    let text = "periodic(period=365.25)[bmi]";
    let bound = parse(text).bind(&table()).unwrap();
    let period = bound.parameters().pop().unwrap();
    assert!((period.value - 365.25 / 3.7).abs() < 1e-12);
    assert_eq!(
        bound.kernel().to_string(),
        "1 * periodic(length_scale=1, period=365.25)[bmi]"
    );
}

#[test]
fn a_learned_kernel_comes_back_from_its_text_to_the_last_bit() {
    let text = "matern52(ard) + periodic(ard)[age,bmi] * category(rank=2)[site] + rq[bmi] + polynomial \
                + network * category[ward] + 2 * (se + constant) * linear(ard)";
    let mut bound = parse(text).bind(&table()).unwrap();
    let parameters = bound.parameters();
    let learned = parameters.iter().enumerate().map(|(k, parameter)| {
        if parameter.fixed {
            parameter.coordinate()
        } else {
            (k as f64 * 1.7).sin()
        }
    });
    bound
        .set_coordinates(&learned.collect::<Vec<f64>>())
        .unwrap();
    let written = bound.kernel().to_string();
    let again = parse(&written).bind(&table()).unwrap();
    assert_eq!(again.parameters(), bound.parameters());
    assert_eq!(again.kernel().to_string(), written);
    assert_eq!(bound.kernel().structure(), parse(text).structure());
    let json = serde_json::to_string(&bound.kernel()).unwrap();
    assert_eq!(
        serde_json::from_str::<Kernel>(&json).unwrap(),
        bound.kernel()
    );
}

#[test]
fn a_kernel_is_stored_as_its_text() {
    let kernel = parse("2*se[\"a b\"]");
    let json = serde_json::to_string(&kernel).unwrap();
    assert_eq!(json, r#""2 * se[\"a b\"]""#);
    assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
    let problem = serde_json::from_str::<Kernel>("\"sse[\"").unwrap_err();
    assert!(problem.to_string().contains("unknown kernel"), "{problem}");
}

#[test]
fn columns_that_no_factor_reads_are_listed() {
    let unused = |text: &str| parse(text).bind(&table()).unwrap().unused_columns();
    assert_eq!(unused("se"), [3, 4]);
    assert_eq!(unused("se[bmi]"), [0, 1, 3, 4]);
    assert_eq!(unused("se * category[ward]"), [3]);
    assert_eq!(unused("constant"), [0, 1, 2, 3, 4]);
}

#[test]
fn relevance_is_the_largest_inverse_length_scale() {
    let text = "se(ard, length_scale=[2,4,8]) + matern32(length_scale=0.5)[bmi] + category(length_scale=5)[site]";
    let relevance = parse(text).bind(&table()).unwrap().relevance();
    let expected = [
        ("age", 0.5),
        ("age missing", 0.25),
        ("bmi", 2.0),
        ("site", 0.2),
        ("ward", 0.0),
    ];
    for ((label, value), (name, wanted)) in relevance.iter().zip(expected) {
        assert_eq!((label.as_str(), *value), (name, wanted));
    }
}

#[test]
fn coordinates_of_the_wrong_number_or_size_are_errors() {
    let mut bound = parse("se").bind(&table()).unwrap();
    assert!(matches!(
        bound.set_coordinates(&[0.0]),
        Err(Error::Shape { .. })
    ));
    let before = bound.parameters();
    for bad in [f64::NAN, f64::INFINITY, 1e6, -1e6, 231.0, -231.0] {
        let error = bound.set_coordinates(&[0.0, bad]).unwrap_err();
        assert!(error.is_recoverable());
        assert_eq!(bound.parameters(), before);
    }
}
