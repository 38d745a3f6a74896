//! Trees and boosted trees against scikit-learn.

use quorate::ensemble::boosting::{Boosting, How};
use quorate::gp::data::Inputs;
use quorate::member::{Tree, TreeShape};

use super::{golden, numbers, width};

#[test]
fn trees_answer_as_those_of_scikit_learn() {
    let golden = golden("trees.json");
    let tolerance = golden["tolerance"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let (values, columns) = (numbers(&case["inputs"]), width(&case["inputs"]));
        let seen = numbers(&case["target"]);
        let inputs = Inputs::new(&values, seen.len(), columns).unwrap();
        let classes = case["classes"].as_u64().unwrap() as usize;
        let (outputs, targets) = match classes {
            0 => (1, seen),
            _ => {
                let one = |label: f64| {
                    (0..classes).map(move |class| f64::from(u8::from(label == class as f64)))
                };
                (classes, seen.into_iter().flat_map(one).collect())
            }
        };
        let shape = TreeShape {
            depth: case["depth"].as_u64().unwrap() as usize,
            leaf: case["leaf"].as_f64().unwrap(),
        };
        let tree = Tree::grow(inputs, outputs, &targets, &numbers(&case["weights"]), shape);
        if let Some(leaves) = case["leaves"].as_u64() {
            assert_eq!(tree.leaves() as u64, leaves, "{}", case["name"]);
        }
        assert!(case["answers"].as_array().unwrap().len() >= 10);
        let query = numbers(&case["query"]);
        for (row, theirs) in query
            .chunks_exact(columns)
            .zip(case["answers"].as_array().unwrap())
        {
            for (ours, theirs) in tree.leaf(row).value.iter().zip(numbers(theirs)) {
                let same = (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0);
                assert!(same, "{}: {ours} {theirs}", case["name"]);
            }
        }
    }
}

#[test]
fn boosted_trees_answer_as_those_of_scikit_learn() {
    let golden = golden("boosting.json");
    for case in golden["cases"].as_array().unwrap() {
        let (values, columns) = (numbers(&case["inputs"]), width(&case["inputs"]));
        let labels: Vec<usize> = numbers(&case["labels"])
            .into_iter()
            .map(|l| l as usize)
            .collect();
        let inputs = Inputs::new(&values, labels.len(), columns).unwrap();
        let number = |key: &str| case[key].as_u64().unwrap() as usize;
        let boosting = Boosting {
            rounds: number("rounds"),
            depth: number("depth"),
            how: How::Reweighting,
        };
        let found = boosting.fit(inputs, &labels, number("classes")).unwrap();
        assert_eq!(found.members(), number("members"), "{}", case["name"]);
        let query = numbers(&case["query"]);
        let theirs = numbers(&case["answers"]);
        let same = query
            .chunks_exact(columns)
            .zip(&theirs)
            .filter(|(row, theirs)| found.class(row) as f64 == **theirs)
            .count();
        assert_eq!(same, theirs.len(), "{}", case["name"]);
        // By subsampling the same committee is another draw, and about as good.
        let how = How::Subsampling { seed: 3 };
        let drawn = Boosting { how, ..boosting }
            .fit(inputs, &labels, number("classes"))
            .unwrap();
        let right = |boosted: &quorate::ensemble::boosting::Boosted| {
            let rows =
                (0..labels.len()).filter(|&row| boosted.class(inputs.row(row)) == labels[row]);
            rows.count() as f64 / labels.len() as f64
        };
        assert!(right(&drawn) > 0.8 * right(&found), "{}", right(&drawn));
    }
}
