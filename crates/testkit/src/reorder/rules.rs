//! The rules of reorderings, and the questions about invocations that callers answer.

use anyorder_trace::EventId;
use std::collections::{BTreeMap, BTreeSet};

/// The observations between invocations.
pub trait Observes {
    /// Returns the specified object that an event acts on.
    fn object(&self, event: EventId) -> Option<u32>;

    /// Takes events of one object in execution order. Returns, for each of them, the events it
    /// observes, by their numbers in the trace.
    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>>;

    /// Takes events of one object in execution order. Returns whether the last one can return
    /// there; with its recorded result if `as_recorded`. The earlier ones return their recorded
    /// results where they can.
    fn can_return(&self, run: &[EventId], as_recorded: bool) -> bool {
        let _ = (run, as_recorded);
        true
    }

    /// Returns whether an event of an object waits for what it observes. It must then observe the
    /// same even where other events need not.
    fn is_bound(&self, event: EventId) -> bool {
        let _ = event;
        false
    }

    /// Returns whether tasks can run in this order, in traces whose tasks may swap. This then
    /// replaces program order, and handlers hold the locks. `None`: tasks stay in order.
    fn schedules(&self, run: &[EventId]) -> Option<bool> {
        let _ = run;
        None
    }
}

/// The rules of reorderings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReorderRule {
    /// Each event happens at most once, and is in the trace.
    Once,
    /// Program order.
    Po,
    /// A fork comes before its thread.
    Fork,
    /// The joined thread ends before the join.
    Join,
    /// A task is posted before it begins.
    Post,
    /// A task is posted before it is cancelled, and an input enabled before it is triggered.
    Opened,
    /// Nothing begins that a cancel, a disable or an exit has ended.
    Ended,
    /// Earlier events of a barrier come before later ones.
    Barrier,
    /// Memory is allocated before it is used.
    Alloc,
    /// Sections that exclude each other do not overlap.
    Locks,
    /// Reads read from the same write as recorded.
    Read,
    /// A wake comes after the event matched with it.
    Wake,
    /// The wait of a wake comes before the signal.
    Wait,
    /// Invocations observe what they observed.
    Invocation,
    /// Invocations can return at their position.
    Waiting,
    /// The participants of a barrier arrive before any of them passes. A barrier with unknown
    /// participants cannot be passed.
    Arrival,
    /// No signal comes before a wait times out.
    Timeout,
    /// A failed attempt at a lock happens while the recorded holder holds it.
    Refused,
    /// Tasks can run in this order.
    Schedule,
    /// The rules of Android components.
    Component,
}

impl ReorderRule {
    /// All rules except `Schedule`, which the caller defines, and `Component`, which only some
    /// traces have.
    pub const ALL: [ReorderRule; 18] = [
        ReorderRule::Once,
        ReorderRule::Po,
        ReorderRule::Fork,
        ReorderRule::Join,
        ReorderRule::Post,
        ReorderRule::Opened,
        ReorderRule::Ended,
        ReorderRule::Barrier,
        ReorderRule::Alloc,
        ReorderRule::Locks,
        ReorderRule::Read,
        ReorderRule::Wake,
        ReorderRule::Wait,
        ReorderRule::Invocation,
        ReorderRule::Waiting,
        ReorderRule::Arrival,
        ReorderRule::Timeout,
        ReorderRule::Refused,
    ];
}
