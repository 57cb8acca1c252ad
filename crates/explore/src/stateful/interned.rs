//! Sets that many states share, each stored once.

use anyorder_common::bits::Rows;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Open addressing over the rows: an index plus one, 0 for a free slot.
#[derive(Debug)]
pub(crate) struct Interned {
    pub(crate) rows: Rows,
    slots: Vec<u32>,
}

impl Default for Interned {
    fn default() -> Interned {
        Interned { rows: Rows::default(), slots: vec![0; 64] }
    }
}

impl Interned {
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.bytes() + self.slots.len() as u64 * 4
    }

    fn place(&self, row: &[u64]) -> (usize, Option<u32>) {
        let mut hasher = FxHasher::default();
        row.hash(&mut hasher);
        let mask = self.slots.len() - 1;
        let mut slot = (hasher.finish() >> 20) as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return (slot, None),
                index if self.rows.row(index - 1) == row => return (slot, Some(index - 1)),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    pub(crate) fn find(&self, row: &[u64]) -> Option<u32> {
        self.place(row).1
    }

    pub(crate) fn intern(&mut self, row: &[u64]) -> u32 {
        let (slot, known) = self.place(row);
        if let Some(index) = known {
            return index;
        }
        let index = self.rows.push(Some(row));
        self.slots[slot] = index + 1;
        if self.rows.len() * 2 > self.slots.len() {
            self.rebuild(self.slots.len() * 2);
        }
        index
    }

    fn rebuild(&mut self, slots: usize) {
        self.slots = vec![0; slots];
        for index in 0..self.rows.len() as u32 {
            let (slot, _) = self.place(self.rows.row(index));
            self.slots[slot] = index + 1;
        }
    }

    pub(crate) fn widen(&mut self, width: usize) {
        self.rows.widen(width);
        self.rebuild(self.slots.len());
    }
}
