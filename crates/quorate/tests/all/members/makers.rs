//! Bagging and boosting against scikit-learn, filtering and Gentle AdaBoost.

use quorate::classifier::{CLASSIFIERS, ClassSetting, shares};
use quorate::ensemble::{Bag, boost_numbers, filter_classes, gentle_boost};
use quorate::fusion::{Cell, Fusion, Learned, Moments};
use quorate::gp::data::{Dataset, Inputs};
use quorate::gp::gaussian::{Joint, Marginals};
use quorate::gp::linalg::Matrix;
use quorate::gp::posterior::Predict;
use quorate::gp::watch::Unwatched;
use quorate::member::{Member, Recipe, Setting, State, Tree, TreeShape, kind};

use super::{golden, numbers, rings, width};

/// Trees of a fixed shape.
struct Fixed(TreeShape);

struct FixedTree(Tree);

impl Recipe for Fixed {
    fn fit(&self, rows: &Dataset) -> quorate::Result<Box<dyn Member>> {
        let tree = Tree::grow(rows.inputs(), 1, rows.targets(), rows.weights(), self.0);
        Ok(Box::new(FixedTree(tree)))
    }
}

impl Predict for FixedTree {
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| 1.0),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate::gp::Result<Marginals> {
        let mean = |row: usize| self.0.leaf(query.row(row)).value[0];
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| mean(row)),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| 0.1),
        })
    }

    fn joint(&self, _: Inputs<'_>) -> quorate::gp::Result<Joint> {
        unreachable!("nobody asks")
    }
}

impl Member for FixedTree {
    fn noise_variance(&self) -> f64 {
        0.1
    }

    fn state(&self) -> quorate::Result<State> {
        State::new(&self.0, Vec::new())
    }
}

#[test]
fn bagging_and_boosting_err_as_those_of_scikit_learn() {
    let golden = golden("committees.json");
    let train = golden["train"].as_u64().unwrap() as usize;
    let (values, columns) = (numbers(&golden["inputs"]), width(&golden["inputs"]));
    let (targets, labels) = (numbers(&golden["target"]), numbers(&golden["labels"]));
    let tests = targets.len() - train;
    let (seen, asked) = values.split_at(train * columns);
    let asked = Inputs::new(asked, tests, columns).unwrap();
    let data = Dataset::new(
        seen.to_vec(),
        columns,
        targets[..train].to_vec(),
        None,
        None,
    )
    .unwrap();
    let repetitions = 30;
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let number = |key: &str| case[key].as_u64().unwrap() as usize;
        let members = number("members");
        let shape = TreeShape {
            depth: number("depth"),
            leaf: case["leaf"].as_f64().unwrap(),
        };
        let squared = |mean: &dyn Fn(usize) -> f64| -> f64 {
            let errors = (0..tests).map(|row| (mean(row) - targets[train + row]).powi(2));
            errors.sum::<f64>() / tests as f64
        };
        let bags = |seed: u64| (0..members as u64).map(move |member| 1000 * seed + member);
        let error = |seed: u64| match name {
            "bagging of regression trees" => {
                let trees: Vec<Box<dyn Member>> = bags(seed)
                    .map(|own| {
                        let bag = Bag::draw(&data, own, None).unwrap();
                        Fixed(shape).fit(&bag.rows).unwrap()
                    })
                    .collect();
                let said: Vec<Matrix> = trees
                    .iter()
                    .map(|tree| tree.marginals(asked).unwrap().mean)
                    .collect();
                let mean =
                    |row: usize| said.iter().map(|own| own[(row, 0)]).sum::<f64>() / members as f64;
                squared(&mean)
            }
            "bagging of classification trees" => {
                let one = |label: &f64| [0.0, 1.0, 2.0].map(|c| f64::from(u8::from(*label == c)));
                let told: Vec<f64> = labels[..train].iter().flat_map(one).collect();
                let inputs = Inputs::new(seen, train, columns).unwrap();
                let trees: Vec<Tree> = bags(seed)
                    .map(|own| {
                        let counts = Bag::draw(&data, own, None).unwrap().counts;
                        let counts: Vec<f64> = counts.into_iter().map(f64::from).collect();
                        Tree::grow(inputs, 3, &told, &counts, shape)
                    })
                    .collect();
                let wrong = (0..tests).filter(|&row| {
                    let share = |class: usize| -> f64 {
                        let each = trees
                            .iter()
                            .map(|tree| tree.leaf(asked.row(row)).value[class]);
                        each.sum()
                    };
                    let best = (0..3).rev().max_by(|&a, &b| share(a).total_cmp(&share(b)));
                    best.unwrap() as f64 != labels[train + row]
                });
                wrong.count() as f64 / tests as f64
            }
            _ => {
                let (trees, weights) =
                    boost_numbers(&Fixed(shape), &data, members, 1000 * seed, &Unwatched).unwrap();
                let said: Vec<Marginals> = trees
                    .iter()
                    .map(|tree| tree.marginals(asked).unwrap())
                    .collect();
                let count = said.len();
                let learned = Learned {
                    weights,
                    correlation: Matrix::zeros(count, count),
                };
                let mean = |row: usize| {
                    let own = |belief: &Marginals| Moments {
                        mean: belief.mean[(row, 0)],
                        variance: belief.variance[(row, 0)],
                    };
                    let opinions: Vec<Moments> = said.iter().map(own).collect();
                    let cell = Cell {
                        opinions: &opinions,
                        priors: &opinions,
                        base: None,
                        noise: 0.0,
                        learned: Some(&learned),
                        between: None,
                    };
                    Fusion::median().combine_cell(&cell).unwrap().mean
                };
                squared(&mean)
            }
        };
        let errors: Vec<f64> = (0..repetitions).map(error).collect();
        let count = repetitions as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let spread: f64 = errors.iter().map(|own| (own - mean).powi(2)).sum();
        let own = (spread / (count - 1.0) / count).sqrt();
        let theirs = case["standard_error"].as_f64().unwrap();
        let apart = (mean - case["error"].as_f64().unwrap()).abs();
        let both = own.hypot(theirs);
        assert!(
            apart < 2.0 * both,
            "{name}: {mean} {case} apart {apart} errors {both}"
        );
        eprintln!(
            "{name}: {mean:.4} +- {own:.4}, scikit-learn {} +- {theirs:.4}",
            case["error"]
        );
    }
}

#[test]
fn filtering_and_gentle_boosting_make_committees_that_decide_well() {
    let (_, classes, data, columns) = rings(300);
    let setting = ClassSetting {
        columns: &columns,
        classes: &classes,
        seed: 1,
        watch: &Unwatched,
    };
    let tree = CLASSIFIERS.iter().find(|kind| kind.name == "tree").unwrap();
    let recipe = (tree.prepare)(&setting, &data).unwrap();
    let (members, votes) = filter_classes(&*recipe, &classes, &data, 3, &Unwatched).unwrap();
    assert_eq!((members.len(), votes.as_slice()), (3, [1.0; 3].as_slice()));
    // The second member is right where the first is wrong more often than the first.
    let told = shares(&classes, &data);
    let right = |member: usize| -> Vec<bool> {
        let found = members[member].probabilities(data.inputs()).unwrap();
        let each = (0..data.rows()).map(|row| {
            let best = (0..3).max_by(|&a, &b| found[(row, a)].total_cmp(&found[(row, b)]));
            told[row * 3 + best.unwrap()] == 1.0
        });
        each.collect()
    };
    let (first, second) = (right(0), right(1));
    let missed: Vec<usize> = (0..data.rows()).filter(|&row| !first[row]).collect();
    assert!(missed.iter().any(|&row| second[row]));
    // Gentle AdaBoost of linear models on products: y = sign of a product.
    let x: Vec<f64> = (0..200).map(|row| (row as f64 * 0.37).sin()).collect();
    let z: Vec<f64> = (0..200).map(|row| (row as f64 * 0.91).cos()).collect();
    let signs: Vec<f64> = x
        .iter()
        .zip(&z)
        .map(|(a, b)| (a + 0.5 * b - 0.2).signum())
        .collect();
    let values: Vec<f64> = x.iter().zip(&z).flat_map(|(a, b)| [*a, *b]).collect();
    let data = Dataset::new(values, 2, signs.clone(), None, None).unwrap();
    let setting = Setting {
        columns: &columns,
        seed: 1,
        watch: &Unwatched,
    };
    let recipe = (kind("gp").unwrap().prepare)(&setting, &data).unwrap();
    let own: Vec<f64> = data.members().iter().map(|row| signs[row.row]).collect();
    let members = gentle_boost(&*recipe, &data, &own, 4, &Unwatched).unwrap();
    assert_eq!(members.len(), 4);
    let sums: Vec<Matrix> = members
        .iter()
        .map(|member| member.marginals(data.inputs()).unwrap().mean)
        .collect();
    let right = data.members().iter().zip(&own).filter(|(row, sign)| {
        let sum: f64 = sums.iter().map(|mean| mean[(row.group, 0)]).sum();
        sum.signum() == **sign
    });
    assert!(right.count() > 190);
    // The second member's weights are exp(-y F) of the first: written out with the first member alone.
    let raw: Vec<f64> = data
        .members()
        .iter()
        .zip(&own)
        .map(|(row, sign)| (-sign * sums[0][(row.group, 0)]).exp())
        .collect();
    let mean = raw.iter().sum::<f64>() / raw.len() as f64;
    let weights: Vec<f64> = raw.iter().map(|w| w / mean).collect();
    let values: Vec<f64> = data
        .members()
        .iter()
        .flat_map(|row| data.inputs().row(row.group).to_vec())
        .collect();
    let second = Dataset::new(values, 2, own.clone(), Some(weights), None).unwrap();
    let second = recipe.fit(&second).unwrap();
    let found = second.marginals(data.inputs()).unwrap().mean;
    for row in 0..data.rows() {
        assert!((found[(row, 0)] - sums[1][(row, 0)]).abs() < 1e-9);
    }
}
