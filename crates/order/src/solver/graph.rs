//! A topological order of the keys, maintained while decided edges come and go.
//!
//! Pearce and Kelly's algorithm ("A dynamic topological sort algorithm for directed acyclic
//! graphs", JEA 11, 2007): an edge against the order moves only the keys between its ends. Edges
//! are removed in reverse order of addition; the order stays valid after a removal.

use super::condense::{Key, Keys};

const NONE: u32 = u32::MAX;

/// An added edge: it follows from a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    pub(crate) from: Key,
    pub(crate) to: Key,
    /// A number that the owner of the graph chooses.
    pub(crate) label: u32,
    next_out: u32,
    next_into: u32,
}

/// The given edges (of [`Keys`]), a stack of added edges, and a topological order of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    added: Vec<Added>,
    first_out: Vec<u32>,
    first_into: Vec<u32>,
    /// The place of each key in the order.
    place: Vec<u32>,
    /// The key at each place.
    at: Vec<Key>,
    mark: Vec<u32>,
    stamp: u32,
    forward: Vec<Key>,
    backward: Vec<Key>,
}

impl Graph {
    /// Starts with a topological order of all keys.
    pub(crate) fn new(order: Vec<Key>) -> Graph {
        let keys = order.len();
        let mut place = vec![0; keys];
        for (at, &key) in order.iter().enumerate() {
            place[key as usize] = at as u32;
        }
        Graph {
            first_out: vec![NONE; keys],
            first_into: vec![NONE; keys],
            place,
            at: order,
            mark: vec![0; keys],
            ..Graph::default()
        }
    }

    #[inline]
    pub(crate) fn place(&self, key: Key) -> u32 {
        self.place[key as usize]
    }

    #[inline]
    pub(crate) fn at(&self, place: u32) -> Key {
        self.at[place as usize]
    }

    /// Returns the number of added edges.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.added.len() as u32
    }

    /// Iterates over the added edges that leave a key, the newest first.
    #[inline]
    pub(crate) fn added_out(&self, key: Key) -> impl Iterator<Item = (u32, &Added)> + '_ {
        let mut next = self.first_out[key as usize];
        std::iter::from_fn(move || {
            let added = self.added.get(next as usize)?;
            let index = next;
            next = added.next_out;
            Some((index, added))
        })
    }

    /// Iterates over the added edges that arrive at a key, the newest first.
    #[inline]
    pub(crate) fn added_into(&self, key: Key) -> impl Iterator<Item = (u32, &Added)> + '_ {
        let mut next = self.first_into[key as usize];
        std::iter::from_fn(move || {
            let added = self.added.get(next as usize)?;
            let index = next;
            next = added.next_into;
            Some((index, added))
        })
    }

    /// Adds an edge, and returns whether the graph stays acyclic; if not, nothing changes. Time:
    /// linear in the affected keys between the two ends, plus their sorting.
    pub(crate) fn add(&mut self, keys: &Keys, from: Key, to: Key, label: u32) -> bool {
        if from == to {
            return false;
        }
        if self.place(to) < self.place(from) && !self.reorder(keys, from, to) {
            return false;
        }
        let index = self.len();
        self.added.push(Added {
            from,
            to,
            label,
            next_out: self.first_out[from as usize],
            next_into: self.first_into[to as usize],
        });
        self.first_out[from as usize] = index;
        self.first_into[to as usize] = index;
        true
    }

    /// Removes the newest added edges until `len` are left.
    pub(crate) fn truncate(&mut self, len: u32) {
        while self.len() > len {
            let added = self.added.pop().expect("longer than len");
            self.first_out[added.from as usize] = added.next_out;
            self.first_into[added.to as usize] = added.next_into;
        }
    }

    /// Moves keys so that `from` comes before `to`; returns false when `to` reaches `from`.
    fn reorder(&mut self, keys: &Keys, from: Key, to: Key) -> bool {
        let (low, high) = (self.place(to), self.place(from));
        self.stamp += 1;
        let mut forward = std::mem::take(&mut self.forward);
        let mut backward = std::mem::take(&mut self.backward);
        forward.clear();
        backward.clear();
        let cycle = self.cone::<true>(keys, to, from, high, &mut forward);
        if !cycle {
            self.cone::<false>(keys, from, NONE, low, &mut backward);
            forward.sort_unstable_by_key(|&key| self.place[key as usize]);
            backward.sort_unstable_by_key(|&key| self.place[key as usize]);
            // The freed places, ascending, go first to the keys that reach `from`, then to those
            // that `to` reaches.
            let mut places: Vec<u32> =
                backward.iter().chain(&forward).map(|&key| self.place[key as usize]).collect();
            places.sort_unstable();
            for (&place, &key) in places.iter().zip(backward.iter().chain(&forward)) {
                self.place[key as usize] = place;
                self.at[place as usize] = key;
            }
        }
        self.forward = forward;
        self.backward = backward;
        !cycle
    }

    /// Collects the keys that `start` reaches (or that reach it) up to the place `bound`; returns
    /// whether `goal` is among them.
    fn cone<const OUT: bool>(
        &mut self,
        keys: &Keys,
        start: Key,
        goal: Key,
        bound: u32,
        found: &mut Vec<Key>,
    ) -> bool {
        let within = |place: u32| if OUT { place <= bound } else { place >= bound };
        self.mark[start as usize] = self.stamp;
        found.push(start);
        let mut next = 0;
        while next < found.len() {
            let key = found[next];
            next += 1;
            let given = if OUT { keys.out.keys(key) } else { keys.into.keys(key) };
            for &other in given {
                if other == goal {
                    return true;
                }
                if self.mark[other as usize] != self.stamp && within(self.place[other as usize]) {
                    self.mark[other as usize] = self.stamp;
                    found.push(other);
                }
            }
            let mut edge =
                if OUT { self.first_out[key as usize] } else { self.first_into[key as usize] };
            while edge != NONE {
                let added = &self.added[edge as usize];
                let other = if OUT { added.to } else { added.from };
                edge = if OUT { added.next_out } else { added.next_into };
                if other == goal {
                    return true;
                }
                if self.mark[other as usize] != self.stamp && within(self.place[other as usize]) {
                    self.mark[other as usize] = self.stamp;
                    found.push(other);
                }
            }
        }
        false
    }

    pub(crate) fn bytes(&self) -> usize {
        20 * self.at.len() + std::mem::size_of::<Added>() * self.added.capacity()
    }
}
