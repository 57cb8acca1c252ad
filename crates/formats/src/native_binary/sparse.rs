//! Rare properties: their rows as gaps, their values in the cheapest of three ways.

use super::bytes::{Input, Number, Read, bytes_of, damage, put_column, put_number};
use anyorder_trace::{Columns, Sparse};

/// Values as they are.
const PLAIN: u8 = 0;
/// Values as differences to the previous one.
const DELTAS: u8 = 1;
/// Values as distances back from the number of their event; 0 for [`Columns::INITIAL`].
const BACK: u8 = 2;

/// Room for the columns being read.
#[derive(Debug, Default)]
pub(super) struct SparseScratch {
    rows: Vec<u32>,
    values: Vec<u64>,
}

/// Reads a column for a block of `events_count` events whose first has the number `first`.
pub(super) fn read<T: Copy>(
    input: &mut Input<'_>,
    scratch: &mut SparseScratch,
    (first, events_count): (u64, usize),
    what: &str,
    convert: impl Fn(u64) -> Read<T>,
    out: &mut Sparse<T>,
) -> Read<()> {
    out.clear();
    let count = input.count(events_count, what)?;
    if count == 0 {
        return Ok(());
    }
    let SparseScratch { rows, values } = scratch;
    input.column(count, what, rows)?;
    let mut next = 0u64;
    for row in rows.iter_mut() {
        let at = next + u64::from(*row);
        if at >= events_count as u64 {
            return damage(format!("{what} of row {at}, expected a row below {events_count}"));
        }
        *row = at as u32;
        next = at + 1;
    }
    let encoding = input.byte(what)?;
    input.column(count, what, values)?;
    match encoding {
        PLAIN => {}
        DELTAS => {
            let mut last = 0u64;
            for value in values.iter_mut() {
                last = last.plus(*value);
                *value = last;
            }
        }
        BACK => {
            for (value, row) in values.iter_mut().zip(rows.iter()) {
                *value = match *value {
                    0 => Columns::INITIAL,
                    back => (first + u64::from(*row)).wrapping_sub(0u64.plus(back - 1)),
                };
            }
        }
        _ => {
            return damage(format!("{what}: way {encoding} of writing values, expected 0, 1 or 2"));
        }
    }
    for (row, value) in rows.iter().zip(values.iter()) {
        out.push(*row, convert(*value)?);
    }
    Ok(())
}

/// Writes a column for a block whose first event has the number `first`.
pub(super) fn write<T: Copy>(
    out: &mut Vec<u8>,
    first: u64,
    column: &Sparse<T>,
    convert: impl Fn(T) -> u64,
) {
    put_number(out, column.len() as u64);
    if column.is_empty() {
        return;
    }
    let mut next = 0;
    let gaps: Vec<u64> = column
        .iter()
        .map(|(row, _)| u64::from(row - std::mem::replace(&mut next, row + 1)))
        .collect();
    put_column(out, &gaps);
    let (numbers, values): (Vec<u64>, Vec<u64>) =
        column.iter().map(|(row, value)| (first + u64::from(row), convert(value))).unzip();
    let (encoding, coded) = cheapest(&numbers, values);
    out.push(encoding);
    put_column(out, &coded);
}

/// Chooses the shortest encoding of values. `numbers` are those of their events.
fn cheapest(numbers: &[u64], values: Vec<u64>) -> (u8, Vec<u64>) {
    let mut last = 0;
    let deltas: Vec<u64> =
        values.iter().map(|value| value.difference(std::mem::replace(&mut last, *value))).collect();
    let back: Option<Vec<u64>> = numbers
        .iter()
        .zip(&values)
        .map(|(number, value)| match *value {
            Columns::INITIAL => Some(0),
            // One distance has a folded form without successor, which rules this encoding out.
            value => number.difference(value).checked_add(1),
        })
        .collect();
    let cost = |values: &[u64]| values.iter().map(|value| bytes_of(*value)).sum::<usize>();
    let mut best = (cost(&values), PLAIN, values);
    for (encoding, coded) in [(DELTAS, Some(deltas)), (BACK, back)] {
        if let Some(coded) = coded {
            let cost = cost(&coded);
            if cost < best.0 {
                best = (cost, encoding, coded);
            }
        }
    }
    (best.1, best.2)
}
