//! The papers' experiments, computed again: our figures beside theirs.
//!
//! An [`Experiment`] has a name, and a [`Size`]: that of the paper, or a quick one to try it. What comes out is a
//! [`Reproduction`]: a table, curves, and each claim of the paper beside what was found. Drawing and writing are left to
//! the shells, and so is the clock.

mod boosted;
mod classes;
mod committee;
mod effective;
mod figure_one;
mod figure_three;
mod figure_two;
mod figure_two_maps;
mod generalized;
mod mixture_figure;
mod mixture_sets;
mod mixture_table;
mod mixtures;
mod neal;
mod setting;
mod table_one;
mod table_one_rows;
mod table_one_ways;
mod thesis;
mod thesis_asking;
mod thesis_figures;
mod thesis_fusion;
mod thesis_joint;
mod thesis_members;
mod thesis_nodes;
mod thesis_page;
mod thesis_ways;
mod thesis_weights;
mod thesis_why;
mod thesis_why_toy;
mod thesis_why_wind;
mod trees;
mod williams_barber;
mod williams_barber_glass;

use std::str::FromStr;

use quorate::Result;
use quorate_gp::data::Frame;
use quorate_gp::watch::Watch;

/// What can be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// Time against rows (GBCM, figure 1).
    GbcmFigure1,
    /// Classes that overlap, learned online (GBCM, figure 2).
    GbcmFigure2,
    /// Where that figure begins, on many maps (GBCM, figure 2).
    GbcmFigure2Maps,
    /// Two classes by one process and by committees (GBCM, table 1).
    GbcmTable1,
    /// How many query points a committee needs (GBCM, section 6.1).
    GbcmEffectiveParameters,
    /// Boosting the committee, and committees of support vector machines (GBCM, sections 6.7 and 6.9).
    GbcmBoosting,
    /// Error against the number of query points (Committee Machines, figure 3 left).
    CommitteeFigure3Left,
    /// Error against the number of rows (Committee Machines, figure 3 right).
    CommitteeFigure3Right,
    /// A step divided among three experts (Mixtures of Gaussian Processes, figure 1).
    MgpFigure1,
    /// Ten experts alone, averaged and mixed (Mixtures of Gaussian Processes, table 1).
    MgpTable1,
    /// Bagging and AdaBoost of trees (Committee Machines, table 1).
    CommitteeTable1,
    /// Fusion of predictions on the toy data (thesis, tables 3.6 to 3.10).
    ThesisChapter3,
    /// Fusion of weights and predictions on the toy data (thesis, tables 3.3 to 3.10).
    ThesisChapter3Weights,
    /// The functions that the fused nodes draw (thesis, figures 3.3 to 3.26).
    ThesisChapter3Figures,
    /// The same on simulated scatterometry.
    ThesisChapter3Wind,
    /// Hyperparameters of a large table from parts (thesis, table 4.1).
    ThesisTable41,
    /// Errors on the crabs (Williams and Barber, table 1).
    WilliamsBarberTable1,
    /// Errors on the Pima women (Williams and Barber, table 2 and figure 2).
    WilliamsBarberTable2,
    /// Errors on six kinds of glass (Williams and Barber, table 3).
    WilliamsBarberTable3,
}

/// How much to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As the paper did, where it says so.
    Paper,
    /// Enough to see that everything works.
    Quick,
}

/// What an experiment needs from its caller.
pub struct Context<'a> {
    /// How much to compute.
    pub size: Size,
    /// Seed of everything random.
    pub seed: u64,
    /// Seconds of processor time that the calling thread has used so far.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    /// Seconds on the wall.
    pub wall: &'a (dyn Fn() -> f64 + Sync),
    /// A table by its file name; none where it is not.
    pub data: &'a (dyn Fn(&str) -> Result<Option<Frame>> + Sync),
    /// Told of progress.
    pub watch: &'a dyn Watch,
}

/// An experiment's outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// What was shown by whom.
    pub title: String,
    /// What was done, in sentences.
    pub setting: Vec<String>,
    /// What each row of the table is about; empty where its first column says so.
    pub labels: Vec<String>,
    /// Names of the table's columns.
    pub columns: Vec<&'static str>,
    /// Its rows; not a number where there is a gap.
    pub rows: Vec<Vec<f64>>,
    /// The curves of the figure.
    pub curves: Vec<Curve>,
    /// Names of the axes.
    pub axes: (&'static str, &'static str),
    /// Whether each axis is logarithmic.
    pub logarithmic: (bool, bool),
    /// Small pictures beside each other, where one figure is not enough.
    pub panels: Vec<Panel>,
    /// What the paper says, and what was found.
    pub claims: Vec<Claim>,
}

/// A curve with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// A function, what was predicted of it, and the predictions' error bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// The function itself.
    pub truth: Vec<(f64, f64)>,
    /// What was predicted.
    pub mean: Vec<(f64, f64)>,
    /// One deviation to both sides.
    pub bars: Vec<(f64, f64, f64)>,
}

/// A claim of a paper beside what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What the paper says.
    pub theirs: String,
    /// What was found.
    pub ours: String,
    /// Whether both agree.
    pub agrees: bool,
}

impl Experiment {
    /// Every experiment, in the order of the papers.
    pub const ALL: [Experiment; 19] = [
        Experiment::GbcmFigure1,
        Experiment::GbcmFigure2,
        Experiment::GbcmFigure2Maps,
        Experiment::GbcmTable1,
        Experiment::GbcmEffectiveParameters,
        Experiment::GbcmBoosting,
        Experiment::CommitteeFigure3Left,
        Experiment::CommitteeFigure3Right,
        Experiment::MgpFigure1,
        Experiment::MgpTable1,
        Experiment::CommitteeTable1,
        Experiment::ThesisChapter3,
        Experiment::ThesisChapter3Weights,
        Experiment::ThesisChapter3Figures,
        Experiment::ThesisChapter3Wind,
        Experiment::ThesisTable41,
        Experiment::WilliamsBarberTable1,
        Experiment::WilliamsBarberTable2,
        Experiment::WilliamsBarberTable3,
    ];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::GbcmFigure1 => "gbcm-figure-1",
            Experiment::GbcmFigure2 => "gbcm-figure-2",
            Experiment::GbcmFigure2Maps => "gbcm-figure-2-maps",
            Experiment::GbcmTable1 => "gbcm-table-1",
            Experiment::GbcmEffectiveParameters => "gbcm-6.1",
            Experiment::GbcmBoosting => "gbcm-6.9",
            Experiment::CommitteeFigure3Left => "committee-machines-figure-3-left",
            Experiment::CommitteeFigure3Right => "committee-machines-figure-3-right",
            Experiment::MgpFigure1 => "mgp-figure-1",
            Experiment::MgpTable1 => "mgp-table-1",
            Experiment::CommitteeTable1 => "committee-machines-table-1",
            Experiment::ThesisChapter3 => "thesis-3",
            Experiment::ThesisChapter3Weights => "thesis-3-weights",
            Experiment::ThesisChapter3Figures => "thesis-3-figures",
            Experiment::ThesisChapter3Wind => "thesis-3-scatterometry",
            Experiment::ThesisTable41 => "thesis-4.1",
            Experiment::WilliamsBarberTable1 => "williams-barber-table-1",
            Experiment::WilliamsBarberTable2 => "williams-barber-table-2",
            Experiment::WilliamsBarberTable3 => "williams-barber-table-3",
        }
    }

    /// What it shows, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Experiment::GbcmFigure1 => {
                "processor time against rows: one process, and committees of modules of 10 and 100 rows"
            }
            Experiment::GbcmFigure2 => {
                "two classes that overlap more and more, up to 60,000 rows heard online in modules of 1,000"
            }
            Experiment::GbcmFigure2Maps => {
                "the first 1,000 rows of that figure on 60 maps: what one map may say"
            }
            Experiment::GbcmTable1 => {
                "two classes by one process and by committees, 20 repetitions (real tables: --data)"
            }
            Experiment::GbcmEffectiveParameters => {
                "query points that a committee needs, beside the effective number of parameters"
            }
            Experiment::GbcmBoosting => {
                "errors of boosted committees of processes and stumps, and of a committee of support vector machines"
            }
            Experiment::CommitteeFigure3Left => {
                "error against the number of query points, 1,000 rows in modules of 100"
            }
            Experiment::CommitteeFigure3Right => {
                "error against the number of rows, up to 60,000 in modules of 1,000"
            }
            Experiment::MgpFigure1 => {
                "a step divided among three experts of different bandwidths, and their gates"
            }
            Experiment::MgpTable1 => {
                "ten experts of random bandwidths alone, averaged and mixed, on nine sets (real tables: --data)"
            }
            Experiment::CommitteeTable1 => {
                "errors of bagging and AdaBoost of 50 trees on ten sets of classes (needs tables: --data)"
            }
            Experiment::ThesisChapter3 => {
                "predictions of 8 to 40 radial basis function networks fused by five rules, on the toy data"
            }
            Experiment::ThesisChapter3Weights => {
                "networks and radial basis functions of 8 to 40 nodes fused by weights and by predictions, on the toy data"
            }
            Experiment::ThesisChapter3Figures => {
                "what fused networks and radial basis functions say of the toy function, with error bars; where the parametric hierarchy breaks"
            }
            Experiment::ThesisChapter3Wind => {
                "the same with 14 to 900 nodes of simulated scatterometry (needs a table: --data)"
            }
            Experiment::ThesisTable41 => {
                "hyperparameters from parts of 90,000 rows: shared, local Laplace, Laplace propagation (needs a table: --data)"
            }
            Experiment::WilliamsBarberTable1 => {
                "errors on the Leptograpsus crabs: Laplace with HMC and MPL, and all drawn (needs a table: --data)"
            }
            Experiment::WilliamsBarberTable2 => {
                "errors on the Pima women and which inputs matter: Laplace with HMC and MPL, and all drawn (needs tables: --data)"
            }
            Experiment::WilliamsBarberTable3 => {
                "errors on six kinds of glass: coupled Laplace with MPL, and all drawn (needs a table: --data)"
            }
        }
    }

    /// Where it was published.
    pub fn source(self) -> &'static str {
        match self {
            Experiment::GbcmFigure1 => {
                "Tresp (2000), The Generalized Bayesian Committee Machine, KDD, figure 1 and section 7"
            }
            Experiment::GbcmFigure2 | Experiment::GbcmFigure2Maps => {
                "Tresp (2000), The Generalized Bayesian Committee Machine, KDD, figure 2"
            }
            Experiment::GbcmTable1 => {
                "Tresp (2000), The Generalized Bayesian Committee Machine, KDD, table 1"
            }
            Experiment::GbcmEffectiveParameters => {
                "Tresp (2000), The Generalized Bayesian Committee Machine, KDD, section 6.1"
            }
            Experiment::GbcmBoosting => {
                "Tresp (2000), The Generalized Bayesian Committee Machine, KDD, sections 6.7 and 6.9"
            }
            Experiment::CommitteeFigure3Left => "Tresp (2001), Committee Machines, figure 3 left",
            Experiment::CommitteeFigure3Right => "Tresp (2001), Committee Machines, figure 3 right",
            Experiment::MgpFigure1 => {
                "Tresp (2001), Mixtures of Gaussian Processes, NIPS 13, figure 1"
            }
            Experiment::MgpTable1 => {
                "Tresp (2001), Mixtures of Gaussian Processes, NIPS 13, table 1"
            }
            Experiment::CommitteeTable1 => "Tresp (2001), Committee Machines, table 1",
            Experiment::ThesisChapter3 => {
                "Latouche (2007), Distributed Machine Learning, tables 3.6 to 3.10"
            }
            Experiment::ThesisChapter3Weights | Experiment::ThesisChapter3Wind => {
                "Latouche (2007), Distributed Machine Learning, tables 3.3 to 3.10"
            }
            Experiment::ThesisChapter3Figures => {
                "Latouche (2007), Distributed Machine Learning, figures 3.3 to 3.26"
            }
            Experiment::ThesisTable41 => "Latouche (2007), Distributed Machine Learning, table 4.1",
            Experiment::WilliamsBarberTable1 => {
                "Williams and Barber (1998), Bayesian Classification with Gaussian Processes, table 1"
            }
            Experiment::WilliamsBarberTable2 => {
                "Williams and Barber (1998), Bayesian Classification with Gaussian Processes, table 2 and figure 2"
            }
            Experiment::WilliamsBarberTable3 => {
                "Williams and Barber (1998), Bayesian Classification with Gaussian Processes, table 3"
            }
        }
    }

    /// Whether it asks for tables, all or some of what it computes.
    pub fn reads_tables(self) -> bool {
        matches!(
            self,
            Experiment::GbcmTable1
                | Experiment::MgpTable1
                | Experiment::CommitteeTable1
                | Experiment::ThesisChapter3Wind
                | Experiment::ThesisTable41
                | Experiment::WilliamsBarberTable1
                | Experiment::WilliamsBarberTable2
                | Experiment::WilliamsBarberTable3
        )
    }

    /// Computes it.
    pub fn run(self, context: &Context<'_>) -> Result<Reproduction> {
        match self {
            Experiment::GbcmFigure1 => figure_one::run(context),
            Experiment::GbcmFigure2 => figure_two::run(context),
            Experiment::GbcmFigure2Maps => figure_two_maps::run(context),
            Experiment::GbcmTable1 => table_one::run(context),
            Experiment::GbcmEffectiveParameters => effective::run(context),
            Experiment::GbcmBoosting => boosted::run(context),
            Experiment::CommitteeFigure3Left => figure_three::left(context),
            Experiment::CommitteeFigure3Right => figure_three::right(context),
            Experiment::MgpFigure1 => mixture_figure::run(context),
            Experiment::MgpTable1 => mixture_table::run(context),
            Experiment::CommitteeTable1 => trees::run(context),
            Experiment::ThesisChapter3 => thesis_fusion::run(context),
            Experiment::ThesisChapter3Weights => thesis_weights::toy(context),
            Experiment::ThesisChapter3Figures => thesis_figures::run(context),
            Experiment::ThesisChapter3Wind => thesis_weights::scatterometry(context),
            Experiment::ThesisTable41 => thesis::run(context),
            Experiment::WilliamsBarberTable1 => williams_barber::crabs(context),
            Experiment::WilliamsBarberTable2 => williams_barber::pima(context),
            Experiment::WilliamsBarberTable3 => williams_barber_glass::run(context),
        }
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut all = Experiment::ALL.into_iter();
        all.find(|experiment| experiment.name() == text)
            .ok_or_else(|| format!("there is no experiment `{text}`"))
    }
}

/// The picture of a table: two of its columns, row by row.
fn beside(rows: &[Vec<f64>], theirs: usize, ours: usize) -> Vec<Curve> {
    let column = |name: &str, column: usize| Curve {
        name: name.to_owned(),
        points: (1..)
            .map(f64::from)
            .zip(rows.iter().map(|row| row[column]))
            .filter(|(_, value)| !value.is_nan())
            .collect(),
    };
    vec![column("paper", theirs), column("found", ours)]
}

/// Mean and standard error of repetitions; no error of one alone.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = if values.len() > 1 {
        (squares / (count - 1.0) / count).sqrt()
    } else {
        0.0
    };
    (mean, error)
}
