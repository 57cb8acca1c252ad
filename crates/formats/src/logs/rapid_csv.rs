//! RAPID's tables of a run: a column for each thread, one cell filled in each line.
//!
//! ```text
//! w(x),
//! ,acq(L)
//! ```
//!
//! The columns have no names, and the forks and joins of a table name threads of another format. So
//! these two are not understood, and each column is a thread `1`, `2`, ... of its own.

use super::reader::{Dialect, NOTHING, Out, Part, split, trimmed};
use crate::fault::{Fault, LineError};
use crate::std::Target;
use anyorder_trace::EventKind;

/// RAPID's tables.
#[derive(Debug, Default)]
pub struct RapidCsv {
    /// The number of columns in the first line.
    columns: Option<usize>,
}

/// What an operation becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Event(EventKind, Target),
    /// A section of a lock around an access to a variable of its name.
    Synchronised,
    /// A mark without effect.
    Nothing,
    /// Orders threads that the table does not name.
    Unknown,
}

const OPERATIONS: [(&str, Meaning); 16] = [
    ("r", Meaning::Event(EventKind::Read, Target::Access)),
    ("w", Meaning::Event(EventKind::Write, Target::Access)),
    ("acq", Meaning::Event(EventKind::Acquire, Target::Lock)),
    ("rel", Meaning::Event(EventKind::Release, Target::Lock)),
    ("req", Meaning::Event(EventKind::Request, Target::Lock)),
    ("sync", Meaning::Synchronised),
    ("null", Meaning::Nothing),
    ("dummy", Meaning::Nothing),
    ("begin", Meaning::Nothing),
    ("end", Meaning::Nothing),
    ("enter", Meaning::Nothing),
    ("exit", Meaning::Nothing),
    ("branch", Meaning::Nothing),
    ("fork", Meaning::Unknown),
    ("start", Meaning::Unknown),
    ("join", Meaning::Unknown),
];

/// A cell: an operation and its target.
struct Cell<'l> {
    text: Part<'l>,
    meaning: Option<Meaning>,
    target: Part<'l>,
}

fn cell(text: Part<'_>) -> Option<Cell<'_>> {
    let letters = text.0.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let inside = text.0[letters..].strip_prefix(b"(")?.strip_suffix(b")")?;
    let known = OPERATIONS.iter().find(|(word, _)| word.as_bytes() == &text.0[..letters]);
    let meaning = known.map(|(_, meaning)| *meaning);
    (letters > 0).then_some(Cell { text, meaning, target: (inside, text.1 + letters + 1) })
}

/// The filled cells of a line, with the numbers of their columns from 1, and the number of columns.
fn cells(line: &[u8]) -> (Vec<(usize, Part<'_>)>, usize) {
    let all = (1..).zip(split(line, b',').map(trimmed));
    let mut count = 0;
    let filled = all.inspect(|_| count += 1).filter(|(_, part)| !part.0.is_empty()).collect();
    (filled, count)
}

/// Returns whether the first lines of an input are such a table: all have as many commas, and one
/// cell with a known operation.
pub(crate) fn looks_like_rapid_csv<'l>(lines: impl Iterator<Item = &'l [u8]>) -> bool {
    let mut columns = None;
    for line in lines {
        let (filled, count) = cells(line);
        let [(_, text)] = filled[..] else { return false };
        let is_known = cell(text).is_some_and(|cell| cell.meaning.is_some());
        if count < 2 || !is_known || *columns.get_or_insert(count) != count {
            return false;
        }
    }
    columns.is_some()
}

impl Dialect for RapidCsv {
    const FORMAT: &'static str = "rapid-csv";

    fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError> {
        let (filled, count) = cells(line);
        let columns = *self.columns.get_or_insert(count);
        if count != columns {
            let message = format!("expected {columns} columns as in the first line, found {count}");
            return Err(Fault::new(line.len(), message).into());
        }
        let (column, text) = match filled[..] {
            [one] => one,
            // A line of commas says nothing.
            [] => return Ok(()),
            [_, (_, text), ..] => {
                return Err(Fault::new(text.1, "expected one operation in a line").into());
            }
        };
        let Some(Cell { text, meaning, target }) = cell(text) else {
            return Err(Fault::new(text.1, "expected an operation such as `w(x)`").into());
        };
        let name = column.to_string();
        let thread = (name.as_bytes(), text.1);
        let has_target = |part: Part<'_>| match part.0.is_empty() {
            true => Err(Fault::new(part.1, "expected a target in parentheses")),
            false => Ok(()),
        };
        match meaning {
            Some(Meaning::Event(kind, of)) => {
                has_target(target)?;
                out.event(thread, (kind.into(), of), target, NOTHING)?;
            }
            Some(Meaning::Synchronised) => {
                has_target(target)?;
                let steps = [
                    (EventKind::Acquire, Target::Lock),
                    (EventKind::Read, Target::Access),
                    (EventKind::Write, Target::Access),
                    (EventKind::Release, Target::Lock),
                ];
                for (kind, of) in steps {
                    out.event(thread, (kind.into(), of), target, NOTHING)?;
                }
            }
            Some(Meaning::Nothing) => out.note(thread, text, NOTHING)?,
            Some(Meaning::Unknown) | None => out.unknown(thread, text, NOTHING)?,
        }
        Ok(())
    }
}
