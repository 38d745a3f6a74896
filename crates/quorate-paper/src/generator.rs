//! The choice of a generator, and the table it makes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use quorate_gp::data::{Column, ColumnType, Frame, Header};
use quorate_gp::{Error, Result};

use crate::art::{Art, Bumps};
use crate::categories;
use crate::draw::{Draw, Stream};
use crate::friedman::Friedman;
use crate::noise::Noise;
use crate::process::Process;
use crate::sine::Sine;
use crate::step::Step;
use crate::waveform::{self, Waveform};

/// What kind of data to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generator {
    /// `x1..`, `y`: five normalised Gaussian bumps plus noise (Mixtures of Gaussian Processes, table 1).
    Art,
    /// `x1..`, `label`: the sign of the same map plus noise (The Generalized Bayesian Committee Machine, App. C).
    ArtClasses,
    /// `x`, `y`: sin(2 pi x) on [0, 2) plus noise (Latouche's thesis, section 2.3.1).
    Sine,
    /// `x`, `y`: a step at zero under standard normal inputs (Mixtures of Gaussian Processes, fig. 1).
    Step,
    /// `x1..x21`, `label`: three classes of noisy triangular waves (Breiman et al. 1984).
    Waveform,
    /// `x1..`, `y`: Friedman's first function; only five inputs matter (Friedman 1991).
    Friedman,
    /// `site`, `machine`, `day`, `open`, `load`, `temperature`, `y`: every kind of column, with missing cells.
    Categories,
    /// `x1..`, `y`: targets that do not depend on the inputs.
    Noise,
}

/// Settings of a generator; what is left out takes the value of the paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Number of input columns.
    pub inputs: Option<usize>,
    /// Standard deviation of the noise.
    pub noise: Option<f64>,
    /// Seed of the hidden function, for the generators that draw one; the rows have the other seed.
    pub function: u64,
    /// Adds a column `truth`: the target without noise.
    pub truth: bool,
}

impl Generator {
    /// Every generator, in the order of the documentation.
    pub const ALL: [Generator; 8] = [
        Generator::Art,
        Generator::ArtClasses,
        Generator::Sine,
        Generator::Step,
        Generator::Waveform,
        Generator::Friedman,
        Generator::Categories,
        Generator::Noise,
    ];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Generator::Art => "art",
            Generator::ArtClasses => "art-classes",
            Generator::Sine => "sine",
            Generator::Step => "step",
            Generator::Waveform => "waveform",
            Generator::Friedman => "friedman",
            Generator::Categories => "categories",
            Generator::Noise => "noise",
        }
    }

    /// What it makes, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Generator::Art => "a smooth map of five Gaussian bumps, 5 inputs, noise 0.2",
            Generator::ArtClasses => "two classes: the sign of that map, noise 0",
            Generator::Sine => "two periods of a sine, 1 input, noise 0.2",
            Generator::Step => "a step at zero, 1 normal input, noise 0",
            Generator::Waveform => "three classes of noisy triangular waves, 21 inputs, noise 1",
            Generator::Friedman => "Friedman's function: 5 of 10 inputs matter, noise 1",
            Generator::Categories => "text, dates, booleans, numbers and missing cells, noise 0.3",
            Generator::Noise => "targets that do not depend on the 3 inputs, noise 1",
        }
    }

    /// The column to predict.
    pub fn target(self) -> &'static str {
        match self {
            Generator::ArtClasses | Generator::Waveform => "label",
            _ => "y",
        }
    }

    /// The number of inputs and the noise where nothing else is asked for.
    fn defaults(self) -> (usize, f64) {
        match self {
            Generator::Art => (5, 0.2),
            Generator::ArtClasses => (5, 0.0),
            Generator::Sine => (1, 0.2),
            Generator::Step => (1, 0.0),
            Generator::Waveform => (waveform::LENGTH, 1.0),
            Generator::Friedman => (10, 1.0),
            Generator::Categories => (6, 0.3),
            Generator::Noise => (3, 1.0),
        }
    }

    /// The smallest and largest number of inputs.
    fn input_range(self) -> (usize, usize) {
        const MOST: usize = 10_000;
        match self {
            Generator::Art | Generator::ArtClasses | Generator::Noise => (1, MOST),
            Generator::Sine | Generator::Step => (1, 1),
            Generator::Waveform => (waveform::LENGTH, MOST),
            Generator::Friedman => (5, MOST),
            Generator::Categories => (6, 6),
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Generator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Generator::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| {
            let names = Generator::ALL.map(Generator::name).join(", ");
            Error::Invalid(format!(
                "there is no generator `{text}`; choose one of {names}"
            ))
        })
    }
}

/// Makes a table. The same arguments give the same table, to the last bit.
///
/// ```
/// use quorate_paper::{Generator, Options, generate};
///
/// let options = Options { inputs: Some(2), truth: true, ..Options::default() };
/// let table = generate("art".parse()?, 50, 1, &options)?;
/// assert_eq!(table.header.names, ["x1", "x2", "y", "truth"]);
/// assert!("arts".parse::<Generator>().is_err());
/// # Ok::<(), quorate_gp::Error>(())
/// ```
pub fn generate(kind: Generator, rows: usize, seed: u64, options: &Options) -> Result<Frame> {
    let (inputs, noise) = kind.defaults();
    let inputs = options.inputs.unwrap_or(inputs);
    let noise = options.noise.unwrap_or(noise);
    let (fewest, most) = kind.input_range();
    if !(fewest..=most).contains(&inputs) {
        let range = if fewest == most {
            format!("always {fewest}")
        } else {
            format!("from {fewest} to {most}")
        };
        return Err(Error::Invalid(format!(
            "the number of inputs of the generator {kind} is {range}, not {inputs}"
        )));
    }
    if !(noise.is_finite() && noise >= 0.0) {
        return Err(Error::Invalid(format!(
            "the noise is a standard deviation: zero or more, not {noise:?}"
        )));
    }
    let process: Box<dyn Process> = match kind {
        Generator::Categories => {
            return categories::table(rows, seed, options.function, noise, options.truth);
        }
        Generator::Art | Generator::ArtClasses => Box::new(Art {
            bumps: Bumps::draw(inputs, options.function),
            noise,
            classes: kind == Generator::ArtClasses,
        }),
        Generator::Sine => Box::new(Sine { noise }),
        Generator::Step => Box::new(Step { noise }),
        Generator::Waveform => Box::new(Waveform { inputs, noise }),
        Generator::Friedman => Box::new(Friedman { inputs, noise }),
        Generator::Noise => Box::new(Noise { inputs, noise }),
    };
    table(kind, process.as_ref(), rows, seed, options.truth)
}

fn table(
    kind: Generator,
    process: &dyn Process,
    rows: usize,
    seed: u64,
    with_truth: bool,
) -> Result<Frame> {
    let mut names = process.inputs();
    let mut columns = vec![Vec::with_capacity(rows); names.len() + 2];
    let mut draw = Draw::new(seed, Stream::Rows);
    let mut inputs = vec![0.0; names.len()];
    for _ in 0..rows {
        let outcome = process.row(&mut draw, &mut inputs);
        if with_truth && outcome.truth.is_none() {
            return Err(Error::Invalid(format!(
                "the generator {kind} has no target without noise; leave the column `truth` out"
            )));
        }
        let cells = inputs
            .iter()
            .copied()
            .chain([outcome.target, outcome.truth.unwrap_or(f64::NAN)]);
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    names.push(kind.target().into());
    if with_truth {
        names.push("truth".into());
    }
    columns.truncate(names.len());
    let header = Header {
        source: kind.name().into(),
        types: vec![ColumnType::Number; names.len()],
        names,
    };
    let columns = columns.into_iter().map(Column::Number).collect();
    Frame::new(Arc::new(header), columns, 1)
}
