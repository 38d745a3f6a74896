//! The page of the thesis' tables 3.3 to 3.10: its table, and what it says beside the thesis.

use super::thesis_nodes::TOGETHER;
use super::thesis_ways::{How, WAYS};
use super::thesis_weights::{Found, KINDS, SPLITS};
use super::thesis_why::{Why, signed};
use super::{Claim, Reproduction, beside, mean_and_error};

/// What a page says beyond its table.
pub struct Explained<'a> {
    pub is_toy: bool,
    /// One thing changed at a time.
    pub why: &'a Why,
    /// What was found about ways of making the prior, ended by "; ", or nothing.
    pub priors: String,
    /// What that shows.
    pub claim: Claim,
}

/// The page of either data set.
pub fn page(
    title: &str,
    setting: Vec<String>,
    found: &Found,
    explained: Explained<'_>,
) -> Reproduction {
    let mut labels = Vec::new();
    let mut table = Vec::new();
    let each = |split: usize, kind: usize, how: How| -> &Vec<(f64, f64)> {
        let way = WAYS.iter().position(|way| way.how == how).unwrap_or(0);
        &found[split][kind][way]
    };
    let mean = |split: usize, kind: usize, how: How| {
        let own: Vec<f64> = each(split, kind, how).iter().map(|score| score.0).collect();
        mean_and_error(&own).0
    };
    let inside = |split: usize, kind: usize, how: How| {
        let own: Vec<f64> = each(split, kind, how).iter().map(|score| score.1).collect();
        100.0 * mean_and_error(&own).0
    };
    let between = |split: usize, kind: usize, [how, other]: [How; 2]| {
        let both = each(split, kind, how).iter().zip(each(split, kind, other));
        repeated(&both.map(|(own, other)| own.0 - other.0).collect::<Vec<_>>())
    };
    for (split, split_name) in SPLITS.iter().enumerate() {
        for (kind, kind_name) in KINDS.iter().enumerate() {
            for way in WAYS.iter().filter(|way| way.is_listed(kind == 0)) {
                let theirs = match explained.is_toy {
                    true => way.toy,
                    false => way.scatterometry,
                };
                let own: Vec<f64> = each(split, kind, way.how).iter().map(|s| s.0).collect();
                let (ours, error) = repeated(&own);
                let (less, of_less) = between(split, kind, [way.how, How::Product]);
                labels.push(format!("{split_name}, {kind_name}, {}", way.name));
                let theirs = theirs[2 * split + kind];
                let within = inside(split, kind, way.how);
                table.push(vec![theirs, ours, error, less, of_less, within]);
            }
        }
    }
    let (names, rows) = explained.why.rows();
    labels.extend(names);
    table.extend(rows);
    let all = |kind: usize, how: How| [0, 1, 2].map(|split| mean(split, kind, how));
    let told =
        |numbers: [f64; 3]| format!("{:.3}, {:.3}, {:.3}", numbers[0], numbers[1], numbers[2]);
    let (nets, radial) = (all(0, How::Cooperative), all(1, How::Cooperative));
    let best = |split: usize| {
        let others = WAYS.iter().filter(|way| {
            let machine = [How::Machine, How::MachineTogether, How::AllTogether];
            way.is_listed(true) && !machine.contains(&way.how)
        });
        let ranked = others.min_by(|a, b| mean(split, 0, a.how).total_cmp(&mean(split, 0, b.how)));
        ranked.map_or((How::Product, ""), |way| (way.how, way.name))
    };
    let won = [0, 1, 2].map(|split| between(split, 0, [How::MachineTogether, best(split).0]));
    let ranked = [0, 1, 2].map(|split| {
        let (how, name) = best(split);
        format!(
            "{} {:.4}, best other {:.4} ({name}), difference {}",
            SPLITS[split],
            mean(split, 0, How::MachineTogether),
            mean(split, 0, how),
            signed(won[split]),
        )
    });
    let mut claims = vec![
        Claim {
            theirs: "Averaging weights fails for networks (0.91, 4.1, 8.5 on the toy data) and works for radial basis functions.".into(),
            ours: format!("networks {}, radial {}", told(nets), told(radial)),
            agrees: nets.iter().zip(radial).all(|(net, radial)| *net > 1.5 * radial),
        },
        Claim {
            theirs: "A Gaussian through the weights fails with many rows a node (networks 1.5, radial 6.8 on the toy data).".into(),
            ours: format!(
                "with its covariance inverted as it stands, although ten agents give it no more than nine directions: networks {}, radial {}; \
                 in the directions that it has: networks {}, radial {}",
                told(all(0, How::Inverted)),
                told(all(1, How::Inverted)),
                told(all(0, How::Parametric)),
                told(all(1, How::Parametric))
            ),
            agrees: mean(1, 0, How::Inverted) > 1.2 * mean(1, 0, How::Average)
                && mean(1, 1, How::Inverted) > 1.2 * mean(1, 1, How::Average),
        },
        Claim {
            theirs: "The non-parametric hierarchy is stable: similar for both models in all three situations.".into(),
            ours: format!(
                "networks {}, radial {}",
                told(all(0, How::NonParametric)),
                told(all(1, How::NonParametric))
            ),
            agrees: [0, 1].iter().all(|kind| {
                let own = all(*kind, How::NonParametric);
                own.iter().all(|error| *error < 2.0 * mean(1, *kind, How::Average))
            }),
        },
        Claim {
            theirs: "Weighted averaging breaks with few rows a node (networks 1e5, radial 2.6 on the toy data).".into(),
            ours: format!("networks {:.3}, radial {:.3}", mean(0, 0, How::Weighted), mean(0, 1, How::Weighted)),
            agrees: [0, 1].iter().all(|kind| {
                mean(0, *kind, How::Weighted) > 1.5 * mean(0, *kind, How::Average)
            }),
        },
        Claim {
            theirs: "Products underestimate the error bars.".into(),
            ours: format!(
                "of networks {:.0} %, of radial {:.0} % within one deviation with few rows a node; 68 % would be right; with many rows a node, {TOGETHER} queries together, \
                 products {:.0} and {:.0} %, committee machines {:.0} and {:.0} %",
                inside(0, 0, How::Product),
                inside(0, 1, How::Product),
                inside(1, 0, How::ProductTogether),
                inside(1, 1, How::ProductTogether),
                inside(1, 0, How::MachineTogether),
                inside(1, 1, How::MachineTogether)
            ),
            agrees: inside(0, 0, How::Product) < 50.0 && inside(0, 1, How::Product) < 50.0,
        },
        Claim {
            theirs: "The committee machine with a linearised prior is poor for networks (1.0), with Monte Carlo accurate (0.27 with many rows).".into(),
            ours: format!(
                "{TOGETHER} queries together: linearised as printed {}, Monte Carlo {}; {}all nodes' priors linearised {}; one at a time: linearised {}, Monte Carlo {}, \
                 linearised as printed, one node's prior about zero for all, {}",
                told(all(0, How::OneTogether)),
                told(all(0, How::MachineTogether)),
                explained.priors,
                told(all(0, How::AllTogether)),
                told(all(0, How::Linearised)),
                told(all(0, How::Machine)),
                told(all(0, How::Printed))
            ),
            agrees: {
                let (one, drawn) = (mean(1, 0, How::OneTogether), mean(1, 0, How::MachineTogether));
                one > 1.5 * drawn
            },
        },
        Claim {
            theirs: "With enough rows a node the committee machine with Monte Carlo is best for networks (many 0.265, the best other 0.270; different 0.272 and 0.278), with few it is poor (0.45, averaging 0.35).".into(),
            ours: format!(
                "{TOGETHER} queries together: {}; all nodes' priors linearised, which the thesis did not try, {:.4} with many; one at a time Monte Carlo is as good as the product: {}{}",
                ranked.join("; "),
                mean(1, 0, How::AllTogether),
                signed(between(1, 0, [How::Machine, How::Product])),
                match best(2).0 {
                    How::Evidence => "; model averaging, where nodes differ, takes one of the largest, because with so little noise the evidence grows with the rows",
                    _ => "",
                }
            ),
            agrees: won[1].0 + 2.0 * won[1].1 < 0.0,
        },
    ];
    claims.push(explained.claim);
    Reproduction {
        title: title.into(),
        setting,
        labels,
        columns: vec![
            "paper",
            "test error",
            "standard error",
            "less product",
            "its standard error",
            "% within one deviation",
        ],
        curves: beside(&table, 0, 1),
        rows: table,
        axes: ("row of the table", "normalised test error"),
        logarithmic: (false, true),
        panels: Vec::new(),
        claims,
    }
}

/// Mean and standard error; one repetition has none.
fn repeated(values: &[f64]) -> (f64, f64) {
    let (mean, error) = mean_and_error(values);
    let is_one = values.len() < 2;
    (mean, if is_one { f64::NAN } else { error })
}
