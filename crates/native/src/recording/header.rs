//! The first chunk: facts about the process.

use super::{BadRecording, CHUNK_BYTES};
use std::io::Read;

/// Where the command line begins.
const COMMAND_AT: usize = 256;

/// What the times of a recording count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Cycles of the processor's time stamp counter.
    Cycles,
    /// Events: one counter that all threads share.
    Counter,
}

/// The facts about a recorded process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The process.
    pub process: u32,
    /// Its parent.
    pub parent: u32,
    /// What its times count.
    pub clock: Clock,
    /// Whether the limit of size was reached, so that events are missing.
    pub is_cut: bool,
    /// Whether the process ended by `exit`.
    pub has_exited: bool,
    /// Whether it was forked from a recorded parent.
    pub is_fork: bool,
    /// Whether the program used a part of the runtime's interface that is not understood: fibers,
    /// annotations of Java, tags.
    pub has_foreign: bool,
    /// The chunks in use, this one included.
    pub chunks: u64,
    /// The wall clock at the start, in nanoseconds since 1970.
    pub started: u64,
    /// The threads that began.
    pub threads: u64,
    /// The repeated accesses that were left out.
    pub left_out: u64,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl Header {
    /// Reads the first chunk of a recording.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be read, or do not begin as a recording.
    pub fn read(from: impl Read) -> Result<Header, BadRecording> {
        let mut first = Vec::new();
        from.take(CHUNK_BYTES as u64).read_to_end(&mut first)?;
        Header::parse(&first)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Header, BadRecording> {
        if bytes.get(..8) != Some(b"ANYOREC\n") {
            return Err(BadRecording::NotARecording);
        }
        let long = |at: usize| {
            let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
            eight.map_or(0, u64::from_le_bytes)
        };
        let word = |at: usize| long(at) as u32;
        if !(1..=2).contains(&word(8)) {
            return Err(BadRecording::Version(word(8)));
        }
        if word(12) as usize != CHUNK_BYTES {
            return Err(BadRecording::ChunkSize(word(12)));
        }
        let flags = word(28);
        Ok(Header {
            process: word(16),
            parent: word(20),
            clock: if word(24) == 1 { Clock::Counter } else { Clock::Cycles },
            is_cut: flags & 1 != 0,
            has_exited: flags & 2 != 0,
            is_fork: flags & 4 != 0,
            has_foreign: flags & 8 != 0,
            chunks: long(32),
            started: long(40),
            threads: long(48),
            left_out: long(56),
            command: command(bytes.get(COMMAND_AT..).unwrap_or_default()),
        })
    }
}

/// Returns the arguments: each ends with a zero, and the list with another one.
fn command(bytes: &[u8]) -> Vec<String> {
    let end = bytes.windows(2).position(|two| two == [0, 0]).unwrap_or(bytes.len());
    let words = bytes[..end].split(|byte| *byte == 0);
    let mut words: Vec<String> =
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    if words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}
