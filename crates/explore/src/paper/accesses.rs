//! Sets of accesses, numbered.

use anyorder_system::Place;
use rustc_hash::FxHashMap;

/// A set of accesses by its number.
pub(crate) type Accesses = u32;

/// The empty set.
pub(crate) const NONE: Accesses = 0;

/// All sets of accesses. An access is a place's number times two, plus one for a write.
pub(crate) struct AccessTable {
    places: FxHashMap<Place, u32>,
    names: Vec<Place>,
    numbers: FxHashMap<Box<[u32]>, Accesses>,
    sets: Vec<Box<[u32]>>,
    /// For a carried set and a step: the accesses that remain behind the step, and whether they
    /// conflict.
    rests: FxHashMap<(Accesses, Accesses), (Accesses, bool)>,
    as_printed: bool,
}

impl AccessTable {
    pub(crate) fn new(as_printed: bool) -> AccessTable {
        let mut table = AccessTable {
            places: FxHashMap::default(),
            names: Vec::new(),
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            rests: FxHashMap::default(),
            as_printed,
        };
        table.number(Vec::new());
        table
    }

    /// Returns the code of an access.
    pub(crate) fn code(&mut self, place: Place, write: bool) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.places.entry(place).or_insert(next);
        if number == next {
            self.names.push(place);
        }
        assert!(number < u32::MAX / 2, "2^31 places");
        number * 2 + u32::from(write)
    }

    /// Returns the number of a set of codes.
    pub(crate) fn number(&mut self, mut codes: Vec<u32>) -> Accesses {
        codes.sort_unstable();
        codes.dedup();
        if !self.as_printed {
            // A conflict with a read is also a conflict with a write, and a write removes both.
            let writes = codes.clone();
            codes.retain(|code| code % 2 == 1 || writes.binary_search(&(code + 1)).is_err());
        }
        let next = self.sets.len() as u32;
        let codes = codes.into_boxed_slice();
        let number = *self.numbers.entry(codes.clone()).or_insert(next);
        if number == next {
            self.sets.push(codes);
        }
        number
    }

    /// Returns the accesses of `carried` that remain behind a step with the accesses `step`, and
    /// whether they conflict. [Algorithm 5, lines 8 and 16]
    ///
    /// As printed, an access is dropped when it conflicts. Here a write that conflicts only with a
    /// read stays: an earlier step may read the place as well, without a conflict with the reader.
    pub(crate) fn pass(&mut self, carried: Accesses, step: Accesses) -> (Accesses, bool) {
        if let Some(known) = self.rests.get(&(carried, step)) {
            return *known;
        }
        let (a, b) = (&self.sets[carried as usize], &self.sets[step as usize]);
        let mut conflict = false;
        let mut left = Vec::with_capacity(a.len());
        for code in a {
            let (place, write) = (code / 2, code % 2 == 1);
            let written = b.binary_search(&(place * 2 + 1)).is_ok();
            let read = b.binary_search(&(place * 2)).is_ok();
            let meets = written || (write && read);
            conflict |= meets;
            let dropped = if self.as_printed { meets } else { written };
            if !dropped {
                left.push(*code);
            }
        }
        let rest = (self.number(left), conflict);
        self.rests.insert((carried, step), rest);
        rest
    }

    /// Returns the places on which two sets conflict.
    pub(crate) fn conflicts(&self, a: Accesses, b: Accesses) -> Vec<Place> {
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let meets = |code: &&u32| {
            b.iter().any(|other| other / 2 == **code / 2 && (other % 2 == 1 || **code % 2 == 1))
        };
        let places = a.iter().filter(meets).map(|code| self.names[(code / 2) as usize]);
        let mut places: Vec<Place> = places.collect();
        places.dedup();
        places
    }

    /// Returns the approximate memory of the table, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.sets.len() as u64) * 96
            + (self.rests.len() as u64) * 24
            + self.names.len() as u64 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessTable, NONE};
    use anyorder_system::Place;

    #[test]
    fn a_reader_does_not_take_a_write_away() {
        for as_printed in [false, true] {
            let mut table = AccessTable::new(as_printed);
            let (read, write) = (table.code(Place(7), false), table.code(Place(7), true));
            let (reader, writer) = (table.number(vec![read]), table.number(vec![write]));
            assert_eq!(table.pass(reader, reader), (reader, false));
            assert_eq!(table.pass(reader, writer), (NONE, true));
            assert_eq!(table.pass(writer, writer), (NONE, true));
            let left = if as_printed { NONE } else { writer };
            assert_eq!(table.pass(writer, reader), (left, true));
            assert_eq!(table.conflicts(writer, reader), [Place(7)]);
        }
    }
}
