//! Workers, each with a system of its own.

use super::course::{Config, Course, NoRun, Ran};
use super::driver::Driver;
use super::lock::lock;
use super::names::{Book, Names};
use super::outcome::Error;
use super::step::Done;
use anyorder_system::{Control, SystemFactory, TaskSystem};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Scope;

/// Runs that vary one run, in the order of what they share with it.
pub(crate) struct Job {
    /// A number for the run they vary; states of it may be kept while it stays the same.
    pub(crate) run: u64,
    pub(crate) parent: Arc<Vec<Arc<Done>>>,
    /// With a number of each, to know it by.
    pub(crate) courses: Vec<(usize, Course)>,
    /// Whether the enabled tasks are asked for after each step.
    pub(crate) ask: bool,
}

/// What came of one order.
pub(crate) struct Answer {
    pub(crate) order: usize,
    pub(crate) result: Result<Ran, NoRun>,
    pub(crate) attempts: u64,
}

/// Those who make runs.
pub(crate) trait Crew {
    /// Makes all runs of some jobs; the answers come in any order.
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer>;
}

/// What all workers look at.
pub(crate) struct Shared<'a> {
    pub(crate) config: Arc<Config>,
    pub(crate) control: &'a Control<'a>,
    pub(crate) names: Arc<Names>,
}

fn answer<S: TaskSystem>(driver: &mut Driver<S>, shared: &Shared<'_>, job: &Job) -> Vec<Answer> {
    let config = &*shared.config;
    let mut answers = Vec::with_capacity(job.courses.len());
    for (number, course) in &job.courses {
        let before = driver.attempts;
        let of = (job.run, job.parent.as_slice());
        let result = driver.run(config, shared.control, of, course, job.ask);
        answers.push(Answer { order: *number, result, attempts: driver.attempts - before });
    }
    answers
}

/// One worker: whoever asks.
pub(crate) struct Alone<'a, S> {
    pub(crate) driver: Driver<S>,
    pub(crate) shared: &'a Shared<'a>,
}

impl<S: TaskSystem> Crew for Alone<'_, S> {
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer> {
        let (driver, shared) = (&mut self.driver, self.shared);
        jobs.iter().flat_map(|job| answer(driver, shared, job)).collect()
    }
}

/// Several workers on threads of a scope; they end when this is dropped.
pub(crate) struct Team {
    jobs: Sender<Job>,
    answers: Receiver<Vec<Answer>>,
}

impl Team {
    /// Starts workers. Each makes its system when its first job comes; one that cannot loses its
    /// jobs.
    pub(crate) fn start<'s, F>(
        scope: &'s Scope<'s, '_>,
        factory: &'s F,
        shared: &'s Shared<'s>,
        workers: usize,
    ) -> Team
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
        Team { jobs, answers }
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
            Ok(system) => *driver = Some(Driver::new(system, Book::new(shared.names.clone()))),
            Err(error) => {
                let lost = || Err(NoRun::Lost(error.to_string()));
                let answer = |order| Answer { order, result: lost(), attempts: 1 };
                return job.courses.iter().map(|(order, _)| answer(*order)).collect();
            }
        }
    }
    match driver {
        Some(driver) => answer(driver, shared, job),
        None => Vec::new(),
    }
}

impl Crew for Team {
    fn work(&mut self, jobs: Vec<Job>) -> Vec<Answer> {
        let sent = jobs.into_iter().filter_map(|job| self.jobs.send(job).ok()).count();
        // A worker that panicked sends nothing; the scope passes its panic on once the others are
        // done.
        (0..sent).filter_map(|_| self.answers.recv().ok()).flatten().collect()
    }
}

/// Makes the first system of an exploration.
pub(crate) fn first<F>(factory: &F, names: &Arc<Names>) -> Result<Driver<F::System>, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let system = factory.make().map_err(|error| Error::Start(error.to_string()))?;
    Ok(Driver::new(system, Book::new(names.clone())))
}
