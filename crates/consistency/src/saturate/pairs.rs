//! The decided pairs of messages: one bit for each order of each pair of one handler.

use super::endpoints::Endpoints;
use crate::partial::MessageId;
use anyorder_common::bits::{has, set, unset, width};
use anyorder_system::{Control, Stopped};
use std::ops::Range;

/// For each place, a row of bits: the places of its handler before which its message runs.
pub(super) struct Pairs {
    bits: Vec<u64>,
    /// For each place, where its row starts, and the first place of its handler.
    rows: Vec<(usize, u32)>,
    /// For each message, its place; meaningless for initial messages.
    places: Vec<u32>,
}

impl Pairs {
    /// Starts with all pairs undecided.
    pub(super) fn new(endpoints: &Endpoints, control: &Control<'_>) -> Result<Pairs, Stopped> {
        let mut words = 0;
        let mut rows = Vec::with_capacity(endpoints.messages.len());
        for places in &endpoints.places {
            let width = width(places.len());
            for _ in places.clone() {
                rows.push((words, places.start));
                words += width;
            }
        }
        control.check_memory(endpoints.bytes(), words as u64 * 8)?;
        let messages = endpoints.messages.iter().max().map_or(0, |&last| last as usize + 1);
        let mut places = vec![0; messages];
        for (place, &message) in (0..).zip(&endpoints.messages) {
            places[message as usize] = place;
        }
        Ok(Pairs { bits: vec![0; words], rows, places })
    }

    /// The place of a posted message.
    pub(super) fn place(&self, message: MessageId) -> u32 {
        self.places[message as usize]
    }

    /// The row of a place, and the number of another place of its handler within that row.
    fn row(&self, x: u32, y: u32) -> (Range<usize>, u32) {
        let (start, first) = self.rows[x as usize];
        let number = y - first;
        (start..start + number as usize / 64 + 1, number)
    }

    /// Whether the message of the first place runs before that of the second; both are of one
    /// handler.
    pub(super) fn before(&self, x: u32, y: u32) -> bool {
        let (row, number) = self.row(x, y);
        has(&self.bits[row], number)
    }

    /// Records that it does.
    pub(super) fn set(&mut self, x: u32, y: u32) {
        let (row, number) = self.row(x, y);
        set(&mut self.bits[row], number);
    }

    /// Removes the record.
    pub(super) fn clear(&mut self, x: u32, y: u32) {
        let (row, number) = self.row(x, y);
        unset(&mut self.bits[row], number);
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        self.bits.len() as u64 * 8
    }
}
