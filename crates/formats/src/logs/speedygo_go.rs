//! SpeedyGo's logs of Go programs: `main1,[(8257,0,R,main.go:26)],C,-`.
//!
//! A line has a goroutine, a list of operations, `P` before it does one of them or `C` when it has
//! done it, and its partner. An operation has an object, the size of a channel's buffer, what is
//! done, and a place. Only what was done becomes events.
//!
//! **Channels.** A receive comes after the send that it takes, the first that none has taken. With
//! a buffer for `c` values, send `n` comes after receive `n - c`. Both are signals here, with the
//! event that each end of a wait refers to. What a channel without buffer orders depends on who met
//! whom, which the log does not say: such operations are not understood.

use super::reader::{NOTHING, Out, Part, trimmed};
use crate::fault::{Fault, LineError};
use crate::std::Target;
use anyorder_trace::{EventKind, Mode, Op};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// What is known of the objects of a log.
#[derive(Debug, Default)]
pub(super) struct GoForm {
    /// The last signal of each name: the start of a goroutine.
    signals: HashMap<Box<[u8]>, u64>,
    channels: HashMap<Box<[u8]>, Channel>,
}

/// The events of a channel that others come after.
#[derive(Debug, Default)]
struct Channel {
    /// Sends whose value nobody has received.
    sent: VecDeque<u64>,
    /// Receives whose place no send has taken.
    space: VecDeque<u64>,
    sends: u64,
    closed: Option<u64>,
}

/// The parts of a line.
struct Line<'l> {
    thread: Part<'l>,
    /// Without the outermost parentheses.
    operations: Part<'l>,
    is_done: bool,
}

fn parts(line: &[u8]) -> Option<Line<'_>> {
    let open = line.windows(3).position(|part| part == b",[(")?;
    let close = open + 3 + line[open + 3..].windows(3).rposition(|part| part == b")],")?;
    let state = line[close + 3..].split(|byte| *byte == b',').next()?.trim_ascii();
    let thread = trimmed((&line[..open], 0));
    let is_word = !thread.0.is_empty() && thread.0.iter().all(u8::is_ascii_alphanumeric);
    (is_word && matches!(state, b"P" | b"C")).then_some(Line {
        thread,
        operations: (&line[open + 3..close], open + 3),
        is_done: state == b"C",
    })
}

/// Returns whether a line is one of such a log.
pub(super) fn is_go_form(line: &[u8]) -> bool {
    parts(line).is_some()
}

/// An operation: what it is about, the size of the buffer, what is done, and where.
struct Operation<'l> {
    object: Part<'l>,
    buffer: u64,
    what: Part<'l>,
    site: Part<'l>,
}

fn operation((text, column): Part<'_>) -> Result<Operation<'_>, Fault> {
    let mut at = column;
    let mut fields = text.splitn(4, |byte| *byte == b',').map(|field| {
        let part = (field, at);
        at += field.len() + 1;
        trimmed(part)
    });
    let (Some(object), Some(buffer), Some(what), Some(site)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(Fault::new(column, "expected an object, a buffer, an operation and a place"));
    };
    if object.0.is_empty() {
        return Err(Fault::new(object.1, "expected an object"));
    }
    let size = str::from_utf8(buffer.0).ok().and_then(|text| text.parse().ok());
    let Some(buffer) = size else {
        return Err(Fault::new(buffer.1, "expected the size of a buffer"));
    };
    let site = if site.0 == b"-" { NOTHING } else { site };
    Ok(Operation { object, buffer, what, site })
}

impl GoForm {
    pub(super) fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError> {
        let Some(Line { thread, operations, is_done }) = parts(line) else {
            let expected = "expected `goroutine,[(object,buffer,operation,place)],C,-`";
            return Err(Fault::new(0, expected).into());
        };
        if !is_done {
            return Ok(());
        }
        if let Some(at) = operations.0.windows(3).position(|part| part == b"),(") {
            let message = "expected one operation of those that were ready";
            return Err(Fault::new(operations.1 + at + 1, message).into());
        }
        let operation = operation(operations)?;
        let Operation { object, what, site, .. } = operation;
        let plain = |kind, target| (Op::new(kind, Mode::PLAIN), target);
        let shared = |kind| (Op::new(kind, Mode::SHARED), Target::Lock);
        let event = match what.0 {
            b"R" => plain(EventKind::Read, Target::Access),
            b"M" => plain(EventKind::Write, Target::Access),
            b"+" => plain(EventKind::Acquire, Target::Lock),
            b"*" => plain(EventKind::Release, Target::Lock),
            b"$" => shared(EventKind::Acquire),
            b"#" => shared(EventKind::Release),
            b"S" => {
                let name = [b"s", object.0].concat();
                let signal = plain(EventKind::Signal, Target::Condition);
                let event = out.event(thread, signal, (&name, object.1), site)?;
                self.signals.insert(name.into(), event);
                return Ok(());
            }
            b"W" => {
                let name = [b"s", object.0].concat();
                let by = self.signals.get(&*name).copied();
                out.wake(thread, (&name, object.1), site, by)?;
                return Ok(());
            }
            b"!" | b"?" | b"C" => return self.channel(thread, &operation, out),
            _ => return out.unknown(thread, what, site),
        };
        out.event(thread, event, object, site)?;
        Ok(())
    }

    /// Takes an operation of a channel.
    fn channel(
        &mut self,
        thread: Part<'_>,
        operation: &Operation<'_>,
        out: &mut Out<'_>,
    ) -> Result<(), LineError> {
        let Operation { object, buffer, what, site } = *operation;
        if buffer == 0 && what.0 != b"C" {
            let word = if what.0 == b"!" { &b"send"[..] } else { b"receive" };
            let text = [word, b"(", object.0, b")"].concat();
            return out.unknown(thread, (&text, object.1), site);
        }
        let [sent, space] = [&b".sent"[..], b".space"].map(|end| [b"c", object.0, end].concat());
        let (sent, space) = ((&*sent, object.1), (&*space, object.1));
        let signal = (EventKind::Signal.into(), Target::Condition);
        let channel = self.channels.entry_ref(object.0).or_default();
        match what.0 {
            b"!" => {
                if channel.sends >= buffer {
                    out.wake(thread, space, site, channel.space.pop_front())?;
                }
                channel.sends += 1;
                channel.sent.push_back(out.event(thread, signal, sent, site)?);
            }
            b"?" => {
                let by = channel.sent.pop_front().or(channel.closed);
                out.wake(thread, sent, site, by)?;
                channel.space.push_back(out.event(thread, signal, space, site)?);
            }
            _ => channel.closed = Some(out.event(thread, signal, sent, site)?),
        }
        Ok(())
    }
}
