//! Sets of small numbers as rows of 64-bit words.
//!
//! A row is a slice of words. It holds numbers below 64 times its length. Combined rows have equal
//! widths, or the first row is wider. Operations on whole rows take `n / 64` steps for `n` numbers.

/// Returns how many words a row for the numbers below `count` has.
#[inline]
#[must_use]
pub const fn width(count: usize) -> usize {
    count.div_ceil(64)
}

/// Adds a number; returns whether it is new.
///
/// # Panics
///
/// Panics if the row is too narrow for the number.
#[inline]
pub const fn set(row: &mut [u64], number: u32) -> bool {
    let (word, bit) = (number as usize / 64, 1u64 << (number % 64));
    let new = row[word] & bit == 0;
    row[word] |= bit;
    new
}

/// Removes a number.
///
/// # Panics
///
/// Panics if the row is too narrow for the number.
#[inline]
pub const fn unset(row: &mut [u64], number: u32) {
    row[number as usize / 64] &= !(1 << (number % 64));
}

/// Returns whether a number is in the set. Numbers beyond the row are not in it.
#[inline]
#[must_use]
pub fn has(row: &[u64], number: u32) -> bool {
    row.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
}

/// Adds all numbers of another set, which must not be wider. Returns whether one was new.
#[inline]
pub fn join(row: &mut [u64], other: &[u64]) -> bool {
    let mut new = 0;
    for (word, other) in row.iter_mut().zip(other) {
        new |= other & !*word;
        *word |= other;
    }
    new != 0
}

/// Returns whether every number of the first set is in the second.
#[inline]
#[must_use]
pub fn within(row: &[u64], other: &[u64]) -> bool {
    row.iter().zip(other).all(|(word, other)| word & !other == 0)
}

/// Returns the size of the common part of two sets.
#[inline]
#[must_use]
pub fn common(row: &[u64], other: &[u64]) -> u32 {
    row.iter().zip(other).map(|(word, other)| (word & other).count_ones()).sum()
}

/// Returns the least number that is in the first set and not in the second.
#[inline]
#[must_use]
pub fn first_outside(row: &[u64], other: &[u64]) -> Option<u32> {
    let mut words = row.iter().zip(other).zip(0u32..);
    words.find_map(|((word, other), index)| {
        let rest = word & !other;
        (rest != 0).then(|| index * 64 + rest.trailing_zeros())
    })
}

/// Returns the least number of a set.
#[inline]
#[must_use]
pub fn least(row: &[u64]) -> Option<u32> {
    let (word, index) = row.iter().zip(0u32..).find(|(word, _)| **word != 0)?;
    Some(index * 64 + word.trailing_zeros())
}

/// Returns the numbers of a word in order.
#[inline]
pub fn members_of_word(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        let found = (word != 0).then_some(bit);
        word &= word.wrapping_sub(1);
        found
    })
}

/// Returns the numbers of a set in order.
#[inline]
pub fn members(row: &[u64]) -> impl Iterator<Item = u32> + '_ {
    let words = row.iter().zip(0u32..);
    words.flat_map(|(word, index)| members_of_word(*word).map(move |bit| index * 64 + bit))
}

/// Rows of one width, by their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    width: usize,
    words: Vec<u64>,
    len: usize,
}

impl Rows {
    /// Returns no rows, for numbers below `count`.
    #[must_use]
    pub const fn new(count: usize) -> Rows {
        Rows { width: width(count), words: Vec::new(), len: 0 }
    }

    /// Returns `count` rows, each with a bit for each of `count` numbers.
    #[must_use]
    pub fn square(count: usize) -> Rows {
        Rows { width: width(count), words: vec![0; count * width(count)], len: count }
    }

    /// Returns how many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the memory of the rows.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// Returns one row.
    ///
    /// # Panics
    ///
    /// Panics if there is no row with this index.
    #[inline]
    #[must_use]
    pub fn row(&self, index: u32) -> &[u64] {
        &self.words[index as usize * self.width..][..self.width]
    }

    /// Returns one row for writing.
    ///
    /// # Panics
    ///
    /// Panics if there is no row with this index.
    #[inline]
    pub fn row_mut(&mut self, index: u32) -> &mut [u64] {
        &mut self.words[index as usize * self.width..][..self.width]
    }

    /// Adds a number to a row; returns whether it is new.
    ///
    /// # Panics
    ///
    /// Panics if there is no row with this index, or the rows are too narrow for the number.
    #[inline]
    pub fn set(&mut self, index: u32, number: u32) -> bool {
        set(self.row_mut(index), number)
    }

    /// Returns whether a number is in a row.
    ///
    /// # Panics
    ///
    /// Panics if there is no row with this index.
    #[inline]
    #[must_use]
    pub fn has(&self, index: u32, number: u32) -> bool {
        has(self.row(index), number)
    }

    /// Adds all numbers of the row `from` to the row `to`; returns whether one was new.
    ///
    /// # Panics
    ///
    /// Panics if there is no row with one of the indices.
    #[inline]
    pub fn join(&mut self, to: u32, from: u32) -> bool {
        if to == from {
            return false;
        }
        let (low, high) = (to.min(from), to.max(from));
        let (head, tail) = self.words.split_at_mut(high as usize * self.width);
        let (low, high) = (&mut head[low as usize * self.width..][..self.width], tail);
        if to < from { join(low, &high[..self.width]) } else { join(&mut high[..self.width], low) }
    }

    /// Adds a row: the given words, or zeros. Returns its index.
    ///
    /// # Panics
    ///
    /// Panics if the row given is too narrow.
    pub fn push(&mut self, row: Option<&[u64]>) -> u32 {
        let at = self.words.len();
        match row {
            Some(row) => self.words.extend_from_slice(&row[..self.width]),
            None => self.words.resize(at + self.width, 0),
        }
        self.len += 1;
        (self.len - 1) as u32
    }

    /// Makes every row wider. Linear.
    ///
    /// # Panics
    ///
    /// Panics if the rows are wider already.
    pub fn widen(&mut self, width: usize) {
        let mut words = vec![0; self.len * width];
        if self.width > 0 {
            let rows = words.chunks_exact_mut(width).zip(self.words.chunks_exact(self.width));
            rows.for_each(|(new, old)| new[..old.len()].copy_from_slice(old));
        }
        self.words = words;
        self.width = width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_sets_when_they_get_wider() {
        let mut rows = Rows::default();
        rows.widen(1);
        let (a, b) = (rows.push(None), rows.push(Some(&[0b1010])));
        assert!(rows.set(a, 5) && !rows.set(a, 5));
        rows.widen(2);
        assert!(rows.set(b, 100));
        assert_eq!(members(rows.row(b)).collect::<Vec<_>>(), [1, 3, 100]);
        assert_eq!(members(rows.row(a)).collect::<Vec<_>>(), [5]);
        assert!(!within(rows.row(a), rows.row(b)));
        assert!(rows.join(b, a) && !rows.join(b, a) && !rows.join(b, b));
        assert_eq!(least(rows.row(b)), Some(1));
        assert!(within(rows.row(a), rows.row(b)));
        assert_eq!(common(rows.row(a), rows.row(b)), 1);
        assert_eq!(first_outside(rows.row(b), rows.row(a)), Some(1));
        assert!(rows.has(b, 100) && !rows.has(b, 101) && !rows.has(b, 1000));
        assert!(rows.join(a, b) && rows.row(a) == rows.row(b));
        unset(rows.row_mut(a), 100);
        assert_eq!(members(rows.row(a)).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!((rows.len(), rows.bytes()), (2, 32));
    }

    #[test]
    fn words_have_their_first_and_last_bit() {
        assert_eq!(members_of_word(0).count(), 0);
        assert_eq!(members_of_word(1 | 1 << 63).collect::<Vec<_>>(), [0, 63]);
        assert_eq!(members_of_word(u64::MAX).count(), 64);
        assert_eq!([0, 1, 64, 65].map(width), [0, 1, 1, 2]);
        assert_eq!(Rows::square(65).bytes(), 65 * 16);
        assert!(Rows::new(65).is_empty());
        assert_eq!(least(&[0, 0]), None);
    }
}
