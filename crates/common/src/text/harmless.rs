//! The last line of defence before a terminal.

use super::escape;
use std::io::{self, Write};

/// Text for a terminal: lets visible characters, line feeds and our own colours through, and
/// escapes whatever else comes. Texts are escaped where they are made; this stream is for those
/// that were forgotten. What follows an incomplete character or sequence completes it; a rest is
/// written when the stream is dropped.
///
/// ```
/// use anyorder_common::text::Harmless;
/// use std::io::Write;
/// let mut out = Vec::new();
/// write!(Harmless::new(&mut out), "\x1b[1mbold\x1b[0m \x1b[2J\u{202e}\n")?;
/// assert_eq!(out, b"\x1b[1mbold\x1b[0m \\u{1b}[2J\\u{202e}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Harmless<W: Write> {
    inner: W,
    /// The beginning of a character or of a sequence.
    pending: Vec<u8>,
}

/// The longest sequence that sets colours.
const SEQUENCE_MAX: usize = 24;

impl<W: Write> Harmless<W> {
    /// Wraps a stream.
    pub fn new(inner: W) -> Harmless<W> {
        Harmless { inner, pending: Vec::new() }
    }

    /// Writes what is certain. Returns the rest, which needs further bytes; none if `last`.
    fn pass<'a>(&mut self, mut bytes: &'a [u8], last: bool) -> io::Result<&'a [u8]> {
        while !bytes.is_empty() {
            let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
            let length = bytes.iter().take_while(|byte| plain(byte)).count();
            let (text, rest) = bytes.split_at(length);
            self.inner.write_all(text)?;
            bytes = rest;
            match next(bytes) {
                Next::Nothing => {}
                Next::Keep(length) => {
                    self.inner.write_all(&bytes[..length])?;
                    bytes = &bytes[length..];
                }
                Next::Escape(length) => {
                    let text = String::from_utf8_lossy(&bytes[..length]);
                    self.inner.write_all(escape(&text).as_bytes())?;
                    bytes = &bytes[length..];
                }
                Next::Incomplete if last => {
                    let text = String::from_utf8_lossy(&bytes[..1]);
                    self.inner.write_all(escape(&text).as_bytes())?;
                    bytes = &bytes[1..];
                }
                Next::Incomplete => return Ok(bytes),
            }
        }
        Ok(bytes)
    }
}

/// What stands at the start of bytes, and its length.
enum Next {
    Nothing,
    Keep(usize),
    Escape(usize),
    Incomplete,
}

fn next(bytes: &[u8]) -> Next {
    match bytes.first() {
        None => Next::Nothing,
        Some(0x1b) => colour(bytes),
        Some(_) => character(bytes),
    }
}

/// Recognises `ESC [ numbers m` with the numbers of weights and of the sixteen colours.
fn colour(bytes: &[u8]) -> Next {
    let Some(second) = bytes.get(1) else { return Next::Incomplete };
    if *second != b'[' {
        return Next::Escape(1);
    }
    let numbers = bytes[2..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    match bytes.get(2 + numbers) {
        _ if numbers > SEQUENCE_MAX => Next::Escape(1),
        None => Next::Incomplete,
        Some(b'm') if is_ours(&bytes[2..2 + numbers]) => Next::Keep(3 + numbers),
        Some(_) => Next::Escape(1),
    }
}

/// Returns whether all numbers are those of weights and colours of the text: no blinking, no
/// hiding, no background.
fn is_ours(numbers: &[u8]) -> bool {
    let numbers = std::str::from_utf8(numbers).unwrap_or_default();
    let known = |number: u8| matches!(number, 0..=4 | 22..=24 | 30..=37 | 39 | 90..=97);
    numbers.split(';').all(|number| number.is_empty() || number.parse().is_ok_and(known))
}

fn character(bytes: &[u8]) -> Next {
    let few = &bytes[..bytes.len().min(4)];
    let (valid, error_length) = match std::str::from_utf8(few) {
        Ok(text) => (text, Some(0)),
        Err(error) => {
            let valid = std::str::from_utf8(&few[..error.valid_up_to()]).unwrap_or_default();
            (valid, error.error_len())
        }
    };
    match (valid.chars().next(), error_length) {
        (Some(c), _) if super::is_hostile(c) => Next::Escape(c.len_utf8()),
        (Some(c), _) => Next::Keep(c.len_utf8()),
        (None, Some(length)) => Next::Escape(length.max(1)),
        (None, None) => Next::Incomplete,
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            self.pending = self.pass(bytes, false)?.to_vec();
        } else {
            let mut all = std::mem::take(&mut self.pending);
            all.extend_from_slice(bytes);
            self.pending = self.pass(&all, false)?.to_vec();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Harmless<W> {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            // Nobody is left to report an error to.
            let _ = self.pass(&rest, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn passed(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut stream = Harmless::new(&mut out);
        pieces.iter().for_each(|piece| stream.write_all(piece).unwrap());
        drop(stream);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn colours_pass_and_other_sequences_do_not() {
        let ours = "\x1b[0m\x1b[1;31mü\x1b[39m\n漢 ✓";
        assert_eq!(passed(&[ours.as_bytes()]), ours);
        for (bad, expected) in [
            ("\x1b[8m", "\\u{1b}[8m"),
            ("\x1b[5;31m", "\\u{1b}[5;31m"),
            ("\x1b[38;5;1m", "\\u{1b}[38;5;1m"),
            ("\x1b]0;x\x07", "\\u{1b}]0;x\\u{7}"),
            ("\r\t\0\x7f\u{9b}", "\\r\\t\\u{0}\\u{7f}\\u{9b}"),
            ("\x1b", "\\u{1b}"),
            ("\x1b[1", "\\u{1b}[1"),
        ] {
            assert_eq!(passed(&[bad.as_bytes()]), expected);
        }
        assert_eq!(passed(&[b"a\xffb\xe2\x80", b""]), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    /// The pieces in which text comes do not matter.
    #[test]
    fn pieces_do_not_matter() {
        let mut random = crate::random::Rng::new(7);
        let parts = ["a", "\n", "\x1b[1m", "\x1b[", "31", "m", "\u{202e}", "漢", "\u{e0041}", ";"];
        for _ in 0..3000 {
            let text: String = (0..random.below(8))
                .map(|_| parts[random.below(parts.len() as u64) as usize])
                .collect();
            let whole = passed(&[text.as_bytes()]);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(passed(&bytes), whole, "{text:?}");
            let ours = |c: char| c == '\n' || c == '\x1b' || !super::super::is_hostile(c);
            assert!(whole.chars().all(ours), "{whole:?}");
            let visible = whole.replace("\x1b[1m", "").replace("\x1b[31m", "");
            assert!(!visible.contains("\x1b[2J"), "{visible:?}");
        }
    }
}
