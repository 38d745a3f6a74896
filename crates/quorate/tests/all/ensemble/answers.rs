//! Limits of committees, and answers out of fold.

use quorate::ensemble::{Committee, Council, makers, out_of_fold};
use quorate::fusion::Fusion;
use quorate::gp::data::Inputs;
use quorate::gp::posterior::Predict;
use quorate::gp::watch::Unwatched;
use quorate::member::{Member, kind};

use super::{QUERY, data, fit_parts, recipe};

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
