//! Faults of the machine, which its tests must notice.

#[cfg(test)]
pub(crate) use reports::Counts;
pub(crate) use reports::Reports;

mod reports;

anyorder_common::sabotage! {
    /// Registers that are never read again are kept.
    KeepDead,
    /// Objects that nothing refers to are kept.
    KeepGarbage,
    /// Objects keep the order of their allocation.
    KeepHeapOrder,
    /// Bags keep the order of the posts.
    KeepBagOrder,
    /// Forked threads, and running tasks posted to `any`, keep the order of their creation.
    KeepThreadOrder,
    /// Messages of a bag that only differ in what they refer to keep the order of the posts.
    KeepPostOrder,
    /// Of forked threads that stand at the same place, one is enough.
    OneOfEquals,
    /// Registers that are read again are dropped.
    DropLive,
    /// Fifo mailboxes are sorted.
    SortFifo,
    /// The encoding omits locks.
    ForgetLocks,
    /// The encoding omits due times.
    ForgetDue,
    /// Not a fault: nothing is remembered, each step is executed.
    NoMemory,
    /// The memo omits the last read of each step.
    ForgetReads,
    /// The memo omits the last effect of each step.
    ForgetEffects,
}
