//! Logs of TsanLogging, a ThreadSanitizer that writes what it sees:
//! `Thread 1: |ACQ |0x55e8| at line 13 in file /src/a.cpp`.
//!
//! A creation and a join name the other thread: `|Thread Create (Thread 1)|0x7f10|`. Addresses have
//! no sizes, so each names a variable or a lock.

use super::reader::{Dialect, NOTHING, Out, Part, trimmed};
use crate::fault::{Fault, LineError};
use crate::std::Target;
use anyorder_trace::EventKind;

/// Logs of TsanLogging.
#[derive(Debug, Default)]
pub struct TsanLog;

/// The operations whose target is the address.
const OPERATIONS: [(&str, EventKind, Target); 4] = [
    ("Read", EventKind::Read, Target::Access),
    ("Write", EventKind::Write, Target::Access),
    ("ACQ", EventKind::Acquire, Target::Lock),
    ("REL", EventKind::Release, Target::Lock),
];

/// Those whose target is the thread behind the words.
const OF_THREADS: [(&str, EventKind); 2] =
    [("Thread Create", EventKind::Fork), ("Join", EventKind::Join)];

/// The fields of a line.
struct Fields<'l> {
    thread: Part<'l>,
    operation: Part<'l>,
    address: Part<'l>,
    /// What follows the address.
    place: Part<'l>,
}

fn fields(line: &[u8]) -> Option<Fields<'_>> {
    let digits = line.strip_prefix(b"Thread ")?;
    let colon = memchr::memchr(b':', digits)?;
    let thread = (&digits[..colon], 7);
    let rest = trimmed((&digits[colon + 1..], 7 + colon + 1));
    let (text, column) = (rest.0.strip_prefix(b"|")?, rest.1 + 1);
    let first = memchr::memchr(b'|', text)?;
    let second = first + 1 + memchr::memchr(b'|', &text[first + 1..])?;
    let is_number = !thread.0.is_empty() && thread.0.iter().all(u8::is_ascii_digit);
    is_number.then_some(Fields {
        thread,
        operation: trimmed((&text[..first], column)),
        address: trimmed((&text[first + 1..second], column + first + 1)),
        place: trimmed((&text[second + 1..], column + second + 1)),
    })
}

/// Returns whether a line is one of such a log.
pub(crate) fn looks_like_tsan_log(line: &[u8]) -> bool {
    fields(line).is_some()
}

/// Returns the position `file:line` of `at line 13 in file /src/a.cpp`.
fn position((text, column): Part<'_>) -> Option<(Vec<u8>, usize)> {
    let rest = text.strip_prefix(b"at line ")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let file = rest[digits..].strip_prefix(b" in file ")?;
    (digits > 0 && !file.is_empty()).then(|| ([file, b":", &rest[..digits]].concat(), column))
}

/// Returns the number of `(Thread 1)` behind a word.
fn other_thread(operation: Part<'_>, word: &str) -> Option<Vec<u8>> {
    let number = operation.0.strip_prefix(word.as_bytes())?.trim_ascii();
    let number = number.strip_prefix(b"(Thread ")?.strip_suffix(b")")?;
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    is_number.then(|| number.to_vec())
}

impl Dialect for TsanLog {
    const FORMAT: &'static str = "tsan-log";

    fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError> {
        let Some(Fields { thread, operation, address, place }) = fields(line) else {
            let expected = "expected `Thread N: |operation|address|` and a place";
            return Err(Fault::new(0, expected).into());
        };
        let known = position(place);
        let site = known.as_ref().map_or(NOTHING, |(text, column)| (text.as_slice(), *column));
        for (word, kind) in OF_THREADS {
            if let Some(other) = other_thread(operation, word) {
                let operation = (kind.into(), Target::Thread);
                out.event(thread, operation, (&other, address.1), site)?;
                return Ok(());
            }
        }
        let known = OPERATIONS.iter().find(|(word, ..)| word.as_bytes() == operation.0);
        let Some((_, kind, target)) = known else {
            return out.unknown(thread, operation, site);
        };
        if address.0.is_empty() {
            return Err(Fault::new(address.1, "expected an address").into());
        }
        out.event(thread, ((*kind).into(), *target), address, site)?;
        Ok(())
    }
}
