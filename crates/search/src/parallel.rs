//! Threads that live as long as a search runs. They receive work that they own.
//!
//! Starting a thread costs as much as a hundred thousand look-ups, so each thread starts only once.
//! In a phase, threads share data by `Arc`s, and drop them before they report. After a phase the
//! search owns everything again, and needs no lock.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

type Job<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// The most threads of a search: more than any machine can use, and few enough to start.
pub const THREADS_MAX: usize = 1024;

/// The threads other than the calling one.
pub(crate) struct Pool<'scope> {
    workers: Vec<Sender<Job<'scope>>>,
}

impl<'scope> Pool<'scope> {
    /// Starts threads; they end when the pool is dropped. They are fewer than asked for if the
    /// system starts no more, and at most [`THREADS_MAX`].
    pub(crate) fn new(scope: &'scope Scope<'scope, '_>, threads: usize) -> Pool<'scope> {
        let mut workers = Vec::new();
        for _ in 1..threads.min(THREADS_MAX) {
            let (sender, receiver): (Sender<Job<'scope>>, Receiver<Job<'scope>>) = channel();
            let work = move || receiver.iter().for_each(|job| job());
            if Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
            workers.push(sender);
        }
        Pool { workers }
    }

    /// Returns the number of threads, including the calling one.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Runs a function on several threads, including this one, and returns the results.
    /// All clones of `work` are dropped when this returns.
    pub(crate) fn everywhere<R: Send + 'scope>(
        &self,
        threads: usize,
        work: impl FnOnce() -> R + Clone + Send + 'scope,
    ) -> Vec<R> {
        let jobs = (1..threads.min(self.threads())).map(|_| work.clone()).collect();
        self.run(jobs, work)
    }

    /// Calls a function on each item, with the items distributed evenly.
    pub(crate) fn for_each<T: Send + 'scope>(
        &self,
        threads: usize,
        items: &mut Vec<T>,
        work: impl Fn(&mut T) + Clone + Send + 'scope,
    ) {
        let threads = threads.min(self.threads()).min(items.len().max(1));
        if threads == 1 {
            items.iter_mut().for_each(work);
            return;
        }
        let share = items.len().div_ceil(threads);
        let mut rest = std::mem::take(items);
        let mut jobs = Vec::new();
        let mut own = Vec::new();
        for number in 0..threads {
            let mut part = rest;
            rest = part.split_off(share.min(part.len()));
            let work = work.clone();
            let job = move || {
                part.iter_mut().for_each(work);
                part
            };
            if number == 0 { own.push(job) } else { jobs.push(job) }
        }
        drop(work);
        let Some(own) = own.pop() else { return };
        items.extend(self.run(jobs, own).into_iter().flatten());
    }

    /// Runs `own` here and each job on another thread. Returns the result of `own`, then those of
    /// the jobs in their order.
    fn run<R: Send + 'scope, J: FnOnce() -> R + Send + 'scope>(
        &self,
        jobs: Vec<J>,
        own: impl FnOnce() -> R,
    ) -> Vec<R> {
        let mut results = Vec::with_capacity(jobs.len());
        let boxed = jobs.into_iter().map(|job| {
            let result = Arc::new(Mutex::new(None));
            results.push(Arc::clone(&result));
            Box::new(move || {
                let done = job();
                *lock(&result) = Some(done);
            }) as Job<'scope>
        });
        let waits = self.start(boxed.collect());
        let mut done = vec![own()];
        waits.wait();
        let results = results.into_iter().map(|result| lock(&result).take());
        done.extend(results.map(|result| result.expect("each thread reports")));
        done
    }

    /// Hands jobs to threads, one each. Not generic, because a channel is large.
    fn start(&self, jobs: Vec<Job<'scope>>) -> Waits {
        let (sender, ends) = channel();
        let count = jobs.len();
        assert!(count <= self.workers.len(), "a thread for each job");
        for (job, worker) in jobs.into_iter().zip(&self.workers) {
            let sender = sender.clone();
            let job: Job<'scope> = Box::new(move || {
                // Nothing is used after a panic but its message.
                let end = catch_unwind(AssertUnwindSafe(job));
                // The receiver is gone only if the calling thread panics.
                let _ = sender.send(end);
            });
            assert!(worker.send(job).is_ok(), "threads live as long as the pool");
        }
        Waits { ends, count }
    }
}

/// Jobs that run, and how they end.
struct Waits {
    ends: Receiver<std::thread::Result<()>>,
    count: usize,
}

impl Waits {
    /// Waits for the end of all jobs. A panic of one goes on here, with its message.
    fn wait(self) {
        let mut ended = 0;
        for end in self.ends {
            end.unwrap_or_else(|panic| resume_unwind(panic));
            ended += 1;
        }
        assert_eq!(ended, self.count, "each thread reports");
    }
}

/// Locks a result. No job holds the lock while it runs, so that no panic leaves it half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_panic_keeps_its_message_and_the_others_end() {
        let (ended, next) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let pool = Pool::new(scope, 4);
                pool.everywhere(4, move || {
                    if next.fetch_add(1, Ordering::Relaxed) == 2 {
                        std::panic::panic_any("the third one");
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            });
        }));
        let panic = caught.expect_err("a job panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the third one"));
        assert_eq!(ended.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn so_many_threads_are_never_started() {
        std::thread::scope(|scope| {
            let pool = Pool::new(scope, usize::MAX);
            assert!(pool.threads() <= THREADS_MAX);
            assert_eq!(pool.everywhere(2, || 1), [1, 1]);
        });
    }
}
