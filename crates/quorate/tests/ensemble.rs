//! Committees of members: limits, bags, what averaging gains, and that a comparison covers the registry.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use quorate::classifier::{CLASSIFIERS, ClassKind};
use quorate::compare::{CompareSpec, Maker, class_entries, compare, entries};
use quorate::ensemble::{
    Ambiguity, Bag, Committee, CommitteeModel, CommitteeSpec, Council, Decomposition, MakerChoice,
    NoGuests, makers, out_of_fold,
};
use quorate::file::members;
use quorate::fusion::{CLASS_RULES, ClassFusion, ClassRecord, Fusion, RULES, class_rule};
use quorate::gp::data::{Column, ColumnKind, Dataset, Frame, InputColumn, Inputs};
use quorate::gp::linalg::Matrix;
use quorate::gp::posterior::Predict;
use quorate::gp::watch::Unwatched;
use quorate::member::{Kind, MEMBERS, Member, Recipe, Setting, kind};

fn unit(row: usize, salt: u64) -> f64 {
    let mut bits = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for _ in 0..3 {
        bits ^= bits >> 31;
        bits = bits.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

fn sine(rows: usize, salt: u64) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..rows).map(|row| 3.0 * unit(row, salt) - 1.5).collect();
    let noise = |row: usize| (0..12).map(|k| unit(row, salt * 100 + k + 7)).sum::<f64>() - 6.0;
    let y = x
        .iter()
        .enumerate()
        .map(|(row, x)| (2.0 * x).sin() + 0.2 * noise(row));
    let y = y.collect();
    (x, y)
}

fn columns() -> Vec<InputColumn> {
    vec![InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    }]
}

fn data(rows: usize, salt: u64) -> Dataset {
    let (x, y) = sine(rows, salt);
    Dataset::new(x, 1, y, None, None).unwrap()
}

fn recipe(kind: &Kind, data: &Dataset) -> Box<dyn Recipe> {
    let columns = columns();
    let setting = Setting {
        columns: &columns,
        seed: 1,
        watch: &Unwatched,
    };
    (kind.prepare)(&setting, data).unwrap()
}

fn fit_parts(recipe: &dyn Recipe, data: &Dataset, parts: &[Vec<usize>]) -> Vec<Box<dyn Member>> {
    parts
        .iter()
        .map(|part| recipe.fit(&data.select(part)).unwrap())
        .collect()
}

const QUERY: [f64; 4] = [-1.2, 0.1, 0.8, 2.5];

#[test]
fn a_committee_of_one_process_is_the_exact_process_nested_or_not() {
    let data = data(60, 1);
    let recipe = recipe(kind("gp").unwrap(), &data);
    let query = Inputs::new(&QUERY, 4, 1).unwrap();
    let alone = recipe.fit(&data).unwrap();
    let exact = alone.marginals(query).unwrap();
    for name in ["product", "bcm", "nested", "mixture"] {
        let council = Council::of_one_kind(vec![recipe.fit(&data).unwrap()]);
        let fusion = quorate::fusion::rule(name).unwrap().fusion;
        let inner = Committee::new(council, fusion, None);
        assert!((inner.noise_variance() - alone.noise_variance()).abs() < 1e-15);
        // Committees nest: a committee of that committee is the same again.
        let outer = Committee::new(
            Council::of_one_kind(vec![Box::new(inner)]),
            Fusion::bayesian_committee_machine(),
            None,
        );
        let fused = outer.marginals(query).unwrap();
        assert!((&fused.mean - &exact.mean).norm_max() < 1e-9, "{name}");
        assert!(
            (&fused.variance - &exact.variance).norm_max() < 1e-9,
            "{name}"
        );
    }
}

#[test]
fn nested_answers_of_parts_are_closer_to_the_exact_process_than_their_product() {
    let data = data(90, 2);
    let recipe = recipe(kind("gp").unwrap(), &data);
    let parts = makers::parts(data.rows(), 6, 3);
    let query: Vec<f64> = (0..40).map(|i| -1.4 + 0.07 * f64::from(i)).collect();
    let query = Inputs::new(&query, 40, 1).unwrap();
    let exact = recipe.fit(&data).unwrap().marginals(query).unwrap();
    let council = Council::of_one_kind(fit_parts(&*recipe, &data, &parts));
    let said = council.ask(query, true).unwrap();
    let distance = |fusion: Fusion| {
        let fused = said.fuse(&fusion, None).unwrap();
        (&fused.mean - &exact.mean).norm_l2() + (&fused.variance - &exact.variance).norm_l2()
    };
    let nested = distance(Fusion::nested());
    assert!(nested < distance(Fusion::product()));
    assert!(nested < distance(Fusion::robust_committee_machine()));
    // It knows less than the exact process, never more.
    let fused = said.fuse(&Fusion::nested(), None).unwrap();
    for row in 0..40 {
        assert!(fused.variance[(row, 0)] >= exact.variance[(row, 0)] - 1e-9);
    }
}

#[test]
fn out_of_fold_answers_come_from_members_that_did_not_see_the_row() {
    let data = data(45, 3);
    let recipe = recipe(kind("linear").unwrap(), &data);
    let all: Vec<usize> = (0..data.rows()).collect();
    let record = out_of_fold(&[(&*recipe, &all)], &data, 5, &Unwatched).unwrap();
    let shuffled = makers::shuffled(data.rows(), 5);
    let fold_of = |row: usize| shuffled.iter().position(|&r| r == row).unwrap() % 3;
    for row in [0, 17, 44] {
        let kept: Vec<usize> = (0..data.rows())
            .filter(|&other| fold_of(other) != fold_of(row))
            .collect();
        let member = recipe.fit(&data.select(&kept)).unwrap();
        let belief = member.marginals(data.select(&[row]).inputs()).unwrap();
        assert!((belief.mean[(0, 0)] - record.means[(row, 0)]).abs() < 1e-12);
        let noisy = belief.variance[(0, 0)] + member.noise_variance();
        assert!((noisy - record.variances[(row, 0)]).abs() < 1e-12);
    }
}

#[test]
fn bags_draw_as_many_rows_as_there_are_and_leave_a_third_out() {
    let data = data(400, 4);
    let bag = Bag::draw(&data, 9, None).unwrap();
    assert_eq!(bag.counts.iter().sum::<u32>(), 400);
    assert_eq!(bag.rows.total_weight(), 400.0);
    let out = bag.counts.iter().filter(|&&count| count == 0).count() as f64 / 400.0;
    // e^-1 within three deviations of what bootstraps leave out.
    assert!((out - (-1.0_f64).exp()).abs() < 0.05, "{out}");
    assert_eq!(bag, Bag::draw(&data, 9, None).unwrap());
    let mut only = vec![0.0; 400];
    only[7] = 1.0;
    assert_eq!(Bag::draw(&data, 9, Some(&only)).unwrap().counts[7], 400);
}

#[test]
fn bagging_improves_trees_and_the_ambiguity_says_by_how_much() {
    let data = data(200, 5);
    let recipe = recipe(kind("tree").unwrap(), &data);
    let (x, y) = sine(300, 6);
    let query = Inputs::new(&x, 300, 1).unwrap();
    let members: Vec<Box<dyn Member>> = (0..15)
        .map(|seed| {
            recipe
                .fit(&Bag::draw(&data, seed, None).unwrap().rows)
                .unwrap()
        })
        .collect();
    let means: Vec<Matrix> = members
        .iter()
        .map(|m| m.marginals(query).unwrap().mean)
        .collect();
    let said = Matrix::from_fn(300, 15, |row, member| means[member][(row, 0)]);
    let found = Ambiguity::of(&y, &said, &[1.0 / 15.0; 15]);
    // Eq. 4 is an identity; Perrone's bound follows.
    assert!((found.committee - (found.members - found.ambiguity)).abs() < 1e-12);
    assert!(found.ambiguity > 0.0 && found.committee < found.members);
    let single = recipe.fit(&data).unwrap().marginals(query).unwrap();
    let alone: f64 = y
        .iter()
        .enumerate()
        .map(|(row, y)| (y - single.mean[(row, 0)]).powi(2))
        .sum();
    assert!(found.committee < alone / 300.0, "{found:?} {alone}");
}

#[test]
fn bias_variance_and_covariance_add_up_to_the_expected_error() {
    let truth: Vec<f64> = (0..20).map(|row| (row as f64 * 0.3).sin()).collect();
    let sets: Vec<Matrix> = (0..9)
        .map(|set| {
            Matrix::from_fn(20, 4, |row, member| {
                truth[row]
                    + 0.1
                    + unit(row + 100 * set, 40 + member as u64)
                    + 0.5 * unit(row, 90 + set as u64)
            })
        })
        .collect();
    let found = Decomposition::of(&truth, &sets).unwrap();
    let error: f64 = sets
        .iter()
        .flat_map(|set| {
            let truth = &truth;
            (0..20).map(move |row| {
                let mean = (0..4).map(|i| set[(row, i)]).sum::<f64>() / 4.0;
                (mean - truth[row]).powi(2)
            })
        })
        .sum::<f64>()
        / 180.0;
    assert!((found.squared_bias + found.variance + found.covariance - error).abs() < 1e-12);
    assert!(Decomposition::of(&truth, &[]).is_none());
}

fn table(rows: usize) -> Frame {
    let (x, y) = sine(rows, 7);
    let other = (0..rows).map(|row| unit(row, 77)).collect();
    Frame::from_columns(vec![
        ("x", Column::Number(x)),
        ("other", Column::Number(other)),
        ("y", Column::Number(y)),
    ])
    .unwrap()
}

#[test]
fn a_comparison_covers_exactly_the_registry() {
    let spec = CompareSpec {
        target: "y".into(),
        folds: 2,
        parts: Some(3),
        ..CompareSpec::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| compare(&spec, &table(120), &|| 0.0, &Unwatched).unwrap())
    };
    let found = run(2);
    let alone: BTreeSet<&str> = found
        .lines
        .iter()
        .filter(|line| line.entry.maker == Maker::Alone)
        .map(|line| line.entry.member)
        .collect();
    assert_eq!(alone, MEMBERS.iter().map(|kind| kind.name).collect());
    let rules: BTreeSet<&str> = found
        .lines
        .iter()
        .filter_map(|line| line.entry.rule)
        .collect();
    assert_eq!(rules, RULES.iter().map(|rule| rule.name).collect());
    let (kinds, all): (Vec<&Kind>, Vec<_>) = (MEMBERS.iter().collect(), RULES.iter().collect());
    assert_eq!(found.lines.len(), entries(&kinds, &all).len());
    for line in &found.lines {
        assert!(line.problem.is_none(), "{line:?}");
        let scores = line.scores.as_ref().unwrap().number().unwrap();
        assert!(
            scores.n == 120 && scores.rmse.is_finite() && scores.nlpd.is_finite(),
            "{line:?}"
        );
    }
    // Ranked, the best first, and something learned: the noise is 0.2, the target's deviation 0.7.
    assert!(found.lines.windows(2).all(|pair| {
        let nlpd = |place: usize| pair[place].scores.as_ref().unwrap().loss();
        nlpd(0) <= nlpd(1)
    }));
    assert!(
        found.lines[0]
            .scores
            .as_ref()
            .unwrap()
            .number()
            .unwrap()
            .rmse
            < 0.3
    );
    assert_eq!(found, run(1));
}

#[test]
fn a_comparison_refuses_what_it_cannot_do_and_says_what_there_is() {
    let spec = |change: &dyn Fn(&mut CompareSpec)| {
        let mut spec = CompareSpec {
            target: "y".into(),
            ..CompareSpec::default()
        };
        change(&mut spec);
        compare(&spec, &table(20), &|| 0.0, &Unwatched)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(spec(&|s| s.members = Some(vec!["gq".into()])).contains("did you mean `gp`"));
    assert!(spec(&|s| s.rules = Some(vec!["nothing".into()])).contains("robust-bcm"));
    assert!(spec(&|s| s.folds = 1).contains("at least two folds"));
    assert!(spec(&|s| s.folds = 15).contains("--folds"));
    let text = serde_json::to_string(&CompareSpec::default()).unwrap();
    assert_eq!(
        serde_json::from_str::<CompareSpec>(&text).unwrap(),
        CompareSpec::default()
    );
}

fn table_of_classes(rows: usize) -> Frame {
    let (x, y) = sine(rows, 8);
    let label = |value: &f64| match *value {
        low if low < -0.4 => "low",
        high if high > 0.4 => "high",
        _ => "middle",
    };
    let labels = y
        .iter()
        .map(|value| Some(std::sync::Arc::from(label(value))));
    Frame::from_columns(vec![
        ("label", Column::Text(labels.collect())),
        ("x", Column::Number(x)),
    ])
    .unwrap()
}

#[test]
fn a_comparison_of_classes_covers_exactly_the_registry() {
    let spec = CompareSpec {
        target: "label".into(),
        folds: 2,
        parts: Some(2),
        ..CompareSpec::default()
    };
    let found = compare(&spec, &table_of_classes(120), &|| 0.0, &Unwatched).unwrap();
    let kinds: Vec<&ClassKind> = CLASSIFIERS.iter().collect();
    let rules: Vec<_> = CLASS_RULES.iter().collect();
    let expected = class_entries(&kinds, &rules);
    assert_eq!(found.lines.len(), expected.len());
    for entry in expected {
        let line = found.lines.iter().find(|line| line.entry == entry).unwrap();
        assert!(line.problem.is_none(), "{line:?}");
        let scores = line.scores.as_ref().unwrap().classes().unwrap();
        assert!(scores.n == 120 && scores.log_loss.is_finite(), "{line:?}");
    }
    let alone: BTreeSet<&str> = found
        .lines
        .iter()
        .filter(|line| line.entry.maker == Maker::Alone)
        .map(|line| line.entry.member)
        .collect();
    assert_eq!(alone, CLASSIFIERS.iter().map(|kind| kind.name).collect());
    assert!(found.lines.windows(2).all(|pair| {
        let loss = |place: usize| pair[place].scores.as_ref().unwrap().loss();
        loss(0) <= loss(1)
    }));
    let best = found.lines[0].scores.as_ref().unwrap().classes().unwrap();
    assert!(best.error_rate < 0.3, "{best:?}");
}

#[test]
fn rules_for_classes_are_their_formulas() {
    let row = |p: [f64; 2]| Matrix::from_fn(1, 2, |_, class| p[class]);
    let said = [row([0.9, 0.1]), row([0.4, 0.6]), row([0.45, 0.55])];
    let shares = [0.7, 0.3];
    let fuse = |fusion: ClassFusion, weights: Option<&[f64]>| {
        fusion.combine(&said, &shares, weights).unwrap()[(0, 0)]
    };
    let near = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
    let (a, b): (f64, f64) = (0.9 * 0.4 * 0.45, 0.1 * 0.6 * 0.55);
    near(fuse(ClassFusion::Product, None), a / (a + b));
    let (c, d) = (a.cbrt(), b.cbrt());
    near(fuse(ClassFusion::GeometricMean, None), c / (c + d));
    let (c, d) = (a / 0.49, b / 0.09);
    near(fuse(ClassFusion::Machine, None), c / (c + d));
    near(fuse(ClassFusion::Mean, None), (0.9 + 0.4 + 0.45) / 3.0);
    near(fuse(ClassFusion::Majority, None), (1.0 + 0.5) / 4.0);
    let weights = [2.0, 0.5, 0.5];
    near(fuse(ClassFusion::Votes, Some(&weights)), (2.0 + 0.5) / 4.0);
    let weights = [0.5, 0.3, 0.2];
    let mixed = 0.5 * 0.9 + 0.3 * 0.4 + 0.2 * 0.45;
    near(fuse(ClassFusion::Stacked, Some(&weights)), mixed);
    for rule in CLASS_RULES {
        // One member is that member; a vote decides as it does.
        let one = rule.fusion.combine(&said[..1], &shares, None).unwrap();
        match rule.fusion {
            ClassFusion::Majority | ClassFusion::Votes => near(one[(0, 0)], 1.5 / 2.0),
            _ => near(one[(0, 0)], 0.9),
        }
        assert_eq!(class_rule(rule.name), Some(&rule));
        assert!(rule.fusion.combine(&[], &shares, None).is_err());
    }
    // Stacking finds the member that is right, and votes count log odds of being right.
    let seen = Matrix::from_fn(40, 2, |row, class| f64::from(u8::from(row % 2 == class)));
    let good = Matrix::from_fn(40, 2, |row, class| if row % 2 == class { 0.8 } else { 0.2 });
    let blind = Matrix::from_fn(
        40,
        2,
        |row, class| if row / 2 % 2 == class { 0.9 } else { 0.1 },
    );
    let record = ClassRecord {
        shares: seen,
        weights: vec![1.0; 40],
        said: vec![good, blind],
    };
    let stacked = ClassFusion::Stacked.learn(&record).unwrap().unwrap();
    assert!(stacked[0] > 0.9 && (stacked[0] + stacked[1] - 1.0).abs() < 1e-12);
    let votes = ClassFusion::Votes.learn(&record).unwrap().unwrap();
    near(votes[0], 41f64.ln());
    near(votes[1], 0.0);
}

#[test]
fn committees_of_a_table_are_the_same_from_their_file_and_on_any_threads() {
    let makers = [
        (MakerChoice::Parts, "generalised-robust-bcm"),
        (MakerChoice::Bags, "average"),
        (MakerChoice::All, "model-averaging"),
        (MakerChoice::Noise, "stacking"),
    ];
    let (numbers, classes) = (table(60), table_of_classes(90));
    for (maker, rule) in makers {
        let spec = CommitteeSpec {
            target: "y".into(),
            members: vec!["linear".into(), "rbf".into()],
            maker,
            rule: Some(rule.into()),
            count: Some(4),
            ..CommitteeSpec::default()
        };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| CommitteeModel::fit(&spec, &numbers, &NoGuests, &Unwatched).unwrap())
        };
        let model = run(2);
        let bytes = members::to_bytes(&model).unwrap();
        assert_eq!(bytes, members::to_bytes(&run(1)).unwrap(), "{rule}");
        let again = members::from_bytes(&bytes, "file", &NoGuests).unwrap();
        let answer = |model: &CommitteeModel| model.forecast(&numbers, &Unwatched).unwrap();
        assert_eq!(answer(&model), answer(&again), "{rule}");
        assert_eq!(members::to_bytes(&again).unwrap(), bytes);
        assert_eq!(model.out_of_bag().is_some(), maker == MakerChoice::Bags);
        for cut in [0, 7, bytes.len() / 2, bytes.len() - 1] {
            assert!(members::from_bytes(&bytes[..cut], "file", &NoGuests).is_err());
        }
        let mut changed = bytes.clone();
        let last = changed.len() - 3;
        changed[last] ^= 1;
        assert!(members::from_bytes(&changed, "file", &NoGuests).is_err());
    }
    for maker in [MakerChoice::Parts, MakerChoice::Bags, MakerChoice::Flips] {
        let spec = CommitteeSpec {
            target: "label".into(),
            members: vec!["linear".into(), "tree".into()],
            maker,
            rule: Some("weighted-vote".into()),
            count: Some(4),
            ..CommitteeSpec::default()
        };
        let model = CommitteeModel::fit(&spec, &classes, &NoGuests, &Unwatched).unwrap();
        let bytes = members::to_bytes(&model).unwrap();
        let again = members::from_bytes(&bytes, "file", &NoGuests).unwrap();
        let answer = |model: &CommitteeModel| model.forecast(&classes, &Unwatched).unwrap();
        assert_eq!(answer(&model), answer(&again));
        assert_eq!(model.weights().map(<[f64]>::len), Some(model.kinds().len()));
    }
}

/// Most memory that the process has held so far, in bytes; none where the system does not say.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}

#[test]
fn a_hundred_members_over_a_hundred_thousand_rows_take_little_memory() {
    let rows = 100_000;
    let column = |salt: u64| (0..rows).map(|row| unit(row, salt)).collect::<Vec<f64>>();
    let (a, b, noise) = (column(1), column(2), column(3));
    let y = (0..rows).map(|row| (4.0 * a[row]).sin() + b[row] + 0.2 * noise[row]);
    let table = Frame::from_columns(vec![
        ("y", Column::Number(y.collect())),
        ("a", Column::Number(a)),
        ("b", Column::Number(b)),
    ])
    .unwrap();
    let spec = CommitteeSpec {
        target: "y".into(),
        members: vec!["tree".into(), "quadratic".into()],
        count: Some(100),
        rule: Some("mixture".into()),
        ..CommitteeSpec::default()
    };
    let before = most_memory();
    let model = CommitteeModel::fit(&spec, &table, &NoGuests, &Unwatched).unwrap();
    assert_eq!(model.kinds().len(), 100);
    let first: Vec<usize> = (0..500).collect();
    let forecast = model.forecast(&table.select_rows(&first), &Unwatched);
    let quorate::Forecast::Number(found) = forecast.unwrap() else {
        panic!("numbers were asked for")
    };
    let seen = quorate::gp::data::Schema::targets(model.schema(), &table).unwrap();
    let squares = found.mean.iter().zip(&seen).map(|(f, t)| (f - t).powi(2));
    assert!((squares.sum::<f64>() / 500.0).sqrt() < 0.2);
    // The table is 2.4 MB, and so is what all members see together; bags would be as many, one at a time for each thread.
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 200 << 20, "{} MB", (after - before) >> 20);
    }
}
