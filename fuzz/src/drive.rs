//! The loop: damage, read, notice.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::mutate::mutate;
use crate::random::Random;
use crate::shrink::shrink;
use crate::targets::Target;

/// How many damaged inputs are kept beside the corpus to be damaged further.
const POOL: usize = 256;
/// An input that takes longer than this is a failure: the readers are linear, and inputs short.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long, and from which seed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long to go on.
    pub time: Duration,
    /// Seed of the damage.
    pub seed: u64,
    /// The most inputs to try, for repeatable runs.
    pub executions: Option<u64>,
    /// Where a failing input goes.
    pub failures: PathBuf,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Inputs tried.
    pub executions: u64,
    /// Those that the target accepted: if there are none, damage never comes far.
    pub accepted: u64,
    /// How long it took.
    pub time: Duration,
    /// Inputs in the corpus and in the pool of damaged ones.
    pub corpus: usize,
}

impl Statistics {
    /// Inputs tried each second.
    pub fn rate(&self) -> f64 {
        self.executions as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// An input that broke the promise.
#[derive(Debug)]
pub struct Failure {
    /// Where the input was stored.
    pub path: PathBuf,
    /// What the panic said.
    pub message: String,
    /// Number of the input in the run.
    pub execution: u64,
}

/// Runs a target on damaged inputs; the outer error is about files, the inner one is a failure of the target.
///
/// # Errors
/// When the failures' folder cannot be written.
pub fn drive(
    target: &Target,
    seeds: &[Vec<u8>],
    settings: &Settings,
) -> io::Result<Result<Statistics, Failure>> {
    std::fs::create_dir_all(&settings.failures)?;
    let mut record = Record::new(&settings.failures.join(format!("{}-current", target.name)))?;
    let started = Instant::now();
    let count = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    let current = record.path.clone();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| watch(target.name, &count, &done, &current));
        let outcome = search(target, seeds, settings, started, &count, &mut record);
        done.store(true, Ordering::SeqCst);
        outcome
    })?;
    record.remove()?;
    Ok(outcome)
}

fn search(
    target: &Target,
    seeds: &[Vec<u8>],
    settings: &Settings,
    started: Instant,
    count: &AtomicU64,
    record: &mut Record,
) -> io::Result<Result<Statistics, Failure>> {
    let mut random = Random::new(settings.seed);
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let (mut executions, mut accepted) = (0, 0);
    let most = settings.executions.unwrap_or(u64::MAX);
    while executions < most && started.elapsed() < settings.time {
        let input = next_input(seeds, &pool, executions as usize, target.words, &mut random);
        record.write(&input)?;
        executions += 1;
        count.store(executions, Ordering::SeqCst);
        let verdict = match read(target, &input) {
            Ok(verdict) => verdict,
            Err(message) => return store(target, &input, message, executions, settings).map(Err),
        };
        accepted += u64::from(verdict);
        // There is no measure of coverage. Damage to what was accepted comes further than damage to what was refused.
        if random.below(if verdict { 4 } else { 64 }) == 0 {
            let at = random.below(POOL);
            if at < pool.len() {
                pool[at] = input;
            } else {
                pool.push(input);
            }
        }
    }
    Ok(Ok(Statistics {
        executions,
        accepted,
        time: started.elapsed(),
        corpus: seeds.len() + pool.len(),
    }))
}

/// First the corpus as it is, then damaged copies of it and of earlier damaged inputs.
fn next_input(
    seeds: &[Vec<u8>],
    pool: &[Vec<u8>],
    execution: usize,
    words: &[&[u8]],
    random: &mut Random,
) -> Vec<u8> {
    if let Some(seed) = seeds.get(execution) {
        return seed.clone();
    }
    let from_pool = random.below(3) == 0 && !pool.is_empty();
    let base = random.choose(if from_pool { pool } else { seeds });
    let other = random.choose(seeds);
    let bytes = |choice: Option<&'_ Vec<u8>>| choice.map_or(Vec::new(), Clone::clone);
    mutate(&bytes(base), &bytes(other), words, random)
}

/// Where the last panic of the program happened.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps panics from printing and remembers where they happened. Readers may guard themselves against panics of the
/// libraries they use; those would fill the screen, and only the panic that ends a run is of interest.
pub fn silence_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place.unwrap_or_default();
    }));
}

/// Whether the target accepts the input, or the message of its panic and where that happened.
fn read(target: &Target, input: &[u8]) -> Result<bool, String> {
    catch_unwind(AssertUnwindSafe(|| (target.read)(input))).map_err(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "a panic without words".into());
        let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{text} {place}").trim_end().to_owned()
    })
}

fn store(
    target: &Target,
    input: &[u8],
    message: String,
    execution: u64,
    settings: &Settings,
) -> io::Result<Failure> {
    let short = shrink(input, 5_000, |bytes| read(target, bytes).is_err());
    let name = format!("{}-seed{}-{execution}", target.name, settings.seed);
    let path = settings.failures.join(name);
    std::fs::write(&path, short)?;
    Ok(Failure {
        path,
        message,
        execution,
    })
}

/// Ends the program when one input takes too long; the input is in the record.
fn watch(name: &str, count: &AtomicU64, done: &AtomicBool, current: &Path) {
    let (mut seen, mut since) = (0, Instant::now());
    while !done.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(50));
        let now = count.load(Ordering::SeqCst);
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if now > 0 && since.elapsed() > PATIENCE && !done.load(Ordering::SeqCst) {
            let path = current.display();
            eprintln!("{name}: input {now} takes longer than {PATIENCE:?}; it is in {path}");
            std::process::exit(1);
        }
    }
}

/// The input that is being read now, on disk: what overflows the stack or the memory leaves nothing else behind.
struct Record {
    path: PathBuf,
    file: File,
    length: usize,
}

impl Record {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: File::create(path)?,
            length: 0,
        })
    }

    fn write(&mut self, input: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(input)?;
        if input.len() < self.length {
            self.file.set_len(input.len() as u64)?;
        }
        self.length = input.len();
        Ok(())
    }

    fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
