//! The lives of memory: each allocation begins one.
//!
//! An address belongs to the life that the last allocation over it began, also after its memory was
//! freed: a use after the free is a use of what was freed. Memory that was never allocated, such as
//! static variables, has one life, without a number.

use super::fork_join::Segment;
use super::pages::PIECE;
use std::collections::BTreeMap;

/// What is left of a life: its addresses that no later allocation covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// The last address.
    pub(super) last: u64,
    /// The number of the life: which of all allocations began it, from 1.
    pub(super) life: usize,
    /// Where it was allocated; 0 if that does not matter.
    pub(super) allocated: Segment,
    /// Where it was freed last; 0 if it is not freed.
    pub(super) freed: Segment,
    /// Whether its allocation and its frees are not in the order of creations and joins.
    pub(super) is_odd: bool,
    /// Who touches all of it at once; see [`Sharing`](super::sharing::Sharing).
    pub(super) whole: u32,
    /// The thread whose stack it is, if it is one.
    pub(super) stack_of: Option<u32>,
}

impl Part {
    /// What an allocation in a segment begins.
    pub(super) fn new(allocated: Segment, whole: u32, stack_of: Option<u32>) -> Part {
        Part { last: 0, life: 0, allocated, freed: 0, is_odd: false, whole, stack_of }
    }
}

/// What an allocation ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    /// The parts that it covers, by their first addresses, as far as it covers them.
    pub(super) parts: Vec<(u64, Part)>,
    /// The first piece of its own, and the one behind its last. A piece in which the memory of
    /// another allocation lies, too, is not its own, and goes on as it was.
    pub(super) own: (u64, u64),
    /// The bytes of the new life.
    pub(super) room: u64,
}

impl Ended {
    /// Returns whether a part has a piece that goes on.
    pub(super) fn goes_on(&self, first: u64, part: &Part) -> bool {
        first >> PIECE < self.own.0 || part.last >> PIECE >= self.own.1
    }
}

/// All lives, in the order of the allocations.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// By first address; disjoint.
    parts: BTreeMap<u64, Part>,
    /// The allocations so far.
    count: usize,
}

impl Lives {
    /// Begins the life of a range that is not empty. Returns its number. Costs the logarithm of the
    /// number of parts for each part that it covers.
    pub(super) fn begin(
        &mut self,
        address: u64,
        size: u64,
        part: Part,
        ended: &mut Ended,
    ) -> usize {
        let asked = address.saturating_add(size - 1);
        // The rest of a piece is given out with it, unless another block begins there.
        let rest = asked | ((1 << PIECE) - 1);
        let has_rest = asked == rest || self.parts.range(asked + 1..=rest).next().is_none();
        let last = if has_rest { rest } else { asked };
        ended.parts.clear();
        self.cut_out(address, last, &mut ended.parts);
        self.count += 1;
        let first = address.div_ceil(1 << PIECE);
        let end = if has_rest { (last >> PIECE) + 1 } else { last >> PIECE };
        ended.own = (first, end.max(first));
        ended.room = (last - address).saturating_add(1);
        self.parts.insert(address, Part { last, life: self.count, ..part });
        self.count
    }

    /// Removes a range from all parts, and adds what they have there to `ended`.
    fn cut_out(&mut self, first: u64, last: u64, ended: &mut Vec<(u64, Part)>) {
        if let Some((start, part)) = self.at(first)
            && start < first
        {
            self.parts.insert(start, Part { last: first - 1, ..part });
            self.parts.insert(first, part);
        }
        while let Some((&start, &part)) = self.parts.range(first..=last).next() {
            self.parts.remove(&start);
            if part.last > last {
                self.parts.insert(last + 1, part);
            }
            ended.push((start, Part { last: part.last.min(last), ..part }));
        }
    }

    /// Returns the part that an address is in, with its first address.
    pub(super) fn at(&self, address: u64) -> Option<(u64, Part)> {
        let (start, part) = self.parts.range(..=address).next_back()?;
        (part.last >= address).then_some((*start, *part))
    }

    /// Calls a function for each part that a range meets. Returns whether all of the range lies in
    /// parts.
    pub(super) fn meet(
        &mut self,
        address: u64,
        size: u64,
        mut each: impl FnMut(&mut Part),
    ) -> bool {
        let last = address.saturating_add(size.max(1) - 1);
        let start = self.at(address).map_or(address, |(start, _)| start);
        let mut next = Some(address);
        for (start, part) in self.parts.range_mut(start..=last) {
            if next.is_some_and(|next| *start <= next) {
                next = part.last.checked_add(1);
            }
            each(part);
        }
        next.is_none_or(|next| next > last)
    }

    /// Takes all parts.
    pub(super) fn take(&mut self) -> Vec<(u64, Part)> {
        std::mem::take(&mut self.parts).into_iter().collect()
    }
}
