//! The index at the end of a file: the start of each block, and its events.

use super::bytes::{Input, Read, damage, put_column, put_deltas, put_number};
use super::layout::{BlockKind, FILE_HEAD_BYTES};

/// The most blocks a file may have, 4,194,304: beyond 270 thousand million events.
pub(super) const BLOCKS_MAX: usize = 1 << 22;

/// One block of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) kind: BlockKind,
    pub(super) offset: u64,
    pub(super) events_count: u32,
}

/// Writes the contents of the index block.
pub(super) fn write(blocks: &[Listed], events: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(&mut out, blocks.len() as u64);
    put_number(&mut out, events);
    out.extend(blocks.iter().map(|block| block.kind as u8));
    put_deltas(&mut out, blocks.iter().map(|block| block.offset));
    let counts: Vec<u64> = blocks.iter().map(|block| u64::from(block.events_count)).collect();
    put_column(&mut out, &counts);
    out
}

/// Compares the numbers of blocks and events with those read so far.
pub(super) fn check_totals(contents: &[u8], blocks: u64, events: u64) -> Read<()> {
    let input = &mut Input::new(contents);
    let listed = (input.number("blocks")?, input.number("events")?);
    if listed == (blocks, events) {
        return Ok(());
    }
    damage(format!(
        "index of {} blocks and {} events, expected {blocks} and {events} as found before it",
        listed.0, listed.1
    ))
}

/// Reads the blocks of the index block that begins at `index_offset`.
pub(super) fn read(contents: &[u8], index_offset: u64) -> Read<Vec<Listed>> {
    let input = &mut Input::new(contents);
    let count = input.count(BLOCKS_MAX, "blocks")?;
    let events = input.number("events")?;
    let kinds = input.take(count, "kinds of blocks")?;
    let (mut offsets, mut counts) = (Vec::new(), Vec::new());
    input.deltas(count, "offsets of blocks", &mut offsets)?;
    input.column(count, "events of blocks", &mut counts)?;
    if !input.is_empty() {
        return damage("bytes behind the last column, expected the end of the index");
    }
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if total != events {
        return damage(format!("index of blocks with {total} events, expected {events}"));
    }
    let mut blocks = Vec::with_capacity(count);
    let mut earliest = FILE_HEAD_BYTES as u64;
    for ((kind, offset), events_count) in kinds.iter().zip(offsets).zip(counts) {
        let Some(kind) = BlockKind::from_number(*kind).filter(|kind| *kind != BlockKind::Index)
        else {
            return damage(format!("unknown kind of block {kind}, expected 1 or 2"));
        };
        if offset < earliest || offset >= index_offset {
            return damage(format!(
                "block at byte {offset}, expected {earliest} to {index_offset}"
            ));
        }
        earliest = offset + 1;
        blocks.push(Listed { kind, offset, events_count });
    }
    Ok(blocks)
}
