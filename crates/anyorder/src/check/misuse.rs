//! Memory that is freed too early, or handed over too early.

use super::run::Run;
use super::title::at;
use super::trace::{Trace, place};
use crate::runtime::{self, MisuseKind, Position, Program};
use anyorder_threads::ThreadId;

/// A misuse of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// How.
    pub kind: MisuseKind,
    /// What is in the memory.
    pub object: String,
    /// The thread that uses it, or frees it again.
    pub user: ThreadId,
    /// The number of the operation that uses it, or comes after the second free.
    pub at: Option<usize>,
    /// Where that is.
    pub position: Option<Position>,
    /// The thread that freed or allocated it, and the number of its last operation before.
    pub other: Option<(ThreadId, Option<usize>)>,
}

/// Returns the report of a misuse in a run of its execution.
pub(super) fn misuse(
    program: &Program,
    run: &Run,
    trace: &Trace,
    found: &runtime::Misuse,
) -> Misuse {
    // Both name operations by their thread and how many of that thread come before.
    let count = |thread: ThreadId, until: usize| {
        found.log.iter().take(until).filter(|one| one.0 == thread).count()
    };
    let event = |thread: ThreadId, number: usize| {
        let own = |at: &usize| run.events[*at].step.thread == thread;
        (0..run.events.len()).filter(own).nth(number)
    };
    let (user, until) = found.user;
    let use_at = event(user, count(user, until));
    let before = |(thread, until): (ThreadId, usize)| {
        let last = count(thread, until).checked_sub(1).and_then(|last| event(thread, last));
        (thread, last)
    };
    let object = found.object.map(|object| trace.object_name(object).to_owned());
    Misuse {
        kind: found.kind,
        object: object.unwrap_or_else(|| "memory".to_owned()),
        user,
        at: use_at,
        position: use_at.and_then(|at| place(program, run.events[at].site)),
        other: found.other.map(before),
    }
}

impl Misuse {
    pub(super) const fn class(&self) -> &'static str {
        match self.kind {
            MisuseKind::UsedAfterFree => "use after free",
            MisuseKind::FreedTwice => "double free",
            MisuseKind::UsedBeforeMade | MisuseKind::UnsynchronisedLoad => "data race",
        }
    }

    pub(super) fn title(&self, trace: &Trace) -> String {
        let (user, object) = (trace.thread_name(self.user), &self.object);
        let other = self.other.map_or("another thread", |other| trace.thread_name(other.0));
        match self.kind {
            MisuseKind::UsedAfterFree => {
                format!("{user} uses {object}, whose memory {other} freed")
            }
            MisuseKind::FreedTwice => format!("{user} frees the memory of {object} again"),
            MisuseKind::UsedBeforeMade => {
                format!("nothing orders the use of {object} by {user} after {other} made it")
            }
            MisuseKind::UnsynchronisedLoad => {
                format!(
                    "nothing orders the `unsync_load` of {object} by {user} with a store by {other}"
                )
            }
        }
    }

    pub(super) fn lines(&self, trace: &Trace) -> Vec<String> {
        let step = |at: Option<usize>| {
            let step = at.and_then(|at| trace.lines[at].step);
            step.map(|step| format!("step {step}"))
        };
        let verb = match self.kind {
            MisuseKind::FreedTwice => "frees it again before",
            MisuseKind::UnsynchronisedLoad => "loads it in",
            _ => "uses it in",
        };
        let mut lines = Vec::new();
        if let Some(step) = step(self.at) {
            let user = trace.thread_name(self.user);
            lines.push(format!("{user} {verb} {step} ({})", at(self.position.as_ref())));
        }
        if let Some((other, before)) = self.other {
            let (verb, when) = match self.kind {
                MisuseKind::UsedBeforeMade => ("allocated", "after"),
                MisuseKind::UnsynchronisedLoad => ("stores to", "in"),
                _ => ("freed", "after"),
            };
            let after = step(before).map(|step| format!(" {when} {step}")).unwrap_or_default();
            lines.push(format!("{} {verb} it{after}", trace.thread_name(other)));
        }
        if self.kind == MisuseKind::UsedBeforeMade {
            lines.push("what handed it over is no release that an acquire reads".to_owned());
        }
        lines
    }
}
