//! Two classes by Laplace's method, hyperparameters at their mode or drawn (Williams and Barber 1998, tables 1 and 2,
//! figure 2).

use quorate::{Error, Result};
use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::sample::{HmcSettings, Sampler, Sampling, sample};
use quorate_gp::learn::{
    Hyperprior, LaplaceEvidence, Plausible, SearchLimits, WithPrior, latent_at, maximise,
};
use quorate_gp::likelihood::{Extras, Likelihood, Observations};
use quorate_gp::parameters::{Parameter, Role};
use quorate_gp::posterior::LaplacePosterior;
use quorate_gp::watch::Watch;

use super::classes::Classes;
use super::neal::{Posterior, TwoClasses};
use super::{Claim, Context, Curve, Reproduction, Size, beside, mean_and_error};

/// How hyperparameters and latent values are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Hyperparameters at the mode of evidence and prior, latent values by Laplace's method.
    Mode,
    /// Hyperparameters drawn, latent values by Laplace's method.
    Drawn,
    /// Both drawn.
    AllDrawn,
}

/// Draws that are averaged over: every tenth or so, because neighbours in a chain say the same.
const AVERAGED: usize = 40;

/// Leptograpsus crabs: 20 of each sex and colour train, the other 120 are asked (table 1).
pub fn crabs(context: &Context<'_>) -> Result<Reproduction> {
    let all = table(context, "crabs.csv.gz")?;
    let splits: u64 = match context.size {
        Size::Paper => 10,
        Size::Quick => 1,
    };
    let ways = [
        ("colour given, Laplace with HMC", true, Way::Drawn, 3.0),
        ("colour not given, Laplace with HMC", false, Way::Drawn, 3.0),
        ("colour given, Laplace with MPL", true, Way::Mode, 4.0),
        ("colour not given, Laplace with MPL", false, Way::Mode, 3.0),
        ("colour given, all drawn (Neal)", true, Way::AllDrawn, 4.0),
        (
            "colour not given, all drawn (Neal)",
            false,
            Way::AllDrawn,
            3.0,
        ),
    ];
    let mut errors: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for split in 0..splits {
        let train = of_each_kind(&all, context.seed + split);
        let others: Vec<usize> = (0..all.labels.len())
            .filter(|row| train.binary_search(row).is_err())
            .collect();
        for ((_, colour, way, _), errors) in ways.iter().zip(&mut errors) {
            let columns: Vec<usize> = (usize::from(!colour)..all.width).collect();
            let side = |rows: &[usize]| all.select(rows).columns(&columns);
            let task = Task::new(&side(&train), side(&others))?;
            errors.push(task.errors_of(*way, context)?.0 as f64);
        }
    }
    let found: Vec<(f64, f64)> = errors.iter().map(|values| mean_and_error(values)).collect();
    let rows = ways.iter().zip(&found);
    let numbers: Vec<Vec<f64>> = rows
        .clone()
        .map(|((.., theirs), found)| vec![*theirs, found.0, found.1])
        .collect();
    Ok(Reproduction {
        title: "Errors on the Leptograpsus crabs".to_owned(),
        setting: vec![
            format!(
                "The sex of 120 crabs from 80 others, 20 of each sex and colour, by five measurements, with or without the colour; mean and standard error of {splits} random splits, while the paper tells one split of Ripley's."
            ),
            SETTING.to_owned(),
        ],
        labels: ways.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        columns: vec!["paper_errors", "errors", "standard_error"],
        curves: beside(&numbers, 0, 1),
        rows: numbers,
        axes: ("row of the table", "errors"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims: rows
            .zip(&errors)
            .map(|(((name, _, _, theirs), found), errors)| {
                let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
                let most = errors.iter().copied().fold(0.0, f64::max);
                Claim {
                    theirs: format!("{name}: {theirs} errors of 120 on one split"),
                    ours: format!(
                        "{:.1} +- {:.1}, on single splits {least} to {most}",
                        found.0, found.1
                    ),
                    agrees: (least..=most).contains(theirs),
                }
            })
            .collect(),
    })
}

/// Diabetes among Pima women: Ripley's 200 and 332 rows (table 2), and the relevance of each input (figure 2).
pub fn pima(context: &Context<'_>) -> Result<Reproduction> {
    let (train, test) = (
        table(context, "pima_mass_train.csv.gz")?,
        table(context, "pima_mass_test.csv.gz")?,
    );
    let task = Task::new(&train, test)?;
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    let mut curves = Vec::new();
    let mut labels = Vec::new();
    for (name, way, theirs) in [
        ("Laplace with HMC", Way::Drawn, 68.0),
        ("Laplace with MPL", Way::Mode, 69.0),
        ("all drawn (Neal)", Way::AllDrawn, 68.0),
    ] {
        let (errors, found) = task.errors_of(way, context)?;
        labels.push(name.to_owned());
        rows.push(vec![theirs, errors as f64]);
        claims.push(Claim {
            theirs: format!("{name}: {theirs} errors of 332"),
            ours: format!("{errors}"),
            agrees: (66..=70).contains(&errors),
        });
        if way != Way::AllDrawn {
            curves.extend(found.relevance(name));
        }
    }
    Ok(Reproduction {
        title: "Errors on the Pima women, and which inputs matter".to_owned(),
        setting: vec![
            "Diabetes among 332 women from 200 others (Ripley's split).".to_owned(),
            SETTING.to_owned(),
            "The curves are figure 2: log w of each input (pregnancies, glucose, blood pressure, skin fold, body mass, pedigree, age), w = 1 / length scale^2; for the draws their mean, and one standard deviation below and above.".to_owned(),
        ],
        labels,
        columns: vec!["paper_errors", "errors"],
        rows,
        curves,
        axes: ("input", "log w"),
        logarithmic: (false, false),
        panels: Vec::new(),
        claims,
    })
}

const SETTING: &str = "Covariance v0 exp(-1/2 sum_l w_l (x_l - x'_l)^2) + v1 (eq. 4), inputs with mean 0 and variance 1 on the training rows, logistic likelihood, priors of mean -3 and standard deviation 3 on the logarithms of all parameters. MPL: the mode of approximate evidence and prior. HMC: two chains with trajectories of 20 leapfrog steps; probabilities averaged over 40 draws. All drawn: latent values by elliptical slices under a prior with jitter of variance 0.01, hyperparameters given them by HMC, 400 rounds of which the first quarter is thrown away.";

/// A table of classes that the paper used.
pub fn table(context: &Context<'_>, name: &str) -> Result<Classes> {
    match (context.data)(name)? {
        Some(table) => Ok(Classes::of(&table)),
        None => Err(Error::Spec(format!(
            "this needs {name}: name the folder that holds it with `--data DIR`"
        ))),
    }
}

/// Twenty rows of each colour and sex.
fn of_each_kind(all: &Classes, seed: u64) -> Vec<usize> {
    let mut train = Vec::new();
    for colour in [0.0, 1.0] {
        for sex in [0.0, 1.0] {
            let kind: Vec<usize> = (0..all.labels.len())
                .filter(|&row| all.row(row)[0] == colour && all.labels[row] == sex)
                .collect();
            let drawn = random_rows(kind.len(), 20, seed ^ (2.0 * colour + sex) as u64);
            train.extend(drawn.into_iter().map(|place| kind[place]));
        }
    }
    train.sort_unstable();
    train
}

/// Training rows under a kernel, and rows to be asked.
struct Task {
    kernel: BoundKernel,
    likelihood: Likelihood,
    data: Dataset,
    seen: Observations,
    test: Classes,
}

/// Values of the hyperparameters that predictions are averaged over.
struct Found {
    parameters: Vec<Parameter>,
    points: Vec<Vec<f64>>,
}

impl Task {
    fn new(train: &Classes, mut test: Classes) -> Result<Self> {
        let mut scaled = train.clone();
        train.standardise(&mut [&mut scaled, &mut test]);
        let data = scaled.data()?;
        let kernel: Kernel = "se(ard) + constant".parse()?;
        let kernel = kernel.bind(&scaled.input_columns())?;
        let seen = Observations::of(&data, Extras::default())?;
        Ok(Self {
            kernel,
            likelihood: "bernoulli".parse()?,
            data,
            seen,
            test,
        })
    }

    /// The mode of the hyperposterior, or draws from it.
    fn learn(&self, drawn: bool, context: &Context<'_>) -> Result<Found> {
        let watch: &dyn Watch = context.watch;
        let evidence = LaplaceEvidence::new(&self.kernel, self.likelihood, &self.data, &self.seen)?;
        let parameters = self.kernel.parameters();
        let priors: Vec<Plausible> = Hyperprior::Broad.all(&parameters);
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let free: Vec<bool> = parameters
            .iter()
            .map(|parameter| !parameter.fixed)
            .collect();
        let start: Vec<f64> = parameters.iter().map(Parameter::coordinate).collect();
        let objective = WithPrior {
            objective: &evidence,
            priors: &priors,
        };
        let limits = SearchLimits::default();
        let mode = maximise(&objective, &start, &bounds, &free, limits, watch)?.coordinates;
        if !drawn {
            return Ok(Found {
                parameters,
                points: vec![mode],
            });
        }
        let (warmup, draws) = match context.size {
            Size::Paper => (100, 200),
            Size::Quick => (5, 10),
        };
        let how = Sampling {
            sampler: Sampler::Hmc(HmcSettings {
                steps: 20,
                step: 0.1,
            }),
            chains: 2,
            warmup,
            draws,
            seed: context.seed,
        };
        let chains = sample(&objective, &mode, &bounds, &free, &how, watch)?;
        let all: Vec<Vec<f64>> = chains.into_iter().flat_map(|chain| chain.draws).collect();
        let stride = all.len().div_ceil(AVERAGED);
        Ok(Found {
            parameters,
            points: all.into_iter().step_by(stride).collect(),
        })
    }

    /// Test rows whose likelier class is the wrong one, and the hyperparameters behind.
    fn errors_of(&self, way: Way, context: &Context<'_>) -> Result<(usize, Found)> {
        let found = self.learn(way == Way::Drawn, context)?;
        let ones = match way {
            Way::Mode | Way::Drawn => self.averaged(&found.points)?,
            Way::AllDrawn => {
                let priors = Hyperprior::Broad.all(&found.parameters);
                let told = TwoClasses {
                    likelihood: self.likelihood,
                    seen: &self.seen,
                };
                let posterior = Posterior {
                    kernel: &self.kernel,
                    told: &told,
                    data: &self.data,
                    priors: &priors,
                };
                let rounds = match context.size {
                    Size::Paper => 400,
                    Size::Quick => 8,
                };
                let shares = posterior.probabilities(
                    &found.points[..1],
                    rounds,
                    self.query()?,
                    context.seed,
                    context.watch,
                )?;
                shares.iter().map(|row| row[1]).collect()
            }
        };
        let likelier = ones.iter().map(|one| f64::from(*one > 0.5));
        let wrong = likelier
            .zip(&self.test.labels)
            .filter(|(found, label)| found != *label);
        Ok((wrong.count(), found))
    }

    fn query(&self) -> Result<Inputs<'_>> {
        Ok(Inputs::new(
            &self.test.values,
            self.test.labels.len(),
            self.test.width,
        )?)
    }

    /// Probabilities of the second class, averaged over the points.
    fn averaged(&self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let query = self.query()?;
        let mut sums = vec![0.0; query.rows()];
        for point in points {
            let (kernel, likelihood) = latent_at(&self.kernel, self.likelihood, point)?;
            let (data, seen) = (self.data.clone(), self.seen.clone());
            let posterior = LaplacePosterior::fit(kernel, likelihood, data, seen, None)?;
            for (sum, belief) in sums.iter_mut().zip(posterior.latents(query)?) {
                *sum += likelihood.mean(belief);
            }
        }
        Ok(sums.iter().map(|sum| sum / points.len() as f64).collect())
    }
}

impl Found {
    /// Curves of log w over the inputs.
    fn relevance(&self, name: &str) -> Vec<Curve> {
        let scales: Vec<usize> = (0..self.parameters.len())
            .filter(|&i| self.parameters[i].role == Role::LengthScale)
            .collect();
        // A coordinate is the logarithm of a length scale, and w its inverse square.
        let logs =
            |i: usize| -> Vec<f64> { self.points.iter().map(|point| -2.0 * point[i]).collect() };
        let line = |name: String, shift: f64| Curve {
            name,
            points: scales
                .iter()
                .enumerate()
                .map(|(place, &i)| {
                    let values = logs(i);
                    let (mean, error) = mean_and_error(&values);
                    let deviation = error * (values.len() as f64).sqrt();
                    ((place + 1) as f64, mean + shift * deviation)
                })
                .collect(),
        };
        if self.points.len() == 1 {
            return vec![line(name.to_owned(), 0.0)];
        }
        vec![
            line(name.to_owned(), 0.0),
            line(format!("{name}, less a deviation"), -1.0),
            line(format!("{name}, plus a deviation"), 1.0),
        ]
    }
}
