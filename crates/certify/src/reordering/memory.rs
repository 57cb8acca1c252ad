//! The last event that did something to each byte of memory.

use anyorder_trace::{Location, LocationId, Tables};
use std::collections::{BTreeMap, HashMap};

/// What a location is to those that come after: a place of its own, or bytes that other locations
/// may share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spot {
    /// Overlaps only itself.
    Alone(u32),
    /// Bytes of a generation, the end excluded.
    Bytes { generation: u32, start: u64, end: u64 },
}

/// The locations of a trace.
pub(super) struct Spots(Vec<Spot>);

impl Spots {
    pub(super) fn new(tables: &Tables) -> Spots {
        let mut ranges: Vec<(u32, u64, u64, usize)> = Vec::new();
        let mut known: HashMap<Location, u32> = HashMap::new();
        let mut spots = Vec::with_capacity(tables.locations.len());
        for (at, location) in tables.locations.iter().enumerate() {
            let first = *known.entry(*location).or_insert(at as u32);
            spots.push(Spot::Alone(first));
            if let Location::Range { address, size, generation } = *location {
                let end = address.saturating_add(u64::from(size.max(1)));
                ranges.push((generation, address, end, at));
            }
        }
        ranges.sort_unstable();
        let mut at = 0;
        while at < ranges.len() {
            // A cluster: ranges that follow one another without a gap.
            let (generation, _, mut reach, _) = ranges[at];
            let mut end = at + 1;
            while end < ranges.len() && ranges[end].0 == generation && ranges[end].1 < reach {
                reach = reach.max(ranges[end].2);
                end += 1;
            }
            let (first, second, owner) = (ranges[at].1, ranges[at].2, ranges[at].3 as u32);
            let is_one = ranges[at..end].iter().all(|range| (range.1, range.2) == (first, second));
            for &(generation, start, end, location) in &ranges[at..end] {
                spots[location] = match is_one {
                    true => Spot::Alone(owner),
                    false => Spot::Bytes { generation, start, end },
                };
            }
            at = end;
        }
        Spots(spots)
    }

    /// Returns what a location is. One that the tables lack is a place of its own.
    pub(super) fn of(&self, location: LocationId) -> Spot {
        self.0.get(location.index()).copied().unwrap_or(Spot::Alone(location.0))
    }
}

/// Bytes, with the event that was last there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) last: Option<u32>,
}

/// By place, the last event.
#[derive(Default)]
pub(super) struct LastAt {
    alone: HashMap<u32, u32>,
    /// By generation and start, the end and the event. Intervals do not overlap.
    bytes: HashMap<u32, BTreeMap<u64, (u64, u32)>>,
}

impl LastAt {
    /// Says that an event is now the last at a spot.
    pub(super) fn set(&mut self, spot: Spot, event: u32) {
        match spot {
            Spot::Alone(place) => {
                self.alone.insert(place, event);
            }
            Spot::Bytes { generation, start, end } => {
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

    /// Returns the pieces of a spot, in order, neighbours with the same event put together. A place
    /// of its own is one piece without bytes.
    pub(super) fn pieces(&self, spot: Spot) -> Vec<Piece> {
        let (generation, from, to) = match spot {
            Spot::Alone(place) => {
                return vec![Piece { start: 0, end: 0, last: self.alone.get(&place).copied() }];
            }
            Spot::Bytes { generation, start, end } => (generation, start, end),
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

/// What the reads of a trace observe.
#[derive(Default)]
pub(super) struct Sources {
    /// By event that reads: the last write, or `NONE`, or `MANY`, or `UNKNOWN`.
    single: Vec<u32>,
    /// The pieces of the events with `MANY`, ascending by event, with their number of pieces known
    /// by the next one's start.
    starts: Vec<(u32, usize)>,
    pieces: Vec<Piece>,
}

const NONE: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
const UNKNOWN: u32 = u32::MAX - 2;
/// How many pieces are kept for all reads that see more than one.
const PIECES_MAX: usize = 1 << 25;

/// What one read of the trace observes.
pub(super) enum Then<'s> {
    /// One event, or none, everywhere.
    One(Option<u32>),
    /// Several.
    Pieces(&'s [Piece]),
    /// Not kept.
    Unknown,
}

impl Sources {
    /// Takes what the next event of the trace observes; an empty list for what does not read.
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

    /// Returns whether no more reads of several pieces can be kept.
    pub(super) fn is_full(&self) -> bool {
        self.pieces.len() >= PIECES_MAX
    }

    /// Takes the next event, a read of which is not known what it observes.
    pub(super) fn push_unknown(&mut self) {
        self.single.push(UNKNOWN);
    }

    /// Returns what an event that reads observes in the trace.
    pub(super) fn of(&self, event: u32) -> Then<'_> {
        match self.single.get(event as usize).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => Then::Unknown,
            MANY => {
                let at = self.starts.partition_point(|start| start.0 < event);
                let end = self.starts.get(at + 1).map_or(self.pieces.len(), |start| start.1);
                Then::Pieces(&self.pieces[self.starts[at].1..end])
            }
            NONE => Then::One(None),
            event => Then::One(Some(event)),
        }
    }
}
