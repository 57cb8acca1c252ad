//! What attempts touched, each list kept once.
//!
//! Two steps: the list as a system tells it, with the task (*raw*), is found again by a hash; only
//! a raw list never seen before is sorted, translated to numbers of places and looked up among the
//! *footprints*.

use anyorder_system::{TouchKind, Touched};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// A place that a footprint touches, and whether it writes it: the number of the place times two,
/// plus one for a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Spot(pub(crate) u32);

impl Spot {
    pub(crate) const fn new(place: u32, write: bool) -> Spot {
        Spot(place * 2 + write as u32)
    }

    pub(crate) const fn place(self) -> u32 {
        self.0 / 2
    }

    pub(crate) const fn writes(self) -> bool {
        self.0 % 2 == 1
    }
}

#[derive(Clone, Copy, Debug)]
struct Raw {
    start: u32,
    len: u32,
    task: u32,
    footprint: u32,
}

/// Footprints by their numbers.
#[derive(Debug)]
pub(crate) struct Footprints {
    touched: Vec<Touched>,
    raws: Vec<Raw>,
    /// Open addressing: an index of `raws` plus one, 0 for a free slot.
    slots: Vec<u32>,
    spots: Vec<Spot>,
    ends: Vec<u32>,
    known: FxHashMap<Box<[Spot]>, u32>,
}

impl Footprints {
    pub(crate) fn new() -> Footprints {
        Footprints {
            touched: Vec::new(),
            raws: Vec::new(),
            slots: vec![0; 256],
            spots: Vec::new(),
            ends: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.touched.len() * 16
            + self.raws.len() * 16
            + self.slots.len() * 4
            + self.spots.len() * 8) as u64
    }

    /// Returns the spots of a footprint, sorted, each place once.
    #[inline]
    pub(crate) fn spots(&self, footprint: u32) -> &[Spot] {
        let end = self.ends[footprint as usize] as usize;
        let start =
            footprint.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize);
        &self.spots[start..end]
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

    /// Returns the footprint of a task that tells this list, if it did before.
    #[inline]
    pub(crate) fn find(&self, task: u32, touched: &[Touched]) -> Option<u32> {
        let (_, raw) = self.slot(task, touched);
        raw.map(|raw| self.raws[raw as usize].footprint)
    }

    /// Notes that a task tells this list, new, which means that footprint.
    pub(crate) fn note(&mut self, task: u32, touched: &[Touched], footprint: u32) {
        let (slot, _) = self.slot(task, touched);
        let (start, len) = (self.touched.len() as u32, touched.len() as u32);
        self.touched.extend_from_slice(touched);
        self.raws.push(Raw { start, len, task, footprint });
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

    /// Returns the footprint with these spots, and whether it is new.
    pub(crate) fn intern(&mut self, spots: &[Spot]) -> (u32, bool) {
        if let Some(footprint) = self.known.get(spots) {
            return (*footprint, false);
        }
        let footprint = self.ends.len() as u32;
        self.spots.extend_from_slice(spots);
        self.ends.push(self.spots.len() as u32);
        self.known.insert(spots.into(), footprint);
        (footprint, true)
    }

    /// Returns whether two footprints touch one place that one of them writes. Linear.
    pub(crate) fn conflict(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.spots(a), self.spots(b));
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

/// How touches are understood: whether a silent write is a read, a write, or (by sabotage) nothing.
pub(crate) fn writes(kind: TouchKind, silent: Silent) -> Option<bool> {
    match (kind, silent) {
        (TouchKind::Read, _) => Some(false),
        (TouchKind::Write, _) | (TouchKind::SilentWrite, Silent::Write) => Some(true),
        (TouchKind::SilentWrite, Silent::Read) => Some(false),
        (TouchKind::SilentWrite, Silent::Nothing) => None,
    }
}

/// What a silent write counts as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Silent {
    Read,
    Write,
    Nothing,
}
