//! Progress of long jobs.

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
}

/// Ignores all progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _done: u64, _total: Option<u64>) {}
}
