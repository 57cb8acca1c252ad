//! Overlaps of memory locations, found as the tables of a trace grow.
//!
//! Ranges are indexed by generation and by the power of two above their size. So a look-up only
//! visits starts within that distance, and few ranges that do not overlap.

use crate::error::PredictError;
use anyorder_common::cancel::Cancel;
use anyorder_trace::{Location, Tables};
use std::collections::BTreeMap;

/// The most overlapping pairs before the analysis gives up.
const PAIRS_MAX: usize = 1 << 26;

/// The overlaps of the locations seen so far.
#[derive(Clone, Debug, Default)]
pub struct Overlaps {
    lists: Vec<Vec<u32>>,
    /// By generation and magnitude: start and number of a range, and its end.
    ranges: BTreeMap<(u32, u32), BTreeMap<(u64, u32), u64>>,
    pairs: usize,
}

impl Overlaps {
    /// Adds the new locations in `tables`. Calls `found` with each location that overlaps another,
    /// possibly repeatedly. Takes quadratic time and memory where all overlap.
    ///
    /// # Errors
    ///
    /// Fails when the job is stopped, and when too many locations overlap.
    pub fn grow(
        &mut self,
        tables: &Tables,
        cancel: &Cancel,
        mut found: impl FnMut(u32),
    ) -> Result<(), PredictError> {
        for at in self.lists.len()..tables.locations.len() {
            if cancel.reason().is_some() {
                return Err(PredictError::Stopped);
            }
            self.lists.push(Vec::new());
            if let Location::Range { address, size, generation } = tables.locations[at] {
                self.add(
                    at as u32,
                    generation,
                    (address, address.saturating_add(u64::from(size.max(1)))),
                );
            }
            for other in &self.lists[at] {
                found(*other);
                found(at as u32);
            }
            if self.pairs > PAIRS_MAX {
                return Err(PredictError::TooMany("overlapping locations"));
            }
        }
        Ok(())
    }

    fn add(&mut self, new: u32, generation: u32, (start, end): (u64, u64)) {
        let magnitude = |length: u64| 64 - (length - 1).leading_zeros();
        for ((_, power), ranges) in self.ranges.range((generation, 0)..=(generation, 64)) {
            let reach = 1u64.checked_shl(*power).unwrap_or(u64::MAX);
            let from = start.saturating_sub(reach);
            for ((_, other), other_end) in ranges.range((from, 0)..(end, 0)) {
                if *other_end > start {
                    self.lists[*other as usize].push(new);
                    self.lists[new as usize].push(*other);
                    self.pairs += 1;
                }
            }
        }
        let length = (end - start).max(1);
        self.ranges.entry((generation, magnitude(length))).or_default().insert((start, new), end);
    }

    /// Returns the other locations that a location overlaps.
    #[inline]
    #[must_use]
    pub fn of(&self, location: u32) -> &[u32] {
        self.lists.get(location as usize).map_or(&[], Vec::as_slice)
    }
}
