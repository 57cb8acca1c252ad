//! Reads a recording: `PID-N.rec` with its `PID-N.maps`.
//!
//! Any bytes give a recording or an error. What cannot be read is counted in [`Damage`]. No size in
//! the file is trusted: memory is taken only for bytes that are there.

mod cursor;
mod event;
mod header;
mod modules;

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
    #[error("version {0} of recordings is not known; expected version 1")]
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
    /// The positions of its chunks in the file, in their order.
    chunks: Vec<u32>,
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
    /// Reads a recording of at most `bytes_max` bytes, of which later chunks are left out and
    /// counted as missing. `maps` is the text of its `.maps` file.
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
        let threads = threads(&bytes, &mut damage);
        Ok(Recording { header, threads, modules: Modules::parse(maps), damage, bytes })
    }

    /// Returns the events of a thread, by its position in [`threads`](Self::threads).
    #[must_use]
    pub fn events(&self, thread: usize) -> Cursor<'_> {
        let chunks = self.threads.get(thread).map_or(&[][..], |one| one.chunks.as_slice());
        Cursor::new(&self.bytes, chunks)
    }

    /// Returns the position of a thread in [`threads`](Self::threads).
    #[must_use]
    pub fn position(&self, number: u32) -> Option<usize> {
        self.threads.binary_search_by_key(&number, |thread| thread.number).ok()
    }

    /// Returns the bytes of all events.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Sorts the chunks by thread.
fn threads(bytes: &[u8], damage: &mut Damage) -> Vec<ThreadChunks> {
    let mut found: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for (at, chunk) in (0..).zip(bytes.chunks_exact(CHUNK_BYTES)) {
        let word = |offset: usize| {
            let bytes = chunk.get(offset..offset + 4).and_then(|four| four.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes)
        };
        if word(0) != CHUNK_MAGIC {
            // A chunk that a thread had taken when the process ended has nothing in it yet.
            damage.chunks_unreadable += u64::from(chunk.iter().any(|byte| *byte != 0));
            continue;
        }
        found.entry(word(4)).or_default().push((word(8), at));
    }
    let sorted = |(number, mut chunks): (u32, Vec<(u32, u32)>)| {
        chunks.sort_unstable();
        let last = chunks.last().map_or(0, |last| u64::from(last.0) + 1);
        damage.gaps += last.abs_diff(chunks.len() as u64);
        ThreadChunks { number, chunks: chunks.into_iter().map(|(_, at)| at).collect() }
    };
    found.into_iter().map(sorted).collect()
}
