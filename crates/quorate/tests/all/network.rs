//! Networks of Gaussian processes: against exact enumeration, against a closed form, and a graph found again.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use quorate::KernelChoice;
use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::network::{
    Answer, Ask, Graph, Network, NetworkSpec, Search, Value, fit_network, network_from_bytes,
    network_to_bytes, search_graph,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

fn uniform(random: &mut ChaCha12Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn normal(random: &mut ChaCha12Rng) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

fn graph(text: &str) -> Graph {
    serde_json::from_str(text).unwrap()
}

fn labels(cells: &[bool]) -> Column {
    let label = |cell: &bool| Some(Arc::from(if *cell { "yes" } else { "no" }));
    Column::Text(cells.iter().map(label).collect())
}

/// a -> c <- b, c -> d.
fn switches(rows: usize, seed: u64) -> Frame {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut columns: [Vec<bool>; 4] = Default::default();
    for _ in 0..rows {
        let a = uniform(&mut random) < 0.4;
        let b = uniform(&mut random) < 0.6;
        let both = match (a, b) {
            (true, true) => 0.95,
            (true, false) => 0.3,
            (false, true) => 0.5,
            (false, false) => 0.05,
        };
        let c = uniform(&mut random) < both;
        let d = uniform(&mut random) < if c { 0.85 } else { 0.2 };
        for (column, cell) in columns.iter_mut().zip([a, b, c, d]) {
            column.push(cell);
        }
    }
    let names = ["a", "b", "c", "d"];
    Frame::from_columns(
        names
            .into_iter()
            .zip(columns.iter().map(|own| labels(own)))
            .collect(),
    )
    .unwrap()
}

fn label(cell: bool) -> Value {
    Value::Label(if cell { "yes" } else { "no" }.to_owned())
}

fn ask(network: &Network, about: &str, given: Vec<(String, Value)>, rows: usize) -> Answer {
    let ask = Ask {
        about: vec![about.to_owned()],
        given,
        rows,
        rounds: 30,
        seed: 3,
    };
    network.query(&ask).unwrap().answers.remove(0)
}

fn probability(answer: &Answer) -> (f64, f64) {
    match answer {
        Answer::Labels { shares, .. } => {
            let found = shares.iter().find(|(label, ..)| label == "yes").unwrap();
            (found.1, found.2)
        }
        Answer::Number { .. } => panic!("labels were expected"),
    }
}

#[test]
fn queries_agree_with_exact_enumeration() {
    let table = switches(400, 1);
    let graph = graph(r#"{"parents":{"a":[],"b":[],"c":["a","b"],"d":["c"]}}"#);
    let network = fit_network(&graph, &table, &NetworkSpec::default(), &Unwatched).unwrap();
    // With everything given, the weight of a row is the joint probability.
    let joint = |cells: [bool; 4]| {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let given: Vec<_> = names.into_iter().zip(cells.map(label)).collect();
        network.draw(1, &given, 1, 0).unwrap().1[0].exp()
    };
    let states = (0..16).map(|k| [k & 1 > 0, k & 2 > 0, k & 4 > 0, k & 8 > 0]);
    let all: Vec<([bool; 4], f64)> = states.map(|cells| (cells, joint(cells))).collect();
    assert!((all.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-9);
    let exact = |target: usize, keep: &dyn Fn(&[bool; 4]) -> bool| {
        let kept = all.iter().filter(|(cells, _)| keep(cells));
        let total: f64 = kept.clone().map(|(_, p)| p).sum();
        kept.filter(|(cells, _)| cells[target])
            .map(|(_, p)| p)
            .sum::<f64>()
            / total
    };
    for (about, given, exact) in [
        ("a", vec![("d", true)], exact(0, &|cells| cells[3])),
        (
            "b",
            vec![("d", false), ("a", true)],
            exact(1, &|cells| !cells[3] && cells[0]),
        ),
        ("d", vec![("a", false)], exact(3, &|cells| !cells[0])),
        ("c", vec![], exact(2, &|_| true)),
    ] {
        let given = given
            .into_iter()
            .map(|(name, cell)| (name.to_owned(), label(cell)));
        let (found, error) = probability(&ask(&network, about, given.collect(), 20_000));
        assert!(
            (found - exact).abs() < 4.0 * error,
            "{about}: {found} {exact} {error}"
        );
        assert!(error > 0.0 && error < 0.02);
    }
    let again = network_from_bytes(&network_to_bytes(&network).unwrap(), "memory").unwrap();
    let told = |network: &Network| ask(network, "a", vec![("d".into(), label(true))], 500);
    assert_eq!(told(&network), told(&again));
    let impossible = network.query(&Ask {
        about: vec!["a".into()],
        given: vec![("d".into(), Value::Label("perhaps".into()))],
        rows: 10,
        rounds: 1,
        seed: 0,
    });
    assert!(
        impossible
            .unwrap_err()
            .to_string()
            .contains("never `perhaps`")
    );
}

#[test]
fn a_linear_network_has_its_closed_form() {
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let x: Vec<f64> = (0..600).map(|_| 1.0 + 2.0 * normal(&mut random)).collect();
    let y: Vec<f64> = x
        .iter()
        .map(|x| 0.5 * x - 1.0 + 0.7 * normal(&mut random))
        .collect();
    let z: Vec<f64> = y
        .iter()
        .map(|y| 2.0 - y + 0.5 * normal(&mut random))
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / 600.0;
    let table = Frame::from_columns(vec![
        ("x", Column::Number(x.clone())),
        ("y", Column::Number(y.clone())),
        ("z", Column::Number(z.clone())),
    ])
    .unwrap();
    let spec = NetworkSpec {
        kernel: KernelChoice::Given("linear".parse().unwrap()),
        ..NetworkSpec::default()
    };
    let graph = graph(r#"{"parents":{"z":["y"],"x":[],"y":["x"]}}"#);
    let network = fit_network(&graph, &table, &spec, &Unwatched).unwrap();
    // The same network as least squares sees it: z = c + d (a + b x + e) + f.
    let line = |from: &[f64], to: &[f64]| {
        let (m, n) = (mean(from), mean(to));
        let across: f64 = from.iter().zip(to).map(|(a, b)| (a - m) * (b - n)).sum();
        let slope = across / from.iter().map(|a| (a - m).powi(2)).sum::<f64>();
        let rest = from
            .iter()
            .zip(to)
            .map(|(a, b)| (b - n - slope * (a - m)).powi(2));
        (n - slope * m, slope, rest.sum::<f64>() / 600.0)
    };
    let ((a, b, e), (c, d, f)) = (line(&x, &y), line(&y, &z));
    let (m, v) = (
        mean(&x),
        x.iter().map(|own| (own - mean(&x)).powi(2)).sum::<f64>() / 600.0,
    );
    let (slope, noise) = (b * d, d * d * e + f);
    let gain = v * slope / (slope * slope * v + noise);
    let expected = m + gain * (1.5 - (c + d * (a + b * m)));
    let deviation = (v - gain * slope * v).sqrt();
    match ask(
        &network,
        "x",
        vec![("z".into(), Value::Number(1.5))],
        20_000,
    ) {
        Answer::Number {
            mean,
            standard_error,
            deviation: found,
            ..
        } => {
            // The process shrinks its slopes a little and knows them to a hundredth.
            assert!(
                (mean - expected).abs() < 4.0 * standard_error + 0.02,
                "{mean} {expected}"
            );
            assert!(
                (found / deviation - 1.0).abs() < 0.04,
                "{found} {deviation}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_known_structure_is_found_again() {
    let table = switches(2000, 2);
    let names: Vec<String> = ["d", "c", "b", "a"].map(str::to_owned).to_vec();
    let spec = NetworkSpec::default();
    let (found, steps) =
        search_graph(&table, &names, &[], &spec, Search::default(), &Unwatched).unwrap();
    let mut parents = found.parents_of("c").to_vec();
    parents.sort();
    assert_eq!(parents, ["a", "b"], "{steps:?}");
    assert_eq!(found.parents_of("d"), ["c"]);
    assert!(found.parents_of("a").is_empty() && found.parents_of("b").is_empty());
    // Two causes of a third number, and an exogenous column that matters to one of them.
    let mut random = ChaCha12Rng::seed_from_u64(6);
    let mut columns: [Vec<f64>; 4] = Default::default();
    for _ in 0..2000 {
        let (t, u) = (normal(&mut random), normal(&mut random));
        let v = t.sin() + 0.5 * normal(&mut random);
        let w = u * u - v + 0.3 * normal(&mut random);
        for (column, cell) in columns.iter_mut().zip([t, u, v, w]) {
            column.push(cell);
        }
    }
    let named = ["t", "u", "v", "w"]
        .into_iter()
        .zip(columns.into_iter().map(Column::Number));
    let table = Frame::from_columns(named.collect()).unwrap();
    let names: Vec<String> = ["w", "u", "v"].map(str::to_owned).to_vec();
    let how = Search {
        rows: 150,
        ..Search::default()
    };
    let (found, steps) =
        search_graph(&table, &names, &["t".into()], &spec, how, &Unwatched).unwrap();
    let mut parents = found.parents_of("w").to_vec();
    parents.sort();
    assert_eq!(parents, ["u", "v"], "{steps:?}");
    assert_eq!(found.parents_of("v"), ["t"]);
    assert!(found.parents_of("u").is_empty());
}

#[test]
fn missing_cells_and_cycles_are_allowed_where_they_can_be() {
    let mut table = switches(300, 4);
    if let Column::Text(cells) = &mut table.columns[2] {
        cells.iter_mut().step_by(10).for_each(|cell| *cell = None);
    }
    let all = r#"{"parents":{"a":["c"],"c":["a","d"],"d":["c"]},"dependency":true}"#;
    let network = fit_network(&graph(all), &table, &NetworkSpec::default(), &Unwatched).unwrap();
    assert!(
        network
            .notes
            .iter()
            .any(|note| note.contains("missing in 30 rows")),
        "{:?}",
        network.notes
    );
    let share = |name: &str| match table.column(name) {
        Some(Column::Text(cells)) => {
            let yes = cells
                .iter()
                .flatten()
                .filter(|cell| &***cell == "yes")
                .count();
            yes as f64 / cells.iter().flatten().count() as f64
        }
        _ => panic!("text"),
    };
    for name in ["a", "d"] {
        let (found, error) = probability(&ask(&network, name, vec![], 4000));
        assert!(
            (found - share(name)).abs() < 0.05 + 4.0 * error,
            "{name}: {found}"
        );
    }
    let (high, _) = probability(&ask(&network, "c", vec![("d".into(), label(true))], 2000));
    let (low, _) = probability(&ask(&network, "c", vec![("d".into(), label(false))], 2000));
    assert!(high > low + 0.3, "{high} {low}");
    let cyclic = graph(r#"{"parents":{"a":["c"],"c":["a"]}}"#);
    let refused = fit_network(&cyclic, &table, &NetworkSpec::default(), &Unwatched);
    assert!(refused.unwrap_err().to_string().contains("cycle"));
}

#[test]
fn counts_have_probabilities_that_add_up_and_queries_agree_with_enumeration() {
    let mut random = ChaCha12Rng::seed_from_u64(9);
    let poisson = |mean: f64, random: &mut ChaCha12Rng| {
        let (mut count, mut rest) = (0.0, uniform(random) / (-mean).exp());
        let mut term = 1.0;
        while rest > term && count < 100.0 {
            rest -= term;
            count += 1.0;
            term *= mean / count;
        }
        count
    };
    let (mut young, mut claims, mut letters) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300 {
        let is_young = uniform(&mut random) < 0.4;
        let count = poisson(if is_young { 3.0 } else { 0.6 }, &mut random);
        young.push(is_young);
        claims.push(count);
        letters.push(poisson(0.5 + 2.0 * count, &mut random));
    }
    let mean = |wanted: bool| {
        let own = claims.iter().zip(&young).filter(|(_, own)| **own == wanted);
        let count = own.clone().count() as f64;
        own.map(|(claims, _)| claims).sum::<f64>() / count
    };
    let table = Frame::from_columns(vec![
        ("young", labels(&young)),
        ("claims", Column::Number(claims.clone())),
        ("letters", Column::Number(letters)),
    ])
    .unwrap();
    let spec = NetworkSpec {
        counts: vec!["claims".into(), "letters".into()],
        likelihood: quorate::LikelihoodChoice::Poisson,
        ..NetworkSpec::default()
    };
    let chain = graph(r#"{"parents":{"young":[],"claims":["young"],"letters":["claims"]}}"#);
    let network = fit_network(&chain, &table, &spec, &Unwatched).unwrap();
    let joint = |is_young: bool, claims: u32| {
        let given = [
            ("young".to_owned(), label(is_young)),
            ("claims".to_owned(), Value::Number(f64::from(claims))),
            ("letters".to_owned(), Value::Number(4.0)),
        ];
        network.draw(1, &given, 1, 0).unwrap().1[0].exp()
    };
    // Everything but the letters: their probabilities, given four of them, weigh the sums.
    let total = |own: bool| (0..40).map(|claims| joint(own, claims)).sum::<f64>();
    let exact = total(true) / (total(true) + total(false));
    let given = || vec![("letters".to_owned(), Value::Number(4.0))];
    let (found, error) = probability(&ask(&network, "young", given(), 20_000));
    assert!(
        (found - exact).abs() < 4.0 * error,
        "{found} {exact} {error}"
    );
    let told = ask(
        &network,
        "claims",
        vec![("young".into(), label(true))],
        10_000,
    );
    let Answer::Number {
        mean: found,
        quantiles,
        ..
    } = told
    else {
        panic!("a count is a number");
    };
    assert!((found - mean(true)).abs() < 0.25, "{found} {}", mean(true));
    assert!(quantiles.iter().all(|own| own.fract() == 0.0));
    // A tally without parents, from the file as before it.
    let alone = graph(r#"{"parents":{"claims":[],"letters":["claims"]}}"#);
    let network = fit_network(&alone, &table, &spec, &Unwatched).unwrap();
    let again = network_from_bytes(&network_to_bytes(&network).unwrap(), "memory").unwrap();
    let told = |network: &Network| ask(network, "claims", given(), 500);
    assert_eq!(told(&network), told(&again));
    let half = vec![("claims".to_owned(), Value::Number(0.5))];
    let refused = network.draw(5, &half, 1, 0).unwrap_err().to_string();
    assert!(refused.contains("holds counts"), "{refused}");
    let names = ["young".to_owned(), "claims".to_owned()];
    let found = search_graph(&table, &names, &[], &spec, Search::default(), &Unwatched);
    let found = found.unwrap().0;
    let edges: usize = found.parents.iter().map(|(_, parents)| parents.len()).sum();
    assert_eq!(edges, 1, "{found:?}");
    let nobody = NetworkSpec {
        counts: vec!["nobody".into()],
        ..spec
    };
    let refused = fit_network(&alone, &table, &nobody, &Unwatched).unwrap_err();
    assert!(refused.to_string().contains("nobody"), "{refused}");
}
