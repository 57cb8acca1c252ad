//! Packs the columns of a block of events.

use super::bytes::{Number, Read, damage, put_column, put_deltas, put_number};
use super::check::{Sizes, known};
use super::dictionary::DictionaryBuilder;
use super::events::{NUMBERS_BY_ACCESS, NUMBERS_NONE, NUMBERS_ONE, TOKENS_NEW, TOKENS_WIDE};
use super::lanes::{self, LANES_MAX};
use super::sparse;
use anyorder_trace::{Columns, LabelScheme, Tables};
use hashbrown::HashMap;
use std::ops::Range;

/// Packs blocks, and reuses its memory.
#[derive(Debug, Default)]
pub(super) struct EventEncoder {
    dictionary: DictionaryBuilder,
    /// The lane of each handler in this block.
    handler_lanes: HashMap<u32, u8>,
    /// The lane of each event.
    lanes: Vec<u8>,
    /// Rows in sorted order: by lane, then trace order.
    sorted: Vec<u32>,
    /// Tokens in sorted order.
    tokens: Vec<u32>,
}

impl EventEncoder {
    /// Appends the contents of the block of the events `columns` to `out`; `first` is the number of
    /// the first of them.
    pub(super) fn encode(
        &mut self,
        tables: &Tables,
        first: u64,
        columns: &Columns,
        out: &mut Vec<u8>,
    ) -> Read<()> {
        let sizes = Sizes::of(tables);
        self.sort(tables, columns)?;
        self.dictionary.clear(&sizes);
        self.tokens.clear();
        for row in &self.sorted {
            self.tokens.push(self.dictionary.token(columns, *row as usize, &sizes)?);
        }
        self.dictionary.write(out);
        self.write_tokens(out);
        lanes::write(out, &self.lanes, self.handler_lanes.len());
        self.write_tasks(columns, out);
        write_numbers(tables, columns, out)?;
        for (_, stack) in columns.stacks.iter() {
            known(stack.0, sizes.stacks, "stack")?;
        }
        sparse::write(out, first, &columns.values, |value| value);
        sparse::write(out, first, &columns.times, |time| time);
        sparse::write(out, first, &columns.stacks, |stack| u64::from(stack.0));
        sparse::write(out, first, &columns.refers, |event| event);
        Ok(())
    }

    /// Assigns each event the lane of its task's handler, and sorts the rows by lane.
    fn sort(&mut self, tables: &Tables, columns: &Columns) -> Read<()> {
        self.handler_lanes.clear();
        self.lanes.clear();
        let mut ends = [0u32; LANES_MAX];
        let mut last = (u32::MAX, 0u8);
        for task in &columns.tasks {
            known(task.0, tables.tasks.len(), "task")?;
            if task.0 != last.0 || self.lanes.is_empty() {
                let handler = tables.tasks[task.index()].handler.0;
                let next = self.handler_lanes.len();
                // A block with more handlers than lanes puts the remaining handlers into the last
                // lane.
                let lane = if next < LANES_MAX {
                    *self.handler_lanes.entry(handler).or_insert(next as u8)
                } else {
                    self.handler_lanes.get(&handler).copied().unwrap_or((LANES_MAX - 1) as u8)
                };
                last = (task.0, lane);
            }
            self.lanes.push(last.1);
            ends[usize::from(last.1)] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            end += std::mem::replace(count, end);
        }
        self.sorted.clear();
        self.sorted.resize(columns.len(), 0);
        for (row, lane) in self.lanes.iter().enumerate() {
            let at = &mut ends[usize::from(*lane)];
            self.sorted[*at as usize] = row as u32;
            *at += 1;
        }
        Ok(())
    }

    fn write_tokens(&mut self, out: &mut Vec<u8>) {
        let entries = self.dictionary.len();
        // If many events are new, naming each in turn would take most of the block.
        let new = entries * 8 > self.tokens.len();
        if new {
            let mut next = 0;
            for token in &mut self.tokens {
                if *token == next {
                    next += 1;
                    *token = 0;
                } else {
                    *token += 1;
                }
            }
        }
        // Entry x is written x + 1 where 0 means a new one. With 65,536 entries every event is new.
        let wide = entries + usize::from(new) > 256;
        out.push(if new { TOKENS_NEW } else { 0 } | if wide { TOKENS_WIDE } else { 0 });
        if wide {
            out.extend(self.tokens.iter().flat_map(|token| (*token as u16).to_le_bytes()));
        } else {
            out.extend(self.tokens.iter().map(|token| *token as u8));
        }
    }

    fn write_tasks(&self, columns: &Columns, out: &mut Vec<u8>) {
        let task = |row: &u32| columns.tasks[*row as usize];
        let runs = || self.sorted.chunk_by(|a, b| task(a) == task(b));
        put_number(out, runs().count() as u64);
        put_deltas(out, runs().map(|run| task(&run[0]).0));
        let lengths: Vec<u64> = runs().map(|run| run.len() as u64).collect();
        put_column(out, &lengths);
    }
}

/// Checks that all columns have equal lengths, which their type does not guarantee.
pub(super) fn check_shape(columns: &Columns) -> Read<()> {
    let count = columns.len();
    let dense = [columns.tasks.len(), columns.operands.len(), columns.sites.len()];
    let numbers = columns.numbers.len();
    if dense.iter().any(|len| *len != count) || (numbers != 0 && numbers != count) {
        return damage(format!("columns of different lengths, expected {count}"));
    }
    let last = [
        columns.values.last_row(),
        columns.times.last_row(),
        columns.stacks.last_row(),
        columns.refers.last_row(),
    ];
    match last.into_iter().flatten().max() {
        Some(row) if row as usize >= count => {
            damage(format!("property of row {row}, expected a row below {count}"))
        }
        _ => Ok(()),
    }
}

/// Writes the numbers as differences to the previous number plus one: of all events together, or of
/// accesses and others separately, whichever is smaller.
fn write_numbers(tables: &Tables, columns: &Columns, out: &mut Vec<u8>) -> Read<()> {
    if columns.numbers.is_empty() {
        out.push(NUMBERS_NONE);
        return Ok(());
    }
    if tables.meta.labels == LabelScheme::Name {
        let last = columns.numbers.iter().copied().max().unwrap_or(0);
        known(last, tables.names.len(), "name of an event:")?;
    }
    let one = residues(columns, |_| 0);
    let two = residues(columns, |row| usize::from(columns.ops[row].kind().is_access()));
    let weight = |values: &[u64]| values.iter().filter(|value| **value != 0).count();
    let (encoding, values) =
        if weight(&one) <= weight(&two) { (NUMBERS_ONE, one) } else { (NUMBERS_BY_ACCESS, two) };
    out.push(encoding);
    put_column(out, &values);
    Ok(())
}

fn residues(columns: &Columns, class: impl Fn(usize) -> usize) -> Vec<u64> {
    let mut next = [0u32; 2];
    let rows: Range<usize> = 0..columns.len();
    rows.map(|row| {
        let number = columns.numbers[row];
        let next = &mut next[class(row)];
        let residue = number.difference(*next);
        *next = number.wrapping_add(1);
        u64::from(residue)
    })
    .collect()
}
