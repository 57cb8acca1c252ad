//! Rows of numbers. Each event has one row; rows are added in the order of the events.

/// A row of numbers for each event, in one allocation.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    offset: Vec<u32>,
    item: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists { offset: vec![0], item: Vec::new() }
    }
}

impl Lists {
    /// Adds a number to the current row.
    #[inline]
    pub(super) fn push(&mut self, item: u32) {
        self.item.push(item);
    }

    /// Adds a number if there is one and a condition holds.
    #[inline]
    pub(super) fn item_if(&mut self, condition: bool, item: Option<&u32>) {
        if condition && let Some(item) = item {
            self.item.push(*item);
        }
    }

    /// Ends the current row and sorts it without duplicates.
    #[inline]
    pub(super) fn end_set(&mut self) {
        let start = *self.offset.last().expect("never empty") as usize;
        if self.item.len() > start + 1 {
            self.item[start..].sort_unstable();
            let mut kept = start + 1;
            for at in start + 1..self.item.len() {
                if self.item[at] != self.item[kept - 1] {
                    self.item[kept] = self.item[at];
                    kept += 1;
                }
            }
            self.item.truncate(kept);
        }
        self.end();
    }

    /// Ends the current row.
    #[inline]
    pub(super) fn end(&mut self) {
        self.offset.push(self.item.len() as u32);
    }

    /// Returns the number of numbers.
    pub(super) fn items(&self) -> usize {
        self.item.len()
    }

    /// Returns a row.
    #[inline]
    pub(super) fn row(&self, at: u32) -> &[u32] {
        &self.item[self.offset[at as usize] as usize..self.offset[at as usize + 1] as usize]
    }
}
