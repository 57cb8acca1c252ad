//! Loads of a flag that is polled.
//!
//! A thread that waits for an atomic loads it again and again. A load is left out if the last event
//! of its thread in the trace is the same load at the same place, and nobody has written the memory
//! since: it sees what that one saw, and orders nothing that that one does not.

use crate::to_trace::pages::pieces;
use anyorder_trace::Op;
use rustc_hash::FxHashMap;

/// Longer writes count as writes of all memory.
const PIECES_MAX: u64 = 64;

/// A load: its memory, place and kind, and how often the memory had been written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Load {
    address: u64,
    size: u64,
    pc: u32,
    op: Op,
    version: u64,
}

/// What is known of loads and writes.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// By thread: its load, with the number of its events in the trace right after it.
    last: FxHashMap<usize, (Load, u64)>,
    /// By piece of memory with an atomic that was loaded: how often it was written.
    versions: FxHashMap<u64, u64>,
    /// How often all memory counts as written.
    all: u64,
}

impl Polls {
    /// Memory is written, allocated or freed.
    #[inline]
    pub(super) fn write(&mut self, address: u64, size: u64) {
        if self.versions.is_empty() {
            return;
        }
        let (first, last) = pieces(address, size);
        if last - first >= PIECES_MAX {
            self.all += 1;
            return;
        }
        for piece in first..=last {
            if let Some(version) = self.versions.get_mut(&piece) {
                *version += 1;
            }
        }
    }

    /// A thread with so many events in the trace loads an atomic. Returns whether the load is left
    /// out; else it is the next event of its thread.
    pub(super) fn is_again(
        &mut self,
        (lane, events): (usize, u64),
        (address, size): (u64, u64),
        (pc, op): (u32, Op),
    ) -> bool {
        let (first, last) = pieces(address, size);
        let mut version = self.all;
        for piece in first..=last {
            version += *self.versions.entry(piece).or_default();
        }
        let load = Load { address, size, pc, op, version };
        if self.last.get(&lane) == Some(&(load, events)) {
            return true;
        }
        self.last.insert(lane, (load, events + 1));
        false
    }
}
