//! Memory that was never allocated, and of which much is accessed at once.

use super::sharing::SEVERAL;
use std::collections::BTreeMap;

/// Memory that was never allocated, and of which much is accessed at once.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, (u64, u32)>);

impl Ranges {
    /// Adds a range. Ranges that overlap become one: none of their bytes is lost, and each goes
    /// once.
    pub(super) fn add(&mut self, lane: u32, address: u64, size: u64) {
        let (mut first, mut last) = (address, address.saturating_add(size.max(1) - 1));
        let mut owner = lane;
        while let Some((&start, &(end, other))) = self.0.range(..=last).next_back() {
            if end < address {
                break;
            }
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
            if other != owner {
                owner = SEVERAL;
            }
        }
        self.0.insert(first, (last, owner));
    }

    /// Returns whether another thread has touched a part of a range at once.
    pub(super) fn is_of_others(&self, lane: u32, address: u64, size: u64) -> bool {
        let last = address.saturating_add(size.max(1) - 1);
        let range = self.0.range(..=last).next_back();
        range.is_some_and(|(_, (end, owner))| *end >= address && *owner != lane)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a part of a range was touched at once.
    pub(super) fn meet(&self, address: u64, size: u64) -> bool {
        let last = address.saturating_add(size.max(1) - 1);
        self.0.range(..=last).next_back().is_some_and(|(_, (end, _))| *end >= address)
    }
}
