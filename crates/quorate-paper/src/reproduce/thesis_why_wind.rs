//! Scatterometry: what asking many queries together costs, and what dividing the prior away so often does.

use quorate::Result;
use quorate::member::{Expansion, InWeights, Member, NetworkMember};
use quorate_gp::data::{Dataset, random_rows};

use super::thesis_nodes::{Model, Problem, TOGETHER};
use super::thesis_weights::problem;
use super::thesis_why::{MACHINE, PRODUCT, Variant, WHOLE, Why, asked_how, asked_with, signed};
use crate::draw::{Draw, Stream};

const COUNTS: [usize; 2] = [1, TOGETHER];
/// Shares of the noise that are inside what all nodes fuse.
const INSIDES: [f64; 3] = [1.0, 0.1, 0.01];
/// The first nodes alone.
const FEW: usize = 10;
/// Rows that are asked about, and rows from which the network that teaches learns.
const ASKED: usize = 1_000;
const LESSON: usize = 20_000;
/// Deviation of the noise that is added: the errors that the thesis prints are of that size.
pub const LOUD: f64 = 0.37;

const SEEN: &str = "targets as they are, ";
const TAUGHT: &str = "targets taught by a network, ";
const NOISY: &str = "targets with noise added, ";
const WORLDS: [&str; 3] = [SEEN, TAUGHT, NOISY];

/// The same rows with three kinds of targets: as they are; what a network of as many hidden units says of them plus noise of its
/// deviation, which the nodes' networks can be; as they are plus more noise. Of each, some nodes and all.
pub struct Worlds {
    few: Vec<(String, Problem)>,
    all: Vec<(String, Problem)>,
    hidden: usize,
}

impl Worlds {
    /// Rows in a new order, cut into nodes of those sizes.
    pub fn new(
        train: &Dataset,
        test: &Dataset,
        sizes: &[usize],
        hidden: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut draw = Draw::new(seed, Stream::Rows);
        let test = test.select(&random_rows(test.rows(), ASKED, seed));
        let train = train.select(&shuffled(train.rows(), &mut draw));
        let lesson = train.select(&random_rows(train.rows(), LESSON, seed));
        let expansion = Expansion::numbers(train.inputs().width());
        let teacher = NetworkMember::fit(hidden, expansion, &lesson, seed)?;
        let mut worlds = Self {
            few: Vec::new(),
            all: Vec::new(),
            hidden,
        };
        for world in WORLDS {
            let mut of = |rows: &Dataset| match world {
                SEEN => Ok(rows.clone()),
                TAUGHT => taught(&teacher, rows, &mut draw),
                _ => noisier(rows, rows.targets(), LOUD, &mut draw),
            };
            let (train, test) = (of(&train)?, of(&test)?);
            let few = &sizes[..FEW.min(sizes.len())];
            let name = format!("{world}{} nodes, ", few.len());
            worlds.few.push((name, problem(&train, &test, few)));
            worlds
                .all
                .push((world.to_owned(), problem(&train, &test, sizes)));
        }
        Ok(worlds)
    }

    pub fn variants(&self) -> Vec<Variant<'_>> {
        let all = self.all.iter().map(|own| (own, &INSIDES[..]));
        let each = all.chain(self.few.iter().map(|own| (own, &INSIDES[..1])));
        each.map(|((name, problem), insides)| Variant {
            name,
            problem,
            model: Model::Network {
                hidden: self.hidden,
                held: None,
            },
            counts: &COUNTS,
            insides,
            priors_at: None,
        })
        .collect()
    }
}

/// Mean and standard error of the committee machine's error less the product's, both asked about many queries together.
fn of_prior(why: &Why, world: &str, inside: f64) -> Option<(f64, f64)> {
    let how = asked_with(TOGETHER, inside);
    why.between(
        &format!("{world}{how}: {MACHINE}"),
        &format!("{world}{how}: {PRODUCT}"),
    )
}

/// The same of the product of many queries together less that of one at a time.
fn of_asking(why: &Why, world: &str) -> Option<(f64, f64)> {
    why.between(
        &format!("{world}{}: {PRODUCT}", asked_how(TOGETHER)),
        &format!("{world}{}: {PRODUCT}", asked_how(1)),
    )
}

/// What was found, in sentences.
pub fn told(why: &Why) -> String {
    let say = |found: Option<(f64, f64)>| found.map_or_else(String::new, signed);
    let alone = |world: &str| why.error(&format!("{world}{}: {PRODUCT}", asked_how(1)));
    let asking = WORLDS.map(|world| format!("{world}{}", say(of_asking(why, world))));
    let prior = WORLDS.map(|world| {
        let few = why.settings.iter().find_map(|own| {
            let (name, _) = own.name.strip_prefix(world)?.split_once(" nodes, ")?;
            name.parse::<usize>().ok()
        });
        let few = format!("{world}{} nodes, ", few.unwrap_or(FEW));
        let all = INSIDES.map(|inside| say(of_prior(why, world, inside)));
        format!(
            "{few}{}, all {}",
            say(of_prior(why, &few, 1.0)),
            all.join(", ")
        )
    });
    format!(
        "two things. Networks that cannot be the map: one of all rows has {:.4}, fused one query at a time they have {:.4}, because their errors differ; asked together, each is \
         believed about how its errors go with each other. Product of {TOGETHER} together less one at a time: {}. And noise inside what is fused: of m nodes the prior is divided \
         away m - 1 times with its noise, which leaves the noise once and multiplies up to m times what the prior holds for small beside it. Committee machine less product, both {TOGETHER} \
         together, all nodes with 1, {} and {} of the noise inside and the rest added at the end: {}",
        why.error(&format!("{SEEN}{WHOLE}")),
        alone(SEEN),
        asking.join("; "),
        INSIDES[1],
        INSIDES[2],
        prior.join("; ")
    )
}

/// Whether each of the two is there where it should be, and nowhere else.
pub fn isolates(why: &Why) -> bool {
    let is_loss = |found: (f64, f64)| found.0 - 2.0 * found.1 > 0.0;
    let misfit = match (of_asking(why, SEEN), of_asking(why, TAUGHT)) {
        (Some(seen), Some(taught)) => is_loss(seen) && taught.0 < 0.1 * seen.0,
        _ => false,
    };
    let noise = [TAUGHT, NOISY].iter().all(|world| {
        let few = format!("{world}{FEW} nodes, ");
        let with = |inside| of_prior(why, world, inside);
        match (of_prior(why, &few, 1.0), with(1.0), with(INSIDES[2])) {
            (Some(few), Some(all), Some(without)) => {
                is_loss(all) && few.0 < 0.5 * all.0 && without.0 < 0.1 * all.0
            }
            _ => false,
        }
    });
    misfit && noise
}

fn shuffled(rows: usize, draw: &mut Draw) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = (0..rows).map(|row| (draw.uniform(), row)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn taught(teacher: &NetworkMember, rows: &Dataset, draw: &mut Draw) -> Result<Dataset> {
    let said = teacher.values_under(teacher.weights(), rows.inputs());
    noisier(rows, &said, teacher.noise_variance().sqrt(), draw)
}

/// Rows with targets of this deviation around what is given.
fn noisier(rows: &Dataset, around: &[f64], deviation: f64, draw: &mut Draw) -> Result<Dataset> {
    let targets = around.iter().map(|own| own + deviation * draw.normal());
    let inputs = rows.inputs();
    Ok(Dataset::new(
        inputs.values().to_vec(),
        inputs.width(),
        targets.collect(),
        None,
        None,
    )?)
}
