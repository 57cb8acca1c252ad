//! Whether every run of the same tasks has the order of a conflict.
//!
//! Happens-before takes the recorded order of critical sections as given. Another run can take a
//! lock in the other order. So the relation is computed over the trace without its locks: program
//! order, posts, mailboxes, forks and joins, signals, inputs, Android's callbacks. A conflict in
//! that order is *forced*; any other is *racing*.

use anyorder_hb::{HappensBefore, RuleSet};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, EventKind, Op, Trace};

/// Returns the trace without locks. Its events have the same ids.
///
/// # Errors
///
/// Fails if the copy needs more memory than the limit.
pub(super) fn unlocked(trace: &Trace, control: &Control<'_>) -> Result<Trace, Stopped> {
    control.check()?;
    control.check_memory(0, trace.memory_bytes() as u64)?;
    let mut columns = trace.columns().clone();
    for row in 0..columns.len() {
        use EventKind::{Acquire, Destroy, Refused, Release, Request};
        let kind = columns.ops[row].kind();
        if matches!(kind, Acquire | Release | Destroy | Refused | Request) {
            columns.ops[row] = Op::from(EventKind::Other);
            columns.operands[row] = 0;
        }
    }
    Ok(Trace::new(trace.tables().clone(), columns))
}

/// The order of the events in every run.
#[derive(Debug)]
pub(super) struct Forced<'t>(HappensBefore<'t>);

impl<'t> Forced<'t> {
    /// Computes the order of a trace made by [`unlocked`].
    ///
    /// # Errors
    ///
    /// Fails if it was stopped, or if the clocks need too much memory.
    pub(super) fn new(
        unlocked: &'t Trace,
        rules: RuleSet,
        control: &Control<'_>,
    ) -> Result<Forced<'t>, Stopped> {
        HappensBefore::new(unlocked, rules, &control.cancel).map(Forced)
    }

    /// Returns whether every run has two events in this order.
    pub(super) fn orders(&self, before: EventId, after: EventId) -> bool {
        self.0.happens_before(before, after)
    }
}
