//! Locations as cells: two accesses overlap iff they share a cell.
//!
//! A named location is one cell. Address ranges of one generation are cut at all their bounds; a
//! range is a run of consecutive cells. Time: n log n in the locations.

use anyorder_trace::{Location, LocationId, Tables};
use std::ops::Range;

/// The cells of all locations.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// By location: its first cell, and how many it has. Ignored locations have none.
    of_location: Vec<(u32, u32)>,
    count: usize,
}

impl Cells {
    /// Cuts the locations of a trace. `ignored` says which ones take no part.
    pub(crate) fn new(tables: &Tables, ignored: impl Fn(LocationId) -> bool) -> Cells {
        let bounds = |location: &Location| match *location {
            Location::Range { address, size, generation } => {
                let end = u128::from(address) + u128::from(size.max(1));
                Some([(generation, u128::from(address)), (generation, end)])
            }
            _ => None,
        };
        let mut cuts: Vec<(u32, u128)> =
            tables.locations.iter().filter_map(bounds).flatten().collect();
        cuts.sort_unstable();
        cuts.dedup();
        let place = |cut: &(u32, u128)| cuts.partition_point(|other| other < cut) as u32;
        let mut count = cuts.len();
        let mut of_location = Vec::with_capacity(tables.locations.len());
        for (at, location) in tables.locations.iter().enumerate() {
            let cells = match bounds(location) {
                _ if ignored(LocationId(at as u32)) => (0, 0),
                Some([start, end]) => (place(&start), place(&end) - place(&start)),
                None => {
                    count += 1;
                    (count as u32 - 1, 1)
                }
            };
            of_location.push(cells);
        }
        Cells { of_location, count }
    }

    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns the cells of a location.
    #[inline]
    pub(crate) fn of(&self, location: u32) -> Range<usize> {
        let (first, count) = self.of_location[location as usize];
        first as usize..first as usize + count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::NameId;

    #[test]
    fn ranges_share_cells_iff_they_overlap() {
        let range = |address, size, generation| Location::Range { address, size, generation };
        let locations = vec![
            Location::Named(NameId(1)),
            range(0, 8, 0),
            range(4, 8, 0),
            range(8, 4, 0),
            range(0, 64, 0),
            range(4, 8, 1),
            range(5, 0, 1),
            range(u64::MAX, 8, 1),
            Location::Named(NameId(2)),
        ];
        let tables = Tables { locations, ..Tables::default() };
        let cells = Cells::new(&tables, |location| location.0 == 8);
        let overlap = |a: u32, b: u32| cells.of(a).any(|cell| cells.of(b).contains(&cell));
        let overlapping = [(1, 2), (1, 4), (2, 3), (2, 4), (3, 4), (5, 6)];
        for a in 0..8 {
            for b in a..8 {
                assert_eq!(overlap(a, b), a == b || overlapping.contains(&(a, b)), "{a} {b}");
            }
        }
        assert!(cells.of(8).is_empty());
        assert!((0..9).all(|location| cells.of(location).end <= cells.len()));
    }
}
