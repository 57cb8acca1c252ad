//! Faults put in on purpose, to see whether the tests notice. Only the feature `sabotage`, which
//! tests enable, lets anyone ask for them.

/// What is to be wrong. Only for tests of the tests.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "sabotage", derive(PartialEq, Eq))]
pub enum Sabotage {
    /// Nothing.
    #[default]
    None,
    /// Conflicts are reversed also where something must come between the two.
    AnyConflict,
    /// A run keeps the depth at which it was met first (trap 8; depth first only).
    FirstDepth,
    /// A planned sequence of which a task cannot run gives nothing (traps 3 and 4; at a bound
    /// only).
    SkippedEnds,
    /// What sleeps is not compared with the run that is said to do the same.
    SleepUnverified,
    /// Creators do not come before what they create.
    NoCreation,
    /// Differences are called harmful without having been seen again.
    Unconfirmed,
    /// What a sleeper that was disabled would have conflicted with is forgotten (without a bound
    /// only).
    ForgetSleepers,
    /// Only the first alternative of a task, or the recorded one, is run.
    FirstAlternatives,
    /// What tasks wait for is not looked at (without a bound only).
    NoWaiting,
    /// Another alternative of a task that sleeps sleeps, too (without a bound only).
    SleepAlternatives,
}

/// Without the feature no fault is there, and all comparisons vanish.
#[cfg(not(feature = "sabotage"))]
impl PartialEq for Sabotage {
    #[inline]
    fn eq(&self, _: &Sabotage) -> bool {
        false
    }
}
