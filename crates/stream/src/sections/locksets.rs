//! Locksets: the sections that were open at an access. Accesses share them.
//!
//! Most accesses lie in at most one section. These need no set: the number of the lockset encodes
//! the section. A set of a few sections lists them. A larger one is a set that one lock fewer was
//! held with, its *parent*, and the section begun since. So the accesses at all depths of nested
//! sections take memory linear in the depth.
//!
//! A section may also end below others. Then the larger sets stay, and an access has a *view* of
//! one: its sections without those that have ended by then. A view takes constant memory, so the
//! accesses between such releases take memory linear in the releases. The lane begins a new chain
//! of parents once half of the sections of the old one have ended, so a view visits at most about
//! twice its sections.

use std::cell::Cell;

/// The number of a lockset: 0 for no section; a section if the highest bit is set; otherwise the
/// position of a set of several sections.
pub(crate) const NO_LOCKSET: u32 = 0;
/// A lockset that has not been built since the locks held changed.
pub(crate) const UNMADE: u32 = (1 << 31) - 1;
const ONE: u32 = 1 << 31;

/// The most sections that a set lists without a parent, unless a test changes it.
const FLAT: usize = 8;

/// Returns the number of the lockset that consists of one section.
pub(crate) const fn of_one(section: u32) -> u32 {
    ONE | section
}

/// Returns the section of a lockset that consists of one.
#[inline]
pub(crate) const fn as_one(lockset: u32) -> Option<u32> {
    if lockset & ONE != 0 { Some(lockset & !ONE) } else { None }
}

/// Returns whether a lockset is a set of several sections, whose references are counted.
#[inline]
pub(crate) const fn is_counted(lockset: u32) -> bool {
    lockset & ONE == 0 && lockset != NO_LOCKSET && lockset != UNMADE
}

/// A digest of the locks of a set and their modes: the sum of those of its locks, so that locks can
/// be taken out again.
///
/// Sets of other locks have the same digest with a probability of about 2^-128.
pub(crate) type Digest = u128;

/// Returns the digest of one lock.
pub(crate) fn digest(lock: u32, shared: bool) -> Digest {
    const FACTOR: u128 = 0x2d99_787f_6d0b_4a7d_9e37_79b9_7f4a_7c15;
    let key = u128::from(lock) << 1 | u128::from(shared) | 1 << 40;
    let mut hash = key.wrapping_mul(FACTOR);
    for _ in 0..3 {
        hash = (hash ^ hash >> 67).wrapping_mul(FACTOR);
    }
    hash ^ hash >> 71
}

/// Which section of a set ended last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LastEnded {
    /// Not yet computed.
    #[default]
    Unknown,
    /// This section of the set had not ended.
    Open(u32),
    /// All have ended, this one last.
    Section(u32),
    /// The sections belong to several slots, so their epochs cannot be compared.
    Mixed,
}

/// A set of several sections.
#[derive(Clone, Debug, Default)]
struct Lockset {
    /// The set without `sections`; [`NO_LOCKSET`] if they are all.
    parent: u32,
    references: u32,
    /// The number of all sections.
    count: u32,
    /// The first section acquired of all.
    outer: u32,
    /// The last section acquired of all; of a view, that of its parent.
    inner: u32,
    /// The moment of the lane when the set was made.
    made: u32,
    /// Whether it is its parent without the sections that had ended when it was made.
    is_view: bool,
    /// The last one to end, of all sections that are listed in the set and its parents.
    last_ended: Cell<LastEnded>,
    /// Sections in the order of their acquires.
    sections: Vec<u32>,
    /// Of all sections; only for sets that have a parent.
    digest: Digest,
}

/// The sections of a lockset; of a view, those of its parent.
#[derive(Clone, Debug)]
pub(crate) struct Members<'h> {
    one: Option<u32>,
    sections: std::slice::Iter<'h, u32>,
    parent: u32,
    sets: &'h [Lockset],
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if let Some(section) = self.sections.next() {
            return Some(*section);
        }
        if self.one.is_some() {
            return self.one.take();
        }
        if self.parent == NO_LOCKSET {
            return None;
        }
        let set = &self.sets[self.parent as usize];
        (self.parent, self.sections) = (set.parent, set.sections.iter());
        self.sections.next().copied()
    }
}

/// The locksets of several sections, as counted references.
#[derive(Clone, Debug)]
pub(crate) struct Locksets {
    sets: Vec<Lockset>,
    free: Vec<u32>,
    /// The most sections that a set lists without a parent; at least two.
    pub(super) flat: usize,
}

impl Default for Locksets {
    fn default() -> Locksets {
        // The first set is the empty one, and stays.
        Locksets { sets: vec![Lockset::default()], free: Vec::new(), flat: FLAT }
    }
}

impl Locksets {
    /// Creates a set of a parent and further sections, at least one, with one reference. The caller
    /// adds the references to the parent and the sections.
    pub(crate) fn make(
        &mut self,
        (parent, digest, made): (u32, Digest, u32),
        sections: impl Iterator<Item = u32>,
    ) -> u32 {
        let lockset = self.fresh();
        let (count, outer) = {
            let parent = &self.sets[parent as usize];
            (parent.count, (parent.count > 0).then_some(parent.outer))
        };
        let set = &mut self.sets[lockset as usize];
        set.sections.clear();
        set.sections.extend(sections);
        (set.parent, set.references, set.digest) = (parent, 1, digest);
        (set.made, set.is_view) = (made, false);
        set.last_ended.set(LastEnded::Unknown);
        set.count = count + set.sections.len() as u32;
        set.outer = outer.or(set.sections.first().copied()).unwrap_or(0);
        set.inner = set.sections.last().copied().unwrap_or(0);
        lockset
    }

    /// Creates the view of a set at a moment, with one reference, of so many sections and the first
    /// one of them acquired. The caller adds the reference to the set.
    pub(crate) fn make_view(
        &mut self,
        (of, digest, made): (u32, Digest, u32),
        (count, outer): (usize, u32),
    ) -> u32 {
        let lockset = self.fresh();
        let inner = self.sets[of as usize].inner;
        let set = &mut self.sets[lockset as usize];
        set.sections.clear();
        (set.parent, set.references, set.digest) = (of, 1, digest);
        (set.made, set.is_view) = (made, true);
        (set.count, set.outer, set.inner) = (count as u32, outer, inner);
        lockset
    }

    fn fresh(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.sets.push(Lockset::default());
            self.sets.len() as u32 - 1
        })
    }

    /// Adds a reference to a set of several sections.
    #[inline]
    pub(crate) fn keep(&mut self, lockset: u32) {
        self.sets[lockset as usize].references += 1;
    }

    /// Drops a reference to a set of several sections. Returns whether it was the last one.
    #[inline]
    pub(crate) fn drop(&mut self, lockset: u32) -> bool {
        let set = &mut self.sets[lockset as usize];
        set.references -= 1;
        set.references == 0
    }

    /// Frees a set. Returns its parent, and moves the sections that it lists to `sections`.
    pub(crate) fn free(&mut self, lockset: u32, sections: &mut Vec<u32>) -> u32 {
        self.free.push(lockset);
        let set = &mut self.sets[lockset as usize];
        sections.append(&mut set.sections);
        set.parent
    }

    /// Returns the sections of a lockset, each once. Of a view, some may have ended before it was
    /// made.
    #[inline]
    pub(crate) fn members(&self, lockset: u32) -> Members<'_> {
        let one = as_one(lockset);
        let set = if one.is_some() { NO_LOCKSET } else { lockset };
        let set = &self.sets[set as usize];
        Members { one, sections: set.sections.iter(), parent: set.parent, sets: &self.sets }
    }

    /// Returns the section of a lockset that was acquired first. The set must not be empty.
    #[inline]
    pub(crate) fn outer(&self, lockset: u32) -> u32 {
        as_one(lockset).unwrap_or_else(|| self.sets[lockset as usize].outer)
    }

    /// Returns the section of a set of several that was acquired last; of a view, that of
    /// its parent.
    #[inline]
    pub(crate) fn inner(&self, lockset: u32) -> u32 {
        self.sets[lockset as usize].inner
    }

    /// Returns the moment of the lane when a set of several sections was made.
    #[inline]
    pub(crate) fn made(&self, lockset: u32) -> u32 {
        self.sets[lockset as usize].made
    }

    /// Returns the moment of a view; `None` for other locksets.
    #[inline]
    pub(crate) fn view(&self, lockset: u32) -> Option<u32> {
        if as_one(lockset).is_some() {
            return None;
        }
        let set = &self.sets[lockset as usize];
        set.is_view.then_some(set.made)
    }

    /// Returns the set that lists the sections of a set of several: for a view, its parent.
    #[inline]
    pub(crate) fn viewed(&self, lockset: u32) -> u32 {
        let set = &self.sets[lockset as usize];
        if set.is_view { set.parent } else { lockset }
    }

    /// Returns the parent of a set, and the sections that it lists itself.
    pub(crate) fn parts(&self, lockset: u32) -> (u32, &[u32]) {
        let set = &self.sets[lockset as usize];
        (set.parent, &set.sections)
    }

    /// Returns which section of a set ended last, as far as that was noted.
    #[inline]
    pub(crate) fn last_ended(&self, lockset: u32) -> LastEnded {
        self.sets[lockset as usize].last_ended.get()
    }

    /// Notes which section of a set ended last.
    pub(crate) fn note_last_ended(&self, lockset: u32, last: LastEnded) {
        self.sets[lockset as usize].last_ended.set(last);
    }

    /// Returns the number of sections of a lockset.
    #[inline]
    pub(crate) fn count(&self, lockset: u32) -> usize {
        if as_one(lockset).is_some() { 1 } else { self.sets[lockset as usize].count as usize }
    }

    /// Returns the digest of a set with a parent.
    #[inline]
    pub(crate) fn digest(&self, lockset: u32) -> Digest {
        self.sets[lockset as usize].digest
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let set = |h: &Lockset| size_of::<Lockset>() + 4 * h.sections.capacity();
        self.sets.iter().map(set).sum()
    }
}
