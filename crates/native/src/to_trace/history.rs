//! What happened to a piece of memory in its present life.
//!
//! Two things are known of each piece: whether two of its accesses *conflict* (one writes, and
//! [`ForkJoin`] does not order them), and a number for its *history*, which is the sequence of its
//! accesses: who did each, between which two of his synchronisations, at which place in the code,
//! and how.

use super::fork_join::{ForkJoin, Segment};

/// The state of a piece. Memory: sixteen bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The segment of the last write, with [`OTHERS`], or [`SHARED`]; 0 for none.
    write: u32,
    /// The segment of the reads since, [`SEVERAL`] or [`FREED`]; 0 for none, or for reads in the
    /// segment of the write.
    read: u32,
    history: u64,
}

/// A piece that nobody has touched.
pub(super) const UNTOUCHED: Piece = Piece { write: 0, read: 0, history: 0 };

/// Two accesses conflict.
const SHARED: u32 = u32::MAX;

/// Several threads have touched the piece.
const OTHERS: u32 = 1 << 31;

/// Reads of several segments.
const SEVERAL: u32 = u32::MAX;

/// The block was freed; the write is that free.
const FREED: u32 = u32::MAX - 1;

/// What one access does to the history of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) writes: bool,
    /// What the histories of all pieces that it touches have in common.
    pub(super) sign: u64,
}

impl Piece {
    pub(super) fn is_touched(&self) -> bool {
        (self.write, self.read) != (0, 0)
    }

    pub(super) fn is_shared(&self) -> bool {
        self.write == SHARED
    }

    pub(super) fn share(&mut self) {
        self.write = SHARED;
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    /// Returns the only thread that has touched the piece.
    pub(super) fn only(&self, order: &ForkJoin) -> Option<u32> {
        match (self.write, self.read) {
            (SHARED | OTHERS.., _) | (_, SEVERAL) => None,
            (0, 0) => None,
            (0, read) => Some(order.lane(read)),
            (write, _) => Some(order.lane(write)),
        }
    }

    /// Begins in a block that was allocated in one segment, and freed in another one, if it was.
    pub(super) fn begin(&mut self, allocated: Segment, freed: Segment) {
        (self.write, self.read) = if freed == 0 { (allocated, 0) } else { (freed, FREED) };
    }

    /// A thread touches the piece.
    #[inline]
    pub(super) fn touch(&mut self, lane: usize, act: Act, order: &mut ForkJoin) {
        self.history = mixed(self.history ^ act.sign);
        let now = order.present(lane);
        // Most accesses are of the segment that did the last one.
        let wrote = self.write & !OTHERS == now && self.read == 0;
        let is_same = wrote || !act.writes && self.read == now;
        if !is_same && self.write != SHARED {
            self.change(lane, now, act.writes, order);
        }
    }

    fn change(&mut self, lane: usize, now: Segment, writes: bool, order: &mut ForkJoin) {
        let last = self.write & !OTHERS;
        let mut others = self.write & OTHERS;
        let mut is_fine = true;
        if last != 0 {
            let is_own = order.lane(last) as usize == lane;
            others |= if is_own { 0 } else { OTHERS };
            // A use after the free is one in every order.
            is_fine &= is_own || self.read != FREED && order.is_before(last, lane);
        }
        if !matches!(self.read, 0 | FREED | SEVERAL) && order.lane(self.read) as usize != lane {
            others |= OTHERS;
            is_fine &= !writes || order.is_before(self.read, lane);
        }
        // Who the readers were is not known any more.
        is_fine &= !(writes && self.read == SEVERAL) || order.is_after_all(lane);
        if !is_fine {
            self.write = SHARED;
        } else if writes {
            (self.write, self.read) = (now | others, if self.read == FREED { FREED } else { 0 });
        } else {
            self.write = last | others;
            self.read = match self.read {
                FREED => FREED,
                0 if last == now => 0,
                0 => now,
                read if read != SEVERAL && order.is_before(read, lane) => now,
                _ => SEVERAL,
            };
        }
    }

    /// A thread frees the block.
    pub(super) fn free(&mut self, lane: usize, order: &mut ForkJoin) {
        self.history = mixed(!self.history);
        if self.write != SHARED {
            self.change(lane, order.present(lane), true, order);
        }
        if self.write != SHARED {
            self.read = FREED;
        }
    }
}

/// Mixes the bits of a number. The product of two halves of a multiplication keeps all of them.
#[inline]
pub(super) fn mixed(number: u64) -> u64 {
    let wide = u128::from(number ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (wide as u64) ^ (wide >> 64) as u64
}
