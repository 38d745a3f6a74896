//! The cost table: what a fit takes, told from its size.
//!
//! Counts of operations are those of the code; the rates were measured once (`cargo xtask bench plan`) and are fixed, so
//! that a plan, and the model that follows from it, does not depend on the machine.

use serde::Serialize;

use super::EXACT_ROWS;
use super::shape::Shape;
use crate::fit::start::{BRIEF, CAREFUL, FirstLook};
use crate::fit::{exact, landmarks as committee, local, mixture, through};
use crate::landmarks::{CHUNK_ROWS, WAVE};
use crate::local::{ConditionalSearch, EARLY, GroupShape, MOST_ROWS_LEFT_OUT};

/// What a way of fitting takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The most memory in use.
    pub bytes: u64,
    /// Seconds on two cores with nothing else to do.
    pub seconds: f64,
}

/// How much faster two cores are than one.
const CORES: f64 = 1.7;
// Speeds of a machine that has nothing else to do; beside other work all takes up to twice as long.

/// Floating-point operations a second of one core, in factorisations and products of a few hundred rows or more.
const FLOPS: f64 = 5.5e10;
/// The same for the factorisation of thousands of rows.
const LARGE_FLOPS: f64 = 7.1e10;
/// Seconds of one core for a covariance with its share of a gradient: for each term of the kernel, and each column.
const ENTRY: f64 = 2.6e-9;
const ENTRY_COLUMN: f64 = 0.26e-9;
/// The share of it that goes into the covariance alone.
const VALUE: f64 = 0.35;
/// Seconds that even the smallest table takes, to be read, learned from and written.
const BEGIN: f64 = 0.01;
/// Seconds of one core for looking at a cell of a table and encoding it, and for a step of k-means along a column.
const CELL: f64 = 100e-9;
const STEP: f64 = 0.5e-9;

/// Evaluations of the evidence for each start of a search, and for each start followed to the end.
const TRIAL_EVALUATIONS: f64 = 33.0;
const FINAL_EVALUATIONS: f64 = 40.0;
/// Evaluations of the evidence of a random part for each start, and of the committee evidence of a sample.
const PART_EVALUATIONS: f64 = 38.0;
const CLIMB_EVALUATIONS: f64 = 25.0;
/// The same for a climb that goes on where another ended.
const FURTHER_EVALUATIONS: f64 = 15.0;

/// Evaluations of the evidence through landmarks for each climb.
const THROUGH_EVALUATIONS: f64 = 33.0;

/// Rounds of a mixture, usually.
const MIXTURE_ROUNDS: f64 = 20.0;
/// Rounds with as many rows as a mixture takes, from where a sample has led.
const WIDENED_ROUNDS: f64 = 45.0;
/// Rounds in which all rows speak through landmarks, usually.
const HEARING_ROUNDS: f64 = 25.0;

const DOUBLE: f64 = 8.0;
/// The program with its threads before it has read anything.
const PROGRAM: f64 = 20e6;
/// Learning from a random part and from neighbourhoods, whatever the number of rows.
const NEIGHBOURHOODS: f64 = 36e6;
/// Experts for rows left out on two threads.
const LEFT_OUT: f64 = 32e6;
/// What the allocator holds of matrices that come and go, at most.
const HELD: f64 = 40e6;
/// Bytes for each cell of a table that is held: as read, as encoded, as points, and in the model's file.
const HELD_CELL: f64 = 6.5 * DOUBLE;

/// One exact process over all rows.
pub fn exact(shape: &Shape) -> Cost {
    let rows = shape.distinct_rows as f64;
    let matrix = DOUBLE * rows * rows;
    let table = HELD_CELL * cells(shape);
    if shape.distinct_rows > EXACT_ROWS {
        // One factor in place, then scores of a sample of rows.
        let factor =
            rows.powi(3) / 3.0 / LARGE_FLOPS + VALUE * entries(shape, 1.0, rows * rows / 2.0);
        let scores = exact::SCORED_ROWS as f64 * rows * rows / LARGE_FLOPS;
        let bytes = PROGRAM + NEIGHBOURHOODS + table + matrix + 4.0 * DOUBLE * 256.0 * rows;
        return cost(shape, bytes, neighbourhoods(shape) + factor + scores);
    }
    let choice = match shape.terms {
        Some(_) => 0.0,
        None => shape.candidates as f64 * search(shape, rows.min(600.0), 2.0),
    };
    let further = shape.restarts.unwrap_or_else(|| usual_restarts(shape));
    let learning = choice + search(shape, rows, 1.0 + further as f64);
    // The factor and its inverse while learning, one of them and its blocks after.
    let bytes = PROGRAM + table + 2.0 * matrix + HELD.min(2.7 * matrix);
    cost(shape, bytes, learning + 2.0 / 3.0 * rows.powi(3) / FLOPS)
}

/// Experts with gates and noises, over all rows or as many as a mixture is fitted to.
pub fn mixture(shape: &Shape, experts: usize, landmarks: Option<usize>) -> Cost {
    let most = match landmarks {
        Some(_) => mixture::SAMPLE,
        None => mixture::MOST_ROWS,
    };
    let some = Shape {
        rows: shape.rows.min(most),
        distinct_rows: shape.distinct_rows.min(most),
        ..*shape
    };
    let one = exact(&some);
    let (rows, count, experts) = (some.rows as f64, experts, experts as f64);
    // Each round factors, whitens and leaves out for every process; five trials of one expert come before three of several.
    let round = 4.0 * rows.powi(3) / FLOPS;
    let trials = 10.0 * 2.0
        + if experts > 1.0 {
            3.0 * 3.0 * experts
        } else {
            0.0
        };
    let matrices = mixture_bytes(some.rows, count) as f64;
    let (further_bytes, further) = landmarks.map_or((0.0, 0.0), |m| heard(shape, experts, m));
    Cost {
        bytes: one.bytes + (matrices + further_bytes) as u64,
        seconds: one.seconds + (MIXTURE_ROUNDS * trials * round + further) / CORES,
    }
}

/// Bytes of the matrices of a mixture over so many rows: a covariance and, at the end, three factors for each expert, and blocks,
/// of the best trial so far and of the one that is made.
fn mixture_bytes(rows: usize, experts: usize) -> u64 {
    let matrix = (8 * rows * rows) as u64;
    2 * matrix * (3 * experts as u64 + 6)
}

/// A mixture that was to hear all rows through landmarks, and climbs as many rows as it takes without them instead.
pub fn widened(shape: &Shape, experts: usize, landmarks: usize) -> Cost {
    let through = mixture(shape, experts, Some(landmarks));
    // So many rows are factored and inverted at the rate of large matrices; all else is small beside it.
    let round = 2.0 / 3.0 * (mixture::MOST_ROWS as f64).powi(3) / LARGE_FLOPS;
    Cost {
        // Beside the trials of the sample, one of so many rows.
        bytes: through.bytes + mixture_bytes(mixture::MOST_ROWS, experts) / 2,
        seconds: through.seconds + WIDENED_ROUNDS * 3.0 * experts as f64 * round / CORES,
    }
}

/// Bytes, and seconds of one core, of the rounds in which all rows speak to the processes of a mixture through landmarks: each
/// whitens all rows twice, sums them up and whitens the sums' answers.
fn heard(shape: &Shape, experts: f64, landmarks: usize) -> (f64, f64) {
    let (rows, m) = (shape.rows as f64, landmarks as f64);
    let process = 4.0 * m * m * rows / FLOPS + 2.0 * VALUE * entries(shape, 1.0, rows * m);
    // Values, weights and answers left out of each process, and two tables of densities.
    let vectors = DOUBLE * rows * (20.0 * experts + shape.inputs as f64);
    let sums = 3.0 * experts * 4.0 * DOUBLE * m * m;
    (
        HELD + vectors + sums,
        HEARING_ROUNDS * 3.0 * experts * process,
    )
}

/// Experts for neighbourhoods.
pub fn local(shape: &Shape, neighbours: usize) -> Cost {
    let scores = left_out(shape, local::SCORED_ROWS, neighbours);
    let bytes = PROGRAM + NEIGHBOURHOODS + LEFT_OUT + HELD_CELL * cells(shape);
    cost(shape, bytes, neighbourhoods(shape) + scores)
}

/// Experts for neighbourhoods with landmarks behind them.
pub fn supported(shape: &Shape, neighbours: usize, landmarks: usize, part_size: usize) -> Cost {
    let near = local(shape, neighbours);
    let (rows, m, s) = (shape.rows as f64, landmarks as f64, part_size as f64);
    let seconds = centres(shape, m) + absorbed(shape, m, s.min(rows));
    // Two sums beside each other, before and after the rows held out.
    let bytes = summed(shape, m, s.min(rows)) + 4.0 * DOUBLE * m * m;
    Cost {
        bytes: near.bytes + bytes as u64,
        seconds: near.seconds + seconds / CORES,
    }
}

/// Parts that are asked together: each is factored, twice, because rows are held out first.
pub fn joint(shape: &Shape, part_size: usize) -> Cost {
    let rows = shape.distinct_rows as f64;
    let s = (part_size as f64).min(rows);
    let factors = 2.0 * (rows * s * s / 3.0 / FLOPS + VALUE * entries(shape, 1.0, rows * s / 2.0));
    // A thousand questions are put to every part at once.
    let q = 1000.0_f64.min(rows / 10.0);
    let asked = rows * (s * q + 2.0 * q * q) / FLOPS + VALUE * entries(shape, 1.0, rows * q);
    let blocks = DOUBLE * (2.0 * s * q + 3.0 * q * q) * 2.0;
    let bytes = PROGRAM + NEIGHBOURHOODS + HELD_CELL * cells(shape) + DOUBLE * rows * s + blocks;
    cost(shape, bytes, neighbourhoods(shape) + factors + asked)
}

/// Parts that speak through landmarks.
pub fn landmarks(shape: &Shape, landmarks: usize, part_size: usize) -> Cost {
    let (rows, m) = (shape.rows as f64, landmarks as f64);
    let s = (part_size as f64).min(rows);
    // Learning: the evidence of a random part, then climbs on the committee evidence of samples.
    let size = |how: committee::Climb| {
        let sample = rows.min(how.rows as f64);
        (sample, (how.landmarks as f64).min(sample / 4.0).min(m))
    };
    let climb = |how: committee::Climb, evaluations: f64| {
        let (sample, few) = size(how);
        let one = sample * (8.0 * few * few + 8.0 * few * s + 4.0 * s * s) / LARGE_FLOPS
            + entries(shape, 1.0, sample * (few + s / 2.0));
        evaluations * one
    };
    // The factors of all parts, the slopes of some of them, and the matrices of the two at work.
    let climbing = |how: committee::Climb| {
        let (sample, few) = size(how);
        let at_work = 2.0 * (5.0 * few * s + 2.0 * s * s);
        DOUBLE * (sample * (2.0 * few + s) + WAVE as f64 * few * few + at_work)
    };
    let climbs_on =
        landmarks > committee::COMPARED.landmarks && shape.rows > committee::COMPARED.rows;
    let held = HELD_CELL * cells(shape).min(CHUNK_ROWS as f64 * (1.0 + shape.inputs as f64));
    let heard = centres(shape, m) + absorbed(shape, m, s);
    if let Some(climbed) = shape.climbed_rows {
        let (seconds, climbing) = climbs_through(shape, m, climbed);
        let bytes = PROGRAM + NEIGHBOURHOODS + held + climbing.max(summed(shape, m, s));
        return cost(shape, bytes, seconds + heard);
    }
    let (further, climbing) = match (shape.learns, climbs_on) {
        (false, _) => (0.0, 0.0),
        (true, false) => (0.0, climbing(committee::COMPARED)),
        (true, true) => (
            climb(committee::FURTHER, FURTHER_EVALUATIONS),
            climbing(committee::FURTHER),
        ),
    };
    let learning = learned(
        shape,
        random_part(shape, CAREFUL) + climb(committee::COMPARED, CLIMB_EVALUATIONS),
    ) + further;
    let bytes = PROGRAM + NEIGHBOURHOODS + held + climbing.max(summed(shape, m, s));
    cost(shape, bytes, learning + heard)
}

/// Seconds and bytes of learning where targets have a likelihood: two kernels climb the evidence of the landmarks' own process, and
/// the better one climbs on with more rows.
///
/// An evaluation takes some seven products of Newton's method and eight of the gradient; V, `B^-1 V` and a square matrix
/// for each piece of the rows are held at a time, and the pieces at work twice.
fn climbs_through(shape: &Shape, m: f64, climbed: usize) -> (f64, f64) {
    if !shape.learns {
        return (0.0, 0.0);
    }
    let one = |rows: usize, landmarks: usize, terms: f64| {
        let rows = (shape.distinct_rows as f64).min(rows as f64);
        let few = (landmarks as f64).min(rows / 4.0).min(m);
        let products = 15.0 * rows * few * few / FLOPS;
        let pieces = rows / 2048.0;
        let bytes = DOUBLE * (2.0 * rows * few + 2.0 * pieces * few * few + 6.0 * 2048.0 * few);
        (products + entries(shape, terms, rows * few), bytes)
    };
    let compared = one(through::COMPARED.rows.1, through::COMPARED.landmarks, 1.5);
    let further = match shape.rows > through::COMPARED.rows.0 {
        true => one(climbed, through::FURTHER.landmarks, 2.0),
        false => (0.0, 0.0),
    };
    let first = learned(shape, THROUGH_EVALUATIONS * compared.0);
    let seconds = first + THROUGH_EVALUATIONS * further.0;
    (seconds, compared.1.max(further.1))
}

/// k-means looks at twenty rows for each landmark, nine times over.
fn centres(shape: &Shape, m: f64) -> f64 {
    9.0 * (20.0 * m).min(shape.rows as f64) * m * (1.5 + shape.inputs as f64) * STEP
}

/// Every row heard by the landmarks, and what they believe then.
fn absorbed(shape: &Shape, m: f64, s: f64) -> f64 {
    let rows = shape.rows as f64;
    rows * (2.0 * m * m + 3.0 * m * s + s * s / 3.0) / LARGE_FLOPS
        + VALUE * entries(shape, 1.0, rows * (m + s / 2.0))
        + 4.0 / 3.0 * m.powi(3) / FLOPS
}

/// The sums of eight experts, of whom two are at work; a sum for about half of the tree's levels; prior and belief.
fn summed(shape: &Shape, m: f64, s: f64) -> f64 {
    let levels = (shape.rows as f64 / s).max(1.0).log2().ceil() + 1.0;
    DOUBLE * (8.0 * m * m + 2.0 * (2.0 * m * s + s * s) + (levels / 2.0 + 2.0) * m * m)
}

/// Learning from neighbourhoods: the evidence of a random part, then steps on the grouped conditional likelihood.
fn neighbourhoods(shape: &Shape) -> f64 {
    if !shape.learns {
        return 0.0;
    }
    let groups = ConditionalSearch::default().groups;
    let group = |group: GroupShape| {
        let asked = (group.members + group.neighbours) as f64;
        let size = (shape.distinct_rows as f64).min(asked);
        (size.powi(3) / 3.0 + 4.0 * size * size * group.members as f64) / FLOPS
            + entries(shape, 2.0, size * size / 2.0)
    };
    let climb = |how: local::Climb| {
        let one = EARLY * group(how.early) + (1.0 - EARLY) * group(how.shape);
        (how.steps * groups) as f64 * one
    };
    // Two kernels are climbed briefly and compared, the best is climbed further; one that is given is only climbed.
    let first = random_part(shape, BRIEF) + climb(local::FIRST);
    let tried = match shape.terms {
        Some(_) => first,
        None => 2.0 * (first + left_out(shape, local::COMPARED_ROWS, local::NEIGHBOURS)),
    };
    tried + climb(local::FURTHER)
}

/// Rows predicted from their neighbours, a few by one expert.
fn left_out(shape: &Shape, rows: usize, neighbours: usize) -> f64 {
    // Of the neighbours of rows that lie as far apart as in most tables two thirds are others'.
    let (own, most) = (neighbours as f64, MOST_ROWS_LEFT_OUT as f64);
    let together = (most / (0.67 * own)).clamp(1.0, 8.0);
    let expert = (0.67 * own * together)
        .max(own)
        .min(shape.distinct_rows as f64);
    let experts = (rows as f64).min(shape.distinct_rows as f64) / together;
    experts * expert.powi(3) / 3.0 / FLOPS
        + VALUE * entries(shape, 1.0, experts * expert * expert / 2.0)
}

fn random_part(shape: &Shape, look: FirstLook) -> f64 {
    let searches = (1 + look.restarts) as f64;
    PART_EVALUATIONS
        * searches
        * evaluation(shape, (shape.distinct_rows as f64).min(look.rows as f64))
}

/// A search with a number of starts over some rows, by one kernel.
fn search(shape: &Shape, rows: f64, starts: f64) -> f64 {
    if !shape.learns {
        return 0.0;
    }
    let trials = TRIAL_EVALUATIONS * starts * evaluation(shape, rows.min(1500.0));
    trials + starts.min(2.0) * FINAL_EVALUATIONS * evaluation(shape, rows)
}

/// Evidence and gradient of some rows.
fn evaluation(shape: &Shape, rows: f64) -> f64 {
    rows.powi(3) / FLOPS + entries(shape, 1.0, rows * rows / 2.0)
}

/// Seconds under all kernels that are tried: the one given, or two.
fn learned(shape: &Shape, seconds: f64) -> f64 {
    match (shape.learns, shape.terms) {
        (false, _) => 0.0,
        (true, Some(_)) => seconds,
        (true, None) => 2.0 * seconds,
    }
}

/// Seconds for covariances with their gradient; `usual` terms where no kernel is given.
fn entries(shape: &Shape, usual: f64, count: f64) -> f64 {
    let terms = shape.terms.map_or(usual, |terms| terms as f64);
    count * terms * (ENTRY + ENTRY_COLUMN * shape.inputs as f64)
}

fn usual_restarts(shape: &Shape) -> usize {
    quorate_gp::learn::affordable_restarts(shape.distinct_rows)
}

fn cells(shape: &Shape) -> f64 {
    shape.rows as f64 * (1.0 + shape.inputs as f64)
}

fn cost(shape: &Shape, bytes: f64, seconds: f64) -> Cost {
    Cost {
        bytes: bytes as u64,
        seconds: BEGIN + seconds / CORES + CELL * cells(shape),
    }
}
