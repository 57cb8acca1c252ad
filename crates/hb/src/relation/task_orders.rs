//! The tasks of a handler that end before each task begins.
//!
//! An order is a clock over the chains of the handler, by local number: its entry is the number of
//! the event after the last task of the chain that ends before. Orders share their parts, so a bag
//! of tasks that follow nothing, each on a chain of its own, costs nothing.

use crate::relation::state::Clocks;
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef};

/// The orders of all posted strands.
#[derive(Debug)]
pub(crate) struct TaskOrders {
    pub(crate) clocks: Clocks,
    of_strand: Vec<ClockRef>,
    /// The order of each strand with the strand itself, once some task was put after it: tasks that
    /// follow the same one share their orders.
    with_itself: Vec<ClockRef>,
    /// The last tasks before each strand, as ranges of `last`.
    ranges: Vec<(u32, u32)>,
    last: Vec<StrandId>,
}

/// An order under construction: a clock, and tasks of which it is the join.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) clock: ClockRef,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    strand: StrandId,
    local: ChainId,
    value: u32,
}

impl Default for Order {
    fn default() -> Order {
        Order { clock: ClockRef::EMPTY, parts: Vec::new() }
    }
}

/// The most parts of an order that are compared with a new one, to see whether it has them all.
const PARTS_COMPARED_MAX: usize = 4;

impl TaskOrders {
    pub(crate) fn new(strands: usize, memory_bytes_max: Option<u64>) -> TaskOrders {
        TaskOrders {
            clocks: Clocks::new(memory_bytes_max),
            of_strand: vec![ClockRef::EMPTY; strands],
            with_itself: vec![ClockRef::EMPTY; strands],
            ranges: vec![(0, 0); strands],
            last: Vec::new(),
        }
    }

    /// Prepares another pass that finds all orders again.
    pub(crate) fn restart(&mut self) {
        self.with_itself.fill(ClockRef::EMPTY);
        self.clocks.compact(&mut self.of_strand);
        self.last.clear();
    }

    /// Returns the entry of a chain in the order of a strand.
    #[inline]
    pub(crate) fn get(&self, strand: StrandId, local: ChainId) -> u32 {
        self.clocks.get(self.of_strand[strand.index()], local)
    }

    /// Returns the order of a strand.
    pub(crate) fn of(&self, strand: StrandId) -> ClockRef {
        self.of_strand[strand.index()]
    }

    /// Returns the tasks directly before a strand, the last one first: each other task of its order
    /// is before one of them.
    pub(crate) fn last_before(&self, strand: StrandId) -> &[StrandId] {
        let (start, end) = self.ranges[strand.index()];
        &self.last[start as usize..end as usize]
    }

    /// Adds a task, and all tasks before it, to an order. `value` is the number of the event after
    /// its last one.
    pub(crate) fn put(&mut self, order: &mut Order, strand: StrandId, local: ChainId, value: u32) {
        if self.clocks.get(order.clock, local) >= value {
            return;
        }
        let mut more = self.with_itself[strand.index()];
        if more == ClockRef::EMPTY {
            more = self.clocks.raise(self.of(strand), local, value);
            self.with_itself[strand.index()] = more;
        }
        let covers = order.parts.len() <= PARTS_COMPARED_MAX
            && order.parts.iter().all(|part| self.clocks.get(more, part.local) >= part.value);
        if covers {
            order.parts.clear();
        }
        order.clock = if covers { more } else { self.clocks.join(order.clock, more) };
        order.parts.push(Part { strand, local, value });
    }

    /// Sets the order of a strand.
    pub(crate) fn set(&mut self, strand: StrandId, mut order: Order) {
        order.parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.value));
        let start = self.last.len() as u32;
        let mut known = ClockRef::EMPTY;
        let several = order.parts.len() > 1;
        for part in order.parts {
            if !several {
                self.last.push(part.strand);
            } else if self.clocks.get(known, part.local) < part.value {
                known = self.clocks.join(known, self.with_itself[part.strand.index()]);
                self.last.push(part.strand);
            }
        }
        self.ranges[strand.index()] = (start, self.last.len() as u32);
        self.of_strand[strand.index()] = order.clock;
    }
}
