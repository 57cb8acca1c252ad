//! Memory cut into cells. Every location of the trace contains a cell completely or not at all.
//!
//! A location is a run of neighbouring cells, and two locations overlap exactly if they share a
//! cell. So a statement about each byte of a range reduces to one about each cell.

use anyorder_trace::{Location, Tables};
use std::collections::HashMap;
use std::ops::Range;

/// The cells of each location.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    of: Vec<(u32, u32)>,
    count: u32,
}

impl Cells {
    /// Cuts the memory that a trace names. `O(n log n)` for `n` locations.
    pub(super) fn new(tables: &Tables) -> Cells {
        let mut cells = Cells { of: vec![(0, 0); tables.locations.len()], count: 0 };
        let mut borders: Vec<(u32, u64)> = Vec::new();
        let mut places: HashMap<Location, u32> = HashMap::new();
        for (at, location) in tables.locations.iter().enumerate() {
            match range(*location) {
                Some((generation, bytes)) => {
                    borders.push((generation, bytes.start));
                    borders.push((generation, bytes.end));
                }
                None => {
                    let cell = *places.entry(*location).or_insert(cells.count);
                    cells.of[at] = (cell, cell + 1);
                    cells.count = cells.count.max(cell + 1);
                }
            }
        }
        borders.sort_unstable();
        borders.dedup();
        let base = cells.count;
        for (at, location) in tables.locations.iter().enumerate() {
            if let Some((generation, bytes)) = range(*location) {
                let place = |byte| {
                    base + borders.binary_search(&(generation, byte)).unwrap_or_default() as u32
                };
                cells.of[at] = (place(bytes.start), place(bytes.end));
            }
        }
        cells.count += borders.len() as u32;
        cells
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns the cells of a location; none for an unknown location.
    #[inline]
    pub(super) fn of(&self, location: u32) -> Range<u32> {
        let (start, end) = self.of.get(location as usize).copied().unwrap_or_default();
        start..end
    }
}

/// Returns the range of a location. An empty range counts as one byte.
fn range(location: Location) -> Option<(u32, Range<u64>)> {
    match location {
        Location::Range { address, size, generation } => {
            let address = address.min(u64::MAX - 1);
            Some((generation, address..address.saturating_add(u64::from(size.max(1)))))
        }
        _ => None,
    }
}
