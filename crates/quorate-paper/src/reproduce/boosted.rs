//! Boosting the committee, and committees of support vector machines (Tresp 2000, sec. 6.7 and 6.9).

use quorate::Result;
use quorate::ensemble::boosting::{Boosting, How};
use quorate::fusion::{Fusion, Moments};
use quorate_gp::data::{Dataset, Inputs};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::{Extras, Likelihood, Observations};
use quorate_gp::posterior::{LaplacePosterior, Predict, SupportVectorMachine};

use super::setting::{Art, INPUTS, Questions, exact, scaled_prior, validated_width};
use super::{Claim, Context, Curve, Reproduction, Size, mean_and_error};

const ROWS: usize = 1000;
const PARTS: usize = 10;
/// Noise of the map whose sign is the class, and of the regression on +1 and -1.
const NOISE: f64 = 0.2;
const SPREAD: f64 = 0.5;
/// What a lost margin costs.
const COST: f64 = 4.0;
/// Rounds of boosted stumps.
const STUMPS: usize = 50;

const NAMES: [&str; 9] = [
    "one process on +1 and -1",
    "committee machine of 10",
    "sum of 10, all weights alike",
    "sum of 10, boosted",
    "Gentle AdaBoost, 10 rounds on all rows",
    "one stump",
    "50 stumps, boosted",
    "one support vector machine",
    "committee machine of 10 support vector machines",
];

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let repetitions = match context.size {
        Size::Paper => 20,
        Size::Quick => 2,
    };
    let mut errors: Vec<Vec<f64>> = vec![Vec::new(); NAMES.len()];
    for repetition in 0..repetitions {
        context.watch.check()?;
        context.watch.progress("boosting", repetition, repetitions);
        let seed = context.seed + repetition as u64;
        let trial = Trial::new(seed)?;
        for (own, error) in errors.iter_mut().zip(trial.errors()?) {
            own.push(100.0 * error);
        }
    }
    let moments: Vec<(f64, f64)> = errors.iter().map(|own| mean_and_error(own)).collect();
    let apart =
        |a: usize, b: usize| (moments[a].0 - moments[b].0) / moments[a].1.hypot(moments[b].1);
    let told = |a: usize, b: usize| {
        format!(
            "{:.2} % +- {:.2} against {:.2} % +- {:.2}",
            moments[a].0, moments[a].1, moments[b].0, moments[b].1
        )
    };
    let table: Vec<Vec<f64>> = moments
        .iter()
        .map(|(mean, error)| vec![*mean, *error])
        .collect();
    Ok(Reproduction {
        title: "Boosting the committee machine, and committees of support vector machines".into(),
        setting: vec![
            format!(
                "Classes are the signs of the artificial map with noise {NOISE}, {INPUTS} inputs; {ROWS} training rows, in parts of {} where there are \
                 ten members; 2000 test rows judged by the sign of the map itself. Means and standard errors of {repetitions} repetitions.",
                ROWS / PARTS
            ),
            format!(
                "Squared-exponential prior, its width by a validation set of 100 rows. Regression on +1 and -1 with noise {SPREAD}; boosted members see \
                 the noise sigma^2 / w, w = exp(-y F) normalised to the mean 1, F the sum of the members so far. Support vector machines: cost {COST}; in \
                 their committee the smoothed hinge with Laplace's method gives each part a belief, and beliefs are fused query by query."
            ),
        ],
        labels: NAMES.iter().map(|name| (*name).to_owned()).collect(),
        columns: vec!["errors, %", "standard error"],
        curves: vec![Curve {
            name: "found".into(),
            points: (1..).map(f64::from).zip(moments.iter().map(|own| own.0)).collect(),
        }],
        rows: table,
        axes: ("row of the table", "errors in per cent"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims: vec![
            Claim {
                theirs: "No significant improvement by the addition of boosting to the GBCM: reweighting did not strongly influence the prediction.".into(),
                ours: format!("boosted sum {}", told(3, 2)),
                agrees: apart(2, 3) < 2.0,
            },
            Claim {
                theirs: "Gaussian processes are rather strong learners; boosting was mostly successful with weak ones.".into(),
                ours: format!("boosted stumps {}; Gentle AdaBoost of processes {}", told(6, 5), told(4, 0)),
                agrees: apart(5, 6) > 2.0 && apart(0, 4) < 2.0,
            },
            Claim {
                theirs: "In principle the support vector machine would also be suitable for the GBCM, though the Laplace approximation might not be very good.".into(),
                ours: format!("committee of machines {}", told(8, 7)),
                agrees: moments[8].0 < 1.5 * moments[7].0,
            },
        ],
    })
}

/// Rows with signs, and questions.
struct Trial {
    rows: Dataset,
    signs: Vec<f64>,
    questions: Questions,
    kernel: BoundKernel,
    costly: BoundKernel,
}

impl Trial {
    fn new(seed: u64) -> Result<Self> {
        let width = validated_width(seed, NOISE)?;
        let mut art = Art::new(seed, NOISE);
        let rows = art.rows(ROWS)?;
        let signs = rows
            .targets()
            .iter()
            .map(|target| target.signum())
            .collect();
        Ok(Self {
            rows,
            signs,
            questions: art.questions(2000),
            kernel: scaled_prior(INPUTS, 1.0, width)?,
            costly: scaled_prior(INPUTS, COST, width)?,
        })
    }

    /// Some rows with other targets and weights.
    fn some(
        &self,
        rows: &[usize],
        target: &dyn Fn(usize) -> f64,
        weight: &dyn Fn(usize) -> f64,
    ) -> Result<Dataset> {
        let inputs = self.rows.inputs();
        let values = rows.iter().flat_map(|&row| inputs.row(row)).copied();
        Ok(Dataset::new(
            values.collect(),
            INPUTS,
            rows.iter().map(|&row| target(row)).collect(),
            Some(rows.iter().map(|&row| weight(row)).collect()),
            None,
        )?)
    }

    /// Share of questions about whose sign values are wrong.
    fn wrong(&self, values: &[f64]) -> f64 {
        let pairs = values.iter().zip(&self.questions.truth);
        let wrong = pairs.filter(|(value, truth)| value.signum() != truth.signum());
        wrong.count() as f64 / values.len() as f64
    }

    /// A regression on signs: means and variances at the questions, and means at all rows.
    fn member(
        &self,
        rows: &[usize],
        weight: &dyn Fn(usize) -> f64,
    ) -> Result<(Vec<Moments>, Vec<f64>)> {
        let data = self.some(rows, &|row| self.signs[row], weight)?;
        let posterior = exact(&self.kernel, SPREAD, data)?;
        let asked = posterior.marginals(self.questions.inputs()?)?;
        let own = posterior.marginals(self.rows.inputs())?;
        let moments = (0..self.questions.truth.len()).map(|row| Moments {
            mean: asked.mean[(row, 0)],
            variance: asked.variance[(row, 0)],
        });
        Ok((moments.collect(), own.mean.col_as_slice(0).to_vec()))
    }

    /// Means of members that are added up, each on its rows, with or without weights; normalised to the mean 1.
    fn sum(&self, parts: &[Vec<usize>], boosted: bool) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.questions.truth.len()];
        let mut so_far = vec![0.0; self.rows.rows()];
        for part in parts {
            let raw = |row: usize| match boosted {
                true => (-self.signs[row] * so_far[row]).exp(),
                false => 1.0,
            };
            let mean = part.iter().map(|&row| raw(row)).sum::<f64>() / part.len() as f64;
            let (asked, own) = self.member(part, &|row| raw(row) / mean)?;
            sums.iter_mut()
                .zip(&asked)
                .for_each(|(sum, m)| *sum += m.mean);
            so_far.iter_mut().zip(&own).for_each(|(sum, m)| *sum += m);
        }
        Ok(sums)
    }

    fn errors(&self) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..self.rows.rows()).collect();
        let parts: Vec<Vec<usize>> = all
            .chunks(all.len().div_ceil(PARTS))
            .map(<[usize]>::to_vec)
            .collect();
        let one = self.member(&all, &|_| 1.0)?.0;
        let prior = Moments {
            mean: 0.0,
            variance: 1.0,
        };
        let mut said = Vec::new();
        for part in &parts {
            said.push(self.member(part, &|_| 1.0)?.0);
        }
        let machine = fused(&said, prior)?;
        let means: Vec<f64> = one.iter().map(|m| m.mean).collect();
        let stump = |rounds: usize| self.stumps(rounds);
        let labels = |row: usize| f64::from(u8::from(self.signs[row] > 0.0));
        let data = self.some(&all, &labels, &|_| 1.0)?;
        let seen = Observations::of(&data, Extras::default())?;
        let single = SupportVectorMachine::fit(self.costly.clone(), data, &seen)?;
        let hinge: Likelihood = "hinge".parse()?;
        let mut beliefs = Vec::new();
        for part in &parts {
            let data = self.some(part, &labels, &|_| 1.0)?;
            let seen = Observations::of(&data, Extras::default())?;
            let posterior = LaplacePosterior::fit(self.costly.clone(), hinge, data, seen, None)?;
            let latents = posterior.latents(self.questions.inputs()?)?;
            let moments = latents.iter().map(|latent| Moments {
                mean: latent.mean,
                variance: latent.variance,
            });
            beliefs.push(moments.collect::<Vec<_>>());
        }
        let costly = Moments {
            mean: 0.0,
            variance: COST,
        };
        Ok(vec![
            self.wrong(&means),
            self.wrong(&machine),
            self.wrong(&self.sum(&parts, false)?),
            self.wrong(&self.sum(&parts, true)?),
            self.wrong(&self.sum(&vec![all; PARTS], true)?),
            stump(1)?,
            stump(STUMPS)?,
            self.wrong(&single.decisions(self.questions.inputs()?)?),
            self.wrong(&fused(&beliefs, costly)?),
        ])
    }

    fn stumps(&self, rounds: usize) -> Result<f64> {
        let labels: Vec<usize> = self
            .signs
            .iter()
            .map(|sign| usize::from(*sign > 0.0))
            .collect();
        let boosting = Boosting {
            rounds,
            depth: 1,
            how: How::Reweighting,
        };
        let boosted = boosting.fit(self.rows.inputs(), &labels, 2)?;
        let asked: Inputs<'_> = self.questions.inputs()?;
        let values: Vec<f64> = (0..self.questions.truth.len())
            .map(|row| 2.0 * boosted.class(asked.row(row)) as f64 - 1.0)
            .collect();
        Ok(self.wrong(&values))
    }
}

/// Means of the committee machine, query by query.
fn fused(said: &[Vec<Moments>], prior: Moments) -> Result<Vec<f64>> {
    let fusion = Fusion::bayesian_committee_machine();
    let queries = 0..said.first().map_or(0, Vec::len);
    queries
        .map(|query| {
            let opinions: Vec<Moments> = said.iter().map(|own| own[query]).collect();
            Ok(fusion.combine_one(&opinions, prior)?.mean)
        })
        .collect()
}
