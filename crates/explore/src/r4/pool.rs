//! Workers. Each has its own system.

use super::candidate::{Candidate, Config, NoRun, Request, RunResult};
use super::driver::Driver;
use super::lock::lock;
use super::names::{NameCache, Names};
use super::step::ExecutedStep;
use crate::systems::Systems;
use anyorder_search::{THREADS_MAX, fewer_threads};
use anyorder_system::{Control, JobWatch, RunError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope};

/// Runs that vary one parent run, ordered by the prefix that they share with it.
pub(crate) struct Job {
    /// A number for the parent run. Saved states are reused while it stays the same.
    pub(crate) run: u64,
    pub(crate) parent: Arc<Vec<Arc<ExecutedStep>>>,
    /// Candidates, each with its index.
    pub(crate) candidates: Vec<(usize, Candidate)>,
    /// Whether to ask for the enabled tasks after each step.
    pub(crate) ask: bool,
    /// Its runs repeat others, so they need no budget.
    pub(crate) repeats: bool,
}

/// The result of one candidate.
pub(crate) struct Answer {
    pub(crate) order: usize,
    pub(crate) result: Result<RunResult, NoRun>,
    pub(crate) attempts: u64,
    /// The number of tasks that ran, in all attempts.
    pub(crate) executed: u64,
}

/// Executes all runs of some jobs. The answers come in any order.
pub(crate) type RunPool<'a> = dyn FnMut(Vec<Job>) -> Vec<Answer> + 'a;

/// Data that all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) config: &'a Config,
    pub(crate) control: &'a Control<'a>,
    pub(crate) names: Arc<Names>,
    /// The runs that ended, for the progress of the job.
    pub(crate) ended: AtomicU64,
}

/// Executes the runs of a job.
pub(crate) fn answer(driver: &mut Driver<'_>, shared: &Shared<'_>, job: &Job) -> Vec<Answer> {
    let &Shared { config, control, .. } = shared;
    let (run, parent, ask) = (job.run, job.parent.as_slice(), job.ask);
    let answer = |(order, candidate): &(usize, Candidate)| {
        if !job.repeats && config.is_spent() {
            let result = Err(NoRun::Spent);
            return Answer { order: *order, result, attempts: 1, executed: 0 };
        }
        let request = Request { config, control, run, parent, candidate, ask };
        let (result, attempts) = driver.run(&request);
        // The recording is the first run. What comes after a stop is none.
        if result.is_ok() {
            let ended = shared.ended.fetch_add(1, Ordering::Relaxed) + 1;
            control.progress.report(ended + 1, None);
        }
        Answer { order: *order, result, attempts, executed: driver.take_executed() }
    };
    job.candidates.iter().map(answer).collect()
}

/// Starts workers on the threads of a scope. They end when the returned pool is dropped. Each
/// worker creates its system for its first job. If that fails, its jobs are lost. `None` if the
/// system starts no thread.
pub(crate) fn start<'s>(
    scope: &'s Scope<'s, '_>,
    factory: &'s dyn Systems,
    shared: &'s Shared<'s>,
    workers: usize,
) -> Option<impl FnMut(Vec<Job>) -> Vec<Answer> + use<>> {
    let (sender, queue): (Sender<Job>, Receiver<Job>) = channel();
    let (results, answers) = channel();
    let queue = Arc::new(Mutex::new(queue));
    let mut started = 0;
    for _ in 0..workers.min(THREADS_MAX) {
        let (queue, results) = (queue.clone(), results.clone());
        let work = move || {
            let _entered = JobWatch::of(shared.control).enter();
            let mut driver = None;
            loop {
                let next = lock(&queue).recv();
                let Ok(job) = next else { return };
                if results.send(serve(&mut driver, factory, shared, &job)).is_err() {
                    return;
                }
            }
        };
        if Builder::new().spawn_scoped(scope, work).is_err() {
            break;
        }
        started += 1;
    }
    if started == 0 {
        return None;
    }
    if started < workers {
        shared.control.progress.note(&fewer_threads(started, workers));
    }
    drop(results);
    Some(move |jobs: Vec<Job>| {
        let sent = jobs.into_iter().filter_map(|job| sender.send(job).ok()).count();
        // A worker that panicked sends nothing. The scope propagates its panic once the others are
        // done.
        (0..sent).filter_map(|_| answers.recv().ok()).flatten().collect()
    })
}

fn serve<'s>(
    driver: &mut Option<Driver<'s>>,
    factory: &'s dyn Systems,
    shared: &Shared<'_>,
    job: &Job,
) -> Vec<Answer> {
    match driver.take().map_or_else(|| make(factory, &shared.names), Ok) {
        Ok(made) => answer(driver.insert(made), shared, job),
        Err(error) => {
            let lost = || Err(NoRun::from(error.clone()));
            let answer = |order| Answer { order, result: lost(), attempts: 1, executed: 0 };
            job.candidates.iter().map(|(order, _)| answer(*order)).collect()
        }
    }
}

/// Creates a system, and its driver.
pub(crate) fn make<'s>(
    factory: &'s dyn Systems,
    names: &Arc<Names>,
) -> Result<Driver<'s>, RunError> {
    Ok(Driver::new(factory.make_any()?, NameCache::new(names.clone())))
}
