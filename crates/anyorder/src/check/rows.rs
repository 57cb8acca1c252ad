//! The operations that a reader sees, as rows with numbers: some tell nothing, some are one.

use super::trace::{Line, Trace};
use anyorder_threads::{Act, ObjectId};
use std::collections::BTreeSet;

/// One operation, or two that are one for the reader.
pub(super) struct Group {
    /// The first and the last one.
    pub(super) range: (usize, usize),
    pub(super) words: String,
}

/// Returns what a reader sees of an execution, in its order.
pub(super) fn groups(trace: &Trace) -> impl Iterator<Item = Group> + '_ {
    let counted = counted(trace);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < trace.lines.len() {
            let (first, line) = (at, &trace.lines[at]);
            if let Some(words) = joined(trace, first) {
                at += 2;
                return Some(Group { range: (first, first + 1), words });
            }
            at += 1;
            if !is_hidden(trace, line, &counted) {
                let words = match is_inner(line) {
                    true => format!("uses {}", trace.object_name(line.object)),
                    false => trace.words(line),
                };
                return Some(Group { range: (first, first), words });
            }
        }
        None
    })
}

/// Gives numbers to what a reader sees.
pub(super) fn number(trace: &mut Trace) {
    let ranges: Vec<(usize, usize)> = groups(trace).map(|group| group.range).collect();
    for (number, (first, last)) in (1..).zip(ranges) {
        trace.lines[first].step = Some(number);
        trace.lines[last].step = Some(number);
    }
}

/// The counts of owners that the program looks at.
fn counted(trace: &Trace) -> BTreeSet<ObjectId> {
    let looks = |line: &&Line| matches!(line.act, Act::Owners | Act::Upgrade | Act::TakeSole);
    let counted = trace.lines.iter().filter(looks).map(|line| line.object);
    counted.chain(trace.watched.iter().copied()).collect()
}

/// Whether an operation tells nothing: clones of owners and senders, the ends of threads, data
/// whose value is not known.
fn is_hidden(trace: &Trace, line: &Line, counted: &BTreeSet<ObjectId>) -> bool {
    match &line.act {
        Act::Retain | Act::Drop => !counted.contains(&line.object),
        Act::Unlock(_) | Act::Poison(_) | Act::Notify { .. } => line.position.is_none(),
        Act::Use | Act::Alter(_) if line.position.is_none() => true,
        Act::Return { .. } | Act::Exit(_) | Act::Senders(true) | Act::Receivers(true) => true,
        Act::Use | Act::Alter(_) => {
            let known = trace.object(line.object);
            known.is_none_or(|known| known.type_name.as_deref() == Some("()"))
        }
        _ => false,
    }
}

/// Whether it begins something that a type of this crate does, of which the place is not known: a
/// channel of tasks takes a lock of its own.
fn is_inner(line: &Line) -> bool {
    line.position.is_none() && matches!(line.act, Act::Lock(..))
}

/// The words for an operation and the next one, if they belong together: a lock is taken and its
/// data read, data is written and the lock given back, a cell is written.
fn joined(trace: &Trace, at: usize) -> Option<String> {
    let (line, next) = (&trace.lines[at], trace.lines.get(at + 1)?);
    let is_same = line.thread == next.thread
        && trace.object_name(line.object) == trace.object_name(next.object);
    if !is_same || line.position.is_none() {
        return None;
    }
    match (&line.act, &next.act) {
        (Act::Lock(..), Act::Use) if line.result == 1 => {
            let value = trace.primitive(next.object, next.result);
            let value = value.map(|value| format!(" → {value}")).unwrap_or_default();
            Some(trace.words(line) + &value)
        }
        (Act::Alter(_), Act::Unlock(_)) => Some(format!("{}, unlock", trace.words(line))),
        (Act::Poison(true), Act::Unlock(_)) => Some(format!("{}, poisoned", trace.words(next))),
        (Act::Access { write: true }, Act::Alter(_)) => Some(trace.words(next)),
        _ => None,
    }
}
