//! Tasks.

use anyorder::future as tasks;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use anyorder::future::{AbortHandle, block_on, yield_now};

pub mod batch_semaphore;

/// Why a task has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinError {
    /// It was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task was cancelled")
    }
}

impl Error for JoinError {}

/// A task from outside: a future of its value. Without it the task goes on.
#[derive(Debug)]
pub struct JoinHandle<T> {
    task: tasks::JoinHandle<T>,
}

impl<T> JoinHandle<T> {
    /// Cancels the task where it waits next.
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns what aborts the task.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle
    where
        T: Send + 'static,
    {
        self.task.abort_handle()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.task).poll(context);
        result.map(|result| result.map_err(|_| JoinError::Cancelled))
    }
}

/// Starts a task.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle { task: tasks::spawn(future) }
}

/// Starts a task that stays on this thread of the system, as all do.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    JoinHandle { task: tasks::spawn_local(future) }
}
