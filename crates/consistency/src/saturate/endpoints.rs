//! Reachability between the ends of messages: the only part of the graph that saturation needs.
//!
//! Every order that a decision adds leads from the last event of a message to the first of another,
//! or from post to post. So a path that uses such orders consists of pieces, each from a *source*
//! (the first event of a posted message, or its post) to a *target* (the last event of a posted
//! message, or its post). The closure over sources and targets can be maintained without the other
//! events: 4 P² bits for P posted messages.

use super::graph::Graph;
use crate::partial::{MessageId, Slot};
use anyorder_common::bits::{Rows, join, members_of_word, set, width};
use anyorder_system::{Control, Stopped};
use std::ops::Range;

/// The number of words of targets that one sweep over all slots carries.
const BLOCK: usize = 8;

/// The closure over the ends of posted messages. A *place* numbers the posted messages, handler by
/// handler.
pub(super) struct Endpoints {
    /// For each place, its message.
    pub(super) messages: Vec<MessageId>,
    /// For each handler, its places.
    pub(super) places: Vec<Range<u32>>,
    /// One row per source, one bit per target. Sources: first events, then posts; targets: last
    /// events, then posts.
    rows: Rows,
    /// Rows as they were before the current level changed them.
    saved: Vec<Saved>,
    saved_words: Vec<u64>,
    /// For each row, the level that saved it last.
    stamp: Vec<u32>,
}

struct Saved {
    row: u32,
    stamp: u32,
}

/// One bit set by an added edge.
pub(super) struct Reached {
    /// The row: a source.
    pub(super) source: u32,
    /// The bit: a target.
    pub(super) target: u32,
}

impl Endpoints {
    /// Computes the closure over the given orders, in sweeps of 512 targets over all slots.
    pub(super) fn new(
        graph: &Graph<'_>,
        order: &[Slot],
        control: &Control<'_>,
    ) -> Result<Endpoints, Stopped> {
        let mut messages = Vec::new();
        let mut places = Vec::new();
        for posted in graph.trace.posted() {
            let start = messages.len() as u32;
            messages.extend(posted);
            places.push(start..messages.len() as u32);
        }
        let count = 2 * messages.len();
        let words = width(count);
        let closure = (count * words * 8) as u64;
        let sweep = (graph.slots() * BLOCK * 8) as u64;
        control.check_memory(Graph::bytes(graph.trace), closure + sweep)?;
        let mut endpoints = Endpoints {
            messages,
            places,
            rows: Rows::square(count),
            saved: Vec::new(),
            saved_words: Vec::new(),
            stamp: vec![0; count],
        };
        let mut carried = vec![[0_u64; BLOCK]; graph.slots()];
        for block in 0..words.div_ceil(BLOCK) {
            control.check()?;
            endpoints.sweep(graph, order, block, &mut carried);
        }
        Ok(endpoints)
    }

    /// Propagates one block of targets against the topological order, and records what the sources
    /// reach.
    fn sweep(
        &mut self,
        graph: &Graph<'_>,
        order: &[Slot],
        block: usize,
        carried: &mut [[u64; BLOCK]],
    ) {
        carried.fill([0; BLOCK]);
        let low = block * BLOCK * 64;
        let count = self.stamp.len();
        for target in low..count.min(low + BLOCK * 64) {
            if let Some(slot) = self.target_slot(graph, target as u32) {
                set(&mut carried[slot as usize], (target - low) as u32);
            }
        }
        for &slot in order.iter().rev() {
            let mut all = carried[slot as usize];
            for (to, _) in graph.after(slot) {
                join(&mut all, &carried[to as usize]);
            }
            carried[slot as usize] = all;
        }
        for source in 0..count as u32 {
            if let Some(slot) = self.source_slot(graph, source) {
                let row = &mut self.rows.row_mut(source)[block * BLOCK..];
                let width = BLOCK.min(row.len());
                row[..width].copy_from_slice(&carried[slot as usize][..width]);
            }
        }
    }

    /// The number of posted messages.
    pub(super) fn count(&self) -> u32 {
        self.messages.len() as u32
    }

    /// The slot of a source: a first event, or a post.
    pub(super) fn source_slot(&self, graph: &Graph<'_>, source: u32) -> Option<Slot> {
        match source.checked_sub(self.count()) {
            None => Some(graph.first(self.messages[source as usize])),
            Some(place) => graph.post(self.messages[place as usize]),
        }
    }

    /// The slot of a target: a last event, or a post.
    pub(super) fn target_slot(&self, graph: &Graph<'_>, target: u32) -> Option<Slot> {
        match target.checked_sub(self.count()) {
            None => Some(graph.last(self.messages[target as usize])),
            Some(place) => graph.post(self.messages[place as usize]),
        }
    }

    /// The places of the handler of a place.
    pub(super) fn places_of_handler(&self, graph: &Graph<'_>, place: u32) -> Range<u32> {
        let message = self.messages[place as usize];
        self.places[graph.trace.messages[message as usize].handler as usize].clone()
    }

    /// Whether a source reaches a target.
    pub(super) fn reaches(&self, source: u32, target: u32) -> bool {
        self.rows.has(source, target)
    }

    /// Adds an edge from a target to a source, which must not reach the target, and lists the bits
    /// it sets. `level` is the number of decisions; [`undo`](Self::undo) restores the rows.
    pub(super) fn add(&mut self, target: u32, source: u32, level: u32, reached: &mut Vec<Reached>) {
        for row in 0..self.stamp.len() as u32 {
            if !self.reaches(row, target) {
                continue;
            }
            for word in 0..self.rows.row(row).len() {
                let more = self.rows.row(source)[word] & !self.rows.row(row)[word];
                if more == 0 {
                    continue;
                }
                self.save(row, level);
                self.rows.row_mut(row)[word] |= more;
                let targets = members_of_word(more).map(|bit| word as u32 * 64 + bit);
                reached.extend(targets.map(|target| Reached { source: row, target }));
            }
        }
    }

    fn save(&mut self, row: u32, level: u32) {
        let stamp = &mut self.stamp[row as usize];
        if *stamp != level {
            self.saved.push(Saved { row, stamp: *stamp });
            *stamp = level;
            self.saved_words.extend_from_slice(self.rows.row(row));
        }
    }

    /// Returns a mark for [`undo`](Self::undo), to return to this state.
    pub(super) fn mark(&self) -> usize {
        self.saved.len()
    }

    /// Undoes everything since a mark.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.saved.len() > mark {
            let Some(saved) = self.saved.pop() else { return };
            let row = self.rows.row_mut(saved.row);
            let kept = self.saved_words.len() - row.len();
            row.copy_from_slice(&self.saved_words[kept..]);
            self.saved_words.truncate(kept);
            self.stamp[saved.row as usize] = saved.stamp;
        }
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        self.rows.bytes() + ((self.saved_words.len() + self.saved.len()) * 8) as u64
    }
}
