//! What went wrong, and the execution that shows it.

use super::blocked::{Waiting, cycle};
use super::misuse::Misuse;
use super::passing::Passing;
use super::replay::{Schedule, Signature};
use super::run::Run;
use super::trace::{Trace, place};
use crate::runtime::{Leaked, Panic, Position, Program};
use anyorder_threads::{Act, Race, RaceSide, ThreadId};

/// What went wrong, and the execution that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// How.
    pub kind: FailureKind,
    /// The execution.
    pub trace: Trace,
    /// Whether it failed again when it was run again.
    pub is_confirmed: bool,
    /// Whether it comes of another panic in the same execution: a join of a thread that panicked, a
    /// lock that it poisoned.
    pub is_consequence: bool,
    /// An execution that does not fail and differs by one reversal, if one was found.
    pub passing: Option<Passing>,
    pub(super) schedule: Schedule,
}

/// How an execution fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// A thread panicked.
    Panic(Panic),
    /// Threads wait, and none can go on.
    Deadlock(Vec<Waiting>),
    /// Threads spin, and nothing will change.
    Livelock(Vec<Waiting>),
    /// Two accesses of a cell that nothing orders, one of them a write.
    Race(Box<RaceReport>),
    /// Values of [`Arc`](crate::sync::Arc) are left at the end.
    Leak(Vec<Leak>),
    /// An execution does not end.
    Endless(Endless),
    /// Memory is used after it was freed, freed twice, or used where nothing says that it is there.
    Misuse(Misuse),
}

/// Two accesses of a cell that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceReport {
    /// The cell.
    pub cell: String,
    /// The access that came first in the execution.
    pub first: RaceAccess,
    /// The other one.
    pub second: RaceAccess,
    /// Why nothing orders them, if something looks as if it should.
    pub reason: Option<String>,
}

/// An access of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceAccess {
    /// The thread.
    pub thread: ThreadId,
    /// Whether it writes.
    pub write: bool,
    /// Where.
    pub position: Option<Position>,
    /// Its number among the operations of the execution, from 0.
    pub at: Option<usize>,
}

/// A value that has owners at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// Where it was made.
    pub made: Position,
}

/// An execution that does not end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endless {
    /// How many operations it had when it was cut.
    pub operations: usize,
    /// The threads that repeat the operations below. None if no repetition was found.
    pub threads: Vec<ThreadId>,
    /// What is repeated: the operations in words, and where.
    pub turn: Vec<(String, Option<Position>)>,
    /// Whether others could go on meanwhile: a fair scheduler would let them.
    pub starves: bool,
}

impl Failure {
    /// Returns the text with which [`Builder::replay`](super::Builder::replay) and the variable
    /// `ANYORDER_REPLAY` run this execution again. It fits as long as the threads of the program
    /// perform the same operations.
    #[must_use]
    pub fn replay(&self) -> String {
        self.schedule.to_string()
    }

    /// Returns where it is: the panic, the second access of a race, the thread that waits.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        match &self.kind {
            FailureKind::Panic(panic) => panic.position.as_ref(),
            FailureKind::Race(race) => race.second.position.as_ref(),
            FailureKind::Deadlock(waiting) | FailureKind::Livelock(waiting) => {
                waiting.iter().find_map(|waiting| waiting.position.as_ref())
            }
            FailureKind::Leak(leaks) => leaks.first().map(|leak| &leak.made),
            FailureKind::Misuse(misuse) => misuse.position.as_ref(),
            FailureKind::Endless(endless) => endless.turn.iter().find_map(|turn| turn.1.as_ref()),
        }
    }

    /// Returns the threads that wait in a circle, in the order in which each waits for the next
    /// one.
    #[must_use]
    pub fn cycle(&self) -> Vec<ThreadId> {
        match &self.kind {
            FailureKind::Deadlock(waiting) => cycle(waiting),
            _ => Vec::new(),
        }
    }
}

/// Returns the report of a race.
pub(super) fn race(program: &Program, run: &Run, trace: &Trace, race: &Race) -> RaceReport {
    let access = |side: &RaceSide, from_end: usize| {
        let is_it = |line: &super::trace::Line| {
            line.thread == side.thread
                && line.object == race.object
                && line.act == (Act::Access { write: side.write })
        };
        let all: Vec<usize> =
            (0..trace.lines.len()).filter(|at| is_it(&trace.lines[*at])).collect();
        RaceAccess {
            thread: side.thread,
            write: side.write,
            position: place(program, side.site),
            at: all.len().checked_sub(from_end).and_then(|at| all.get(at)).copied(),
        }
    };
    let (first, second) = (access(&race.first, 1), access(&race.second, 1));
    let reason = unsynchronised(run, trace, &first, &second);
    RaceReport { cell: trace.object_name(race.object).to_owned(), first, second, reason }
}

/// What passes between the two accesses and looks as if it ordered them.
fn unsynchronised(
    run: &Run,
    trace: &Trace,
    first: &RaceAccess,
    second: &RaceAccess,
) -> Option<String> {
    let (from, to) = (first.at?, second.at?);
    for (at, line) in trace.lines.iter().enumerate().take(to).skip(from) {
        if line.thread != second.thread {
            continue;
        }
        let Some(write) = line.reads_from.filter(|write| *write > from) else { continue };
        if run.events[write].step.thread != first.thread {
            continue;
        }
        let releases = match &run.events[write].op.act {
            Act::Store(_, order) | Act::Update { success: order, .. } => order.releases(),
            _ => continue,
        };
        let acquires = match &line.act {
            Act::Load(order) | Act::Update { success: order, .. } => order.acquires(),
            _ => continue,
        };
        let lacks = match (releases, acquires) {
            (true, true) => continue,
            (false, true) => "the store is no release",
            (true, false) => "the load is no acquire",
            (false, false) => "the store is no release, and the load no acquire",
        };
        let number = |at: usize| trace.lines[at].step.unwrap_or(at + 1);
        return Some(format!(
            "step {} reads what step {} stored, but that orders nothing: {lacks}",
            number(at),
            number(write)
        ));
    }
    None
}

/// Returns the report of values that are left.
pub(super) fn leak(leaked: &Leaked) -> FailureKind {
    let mut leaks: Vec<Leak> =
        leaked.made.iter().map(|made| Leak { made: Position::from(*made) }).collect();
    leaks.sort_by(|a, b| a.made.cmp(&b.made));
    FailureKind::Leak(leaks)
}

/// Returns what tells this failure from others in every build: no lines, no addresses.
pub(super) fn signature(kind: &FailureKind, trace: &Trace) -> Signature {
    let waiting = |waiting: &[Waiting]| {
        let of = |one: &Waiting| {
            format!("{}{}", trace.column(one.thread), super::replay::kind(&one.act))
        };
        waiting.iter().map(of).collect::<String>()
    };
    let (class, text) = match kind {
        FailureKind::Panic(panic) => ('p', panic.message.clone()),
        FailureKind::Deadlock(all) => ('d', waiting(all)),
        FailureKind::Livelock(all) => ('l', waiting(all)),
        FailureKind::Race(race) => {
            let of = |side: &RaceAccess| format!("{}{}", trace.column(side.thread), side.write);
            ('r', of(&race.first) + &of(&race.second))
        }
        FailureKind::Leak(leaks) => ('k', leaks.len().to_string()),
        FailureKind::Misuse(misuse) => {
            ('m', format!("{:?}{}", misuse.kind, trace.column(misuse.user)))
        }
        FailureKind::Endless(endless) => ('e', endless.threads.len().to_string()),
    };
    Signature { class, hash: hash(&text) }
}

/// FNV-1a, folded to 16 bits.
fn hash(text: &str) -> u16 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.bytes().fold(0x811c_9dc5, step);
    (hash >> 16 ^ hash) as u16
}
