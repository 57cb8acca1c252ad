//! Events in columns: one array a property, so that a pass reads only what it needs.

use crate::event::Op;
use crate::ids::{SiteId, StackId, TaskId};
use std::iter::{Copied, Zip};
use std::ops::Range;
use std::slice::Iter;

/// A property that few events have: the positions that have it, ascending, with their values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sparse<T> {
    rows: Vec<u32>,
    values: Vec<T>,
}

/// All rows of a column that have a value, ascending.
pub type SparseRows<'a, T> = Zip<Copied<Iter<'a, u32>>, Copied<Iter<'a, T>>>;

impl<T> Default for Sparse<T> {
    fn default() -> Sparse<T> {
        Sparse { rows: Vec::new(), values: Vec::new() }
    }
}

impl<T: Copy> Sparse<T> {
    /// Sets the value of `row`, which must come after all rows that have one.
    ///
    /// # Panics
    ///
    /// Panics when `row` does not come after the last one.
    pub fn push(&mut self, row: u32, value: T) {
        assert!(self.rows.last().is_none_or(|last| *last < row), "sparse rows must ascend");
        self.rows.push(row);
        self.values.push(value);
    }

    /// Sets the value of `row` if there is one; see [`push`](Self::push).
    ///
    /// # Panics
    ///
    /// Panics as [`push`](Self::push) does.
    pub fn extend(&mut self, row: u32, value: Option<T>) {
        if let Some(value) = value {
            self.push(row, value);
        }
    }

    /// Returns the last row that has a value.
    #[must_use]
    pub fn last_row(&self) -> Option<u32> {
        self.rows.last().copied()
    }

    /// Returns the value of `row`, in time logarithmic in the number of rows that have one.
    #[must_use]
    pub fn get(&self, row: u32) -> Option<T> {
        self.rows.binary_search(&row).ok().map(|i| self.values[i])
    }

    /// Returns all rows that have a value, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, T)> + '_ {
        self.rows()
    }

    /// Returns all rows that have a value, ascending, as a type with a name.
    pub fn rows(&self) -> SparseRows<'_, T> {
        self.rows.iter().copied().zip(self.values.iter().copied())
    }

    /// Returns the number of rows that have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no row has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
    }

    /// Appends the values of a range of rows of `other`, whose first row becomes `start`.
    fn append_rows(&mut self, start: u32, other: &Sparse<T>, range: &Range<u32>) {
        let inside = other.rows.partition_point(|row| *row < range.start)
            ..other.rows.partition_point(|row| *row < range.end);
        let moved = other.rows[inside.clone()].iter().map(|row| row - range.start + start);
        self.rows.extend(moved);
        self.values.extend_from_slice(&other.values[inside]);
    }
}

/// Events in columns. All dense columns have one entry an event, except that `numbers` is empty in
/// traces whose events are labelled by position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    /// Kind and mode: 1 byte.
    pub ops: Vec<Op>,
    /// The task: 4 bytes.
    pub tasks: Vec<TaskId>,
    /// The operand: 4 bytes.
    pub operands: Vec<u32>,
    /// The source position: 4 bytes.
    pub sites: Vec<SiteId>,
    /// The number or name that the input gives the event: 4 bytes, or none.
    pub numbers: Vec<u32>,
    /// The value read, written or chosen.
    pub values: Sparse<u64>,
    /// The virtual time.
    pub times: Sparse<u64>,
    /// The call stack.
    pub stacks: Sparse<StackId>,
    /// The number (from 0) of the event this one refers to: the write that a read reads from, the
    /// signal that a wake answers. [`Columns::INITIAL`] is the initial value.
    pub refers: Sparse<u64>,
}

impl Columns {
    /// In `refers`: the initial value of a location, which no event wrote.
    pub const INITIAL: u64 = u64::MAX;

    /// Bytes that one event takes in memory, with labels and without sparse properties.
    pub const BYTES_PER_EVENT: usize = 1 + 4 * 4;

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Appends an event without label and sparse properties.
    #[inline]
    pub fn push(&mut self, op: Op, task: TaskId, operand: u32, site: SiteId) {
        self.ops.push(op);
        self.tasks.push(task);
        self.operands.push(operand);
        self.sites.push(site);
    }

    /// Removes all events but keeps the memory.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.tasks.clear();
        self.operands.clear();
        self.sites.clear();
        self.numbers.clear();
        self.values.clear();
        self.times.clear();
        self.stacks.clear();
        self.refers.clear();
    }

    /// Appends all events of `other`.
    ///
    /// # Panics
    ///
    /// Panics when the rows would exceed 32 bits; callers check first.
    pub fn append(&mut self, other: &Columns) {
        self.append_rows(other, 0..other.len());
    }

    /// Appends a range of the events of `other`.
    ///
    /// # Panics
    ///
    /// Panics as [`append`](Self::append) does, and for a range outside of `other`.
    pub fn append_rows(&mut self, other: &Columns, range: Range<usize>) {
        let start = u32::try_from(self.len()).expect("columns are limited to 32-bit rows");
        self.ops.extend_from_slice(&other.ops[range.clone()]);
        self.tasks.extend_from_slice(&other.tasks[range.clone()]);
        self.operands.extend_from_slice(&other.operands[range.clone()]);
        self.sites.extend_from_slice(&other.sites[range.clone()]);
        if let Some(numbers) = other.numbers.get(range.clone()) {
            self.numbers.extend_from_slice(numbers);
        }
        let range = range.start as u32..range.end as u32;
        self.values.append_rows(start, &other.values, &range);
        self.times.append_rows(start, &other.times, &range);
        self.stacks.append_rows(start, &other.stacks, &range);
        self.refers.append_rows(start, &other.refers, &range);
    }

    /// Returns the bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.ops.capacity()
            + 4 * (self.tasks.capacity()
                + self.operands.capacity()
                + self.sites.capacity()
                + self.numbers.capacity())
            + 12 * (self.values.len() + self.times.len() + self.refers.len())
            + 8 * self.stacks.len()
    }
}

/// A run of consecutive events on its way from a source to a sink.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The number of its first event, from 0.
    pub first: u64,
    /// The events.
    pub columns: Columns,
}

impl Block {
    /// The number of events that sources put into a block, unless the trace ends before.
    pub const EVENTS: usize = 1 << 16;
}
