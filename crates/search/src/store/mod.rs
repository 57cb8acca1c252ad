//! What is kept of the states that were seen, in three ways.

pub(crate) use arena::Arena;
pub(crate) use bits::Bits;
pub(crate) use exact::Exact;
pub(crate) use table::{Key, NUMBERS_MAX, POSITIONS_MAX, Table, Visit};

use crate::options::Storage;

mod arena;
mod bits;
mod exact;
mod table;

/// The states that were seen.
#[derive(Debug)]
pub(crate) enum Store {
    Fingerprints(Table),
    Exact(Exact),
    Bits(Bits),
}

impl Store {
    pub(crate) fn new(storage: Storage) -> Store {
        match storage {
            Storage::Fingerprints => Store::Fingerprints(Table::new()),
            Storage::Exact => Store::Exact(Exact::new()),
            Storage::Bitstate { bytes } => Store::Bits(Bits::new(bytes)),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Store::Fingerprints(table) => table.bytes(),
            Store::Exact(exact) => exact.bytes(),
            Store::Bits(bits) => bits.bytes(),
        }
    }

    /// Returns the bytes that so many states need, whenever the table grew.
    pub(crate) fn bytes_needed(&self, states: u64) -> u64 {
        match self {
            Store::Fingerprints(_) => Table::bytes_needed(states),
            Store::Exact(exact) => {
                exact.bytes() - exact.table.bytes() + Table::bytes_needed(states)
            }
            Store::Bits(bits) => bits.bytes(),
        }
    }

    /// Ends the deciding of a round: bits that were set from positions at or after `cut` are taken back.
    pub(crate) fn settle(&mut self, cut: u32) {
        if let Store::Bits(bits) = self {
            bits.settle(cut);
        }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match self {
            Store::Fingerprints(table) => Some(table),
            Store::Exact(exact) => Some(&exact.table),
            Store::Bits(_) => None,
        }
    }

    pub(crate) fn table_mut(&mut self) -> Option<&mut Table> {
        match self {
            Store::Fingerprints(table) => Some(table),
            Store::Exact(exact) => Some(&mut exact.table),
            Store::Bits(_) => None,
        }
    }
}
