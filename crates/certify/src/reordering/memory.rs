//! The last event that wrote each byte of memory.

use anyorder_trace::{Location, LocationId, Tables};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The memory of a location: a whole that overlaps no other, or bytes that other locations may
/// share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Footprint {
    /// Overlaps only itself.
    Whole(u32),
    /// Bytes of a generation, the end excluded.
    Bytes { generation: u32, start: u64, end: u64 },
}

/// The locations of a trace.
pub(super) struct Footprints(Vec<Footprint>);

impl Footprints {
    pub(super) fn new(tables: &Tables) -> Footprints {
        let mut ranges: Vec<(u32, u64, u64, usize)> = Vec::new();
        let mut known: FxHashMap<Location, u32> = FxHashMap::default();
        let mut footprints = Vec::with_capacity(tables.locations.len());
        for (at, location) in tables.locations.iter().enumerate() {
            let first = *known.entry(*location).or_insert(at as u32);
            footprints.push(Footprint::Whole(first));
            if let Location::Range { address, size, generation } = *location {
                let end = address.saturating_add(u64::from(size.max(1)));
                ranges.push((generation, address, end, at));
            }
        }
        ranges.sort_unstable();
        let mut at = 0;
        while at < ranges.len() {
            // A cluster: ranges that overlap in a chain, without a gap.
            let (generation, _, mut reach, _) = ranges[at];
            let mut end = at + 1;
            while end < ranges.len() && ranges[end].0 == generation && ranges[end].1 < reach {
                reach = reach.max(ranges[end].2);
                end += 1;
            }
            let (first, second, owner) = (ranges[at].1, ranges[at].2, ranges[at].3 as u32);
            let is_one = ranges[at..end].iter().all(|range| (range.1, range.2) == (first, second));
            for &(generation, start, end, location) in &ranges[at..end] {
                footprints[location] = match is_one {
                    true => Footprint::Whole(owner),
                    false => Footprint::Bytes { generation, start, end },
                };
            }
            at = end;
        }
        Footprints(footprints)
    }

    /// Returns the memory of a location. One that the tables lack overlaps only itself.
    pub(super) fn of(&self, location: LocationId) -> Footprint {
        self.0.get(location.index()).copied().unwrap_or(Footprint::Whole(location.0))
    }
}

/// Bytes with their last event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) last: Option<u32>,
}

/// The last event at each place.
#[derive(Default)]
pub(super) struct LastWrites {
    alone: FxHashMap<u32, u32>,
    /// By generation and start, the end and the event. Intervals do not overlap.
    bytes: FxHashMap<u32, BTreeMap<u64, (u64, u32)>>,
}

impl LastWrites {
    /// Records an event as the last one at a place.
    pub(super) fn set(&mut self, footprint: Footprint, event: u32) {
        match footprint {
            Footprint::Whole(place) => {
                self.alone.insert(place, event);
            }
            Footprint::Bytes { generation, start, end } => {
                let map = self.bytes.entry(generation).or_default();
                if let Some((&left, &(left_end, of))) = map.range(..start).next_back()
                    && left_end > start
                {
                    map.insert(left, (start, of));
                    if left_end > end {
                        map.insert(end, (left_end, of));
                    }
                }
                while let Some((&inner, &(inner_end, of))) = map.range(start..end).next() {
                    map.remove(&inner);
                    if inner_end > end {
                        map.insert(end, (inner_end, of));
                    }
                }
                map.insert(start, (end, event));
            }
        }
    }

    /// Returns the pieces of a place, in order; neighbours with the same event are merged. A whole
    /// is one piece without bytes.
    pub(super) fn pieces(&self, footprint: Footprint) -> Vec<Piece> {
        let (generation, from, to) = match footprint {
            Footprint::Whole(place) => {
                return vec![Piece { start: 0, end: 0, last: self.alone.get(&place).copied() }];
            }
            Footprint::Bytes { generation, start, end } => (generation, start, end),
        };
        let mut pieces: Vec<Piece> = Vec::new();
        let mut add = |start: u64, end: u64, last: Option<u32>| match pieces.last_mut() {
            _ if start >= end => {}
            Some(piece) if piece.last == last => piece.end = end,
            _ => pieces.push(Piece { start, end, last }),
        };
        let mut at = from;
        if let Some(map) = self.bytes.get(&generation) {
            let before = map.range(..=from).next_back();
            let inside = map.range((std::ops::Bound::Excluded(from), std::ops::Bound::Unbounded));
            let inside = inside.take_while(|(start, _)| **start < to);
            for (&start, &(end, event)) in before.into_iter().chain(inside) {
                if end > at {
                    add(at, start.max(at), None);
                    add(start.max(at), end.min(to), Some(event));
                    at = end.min(to);
                }
            }
        }
        add(at, to, None);
        pieces
    }
}

/// The observations of the reads of a trace.
#[derive(Default)]
pub(super) struct Sources {
    /// By event that reads: the last write, or `NONE`, `MANY`, `UNKNOWN` or `FREE`.
    single: Vec<u32>,
    /// The pieces of the events with `MANY`, ascending by event; the next entry's start is the end.
    starts: Vec<(u32, usize)>,
    pieces: Vec<Piece>,
}

const NONE: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
const UNKNOWN: u32 = u32::MAX - 2;
const FREE: u32 = u32::MAX - 3;
/// The most pieces kept for all reads that see more than one write.
const PIECES_MAX: usize = 1 << 25;

/// The observation of one read of the trace.
pub(super) enum Observation<'s> {
    /// One event, or the initial value, everywhere.
    One(Option<u32>),
    /// Several events.
    Pieces(&'s [Piece]),
    /// Not kept.
    Unknown,
    /// It may observe anything.
    Free,
}

impl Sources {
    /// Adds the observation of the next event of the trace; an empty list if it does not read.
    pub(super) fn push(&mut self, pieces: Vec<Piece>) {
        let event = self.single.len() as u32;
        self.single.push(match pieces.as_slice() {
            [] => NONE,
            [one] => one.last.unwrap_or(NONE),
            _ => MANY,
        });
        if self.single.last() == Some(&MANY) {
            self.starts.push((event, self.pieces.len()));
            self.pieces.extend(pieces);
        }
    }

    /// Returns whether the limit on pieces is reached.
    pub(super) fn is_full(&self) -> bool {
        self.pieces.len() >= PIECES_MAX
    }

    /// Adds the next event, a read with unknown observation.
    pub(super) fn push_unknown(&mut self) {
        self.single.push(UNKNOWN);
    }

    /// Lets some reads observe anything.
    pub(super) fn free(&mut self, reads: &[u32]) {
        reads.iter().for_each(|read| self.single[*read as usize] = FREE);
    }

    /// Returns the observation of a reading event in the trace.
    pub(super) fn of(&self, event: u32) -> Observation<'_> {
        match self.single.get(event as usize).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => Observation::Unknown,
            FREE => Observation::Free,
            MANY => {
                let at = self.starts.partition_point(|start| start.0 < event);
                let end = self.starts.get(at + 1).map_or(self.pieces.len(), |start| start.1);
                Observation::Pieces(&self.pieces[self.starts[at].1..end])
            }
            NONE => Observation::One(None),
            event => Observation::One(Some(event)),
        }
    }
}
