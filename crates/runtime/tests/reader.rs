//! A small reader of recordings, for these tests alone.

use crate::unpack::{Input, Unpacker};
use std::collections::BTreeMap;
use std::path::Path;

/// An event. Fields that its kind does not have are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    pub(crate) kind: u8,
    pub(crate) arg: u8,
    pub(crate) address: u64,
    pub(crate) place: u32,
    pub(crate) time: u64,
    pub(crate) third: u64,
}

/// The kinds that these tests name.
pub(crate) mod kind {
    pub(crate) const TIME: u8 = 1;
    pub(crate) const CALL: u8 = 2;
    pub(crate) const RETURN: u8 = 3;
    pub(crate) const READ: u8 = 8;
    pub(crate) const WRITE: u8 = 9;
    pub(crate) const ATOMIC_RMW: u8 = 18;
    pub(crate) const ALLOC: u8 = 24;
    pub(crate) const FREE: u8 = 25;
    pub(crate) const LOCK: u8 = 32;
    pub(crate) const UNLOCK: u8 = 33;
    pub(crate) const THREAD_CREATE: u8 = 56;
    pub(crate) const THREAD_BEGIN: u8 = 57;
    pub(crate) const THREAD_END: u8 = 58;
    pub(crate) const THREAD_JOIN: u8 = 59;
    pub(crate) const EXIT: u8 = 88;
    pub(crate) const FAILURE: u8 = 89;
}

const ONE_WORD: [u8; 4] = [2, 3, 4, 128];
const THREE_WORDS: [u8; 15] = [10, 11, 24, 25, 40, 41, 45, 48, 56, 57, 192, 193, 194, 195, 196];
/// All kinds.
pub(crate) const KINDS: [u8; 56] = [
    1, 2, 3, 4, 8, 9, 10, 11, 12, 16, 17, 18, 19, 24, 25, 32, 33, 34, 35, 36, 37, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 56, 57, 58, 59, 60, 61, 64, 65, 72, 73, 74, 80, 81, 88, 89,
    128, 160, 192, 193, 194, 195, 196,
];

fn length(kind: u8) -> usize {
    match kind {
        kind if ONE_WORD.contains(&kind) => 1,
        kind if THREE_WORDS.contains(&kind) => 3,
        _ => 2,
    }
}

/// The words of a chunk, or the bytes that stand for them.
type Piece<'a> = Result<Vec<u64>, &'a [u8]>;

/// A file of a recording.
pub(crate) struct Recording {
    pub(crate) flags: u32,
    pub(crate) chunks: u64,
    /// The chunks that were packed.
    pub(crate) packed: u64,
    pub(crate) threads: u64,
    pub(crate) left_out: u64,
    pub(crate) command: String,
    /// The events of each thread, in their order.
    pub(crate) events: BTreeMap<u32, Vec<Event>>,
}

impl Recording {
    /// Reads a file, and checks all that holds for every recording.
    pub(crate) fn read(path: &Path) -> Recording {
        let bytes = std::fs::read(path).expect("the recording");
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        assert_eq!(&bytes[..8], b"ANYOREC\n");
        assert_eq!((u32_at(8), u32_at(12)), (2, 65_536));
        let end =
            256 + bytes[256..65_536].windows(2).position(|two| two == [0, 0]).expect("an end");
        let mut recording = Recording {
            flags: u32_at(28),
            chunks: u64_at(32),
            packed: 0,
            threads: u64_at(48),
            left_out: u64_at(56),
            command: String::from_utf8_lossy(&bytes[256..end]).replace('\0', " "),
            events: BTreeMap::new(),
        };
        assert!(u64_at(40) > 1_600_000_000_000_000_000, "nanoseconds since 1970");
        // By thread and number: the words of a chunk, or its packed bytes, which count.
        let mut pieces: BTreeMap<(u32, u32), Piece<'_>> = BTreeMap::new();
        for chunk in 1..recording.chunks as usize {
            let start = chunk * 65_536;
            let mut at = start + 64;
            match u32_at(start) {
                0x4b4e_4843 => {
                    let words = (at..start + 65_536).step_by(8).map(u64_at).collect();
                    pieces.entry((u32_at(start + 4), u32_at(start + 8))).or_insert(Ok(words));
                }
                0x4b43_4150 => {
                    while at + 16 <= start + 65_536 && u32_at(at) != 0 {
                        let (length, key) = (u32_at(at) as usize, (u32_at(at + 4), u32_at(at + 8)));
                        if u32_at(at + 12) > 0 {
                            pieces.insert(key, Err(&bytes[at + 16..at + 16 + length]));
                            recording.packed += 1;
                        }
                        at += 16 + length.next_multiple_of(8);
                    }
                }
                magic => assert_eq!(magic, 0x4545_5246, "chunk {chunk}"),
            }
        }
        let mut threads: BTreeMap<u32, (u32, u64, Unpacker)> = BTreeMap::new();
        for ((thread, number), piece) in pieces {
            let new = || (0, 0, Unpacker::new());
            let (expected, time, unpacker) = threads.entry(thread).or_insert_with(new);
            assert_eq!(number, *expected, "chunks of thread {thread}");
            *expected += 1;
            let words = piece.unwrap_or_else(|packed| {
                let (mut words, mut rest) = (Vec::new(), Input(packed));
                unpacker.begin(8184);
                let mut next = || unpacker.next(&mut rest, |kind| Some(length(kind)));
                while let Some(event) = next().expect("a piece that is right") {
                    let all = [event.first, event.second, event.third];
                    words.extend(&all[..event.length]);
                }
                words
            });
            recording.read_words(thread, &words, time);
        }
        recording
    }

    fn read_words(&mut self, thread: u32, words: &[u64], time: &mut u64) {
        let events = self.events.entry(thread).or_default();
        let mut at = 0;
        while at < words.len() && words[at] != 0 {
            let first = words[at];
            let kind = (first >> 48) as u8;
            assert!(kind != 0 && KINDS.contains(&kind), "thread {thread}: {first:#x} at {at}");
            let length = length(kind);
            let second = if length > 1 { words[at + 1] } else { 0 };
            let now = match kind {
                kind::TIME => second,
                _ if length > 1 => *time >> 32 << 32 | second >> 32,
                _ => *time,
            };
            assert!(now >= *time, "thread {thread}: time runs back at {at}, kind {kind}");
            *time = now;
            events.push(Event {
                thread,
                kind,
                arg: (first >> 56) as u8,
                address: first & ((1 << 48) - 1),
                place: second as u32,
                time: now,
                third: if length > 2 { words[at + 2] } else { 0 },
            });
            at += length;
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Event> {
        self.events.values().flatten()
    }

    pub(crate) fn count(&self, kind: u8) -> usize {
        self.all().filter(|event| event.kind == kind).count()
    }
}
