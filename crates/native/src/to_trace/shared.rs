//! The second pass over the events: what [sharing](super::sharing) has left.

use super::lives::{Ended, Lives, Part};
use super::pages::{PAGE, Pages, pieces};
use super::ranges::Ranges;
use super::sharing::{NOBODY, PIECES, SIZE_MAX, UNKNOWN_MAX};

/// Shared pieces of one life that lie together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Run {
    /// The life; 0 for memory before its first allocation.
    pub(super) life: usize,
    pub(super) first: u64,
    /// The piece behind the last one.
    pub(super) end: u64,
}

/// What several threads touch, in the order of a second pass over the same events.
#[derive(Debug)]
pub(super) struct Shared {
    lives: Lives,
    /// By piece: whether it is shared in its present life.
    bits: Pages<[u64; PIECES / 64]>,
    ranges: Ranges,
    /// In the order of the lives.
    runs: Vec<Run>,
    /// The first run of a life that has not begun.
    next: usize,
    kept: Vec<bool>,
    ended: Ended,
    /// Whether everything counts as shared.
    everything: bool,
}

impl Shared {
    /// Begins with the memory that no allocation has covered. The runs are in order.
    pub(super) fn new(runs: Vec<Run>, ranges: Ranges, kept: Vec<bool>, everything: bool) -> Shared {
        let mut shared = Shared {
            lives: Lives::default(),
            bits: Pages::new([0; PIECES / 64]),
            ranges,
            runs,
            next: 0,
            kept,
            ended: Ended::default(),
            everything,
        };
        shared.set(0);
        shared
    }

    /// Marks the shared pieces of a life.
    fn set(&mut self, life: usize) {
        while let Some(run) = self.runs.get(self.next).filter(|run| run.life <= life) {
            self.next += 1;
            for piece in run.first..run.end {
                let bits = self.bits.touch(piece >> PAGE);
                bits[piece as usize % PIECES / 64] |= 1 << (piece % 64);
            }
        }
    }

    /// Begins the life of a block or a stack. Returns its bytes; `None` if it is private.
    pub(super) fn begin(&mut self, address: u64, size: u64) -> Option<u64> {
        if size == 0 {
            return Some(0);
        }
        let life = self.lives.begin(address, size, Part::new(0, NOBODY, None), &mut self.ended);
        let (first, end) = self.ended.own;
        let mut page = first >> PAGE;
        while end > first
            && let Some(now) = self.bits.next(page, (end - 1) >> PAGE)
        {
            let (from, to) = (first.max(now << PAGE), end.min((now + 1) << PAGE));
            if to - from == PIECES as u64 {
                self.bits.remove(now);
            } else if let Some(bits) = self.bits.get(now) {
                for piece in from..to {
                    bits[piece as usize % PIECES / 64] &= !(1 << (piece % 64));
                }
            }
            page = now + 1;
        }
        self.set(life);
        let is_kept = self.everything || self.kept.get(life).is_none_or(|kept| *kept);
        is_kept.then_some(self.ended.room)
    }

    /// Returns whether everything counts as shared.
    pub(super) fn is_everything(&self) -> bool {
        self.everything
    }

    /// Returns whether the life of an address is not private. Memory that was never allocated is
    /// not.
    pub(super) fn is_kept(&self, address: u64) -> bool {
        let part = self.lives.at(address);
        self.everything
            || part.is_none_or(|(_, part)| self.kept.get(part.life).is_none_or(|kept| *kept))
    }

    /// Returns whether another thread touches memory that is freed and was never allocated.
    pub(super) fn is_unknown_shared(&mut self, lane: u32, address: u64, size: u64) -> bool {
        self.is_shared(lane, address, size.clamp(1, UNKNOWN_MAX))
    }

    /// Returns whether another thread touches the memory of an access.
    #[inline]
    pub(super) fn is_shared(&mut self, lane: u32, address: u64, size: u64) -> bool {
        if size > SIZE_MAX || self.everything {
            return self.everything || self.is_shared_at_once(address, size);
        }
        let (first, last) = pieces(address, size);
        let mut piece = first;
        while piece <= last {
            let bits = self.bits.get(piece >> PAGE);
            if bits.is_some_and(|bits| bits[piece as usize % PIECES / 64] >> (piece % 64) & 1 != 0)
            {
                return true;
            }
            piece += 1;
        }
        // A long access of another thread has touched the whole of each life that it met.
        !self.ranges.is_empty()
            && self.ranges.is_of_others(lane, address, size)
            && !self.lives.meet(address, size, |_| ())
    }

    /// Returns whether a range is not all in private lives.
    fn is_shared_at_once(&mut self, address: u64, size: u64) -> bool {
        let (mut is_kept, kept) = (false, &self.kept);
        let is_all_allocated = self.lives.meet(address, size, |part| {
            is_kept |= kept.get(part.life).is_none_or(|kept| *kept);
        });
        is_kept || !is_all_allocated
    }
}
