//! Reads the events of one thread, chunk by chunk.

use super::event::{Event, kind, words};
use super::{CHUNK_BYTES, CHUNK_HEADER_BYTES};

/// The words of a chunk.
const WORDS: usize = CHUNK_BYTES / 8;

/// The events of one thread, in their order.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    chunks: &'a [u32],
    /// The next word of the first chunk of `chunks`.
    word: usize,
    /// The whole time that was written last.
    base: u64,
    /// The time of the last event.
    last: u64,
    /// Events of kinds without a length: what follows them in their chunk is not read.
    unreadable: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], chunks: &'a [u32]) -> Cursor<'a> {
        let word = CHUNK_HEADER_BYTES / 8;
        Cursor { bytes, chunks, word, base: 0, last: 0, unreadable: 0 }
    }

    /// Returns the events so far of kinds whose length is not known. The rest of their chunks is
    /// not read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns a word of the current chunk; 0 after its end.
    fn at(&self, word: usize) -> u64 {
        let Some(chunk) = self.chunks.first() else { return 0 };
        if word >= WORDS {
            return 0;
        }
        let start = *chunk as usize * CHUNK_BYTES + word * 8;
        let eight = self.bytes.get(start..start + 8).and_then(|eight| eight.try_into().ok());
        eight.map_or(0, u64::from_le_bytes)
    }

    fn next_chunk(&mut self) {
        self.chunks = self.chunks.get(1..).unwrap_or_default();
        self.word = CHUNK_HEADER_BYTES / 8;
    }

    /// Completes a time. The low half may have passed zero since the whole time was written.
    fn time(&mut self, low: u64) -> u64 {
        const HALF: u64 = 1 << 31;
        let mut time = (self.base & !u64::from(u32::MAX)) | low;
        if time.saturating_add(HALF) < self.last {
            time = time.saturating_add(2 * HALF);
        }
        self.last = self.last.max(time);
        self.last
    }
}

impl Iterator for Cursor<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if self.chunks.is_empty() {
                return None;
            }
            let first = self.at(self.word);
            if first == 0 {
                self.next_chunk();
                continue;
            }
            let code = (first >> 48) as u8;
            let Some(length) = words(code).filter(|length| self.word + length <= WORDS) else {
                self.unreadable += 1;
                self.next_chunk();
                continue;
            };
            let second = if length > 1 { self.at(self.word + 1) } else { 0 };
            let third = if length > 2 { self.at(self.word + 2) } else { 0 };
            self.word += length;
            if code == kind::TIME {
                self.base = second;
                self.last = self.last.max(second);
                continue;
            }
            return Some(Event {
                kind: code,
                arg: (first >> 56) as u8,
                address: first & ((1 << 48) - 1),
                pc: if length > 1 { second as u32 } else { 0 },
                time: if length > 1 { self.time(second >> 32) } else { self.last },
                third,
            });
        }
    }
}
