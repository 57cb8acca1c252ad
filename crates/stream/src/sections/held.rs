//! The locks that a lane holds, in the order of their acquires.
//!
//! **Cost.** A look-up, an acquire and a release take constant time, however many locks are held
//! and whichever is released. Up to [`SHALLOW`] locks are searched in a list. With more, an index
//! finds them, and a lock that is released below others leaves a gap. When half of the list is
//! gaps, they are removed.

use crate::sections::locksets::{Digest, digest};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The most locks that are searched without an index, unless a test changes it.
const SHALLOW: usize = 16;

/// The lock of a gap. No lock has this number.
const GAP: u32 = u32::MAX;

/// A lock that a lane holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    pub(crate) section: u32,
    pub(crate) depth: u32,
}

impl Held {
    /// Returns whether it excludes a section of a lock.
    #[inline]
    pub(crate) const fn excludes(&self, lock: u32, shared: bool) -> bool {
        self.lock == lock && !(self.shared && shared)
    }
}

/// Spreads the numbers of locks, which are dense.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The locks of one lane.
#[derive(Clone, Debug)]
pub(crate) struct HeldLocks {
    /// Invariant: the last one is no gap. A gap has the number of its lock as its depth.
    list: Vec<Held>,
    gaps: usize,
    /// The digest of the locks of the gaps.
    gone: Digest,
    /// No place before this one has a lock.
    front: usize,
    /// No place before this one is a gap.
    first_gap: usize,
    /// The most locks that are searched without an index.
    shallow: usize,
    /// By lock, its place in the list; empty if the list is short.
    places: HashMap<u32, u32, BuildHasherDefault<Spread>>,
}

impl Default for HeldLocks {
    fn default() -> HeldLocks {
        HeldLocks {
            list: Vec::new(),
            gaps: 0,
            gone: 0,
            front: 0,
            first_gap: usize::MAX,
            shallow: SHALLOW,
            places: HashMap::default(),
        }
    }
}

impl HeldLocks {
    /// Creates the empty list, which is searched without an index up to `locks`, at most 16.
    pub(crate) fn index_above(locks: usize) -> HeldLocks {
        HeldLocks { shallow: locks.clamp(1, SHALLOW), ..HeldLocks::default() }
    }

    /// Returns the number of locks.
    #[inline]
    pub(crate) const fn count(&self) -> usize {
        self.list.len() - self.gaps
    }

    /// Returns the number of places, with gaps. A lock keeps its place until one
    /// below it is removed, or the gaps are.
    #[inline]
    pub(crate) const fn places_count(&self) -> usize {
        self.list.len()
    }

    /// Returns the place of a lock.
    #[inline]
    pub(crate) fn place(&self, lock: u32) -> Option<usize> {
        if self.places.is_empty() {
            return self.list.iter().position(|held| held.lock == lock);
        }
        self.places.get(&lock).map(|place| *place as usize)
    }

    /// Returns a lock that is held.
    #[inline]
    pub(crate) fn get(&self, lock: u32) -> Option<&Held> {
        if self.places.is_empty() {
            return self.list.iter().find(|held| held.lock == lock);
        }
        self.place(lock).map(|place| &self.list[place])
    }

    /// Returns the lock at a place.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Held {
        &mut self.list[place]
    }

    /// Returns the lock at a place, if it is no gap.
    #[inline]
    pub(crate) fn get_at(&self, place: usize) -> Option<Held> {
        self.list.get(place).copied().filter(|held| held.lock != GAP)
    }

    /// Returns the locks from a place on, the first acquired first.
    #[inline]
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = &Held> {
        self.list[place..].iter().filter(|held| held.lock != GAP)
    }

    /// Returns the locks with their places, from one on.
    pub(crate) fn placed_from(&self, place: usize) -> impl Iterator<Item = (usize, &Held)> {
        let places = self.list.iter().enumerate().skip(place);
        places.filter(|(_, held)| held.lock != GAP)
    }

    /// Returns the locks, the first acquired first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Held> {
        self.from(0)
    }

    /// Returns whether there are gaps.
    #[inline]
    pub(crate) const fn has_gaps(&self) -> bool {
        self.gaps > 0
    }

    /// Returns a place before which there is no gap.
    #[inline]
    pub(crate) const fn first_gap(&self) -> usize {
        self.first_gap
    }

    /// Returns the digest of the locks of all gaps.
    #[inline]
    pub(crate) const fn gone(&self) -> Digest {
        self.gone
    }

    /// Returns the digest of the locks at the places in a range, with those of the gaps.
    pub(crate) fn digest_of(&self, places: std::ops::Range<usize>) -> Digest {
        self.list[places].iter().map(digest_with_gaps).fold(0, Digest::wrapping_add)
    }

    /// Returns the lock that was acquired first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Held> {
        self.list[self.front.min(self.list.len())..].iter().find(|held| held.lock != GAP)
    }

    /// Adds a lock that is not held.
    pub(crate) fn push(&mut self, held: Held) {
        self.list.push(held);
        if !self.places.is_empty() {
            self.places.insert(held.lock, self.list.len() as u32 - 1);
        } else if self.list.len() > self.shallow {
            self.index();
        }
    }

    /// Removes the lock at a place. Returns whether it was the last one acquired.
    pub(crate) fn remove(&mut self, place: usize) -> bool {
        let is_last = place + 1 == self.list.len();
        if self.places.is_empty() {
            self.list.remove(place);
            return is_last;
        }
        let held = &mut self.list[place];
        self.places.remove(&held.lock);
        self.gone = self.gone.wrapping_add(digest(held.lock, held.shared));
        (held.depth, held.lock) = (held.lock, GAP);
        self.gaps += 1;
        while let Some(gap) = self.list.pop_if(|held| held.lock == GAP) {
            self.gone = self.gone.wrapping_sub(digest_with_gaps(&gap));
            self.gaps -= 1;
        }
        if self.gaps == 0 {
            (self.front, self.first_gap) = (0, usize::MAX);
        } else if !is_last {
            self.first_gap = self.first_gap.min(place);
            while self.list[self.front].lock == GAP {
                self.front += 1;
            }
        }
        if self.list.len() <= self.shallow && self.gaps == 0 {
            self.places.clear();
        }
        is_last
    }

    /// Returns whether so many places are gaps that they should be removed.
    #[inline]
    pub(crate) const fn wants_room(&self) -> bool {
        self.gaps > 0 && (self.gaps * 2 > self.list.len() || self.list.len() <= self.shallow)
    }

    /// Removes the gaps. All places change.
    pub(crate) fn remove_gaps(&mut self) {
        self.list.retain(|held| held.lock != GAP);
        (self.gaps, self.gone, self.front, self.first_gap) = (0, 0, 0, usize::MAX);
        self.places.clear();
        if self.list.len() > self.shallow {
            self.index();
        }
    }

    fn index(&mut self) {
        let places = self.list.iter().enumerate();
        self.places.extend(places.map(|(place, held)| (held.lock, place as u32)));
    }
}

/// Returns the digest of a lock, or of the lock of a gap.
fn digest_with_gaps(held: &Held) -> Digest {
    digest(if held.lock == GAP { held.depth } else { held.lock }, held.shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random, Rng};

    #[test]
    fn locks_are_found_in_order_whatever_was_released() {
        let mut rng = Rng::new(1);
        for round in 0..200 {
            let mut held = match round % 2 {
                0 => HeldLocks::default(),
                _ => HeldLocks::index_above(rng.index(4)),
            };
            let mut naive: Vec<u32> = Vec::new();
            let locks = 1 + rng.index(120);
            for _ in 0..400 {
                let lock = rng.index(locks) as u32;
                match held.place(lock) {
                    None => {
                        let shared = lock.is_multiple_of(3);
                        held.push(Held { lock, shared, section: lock * 2, depth: 1 });
                        naive.push(lock);
                    }
                    Some(place) if rng.percent(60) => {
                        assert_eq!(held.at(place).section, lock * 2);
                        assert_eq!(held.remove(place), naive.last() == Some(&lock));
                        naive.retain(|other| *other != lock);
                        if held.wants_room() {
                            held.remove_gaps();
                        }
                    }
                    Some(_) => {}
                }
                assert_eq!(held.count(), naive.len());
                assert_eq!(held.first().map(|held| held.lock), naive.first().copied());
                assert_eq!(held.has_gaps(), held.places_count() > naive.len());
                let mut places = held.placed_from(0).map(|(place, _)| place);
                assert!(
                    (0..held.first_gap().min(held.places_count()))
                        .all(|at| places.next() == Some(at))
                );
                let of_locks = naive.iter().map(|lock| digest(*lock, lock.is_multiple_of(3)));
                let with_gaps = held.digest_of(0..held.places_count());
                let of_locks = of_locks.fold(0, Digest::wrapping_add);
                assert_eq!(with_gaps.wrapping_sub(held.gone()), of_locks);
                assert!(held.places_count() <= naive.len() * 2 + SHALLOW);
                assert_eq!(held.iter().map(|held| held.lock).collect::<Vec<_>>(), naive);
                for lock in 0..locks as u32 {
                    assert_eq!(held.get(lock).is_some(), naive.contains(&lock));
                }
            }
        }
    }
}
