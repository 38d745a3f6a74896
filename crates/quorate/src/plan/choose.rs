//! The ways to fit a table, what each takes, and the first of them that fits the budget.

use std::fmt;

use serde::Serialize;

use super::cost::{self, Cost};
use super::{EXACT_ROWS, LATENT_LOCAL_ROWS, LATENT_ROWS, MEMORY, Memory, Shape, Span};
use crate::error::{Error, Result};
use crate::fit::{heard, joint, landmarks, local, mixture};
use crate::landmarks::CHUNK_ROWS;
use crate::spec::{MethodChoice, ModeChoice, ModelSpec};
use crate::task::{InferenceChoice, has_likelihood};

/// A way to fit, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "way", rename_all = "kebab-case")]
pub enum Way {
    /// One exact process over all rows.
    Exact,
    /// Experts with gates and noises of their own, over all rows.
    Mixture {
        /// Number of experts.
        experts: usize,
        /// Landmarks through which they hear a long table.
        #[serde(skip_serializing_if = "Option::is_none")]
        landmarks: Option<usize>,
    },
    /// Experts formed from the rows nearest to each question.
    Local {
        /// Nearest rows for each question.
        neighbours: usize,
    },
    /// The same, with landmarks that carry everything else.
    Supported {
        /// Nearest rows for each question.
        neighbours: usize,
        /// Number of landmarks.
        landmarks: usize,
        /// Rows of one part behind the landmarks.
        part_size: usize,
    },
    /// Parts that are asked about many questions together.
    Joint {
        /// Rows of one part.
        part_size: usize,
    },
    /// Parts that speak through landmarks; no row is kept.
    Landmarks {
        /// Number of landmarks.
        landmarks: usize,
        /// Rows of one part.
        part_size: usize,
    },
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Exact => f.write_str("exact"),
            Way::Mixture { experts, landmarks } => {
                match experts {
                    1 => f.write_str("one process with noise of its own")?,
                    several => write!(f, "mixture of {several} experts")?,
                }
                match landmarks {
                    Some(count) => write!(f, ", all rows through {count} landmarks"),
                    None => Ok(()),
                }
            }
            Way::Local { neighbours } => write!(f, "local, {neighbours} neighbours"),
            Way::Supported {
                neighbours,
                landmarks,
                ..
            } => write!(f, "local, {neighbours} neighbours, {landmarks} landmarks"),
            Way::Joint { part_size } => write!(f, "joint, parts of {part_size}"),
            Way::Landmarks {
                landmarks,
                part_size,
            } => write!(f, "{landmarks} landmarks, parts of {part_size}"),
        }
    }
}

/// A way and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The way.
    #[serde(flatten)]
    pub way: Way,
    /// What it takes.
    #[serde(flatten)]
    pub cost: Cost,
    /// True when memory and time suffice.
    pub fits: bool,
}

/// What will be done, and what else could be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The size of the problem.
    pub shape: Shape,
    /// Memory it may take.
    pub memory: Memory,
    /// Time it may take; none where it may take as long as it needs.
    pub time: Option<Span>,
    /// What will be done.
    pub chosen: Entry,
    /// What it takes where that turns out to be no help, and is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Cost>,
    /// The ways looked at, in the order of preference.
    pub ways: Vec<Entry>,
}

impl Plan {
    /// The best way that the specification allows and that fits its memory and time.
    pub fn new(spec: &ModelSpec, shape: &Shape) -> Result<Self> {
        let (memory, time) = (spec.memory.unwrap_or(MEMORY), spec.time);
        let ways: Vec<Entry> = ways(spec, shape)
            .into_iter()
            .map(|way| {
                let cost = cost(&way, shape);
                let fits = fits(spec, &cost);
                Entry { way, cost, fits }
            })
            .collect();
        match ways.iter().find(|entry| entry.fits) {
            Some(chosen) => Ok(Self {
                shape: *shape,
                memory,
                time,
                chosen: *chosen,
                otherwise: otherwise(spec, shape, &chosen.way),
                ways,
            }),
            None => Err(refusal(spec, shape, memory, &ways)),
        }
    }

    /// True when the rows are absorbed as they come, and never all held.
    pub fn streams(&self) -> bool {
        matches!(self.chosen.way, Way::Landmarks { .. }) && self.shape.rows > CHUNK_ROWS
    }

    /// The specification with the plan's numbers in it.
    pub(crate) fn apply(&self, spec: &ModelSpec) -> ModelSpec {
        let mut spec = spec.clone();
        match self.chosen.way {
            Way::Exact | Way::Mixture { .. } => {}
            Way::Local { neighbours } => spec.neighbours = Some(neighbours),
            Way::Supported { neighbours, .. } => spec.neighbours = Some(neighbours),
            Way::Joint { part_size } => spec.part_size = Some(part_size),
            Way::Landmarks {
                landmarks,
                part_size,
            } => {
                spec.landmarks = spec.landmark_rows.is_none().then_some(landmarks);
                spec.part_size = Some(part_size);
            }
        }
        spec
    }
}

fn cost(way: &Way, shape: &Shape) -> Cost {
    match *way {
        Way::Exact => cost::exact(shape),
        Way::Mixture { experts, landmarks } => cost::mixture(shape, experts, landmarks),
        Way::Local { neighbours } => cost::local(shape, neighbours),
        Way::Supported {
            neighbours,
            landmarks,
            part_size,
        } => cost::supported(shape, neighbours, landmarks, part_size),
        Way::Joint { part_size } => cost::joint(shape, part_size),
        Way::Landmarks {
            landmarks,
            part_size,
        } => cost::landmarks(shape, landmarks, part_size),
    }
}

/// What a mixture takes that hears a long table through landmarks nobody asked for, where they are no help; none where that
/// is too much, and the sample is kept.
fn otherwise(spec: &ModelSpec, shape: &Shape, way: &Way) -> Option<Cost> {
    match *way {
        Way::Mixture {
            experts,
            landmarks: Some(landmarks),
        } if spec.landmark_count().is_none() => {
            let cost = cost::widened(shape, experts, landmarks);
            fits(spec, &cost).then_some(cost)
        }
        _ => None,
    }
}

/// Whether memory and time suffice.
fn fits(spec: &ModelSpec, cost: &Cost) -> bool {
    let in_time = spec.time.is_none_or(|time| cost.seconds <= time.0);
    cost.bytes <= spec.memory.unwrap_or(MEMORY).0 && in_time
}

/// What the specification leaves open, best first.
fn ways(spec: &ModelSpec, shape: &Shape) -> Vec<Way> {
    let exact = [Way::Exact];
    // No more landmarks are found than rows differ.
    let asked = match spec.landmark_rows {
        Some(_) => spec.landmark_count(),
        None => spec
            .landmark_count()
            .map(|count| count.min(shape.distinct_rows.max(1))),
    };
    let local = || {
        let way = |neighbours| match asked {
            Some(landmarks) if spec.mode == ModeChoice::Local => Way::Supported {
                neighbours,
                landmarks,
                part_size: spec.part_size.unwrap_or(landmarks::PART_SIZE).max(1),
            },
            _ => Way::Local { neighbours },
        };
        let smaller = match spec.neighbours {
            Some(given) => vec![given],
            None => [1, 2, 4].map(|part| local::NEIGHBOURS / part).to_vec(),
        };
        smaller.into_iter().map(way).collect::<Vec<_>>()
    };
    let committee = || {
        let usual = landmarks::usual_landmarks(shape.distinct_rows.min(CHUNK_ROWS));
        let mut smaller = match asked {
            Some(given) => vec![given],
            None => [1, 2, 4].map(|part| (usual / part).max(1)).to_vec(),
        };
        smaller.dedup();
        let part_size = spec.part_size.unwrap_or(landmarks::PART_SIZE).max(1);
        smaller.into_iter().map(move |landmarks| Way::Landmarks {
            landmarks,
            part_size,
        })
    };
    if let Some(experts) = spec.mixture() {
        let processes = matches!(spec.parametric(experts), Ok(None));
        let long = shape.distinct_rows > mixture::MOST_ROWS;
        let landmarks = match asked {
            None if long && processes => Some(heard::LANDMARKS),
            asked => asked,
        };
        return vec![Way::Mixture { experts, landmarks }];
    }
    let latent = has_likelihood(spec);
    match (spec.method, spec.mode) {
        (MethodChoice::Auto, ModeChoice::Auto) if spec.inference == InferenceChoice::Ep => {
            exact.to_vec()
        }
        (MethodChoice::Auto, ModeChoice::Auto) if latent => {
            // A process with a likelihood is factored many times. Rows that say much are answered by their neighbours; rows
            // that say little need many of them, which only landmarks can ask.
            let small = shape.distinct_rows <= LATENT_ROWS;
            let near = shape.rows_tell && shape.distinct_rows <= LATENT_LOCAL_ROWS;
            let exact = exact.into_iter().filter(|_| small);
            let near = local().into_iter().filter(|_| near);
            exact.chain(near).chain(committee()).collect()
        }
        (_, ModeChoice::Landmarks) => committee().collect(),
        (_, ModeChoice::Joint) => {
            let part_size = spec.part_size.unwrap_or(joint::PART_SIZE).max(1);
            vec![Way::Joint { part_size }]
        }
        (MethodChoice::Exact, _) => exact.to_vec(),
        // Only an exact fit keeps the noise it is given.
        (MethodChoice::Auto, ModeChoice::Auto) if spec.noise_variance.is_some() => exact.to_vec(),
        (_, ModeChoice::Local) => local(),
        (MethodChoice::Auto, ModeChoice::Auto) if shape.distinct_rows <= EXACT_ROWS => exact
            .into_iter()
            .chain(local())
            .chain(committee())
            .collect(),
        _ => local().into_iter().chain(committee()).collect(),
    }
}

/// Says how much is missing, and what to try.
fn refusal(spec: &ModelSpec, shape: &Shape, memory: Memory, ways: &[Entry]) -> Error {
    let least = |key: &dyn Fn(&Entry) -> f64| {
        let order = |a: &&Entry, b: &&Entry| key(a).total_cmp(&key(b));
        ways.iter().min_by(order).copied()
    };
    let smallest = least(&|entry| entry.cost.bytes as f64);
    let quickest = least(&|entry| entry.cost.seconds);
    let (Some(smallest), Some(quickest)) = (smallest, quickest) else {
        return Error::Spec("no way of fitting is left to choose from".into());
    };
    // What was weighed already needs no advice: `auto` has looked at committees too.
    let only_exact = ways.iter().all(|entry| matches!(entry.way, Way::Exact));
    let advice = if only_exact {
        let committee = ModelSpec {
            method: MethodChoice::Committee,
            ..spec.clone()
        };
        let too_large = smallest.cost.bytes > memory.0;
        let is_less = |way: &Way| match cost(way, shape) {
            other if too_large => other.bytes < smallest.cost.bytes,
            other => other.seconds < quickest.cost.seconds,
        };
        match self::ways(&committee, shape).iter().any(is_less) {
            true => "`--method committee` takes less",
            false => "fewer rows take less",
        }
    } else if spec.mixture().is_some() {
        "fewer experts take less"
    } else if spec.mode == ModeChoice::Local {
        "`--mode landmarks` takes less"
    } else {
        "fewer landmarks or neighbours, or fewer rows, take less"
    };
    if smallest.cost.bytes > memory.0 {
        return Error::Spec(format!(
            "a fit of {} distinct rows ({}) takes about {}, more than the {} it may take: allow `--memory {}`; {advice}",
            shape.distinct_rows,
            smallest.way,
            size(smallest.cost.bytes),
            size(memory.0),
            size(rounded_up(smallest.cost.bytes)).replace(' ', ""),
        ));
    }
    let time = spec.time.map_or(0.0, |time| time.0);
    Error::Spec(format!(
        "a fit of {} distinct rows ({}) takes about {:.0} seconds on two cores, more than the {time} it may take: allow `--time {:.0}s`; {advice}",
        shape.distinct_rows,
        quickest.way,
        quickest.cost.seconds.ceil(),
        (1.1 * quickest.cost.seconds).ceil(),
    ))
}

/// A tenth more, in whole units.
fn rounded_up(bytes: u64) -> u64 {
    let unit: u64 = if bytes >= 4 << 30 { 1 << 30 } else { 1 << 20 };
    (bytes + bytes / 20).div_ceil(unit) * unit
}

fn size(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 4096.0 {
        format!("{mebibytes:.0} MiB")
    } else if bytes.is_multiple_of(1 << 30) {
        format!("{} GiB", bytes >> 30)
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shape(rows: usize) -> Shape {
        Shape {
            rows,
            distinct_rows: rows,
            inputs: 8,
            terms: None,
            candidates: 5,
            restarts: None,
            learns: true,
            rows_tell: true,
            climbed_rows: None,
        }
    }

    fn chosen(spec: &ModelSpec, rows: usize) -> Way {
        Plan::new(spec, &shape(rows)).unwrap().chosen.way
    }

    #[test]
    fn small_tables_are_exact_and_large_ones_local() {
        let spec = ModelSpec::new("y");
        assert_eq!(chosen(&spec, 4000), Way::Exact);
        assert_eq!(chosen(&spec, 4001), Way::Local { neighbours: 150 });
        let exact = ModelSpec {
            method: MethodChoice::Exact,
            ..ModelSpec::new("y")
        };
        assert_eq!(chosen(&exact, 20_000), Way::Exact);
    }

    #[test]
    fn rows_that_say_much_are_answered_by_neighbours_and_others_by_landmarks() {
        let spec = ModelSpec {
            task: crate::task::TaskChoice::Count,
            ..ModelSpec::new("y")
        };
        assert_eq!(chosen(&spec, 1500), Way::Exact);
        assert_eq!(chosen(&spec, 1501), Way::Local { neighbours: 150 });
        let rare = Shape {
            rows_tell: false,
            ..shape(1501)
        };
        let way = Plan::new(&spec, &rare).unwrap().chosen.way;
        assert!(matches!(way, Way::Landmarks { .. }), "{way}");
        let way = chosen(&spec, 200_000);
        assert!(matches!(way, Way::Landmarks { .. }), "{way}");
    }

    #[test]
    fn a_mixture_says_what_it_takes_where_landmarks_are_no_help() {
        let spec = ModelSpec {
            method: MethodChoice::Mixture,
            ..ModelSpec::new("y")
        };
        let plan = Plan::new(&spec, &shape(4000)).unwrap();
        let otherwise = plan.otherwise.unwrap();
        assert!(otherwise.bytes > plan.chosen.cost.bytes, "{plan:?}");
        assert!(otherwise.seconds > plan.chosen.cost.seconds, "{plan:?}");
        // Not where all rows are climbed anyway, where landmarks were asked for, or where memory does not allow it.
        assert_eq!(Plan::new(&spec, &shape(2000)).unwrap().otherwise, None);
        let asked = ModelSpec {
            landmarks: Some(100),
            ..spec.clone()
        };
        assert_eq!(Plan::new(&asked, &shape(4000)).unwrap().otherwise, None);
        let little = ModelSpec {
            memory: Some(Memory(1 << 30)),
            ..spec
        };
        assert_eq!(Plan::new(&little, &shape(4000)).unwrap().otherwise, None);
    }

    #[test]
    fn a_table_that_memory_cannot_hold_goes_through_landmarks() {
        let spec = ModelSpec {
            memory: Some(Memory(1 << 30)),
            ..ModelSpec::new("y")
        };
        assert!(matches!(
            chosen(&spec, 50_000_000),
            Way::Landmarks {
                landmarks: 1000,
                ..
            }
        ));
    }

    #[test]
    fn less_time_takes_a_quicker_way() {
        let slow = Plan::new(&ModelSpec::new("y"), &shape(4000)).unwrap();
        let spec = ModelSpec {
            time: Some(Span(0.9 * slow.chosen.cost.seconds)),
            ..ModelSpec::new("y")
        };
        let quick = Plan::new(&spec, &shape(4000)).unwrap();
        assert_ne!(quick.chosen.way, Way::Exact);
        assert!(quick.chosen.cost.seconds < slow.chosen.cost.seconds);
    }

    #[test]
    fn a_refusal_names_the_number_and_what_would_do() {
        let spec = ModelSpec {
            method: MethodChoice::Exact,
            ..ModelSpec::new("y")
        };
        let message = Plan::new(&spec, &shape(36_000)).unwrap_err().to_string();
        assert!(message.contains("GiB, more than the 8 GiB"), "{message}");
        let wanted = message.split("--memory ").nth(1).unwrap();
        let memory = wanted.split('`').next().unwrap().parse().unwrap();
        let enough = ModelSpec {
            memory: Some(memory),
            ..spec
        };
        assert_eq!(chosen(&enough, 36_000), Way::Exact);
        let hurried = ModelSpec {
            time: Some(Span(1.0)),
            ..ModelSpec::new("y")
        };
        let message = Plan::new(&hurried, &shape(36_000)).unwrap_err().to_string();
        assert!(message.contains("seconds on two cores"), "{message}");
    }
}
