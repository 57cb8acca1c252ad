//! Interned strings: one buffer, one offset a name.

use crate::ids::NameId;
use crate::interner::TableFull;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::fmt;
use std::hash::{BuildHasher, Hasher};

/// An append-only list of distinct strings; `NameId(0)` is the empty string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Default for Names {
    fn default() -> Names {
        Names { text: String::new(), ends: vec![0] }
    }
}

impl Names {
    /// Returns the number of names, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the list contains only the empty name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.len() == 1
    }

    /// Returns the string of a name. An id of another table may give another string, or "".
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        let index = id.index();
        if index == 0 || index >= self.ends.len() {
            return "";
        }
        &self.text[self.ends[index - 1] as usize..self.ends[index] as usize]
    }

    /// Appends a string without checking whether it exists, for readers of tables.
    ///
    /// Returns `None` when all names together would exceed 4 GiB.
    pub fn push(&mut self, text: &str) -> Option<NameId> {
        let end = u32::try_from(self.text.len().checked_add(text.len())?).ok()?;
        if self.ends.len() >= u32::MAX as usize {
            return None;
        }
        self.text.push_str(text);
        self.ends.push(end);
        Some(NameId::from_index(self.ends.len() - 1))
    }

    /// Returns all names in order of their ids, the empty one first.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.len()).map(|i| (NameId::from_index(i), self.get(NameId::from_index(i))))
    }

    /// Returns the bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4
    }
}

/// Finds the id of a string already in a [`Names`], or appends it.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    index: TextIndex,
}

impl NameIndex {
    /// Returns the id of `text`, appending it to `names` when it is new.
    ///
    /// # Errors
    ///
    /// Fails when all names together would exceed 4 GiB.
    pub fn intern(&mut self, names: &mut Names, text: &str) -> Result<NameId, TableFull> {
        if let Some(id) = self.find(names, text) {
            return Ok(id);
        }
        let id = names.push(text).ok_or(TableFull("bytes of names"))?;
        self.index.insert(names, id, id.0);
        Ok(id)
    }

    /// Returns the id of `text` if it has one.
    #[must_use]
    pub fn find(&self, names: &Names, text: &str) -> Option<NameId> {
        if text.is_empty() {
            return Some(NameId::EMPTY);
        }
        self.index.find(names, text.as_bytes()).map(NameId)
    }
}

/// Maps names, given as bytes, to entries of one table. The hasher is seeded, so that no input can
/// force collisions.
#[derive(Clone, Default)]
pub struct TextIndex {
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
    #[must_use]
    pub fn find(&self, names: &Names, text: &[u8]) -> Option<u32> {
        let hash = hash(&self.hasher, text);
        let same = |entry: &(NameId, u32)| names.get(entry.0).as_bytes() == text;
        self.table.find(hash, same).map(|entry| entry.1)
    }

    /// Adds the entry of a name that has none.
    pub fn insert(&mut self, names: &Names, name: NameId, entry: u32) {
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
