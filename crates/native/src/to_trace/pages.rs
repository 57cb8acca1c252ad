//! Something for each piece of memory, by pages.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The bytes of a piece, as a power of two.
pub(super) const PIECE: u32 = 3;

/// The pieces of a page, as a power of two.
pub(super) const PAGE: u32 = 9;

/// The pages that are remembered in front of the table.
const RECENT: usize = 1024;

/// No page: it would be behind the end of memory.
const NO_PAGE: u64 = u64::MAX;

/// The number of a page that is not there.
const ABSENT: u32 = u32::MAX;

/// The pages of memory that have been touched.
#[derive(Debug)]
pub(super) struct Pages<T> {
    numbers: FxHashMap<u64, u32>,
    /// The keys of `numbers`.
    ordered: BTreeSet<u64>,
    pages: Vec<T>,
    /// Numbers of pages that were removed.
    free: Vec<u32>,
    /// Pages with their numbers, each at its lowest bits.
    recent: Box<[(u64, u32); RECENT]>,
    empty: T,
}

impl<T: Copy> Pages<T> {
    /// Returns no pages; each begins as `empty`.
    pub(super) fn new(empty: T) -> Pages<T> {
        Pages {
            numbers: FxHashMap::default(),
            ordered: BTreeSet::new(),
            pages: Vec::new(),
            free: Vec::new(),
            recent: Box::new([(NO_PAGE, ABSENT); RECENT]),
            empty,
        }
    }

    #[inline]
    fn number(&mut self, page: u64) -> u32 {
        let recent = &mut self.recent[page as usize % RECENT];
        if recent.0 != page {
            *recent = (page, self.numbers.get(&page).copied().unwrap_or(ABSENT));
        }
        recent.1
    }

    /// Returns a page that has been touched.
    #[inline]
    pub(super) fn get(&mut self, page: u64) -> Option<&mut T> {
        let number = self.number(page);
        self.pages.get_mut(number as usize)
    }

    /// Returns a page, which is there from now on.
    #[inline]
    pub(super) fn touch(&mut self, page: u64) -> &mut T {
        let mut number = self.number(page);
        if number == ABSENT {
            number = self.add(page);
        }
        &mut self.pages[number as usize]
    }

    #[cold]
    fn add(&mut self, page: u64) -> u32 {
        let number = self.free.pop().unwrap_or(self.pages.len() as u32);
        if number as usize == self.pages.len() {
            self.pages.push(self.empty);
        }
        self.pages[number as usize] = self.empty;
        self.numbers.insert(page, number);
        self.ordered.insert(page);
        self.recent[page as usize % RECENT] = (page, number);
        number
    }

    /// Removes a page.
    pub(super) fn remove(&mut self, page: u64) {
        if let Some(number) = self.numbers.remove(&page) {
            self.ordered.remove(&page);
            self.free.push(number);
            self.recent[page as usize % RECENT] = (page, ABSENT);
        }
    }

    /// Returns the first page from one on that is there, if it is not behind another one.
    pub(super) fn next(&mut self, from: u64, last: u64) -> Option<u64> {
        if from > last {
            return None;
        }
        // Most ranges are small.
        if self.number(from) != ABSENT {
            return Some(from);
        }
        if from == last {
            return None;
        }
        self.ordered.range(from..=last).next().copied()
    }
}

/// Returns the first and the last piece of a range.
#[inline]
pub(super) fn pieces(address: u64, size: u64) -> (u64, u64) {
    (address >> PIECE, address.saturating_add(size.max(1) - 1) >> PIECE)
}
