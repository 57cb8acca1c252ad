//! Several tasks, joined as they end.

use super::executor::{AbortHandle, JoinError, JoinHandle, spawn};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

/// As that of tokio: tasks that are aborted when it is dropped.
pub struct JoinSet<T> {
    tasks: Vec<JoinHandle<T>>,
}

impl<T: Send + 'static> JoinSet<T> {
    /// Makes a set of no tasks.
    #[must_use]
    pub const fn new() -> JoinSet<T> {
        JoinSet { tasks: Vec::new() }
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        let task = spawn(future);
        let handle = task.abort_handle();
        self.tasks.push(task);
        handle
    }

    /// Returns how many tasks were not joined.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether all tasks were joined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until a task has ended; `None` if there is none.
    ///
    /// ```
    /// use anyorder::future::{self, JoinSet};
    /// anyorder::check(|| {
    ///     let mut tasks = JoinSet::new();
    ///     tasks.spawn(async { 1 });
    ///     tasks.spawn(async { 2 });
    ///     let sum = async {
    ///         let mut sum = 0;
    ///         while let Some(value) = tasks.join_next().await {
    ///             sum += value.unwrap();
    ///         }
    ///         sum
    ///     };
    ///     assert_eq!(future::block_on(sum), 3);
    /// });
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        if self.tasks.is_empty() {
            return None;
        }
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        for at in 0..self.tasks.len() {
            if let Poll::Ready(result) = Pin::new(&mut self.tasks[at]).poll(context) {
                drop(self.tasks.swap_remove(at));
                return Poll::Ready(Some(result));
            }
        }
        Poll::Pending
    }

    /// Cancels all tasks, where each waits next.
    pub fn abort_all(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }

    /// Cancels all tasks and waits for them.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }
}

impl<T: Send + 'static> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").finish_non_exhaustive()
    }
}
