//! Long work: on threads of its own while the interpreter is free, with progress and Ctrl-C.
//!
//! The thread that called waits without the interpreter's lock and wakes now and then to pass progress on and to look
//! for signals, which Python delivers to its main thread only. The workers touch the interpreter only where a committee has
//! guests ([`inside`]); work that a guest starts there runs on threads of its own, so that nobody waits for himself.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use quorate_gp::watch::Watch;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::to_python;

/// How often the caller looks up while it waits.
const GLANCE: Duration = Duration::from_millis(50);
/// How long work may take to stop by itself after Ctrl-C; a large factorisation does not look up in time, and is then
/// left to come to its end behind the scenes.
const GRACE: Duration = Duration::from_secs(1);

/// Pools by process, number of threads and depth: a forked child has none of its parent's threads and needs its own.
type Pools = HashMap<(u32, usize, usize), Arc<ThreadPool>>;
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

thread_local! {
    /// How many guests, one inside the other, this thread works for.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Asks a guest, with the interpreter, from a thread that works for a committee.
pub fn inside<T>(ask: impl FnOnce(Python<'_>) -> T) -> T {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let answer = Python::attach(ask);
    DEPTH.set(depth);
    answer
}

/// How a caller wants its work done.
#[derive(Default)]
pub struct Wishes {
    /// Called with stage, done, total.
    pub progress: Option<Py<PyAny>>,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
}

/// Runs work on the pool and waits for it.
pub fn run<T, F>(py: Python<'_>, wishes: Wishes, work: F) -> PyResult<T>
where
    T: Send + 'static,
    F: FnOnce(&dyn Watch) -> quorate::Result<T> + Send + 'static,
{
    let state = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let theirs = state.clone();
    let threads = pool(wishes.threads)?;
    threads.spawn(move || {
        // A panic must not take the interpreter down with it.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&*theirs)));
        // Nobody listens any more when the work was abandoned.
        let _ = sender.send(outcome);
    });
    drop(threads);
    let receiver = Mutex::new(receiver);
    loop {
        let received = wait(py, &receiver, GLANCE);
        if let Err(error) = state.tell(py, wishes.progress.as_ref()) {
            return Err(give_up(py, &state, &receiver, &wishes, error));
        }
        match received {
            Ok(Ok(outcome)) => return outcome.map_err(to_python),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the core stopped unexpectedly; what it said is on standard error",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    return Err(give_up(py, &state, &receiver, &wishes, error));
                }
            }
        }
    }
}

type Outcome<T> = std::thread::Result<quorate::Result<T>>;

fn wait<T: Send>(
    py: Python<'_>,
    receiver: &Mutex<Receiver<Outcome<T>>>,
    time: Duration,
) -> Result<Outcome<T>, RecvTimeoutError> {
    py.detach(|| lock(receiver).recv_timeout(time))
}

/// Asks the work to stop, waits a moment for it, and returns the reason.
fn give_up<T: Send>(
    py: Python<'_>,
    state: &Shared,
    receiver: &Mutex<Receiver<Outcome<T>>>,
    wishes: &Wishes,
    reason: PyErr,
) -> PyErr {
    state.stop.store(true, Ordering::SeqCst);
    if wait(py, receiver, GRACE).is_err() {
        // Its threads are busy until it notices: whoever comes next gets others.
        if let Some(pools) = lock(&POOLS).as_mut() {
            pools.remove(&(std::process::id(), wishes.threads, DEPTH.get()));
        }
    }
    reason
}

fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut pools = lock(&POOLS);
    let pools = pools.get_or_insert_default();
    let depth = DEPTH.get();
    let key = (std::process::id(), threads, depth);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("quorate-{index}"))
        .start_handler(move |_| DEPTH.set(depth))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads: {error}")))?;
    let pool = Arc::new(pool);
    pools.insert(key, pool.clone());
    Ok(pool)
}

/// What passes between the work and the thread that waits for it.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// The latest word of each stage since the caller last looked.
    news: Mutex<Vec<(String, usize, usize)>>,
}

impl Shared {
    fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = std::mem::take(&mut *lock(&self.news));
        if let Some(callback) = progress {
            for item in news {
                callback.call1(py, item)?;
            }
        }
        Ok(())
    }
}

impl Watch for Shared {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let mut news = lock(&self.news);
        match news.last_mut() {
            Some(last) if last.0 == stage => (last.1, last.2) = (done, total),
            _ => news.push((stage.to_owned(), done, total)),
        }
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
