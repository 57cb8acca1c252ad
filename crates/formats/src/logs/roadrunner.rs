//! Logs of RoadRunner: `@   Acquire(1,@03)`, `@   Rd(1,null.p/C.f_I)  SHADOW  File.java:50:7`.
//!
//! Only some of the lines are events: those that begin with `@`, or another mark of its tools, and
//! go on with a word and an open parenthesis. All others are prose.

use super::reader::{Dialect, NOTHING, Out, Part, trimmed};
use crate::fault::{Fault, LineError};
use crate::std::Target;
use anyorder_trace::{EventKind, Mode, Op};

/// Logs of RoadRunner.
#[derive(Debug, Default)]
pub struct RoadRunner;

/// What an operation becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Event(Op, Target),
    /// Without effect here: the limits of a method.
    Nothing,
    /// The thread tests what it has read.
    Branch,
    /// Not known.
    Unknown,
}

/// The operations.
const OPERATIONS: [(&str, Meaning); 11] = {
    const fn plain(kind: EventKind, target: Target) -> Meaning {
        Meaning::Event(Op::new(kind, Mode::PLAIN), target)
    }
    const fn volatile(kind: EventKind) -> Meaning {
        Meaning::Event(Op::new(kind, Mode::SEQ_CST), Target::Access)
    }
    [
        ("Rd", plain(EventKind::Read, Target::Access)),
        ("Wr", plain(EventKind::Write, Target::Access)),
        ("ARd", volatile(EventKind::Read)),
        ("AWr", volatile(EventKind::Write)),
        ("Acquire", plain(EventKind::Acquire, Target::Lock)),
        ("Release", plain(EventKind::Release, Target::Lock)),
        ("Start", plain(EventKind::Fork, Target::Thread)),
        ("Join", plain(EventKind::Join, Target::Thread)),
        ("Enter", Meaning::Nothing),
        ("Exit", Meaning::Nothing),
        ("Branch", Meaning::Branch),
    ]
};

/// An operation of a line, and what stands in its parentheses.
struct Operation<'l> {
    text: Part<'l>,
    meaning: Meaning,
    thread: Part<'l>,
    target: Part<'l>,
    /// What follows the parentheses.
    rest: Part<'l>,
}

/// Returns the operation of a line; `None` for prose.
fn operation(line: &[u8]) -> Result<Option<Operation<'_>>, Fault> {
    let Some((b'@' | b'!' | b'#' | b'$' | b'%' | b'*', rest)) = line.split_first() else {
        return Ok(None);
    };
    let text = trimmed((rest, 1));
    let letters = text.0.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let known = OPERATIONS.iter().find(|(word, _)| word.as_bytes() == &text.0[..letters]);
    let meaning = known.map_or(Meaning::Unknown, |(_, meaning)| *meaning);
    if letters == 0 || text.0.get(letters) != Some(&b'(') {
        return Ok(None);
    }
    let open = text.1 + letters + 1;
    let inside = &text.0[letters + 1..];
    let Some(close) = memchr::memchr(b')', inside) else {
        return Err(Fault::new(text.1 + text.0.len(), "expected `)` at the end of the operation"));
    };
    let comma = memchr::memchr(b',', &inside[..close]);
    let (thread, target) = match comma {
        Some(at) => ((&inside[..at], open), (&inside[at + 1..close], open + at + 1)),
        None => ((&inside[..close], open), (&b""[..], open + close)),
    };
    Ok(Some(Operation {
        text: (&text.0[..letters + 1 + close + 1], text.1),
        meaning,
        thread: trimmed(thread),
        target: trimmed(target),
        rest: trimmed((&inside[close + 1..], open + close + 1)),
    }))
}

/// Returns whether a line is one of such a log.
pub(crate) fn looks_like_roadrunner(line: &[u8]) -> bool {
    let is_known = |operation: Option<Operation<'_>>| {
        operation.is_some_and(|operation| operation.meaning != Meaning::Unknown)
    };
    line.starts_with(b"@") && operation(line).is_ok_and(is_known)
}

impl Dialect for RoadRunner {
    const FORMAT: &'static str = "roadrunner";

    fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError> {
        let Some(Operation { text, meaning, thread, target, rest }) = operation(line)? else {
            return Ok(());
        };
        if thread.0.is_empty() {
            return Err(Fault::new(thread.1, "expected a thread in parentheses").into());
        }
        // The place is the last word.
        let start = rest.0.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let site = match rest.0.is_empty() {
            true => NOTHING,
            false => (&rest.0[start..], rest.1 + start),
        };
        match meaning {
            Meaning::Nothing => Ok(()),
            Meaning::Branch => out.note(thread, (b"branch", text.1), site),
            Meaning::Unknown => out.unknown(thread, text, site),
            Meaning::Event(..) if target.0.is_empty() => {
                Err(Fault::new(target.1, "expected a comma and a target").into())
            }
            Meaning::Event(op, of) => {
                out.event(thread, (op, of), target, site)?;
                Ok(())
            }
        }
    }
}
