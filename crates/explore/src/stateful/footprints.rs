//! The footprints of attempts, each list stored once.
//!
//! The list reported by a system, with its task (*raw*), is found by a hash. Only a new raw list is
//! sorted, translated to numbers of places, and looked up among the *footprints*.

use anyorder_system::Touched;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// An access of a footprint: the number of the place times two, plus one for a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PlaceAccess(pub(crate) u32);

impl PlaceAccess {
    pub(crate) const fn new(place: u32, write: bool) -> PlaceAccess {
        PlaceAccess(place * 2 + write as u32)
    }

    pub(crate) const fn place(self) -> u32 {
        self.0 / 2
    }

    pub(crate) const fn writes(self) -> bool {
        self.0 % 2 == 1
    }
}

#[derive(Clone, Copy, Debug)]
struct RawFootprint {
    start: u32,
    len: u32,
    task: u32,
    footprint: u32,
}

/// Footprints by their numbers.
#[derive(Debug)]
pub(crate) struct Footprints {
    touched: Vec<Touched>,
    raws: Vec<RawFootprint>,
    /// Open addressing: an index of `raws` plus one, 0 for a free slot.
    slots: Vec<u32>,
    accesses: Vec<PlaceAccess>,
    ends: Vec<u32>,
    known: FxHashMap<Box<[PlaceAccess]>, u32>,
}

impl Default for Footprints {
    fn default() -> Footprints {
        Footprints {
            touched: Vec::new(),
            raws: Vec::new(),
            slots: vec![0; 256],
            accesses: Vec::new(),
            ends: Vec::new(),
            known: FxHashMap::default(),
        }
    }
}

impl Footprints {
    pub(crate) fn bytes(&self) -> u64 {
        (self.touched.len() * 16
            + self.raws.len() * 16
            + self.slots.len() * 4
            + self.accesses.len() * 8) as u64
    }

    /// Returns the accesses of a footprint, sorted, each place once.
    #[inline]
    pub(crate) fn accesses(&self, footprint: u32) -> &[PlaceAccess] {
        let end = self.ends[footprint as usize] as usize;
        let start =
            footprint.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize);
        &self.accesses[start..end]
    }

    fn slot(&self, task: u32, touched: &[Touched]) -> (usize, Option<u32>) {
        let mut hasher = FxHasher::default();
        hasher.write_u32(task);
        for one in touched {
            hasher.write_u64(one.place.0.wrapping_mul(4).wrapping_add(one.kind as u64));
        }
        let mask = self.slots.len() - 1;
        let mut slot = (hasher.finish() >> 16) as usize & mask;
        loop {
            let index = self.slots[slot];
            if index == 0 {
                return (slot, None);
            }
            let raw = self.raws[index as usize - 1];
            let same = raw.task == task
                && raw.len as usize == touched.len()
                && self.touched[raw.start as usize..][..raw.len as usize] == *touched;
            if same {
                return (slot, Some(index - 1));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the footprint of a task that reports this list, if it reported the list before.
    #[inline]
    pub(crate) fn find(&self, task: u32, touched: &[Touched]) -> Option<u32> {
        let (_, raw) = self.slot(task, touched);
        raw.map(|raw| self.raws[raw as usize].footprint)
    }

    /// Records that a task reports this new list, with the given footprint.
    pub(crate) fn note(&mut self, task: u32, touched: &[Touched], footprint: u32) {
        let (slot, _) = self.slot(task, touched);
        let (start, len) = (self.touched.len() as u32, touched.len() as u32);
        self.touched.extend_from_slice(touched);
        self.raws.push(RawFootprint { start, len, task, footprint });
        self.slots[slot] = self.raws.len() as u32;
        if self.raws.len() * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            for index in 0..self.raws.len() {
                let raw = self.raws[index];
                let list = &self.touched[raw.start as usize..][..raw.len as usize];
                let (slot, _) = self.slot(raw.task, list);
                self.slots[slot] = index as u32 + 1;
            }
        }
    }

    /// Returns the footprint with these accesses, and whether it is new.
    pub(crate) fn intern(&mut self, accesses: &[PlaceAccess]) -> (u32, bool) {
        if let Some(footprint) = self.known.get(accesses) {
            return (*footprint, false);
        }
        let footprint = self.ends.len() as u32;
        self.accesses.extend_from_slice(accesses);
        self.ends.push(self.accesses.len() as u32);
        self.known.insert(accesses.into(), footprint);
        (footprint, true)
    }

    /// Returns whether two footprints touch a common place that one of them writes. Linear.
    pub(crate) fn conflict(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.accesses(a), self.accesses(b));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            match x.place().cmp(&y.place()) {
                std::cmp::Ordering::Less => a = rest_a,
                std::cmp::Ordering::Greater => b = rest_b,
                std::cmp::Ordering::Equal if x.writes() || y.writes() => return true,
                std::cmp::Ordering::Equal => (a, b) = (rest_a, rest_b),
            }
        }
        false
    }
}
