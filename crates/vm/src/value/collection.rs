//! The shared parts of large values: strings, sequences, sets and maps, with cached hashes and
//! sizes.

use super::kinds::{Value, kind};
use super::mix;
use std::sync::Arc;

/// A string with its hash.
#[derive(Debug, Clone)]
pub struct Text {
    hash: u128,
    text: Box<str>,
}

impl Text {
    pub(crate) fn new(text: &str) -> Text {
        Text { hash: mix::bytes(kind::STR, text.as_bytes()), text: text.into() }
    }

    /// Returns the string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    #[inline]
    pub(crate) fn hash(&self) -> u128 {
        self.hash
    }
}

/// A summary of the elements of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meta {
    /// The sum of the mixed hashes of the elements.
    pub(crate) sum: u128,
    /// The number of elements with objects or handles in them.
    pub(crate) refs: u32,
    /// The number of elements with indices in them.
    pub(crate) indices: u32,
    /// The number of values in the container, itself included.
    pub(crate) nodes: u32,
    /// How deep containers nest, this one included.
    pub(crate) depth: u16,
}

impl Meta {
    const EMPTY: Meta = Meta { sum: 0, refs: 0, indices: 0, nodes: 1, depth: 1 };

    #[inline]
    fn add(&mut self, key: u64, value: &Value) {
        self.sum = self.sum.wrapping_add(mix::mix(key, value.hash()));
        self.refs += u32::from(value.has_refs());
        self.indices += u32::from(value.has_indices());
        self.nodes = self.nodes.saturating_add(value.nodes());
        self.depth = self.depth.max(value.depth().saturating_add(1));
    }

    /// Removes a value. Does not update the depth.
    #[inline]
    fn sub(&mut self, key: u64, value: &Value) {
        self.sum = self.sum.wrapping_sub(mix::mix(key, value.hash()));
        self.refs -= u32::from(value.has_refs());
        self.indices -= u32::from(value.has_indices());
        self.nodes = self.nodes.saturating_sub(value.nodes());
    }

    fn of<'a>(values: impl Iterator<Item = (u64, &'a Value)>) -> Meta {
        let mut meta = Meta::EMPTY;
        for (key, value) in values {
            meta.add(key, value);
        }
        meta
    }
}

/// The key that is mixed with an element of a set, which has no position.
const ELEMENT: u64 = u64::MAX;
/// The key that is mixed with an entry of a map.
const ENTRY: u64 = u64::MAX - 1;

/// A sequence: a list, a record's fields, a variant's payload, a function's captures.
#[derive(Debug, Clone)]
pub struct Seq {
    /// The record, enum or function; for a list 0, or one more than the index type that numbers its
    /// elements.
    pub(crate) ty: u16,
    /// The variant; 0 otherwise.
    pub(crate) variant: u16,
    meta: Meta,
    items: Vec<Value>,
}

impl PartialEq for Seq {
    fn eq(&self, other: &Seq) -> bool {
        self.meta.sum == other.meta.sum
            && (self.ty, self.variant) == (other.ty, other.variant)
            && self.items == other.items
    }
}

impl Seq {
    pub(crate) fn new(ty: u16, variant: u16, items: Vec<Value>) -> Seq {
        let meta = Meta::of((0..).zip(&items));
        Seq { ty, variant, meta, items }
    }

    pub(crate) fn list(items: Vec<Value>) -> Seq {
        Seq::new(0, 0, items)
    }

    /// A list whose elements an index type numbers.
    pub(crate) fn array(of: u16, items: Vec<Value>) -> Seq {
        Seq::new(of.saturating_add(1), 0, items)
    }

    /// Returns the elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    #[inline]
    pub(crate) fn meta(&self) -> Meta {
        self.meta
    }

    #[inline]
    pub(crate) fn hash(&self, kind: u64) -> u128 {
        mix::mix(self.key(kind), self.meta.sum)
    }

    #[inline]
    fn key(&self, kind: u64) -> u64 {
        let head = (u64::from(self.ty) << 16) | u64::from(self.variant);
        (kind << 56) | (head << 24) | (self.items.len() as u64 & 0xff_ffff)
    }

    /// Sets an element; returns the old one. The index must be in range.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, value: Value) -> Value {
        let old = std::mem::replace(&mut self.items[index], value);
        let value = &self.items[index];
        let deep = old.depth() > 0;
        self.meta.sub(index as u64, &old);
        self.meta.add(index as u64, value);
        if deep {
            self.recompute_depth();
        }
        old
    }

    /// Returns the hash as a list, before and after a write to one element. The index must be in
    /// range.
    #[inline]
    pub(crate) fn hashes(&self, index: usize, value: &Value) -> (u128, u128) {
        let key = self.key(kind::LIST);
        let sum = self.meta.sum.wrapping_sub(mix::mix(index as u64, self.items[index].hash()));
        let sum = sum.wrapping_add(mix::mix(index as u64, value.hash()));
        (mix::mix(key, self.meta.sum), mix::mix(key, sum))
    }

    /// Returns a copy with another value in one place. Allocates the elements once. The index must
    /// be in range.
    pub(crate) fn with(&self, index: usize, value: &Value) -> Arc<Seq> {
        let mut copy = self.clone();
        copy.set(index, value.clone());
        Arc::new(copy)
    }

    #[inline]
    pub(crate) fn push(&mut self, value: Value) {
        self.meta.add(self.items.len() as u64, &value);
        self.items.push(value);
    }

    pub(crate) fn pop(&mut self) -> Option<Value> {
        let value = self.items.pop()?;
        self.meta.sub(self.items.len() as u64, &value);
        if value.depth() > 0 {
            self.recompute_depth();
        }
        Some(value)
    }

    /// Changes the elements in any way; linear.
    pub(crate) fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
        let result = change(&mut self.items);
        self.meta = Meta::of((0..).zip(&self.items));
        result
    }

    fn recompute_depth(&mut self) {
        self.meta.depth = 1 + self.items.iter().map(Value::depth).max().unwrap_or(0);
    }
}

/// A set, kept in the order of values.
#[derive(Debug, Clone)]
pub struct Set {
    meta: Meta,
    items: Vec<Value>,
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.meta.sum == other.meta.sum && self.items == other.items
    }
}

impl Default for Set {
    fn default() -> Set {
        Set { meta: Meta::EMPTY, items: Vec::new() }
    }
}

impl Set {
    /// Makes a set of values in any order. Removes duplicates.
    pub(crate) fn new(mut items: Vec<Value>) -> Set {
        items.sort_unstable();
        items.dedup();
        let meta = Meta::of(items.iter().map(|item| (ELEMENT, item)));
        Set { meta, items }
    }

    /// Returns the elements in the order of values.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    #[inline]
    pub(crate) fn meta(&self) -> Meta {
        self.meta
    }

    #[inline]
    pub(crate) fn hash(&self) -> u128 {
        mix::mix((kind::SET << 56) | self.items.len() as u64, self.meta.sum)
    }

    pub(crate) fn contains(&self, value: &Value) -> bool {
        self.items.binary_search(value).is_ok()
    }

    pub(crate) fn add(&mut self, value: Value) -> bool {
        match self.items.binary_search(&value) {
            Ok(_) => false,
            Err(at) => {
                self.meta.add(ELEMENT, &value);
                self.items.insert(at, value);
                true
            }
        }
    }

    /// Returns a copy with one more element, in one allocation; `None` if the set has it already.
    pub(crate) fn with(&self, value: Value) -> Option<Set> {
        let at = self.items.binary_search(&value).err()?;
        let mut meta = self.meta;
        meta.add(ELEMENT, &value);
        let (low, high) = self.items.split_at(at);
        let mut items = Vec::with_capacity(self.items.len() + 1);
        items.extend_from_slice(low);
        items.push(value);
        items.extend_from_slice(high);
        Some(Set { meta, items })
    }

    pub(crate) fn remove(&mut self, value: &Value) -> bool {
        match self.items.binary_search(value) {
            Err(_) => false,
            Ok(at) => {
                let old = self.items.remove(at);
                self.meta.sub(ELEMENT, &old);
                if old.depth() > 0 {
                    self.meta.depth = 1 + self.items.iter().map(Value::depth).max().unwrap_or(0);
                }
                true
            }
        }
    }
}

/// A map, kept in the order of its keys.
#[derive(Debug, Clone)]
pub struct Map {
    meta: Meta,
    entries: Vec<(Value, Value)>,
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.meta.sum == other.meta.sum && self.entries == other.entries
    }
}

impl Default for Map {
    fn default() -> Map {
        Map { meta: Meta::EMPTY, entries: Vec::new() }
    }
}

/// The hash of an entry, as one element of the map.
fn entry_hash(key: &Value, value: &Value) -> u128 {
    let (low, high) = (key.hash() as u64, (key.hash() >> 64) as u64);
    mix::mix(ENTRY ^ low, mix::mix(high, value.hash()))
}

impl Map {
    /// Makes a map of entries in any order; of equal keys the last one counts.
    pub(crate) fn new(entries: Vec<(Value, Value)>) -> Map {
        let mut map = Map::default();
        for (key, value) in entries {
            map.set(key, value);
        }
        map
    }

    /// Returns the entries in the order of the keys.
    #[must_use]
    pub fn entries(&self) -> &[(Value, Value)] {
        &self.entries
    }

    #[inline]
    pub(crate) fn meta(&self) -> Meta {
        self.meta
    }

    #[inline]
    pub(crate) fn hash(&self) -> u128 {
        mix::mix((kind::MAP << 56) | self.entries.len() as u64, self.meta.sum)
    }

    pub(crate) fn find(&self, key: &Value) -> Result<usize, usize> {
        self.entries.binary_search_by(|(k, _)| k.cmp(key))
    }

    pub(crate) fn get(&self, key: &Value) -> Option<&Value> {
        self.find(key).ok().map(|at| &self.entries[at].1)
    }

    /// Sets an entry; returns the old value.
    pub(crate) fn set(&mut self, key: Value, value: Value) -> Option<Value> {
        match self.find(&key) {
            Ok(at) => {
                let old = std::mem::replace(&mut self.entries[at].1, value);
                self.take_entry(&key, &old);
                add_entry(&mut self.meta, &key, &self.entries[at].1);
                Some(old)
            }
            Err(at) => {
                add_entry(&mut self.meta, &key, &value);
                self.entries.insert(at, (key, value));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &Value) -> Option<Value> {
        let at = self.find(key).ok()?;
        let (key, value) = self.entries.remove(at);
        self.take_entry(&key, &value);
        Some(value)
    }

    /// Removes an entry that is no longer in the list from the summary.
    fn take_entry(&mut self, key: &Value, value: &Value) {
        let meta = &mut self.meta;
        meta.sum = meta.sum.wrapping_sub(entry_hash(key, value));
        meta.refs -= u32::from(key.has_refs()) + u32::from(value.has_refs());
        meta.indices -= u32::from(key.has_indices()) + u32::from(value.has_indices());
        meta.nodes = meta.nodes.saturating_sub(key.nodes()).saturating_sub(value.nodes());
        if key.depth() > 0 || value.depth() > 0 {
            let depths = self.entries.iter().map(|(k, v)| k.depth().max(v.depth()));
            meta.depth = 1 + depths.max().unwrap_or(0);
        }
    }
}

fn add_entry(meta: &mut Meta, key: &Value, value: &Value) {
    meta.sum = meta.sum.wrapping_add(entry_hash(key, value));
    meta.refs += u32::from(key.has_refs()) + u32::from(value.has_refs());
    meta.indices += u32::from(key.has_indices()) + u32::from(value.has_indices());
    meta.nodes = meta.nodes.saturating_add(key.nodes()).saturating_add(value.nodes());
    meta.depth = meta.depth.max(key.depth().max(value.depth()).saturating_add(1));
}
