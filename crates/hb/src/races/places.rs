//! Positions in a list by key: a short list is searched, a long one has a hash table.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The longest list that is searched.
const FEW: usize = 8;

/// The positions of a list's items by their keys, which differ.
#[derive(Clone, Debug)]
pub(crate) struct Places<K> {
    of_key: Option<Box<FxHashMap<K, u32>>>,
}

impl<K> Default for Places<K> {
    fn default() -> Places<K> {
        Places { of_key: None }
    }
}

impl<K: Copy + Eq + Hash> Places<K> {
    /// Returns the position of a key in its list.
    pub(crate) fn of<T>(&self, list: &[T], key: K, key_of: impl Fn(&T) -> K) -> Option<usize> {
        match &self.of_key {
            Some(places) => places.get(&key).map(|place| *place as usize),
            None => list.iter().position(|item| key_of(item) == key),
        }
    }

    /// Takes notice of a new last item of the list.
    pub(crate) fn push<T>(&mut self, list: &[T], key_of: impl Fn(&T) -> K) {
        match &mut self.of_key {
            Some(places) => {
                let last = list.last().map(|item| (key_of(item), list.len() as u32 - 1));
                places.extend(last);
            }
            None if list.len() > FEW => {
                let all = (0..).zip(list).map(|(place, item)| (key_of(item), place));
                self.of_key = Some(Box::new(all.collect()));
            }
            None => {}
        }
    }
}
