//! Faults put in on purpose, to see whether the tests notice. Only the feature `sabotage`, which
//! tests enable, lets anyone ask for them.

/// What is to be wrong. Only for tests of the tests.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "sabotage", derive(PartialEq, Eq))]
pub enum Sabotage {
    /// Nothing.
    #[default]
    None,
    /// Tasks that could make a member ready are not added (S2).
    NoEnablers,
    /// One task is enough although it leads nowhere (S3, which S4 would make up for).
    NoProgress,
    /// Tasks may be ignored for ever (S4).
    NoFairness,
    /// Only what other tasks would touch in the same state counts, not what they were seen to
    /// touch.
    ActualFootprints,
    /// What a task awaits does not count as read.
    NoAwaits,
    /// States are not looked at again when facts grow.
    NoReclosing,
    /// Edges are inferred also where footprints conflict.
    InferAnything,
    /// Of several updates of an attribute in one step only the last counts.
    LastUpdateOnly,
    /// An update for no component leaves the last writer who it was.
    NobodyUpdatesNothing,
    /// Silent writes count as nothing where values count.
    SilentNothing,
    /// Nobody watches for invariants.
    NoObservers,
    /// Tasks that are told in advance are not known in advance.
    NoForeknowledge,
    /// Blocked attempts are taken to touch nothing.
    BlockedTouchNothing,
}

/// Without the feature no fault is there, and all comparisons vanish.
#[cfg(not(feature = "sabotage"))]
impl PartialEq for Sabotage {
    #[inline]
    fn eq(&self, _: &Sabotage) -> bool {
        false
    }
}
