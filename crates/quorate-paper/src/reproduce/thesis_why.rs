//! When the committee machine with a prior by Monte Carlo is best for networks, and when it ties: one thing changed at a time.

use quorate::Result;
use quorate::fusion::Moments;
use quorate::member::InWeights;
use quorate_gp::watch::Watch;

use super::mean_and_error;
use super::thesis_joint::{Asked, Common, Noise, together};
use super::thesis_nodes::{Model, Problem, TOGETHER, agents, score};

/// Queries asked together.
const COUNTS: [usize; 4] = [1, 10, TOGETHER, 500];
/// A prior precision of the weights that holds them hardly: a tenth and less of what the evidence finds.
pub const WEAK: f64 = 1e-3;

const PRODUCT: &str = "product";
const MACHINE: &str = "committee machine";
const NOISE: &str = "committee machine, one node's noise in the prior";
const LINEAR: &str = "committee machine, one node's prior linearised";
/// What is divided away: nothing, the prior by Monte Carlo, and what others there are.
const PRIORS: [(&str, (Common, Noise)); 4] = [
    (PRODUCT, (Common::None, Noise::Mean)),
    (MACHINE, (Common::Drawn, Noise::Mean)),
    (NOISE, (Common::Drawn, Noise::First)),
    (LINEAR, (Common::OneLinearised, Noise::Mean)),
];

fn asked_how(count: usize) -> String {
    match count {
        1 => "one at a time".to_owned(),
        _ => format!("{count} together"),
    }
}

/// A mean difference with its standard error.
pub fn signed((difference, error): (f64, f64)) -> String {
    let sign = if difference <= -5e-5 {
        "-"
    } else if difference >= 5e-5 {
        "+"
    } else {
        ""
    };
    format!("{sign}{:.4} ± {error:.4}", difference.abs())
}

/// One setting: error over the targets' deviation and share within one deviation in every repetition, the same errors less those of
/// the product of the same nodes asked one at a time, and the share of blocks whose fused precision is not positive.
#[derive(Clone, Default)]
pub struct Setting {
    pub name: String,
    pub errors: Vec<f64>,
    pub inside: Vec<f64>,
    pub less: Vec<f64>,
    pub broken: Vec<f64>,
}

/// All settings, and of nodes asked one at a time: how far their weights differ (deviation over mean), and the prior's share of what
/// is fused.
#[derive(Default)]
pub struct Why {
    pub settings: Vec<Setting>,
    pub spread: Vec<f64>,
    pub share: Vec<f64>,
    /// Mean prior precision of the weights that the evidence found.
    pub held: Vec<f64>,
}

impl Why {
    /// Another repetition.
    pub fn repeat(
        &mut self,
        problem: &Problem,
        hidden: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut place = 0;
        for (held, name) in [(None, ""), (Some(WEAK), "weak prior, ")] {
            let model = Model::Network { hidden, held };
            let nodes = agents(&problem.nodes, &model, seed, watch)?;
            let nodes: Vec<&dyn InWeights> = nodes.iter().map(AsRef::as_ref).collect();
            let query = problem.test.inputs();
            let asked = Asked::drawn(&nodes, query, seed);
            let mut alone = 0.0;
            let counts = match held {
                None => &COUNTS[..],
                Some(_) => &[1, TOGETHER][..],
            };
            for &count in counts {
                // The others are tried where the prior counts.
                let is_tried = held.is_none() && count == TOGETHER;
                let some = &PRIORS[..if is_tried { PRIORS.len() } else { 2 }];
                let priors: Vec<(Common, Noise)> = some.iter().map(|own| own.1).collect();
                let told = together(&asked, count, &priors, watch)?;
                for (told, (what, _)) in told.iter().zip(some) {
                    let (error, _) = score(problem.test.targets(), &told.moments);
                    if count == 1 && *what == PRODUCT {
                        alone = error;
                    }
                    let name = format!("{name}{}: {what}", asked_how(count));
                    self.add(place, &name, problem, &told.moments, alone, told.broken);
                    place += 1;
                }
            }
            let whole = agents(std::slice::from_ref(&problem.train), &model, seed, watch)?;
            let belief = whole[0].marginals(query)?;
            let told: Vec<Moments> = (0..query.rows())
                .map(|row| Moments {
                    mean: belief.mean[(row, 0)],
                    variance: belief.variance[(row, 0)] + whole[0].noise_variance(),
                })
                .collect();
            let name = format!("{name}one network of all rows");
            self.add(place, &name, problem, &told, alone, 0.0);
            place += 1;
            if held.is_none() {
                self.weigh(&nodes, problem)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        place: usize,
        name: &str,
        problem: &Problem,
        told: &[Moments],
        alone: f64,
        broken: f64,
    ) {
        if place == self.settings.len() {
            self.settings.push(Setting {
                name: name.to_owned(),
                ..Setting::default()
            });
        }
        let (error, inside) = score(problem.test.targets(), told);
        let own = &mut self.settings[place];
        own.errors.push(error);
        own.inside.push(inside);
        own.less.push(error - alone);
        own.broken.push(broken);
    }

    /// Precisions with noise inside, one query at a time: how far those of nodes differ, and what the prior takes away.
    fn weigh(&mut self, nodes: &[&dyn InWeights], problem: &Problem) -> Result<()> {
        let query = problem.test.inputs();
        let (count, rows) = (nodes.len() as f64, query.rows());
        let held = nodes.iter().map(|node| node.prior_precision()).sum::<f64>();
        self.held.push(held / count);
        let mut sums = vec![[0.0; 3]; rows];
        for node in nodes {
            let (belief, prior) = (node.marginals(query)?, node.prior(query));
            for (row, sums) in sums.iter_mut().enumerate() {
                let precision = 1.0 / (belief.variance[(row, 0)] + node.noise_variance());
                sums[0] += precision;
                sums[1] += precision * precision;
                sums[2] += 1.0 / (prior.variance[(row, 0)] + node.noise_variance());
            }
        }
        let mean = |of: &dyn Fn(&[f64; 3]) -> f64| sums.iter().map(of).sum::<f64>() / rows as f64;
        self.spread.push(mean(&|[sum, squares, _]| {
            (count * squares / (sum * sum) - 1.0).max(0.0).sqrt()
        }));
        self.share
            .push(mean(&|[sum, _, prior]| prior * (count - 1.0) / count / sum));
        Ok(())
    }

    /// Labels and rows of the table: nothing printed, error and its standard error, the difference and its own, percentage.
    pub fn rows(&self) -> (Vec<String>, Vec<Vec<f64>>) {
        let named = self
            .settings
            .iter()
            .map(|own| format!("many, network, why: {}", own.name));
        let rows = self.settings.iter().map(|own| {
            let ((error, of_error), (less, of_less)) =
                (mean_and_error(&own.errors), mean_and_error(&own.less));
            let inside = 100.0 * mean_and_error(&own.inside).0;
            vec![f64::NAN, error, of_error, less, of_less, inside]
        });
        (named.collect(), rows.collect())
    }

    fn find(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|own| own.name == name)
    }

    /// The mean error of a setting of [`TOGETHER`] queries.
    fn together(&self, what: &str) -> f64 {
        let own = self.find(&format!("{}: {what}", asked_how(TOGETHER)));
        own.map_or(f64::NAN, |own| mean_and_error(&own.errors).0)
    }

    /// What each way of making the prior gives.
    pub fn priors_told(&self) -> String {
        let name = format!("{}: {NOISE}", asked_how(TOGETHER));
        let broken = self
            .find(&name)
            .map_or(f64::NAN, |own| mean_and_error(&own.broken).0);
        format!(
            "both matter, noise more: with many rows a node, linearised with the mean of the nodes' noise {:.3}; Monte Carlo with one node's noise {:.3}, the fused precision not \
             positive in {:.0} % of blocks",
            self.together(LINEAR),
            self.together(NOISE),
            100.0 * broken
        )
    }

    /// What it says, in sentences.
    pub fn told(&self) -> String {
        let less = |name: &str| match self.find(name) {
            Some(own) => signed(mean_and_error(&own.less)),
            None => String::new(),
        };
        let error =
            |name: &str| (self.find(name)).map_or(f64::NAN, |own| mean_and_error(&own.errors).0);
        let counts = COUNTS.iter().map(|count| {
            let named = |what: &str| less(&format!("{}: {what}", asked_how(*count)));
            let (machine, product) = (named(MACHINE), named(PRODUCT));
            format!("{} {machine} (product {product})", asked_how(*count))
        });
        format!(
            "ten networks of 100 rows, error less that of the product one at a time: {}. One at a time with noise inside, nodes' weights differ by {:.0} % and the prior is \
             {:.2} % of the precision: every rule says the same. Together the noise averages out, and the prior that every node counted is divided away. With a weak \
             prior ({WEAK}; the evidence finds {:.3}) there is nothing to divide away: {TOGETHER} together {} (product {}), and the product one at a time has {:.4}, \
             one network of all rows {:.4}; with the evidence's prior {:.4} and {:.4}",
            counts.collect::<Vec<_>>().join(", "),
            100.0 * mean_and_error(&self.spread).0,
            100.0 * mean_and_error(&self.share).0,
            mean_and_error(&self.held).0,
            less(&format!("weak prior, {}: {MACHINE}", asked_how(TOGETHER))),
            less(&format!("weak prior, {}: {PRODUCT}", asked_how(TOGETHER))),
            error("weak prior, one at a time: product"),
            error("weak prior, one network of all rows"),
            error("one at a time: product"),
            error("one network of all rows"),
        )
    }

    /// Whether the prior wins exactly where it can be divided away: clearly with many queries together and the evidence's prior, not
    /// with a weak one, and not one at a time.
    pub fn isolates(&self) -> bool {
        let gain = |how: String| {
            let named = |what: &str| self.find(&format!("{how}: {what}"));
            let (own, base) = (named(MACHINE)?, named(PRODUCT)?);
            let both = own.errors.iter().zip(&base.errors);
            Some(mean_and_error(
                &both.map(|(a, b)| a - b).collect::<Vec<_>>(),
            ))
        };
        let joint = asked_how(TOGETHER);
        let weak = gain(format!("weak prior, {joint}"));
        match (gain(asked_how(1)), gain(joint), weak) {
            (Some(alone), Some((gain, error)), Some(weak)) => {
                let is_nothing = |other: (f64, f64)| other.0.abs() < 0.1 * gain.abs();
                gain + 2.0 * error < 0.0 && is_nothing(alone) && is_nothing(weak)
            }
            _ => false,
        }
    }
}
