//! The parser under random trees and random damage.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use quorate_gp::kernel::{Kernel, fuzz_parse};

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u32..10_000).prop_map(|n| n.to_string()),
        (1e-90..1e90_f64).prop_map(|x| format!("{x:e}")),
        (1e-3..1e3_f64).prop_map(|x| format!("{x}")),
    ]
}

fn signed() -> impl Strategy<Value = String> {
    (prop::bool::ANY, number()).prop_map(|(minus, n)| if minus { format!("-{n}") } else { n })
}

fn list(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec(value, 1..5).prop_map(|values| format!("[{}]", values.join(" , ")))
}

fn fixed() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(""), Just(" fixed")]
}

fn atom() -> impl Strategy<Value = String> {
    let columns = prop_oneof![
        Just(String::new()),
        Just("[a]".to_owned()),
        Just("[a, \"b c\"]".to_owned()),
        "\\[[a-z_]{1,8}\\]",
        "[a-z \\\\\"é]{0,6}".prop_map(|name| format!("[{}]", quote(&name))),
    ];
    let radial = (
        prop_oneof![
            Just("se"),
            Just("matern12"),
            Just("matern32"),
            Just("matern52"),
            Just("rq")
        ],
        prop_oneof![
            Just(String::new()),
            Just("(ard)".to_owned()),
            (number(), fixed()).prop_map(|(n, fixed)| format!("(length_scale={n}{fixed})")),
            (list(number()), fixed())
                .prop_map(|(n, fixed)| format!("(length_scale = {n}{fixed},ard)")),
        ],
        columns.clone(),
    )
        .prop_map(|(name, arguments, columns)| format!("{name}{arguments}{columns}"));
    let other = prop_oneof![
        Just("constant".to_owned()),
        Just("linear".to_owned()),
        Just("linear(ard)[a]".to_owned()),
        (number(), number()).prop_map(|(p, l)| format!("periodic(period={p}, length_scale={l})")),
        (1..20_usize, number()).prop_map(|(d, o)| format!("polynomial(offset={o}, degree={d})")),
        (number(), number()).prop_map(|(w, b)| format!("network(bias={b}, weight={w})")),
        list(signed()).prop_map(|c| format!("basis(centres={c})")),
        (number(), 1..9_usize)
            .prop_map(|(p, k)| format!("basis(functions=fourier, period={p}, count={k})")),
        number().prop_map(|l| format!("category(length_scale={l})[s]")),
        (list(signed()), number())
            .prop_map(|(w, k)| format!("category(rank=1, embedding={w}, kappa={k})")),
    ];
    prop_oneof![radial, other]
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![4 => atom(), 1 => number(), 1 => number().prop_map(|n| format!("{n} fixed"))];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|terms| terms.join(" + ")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|factors| factors
                .iter()
                .map(|f| format!("({f})"))
                .collect::<Vec<_>>()
                .join("*")),
            inner.prop_map(|group| format!("( {group} )")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_trees_survive_the_round_trip(text in expression()) {
        fuzz_parse(text.as_bytes());
        // Products of random numbers may leave the range; everything else must parse.
        if let Err(error) = text.parse::<Kernel>() {
            prop_assert!(error.to_string().contains("a variance lies between"), "{error}");
        }
    }

    #[test]
    fn damaged_text_never_harms(text in expression(), place in 0..200_usize, with in any::<u8>(), kind in 0..3) {
        let mut bytes = text.into_bytes();
        let place = place % bytes.len();
        match kind {
            0 => bytes[place] = with,
            1 => bytes.insert(place, with),
            _ => {
                bytes.remove(place);
            }
        }
        fuzz_parse(&bytes);
    }

    #[test]
    fn any_text_at_all_never_harms(text in "\\PC{0,60}") {
        fuzz_parse(text.as_bytes());
    }

    #[test]
    fn words_of_the_language_in_any_order_never_harm(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "se", "matern32", "(", ")", "[", "]", "+", "*", ",", "=", "ard", "fixed", "length_scale", "rank",
                "1", "-2", "1e9", "0", "\"a\"", "a", "category", "basis", "functions", "fourier", "period", "é", " ",
            ]),
            0..40,
        )
    ) {
        fuzz_parse(words.concat().as_bytes());
        fuzz_parse(words.join(" ").as_bytes());
    }
}
