//! Hyperparameters of a large table from parts (Latouche 2007, table 4.1).

use quorate::gp::data::{Dataset, Frame, InputColumn, Schema, random_rows};
use quorate::gp::kernel::{BoundKernel, Kernel};
use quorate::gp::learn::{Hyperprior, Propagation, Search, SearchLimits, learn};
use quorate::gp::likelihood::GaussianNoise;
use quorate::hyper::{FromParts, FromPartsWay, from_parts};
use quorate::partition::{PartChoice, PartedRows, Partition};
use quorate::{Error, ModelSpec, Result};

use super::thesis_asking::{
    ASKED, Asked, NEAREST, QUESTIONS, Questions, UNKNOWN, some_training_rows,
};
use super::thesis_members::{self, Alone};
use super::{Claim, Context, Curve, Reproduction, Size};

/// The table: simulated, because the measured one is not public.
const TABLE: &str = "scatterometry.parquet";
/// Rows of a part.
const PART: usize = 500;
const HOURS: f64 = 3600.0;

/// Table 4.1: model, RMS train, RMS test, training and prediction in seconds.
const THESIS: [(&str, [f64; 4]); 12] = [
    ("RBF (2 hidden units)", [0.8160, 0.8327, 27.0, 25.0]),
    ("RBF (10 hidden units)", [0.5724, 0.5867, 137.4, 36.0]),
    ("RBF (50 hidden units)", [0.3489, 0.3454, 556.8, 91.8]),
    ("MLP (2 hidden units)", [0.4428, 0.4534, 2.0, 15.0]),
    ("MLP (10 hidden units)", [0.3453, 0.3479, 25.0, 17.0]),
    ("MLP (50 hidden units)", [0.3444, 0.3482, 782.4, 19.0]),
    (
        "SH + BCM + non clustered data",
        [0.3635, 0.3642, 4.31 * HOURS, 5.26 * HOURS],
    ),
    (
        "SH + BCM + clustered data",
        [0.3489, 0.3517, 4.29 * HOURS, 5.10 * HOURS],
    ),
    (
        "LLA + BCM + non clustered data",
        [0.4032, 0.4057, 3.57 * HOURS, 5.10 * HOURS],
    ),
    (
        "LLA + BCM + clustered data",
        [0.3960, 0.3975, 3.41 * HOURS, 5.20 * HOURS],
    ),
    (
        "LP + BCM + non clustered data",
        [0.3721, 0.3739, 4.20 * HOURS, 5.32 * HOURS],
    ),
    (
        "LP + BCM + clustered data",
        [0.3491, 0.3530, 4.20 * HOURS, 5.20 * HOURS],
    ),
];
/// Where in it networks and the Gaussian processes begin; before are radial basis functions.
const NETWORKS: usize = 3;
const PROCESSES: usize = 6;
/// Rows that are ours alone: the hyperparameters that SH and LP find in clustered parts, asked of the nearest rows.
const NEAR: [(&str, usize); 2] = [
    ("SH + nearest rows + clustered data", 1),
    ("LP + nearest rows + clustered data", 5),
];

/// One row of the table.
struct Row {
    train: f64,
    test: f64,
    learning: f64,
    asking: f64,
    /// Sum of the parts' log evidences, for each row.
    evidence: f64,
    found: FromParts,
}

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let Some(table) = (context.data)(TABLE)? else {
        return Err(Error::Spec(format!(
            "thesis-4.1 needs {TABLE}: name the folder that holds it with `--data DIR`"
        )));
    };
    let half = match context.size {
        Size::Paper => table.rows() / 2,
        Size::Quick => 2_000.min(table.rows() / 2),
    };
    let rows = |from: usize, to: usize| table.select_rows(&(from..to).collect::<Vec<_>>());
    let last = table.rows();
    let problem = Problem::new(&rows(0, half), &rows(last - half, last), context)?;
    let ways = [
        FromPartsWay::Shared,
        FromPartsWay::LocalLaplace,
        FromPartsWay::Propagation(Propagation::default()),
    ];
    let mut found = Vec::new();
    for way in ways {
        for choice in [PartChoice::Random, PartChoice::Tree] {
            found.push(problem.row(way, &choice, context)?);
        }
    }
    let mut near = Vec::new();
    for (_, row) in NEAR {
        let questions = problem.questions(context);
        near.push(questions.to_nearest_rows(&found[row].found, &problem.train)?);
    }
    let rows = [&problem.train, &problem.asked, &problem.test];
    let alone = thesis_members::rows(&problem.columns, rows, context)?;
    let numbers = |place: usize| match place.checked_sub(PROCESSES) {
        Some(place) => {
            let row: &Row = &found[place];
            [row.train, row.test, row.learning, row.asking]
        }
        None => {
            let row: &Alone = &alone[place];
            [row.train, row.test, row.learning, row.asking]
        }
    };
    let printed =
        (THESIS.iter().enumerate()).map(|(place, (_, theirs))| [numbers(place), *theirs].concat());
    let own = NEAR.iter().zip(&near).map(|((_, row), asked)| {
        let ours = [asked.train, asked.test, found[*row].learning, asked.seconds];
        [ours, [f64::NAN; 4]].concat()
    });
    let table: Vec<Vec<f64>> = printed.chain(own).collect();
    let names = THESIS.iter().map(|(name, _)| *name);
    let names = names.chain(NEAR.iter().map(|(name, _)| *name));
    Ok(Reproduction {
        title: "Hyperparameters of a large table from parts: shared, local Laplace approximations, Laplace propagation"
            .into(),
        setting: setting(&problem, &found),
        labels: names.map(str::to_owned).collect(),
        columns: vec![
            "RMS train",
            "RMS test",
            "training, s",
            "prediction, s",
            "thesis: RMS train",
            "thesis: RMS test",
            "thesis: training, s",
            "thesis: prediction, s",
        ],
        rows: table,
        curves: curves(&alone, &found, &near),
        axes: ("training, seconds", "RMS test, in deviations of the target"),
        logarithmic: (true, false),
        panels: Vec::new(),
        claims: claims(&alone, &found, &near),
    })
}

/// The rows, the kernel's start, and the questions.
struct Problem {
    columns: Vec<InputColumn>,
    train: Dataset,
    test: Dataset,
    asked: Dataset,
    kernel: BoundKernel,
    noise: GaussianNoise,
    seed: u64,
    /// Seconds until the start was found.
    starting: f64,
}

impl Problem {
    fn new(train: &Frame, test: &Frame, context: &Context<'_>) -> Result<Self> {
        let (schema, _) = Schema::learn(train, &ModelSpec::new("y").roles())?;
        let train = schema.training_data(train)?;
        let test = schema.training_data(test)?;
        let started = (context.wall)();
        // The covariance of the thesis: a squared exponential with a length for each input. It starts where the evidence
        // of a random part is largest.
        let part = train.select(&random_rows(train.rows(), 1000, context.seed));
        let kernel: Kernel = "se(ard)".parse()?;
        let mut kernel = kernel.bind(schema.columns())?;
        kernel.initialise(part.inputs(), part.targets());
        let search = Search {
            restarts: Some(1),
            seed: context.seed,
            limits: SearchLimits {
                steps: 40,
                relative_gain: 1e-5,
                ..SearchLimits::default()
            },
            ..Search::default()
        };
        let noise = GaussianNoise { variance: 0.1 };
        let (kernel, noise, _) = learn(&kernel, noise, &part, &search, context.watch)?;
        Ok(Self {
            columns: schema.columns().to_vec(),
            asked: some_training_rows(&train, context.seed ^ 1),
            train,
            test,
            kernel,
            noise,
            seed: context.seed,
            starting: (context.wall)() - started,
        })
    }

    fn questions<'a>(&'a self, context: &'a Context<'a>) -> Questions<'a> {
        Questions {
            asked: &self.asked,
            test: &self.test,
            context,
        }
    }

    fn row(&self, way: FromPartsWay, choice: &PartChoice, context: &Context<'_>) -> Result<Row> {
        let started = (context.wall)();
        let partition = Partition {
            choice,
            size: PART,
            seed: self.seed,
        };
        let lists = partition.assign(&self.kernel, &self.train, None, context.watch)?;
        let parts = self.train.split(&lists);
        let found = from_parts(
            &self.kernel,
            self.noise,
            false,
            &parts,
            way,
            Hyperprior::Broad,
            context.watch,
        )?;
        let learning = (context.wall)() - started + self.starting;
        let parted = PartedRows::new(self.train.clone(), &lists);
        let asked = self.questions(context).to_parts(&found, &parted, PART)?;
        Ok(Row {
            train: asked.train,
            test: asked.test,
            learning,
            asking: asked.seconds,
            evidence: found.value / self.train.rows() as f64,
            found,
        })
    }
}

fn setting(problem: &Problem, found: &[Row]) -> Vec<String> {
    let rounds = |place: usize| found[place].found.rounds.len();
    vec![
        format!(
            "{} training and {} test rows of simulated scatterometer measurements (CMOD5.N, noise about 0.22 dB): the data of the thesis are not public, so errors compare within a column, not across.",
            problem.train.rows(),
            problem.test.rows()
        ),
        format!(
            "Kernel `se(ard)`; parts of at most {PART} rows, random or balanced cells of the kernel's metric; the hyperprior of Williams and Barber (mean -3, deviation 3); every part is learned from."
        ),
        format!(
            "All six start from the evidence of 1,000 random rows ({:.1} s, counted as training). Predictions by the Bayesian committee machine as published, all parts asked jointly: test rows are sorted into balanced cells of at most {QUESTIONS} in the kernel's metric, and of each cell those rows are asked about that leave the others less than {UNKNOWN} of the noise variance, {ASKED} at most. RMS train is of {} random training rows.",
            problem.starting,
            problem.asked.rows()
        ),
        format!(
            "Laplace propagation took {} rounds with random parts and {} with cells. Log evidence and log prior for each row, random parts then cells: shared {:.5}, {:.5}; local approximations {:.5}, {:.5}; propagation {:.5}, {:.5}.",
            rounds(4),
            rounds(5),
            found[0].evidence,
            found[1].evidence,
            found[2].evidence,
            found[3].evidence,
            found[4].evidence,
            found[5].evidence
        ),
        format!(
            "Sums of local approximations that had no maximum: {}.",
            found[2..4].iter().filter(|row| row.found.damped).count()
        ),
        format!(
            "The last rows, which the thesis does not have, take the hyperparameters of SH and LP as they are and answer each question from the {NEAREST} training rows nearest to it instead of all parts."
        ),
        "RBF networks: centres by k-means, width and weights by the evidence procedure. MLP: one hidden layer, evidence procedure with Laplace's method, three starts compared on 5,000 rows and the best of them learned on with all. Answers have error bars, whose time is counted.".into(),
    ]
}

fn curves(alone: &[Alone], found: &[Row], near: &[Asked]) -> Vec<Curve> {
    let networks = |name: &str, own: &[Alone]| Curve {
        name: name.to_owned(),
        points: own.iter().map(|row| (row.learning, row.test)).collect(),
    };
    let parted = ["non clustered", "clustered"].iter().enumerate();
    let parted = parted.map(|(place, name)| Curve {
        name: (*name).to_owned(),
        points: (found.iter().skip(place).step_by(2))
            .map(|row| (row.learning, row.test))
            .collect(),
    });
    let nearest = Curve {
        name: "nearest rows".into(),
        points: (NEAR.iter().zip(near))
            .map(|((_, row), asked)| (found[*row].learning, asked.test))
            .collect(),
    };
    [
        networks("RBF", &alone[..NETWORKS]),
        networks("MLP", &alone[NETWORKS..]),
    ]
    .into_iter()
    .chain(parted)
    .chain([nearest])
    .collect()
}

/// The least test error of some of the first rows.
fn best(alone: &[Alone]) -> f64 {
    let errors = alone.iter().map(|row| row.test);
    errors.fold(f64::INFINITY, f64::min)
}

fn claims(alone: &[Alone], found: &[Row], near: &[Asked]) -> Vec<Claim> {
    let (rbf, mlp) = (best(&alone[..NETWORKS]), best(&alone[NETWORKS..]));
    let [sh_random, sh, lla_random, lla, lp_random, lp] =
        [0, 1, 2, 3, 4, 5].map(|place| &found[place]);
    let pair = |random: &Row, cells: &Row| format!("{:.4} and {:.4}", random.test, cells.test);
    let slowest = found
        .iter()
        .map(|row| row.learning.max(row.asking))
        .fold(0.0, f64::max);
    vec![
        Claim {
            theirs: "clustered, SH and LP predict about as well as the best RBF and MLP (0.3517 and 0.3530 against 0.3454 and 0.3479: at most 2.2 % worse)".into(),
            ours: format!("{:.4} and {:.4} against {rbf:.4} and {mlp:.4}", sh.test, lp.test),
            agrees: sh.test.max(lp.test) <= 0.3530 / 0.3454 * rbf.min(mlp),
        },
        Claim {
            theirs: "the same, with the nearest rows asked under the same hyperparameters".into(),
            ours: format!(
                "{:.4} and {:.4} against {rbf:.4} and {mlp:.4}",
                near[0].test, near[1].test
            ),
            agrees: near[0].test.max(near[1].test) <= 0.3530 / 0.3454 * rbf.min(mlp),
        },
        Claim {
            theirs: "better results always when the data was clustered (RMS test SH 0.3642 and 0.3517, LLA 0.4057 and 0.3975, LP 0.3739 and 0.3530)".into(),
            ours: format!(
                "random and clustered: SH {}, LLA {}, LP {}",
                pair(sh_random, sh),
                pair(lla_random, lla),
                pair(lp_random, lp)
            ),
            agrees: sh.test <= sh_random.test
                && lla.test <= lla_random.test
                && lp.test <= lp_random.test,
        },
        Claim {
            theirs: "local Laplace approximations are less accurate than shared hyperparameters (0.3975 against 0.3517, clustered)".into(),
            ours: format!(
                "{:.4} against {:.4}, clustered; log evidence for each row {:.4} against {:.4}",
                lla.test, sh.test, lla.evidence, sh.evidence
            ),
            agrees: lla.test >= sh.test,
        },
        Claim {
            theirs: "what sharing costs in time it gains in accuracy: it is faster or more accurate than local approximations".into(),
            ours: format!(
                "random parts: {:.0} s and {:.5} against {:.0} s and {:.5}; clustered: {:.0} s and {:.5} against {:.0} s and {:.5}",
                sh_random.learning,
                sh_random.test,
                lla_random.learning,
                lla_random.test,
                sh.learning,
                sh.test,
                lla.learning,
                lla.test
            ),
            agrees: [(sh_random, lla_random), (sh, lla)]
                .iter()
                .all(|(shared, local)| {
                    shared.learning < local.learning || shared.test < local.test
                }),
        },
        Claim {
            theirs: "Laplace propagation predicts almost as well as shared hyperparameters (0.3530 and 0.3517, clustered)".into(),
            ours: format!("{:.4} and {:.4}, clustered", lp.test, sh.test),
            agrees: lp.test <= 1.01 * sh.test,
        },
        Claim {
            theirs: "shared hyperparameters train slowest (4.29 h, LP 4.20 h, LLA 3.41 h, clustered)".into(),
            ours: format!(
                "SH {:.0} s, LP {:.0} s, LLA {:.0} s, clustered",
                sh.learning, lp.learning, lla.learning
            ),
            agrees: sh.learning >= lp.learning && sh.learning >= lla.learning,
        },
        Claim {
            theirs: "hours to train (3.4 to 4.3) and to predict (5.1 to 5.3)".into(),
            ours: format!("at most {:.1} minutes for either", slowest / 60.0),
            agrees: slowest < HOURS,
        },
    ]
}
