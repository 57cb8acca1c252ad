//! What a check found.

use crate::runtime::{Panic, Position};
use anyorder_threads::{Act, Incomplete, ObjectId, ThreadId};
use std::fmt;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// How many executions were run.
    pub executions: u64,
    /// Why something may be missing, if so.
    pub incomplete: Option<Incomplete>,
    /// What went wrong, each once.
    pub failures: Vec<Failure>,
}

/// An execution that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// How.
    pub kind: FailureKind,
    /// The execution.
    pub lines: Vec<Line>,
}

/// How an execution fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// A thread panicked.
    Panic(Panic),
    /// Threads wait, and none can go on.
    Deadlock,
    /// Threads spin, and nothing will change.
    Livelock,
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
            FailureKind::Deadlock => f.write_str("deadlock: threads wait, and none can go on"),
            FailureKind::Livelock => f.write_str("livelock: threads spin, and nothing will change"),
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
        write!(f, "thread {}: {:?}", self.thread.0, self.act)?;
        if self.object != ObjectId::NONE {
            write!(f, " of {}", self.object.0)?;
        }
        write!(f, " = {}", self.result)?;
        match &self.position {
            Some(position) => write!(f, " ({position})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.kind)?;
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} executions", self.executions)?;
        match &self.incomplete {
            None => writeln!(f)?,
            Some(Incomplete::Executions) => writeln!(f, ", incomplete: as many as allowed")?,
            Some(Incomplete::Steps) => writeln!(f, ", incomplete: one was too long")?,
            Some(Incomplete::Stopped(_)) => writeln!(f, ", incomplete: stopped")?,
            Some(Incomplete::Diverged(how)) => {
                writeln!(f, ", incomplete: not the same in each run: {how:?}")?;
            }
        }
        self.failures.iter().try_for_each(|failure| write!(f, "{failure}"))
    }
}
