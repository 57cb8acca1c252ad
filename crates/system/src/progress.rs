//! How a long job says how far it is.

/// Told by an engine how far it is. Engines call it every few thousand steps, from any of their
/// threads.
pub trait Progress: Sync {
    /// Takes the work done and, where it is known, the work there is, in units of the engine's
    /// choice.
    fn report(&self, done: u64, total: Option<u64>);

    /// Takes the name of the phase that begins, such as `races`. Ignored unless overridden.
    fn phase(&self, _name: &'static str) {}

    /// Takes a line for whoever waits: something that the job has found, long before it ends. Rare.
    /// Ignored unless overridden.
    fn note(&self, _text: &str) {}
}

/// Listens to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _done: u64, _total: Option<u64>) {}
}
