//! The categories of findings: the failure when two actions come in the reverse order.

use super::facts::Fact;
use anyorder_stream::ViolationKind;
use anyorder_trace::{EventKind, InvocationId, Tables};

/// The failure when the two actions of a finding come in the reverse order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Category {
    /// Memory is used after it was freed.
    UseAfterFree,
    /// Memory is freed twice.
    DoubleFree,
    /// A lock is used after it was destroyed, or destroyed twice.
    DestroyedLock,
    /// A lock is used while another thread writes over its memory.
    OverwrittenLock,
    /// A channel is used after it was closed, or closed twice.
    ClosedChannel,
    /// A file is used after it was closed, or closed twice.
    ClosedFile,
    /// A signal comes before the wait for it.
    LostSignal,
    /// A call waits for something that another call took, and nothing else serves it.
    LostWakeup,
    /// A context is queried for its error before it is cancelled.
    EarlyErr,
    /// Two plain accesses of two threads without a common lock.
    MultiThreaded,
    /// Two plain accesses of two tasks of one handler.
    SameHandler,
    /// Two invocations that do not commute by the specification.
    Calls,
    /// Two threads hand values to one channel or queue: either may come first.
    Arrival,
    /// Two plain accesses, each of them under the same lock.
    Guarded,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 14] = [
        Category::UseAfterFree,
        Category::DoubleFree,
        Category::DestroyedLock,
        Category::OverwrittenLock,
        Category::ClosedChannel,
        Category::ClosedFile,
        Category::LostSignal,
        Category::LostWakeup,
        Category::EarlyErr,
        Category::MultiThreaded,
        Category::SameHandler,
        Category::Calls,
        Category::Arrival,
        Category::Guarded,
    ];

    /// Returns its name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Category::UseAfterFree => "use_after_free",
            Category::DoubleFree => "double_free",
            Category::DestroyedLock => "destroyed_lock",
            Category::OverwrittenLock => "overwritten_lock",
            Category::ClosedChannel => "closed_channel",
            Category::ClosedFile => "closed_file",
            Category::LostSignal => "lost_signal",
            Category::LostWakeup => "lost_wakeup",
            Category::EarlyErr => "early_err",
            Category::MultiThreaded => "multi_threaded",
            Category::SameHandler => "same_handler",
            Category::Calls => "calls",
            Category::Arrival => "arrival",
            Category::Guarded => "guarded",
        }
    }

    /// Returns whether its findings are races, not violations of an order.
    #[must_use]
    pub const fn is_race(self) -> bool {
        matches!(self, Category::MultiThreaded | Category::SameHandler)
    }

    /// Returns whether its findings are notes and do no harm: two orders that a lock or a channel
    /// leaves open by its nature.
    #[must_use]
    pub const fn is_harmless(self) -> bool {
        matches!(self, Category::Arrival | Category::Guarded)
    }
}

/// Returns the category of two actions, the first before the second in the trace.
pub(crate) fn category(
    tables: &Tables,
    first: &Fact,
    second: &Fact,
    kind: ViolationKind,
) -> Category {
    let kinds = [first.op.kind(), second.op.kind()];
    let has = |kind: EventKind| kinds.contains(&kind);
    if kinds.iter().all(|kind| kind.is_access()) {
        return match () {
            () if kinds == [EventKind::Free; 2] => Category::DoubleFree,
            () if has(EventKind::Free) => Category::UseAfterFree,
            () if kind == ViolationKind::NonRacy => Category::Guarded,
            () if first.handler == second.handler => Category::SameHandler,
            () => Category::MultiThreaded,
        };
    }
    if has(EventKind::Free) {
        return Category::UseAfterFree;
    }
    if has(EventKind::Destroy) {
        return Category::DestroyedLock;
    }
    if has(EventKind::Acquire) || has(EventKind::Release) {
        return Category::OverwrittenLock;
    }
    if has(EventKind::Wait) && (has(EventKind::Signal) || has(EventKind::Broadcast)) {
        return Category::LostSignal;
    }
    let methods = [method(tables, first), method(tables, second)];
    let calls = |names: &[&str]| {
        methods.iter().flatten().any(|method| names.iter().any(|name| method == name))
    };
    match () {
        // Closing a channel is a way to tell a receiver that it is closed, so only senders matter.
        () if calls(&["close"]) && calls(&["send", "try_send"]) => Category::ClosedChannel,
        () if calls(&["close"]) && calls(&["read", "write", "seek", "open"]) => {
            Category::ClosedFile
        }
        () if calls(&["err"]) && calls(&["cancel"]) => Category::EarlyErr,
        () if [first, second].into_iter().all(|fact| hands_over(tables, fact)) => Category::Arrival,
        () => Category::Calls,
    }
}

/// The methods that hand a value to a channel or queue, which may have several senders.
const HANDS_OVER: [&str; 3] = ["send", "try_send", "enqueue"];

/// Returns whether a call handed a value over. One that failed did not: its channel was closed or
/// full.
fn hands_over(tables: &Tables, fact: &Fact) -> bool {
    let is_method = method(tables, fact).is_some_and(|name| HANDS_OVER.contains(&&*name));
    let invocation = tables.invocations.get(InvocationId(fact.operand).index());
    is_method && invocation.is_some_and(|call| call.result != Some(0))
}

/// Returns the method of an invocation, in lower case.
#[must_use]
pub fn method(tables: &Tables, fact: &Fact) -> Option<String> {
    if !matches!(fact.op.kind(), EventKind::Invoke | EventKind::Return) {
        return None;
    }
    let id = InvocationId(fact.operand);
    let invocation = tables.invocations.get(id.index())?;
    Some(tables.name(invocation.method).to_ascii_lowercase())
}
