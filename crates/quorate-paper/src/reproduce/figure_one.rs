//! Processor time against the number of rows (GBCM, figure 1).

use quorate::Result;
use quorate_gp::posterior::Predict;

use super::committee::Committee;
use super::setting::{Art, exact, prior};
use super::{Claim, Context, Curve, Reproduction, Size};

/// Query points, as in the paper.
const QUESTIONS: usize = 128;
const NOISE: f64 = 0.2;
/// Seconds over which short work is repeated: clocks of processor time tick in milliseconds.
const LONG_ENOUGH: f64 = 0.1;
const WIDTH: f64 = 0.7;

/// One line of the figure.
struct Line {
    name: &'static str,
    /// Rows of a module; none for one process over all rows.
    module: Option<usize>,
    /// Rows up to which it is computed.
    most: usize,
}

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (most_exact, most, repetitions) = match context.size {
        Size::Paper => (4096, 65_536, 3),
        Size::Quick => (512, 1024, 1),
    };
    let lines = [
        Line {
            name: "M = 1: one process",
            module: None,
            most: most_exact,
        },
        Line {
            name: "K/M = 10",
            module: Some(10),
            most,
        },
        Line {
            name: "K/M = 100",
            module: Some(100),
            most,
        },
    ];
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mut points = Vec::new();
        let mut count = 128;
        while count <= line.most {
            context.watch.check()?;
            context
                .watch
                .progress(line.name, number * 100, lines.len() * 100);
            // The least of a few: whatever else a machine does only adds.
            let mut least = f64::INFINITY;
            for repetition in 0..repetitions {
                least = least.min(seconds(context, line.module, count, repetition)?);
            }
            rows.push(vec![
                count as f64,
                line.module.map_or(count, |module| module) as f64,
                least,
            ]);
            points.push((count as f64, least));
            count *= 2;
        }
        curves.push(Curve {
            name: line.name.to_owned(),
            points,
        });
    }
    Ok(Reproduction {
        title: "Processor time against the number of rows".to_owned(),
        setting: vec![
            format!("Artificial data of App. C: 5 inputs uniform in [-1, 1], noise of standard deviation {NOISE}."),
            format!("Squared-exponential prior of width {WIDTH}, {QUESTIONS} query points (N_Q = 128, as in the paper)."),
            "Processor time of one thread, the least of the repetitions: factoring the rows, and mean and covariance at the query points.".to_owned(),
            "Numbers of rows double from 128. The paper's own values are printed as curves only, without numbers that could be read off the text; what it says about them is compared.".to_owned(),
            "The paper adds the inverse of an N_Q x N_Q matrix for every module (eq. 4-5), so that small modules cost most. The summary adds a product of rank K/M instead: what a row costs hardly depends on the size of its module, and one size is about as good as another.".to_owned(),
        ],
        labels: Vec::new(),
        columns: vec!["rows", "module_rows", "seconds"],
        claims: claims(&curves),
        rows,
        curves,
        axes: ("training rows K", "processor time, s"),
        logarithmic: (true, true),
        panels: Vec::new(),
    })
}

fn seconds(
    context: &Context<'_>,
    module: Option<usize>,
    rows: usize,
    repetition: u64,
) -> Result<f64> {
    let mut art = Art::new(context.seed + repetition, NOISE);
    let (data, questions) = (art.rows(rows)?, art.questions(QUESTIONS));
    let kernel = prior(WIDTH)?;
    let before = (context.clock)();
    let mut rounds = 0;
    loop {
        match module {
            None => {
                let posterior = exact(&kernel, NOISE, data.clone())?;
                posterior.joint(questions.inputs()?)?;
            }
            Some(size) => {
                let mut committee = Committee::new(&kernel, NOISE, questions.inputs()?)?;
                committee.hear(&data, size)?;
                committee.means()?;
            }
        }
        rounds += 1;
        let taken = (context.clock)() - before;
        if taken >= LONG_ENOUGH {
            return Ok(taken / f64::from(rounds));
        }
    }
}

/// The exponent with which time grows over the last three doublings.
fn growth(curve: &Curve) -> f64 {
    let last = curve.points.len().saturating_sub(1);
    let first = last.saturating_sub(3);
    let (from, to) = (curve.points[first], curve.points[last]);
    (to.1 / from.1).ln() / (to.0 / from.0).ln()
}

fn claims(curves: &[Curve]) -> Vec<Claim> {
    let at_end = |curve: &Curve| curve.points.last().map_or(f64::NAN, |point| point.1);
    let exact = growth(&curves[0]);
    let mut claims = vec![Claim {
        theirs: "The time of one process grows as K^3".to_owned(),
        ours: format!("as K^{exact:.2} over the last doublings"),
        agrees: (2.5..3.3).contains(&exact),
    }];
    for curve in &curves[1..] {
        let found = growth(curve);
        claims.push(Claim {
            theirs: format!(
                "The time of the committee with {} grows linearly",
                curve.name
            ),
            ours: format!("as K^{found:.2}"),
            agrees: (0.85..1.15).contains(&found),
        });
    }
    let (small, large) = (at_end(&curves[1]), at_end(&curves[2]));
    claims.push(Claim {
        theirs: "Modules of K/M = 100, about N_Q, cost least".to_owned(),
        ours: format!(
            "at the largest K, modules of 100 take {large:.3} s and modules of 10 {small:.3} s"
        ),
        agrees: large < small,
    });
    claims
}
