//! Vector clocks over chains.

use std::fmt;

/// A chain: a totally ordered sequence of elements. One clock entry therefore covers all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct ChainId(pub u32);

impl ChainId {
    /// Returns the id as a `usize`, to index tables with one entry per chain.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A vector clock: for every chain, how many of its positions come before.
///
/// Positions count from 1; entry 0 means "none of that chain", and so do entries beyond the end.
/// Two clocks are equal when all entries are, whatever their lengths.
///
/// There is no `PartialOrd`: clocks are ordered partially, and `!(a <= b)` reads as `a > b` too
/// easily. Use [`leq`](Clock::leq).
///
/// ```
/// use anyorder_order::{ChainId, Clock};
///
/// let (mut a, mut b) = (Clock::new(), Clock::new());
/// a.raise(ChainId(0), 3);
/// b.raise(ChainId(2), 1);
/// assert!(!a.leq(&b) && !b.leq(&a));
/// assert!(b.join(&a));
/// assert!(a.leq(&b));
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    entries: Vec<u32>,
}

/// Entries that [`Clock::join`] compares at a time before it writes: one cache line.
const LINE: usize = 16;

impl Clock {
    /// The clock with no entries. Takes no memory.
    #[must_use]
    pub const fn new() -> Clock {
        Clock { entries: Vec::new() }
    }

    /// Makes a clock from its entries, in the order of the chains. O(entries).
    #[must_use]
    pub fn from_slice(entries: &[u32]) -> Clock {
        Clock { entries: entries.to_vec() }
    }

    /// Returns the entry of a chain, 0 beyond the end. O(1).
    #[inline]
    #[must_use]
    pub fn get(&self, chain: ChainId) -> u32 {
        self.entries.get(chain.index()).copied().unwrap_or(0)
    }

    /// Makes the entry of a chain at least `value`. O(1), amortised over growth. Memory grows with
    /// the number of the chain, so number chains densely.
    #[inline]
    pub fn raise(&mut self, chain: ChainId, value: u32) {
        if value > self.get(chain) {
            *self.entry(chain) = value;
        }
    }

    /// Sets the entry of a chain to `value`, even if it was greater. O(1) as
    /// [`raise`](Clock::raise).
    #[inline]
    pub fn set(&mut self, chain: ChainId, value: u32) {
        if value != 0 || chain.index() < self.entries.len() {
            *self.entry(chain) = value;
        }
    }

    /// Takes the pointwise maximum with `other`; returns whether any entry grew. O(entries of
    /// `other`).
    ///
    /// Most joins change little, so lines of entries that do not grow are read but not written.
    pub fn join(&mut self, other: &Clock) -> bool {
        let shared = self.entries.len().min(other.entries.len());
        let (common, rest) = other.entries.split_at(shared);
        let mut changed = false;
        let mut mine = self.entries[..shared].chunks_exact_mut(LINE);
        let mut theirs = common.chunks_exact(LINE);
        for (mine, theirs) in (&mut mine).zip(&mut theirs) {
            changed |= join_line(mine, theirs);
        }
        changed |= join_line(mine.into_remainder(), theirs.remainder());
        // Zeros at the end carry no information and must not make the clock grow.
        if let Some(last) = rest.iter().rposition(|&value| value != 0) {
            self.entries.extend_from_slice(&rest[..=last]);
            changed = true;
        }
        changed
    }

    /// Returns whether every entry is at most that of `other`. O(entries).
    #[must_use]
    pub fn leq(&self, other: &Clock) -> bool {
        let shared = self.entries.len().min(other.entries.len());
        let (common, rest) = self.entries.split_at(shared);
        common.iter().zip(&other.entries).all(|(mine, theirs)| mine <= theirs)
            && rest.iter().all(|&value| value == 0)
    }

    /// Makes all entries 0, keeping the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Makes this clock a copy of `other`, reusing its memory.
    pub fn copy_from(&mut self, other: &Clock) {
        self.entries.clone_from(&other.entries);
    }

    /// Returns the number of stored entries. Entries beyond are 0; stored ones may be 0 too.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether no entry is stored. A clock whose stored entries are all 0 is not empty, but
    /// equals an empty one.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the stored entries in the order of the chains.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.entries
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u32>()
    }

    fn entry(&mut self, chain: ChainId) -> &mut u32 {
        let index = chain.index();
        if index >= self.entries.len() {
            self.entries.resize(index + 1, 0);
        }
        &mut self.entries[index]
    }
}

/// Joins entries one to one. The comparison is a separate loop: without a store in it, it
/// vectorises, and usually nothing else is needed.
#[inline]
fn join_line(mine: &mut [u32], theirs: &[u32]) -> bool {
    let mut greater = false;
    for (mine, theirs) in mine.iter().zip(theirs) {
        greater |= theirs > mine;
    }
    if greater {
        for (mine, &theirs) in mine.iter_mut().zip(theirs) {
            *mine = (*mine).max(theirs);
        }
    }
    greater
}

impl PartialEq for Clock {
    fn eq(&self, other: &Clock) -> bool {
        self.leq(other) && other.leq(self)
    }
}

impl Eq for Clock {}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.entries).finish()
    }
}
