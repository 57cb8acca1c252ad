//! Reads a recording: `PID-N.rec` with its `PID-N.maps`.
//!
//! Any bytes give a recording or an error. What cannot be read is counted in [`Damage`]. No size in
//! the file is trusted: memory is taken only for bytes that are there.

mod cursor;
mod event;
mod header;
mod modules;
mod unpack;

pub use cursor::Cursor;
pub use event::{Event, kind, words};
pub use header::{Clock, Header};
pub use modules::{Module, Modules};

use std::collections::BTreeMap;
use std::io::{self, Read};

/// The bytes of a chunk.
pub const CHUNK_BYTES: usize = 1 << 16;

/// The bytes before the first event of a chunk.
pub const CHUNK_HEADER_BYTES: usize = 64;

/// The first word of a chunk.
pub const CHUNK_MAGIC: u32 = 0x4b4e_4843;

/// The first word of a chunk of packed events.
pub const PACKED_MAGIC: u32 = 0x4b43_4150;

/// The first word of a chunk that no thread has.
const FREE_MAGIC: u32 = 0x4545_5246;

/// The bytes before packed events: their size and thread, their number and that of their words.
const PIECE_HEADER_BYTES: usize = 16;

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
pub enum BadRecording {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It does not begin as a recording.
    #[error("expected a recording, which begins with `ANYOREC`")]
    NotARecording,
    /// It has a version that this program does not know.
    #[error("version {0} of recordings is not known; expected version 1 or 2")]
    Version(u32),
    /// Its chunks have another size.
    #[error("chunks of {0} bytes are not known; expected 65,536")]
    ChunkSize(u32),
}

/// What of a recording could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Damage {
    /// Chunks that the header counts and the file does not have.
    pub chunks_missing: u64,
    /// Chunks without the mark of a chunk.
    pub chunks_unreadable: u64,
    /// Gaps in the numbers of one thread's chunks.
    pub gaps: u64,
}

impl Damage {
    /// Returns whether everything could be read.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Damage::default()
    }
}

/// The chunks of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadChunks {
    /// The thread's number in the recording; 0 is the main thread.
    pub number: u32,
    /// Where its events are, in their order.
    pieces: Vec<Piece>,
}

/// Events of a thread that were a chunk once. The least of equal numbers is the one that counts:
/// the chunk is used again when its events have been packed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Piece {
    /// The number of the chunk among those of its thread.
    number: u32,
    is_raw: bool,
    /// The position of the first event.
    at: usize,
    /// The number of bytes; of a chunk those of all its words.
    length: usize,
    /// The most words of events in it.
    words: usize,
}

/// One recorded process image.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The facts about the process.
    pub header: Header,
    /// The threads that wrote at least one chunk, by number.
    pub threads: Vec<ThreadChunks>,
    /// The code that was mapped.
    pub modules: Modules,
    /// What could not be read.
    pub damage: Damage,
    /// The chunks after the header, as they are.
    bytes: Vec<u8>,
}

impl Recording {
    /// Reads a recording of at most `bytes_max` bytes of events, counted as if none was packed. Of
    /// more, later chunks are left out and counted as missing. `maps` is the text of its `.maps`
    /// file.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be read, or do not begin as a recording.
    pub fn read(
        mut from: impl Read,
        maps: &[u8],
        bytes_max: u64,
    ) -> Result<Recording, BadRecording> {
        let mut first = Vec::new();
        from.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut first)?;
        let header = Header::parse(&first)?;
        let mut bytes = Vec::new();
        let chunk = CHUNK_BYTES as u64;
        let wanted = header.chunks.saturating_sub(1).saturating_mul(chunk);
        let most = bytes_max.min(u64::from(u32::MAX) * chunk);
        from.take(wanted.min(most)).read_to_end(&mut bytes)?;
        let whole = bytes.len() / CHUNK_BYTES;
        bytes.truncate(whole * CHUNK_BYTES);
        let chunks_missing = (wanted / chunk).saturating_sub(whole as u64);
        let mut damage = Damage { chunks_missing, ..Damage::default() };
        let threads = threads(&bytes, bytes_max, &mut damage);
        Ok(Recording { header, threads, modules: Modules::parse(maps), damage, bytes })
    }

    /// Returns the events of a thread, by its position in [`threads`](Self::threads).
    #[must_use]
    pub fn events(&self, thread: usize) -> Cursor<'_> {
        let pieces = self.threads.get(thread).map_or(&[][..], |one| one.pieces.as_slice());
        Cursor::new(&self.bytes, pieces)
    }

    /// Returns the position of a thread in [`threads`](Self::threads).
    #[must_use]
    pub fn position(&self, number: u32) -> Option<usize> {
        self.threads.binary_search_by_key(&number, |thread| thread.number).ok()
    }

    /// Returns whether later events are missing: the recording reached its limit of size, or not
    /// all of it was read.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.header.is_cut || self.damage.chunks_missing > 0
    }

    /// Returns the bytes of all events, packed as they are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Returns the number in 4 bytes; 0 behind the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_le_bytes)
}

/// Sorts what is in the chunks by thread.
fn threads(bytes: &[u8], bytes_max: u64, damage: &mut Damage) -> Vec<ThreadChunks> {
    let mut found: BTreeMap<u32, Vec<Piece>> = BTreeMap::new();
    // What the events have when they are unpacked, which costs memory later.
    let mut left = bytes_max;
    for at in (0..bytes.len()).step_by(CHUNK_BYTES) {
        let chunk = bytes.get(at..at + CHUNK_BYTES).unwrap_or_default();
        match word(chunk, 0) {
            CHUNK_MAGIC => {
                let (at, length) = (at + CHUNK_HEADER_BYTES, CHUNK_BYTES - CHUNK_HEADER_BYTES);
                let piece =
                    Piece { number: word(chunk, 8), is_raw: true, at, length, words: length / 8 };
                left = left.saturating_sub(length as u64);
                found.entry(word(chunk, 4)).or_default().push(piece);
            }
            PACKED_MAGIC => packed(chunk, at, &mut left, &mut found, damage),
            FREE_MAGIC => {}
            // A chunk that a thread had taken when the process ended has nothing in it yet.
            _ => damage.chunks_unreadable += u64::from(chunk.iter().any(|byte| *byte != 0)),
        }
    }
    let sorted = |(number, mut pieces): (u32, Vec<Piece>)| {
        pieces.sort_unstable();
        pieces.dedup_by_key(|piece| piece.number);
        let last = pieces.last().map_or(0, |last| u64::from(last.number) + 1);
        damage.gaps += last.abs_diff(pieces.len() as u64);
        ThreadChunks { number, pieces }
    };
    found.into_iter().map(sorted).collect()
}

/// Finds the pieces in a chunk of packed events, which is at `start` of all bytes, as far as `left`
/// has room for their events.
fn packed(
    chunk: &[u8],
    start: usize,
    left: &mut u64,
    found: &mut BTreeMap<u32, Vec<Piece>>,
    damage: &mut Damage,
) {
    let mut at = CHUNK_HEADER_BYTES;
    while at + PIECE_HEADER_BYTES <= CHUNK_BYTES {
        let length = word(chunk, at) as usize;
        let (thread, number, words) =
            (word(chunk, at + 4), word(chunk, at + 8), word(chunk, at + 12));
        if length == 0 {
            break;
        }
        at += PIECE_HEADER_BYTES;
        if length > CHUNK_BYTES - at {
            damage.chunks_unreadable += 1;
            break;
        }
        // The process may have ended before a piece was whole: then its chunk has the events.
        let unpacked = u64::from(words) * 8;
        if unpacked > *left {
            damage.chunks_missing += 1;
            *left = 0;
        } else if words > 0 {
            *left -= unpacked;
            let piece =
                Piece { number, is_raw: false, at: start + at, length, words: words as usize };
            found.entry(thread).or_default().push(piece);
        }
        at += length.next_multiple_of(8);
    }
}
