//! Whether the atomic blocks of a recorded run are serializable.
//!
//! A trace of threads can mark blocks that its programmer means to be atomic, by `begin` and `end`
//! (RAPID's traces and RoadRunner's do, for methods). A **transaction** is an outermost block; each
//! event outside of blocks is one of its own. There is an edge from one transaction to another if
//! an event of the first precedes one of the second that it *conflicts* with: both are of one
//! thread; both access overlapping memory, and one writes; a release and a later acquire of the
//! lock, unless both are shared; a fork and an event of its thread, an event of a thread and a join
//! of it; a signal and the wake that it is matched with. The run is **conflict-serializable** iff
//! this graph has no cycle: iff it equals, by its conflicts, a run in which no transaction is
//! interrupted.
//!
//! A conflict is *direct* if no write of that memory, exclusive release of that lock, or event of
//! that thread lies between; direct conflicts have the same paths. A transaction is **violated** by
//! a cycle of direct conflicts if the latest of them, by their second events, leads to it: at that
//! event it was interrupted. So each cycle violates one transaction, and that is a block. The
//! answer is about the recorded run alone, and says nothing about others.
//!
//! **Sources.** Flanagan, Freund and Yi, "Velodrome: a sound and complete dynamic atomicity checker
//! for multithreaded programs", PLDI 2008, for the graph and the blame; Mathur and Viswanathan,
//! "Atomicity checking in linear time using vector clocks", ASPLOS 2020, whose definition of
//! conflicts this is. **Method.** Components of the graph of direct conflicts; in each, for each
//! transaction until one of its place in the source is found to be violated, the way to each unit
//! whose latest conflict is the earliest. **Naive version.** All pairs of events, and all cycles,
//! in the tests. **Cost.** Linear in the events, and n log n in its component for each transaction
//! that is tried, at most [`TransactionOptions::steps_max`] edges in all.

mod blocks;
mod graph;
mod search;

pub use blocks::{Marks, marks};

use anyorder_system::{Control, StopReason, Stopped};
use anyorder_trace::{EventId, HandlerId, Trace};
use blocks::Blocks;
use graph::Graph;

/// The options of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransactionOptions {
    /// Whether a block that is all that its thread does is a transaction, too, and not only a mark
    /// of the thread.
    pub whole_threads: bool,
    /// The most places of blocks of which a violation is shown.
    pub max_cycles: usize,
    /// The most edges that all searches for cycles visit together.
    pub steps_max: u64,
}

impl Default for TransactionOptions {
    fn default() -> TransactionOptions {
        TransactionOptions { whole_threads: false, max_cycles: 100, steps_max: 200_000_000 }
    }
}

/// A node of the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// A block, by its `begin`.
    Block(EventId),
    /// An event outside of blocks.
    Single(EventId),
}

/// Why an event comes before another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// One thread does both.
    Thread,
    /// Both access the same memory.
    Memory,
    /// The lock is released and taken.
    Lock,
    /// The thread is forked or joined.
    Life,
    /// A signal wakes the other.
    Signal,
}

/// A conflict of two units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The unit of the first event.
    pub from: Unit,
    /// The unit of the second.
    pub to: Unit,
    /// The first event.
    pub before: EventId,
    /// The second.
    pub after: EventId,
    /// Their conflict.
    pub why: Why,
}

/// The violated transactions of one place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The `begin` of the first one that is violated.
    pub begin: EventId,
    /// Its `end`, unless the trace ends before.
    pub end: Option<EventId>,
    /// Its thread.
    pub thread: HandlerId,
    /// The way from one of its events to a later one through other transactions.
    pub links: Vec<Link>,
    /// How many transactions of this place lie on cycles.
    pub on_cycles: u64,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TransactionsChecked {
    /// The blocks of the trace that are transactions.
    pub transactions: u64,
    /// Components of the graph with more than one unit. The run is serializable iff there is none.
    pub components: u64,
    /// The transactions that lie in them.
    pub on_cycles: u64,
    /// The violations, by their first `begin`. There is at least one for each component, unless
    /// the check was cut.
    pub violations: Vec<Violation>,
    /// Whether there may be violated transactions of other places.
    pub is_cut: bool,
    /// Why the check ended early. What it lists is true.
    pub stopped: Option<StopReason>,
}

/// Decides whether the transactions of a trace of threads are serializable. The events of the trace
/// must be in the order in which they happened, and no task may be posted.
#[must_use]
pub fn check(
    trace: &Trace,
    options: &TransactionOptions,
    control: &Control<'_>,
) -> TransactionsChecked {
    let mut checked = TransactionsChecked::default();
    if let Err(Stopped(reason)) = phases(trace, options, control, &mut checked) {
        checked.stopped = Some(reason);
        checked.is_cut = true;
    }
    checked
}

fn phases(
    trace: &Trace,
    options: &TransactionOptions,
    control: &Control<'_>,
    checked: &mut TransactionsChecked,
) -> Result<(), Stopped> {
    control.progress.phase("transactions");
    let blocks = Blocks::new(trace, options.whole_threads);
    checked.transactions = blocks.count() as u64;
    if checked.transactions == 0 {
        return Ok(());
    }
    let graph = Graph::new(trace, &blocks, control)?;
    search::violations((trace, &blocks), &graph, options, control, checked)
}
