//! A writer of recordings, from the page of the format.

use anyorder_native::recording::{CHUNK_BYTES, Event, Recording, kind, words};
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
        while of_threads.iter().any(|list| !list.is_empty()) {
            for list in &mut of_threads {
                if !list.is_empty() {
                    chunks.push(list.remove(0));
                }
            }
        }
        let mut bytes = vec![0; CHUNK_BYTES];
        bytes[..8].copy_from_slice(b"ANYOREC\n");
        let words = [1, CHUNK_BYTES as u32, 100, 1, 0, self.flags];
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
