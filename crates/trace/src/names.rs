//! Interned strings: one buffer, one offset a name.

use crate::ids::NameId;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

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
#[derive(Clone, Default)]
pub struct NameIndex {
    table: HashTable<NameId>,
    hasher: DefaultHashBuilder,
}

impl std::fmt::Debug for NameIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NameIndex").field("len", &self.table.len()).finish()
    }
}

impl NameIndex {
    /// Makes the index of existing names.
    #[must_use]
    pub fn of(names: &Names) -> NameIndex {
        let mut index = NameIndex::default();
        for (id, text) in names.iter().skip(1) {
            let hash = index.hasher.hash_one(text);
            index.table.insert_unique(hash, id, |id| index.hasher.hash_one(names.get(*id)));
        }
        index
    }

    /// Returns the id of `text`, appending it to `names` when it is new.
    ///
    /// Returns `None` when all names together would exceed 4 GiB.
    pub fn intern(&mut self, names: &mut Names, text: &str) -> Option<NameId> {
        if text.is_empty() {
            return Some(NameId::EMPTY);
        }
        let hash = self.hasher.hash_one(text);
        if let Some(id) = self.table.find(hash, |id| names.get(*id) == text) {
            return Some(*id);
        }
        let id = names.push(text)?;
        self.table.insert_unique(hash, id, |id| self.hasher.hash_one(names.get(*id)));
        Some(id)
    }

    /// Returns the id of `text` if it has one.
    #[must_use]
    pub fn find(&self, names: &Names, text: &str) -> Option<NameId> {
        if text.is_empty() {
            return Some(NameId::EMPTY);
        }
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |id| names.get(*id) == text).copied()
    }
}
