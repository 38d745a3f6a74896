//! A table of numbers as shades: the larger a number, the darker its cell.

use super::text::{escape, push, shortened};

/// Height of a row, and of the heading with the names of the columns.
const ROW: f64 = 24.0;
const HEAD: f64 = 64.0;
/// Width of the names of rows, and of a cell.
const NAMES: f64 = 250.0;
const CELL: f64 = 80.0;
/// Characters of names that are shown.
const LONGEST_ROW: usize = 32;
const LONGEST_COLUMN: usize = 10;

/// A table whose cells are numbers; a row may have fewer than there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shades {
    /// Heading.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows, with a number for each column.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Shades {
    /// Height that it takes.
    pub fn height(&self) -> f64 {
        HEAD + ROW * self.rows.len() as f64 + 12.0
    }

    /// Draws it below `top`. A cell is as dark as its number is far from 0, beside the largest of its row; what is below 0 has a
    /// colour of its own.
    pub fn draw(&self, svg: &mut String, top: f64) {
        push(
            svg,
            format_args!(
                "  <text class=\"title\" x=\"14\" y=\"{:.1}\">{}</text>",
                top + 26.0,
                escape(&self.title)
            ),
        );
        for (place, name) in self.columns.iter().enumerate() {
            push(
                svg,
                format_args!(
                    "  <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    NAMES + CELL * (place as f64 + 0.5),
                    top + HEAD - 8.0,
                    escape(&shortened(name, LONGEST_COLUMN))
                ),
            );
        }
        for (index, (name, cells)) in self.rows.iter().enumerate() {
            let y = top + HEAD + ROW * index as f64;
            push(
                svg,
                format_args!(
                    "  <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    NAMES - 8.0,
                    y + 15.5,
                    escape(&shortened(name, LONGEST_ROW))
                ),
            );
            let sizes = cells.iter().flatten().map(|cell| cell.abs());
            let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
            for (place, cell) in cells.iter().enumerate() {
                let (Some(value), Some(column)) = (cell, self.columns.get(place)) else {
                    continue;
                };
                let share = if largest > 0.0 && value.is_finite() {
                    value.abs() / largest
                } else {
                    0.0
                };
                let class = if *value < 0.0 { "cell below" } else { "cell" };
                push(
                    svg,
                    format_args!(
                        "  <g><title>{}, {}: {value:.4}</title>\
                         <rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"2\" fill-opacity=\"{:.3}\"/>\
                         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.2}</text></g>",
                        escape(name),
                        escape(column),
                        NAMES + CELL * place as f64 + 1.0,
                        y + 1.0,
                        CELL - 2.0,
                        ROW - 2.0,
                        0.06 + 0.6 * share,
                        NAMES + CELL * (place as f64 + 0.5),
                        y + 15.5,
                    ),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_dark_as_their_numbers_are_large() {
        let table = Shades {
            title: "Weights <of> members".into(),
            columns: vec!["gp".into(), "tree".into()],
            rows: vec![
                ("stacking".into(), vec![Some(0.75), Some(0.25)]),
                ("covariance".into(), vec![Some(1.2), Some(-0.2)]),
                ("evidence".into(), vec![Some(1.0), None]),
            ],
        };
        let mut svg = String::new();
        table.draw(&mut svg, 0.0);
        assert_eq!(svg.matches("<rect").count(), 5);
        assert_eq!(svg.matches("cell below").count(), 1);
        assert!(svg.contains("fill-opacity=\"0.660\"") && svg.contains("fill-opacity=\"0.260\""));
        assert!(svg.contains("Weights &lt;of&gt; members") && svg.contains(">0.75<"));
    }
}
