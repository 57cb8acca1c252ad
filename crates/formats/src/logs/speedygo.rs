//! SpeedyGo's logs of Java programs: `thread,OP,object,file:line:column|nil,number`.
//!
//! The fifth field of a signal or a wait names what is signalled; that of others means nothing
//! here. A wait orders its thread after the last signal of that name, which may wake several.

use super::reader::{Dialect, Out, Part, split, trimmed};
use super::speedygo_go::{GoForm, is_go_form};
use crate::fault::{Fault, LineError};
use crate::std::Target;
use anyorder_trace::{EventKind, Mode, Op};
use hashbrown::HashMap;

/// Logs of SpeedyGo.
#[derive(Debug, Default)]
pub struct SpeedyGo {
    /// The last signal of each name.
    signals: HashMap<Box<[u8]>, u64>,
    go: GoForm,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Event(Op, Target),
    /// Signals what the fifth field names, with a letter before it.
    Signal(u8),
    /// Comes after the last of these.
    Wait(u8),
    /// A branch begins or ends.
    Branch,
}

/// The operations. Notifications have names of their own.
const OPERATIONS: [(&str, Meaning); 16] = {
    const fn plain(kind: EventKind, target: Target) -> Meaning {
        Meaning::Event(Op::new(kind, Mode::PLAIN), target)
    }
    const fn atomic(kind: EventKind) -> Meaning {
        Meaning::Event(Op::new(kind, Mode::SEQ_CST), Target::Access)
    }
    [
        ("RD", plain(EventKind::Read, Target::Access)),
        ("WR", plain(EventKind::Write, Target::Access)),
        ("ARD", atomic(EventKind::Read)),
        ("AWR", atomic(EventKind::Write)),
        ("LK", plain(EventKind::Acquire, Target::Lock)),
        ("UK", plain(EventKind::Release, Target::Lock)),
        ("SIG", Meaning::Signal(b's')),
        ("WT", Meaning::Wait(b's')),
        ("SIGNALJOIN", Meaning::Signal(b's')),
        ("WAITJOIN", Meaning::Wait(b's')),
        ("SIGNALNOTIFY", Meaning::Signal(b's')),
        ("WAITNOTIFY", Meaning::Wait(b's')),
        ("NT", Meaning::Signal(b'n')),
        ("NTWT", Meaning::Wait(b'n')),
        ("PREBRANCH", Meaning::Branch),
        ("POSTBRANCH", Meaning::Branch),
    ]
};

/// Returns whether a line is one of such a log.
pub(crate) fn looks_like_speedygo(line: &[u8]) -> bool {
    if is_go_form(line) {
        return true;
    }
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    matches!(parts.as_slice(), [thread, op, object, _, last]
        if is_number(thread) && is_number(object) && is_number(last.trim_ascii_end())
            && OPERATIONS.iter().any(|(word, _)| word.as_bytes() == *op))
}

impl Dialect for SpeedyGo {
    const FORMAT: &'static str = "speedygo";

    fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError> {
        if is_go_form(line) {
            return self.go.line(line, out);
        }
        let parts: Vec<Part<'_>> = split(line, b',').map(trimmed).collect();
        let [thread, op, object, place, number] = parts[..] else {
            let message = format!("expected five fields with commas, found {}", parts.len());
            return Err(Fault::new(line.len(), message).into());
        };
        for (what, part) in [("a thread", thread), ("an operation", op)] {
            if part.0.is_empty() {
                return Err(Fault::new(part.1, format!("expected {what}")).into());
            }
        }
        let known = OPERATIONS.iter().find(|(word, _)| word.as_bytes() == op.0);
        let site = if place.0 == b"nil" { (&b""[..], place.1) } else { place };
        let Some((_, meaning)) = known else {
            return out.unknown(thread, op, site);
        };
        let named = |letter: u8| [&[letter], number.0].concat();
        let (subject, what) = match meaning {
            Meaning::Event(..) => (object, "expected an object in the third field"),
            Meaning::Branch => return out.note(thread, (b"branch", op.1), site),
            _ => (number, "expected a number in the fifth field"),
        };
        if subject.0.is_empty() {
            return Err(Fault::new(subject.1, what).into());
        }
        match meaning {
            Meaning::Event(op, target) => {
                out.event(thread, (*op, *target), subject, site)?;
            }
            Meaning::Signal(letter) => {
                let name = named(*letter);
                let signal = (EventKind::Signal.into(), Target::Condition);
                let event = out.event(thread, signal, (&name, subject.1), site)?;
                self.signals.insert(name.into(), event);
            }
            Meaning::Wait(letter) => {
                let name = named(*letter);
                let by = self.signals.get(&*name).copied();
                out.wake(thread, (&name, subject.1), site, by)?;
            }
            Meaning::Branch => {}
        }
        Ok(())
    }
}
