//! Whole states: a table of fingerprints that compares the states at every match.

use crate::store::arena::Arena;
use crate::store::table::FingerprintTable;
use std::collections::BTreeMap;

/// Whole states by their numbers. A state with the fingerprint of another state is stored aside, so
/// that bad fingerprints cost only time.
#[derive(Debug)]
pub(crate) struct Exact {
    pub(crate) table: FingerprintTable,
    pub(crate) arena: Arena,
    /// States that share their fingerprint with an earlier one.
    pub(crate) aside: BTreeMap<Box<[u8]>, u32>,
    aside_bytes: u64,
}

impl Exact {
    pub(crate) fn new() -> Exact {
        Exact {
            table: FingerprintTable::new(),
            arena: Arena::default(),
            aside: BTreeMap::new(),
            aside_bytes: 0,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes() + self.arena.bytes() + self.aside_bytes
    }

    /// Stores a state aside; its encoding is in the arena as well.
    pub(crate) fn set_aside(&mut self, encoding: &[u8], number: u32) {
        // A node of a B-tree is about two thirds full.
        self.aside_bytes += encoding.len() as u64 + 36;
        self.aside.insert(encoding.into(), number);
    }

    /// Returns the number of the state with this encoding, given the state that has its
    /// fingerprint.
    pub(crate) fn find(&self, holder: u32, encoding: &[u8]) -> Option<u32> {
        if self.arena.equals(holder as usize, encoding) {
            return Some(holder);
        }
        self.aside.get(encoding).copied()
    }
}
