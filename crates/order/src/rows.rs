//! Lists of items by a dense key, all in one piece of memory.

use std::ops::Range;

/// For each key, a list of items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows<T> {
    start: Vec<u32>,
    pub(crate) items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Sorts items by their keys, which are below `keys`. Items of one key keep their order. Linear
    /// time.
    pub(crate) fn new(keys: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Rows<T> {
        let mut start = vec![0_u32; keys + 1];
        for (key, _) in items.clone() {
            start[key as usize + 1] += 1;
        }
        for key in 0..keys {
            start[key + 1] += start[key];
        }
        let mut next = start.clone();
        let mut sorted = vec![T::default(); start[keys] as usize];
        for (key, item) in items {
            let at = &mut next[key as usize];
            sorted[*at as usize] = item;
            *at += 1;
        }
        Rows { start, items: sorted }
    }
}

impl<T> Rows<T> {
    /// Returns the positions of a key's items.
    #[inline]
    pub(crate) fn range(&self, key: u32) -> Range<usize> {
        self.start[key as usize] as usize..self.start[key as usize + 1] as usize
    }

    /// Returns the items of a key.
    #[inline]
    pub(crate) fn row(&self, key: u32) -> &[T] {
        &self.items[self.range(key)]
    }

    /// Returns the items, each turned into another one.
    pub(crate) fn map<U>(self, change: impl FnMut(T) -> U) -> Rows<U> {
        Rows { start: self.start, items: self.items.into_iter().map(change).collect() }
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * self.start.len() + size_of::<T>() * self.items.len()
    }
}
