//! Reads the events of one thread, piece by piece.

use super::event::{Event, kind, words};
use super::unpack::Unpacker;
use super::{CHUNK_BYTES, CHUNK_HEADER_BYTES, Piece};

/// The words of events that a chunk has at the most.
const WORDS: usize = (CHUNK_BYTES - CHUNK_HEADER_BYTES) / 8;

/// The most words that the runtime wants to have before it writes: an event, and a time.
const LONGEST: usize = 8;

/// The events of one thread, in their order.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    /// The pieces after the current one.
    pieces: &'a [Piece],
    /// The words of the current piece.
    words: Vec<u64>,
    /// The next of them.
    word: usize,
    unpacker: Unpacker,
    /// The number of the packed piece that the unpacker can read.
    expected: Option<u32>,
    /// The whole time that was written last.
    base: u64,
    /// The time of the last event.
    last: u64,
    /// Events that cannot be read: what follows them in their piece is not read.
    unreadable: u64,
    /// The words that the last chunk has left.
    room: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], pieces: &'a [Piece]) -> Cursor<'a> {
        Cursor {
            bytes,
            pieces,
            words: Vec::new(),
            word: 0,
            unpacker: Unpacker::new(),
            expected: Some(0),
            base: 0,
            last: 0,
            unreadable: 0,
            room: WORDS,
        }
    }

    /// Returns the events so far that cannot be read, as the length of their kind is not known or
    /// they are packed in a wrong way. The rest of their piece is not read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns whether the last chunk, whose events were all read, had no room for another event:
    /// if the thread went on, its events are missing.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.room < LONGEST
    }

    /// Returns a word of the current piece; 0 after its end.
    fn at(&self, word: usize) -> u64 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// Takes the next piece. Returns whether there is one.
    fn next_piece(&mut self) -> bool {
        self.room = WORDS - self.word.min(WORDS);
        let Some((piece, rest)) = self.pieces.split_first() else { return false };
        self.pieces = rest;
        self.word = 0;
        self.words.clear();
        let bytes = self.bytes.get(piece.at..).unwrap_or_default();
        let bytes = bytes.get(..piece.length).unwrap_or_default();
        let is_read = if piece.is_raw {
            // The packer forgets everything where a chunk stays as it is.
            self.unpacker = Unpacker::new();
            let words = bytes.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight));
            self.words.extend(words.take(WORDS));
            true
        } else {
            self.expected == Some(piece.number)
                && self.unpacker.unpack(bytes, WORDS.min(piece.words), words, &mut self.words)
        };
        self.unreadable += u64::from(!is_read);
        self.expected = if is_read { piece.number.checked_add(1) } else { None };
        true
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
            let first = self.at(self.word);
            if first == 0 {
                if !self.next_piece() {
                    return None;
                }
                continue;
            }
            let code = (first >> 48) as u8;
            let Some(length) = words(code).filter(|length| self.word + length <= self.words.len())
            else {
                self.unreadable += 1;
                self.words.clear();
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
