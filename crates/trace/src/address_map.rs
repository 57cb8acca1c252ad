//! Maps address ranges to locations when memory is freed and allocated again.
//!
//! Each address has a generation: 0 before any allocation covers it. An allocation gives its whole
//! range the highest generation found there plus one. An access belongs to the generation of its
//! first address. So two accesses have different generations exactly if an allocation between them
//! covers the first address of one of them. Use after free keeps the generation; use after reuse
//! does not.

use crate::ids::LocationId;
use crate::interner::TableFull;
use crate::tables::Location;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use std::ops::Bound::{Included, Unbounded};

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: u64,
    size: u32,
    location: LocationId,
}

/// The locations of all address ranges so far.
#[derive(Debug, Default)]
pub struct AddressMap {
    /// The location of each range in its current generation.
    current: HashTable<Entry>,
    hasher: DefaultHashBuilder,
    /// The keys of `current` in order: an allocation removes those that begin inside it.
    ordered: BTreeSet<(u64, u32)>,
    /// First address to last address and generation; disjoint.
    generations: BTreeMap<u64, (u64, u32)>,
    /// The size of the last allocation at exactly this address, truncated to 32 bits.
    allocated: BTreeMap<u64, u32>,
}

impl AddressMap {
    /// Returns the location of an access to a range; a new one is appended to the table.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    #[inline]
    pub fn location(
        &mut self,
        table: &mut Vec<Location>,
        address: u64,
        size: u32,
    ) -> Result<LocationId, TableFull> {
        let hash = self.hasher.hash_one((address, size));
        let same = |entry: &Entry| entry.address == address && entry.size == size;
        match self.current.find(hash, same) {
            Some(entry) => Ok(entry.location),
            None => self.insert(table, address, size),
        }
    }

    #[cold]
    fn insert(
        &mut self,
        table: &mut Vec<Location>,
        address: u64,
        size: u32,
    ) -> Result<LocationId, TableFull> {
        if table.len() >= u32::MAX as usize {
            return Err(TableFull("locations"));
        }
        let generation = self.generation(address);
        let location = LocationId::from_index(table.len());
        table.push(Location::Range { address, size, generation });
        let entry = Entry { address, size, location };
        let hasher = &self.hasher;
        let hash = hasher.hash_one((address, size));
        let rehash = |entry: &Entry| hasher.hash_one((entry.address, entry.size));
        self.current.insert_unique(hash, entry, rehash);
        self.ordered.insert((address, size));
        Ok(location)
    }

    /// Returns the generation of an address: 0 before an allocation covers it.
    #[must_use]
    pub fn generation(&self, address: u64) -> u32 {
        match self.generations.range(..=address).next_back() {
            Some((_, (last, generation))) if *last >= address => *generation,
            _ => 0,
        }
    }

    /// Returns whether the trace has said something of the memory at an address: it was allocated,
    /// or accessed with a size.
    #[must_use]
    pub fn knows(&self, address: u64) -> bool {
        let of_blocks = self.generations.range(..=address).next_back();
        let of_accesses = self.ordered.range(..=(address, u32::MAX)).next_back();
        self.allocated.contains_key(&address)
            || of_blocks.is_some_and(|(_, (last, _))| *last >= address)
            || of_accesses.is_some_and(|(at, size)| at.saturating_add(u64::from(*size)) > address)
    }

    /// Returns whether the trace has given no sizes so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty() && self.allocated.is_empty()
    }

    /// Returns the size of the last allocation at exactly this address, truncated to 32 bits.
    #[must_use]
    pub fn allocated(&self, address: u64) -> Option<u32> {
        self.allocated.get(&address).copied()
    }

    /// Starts a new generation of a range. Costs the logarithm of the number of known ranges, and a
    /// constant for each range and generation that ends.
    pub fn allocate(&mut self, address: u64, size: u64) {
        self.allocate_with_room(address, size, size);
    }

    /// Starts a new generation of a range, and of what lies behind it up to `room` bytes: the
    /// allocator gives out more than it was asked for. Costs as much as
    /// [`allocate`](Self::allocate).
    pub fn allocate_with_room(&mut self, address: u64, size: u64, room: u64) {
        self.allocated.insert(address, u32::try_from(size).unwrap_or(u32::MAX));
        if room == 0 {
            return;
        }
        let last = address.saturating_add(room - 1);
        self.forget(address, last);
        let highest = self.cut_out(address, last);
        self.generations.insert(address, (last, highest.saturating_add(1)));
    }

    /// Forgets all locations, for another table. What was allocated stays known.
    pub fn forget_locations(&mut self) {
        self.current.clear();
        self.ordered.clear();
    }

    /// Removes the locations that begin in a range.
    fn forget(&mut self, first: u64, last: u64) {
        let inside = (first, 0)..=(last, u32::MAX);
        while let Some(&(address, size)) = self.ordered.range(inside.clone()).next() {
            self.ordered.remove(&(address, size));
            let hash = self.hasher.hash_one((address, size));
            let same = |entry: &Entry| entry.address == address && entry.size == size;
            if let Ok(found) = self.current.find_entry(hash, same) {
                found.remove();
            }
        }
    }

    /// Removes a range from the generations. Returns the highest generation in it.
    fn cut_out(&mut self, first: u64, last: u64) -> u32 {
        let mut highest = 0;
        let before = self.generations.range(..first).next_back();
        if let Some((&start, &(end, generation))) = before
            && end >= first
        {
            highest = generation;
            self.generations.insert(start, (first - 1, generation));
            if end > last {
                self.generations.insert(last + 1, (end, generation));
            }
        }
        while let Some((&start, &(end, generation))) =
            self.generations.range((Included(first), Unbounded)).next()
        {
            if start > last {
                break;
            }
            highest = highest.max(generation);
            self.generations.remove(&start);
            if end > last {
                self.generations.insert(last + 1, (end, generation));
            }
        }
        highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random, Rng};

    /// The same by definition: one generation for each address.
    #[test]
    fn generations_equal_those_of_an_array() {
        let mut rng = Rng::new(7);
        let mut random = move |below: u64| rng.below(below);
        for base in [0, u64::MAX - 63] {
            let mut map = AddressMap::default();
            let mut table = Vec::new();
            let mut naive = [0u32; 64];
            for _ in 0..5_000 {
                let address = random(64);
                let size = random(64 - address + 1) as u32;
                if random(4) == 0 {
                    map.allocate(base + address, u64::from(size));
                    let range = &mut naive[address as usize..address as usize + size as usize];
                    let next = range.iter().max().map_or(0, |highest| highest + 1);
                    range.fill(next);
                } else {
                    let location = map.location(&mut table, base + address, size).unwrap();
                    let expect = Location::Range {
                        address: base + address,
                        size,
                        generation: naive[address as usize],
                    };
                    assert_eq!(table[location.index()], expect);
                }
            }
            let mut distinct = table.clone();
            distinct.sort_by_key(|location| format!("{location:?}"));
            distinct.dedup();
            assert_eq!(distinct.len(), table.len(), "each location once");
            assert!(naive.iter().max() > Some(&100));
        }
    }
}
