#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::tests::{table, text, weighted};
use super::*;

fn any_cell() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -5.0..5.0f64,
        2 => prop::num::f64::ANY,
        1 => Just(f64::NAN),
        1 => Just(1e300),
    ]
}

proptest! {
    #[test]
    fn encoding_never_yields_a_number_that_is_not_finite(
        trained in prop::collection::vec((any_cell(), -1e3..1e3f64, 0u8..3), 2..20),
        asked in prop::collection::vec(any_cell(), 1..20),
    ) {
        let frame = table(vec![
            ("x", Column::Number(trained.iter().map(|row| row.0).collect())),
            ("w", Column::Number(trained.iter().map(|row| f64::from(row.2)).collect())),
            ("y", Column::Number(trained.iter().map(|row| row.1).collect())),
        ]);
        if let Ok((schema, _)) = Schema::learn(&frame, &weighted()) {
            let data = schema.training_data(&frame).unwrap();
            prop_assert!(data.inputs().values().iter().all(|value| value.is_finite()));
            prop_assert!(data.targets().iter().all(|value| value.is_finite()));
            if let Ok(encoded) = schema.encode(&table(vec![("x", Column::Number(asked))])) {
                prop_assert!(encoded.values.iter().all(|value| value.is_finite()));
            }
        }
    }

    #[test]
    fn weights_and_copies_learn_the_same_schema(
        rows in prop::collection::vec((-1e3..1e3f64, 0u8..3, -1e3..1e3f64, 0usize..4), 2..20),
    ) {
        let names = ["a", "b", "c"];
        let build = |rows: &[(f64, u8, f64, usize)]| table(vec![
            ("x", Column::Number(rows.iter().map(|row| row.0).collect())),
            ("s", text(&rows.iter().map(|row| names[usize::from(row.1)]).collect::<Vec<_>>())),
            ("w", Column::Number(rows.iter().map(|row| row.3 as f64).collect())),
            ("y", Column::Number(rows.iter().map(|row| row.2).collect())),
        ]);
        let copies: Vec<_> = rows.iter().flat_map(|&(x, s, y, count)| vec![(x, s, y, 1); count]).collect();
        let (whole, copied) = (build(&rows), build(&copies));
        match (Schema::learn(&whole, &weighted()), Schema::learn(&copied, &weighted())) {
            (Ok((left, _)), Ok((right, _))) => {
                prop_assert!((left.target_mean() - right.target_mean()).abs() <= 1e-11);
                prop_assert!((left.target_deviation() - right.target_deviation()).abs() <= 1e-11);
                prop_assert_eq!(left.levels("s"), right.levels("s"));
                let (left, right) = (left.training_data(&whole).unwrap(), right.training_data(&copied).unwrap());
                prop_assert_eq!(left.weights(), right.weights());
                prop_assert_eq!(left.rows(), right.rows());
            }
            (left, right) => prop_assert_eq!(left.is_ok(), right.is_ok()),
        }
    }
}
