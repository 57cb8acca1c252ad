//! The reader.

use super::HEADER;
use crate::consistency::names::Names;
use crate::consistency::proof::{ConsistencyProof, Fact, Link, RefutationStep, Why};
use anyorder_trace::{EventId, TaskId, Trace};
use std::io::{self, BufRead, Read};
use std::str::SplitAsciiWhitespace;

/// The greatest length of a line, in bytes.
const LINE_BYTES_MAX: usize = 1 << 26;

/// The most characters of a word that an error quotes.
const QUOTED_MAX: usize = 80;

/// Why the text of a proof cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadProofError {
    /// The file system or pipe failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line breaks the format, or names something outside the trace.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1; at the end of the input, the line that would follow.
        line: u64,
        /// The expected text, and the text found.
        message: String,
    },
}

/// Reads the text of a proof about a trace. It does not check the proof.
///
/// O(events + bytes). Memory is allocated for the names of the trace and for the data read, not for
/// announced sizes.
///
/// # Errors
///
/// Fails when the input fails, and at the first line that breaks the format or names something that
/// the trace does not have.
pub fn read_proof(input: impl BufRead, trace: &Trace) -> Result<ConsistencyProof, ReadProofError> {
    let mut reader = Reader {
        names: Names::new(trace),
        proof: ConsistencyProof::default(),
        headed: false,
        links_missing: 0,
    };
    let mut lines = Lines { input, number: 0, bytes: Vec::new() };
    while lines.next()? {
        let result = match std::str::from_utf8(&lines.bytes) {
            Ok(text) => reader.line(text),
            Err(_) => Err("expected text in UTF-8".to_owned()),
        };
        result.map_err(|message| lines.wrong(message))?;
    }
    if !reader.headed {
        return Err(lines.wrong(format!("expected `{HEADER}`, found the end")));
    }
    if reader.links_missing > 0 {
        let message = format!("expected {} more links, found the end", reader.links_missing);
        return Err(lines.wrong(message));
    }
    Ok(reader.proof)
}

/// The lines other than blank ones and comments, one at a time.
struct Lines<R> {
    input: R,
    /// The number of the current line, from 1.
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Goes to the next line that is neither blank nor a comment. Returns false at the end.
    fn next(&mut self) -> Result<bool, ReadProofError> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let mut input = (&mut self.input).take(LINE_BYTES_MAX as u64 + 1);
            if input.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(false);
            }
            if self.bytes.len() > LINE_BYTES_MAX {
                let message = format!("expected a line of at most {LINE_BYTES_MAX} bytes");
                return Err(self.wrong(message));
            }
            let first = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            if !matches!(first, None | Some(b'#')) {
                return Ok(true);
            }
        }
    }

    fn wrong(&self, message: String) -> ReadProofError {
        ReadProofError::Line { line: self.number, message }
    }
}

/// The steps read so far. Errors are the messages of the current line.
struct Reader<'t> {
    names: Names<'t>,
    proof: ConsistencyProof,
    headed: bool,
    /// The links that the last step, a cycle, still needs.
    links_missing: u64,
}

type Parts<'l> = SplitAsciiWhitespace<'l>;

impl Reader<'_> {
    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut parts = text.split_ascii_whitespace();
        if !self.headed {
            let mut wanted = HEADER.split(' ');
            self.headed = wanted.all(|word| parts.next() == Some(word));
            let found = quoted(Some(text.trim_ascii()));
            return if self.headed && parts.next().is_none() {
                Ok(())
            } else {
                Err(format!("expected `{HEADER}`, found {found}"))
            };
        }
        if self.links_missing > 0 {
            let link = self.link(&mut parts)?;
            end(&mut parts)?;
            if let Some(RefutationStep::Cycle(links)) = self.proof.steps.last_mut() {
                links.push(link);
            }
            self.links_missing -= 1;
            return Ok(());
        }
        let step = self.step(&mut parts)?;
        end(&mut parts)?;
        self.proof.steps.push(step);
        Ok(())
    }

    fn step(&mut self, parts: &mut Parts<'_>) -> Result<RefutationStep, String> {
        match parts.next() {
            Some("cycle") => {
                let count = parts.next();
                let links = count.and_then(|count| count.parse().ok());
                self.links_missing = links.ok_or_else(|| {
                    format!("expected a number of links, found {}", quoted(count))
                })?;
                Ok(RefutationStep::Cycle(Vec::new()))
            }
            Some("reads") => Ok(RefutationStep::ReadsOpen {
                read: self.event(parts)?,
                other: self.event(parts)?,
            }),
            Some("derived") => Ok(RefutationStep::Derived(self.clause(parts)?)),
            Some("forget") => Ok(RefutationStep::Forget(self.clause(parts)?)),
            other => Err(format!(
                "expected `cycle`, `reads`, `derived` or `forget`, found {}",
                quoted(other)
            )),
        }
    }

    fn link(&self, parts: &mut Parts<'_>) -> Result<Link, String> {
        let (from, to) = (self.event(parts)?, self.event(parts)?);
        let why = match parts.next() {
            Some("program") => Why::Program,
            Some("reads-from") => Why::ReadsFrom,
            Some("coherence") => Why::Coherence,
            Some("from-reads") => Why::FromReads,
            Some("posted-by") => Why::PostedBy,
            Some("fork") => Why::Fork,
            Some("join") => Why::Join,
            word => match self.fact(word, parts)? {
                Some(fact) => Why::Decided(fact),
                None => {
                    let found = quoted(word);
                    return Err(format!("expected a relation or a fact, found {found}"));
                }
            },
        };
        Ok(Link { from, to, why })
    }

    fn clause(&self, parts: &mut Parts<'_>) -> Result<Vec<Fact>, String> {
        let mut facts = Vec::new();
        while let Some(word) = parts.next() {
            let fact = self.fact(Some(word), parts)?;
            let wrong = || format!("expected `runs` or `before`, found {}", quoted(Some(word)));
            facts.push(fact.ok_or_else(wrong)?);
        }
        Ok(facts)
    }

    /// Reads the rest of a fact that begins with a word; `None` when no fact begins so.
    fn fact(&self, word: Option<&str>, parts: &mut Parts<'_>) -> Result<Option<Fact>, String> {
        Ok(match word {
            Some("runs") => {
                let (first, second) = (self.task(parts)?, self.task(parts)?);
                Some(Fact::Runs { first, second })
            }
            Some("before") => {
                let (first, second) = (self.event(parts)?, self.event(parts)?);
                Some(Fact::Before { first, second })
            }
            _ => None,
        })
    }

    fn event(&self, parts: &mut Parts<'_>) -> Result<EventId, String> {
        let name = parts.next();
        name.and_then(|name| self.names.find_event(name))
            .ok_or_else(|| format!("expected an event of the trace, found {}", quoted(name)))
    }

    fn task(&self, parts: &mut Parts<'_>) -> Result<TaskId, String> {
        let name = parts.next();
        name.and_then(|name| self.names.find_task(name))
            .ok_or_else(|| format!("expected a message of the trace, found {}", quoted(name)))
    }
}

fn end(parts: &mut Parts<'_>) -> Result<(), String> {
    match parts.next() {
        None => Ok(()),
        found => Err(format!("expected the end of the line, found {}", quoted(found))),
    }
}

/// A word as quoted in an error: cut, and without control characters.
fn quoted(word: Option<&str>) -> String {
    let Some(word) = word else { return "the end of the line".to_owned() };
    let mut shown: String = word.chars().take(QUOTED_MAX).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    format!("`{}`", shown.escape_debug())
}
