//! Sets of small numbers as rows of words, all rows of a table equally wide.

/// Adds a number; returns whether it is new.
#[inline]
pub(crate) fn set(row: &mut [u64], number: u32) -> bool {
    let (word, bit) = (number as usize / 64, 1u64 << (number % 64));
    let new = row[word] & bit == 0;
    row[word] |= bit;
    new
}

/// Returns whether a number is in the set; numbers beyond the row are not.
#[inline]
pub(crate) fn has(row: &[u64], number: u32) -> bool {
    row.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
}

/// Adds all of another set, not wider than this one; returns whether one was new.
#[inline]
pub(crate) fn join(row: &mut [u64], other: &[u64]) -> bool {
    let mut new = 0;
    for (word, other) in row.iter_mut().zip(other) {
        new |= other & !*word;
        *word |= other;
    }
    new != 0
}

/// Returns whether every number of the first set is in the second.
#[inline]
pub(crate) fn within(row: &[u64], other: &[u64]) -> bool {
    row.iter().zip(other).all(|(word, other)| word & !other == 0)
}

/// Returns the size of the common part of two sets.
#[inline]
pub(crate) fn common(row: &[u64], other: &[u64]) -> u32 {
    row.iter().zip(other).map(|(word, other)| (word & other).count_ones()).sum()
}

/// Returns the least number that is in the first set and not in the second.
#[inline]
pub(crate) fn first_outside(row: &[u64], other: &[u64]) -> Option<u32> {
    let mut words = row.iter().zip(other).zip(0u32..);
    words.find_map(|((word, other), index)| {
        let rest = word & !other;
        (rest != 0).then(|| index * 64 + rest.trailing_zeros())
    })
}

/// Returns the least number of a set.
pub(crate) fn least(row: &[u64]) -> Option<u32> {
    let (word, index) = row.iter().zip(0u32..).find(|(word, _)| **word != 0)?;
    Some(index * 64 + word.trailing_zeros())
}

/// Returns the numbers of a set in order.
pub(crate) fn members(row: &[u64]) -> impl Iterator<Item = u32> + '_ {
    row.iter().zip(0u32..).flat_map(|(word, index)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some(index * 64 + bit)
        })
    })
}

/// Rows of one width, by their index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    width: usize,
    words: Vec<u64>,
    len: usize,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    #[inline]
    pub(crate) fn row(&self, index: u32) -> &[u64] {
        &self.words[index as usize * self.width..][..self.width]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, index: u32) -> &mut [u64] {
        &mut self.words[index as usize * self.width..][..self.width]
    }

    /// Adds a row: the words given, or zeros.
    pub(crate) fn push(&mut self, row: Option<&[u64]>) -> u32 {
        let at = self.words.len();
        match row {
            Some(row) => self.words.extend_from_slice(&row[..self.width]),
            None => self.words.resize(at + self.width, 0),
        }
        self.len += 1;
        (self.len - 1) as u32
    }

    /// Makes every row wider. Linear.
    pub(crate) fn widen(&mut self, width: usize) {
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
        assert!(set(rows.row_mut(a), 5) && !set(rows.row_mut(a), 5));
        rows.widen(2);
        assert!(set(rows.row_mut(b), 100));
        assert_eq!(members(rows.row(b)).collect::<Vec<_>>(), [1, 3, 100]);
        assert_eq!(members(rows.row(a)).collect::<Vec<_>>(), [5]);
        assert!(!within(rows.row(a), rows.row(b)));
        let a_row = rows.row(a).to_vec();
        assert!(join(rows.row_mut(b), &a_row) && !join(rows.row_mut(b), &a_row));
        assert_eq!(least(rows.row(b)), Some(1));
        assert!(within(rows.row(a), rows.row(b)));
        assert_eq!(common(rows.row(a), rows.row(b)), 1);
        assert_eq!(first_outside(rows.row(b), rows.row(a)), Some(1));
        assert!(has(rows.row(b), 100) && !has(rows.row(b), 101) && !has(rows.row(b), 1000));
    }
}
