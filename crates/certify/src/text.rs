//! What the texts of all certificates share: lines, words, and errors that name the line.

use crate::names::Names;
use anyorder_trace::{EventId, TaskId};
use std::io::{self, BufRead, Read};
use std::str::SplitAsciiWhitespace;

/// The greatest length of a line, in bytes.
const LINE_BYTES_MAX: usize = 1 << 26;

/// The most characters of a word that an error quotes.
const QUOTED_MAX: usize = 80;

/// Why the text of a certificate cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadProofError {
    /// The file system or pipe failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line breaks the format.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1; at the end of the input, the line that would follow.
        line: u64,
        /// The expected text, and the text found.
        message: String,
    },
    /// A line has the format, and names something that the trace does not have.
    #[error("line {line}: {message}")]
    Name {
        /// The line, from 1.
        line: u64,
        /// The expected name, and the name found.
        message: String,
    },
}

/// The mistake in a line.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// It breaks the format.
    Form(String),
    /// It names something that the trace does not have.
    Name(String),
}

impl From<String> for Mistake {
    fn from(message: String) -> Mistake {
        Mistake::Form(message)
    }
}

/// The lines other than blank ones and comments, one at a time.
pub(crate) struct Lines<R> {
    input: R,
    /// The number of the current line, from 1.
    pub(crate) number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, bytes: Vec::new() }
    }

    /// Goes to the next line that is neither blank nor a comment; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, ReadProofError> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let mut input = (&mut self.input).take(LINE_BYTES_MAX as u64 + 1);
            if input.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            if self.bytes.len() > LINE_BYTES_MAX {
                let message = format!("expected a line of at most {LINE_BYTES_MAX} bytes");
                return Err(self.wrong(message.into()));
            }
            let first = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            if !matches!(first, None | Some(b'#')) {
                break;
            }
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(ReadProofError::Line {
                line: self.number,
                message: "expected text in UTF-8".to_owned(),
            }),
        }
    }

    pub(crate) fn wrong(&self, mistake: Mistake) -> ReadProofError {
        let line = self.number;
        match mistake {
            Mistake::Form(message) => ReadProofError::Line { line, message },
            Mistake::Name(message) => ReadProofError::Name { line, message },
        }
    }
}

/// The words of a line.
pub(crate) type Words<'l> = SplitAsciiWhitespace<'l>;

/// Checks the first line of a format.
pub(crate) fn header(text: &str, wanted: &str) -> Result<(), String> {
    let mut parts = text.split_ascii_whitespace();
    let fits = wanted.split(' ').all(|word| parts.next() == Some(word));
    if fits && parts.next().is_none() {
        return Ok(());
    }
    Err(format!("expected `{wanted}`, found {}", quoted(Some(text.trim_ascii()))))
}

pub(crate) fn event(names: &Names<'_>, parts: &mut Words<'_>) -> Result<EventId, Mistake> {
    let name = parts.next();
    let wrong = format!("expected an event of the trace, found {}", quoted(name));
    let Some(name) = name else { return Err(Mistake::Form(wrong)) };
    names.find_event(name).ok_or(Mistake::Name(wrong))
}

pub(crate) fn task(names: &Names<'_>, parts: &mut Words<'_>) -> Result<TaskId, Mistake> {
    let name = parts.next();
    let wrong = format!("expected a message of the trace, found {}", quoted(name));
    let Some(name) = name else { return Err(Mistake::Form(wrong)) };
    names.find_task(name).ok_or(Mistake::Name(wrong))
}

/// Reads a number: digits only.
pub(crate) fn number(word: Option<&str>, what: &str) -> Result<u64, String> {
    let digits = word.filter(|word| is_plain_number(word));
    let number = digits.and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("expected {what}, found {}", quoted(word)))
}

/// Whether a word is a number in its one form: decimal digits without leading zeros.
pub(crate) fn is_plain_number(word: &str) -> bool {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    digits && (word == "0" || !word.starts_with('0'))
}

pub(crate) fn end(parts: &mut Words<'_>) -> Result<(), String> {
    match parts.next() {
        None => Ok(()),
        found => Err(format!("expected the end of the line, found {}", quoted(found))),
    }
}

/// A word as quoted in an error: cut, and without control characters.
pub(crate) fn quoted(word: Option<&str>) -> String {
    let Some(word) = word else { return "the end of the line".to_owned() };
    let mut shown: String = word.chars().take(QUOTED_MAX).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    format!("`{}`", shown.escape_debug())
}
