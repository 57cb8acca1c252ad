//! Limits that end a job early; reaching one makes its verdict incomplete.

/// Counted limits of a job. `None` means unlimited. Time is not among them, because engines read no
/// clock: the caller watches the time and stops the job by its [`Cancel`](crate::Cancel).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// The most bytes of the engine's own structures together, by its own accounting.
    pub memory_bytes: Option<u64>,
    /// The most executions of the program.
    pub executions: Option<u64>,
    /// The most steps (tasks or schedule points) of one execution.
    pub steps: Option<u64>,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits { memory_bytes: None, executions: None, steps: None };

    /// Returns whether `bytes` more than `used` would exceed the memory limit.
    #[must_use]
    pub fn memory_exceeded(&self, used: u64, bytes: u64) -> bool {
        self.memory_bytes.is_some_and(|limit| used.saturating_add(bytes) > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_up_to_the_limit_inclusive() {
        let limits = Limits { memory_bytes: Some(10), ..Limits::NONE };
        assert!(!limits.memory_exceeded(4, 6));
        assert!(limits.memory_exceeded(4, 7));
        assert!(limits.memory_exceeded(u64::MAX, 1));
        assert!(!Limits::NONE.memory_exceeded(u64::MAX, u64::MAX));
    }
}
