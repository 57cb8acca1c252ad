//! Shadow state: for each object, the accesses that a later one may still have to be compared with.
//!
//! A record stands for an access, and for all accesses that it *covers*: those that are ordered before it, conflict with no
//! more than it does, and whose critical sections tell a later access nothing that its own do not. Without races
//! and with one lock an object has one record; a race or a set of readers makes them more, one for each thread,
//! class and hold set at the most.

use crate::class::Class;
use crate::report::Side;
use anyorder_order::ChainId;
use anyorder_trace::SiteId;

/// An access that is remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// The epoch: the slot above, the lane's own count below.
    pub(crate) epoch: u64,
    pub(crate) event: u64,
    pub(crate) site: SiteId,
    pub(crate) hold: u32,
    pub(crate) class: Class,
    /// Of the newest record of an object: whether nothing raced with it.
    pub(crate) quiet: bool,
}

const _: () = assert!(size_of::<Record>() == 32);
const _: () = assert!(size_of::<Cell>() <= 64);

/// Packs a slot and a count.
#[inline]
pub(crate) const fn epoch(slot: ChainId, now: u32) -> u64 {
    (slot.0 as u64) << 32 | now as u64
}

impl Record {
    /// The record of an object that nobody has accessed.
    pub(crate) const NONE: Record = Record {
        epoch: 0,
        event: u64::MAX,
        site: SiteId::UNKNOWN,
        hold: 0,
        class: Class::READ,
        quiet: false,
    };

    /// Returns the slot.
    #[inline]
    pub(crate) const fn slot(&self) -> ChainId {
        ChainId((self.epoch >> 32) as u32)
    }

    /// Returns the count.
    #[inline]
    pub(crate) const fn count(&self) -> u32 {
        self.epoch as u32
    }

    /// Returns whether there is an access.
    #[inline]
    pub(crate) const fn is_some(&self) -> bool {
        self.count() != 0
    }

    /// Returns the access, for a report.
    pub(crate) const fn side(&self) -> Side {
        Side { event: self.event, site: self.site }
    }
}

/// The shadow state of one object.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The last access.
    pub(crate) newest: Record,
    /// Those before it that it does not cover.
    pub(crate) older: Vec<Record>,
}

impl Cell {
    /// An object that nobody has accessed.
    pub(crate) const NEW: Cell = Cell { newest: Record::NONE, older: Vec::new() };

    /// Returns all records, the newest first.
    #[inline]
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        std::iter::once(&self.newest).filter(|r| r.is_some()).chain(&self.older)
    }
}
