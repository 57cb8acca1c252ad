//! What a check found.

use super::words::words;
use crate::runtime::{Panic, Position};
use anyorder_threads::{Act, Incomplete, ObjectId, ThreadId};
use std::fmt;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// How many executions were run.
    pub executions: u64,
    /// In how many states the last search had a choice.
    pub states: u64,
    /// Why something may be missing, if so.
    pub incomplete: Option<Incomplete>,
    /// Why executions may not have been what they seemed.
    pub doubts: Vec<Doubt>,
    /// What went wrong, each once.
    pub failures: Vec<Failure>,
}

impl Summary {
    /// Returns whether a limit on executions or time cut the check.
    #[must_use]
    pub fn is_cut_by_limit(&self) -> bool {
        matches!(self.incomplete, Some(Incomplete::Executions | Incomplete::Stopped(_)))
    }

    /// Returns whether nothing went wrong, in all executions that there are.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.failures.is_empty() && self.incomplete.is_none() && self.doubts.is_empty()
    }
}

/// Why executions may not have been what they seemed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Doubt {
    /// An object was at an address of which nothing is known, so that it may have been taken for
    /// another one: the feature `allocator` is off.
    LooseNames,
    /// A lock or cell that was made outside of the closure holds data that one execution leaves to
    /// the next. Made inside, it begins anew in each.
    OutsideData,
}

/// A thread that cannot go on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// What it waits to do.
    pub act: Act,
    /// To which object.
    pub object: ObjectId,
    /// Where.
    pub position: Option<Position>,
}

/// An execution that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// How.
    pub kind: FailureKind,
    /// The execution.
    pub lines: Vec<Line>,
    /// Whether it failed again when it was run again.
    pub is_confirmed: bool,
}

/// How an execution fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// A thread panicked.
    Panic(Panic),
    /// Threads wait, and none can go on.
    Deadlock(Vec<Waiting>),
    /// Threads spin, and nothing will change.
    Livelock(Vec<Waiting>),
    /// Two accesses of a cell that nothing orders, one of them a write.
    Race(Option<Position>, Option<Position>),
}

/// An operation of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The thread.
    pub thread: ThreadId,
    /// What it did.
    pub act: Act,
    /// To which object.
    pub object: ObjectId,
    /// The result.
    pub result: u64,
    /// Where.
    pub position: Option<Position>,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureKind::Panic(Panic { thread, message, position }) => {
                write!(f, "thread {} panicked", thread.0)?;
                if let Some(position) = position {
                    write!(f, " at {position}")?;
                }
                write!(f, ": {message}")
            }
            FailureKind::Deadlock(waiting) => {
                f.write_str("deadlock: no thread can go on")?;
                waiting.iter().try_for_each(|waiting| write!(f, "\n  {waiting}"))
            }
            FailureKind::Livelock(waiting) => {
                f.write_str("livelock: threads spin, and nothing will change")?;
                waiting.iter().try_for_each(|waiting| write!(f, "\n  {waiting}"))
            }
            FailureKind::Race(first, second) => {
                let place = |side: &Option<Position>| match side {
                    Some(position) => position.to_string(),
                    None => "an unknown place".to_owned(),
                };
                write!(f, "data race: {} and {}", place(first), place(second))
            }
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = words(&self.act, Some(self.result));
        operation(f, (self.thread, &words, self.object), self.position.as_ref())
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = words(&self.act, None);
        operation(f, (self.thread, &words, self.object), self.position.as_ref())
    }
}

fn operation(
    f: &mut fmt::Formatter<'_>,
    (thread, words, object): (ThreadId, &str, ObjectId),
    position: Option<&Position>,
) -> fmt::Result {
    write!(f, "thread {}: {words}", thread.0)?;
    if object != ObjectId::NONE {
        write!(f, " #{}", object.0)?;
    }
    match position {
        Some(position) => write!(f, " ({position})"),
        None => Ok(()),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.kind)?;
        writeln!(f, "after{}", if self.is_confirmed { "" } else { " (run again, it did not)" })?;
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.executions == 1 { "" } else { "s" };
        write!(f, "{} execution{plural}", self.executions)?;
        match &self.incomplete {
            None => writeln!(f)?,
            Some(Incomplete::Executions) => writeln!(f, ", incomplete: as many as allowed")?,
            Some(Incomplete::Steps) => writeln!(f, ", incomplete: one was too long")?,
            Some(Incomplete::Stopped(_)) => writeln!(f, ", incomplete: stopped")?,
            Some(Incomplete::Diverged(None)) => {
                writeln!(f, ", incomplete: something is not as it was in an earlier execution")?;
            }
            Some(Incomplete::Diverged(Some(how))) => {
                writeln!(
                    f,
                    ", incomplete: after the same results, thread {} {} #{} in one execution and {} \
                     #{} in another: does it look at a clock, at random numbers, at addresses, or at data \
                     that outlives an execution?",
                    how.thread.0,
                    words(&how.expected.op.act, None),
                    how.expected.op.object.0,
                    words(&how.found.op.act, None),
                    how.found.op.object.0
                )?;
            }
        }
        for doubt in &self.doubts {
            writeln!(f, "in doubt: {doubt}")?;
        }
        self.failures.iter().try_for_each(|failure| write!(f, "{failure}"))
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::LooseNames => {
                "an object is at an address of which nothing is known, so that it may have been \
                 taken for another one; turn the feature `allocator` on"
            }
            Doubt::OutsideData => {
                "a lock or cell that was made outside of the closure keeps its data from one \
                 execution to the next; make it inside"
            }
        })
    }
}
