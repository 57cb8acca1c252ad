//! Progress of long jobs.

use std::any::Any;

/// Receives the progress of an engine. Engines call it every few thousand steps, from any of their
/// threads.
pub trait Progress: Sync {
    /// Takes the work done, and the total work if known, in units of the engine's choice.
    fn report(&self, done: u64, total: Option<u64>);

    /// Takes the name of the phase that begins, such as `races`. Does nothing by default.
    fn phase(&self, _name: &'static str) {}

    /// Takes a line for the waiting user, such as a finding long before the end of the job. Rare.
    /// Does nothing by default.
    fn note(&self, _text: &str) {}

    /// Takes what the job has found so far, for a caller that may have to end the job before it
    /// returns. It replaces what was taken before. The type is that of the job's results; a caller
    /// that does not know it ignores it. Does nothing by default.
    fn found(&self, _so_far: Box<dyn Any + Send>) {}
}

/// Ignores all progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _done: u64, _total: Option<u64>) {}
}
