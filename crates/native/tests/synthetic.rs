//! A writer of recordings, from the page of the format.

use crate::packed::{new_packer, packed};
use anyorder_native::recording::{CHUNK_BYTES, CHUNK_HEADER_BYTES, Event, Recording, kind, words};
use std::collections::BTreeMap;

/// The maps of a program of one module.
pub(crate) const MAPS: &str = "# maps\n\
    555500000000-555500001000 r--p 00000000 08:01 7 /none/prog\n\
    555500001000-555500009000 r-xp 00001000 08:01 7 /none/prog\n";

/// A place in that program, as the low half of a code address.
pub(crate) fn pc(line: u32) -> u32 {
    0x1001 + line
}

/// The events of each thread, by its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    threads: BTreeMap<u32, Vec<Event>>,
    pub(crate) flags: u32,
    /// Whether chunks are packed, and every third one stays as it is.
    pub(crate) packs: bool,
}

impl Writer {
    pub(crate) fn push(&mut self, thread: u32, event: Event) {
        self.threads.entry(thread).or_default().push(event);
    }

    /// Returns the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut chunks = Vec::new();
        // Chunks of different threads lie between each other.
        let mut of_threads: Vec<Vec<[u8; CHUNK_BYTES]>> =
            self.threads.iter().map(|(number, events)| chunks_of(*number, events)).collect();
        if self.packs {
            chunks = packed_of(&mut of_threads);
        }
        while of_threads.iter().any(|list| !list.is_empty()) {
            for list in &mut of_threads {
                if !list.is_empty() {
                    chunks.push(list.remove(0));
                }
            }
        }
        let mut bytes = vec![0; CHUNK_BYTES];
        bytes[..8].copy_from_slice(b"ANYOREC\n");
        let words = [1 + u32::from(self.packs), CHUNK_BYTES as u32, 100, 1, 0, self.flags];
        for (at, word) in words.into_iter().enumerate() {
            bytes[8 + 4 * at..12 + 4 * at].copy_from_slice(&word.to_le_bytes());
        }
        let longs = [chunks.len() as u64 + 1, 5, self.threads.len() as u64, 0];
        for (at, long) in longs.into_iter().enumerate() {
            bytes[32 + 8 * at..40 + 8 * at].copy_from_slice(&long.to_le_bytes());
        }
        bytes[256..269].copy_from_slice(b"./prog\0-n\x001\0\0");
        chunks.iter().for_each(|chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    /// Returns the file as it is read.
    pub(crate) fn recording(&self) -> Recording {
        let bytes = self.bytes();
        Recording::read(&bytes[..], MAPS.as_bytes(), u64::MAX).expect("a recording")
    }
}

fn chunks_of(thread: u32, events: &[Event]) -> Vec<[u8; CHUNK_BYTES]> {
    let mut chunks: Vec<[u8; CHUNK_BYTES]> = Vec::new();
    let (mut at, mut high) = (CHUNK_BYTES, None);
    for event in events {
        let mut list = Vec::new();
        if words(event.kind) != Some(1) && high != Some(event.time >> 32) {
            high = Some(event.time >> 32);
            list.push(vec![u64::from(kind::TIME) << 48, event.time]);
        }
        let first = event.address | u64::from(event.kind) << 48 | u64::from(event.arg) << 56;
        let second = u64::from(event.pc) | (event.time & 0xffff_ffff) << 32;
        let length = words(event.kind).unwrap_or(2);
        list.push([first, second, event.third][..length].to_vec());
        for words in list {
            if at + 8 * words.len() > CHUNK_BYTES {
                let mut chunk = [0; CHUNK_BYTES];
                let header = [0x4b4e_4843, thread, chunks.len() as u32];
                for (index, word) in header.into_iter().enumerate() {
                    chunk[4 * index..4 * index + 4].copy_from_slice(&word.to_le_bytes());
                }
                chunks.push(chunk);
                at = 64;
            }
            let chunk = chunks.last_mut().expect("one was added");
            for word in words {
                chunk[at..at + 8].copy_from_slice(&word.to_le_bytes());
                at += 8;
            }
        }
    }
    chunks
}

/// Takes the chunks of the threads that become packed ones. A chunk whose events were packed is
/// there, too, if the process ended at that moment.
fn packed_of(of_threads: &mut [Vec<[u8; CHUNK_BYTES]>]) -> Vec<[u8; CHUNK_BYTES]> {
    let mut all: Vec<[u8; CHUNK_BYTES]> = Vec::new();
    let mut at = CHUNK_BYTES;
    for (thread, chunks) in of_threads.iter_mut().enumerate() {
        let mut packer = new_packer();
        let mut stay = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let words = chunk[CHUNK_HEADER_BYTES..].as_chunks().0.iter();
            let words: Vec<u64> = words.map(|eight| u64::from_le_bytes(*eight)).collect();
            let end = end_of_events(&words);
            let packed = packed(&mut packer, &words[..end]).filter(|_| (thread + number) % 3 > 0);
            let Some(bytes) = packed else {
                packer = new_packer();
                stay.push(*chunk);
                continue;
            };
            if number + 1 == chunks.len() {
                stay.push(*chunk);
            }
            if at + 16 + bytes.len() > CHUNK_BYTES {
                all.push([0; CHUNK_BYTES]);
                at = CHUNK_HEADER_BYTES;
                all.last_mut().expect("a chunk")[..4].copy_from_slice(b"PACK");
            }
            let page = all.last_mut().expect("a chunk");
            let [_, _, _, _, owner @ .., _, _, _, _] = chunk.first_chunk::<12>().expect("a header");
            page[at..at + 4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            page[at + 4..at + 8].copy_from_slice(owner);
            page[at + 8..at + 12].copy_from_slice(&(number as u32).to_le_bytes());
            page[at + 12..at + 16].copy_from_slice(&(end as u32).to_le_bytes());
            page[at + 16..at + 16 + bytes.len()].copy_from_slice(&bytes);
            at += 16 + bytes.len().next_multiple_of(8);
        }
        *chunks = stay;
    }
    all
}

/// Returns the number of words of events.
fn end_of_events(all: &[u64]) -> usize {
    let mut at = 0;
    while at < all.len() && all[at] != 0 {
        at += words((all[at] >> 48) as u8).expect("a length");
    }
    at
}
