//! Locksets: the sections that were open at an access. Accesses share them.
//!
//! Most accesses lie in at most one section. These need no set: the number of the lockset encodes
//! the section.

use std::ops::Deref;

/// The number of a lockset: 0 for no section; a section if the highest bit is set; otherwise the
/// position of a set of several sections.
pub(crate) const NO_LOCKSET: u32 = 0;
/// A lockset that has not been built since the locks held changed.
pub(crate) const UNMADE: u32 = (1 << 31) - 1;
const ONE: u32 = 1 << 31;

/// Returns the number of the lockset that consists of one section.
pub(crate) const fn of_one(section: u32) -> u32 {
    ONE | section
}

/// Returns the section of a lockset that consists of one.
#[inline]
pub(crate) const fn as_one(lockset: u32) -> Option<u32> {
    if lockset & ONE != 0 { Some(lockset & !ONE) } else { None }
}

/// A set of several sections.
#[derive(Clone, Debug, Default)]
struct Lockset {
    sections: Vec<u32>,
    references: u32,
}

/// The sections of a lockset.
pub(crate) struct Members<'h> {
    one: [u32; 1],
    several: Option<&'h [u32]>,
}

impl Deref for Members<'_> {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        self.several.unwrap_or(&self.one)
    }
}

/// The locksets of several sections, as counted references.
#[derive(Clone, Debug)]
pub(crate) struct Locksets {
    sets: Vec<Lockset>,
    free: Vec<u32>,
}

impl Default for Locksets {
    fn default() -> Locksets {
        // The first set is the empty one, and stays.
        Locksets { sets: vec![Lockset::default()], free: Vec::new() }
    }
}

impl Locksets {
    /// Creates a set of several sections with one reference.
    pub(crate) fn make(&mut self, sections: impl Iterator<Item = u32>) -> u32 {
        let lockset = self.free.pop().unwrap_or_else(|| {
            self.sets.push(Lockset::default());
            self.sets.len() as u32 - 1
        });
        let set = &mut self.sets[lockset as usize];
        set.sections.clear();
        set.sections.extend(sections);
        set.references = 1;
        lockset
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

    /// Frees a set.
    pub(crate) fn free(&mut self, lockset: u32) {
        self.free.push(lockset);
    }

    /// Returns the sections of a lockset.
    #[inline]
    pub(crate) fn members(&self, lockset: u32) -> Members<'_> {
        match as_one(lockset) {
            Some(section) => Members { one: [section], several: None },
            None => Members { one: [0], several: Some(&self.sets[lockset as usize].sections) },
        }
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let set = |h: &Lockset| size_of::<Lockset>() + 4 * h.sections.capacity();
        self.sets.iter().map(set).sum()
    }
}
