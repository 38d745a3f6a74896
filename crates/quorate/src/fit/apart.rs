//! A column of two values beside measurements: kernels that do not measure both by one scale.
//!
//! Standardised, two values lie as far apart as measurements two deviations from each other, whatever they mean: an animal of
//! the other colour is as far away as one of quite another size. With a scale of its own the rows say how alike the two groups
//! are. Several such columns stay with the others: few rows do not fill the table of all their combinations.

use std::collections::BTreeSet;

use quorate_gp::data::{ColumnKind, InputColumn, Inputs};

use super::auto::{SHAPES, quoted, with_categories};

/// The one column of two values and all others, as they are written in a kernel's brackets.
pub struct Apart<'a> {
    columns: &'a [InputColumn],
    others: String,
    groups: String,
}

impl<'a> Apart<'a> {
    /// The column that divides the encoded rows into two groups; none where several do, or where there is nothing else.
    pub fn of(columns: &'a [InputColumn], inputs: Inputs<'_>) -> Option<Self> {
        let numbers = columns.iter().enumerate();
        let numbers = numbers.filter(|(_, own)| own.kind == ColumnKind::Number);
        let has_two = |offset: usize| {
            let mut values = BTreeSet::new();
            let more = (0..inputs.rows())
                .any(|row| values.insert(inputs.row(row)[offset].to_bits()) && values.len() > 2);
            !more && values.len() == 2
        };
        let (groups, others): (Vec<_>, Vec<_>) = numbers.partition(|(offset, _)| has_two(*offset));
        let ([(_, groups)], false) = (groups.as_slice(), others.is_empty()) else {
            return None;
        };
        let others: Vec<String> = others.iter().map(|(_, own)| quoted(&own.name)).collect();
        Some(Self {
            columns,
            others: others.join(","),
            groups: quoted(&groups.name),
        })
    }

    /// A kernel's text with a scale of its own for the two groups, where it has one for all columns.
    pub fn rewrite(&self, kernel: &str) -> String {
        let terms: Vec<String> = kernel.split(" + ").map(|term| self.of_term(term)).collect();
        terms.join(" + ")
    }

    fn of_term(&self, term: &str) -> String {
        let Self {
            columns,
            others,
            groups,
        } = self;
        let shape = term.split(" * ").next().unwrap_or(term);
        if term != with_categories(columns, shape) {
            return term.to_owned();
        }
        if shape == "linear" {
            let lines =
                [others, groups].map(|names| with_categories(columns, &format!("linear[{names}]")));
            return lines.join(" + ");
        }
        if SHAPES.contains(&shape) {
            let both = format!("{shape}[{others}] * {shape}[{groups}]");
            return with_categories(columns, &both);
        }
        term.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: ColumnKind) -> InputColumn {
        InputColumn {
            name: name.to_owned(),
            kind,
            deviation: 1.0,
        }
    }

    #[test]
    fn two_values_have_a_scale_of_their_own() {
        let columns = [
            column("size", ColumnKind::Number),
            column("is male", ColumnKind::Number),
            column("is male", ColumnKind::Missing),
            column("width", ColumnKind::Number),
        ];
        let values = [
            1.0, -1.0, 0.0, 0.1, //
            2.0, 1.0, 0.0, 0.2, //
            3.0, -1.0, 0.0, 0.3,
        ];
        let inputs = Inputs::new(&values, 3, 4).expect("three rows");
        let apart = Apart::of(&columns, inputs).expect("two groups");
        assert_eq!(apart.rewrite("se"), "se[size,width] * se[\"is male\"]");
        assert_eq!(
            apart.rewrite("se + linear"),
            "se[size,width] * se[\"is male\"] + linear[size,width] + linear[\"is male\"]"
        );
        // Scales of their own, and no scale, stay what they are.
        assert_eq!(apart.rewrite("se(ard)"), "se(ard)");
        assert_eq!(apart.rewrite("constant"), "constant");
    }

    #[test]
    fn several_columns_of_two_values_stay_with_the_others() {
        let columns =
            ["size", "is male", "is old", "is here"].map(|own| column(own, ColumnKind::Number));
        let values = [
            1.0, -1.0, 0.0, 5.0, //
            2.0, 1.0, 1.0, 5.0, //
            3.0, -1.0, 1.0, 5.0,
        ];
        let of = |width: usize, take: &[usize]| {
            let cells = values
                .chunks(4)
                .flat_map(|row| take.iter().map(|&own| row[own]));
            let cells: Vec<f64> = cells.collect();
            let own: Vec<InputColumn> = take.iter().map(|&own| columns[own].clone()).collect();
            let inputs = Inputs::new(&cells, 3, width).expect("three rows");
            Apart::of(&own, inputs).is_some()
        };
        assert!(!of(3, &[0, 1, 2]));
        assert!(of(2, &[0, 1]));
        // A constant divides nothing, and a column alone is beside nothing.
        assert!(!of(2, &[0, 3]));
        assert!(!of(1, &[1]));
    }

    #[test]
    fn categories_go_with_every_term() {
        let columns = [
            column("size", ColumnKind::Number),
            column("flag", ColumnKind::Number),
            column("site", ColumnKind::Category { levels: 3 }),
        ];
        let values = [1.0, 0.0, 0.0, 2.0, 1.0, 1.0, 3.0, 1.0, 2.0];
        let inputs = Inputs::new(&values, 3, 3).expect("three rows");
        let apart = Apart::of(&columns, inputs).expect("two groups");
        assert_eq!(
            apart.rewrite("linear * category[site]"),
            "linear[size] * category[site] + linear[flag] * category[site]"
        );
        assert_eq!(
            apart.rewrite("matern32 * category[site] + category[site]"),
            "matern32[size] * matern32[flag] * category[site] + category[site]"
        );
    }
}
