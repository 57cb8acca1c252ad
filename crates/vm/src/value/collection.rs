//! The shared parts of large values: strings, sequences, sets and maps, with cached hashes and
//! sizes.

use super::counted::Counted;
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

/// A summary of the elements of a container. Summaries with the same sum are equal: the rest
/// follows from the elements, but for the handles of ended tasks.
#[derive(Clone, Copy, Debug)]
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

impl Default for Meta {
    fn default() -> Meta {
        Meta { sum: 0, refs: 0, indices: 0, nodes: 1, depth: 1 }
    }
}

impl PartialEq for Meta {
    fn eq(&self, other: &Meta) -> bool {
        self.sum == other.sum
    }
}

impl Meta {
    /// Adds an element with its hash: one value, or a key and a value.
    #[inline]
    fn add<const N: usize>(&mut self, hash: u128, values: [&Value; N]) {
        self.sum = self.sum.wrapping_add(hash);
        for value in values {
            self.refs += u32::from(value.has_refs());
            self.indices += u32::from(value.has_indices());
            self.nodes = self.nodes.saturating_add(value.nodes());
            self.depth = self.depth.max(value.depth().saturating_add(1));
        }
    }

    /// Removes an element. Returns whether the depth may be too large now.
    #[inline]
    fn sub<const N: usize>(&mut self, hash: u128, values: [&Value; N]) -> bool {
        self.sum = self.sum.wrapping_sub(hash);
        for value in values {
            self.refs -= u32::from(value.has_refs());
            self.indices -= u32::from(value.has_indices());
            self.nodes = self.nodes.saturating_sub(value.nodes());
        }
        values.iter().any(|value| value.depth() > 0)
    }

    /// Summarises sequences and sets: elements with the keys of their positions.
    fn of<'a>(values: impl Iterator<Item = (u64, &'a Value)>) -> Meta {
        let mut meta = Meta::default();
        for (key, value) in values {
            meta.add(mix::mix(key, value.hash()), [value]);
        }
        meta
    }

    /// Computes the depth from all values in the elements.
    fn set_depth<'a>(&mut self, values: impl Iterator<Item = &'a Value>) {
        self.depth = 1 + values.map(Value::depth).max().unwrap_or(0);
    }
}

/// The key that is mixed with an element of a set, which has no position.
const ELEMENT: u64 = u64::MAX;
/// The key that is mixed with an entry of a map.
const ENTRY: u64 = u64::MAX - 1;

/// A sequence: a list, a record's fields, a variant's payload, a function's captures.
#[derive(Debug, Clone, PartialEq)]
pub struct Seq {
    /// The record, enum or function; for a list 0, or one more than the index type that numbers its
    /// elements.
    pub(crate) ty: u16,
    /// The variant; 0 otherwise.
    pub(crate) variant: u16,
    pub(crate) meta: Meta,
    items: Counted<Value>,
}

impl Seq {
    pub(crate) fn new(ty: u16, variant: u16, items: Vec<Value>) -> Seq {
        let meta = Meta::of((0..).zip(&items));
        Seq { ty, variant, meta, items: Counted::new(items) }
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
        let old = std::mem::replace(&mut self.items.places()[index], value);
        let value = &self.items[index];
        let deep = self.meta.sub(mix::mix(index as u64, old.hash()), [&old]);
        self.meta.add(mix::mix(index as u64, value.hash()), [value]);
        if deep {
            self.meta.set_depth(self.items.iter());
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
        self.meta.add(mix::mix(self.items.len() as u64, value.hash()), [&value]);
        self.items.change(|items| items.push(value));
    }

    pub(crate) fn pop(&mut self) -> Option<Value> {
        let value = self.items.change(Vec::pop)?;
        if self.meta.sub(mix::mix(self.items.len() as u64, value.hash()), [&value]) {
            self.meta.set_depth(self.items.iter());
        }
        Some(value)
    }

    /// Changes the elements in any way; linear.
    pub(crate) fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
        let result = self.items.change(change);
        self.meta = Meta::of((0..).zip(self.items.iter()));
        result
    }
}

/// A set, kept in the order of values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Set {
    pub(crate) meta: Meta,
    items: Counted<Value>,
}

impl Set {
    /// Makes a set of values in any order. Removes duplicates.
    pub(crate) fn new(mut items: Vec<Value>) -> Set {
        items.sort_unstable();
        items.dedup();
        let meta = Meta::of(items.iter().map(|item| (ELEMENT, item)));
        Set { meta, items: Counted::new(items) }
    }

    /// Returns the elements in the order of values.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
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
                self.meta.add(mix::mix(ELEMENT, value.hash()), [&value]);
                self.items.change(|items| items.insert(at, value));
                true
            }
        }
    }

    /// Returns a copy with one more element, in one allocation; `None` if the set has it already.
    pub(crate) fn with(&self, value: Value) -> Option<Set> {
        let at = self.items.binary_search(&value).err()?;
        let mut meta = self.meta;
        meta.add(mix::mix(ELEMENT, value.hash()), [&value]);
        let (low, high) = self.items.split_at(at);
        let mut items = Vec::with_capacity(self.items.len() + 1);
        items.extend_from_slice(low);
        items.push(value);
        items.extend_from_slice(high);
        Some(Set { meta, items: Counted::new(items) })
    }

    pub(crate) fn remove(&mut self, value: &Value) -> bool {
        let Ok(at) = self.items.binary_search(value) else { return false };
        let old = self.items.change(|items| items.remove(at));
        if self.meta.sub(mix::mix(ELEMENT, old.hash()), [&old]) {
            self.meta.set_depth(self.items.iter());
        }
        true
    }
}

/// A map, kept in the order of its keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    pub(crate) meta: Meta,
    entries: Counted<(Value, Value)>,
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
                let old = std::mem::replace(&mut self.entries.places()[at].1, value);
                self.remove_meta(&key, &old);
                let new = &self.entries[at].1;
                self.meta.add(entry_hash(&key, new), [&key, new]);
                Some(old)
            }
            Err(at) => {
                self.meta.add(entry_hash(&key, &value), [&key, &value]);
                self.entries.change(|entries| entries.insert(at, (key, value)));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &Value) -> Option<Value> {
        let at = self.find(key).ok()?;
        let (key, value) = self.entries.change(|entries| entries.remove(at));
        self.remove_meta(&key, &value);
        Some(value)
    }

    /// Removes an entry that is no longer in the list from the summary.
    fn remove_meta(&mut self, key: &Value, value: &Value) {
        if self.meta.sub(entry_hash(key, value), [key, value]) {
            self.meta.set_depth(self.entries.iter().flat_map(|(k, v)| [k, v]));
        }
    }
}
