//! The capabilities of a system, declared before it runs.

/// How well a system knows which tasks can run next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum EnabledDetail {
    /// The system does not know; a choice may fail.
    #[default]
    Unknown,
    /// It may miss some tasks, or name tasks that then fail.
    Approximate,
    /// Exactly the tasks that can run.
    Exact,
}

/// How much a system reports about the accesses of a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum AccessDetail {
    /// Nothing.
    #[default]
    None,
    /// One entry per location and kind.
    Set,
    /// Every access, in order.
    List,
}

/// The capabilities of a system. Engines check them first, and refuse a system that lacks what they
/// need.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Capabilities {
    /// Whether states can be saved and restored.
    pub snapshot: bool,
    /// How well it knows the enabled tasks.
    pub enabled: EnabledDetail,
    /// Whether the same schedule always gives the same run.
    pub deterministic: bool,
    /// Whether accesses carry values.
    pub values: bool,
    /// How much it reports about accesses.
    pub accesses: AccessDetail,
    /// Whether it reports what pending tasks wait for:
    /// [`TaskSystem::awaited`](crate::TaskSystem::awaited).
    pub awaits: bool,
}
