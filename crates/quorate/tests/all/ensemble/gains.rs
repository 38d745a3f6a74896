//! Bags, and what averaging gains.

use quorate::ensemble::{Ambiguity, Bag, Decomposition};
use quorate::gp::data::Inputs;
use quorate::gp::linalg::Matrix;
use quorate::member::{Member, kind};

use super::{data, recipe, sine, unit};

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
