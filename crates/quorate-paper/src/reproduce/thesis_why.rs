//! When the committee machine with a prior by Monte Carlo is best for networks: one thing changed at a time.

use quorate::Result;
use quorate::fusion::Moments;
use quorate::member::InWeights;
use quorate_gp::watch::Watch;

use super::mean_and_error;
use super::thesis_joint::{Asked, Common, Noise, together};
use super::thesis_nodes::{Model, Problem, agents, score};

pub const PRODUCT: &str = "product";
pub const MACHINE: &str = "committee machine";
pub const NOISE: &str = "committee machine, one node's noise in the prior";
pub const LINEAR: &str = "committee machine, one node's prior linearised";
pub const AVERAGE: &str = "error averaging";
pub const WHOLE: &str = "one network of all rows";
/// What is divided away: nothing, the prior by Monte Carlo, and what others there are.
const PRIORS: [(&str, (Common, Noise)); 4] = [
    (PRODUCT, (Common::None, Noise::Mean)),
    (MACHINE, (Common::Drawn, Noise::Mean)),
    (NOISE, (Common::Drawn, Noise::First)),
    (LINEAR, (Common::OneLinearised, Noise::Mean)),
];

/// How many queries are asked together, in words.
pub fn asked_how(count: usize) -> String {
    match count {
        1 => "one at a time".to_owned(),
        _ => format!("{count} together"),
    }
}

/// The same where not all of the noise is inside what is fused.
pub fn asked_with(count: usize, inside: f64) -> String {
    let how = asked_how(count);
    match inside == 1.0 {
        true => how,
        false => format!("{how}, {inside} of the noise inside"),
    }
}

/// A mean difference with its standard error, where there is one.
pub fn signed((difference, error): (f64, f64)) -> String {
    let sign = if difference <= -5e-5 {
        "-"
    } else if difference >= 5e-5 {
        "+"
    } else {
        ""
    };
    let told = format!("{sign}{:.4}", difference.abs());
    match error.is_nan() {
        true => told,
        false => format!("{told} ± {error:.4}"),
    }
}

/// Nodes under one set of circumstances.
pub struct Variant<'a> {
    /// What its settings' names begin with.
    pub name: &'a str,
    pub problem: &'a Problem,
    pub model: Model,
    /// Numbers of queries asked together, the first of them 1; the product is fused first.
    pub counts: &'a [usize],
    /// Shares of the noise that are inside what is fused.
    pub insides: &'a [f64],
    /// The number of queries at which the other priors are tried too.
    pub priors_at: Option<usize>,
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

/// All settings, and of each repetition's first nodes asked one at a time: how far their weights differ (deviation over mean), and
/// the prior's share of what is fused.
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
    pub fn repeat(&mut self, variants: &[Variant<'_>], seed: u64, watch: &dyn Watch) -> Result<()> {
        for (place, variant) in variants.iter().enumerate() {
            let nodes = agents(&variant.problem.nodes, &variant.model, seed, watch)?;
            let nodes: Vec<&dyn InWeights> = nodes.iter().map(AsRef::as_ref).collect();
            self.fuse(variant, &nodes, seed, watch)?;
            if place == 0 {
                self.weigh(&nodes, variant.problem)?;
            }
        }
        Ok(())
    }

    fn fuse(
        &mut self,
        variant: &Variant<'_>,
        nodes: &[&dyn InWeights],
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<()> {
        let (problem, query) = (variant.problem, variant.problem.test.inputs());
        let mut asked = Asked::drawn(nodes, query, seed);
        let mut alone = None;
        for &inside in variant.insides {
            asked.set_noise_inside(inside);
            for &count in variant.counts {
                let is_tried = variant.priors_at == Some(count);
                let some = &PRIORS[..if is_tried { PRIORS.len() } else { 2 }];
                let priors: Vec<(Common, Noise)> = some.iter().map(|own| own.1).collect();
                let told = together(&asked, count, &priors, watch)?;
                for (told, (what, _)) in told.iter().zip(some) {
                    let (error, _) = score(problem.test.targets(), &told.moments);
                    let alone = *alone.get_or_insert(error);
                    let how = asked_with(count, inside);
                    let name = format!("{}{how}: {what}", variant.name);
                    self.add(&name, problem, &told.moments, alone, told.broken);
                }
            }
        }
        let alone = alone.unwrap_or(f64::NAN);
        let name = format!("{}{AVERAGE}", variant.name);
        self.add(&name, problem, &averaged(nodes, problem)?, alone, 0.0);
        let whole = std::slice::from_ref(&problem.train);
        let whole = agents(whole, &variant.model, seed, watch)?;
        let told = averaged(&[whole[0].as_ref()], problem)?;
        self.add(
            &format!("{}{WHOLE}", variant.name),
            problem,
            &told,
            alone,
            0.0,
        );
        Ok(())
    }

    fn add(&mut self, name: &str, problem: &Problem, told: &[Moments], alone: f64, broken: f64) {
        let place = (self.settings.iter().position(|own| own.name == name)).unwrap_or_else(|| {
            self.settings.push(Setting {
                name: name.to_owned(),
                ..Setting::default()
            });
            self.settings.len() - 1
        });
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

    pub fn find(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|own| own.name == name)
    }

    /// The mean error of a setting.
    pub fn error(&self, name: &str) -> f64 {
        (self.find(name)).map_or(f64::NAN, |own| mean_and_error(&own.errors).0)
    }

    /// Its error less that of the product of the same nodes asked one at a time, with its standard error.
    pub fn less(&self, name: &str) -> String {
        (self.find(name)).map_or_else(String::new, |own| signed(mean_and_error(&own.less)))
    }

    /// Mean difference of the errors of two settings, with its standard error.
    pub fn between(&self, name: &str, other: &str) -> Option<(f64, f64)> {
        let (own, other) = (self.find(name)?, self.find(other)?);
        let both = own.errors.iter().zip(&other.errors);
        Some(mean_and_error(
            &both.map(|(own, other)| own - other).collect::<Vec<_>>(),
        ))
    }
}

/// The mean of what nodes predict, each with its own noise inside, and the mean of their variances.
fn averaged(nodes: &[&dyn InWeights], problem: &Problem) -> Result<Vec<Moments>> {
    let (query, share) = (problem.test.inputs(), 1.0 / nodes.len() as f64);
    let nothing = Moments {
        mean: 0.0,
        variance: 0.0,
    };
    let mut told = vec![nothing; query.rows()];
    for node in nodes {
        let belief = node.marginals(query)?;
        for (row, own) in told.iter_mut().enumerate() {
            own.mean += share * belief.mean[(row, 0)];
            own.variance += share * (belief.variance[(row, 0)] + node.noise_variance());
        }
    }
    Ok(told)
}
