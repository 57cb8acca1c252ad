//! The store of known states, in three variants.

pub(crate) use arena::Arena;
pub(crate) use bitstate::Bitstate;
pub(crate) use exact::Exact;
pub use table::{FingerprintTable, Key, NUMBERS_MAX};
pub(crate) use table::{POSITIONS_MAX, Visit};

use crate::error::SearchError;
use crate::options::Storage;

mod arena;
mod bitstate;
mod exact;
mod table;

/// The known states.
#[derive(Debug)]
pub(crate) enum Store {
    Fingerprints(FingerprintTable),
    Exact(Exact),
    Bitstate(Bitstate),
}

impl Store {
    /// # Errors
    ///
    /// Fails if the system has no memory for bitstate storage.
    pub(crate) fn new(storage: Storage) -> Result<Store, SearchError> {
        Ok(match storage {
            Storage::Fingerprints => Store::Fingerprints(FingerprintTable::new()),
            Storage::Exact => Store::Exact(Exact::new()),
            Storage::Bitstate { bytes } => {
                Store::Bitstate(Bitstate::new(bytes).ok_or(SearchError::NoMemory { bytes })?)
            }
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Store::Fingerprints(table) => table.bytes(),
            Store::Exact(exact) => exact.bytes(),
            Store::Bitstate(bits) => bits.bytes(),
        }
    }

    /// Returns the bytes that so many states need, independent of when the table grew.
    pub(crate) fn bytes_needed(&self, states: u64) -> u64 {
        match self {
            Store::Fingerprints(_) => FingerprintTable::bytes_needed(states),
            Store::Exact(exact) => {
                exact.bytes() - exact.table.bytes() + FingerprintTable::bytes_needed(states)
            }
            Store::Bitstate(bits) => bits.bytes(),
        }
    }

    /// Ends the decisions of a round: removes bits that positions at or after `cut` set.
    pub(crate) fn settle(&mut self, cut: u32) {
        if let Store::Bitstate(bits) = self {
            bits.settle(cut);
        }
    }

    pub(crate) fn table(&self) -> Option<&FingerprintTable> {
        match self {
            Store::Fingerprints(table) => Some(table),
            Store::Exact(exact) => Some(&exact.table),
            Store::Bitstate(_) => None,
        }
    }

    pub(crate) fn table_mut(&mut self) -> Option<&mut FingerprintTable> {
        match self {
            Store::Fingerprints(table) => Some(table),
            Store::Exact(exact) => Some(&mut exact.table),
            Store::Bitstate(_) => None,
        }
    }
}
