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

impl Capabilities {
    /// Returns descriptions of the capabilities of `needed` that `self` lacks; empty if it has all.
    ///
    /// ```
    /// use anyorder_system::{AccessDetail, Capabilities};
    /// let page = Capabilities { accesses: AccessDetail::Set, ..Capabilities::default() };
    /// let wanted = Capabilities { accesses: AccessDetail::List, ..page };
    /// assert_eq!(page.lacks(wanted), ["accesses in order"]);
    /// ```
    #[must_use]
    pub fn lacks(self, needed: Capabilities) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if needed.snapshot && !self.snapshot {
            missing.push("snapshots");
        }
        if self.enabled < needed.enabled {
            missing.push(match needed.enabled {
                EnabledDetail::Exact => "the exact set of enabled tasks",
                _ => "the set of enabled tasks",
            });
        }
        if needed.deterministic && !self.deterministic {
            missing.push("determinism");
        }
        if needed.values && !self.values {
            missing.push("values");
        }
        if self.accesses < needed.accesses {
            missing.push(match needed.accesses {
                AccessDetail::List => "accesses in order",
                _ => "accesses",
            });
        }
        if needed.awaits && !self.awaits {
            missing.push("what tasks wait for");
        }
        missing
    }
}
