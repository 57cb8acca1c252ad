//! Vectors whose memory is counted while they live.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of all large vectors of values in this process.
static LIVE: AtomicU64 = AtomicU64::new(0);

/// Smaller vectors are not counted: a step takes at most a few thousand bytes for each of its
/// instructions with them.
const COUNTED_MIN: usize = 4 << 10;

/// Returns how many bytes the large lists, sets and maps of this process take together. Lists that
/// values share count once.
pub(crate) fn live_bytes() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// A vector that counts its memory if it is large.
#[derive(Debug)]
pub(super) struct Counted<T>(Vec<T>);

impl<T> Counted<T> {
    pub(super) fn new(items: Vec<T>) -> Counted<T> {
        add(bytes(&items));
        Counted(items)
    }

    /// Changes the vector in any way.
    #[inline]
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let before = bytes(&self.0);
        let result = change(&mut self.0);
        let after = bytes(&self.0);
        if before != after {
            add(after);
            subtract(before);
        }
        result
    }

    /// Returns the elements, to be changed in their places.
    #[inline]
    pub(super) fn places(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Returns what a vector counts for.
#[inline]
fn bytes<T>(items: &Vec<T>) -> usize {
    let bytes = items.capacity() * size_of::<T>();
    if bytes < COUNTED_MIN { 0 } else { bytes }
}

#[inline]
fn add(bytes: usize) {
    if bytes > 0 {
        LIVE.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

#[inline]
fn subtract(bytes: usize) {
    if bytes > 0 {
        LIVE.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

impl<T> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        subtract(bytes(&self.0));
    }
}

impl<T: Clone> Clone for Counted<T> {
    fn clone(&self) -> Counted<T> {
        Counted::new(self.0.clone())
    }
}

impl<T> Default for Counted<T> {
    fn default() -> Counted<T> {
        Counted(Vec::new())
    }
}

impl<T: PartialEq> PartialEq for Counted<T> {
    fn eq(&self, other: &Counted<T>) -> bool {
        self.0 == other.0
    }
}

impl<T> Deref for Counted<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}
