//! Workers. Each has its own system.

use super::candidate::{Candidate, Config, NoRun, RunResult};
use super::driver::Driver;
use super::lock::lock;
use super::names::{NameCache, Names};
use super::outcome::Error;
use super::step::ExecutedStep;
use anyorder_system::{Control, SystemFactory, TaskSystem};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Scope;

/// Runs that vary one parent run, ordered by the prefix that they share with it.
pub(crate) struct Job {
    /// A number for the parent run. Saved states are reused while it stays the same.
    pub(crate) run: u64,
    pub(crate) parent: Arc<Vec<Arc<ExecutedStep>>>,
    /// Candidates, each with its index.
    pub(crate) candidates: Vec<(usize, Candidate)>,
    /// Whether to ask for the enabled tasks after each step.
    pub(crate) ask: bool,
}

/// The result of one candidate.
pub(crate) struct Answer {
    pub(crate) order: usize,
    pub(crate) result: Result<RunResult, NoRun>,
    pub(crate) attempts: u64,
}

/// Executes runs.
pub(crate) trait RunPool {
    /// Executes all runs of some jobs. The answers come in any order.
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer>;
}

/// Data that all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) config: Arc<Config>,
    pub(crate) control: &'a Control<'a>,
    pub(crate) names: Arc<Names>,
}

fn answer<S: TaskSystem>(driver: &mut Driver<S>, shared: &Shared<'_>, job: &Job) -> Vec<Answer> {
    let config = &*shared.config;
    let mut answers = Vec::with_capacity(job.candidates.len());
    for (number, candidate) in &job.candidates {
        let before = driver.attempts;
        let of = (job.run, job.parent.as_slice());
        let result = driver.run(config, shared.control, of, candidate, job.ask);
        answers.push(Answer { order: *number, result, attempts: driver.attempts - before });
    }
    answers
}

/// A single worker, on the caller's thread.
pub(crate) struct InlinePool<'a, S> {
    pub(crate) driver: Driver<S>,
    pub(crate) shared: &'a Shared<'a>,
}

impl<S: TaskSystem> RunPool for InlinePool<'_, S> {
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer> {
        let (driver, shared) = (&mut self.driver, self.shared);
        jobs.iter().flat_map(|job| answer(driver, shared, job)).collect()
    }
}

/// Several workers on the threads of a scope. They end when this value is dropped.
pub(crate) struct ThreadPool {
    jobs: Sender<Job>,
    answers: Receiver<Vec<Answer>>,
}

impl ThreadPool {
    /// Starts workers. Each worker creates its system for its first job. If that fails, its jobs
    /// are lost.
    pub(crate) fn start<'s, F>(
        scope: &'s Scope<'s, '_>,
        factory: &'s F,
        shared: &'s Shared<'s>,
        workers: usize,
    ) -> ThreadPool
    where
        F: SystemFactory,
        F::System: TaskSystem,
    {
        let (jobs, queue) = channel::<Job>();
        let (results, answers) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..workers {
            let (queue, results) = (queue.clone(), results.clone());
            scope.spawn(move || {
                let mut driver = None;
                loop {
                    let next = lock(&queue).recv();
                    let Ok(job) = next else { return };
                    if results.send(serve(&mut driver, factory, shared, &job)).is_err() {
                        return;
                    }
                }
            });
        }
        ThreadPool { jobs, answers }
    }
}

fn serve<F>(
    driver: &mut Option<Driver<F::System>>,
    factory: &F,
    shared: &Shared<'_>,
    job: &Job,
) -> Vec<Answer>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    if driver.is_none() {
        match factory.make() {
            Ok(system) => *driver = Some(Driver::new(system, NameCache::new(shared.names.clone()))),
            Err(error) => {
                let lost = || Err(NoRun::Lost(error.to_string()));
                let answer = |order| Answer { order, result: lost(), attempts: 1 };
                return job.candidates.iter().map(|(order, _)| answer(*order)).collect();
            }
        }
    }
    match driver {
        Some(driver) => answer(driver, shared, job),
        None => Vec::new(),
    }
}

impl RunPool for ThreadPool {
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer> {
        let sent = jobs.into_iter().filter_map(|job| self.jobs.send(job).ok()).count();
        // A worker that panicked sends nothing. The scope propagates its panic once the others are
        // done.
        (0..sent).filter_map(|_| self.answers.recv().ok()).flatten().collect()
    }
}

/// Creates the first system of an exploration.
pub(crate) fn first<F>(factory: &F, names: &Arc<Names>) -> Result<Driver<F::System>, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let system = factory.make().map_err(|error| Error::Start(error.to_string()))?;
    Ok(Driver::new(system, NameCache::new(names.clone())))
}
