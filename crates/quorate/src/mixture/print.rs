//! A soft tree for people to read.

use super::hierarchy::{LinearExpert, Node, SoftTree};

/// Mean and deviation of a column in its own units.
pub type Units = (f64, f64);

impl SoftTree {
    /// The tree as text: a line for each gate and each expert, in the units of the columns and the target.
    pub fn describe(&self, names: &[String], units: &[Units], target: Units) -> String {
        let mut text = String::new();
        let paper = Paper {
            names,
            units,
            target,
        };
        paper.node(&self.root, "", "", &mut text);
        text
    }
}

struct Paper<'a> {
    names: &'a [String],
    units: &'a [Units],
    target: Units,
}

impl Paper<'_> {
    fn node(&self, node: &Node, lead: &str, indent: &str, text: &mut String) {
        match node {
            Node::Expert(expert) => *text += &format!("{lead}{}\n", self.expert(expert)),
            Node::Gate { weights, children } => {
                let width = self.names.len() + 1;
                *text += &format!("{lead}{}\n", gate_title(children.len()));
                let reference = weights.get(..width).unwrap_or(&[]);
                for (place, child) in children.iter().enumerate() {
                    let last = place + 1 == children.len();
                    let (branch, below) = if last {
                        ("└─ ", "   ")
                    } else {
                        ("├─ ", "│  ")
                    };
                    let own = weights
                        .get(place * width..(place + 1) * width)
                        .unwrap_or(&[]);
                    let when = if place == 0 && children.len() == 2 {
                        "otherwise".to_owned()
                    } else {
                        let gap: Vec<f64> = if children.len() == 2 {
                            own.iter().zip(reference).map(|(a, b)| a - b).collect()
                        } else {
                            own.to_vec()
                        };
                        self.condition(&gap, children.len() == 2)
                    };
                    let lead = format!("{indent}{branch}{when}: ");
                    self.node(child, &lead, &format!("{indent}{below}"), text);
                }
            }
        }
    }

    /// `y = constant + slope x ..`, in the columns' own units.
    fn expert(&self, expert: &LinearExpert) -> String {
        let (mean, deviation) = self.target;
        let (constant, slopes) = self.plain(&expert.weights);
        let sum = self.sum(mean + deviation * constant, &slopes, deviation);
        format!(
            "{sum}, noise {:.3}, {:.0} % of the rows",
            deviation * expert.variance.sqrt(),
            100.0 * expert.share
        )
    }

    /// A linear function as an inequality (for two nodes) or as a height (for more).
    fn condition(&self, weights: &[f64], alone: bool) -> String {
        let (constant, slopes) = self.plain(weights);
        if !alone {
            return format!("height {}", self.sum(constant, &slopes, 1.0));
        }
        // Scaled so that the input that counts most has the weight 1.
        let most = slopes.iter().copied().map(f64::abs).fold(0.0, f64::max);
        if most == 0.0 {
            let share = 1.0 / (1.0 + (-constant).exp());
            return format!("with probability {share:.2}");
        }
        let scaled: Vec<f64> = slopes.iter().map(|slope| slope / most).collect();
        let sum = self.sum(0.0, &scaled, 1.0);
        format!(
            "{sum} > {:.4} (softly, within {:.3})",
            -constant / most,
            2.0 / most
        )
    }

    /// Constant and slopes for columns in their own units.
    fn plain(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let mut constant = weights.first().copied().unwrap_or(0.0);
        let mut slopes = Vec::new();
        for (weight, (mean, deviation)) in weights.iter().skip(1).zip(self.units) {
            constant -= weight * mean / deviation;
            slopes.push(weight / deviation);
        }
        (constant, slopes)
    }

    fn sum(&self, constant: f64, slopes: &[f64], factor: f64) -> String {
        let mut text = if constant == 0.0 {
            String::new()
        } else {
            format!("{constant:.4}")
        };
        // Inputs that count a thousandth of the strongest are left to the model file.
        let strength = |(slope, unit): (&f64, &Units)| (slope * unit.1).abs();
        let most = slopes
            .iter()
            .zip(self.units)
            .map(strength)
            .fold(0.0, f64::max);
        for ((slope, name), unit) in slopes.iter().zip(self.names).zip(self.units) {
            if strength((slope, unit)) <= 1e-3 * most {
                continue;
            }
            let size = factor * slope;
            let sign = match (text.is_empty(), size < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text += &format!("{sign}{:.4} {name}", size.abs());
        }
        if text.is_empty() {
            "0".to_owned()
        } else {
            text
        }
    }
}

fn gate_title(children: usize) -> String {
    format!("gate of {children}")
}
