//! Finds the table entry of a name by its bytes, with one look-up.

use crate::ids::NameId;
use crate::names::Names;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::fmt;
use std::hash::{BuildHasher, Hasher};

/// Maps names, given as bytes, to entries of one table. The hasher is seeded, so that no input can
/// force collisions.
#[derive(Default)]
pub(super) struct TextIndex {
    table: HashTable<(NameId, u32)>,
    hasher: DefaultHashBuilder,
}

impl fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextIndex").field("len", &self.table.len()).finish()
    }
}

impl TextIndex {
    /// Returns the entry of a text.
    #[inline]
    pub(super) fn find(&self, names: &Names, text: &[u8]) -> Option<u32> {
        let hash = hash(&self.hasher, text);
        let same = |entry: &(NameId, u32)| names.get(entry.0).as_bytes() == text;
        self.table.find(hash, same).map(|entry| entry.1)
    }

    /// Adds the entry of a name that has none.
    pub(super) fn insert(&mut self, names: &Names, name: NameId, entry: u32) {
        let hasher = &self.hasher;
        let rehash = |entry: &(NameId, u32)| hash(hasher, names.get(entry.0).as_bytes());
        let hash = hash(hasher, names.get(name).as_bytes());
        self.table.insert_unique(hash, (name, entry), rehash);
    }
}

#[inline]
fn hash(hasher: &DefaultHashBuilder, text: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(text);
    state.finish()
}
