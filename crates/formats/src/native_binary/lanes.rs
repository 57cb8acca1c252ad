//! Lanes: sorts the events of a block by handler, and restores their order.
//!
//! **Problem.** Concurrent threads interleave at random. This hides from the packer that each of
//! them repeats the same loops. So the events of a block are sorted stably by *lane*, and the order
//! of the lanes is stored separately. The writer may define lanes freely, up to 256 a block; ours
//! are handlers.
//!
//! Three ways to store the order: nothing (one lane), a nibble or a byte an event, and runs.
//!
//! **Cost.** A look-up and an increment an event; runs are copied as a whole.

use super::bytes::{Input, Read, damage, put_column, put_number};
use super::dictionary::TOKENS_MAX;

/// The most lanes of a block.
pub(super) const LANES_MAX: usize = 256;

const SINGLE: u8 = 0;
const NIBBLES: u8 = 1;
const BYTES: u8 = 2;
const RUNS: u8 = 3;

/// From this average length on, runs are smaller and faster than a lane an event.
const RUN_EVENTS_MIN: usize = 8;

/// How the lanes of a block interleave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interleaving {
    /// Sorted order is trace order.
    None,
    /// [`Lanes::each`] has the lane of every event.
    Each,
    /// [`Lanes::runs`] has the lanes in runs.
    Runs,
}

/// The lanes of the block being read.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) interleaving: Interleaving,
    /// For each lane, where its events begin in sorted order; then the end of the last.
    pub(super) starts: Vec<u32>,
    /// The lane of each event.
    pub(super) each: Box<[u8; TOKENS_MAX]>,
    /// Lanes with the number of consecutive events, in trace order.
    pub(super) runs: Vec<(u8, u32)>,
    column: Vec<u32>,
}

impl Lanes {
    /// Makes an empty one.
    pub(super) fn new() -> Lanes {
        Lanes {
            interleaving: Interleaving::None,
            starts: Vec::new(),
            each: Box::new([0; TOKENS_MAX]),
            runs: Vec::new(),
            column: Vec::new(),
        }
    }

    /// Returns the number of lanes.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Reads the lanes of a block of `events_count` events. The caller must check that
    /// [`each`](Self::each) has as many events of a lane as [`starts`](Self::starts) says; it
    /// visits them anyway.
    pub(super) fn read(&mut self, input: &mut Input<'_>, events_count: usize) -> Read<()> {
        let encoding = input.byte("lanes")?;
        let count = 1 + usize::from(input.byte("lanes")?);
        input.column(count, "events of lanes", &mut self.column)?;
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0u64;
        for events in &self.column {
            end += u64::from(*events);
            if end > events_count as u64 {
                return damage(format!("lanes of {end} events, expected {events_count}"));
            }
            self.starts.push(end as u32);
        }
        if end != events_count as u64 {
            return damage(format!("lanes of {end} events, expected {events_count}"));
        }
        self.interleaving = match encoding {
            SINGLE if count == 1 => Interleaving::None,
            SINGLE => return damage(format!("{count} lanes without an order, expected 1")),
            NIBBLES => self.read_nibbles(input, events_count)?,
            BYTES => {
                let bytes = input.take(events_count, "order of lanes")?;
                self.each[..events_count].copy_from_slice(bytes);
                Interleaving::Each
            }
            RUNS => self.read_runs(input, events_count)?,
            _ => return damage(format!("way {encoding} of writing lanes, expected 0 to 3")),
        };
        if self.interleaving == Interleaving::Each {
            let last = self.each[..events_count].iter().copied().max().unwrap_or(0);
            if usize::from(last) >= count {
                return damage(format!("lane {last}, expected one of {count}"));
            }
        }
        Ok(())
    }

    fn read_nibbles(&mut self, input: &mut Input<'_>, events_count: usize) -> Read<Interleaving> {
        let bytes = input.take(events_count.div_ceil(2), "order of lanes")?;
        for (two, byte) in self.each.chunks_exact_mut(2).zip(bytes) {
            two[0] = byte & 15;
            two[1] = byte >> 4;
        }
        Ok(Interleaving::Each)
    }

    fn read_runs(&mut self, input: &mut Input<'_>, events_count: usize) -> Read<Interleaving> {
        let count = input.count(events_count, "runs of lanes")?;
        let lanes = input.take(count, "runs of lanes")?;
        input.column(count, "lengths of runs", &mut self.column)?;
        let mut left = [0u32; LANES_MAX];
        for (left, ends) in left.iter_mut().zip(self.starts.windows(2)) {
            *left = ends[1] - ends[0];
        }
        self.runs.clear();
        for (lane, events) in lanes.iter().zip(&self.column) {
            let left = &mut left[usize::from(*lane)];
            if events > left {
                return damage(format!(
                    "run of {events} events in lane {lane}, expected {left} at the most"
                ));
            }
            *left -= events;
            self.runs.push((*lane, *events));
        }
        if left.iter().any(|left| *left > 0) {
            return damage("runs of lanes end before their events".to_owned());
        }
        Ok(Interleaving::Runs)
    }
}

/// Writes the lanes of a block: `lanes` has the lane of each event, all below `count`.
pub(super) fn write(out: &mut Vec<u8>, lanes: &[u8], count: usize) {
    let mut events = vec![0u64; count];
    for lane in lanes {
        events[usize::from(*lane)] += 1;
    }
    let runs = lanes.chunk_by(|a, b| a == b).count();
    let encoding = match count {
        1 => SINGLE,
        _ if runs * RUN_EVENTS_MIN <= lanes.len() => RUNS,
        2..=16 => NIBBLES,
        _ => BYTES,
    };
    out.push(encoding);
    out.push((count - 1) as u8);
    put_column(out, &events);
    match encoding {
        NIBBLES => {
            out.extend(lanes.chunks(2).map(|two| two[0] | two.get(1).map_or(0, |lane| lane << 4)));
        }
        BYTES => out.extend_from_slice(lanes),
        RUNS => {
            put_number(out, runs as u64);
            out.extend(lanes.chunk_by(|a, b| a == b).map(|run| run[0]));
            let lengths: Vec<u64> =
                lanes.chunk_by(|a, b| a == b).map(|run| run.len() as u64).collect();
            put_column(out, &lengths);
        }
        _ => {}
    }
}
