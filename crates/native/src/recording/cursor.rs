//! Reads the events of one thread, one after the other, as they are unpacked.

use super::event::{Event, kind, words};
use super::unpack::{Input, Unpacker, Words, Wrong};
use super::{CHUNK_BYTES, CHUNK_HEADER_BYTES, Piece};

/// The words of events that a chunk has at the most.
const WORDS: usize = (CHUNK_BYTES - CHUNK_HEADER_BYTES) / 8;

/// The most words that the runtime wants to have before it writes: an event, and a time.
const LONGEST: usize = 8;

/// The number of words by kind; 0 for kinds that have none.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut kind = 0;
    while kind < 256 {
        lengths[kind] = match words(kind as u8) {
            Some(length) => length as u8,
            None => 0,
        };
        kind += 1;
    }
    lengths
};

/// The events of one thread, in their order. Memory: 17 KB where the thread has packed events.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    /// The pieces after the current one.
    pieces: &'a [Piece],
    /// What is left of the current piece.
    rest: Input<'a>,
    is_raw: bool,
    /// `None` before the first packed piece, and before the first one after a chunk that stayed
    /// as it is: then the packer had forgotten everything.
    unpacker: Option<Unpacker>,
    /// The words of the current piece so far.
    used: usize,
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
            rest: Input::default(),
            is_raw: true,
            unpacker: None,
            used: 0,
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

    /// Takes the next piece. Returns whether there is one.
    #[cold]
    fn next_piece(&mut self) -> bool {
        self.room = WORDS - self.used.min(WORDS);
        let Some((piece, rest)) = self.pieces.split_first() else {
            self.unpacker = None;
            return false;
        };
        self.pieces = rest;
        self.used = 0;
        let bytes = self.bytes.get(piece.at..).unwrap_or_default();
        self.rest = Input(bytes.get(..piece.length).unwrap_or_default());
        self.is_raw = piece.is_raw;
        if piece.is_raw {
            self.unpacker = None;
        } else if self.expected == Some(piece.number) {
            let unpacker = self.unpacker.get_or_insert_with(Unpacker::new);
            unpacker.begin(WORDS.min(piece.words));
        } else {
            self.wrong();
            return true;
        }
        self.expected = piece.number.checked_add(1);
        true
    }

    /// Leaves a packed piece that is not right: the next one cannot be unpacked.
    fn wrong(&mut self) {
        self.unreadable += 1;
        self.expected = None;
        // Without bytes, it is a piece without events.
        (self.rest, self.is_raw) = (Input::default(), true);
    }

    /// Takes the next event of a chunk that stayed as it is; `None` at its end.
    #[inline]
    fn raw(&mut self) -> Option<Words> {
        let (all, _) = self.rest.0.as_chunks();
        let word = |at: usize| all.get(at).map_or(0, |eight| u64::from_le_bytes(*eight));
        let first = word(0);
        if first == 0 {
            return None;
        }
        let length = usize::from(LENGTHS[(first >> 48) as u8 as usize]);
        if length == 0 || length > all.len() {
            self.unreadable += 1;
            self.rest = Input::default();
            return None;
        }
        let second = if length > 1 { word(1) } else { 0 };
        let third = if length > 2 { word(2) } else { 0 };
        self.rest.0 = self.rest.0.get(8 * length..).unwrap_or_default();
        Some(Words { first, second, third, length })
    }

    /// Takes the next event of the current piece; `None` at its end.
    #[inline]
    fn words(&mut self) -> Option<Words> {
        if self.is_raw {
            return self.raw();
        }
        let length = |kind| Some(usize::from(LENGTHS[usize::from(kind)]));
        let next = self.unpacker.as_mut()?.next(&mut self.rest, length);
        next.unwrap_or_else(|Wrong| {
            self.wrong();
            None
        })
    }

    /// Completes a time. The low half may have passed zero since the whole time was written.
    #[inline]
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

    #[inline]
    fn next(&mut self) -> Option<Event> {
        loop {
            let Some(Words { first, second, third, length }) = self.words() else {
                if !self.next_piece() {
                    return None;
                }
                continue;
            };
            self.used += length;
            let code = (first >> 48) as u8;
            if code == kind::TIME {
                self.base = second;
                self.last = self.last.max(second);
                continue;
            }
            return Some(Event {
                kind: code,
                arg: (first >> 56) as u8,
                address: first & ((1 << 48) - 1),
                pc: second as u32,
                time: if length > 1 { self.time(second >> 32) } else { self.last },
                third,
            });
        }
    }
}
