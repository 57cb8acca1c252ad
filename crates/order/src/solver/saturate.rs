//! Saturation: finds, for all pairs at once, every pair of blocks that has one possible order.
//!
//! Of two blocks `a`, `b` of a resource, `a` comes first if a path leads from the first node of `a`
//! to the last one of `b`, or from the entry of `a` to that of `b` and the queue keeps their order:
//! the opposite order would close a cycle. (Rules 1 to 3 of the paper "Checking Consistency of
//! Event-driven Traces" are this one test.) A forced pair adds its edges, which may force others.
//!
//! Each key has a row of bits: the blocks that begin, and those that enter, at or before a
//! predecessor of the key. Rows are computed along a topological order, and again where an edge was
//! added. When the rows of all blocks would take too much memory, the blocks are processed in
//! groups, until a whole round forces nothing.
//!
//! Cost: `O(r (V + E) B / 64)` for `V` keys, `E` edges, `B` blocks and `r` passes; only changed
//! rows are recomputed.

use super::blocks::{Blocks, NO_ENTRY};
use super::condense::{Key, Keys};
use super::fact::{Fact, Info};
use super::graph::Graph;
use super::known::Known;
use super::prepare::Prepared;
use super::problem::Problem;
use super::sabotage::Sabotage;
use anyorder_common::bits::{self, members_of_word};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Up to this many forced blocks are searched linearly; more are sorted.
const FEW: usize = 8;

/// How a forced pair was found: by a path that uses only the added edges before `limit`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forced {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) limit: u32,
}

/// The outcome of saturation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Nothing more is forced.
    Done,
    /// The last forced pair closes a cycle: it can have neither order.
    Refuted,
    /// It was stopped, or there was too little memory; the pairs found so far are valid.
    Stopped,
}

pub(crate) struct Saturation<'a> {
    problem: &'a Problem,
    keys: &'a Keys,
    blocks: &'a Blocks,
    graph: &'a mut Graph,
    known: &'a mut Known,
    infos: &'a mut Vec<Info>,
    forced: &'a mut Vec<Forced>,
    /// These pairs imply the pairs that were forced without an edge of their own.
    covers: Vec<Vec<u32>>,
    entry_covers: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    /// For each resource, the number of its first bit; those of more than 64 blocks begin at a
    /// word.
    base: Vec<usize>,
    words: usize,
    rows: Vec<u64>,
    dirty: Vec<bool>,
    heap: BinaryHeap<Reverse<(u32, Key)>>,
    fresh: Vec<u32>,
    sabotage: Sabotage,
}

/// The range of words in a row that is being computed.
#[derive(Clone, Copy)]
struct Columns {
    start: usize,
    len: usize,
}

impl<'a> Saturation<'a> {
    /// Prepares saturation; the graph holds a topological order of the given edges.
    pub(crate) fn new(
        problem: &'a Problem,
        prepared: &'a mut Prepared,
        sabotage: Sabotage,
    ) -> Saturation<'a> {
        let Prepared { keys, blocks, graph, known, infos, forced, .. } = prepared;
        // Blocks close together in the order share words: fewer groups concern each key.
        let mut members = blocks.of.clone();
        for members in &mut members {
            members.sort_by_key(|&block| graph.place(blocks.first[block as usize]));
        }
        let mut base = vec![0; members.len()];
        let mut bits = 0;
        for (resource, members) in members.iter().enumerate() {
            if members.len() < 2 {
                continue;
            }
            if bits % 64 + members.len() > 64 {
                bits = bits.next_multiple_of(64);
            }
            base[resource] = bits;
            bits += members.len();
        }
        *known = Known::new(blocks, &members);
        Saturation {
            problem,
            keys,
            blocks,
            graph,
            known,
            infos,
            forced,
            covers: vec![Vec::new(); blocks.first.len()],
            entry_covers: vec![Vec::new(); blocks.first.len()],
            members,
            base,
            words: bits::width(bits),
            rows: Vec::new(),
            dirty: vec![false; keys.len()],
            heap: BinaryHeap::new(),
            fresh: Vec::new(),
            sabotage,
        }
    }

    /// Saturates; rows may take `memory` bytes.
    pub(crate) fn run(&mut self, memory: usize, stop: &mut dyn FnMut() -> bool) -> End {
        if self.words == 0 {
            return End::Done;
        }
        if self.sabotage == Sabotage::Unforced && !self.force_wrongly() {
            return End::Refuted;
        }
        let entries = self.blocks.entry.iter().any(|&entry| entry != NO_ENTRY);
        let planes = if entries { 2 } else { 1 };
        let bytes_per_word = self.keys.len() * planes * 8;
        let len = (memory / bytes_per_word.max(1)).clamp(1, self.words);
        self.rows = vec![0; self.keys.len() * planes * len];
        let groups = self.words.div_ceil(len);
        let mut quiet = 0;
        let mut group = 0;
        while quiet < groups {
            let start = group * len;
            let columns = Columns { start, len: len.min(self.words - start) };
            let before = self.forced.len();
            match self.sweep(columns, planes, stop) {
                End::Done => {}
                end => return end,
            }
            quiet = if self.forced.len() == before { quiet + 1 } else { 1 };
            group = (group + 1) % groups;
        }
        self.rows = Vec::new();
        End::Done
    }

    /// Computes the rows of a group of blocks up to the fixpoint.
    fn sweep(&mut self, columns: Columns, planes: usize, stop: &mut dyn FnMut() -> bool) -> End {
        let width = columns.len * planes;
        self.rows[..self.keys.len() * width].fill(0);
        self.dirty.fill(true);
        let mut row = vec![0_u64; width];
        for place in 0..self.keys.len() as u32 {
            if place.is_multiple_of(1024) && stop() {
                return End::Stopped;
            }
            let key = self.graph.at(place);
            if self.dirty[key as usize] && !self.visit(key, columns, &mut row) {
                return End::Refuted;
            }
        }
        // Keys that an insertion moved behind the current place.
        for key in 0..self.keys.len() as u32 {
            if self.dirty[key as usize] {
                self.heap.push(Reverse((self.graph.place(key), key)));
            }
        }
        let mut count = 0_u32;
        while let Some(Reverse((place, key))) = self.heap.pop() {
            count += 1;
            if count.is_multiple_of(1024) && stop() {
                return End::Stopped;
            }
            if !self.dirty[key as usize] {
                continue;
            }
            let now = self.graph.place(key);
            if now != place {
                self.heap.push(Reverse((now, key)));
                continue;
            }
            if !self.visit(key, columns, &mut row) {
                return End::Refuted;
            }
        }
        End::Done
    }

    /// Computes the row of a key and forces pairs from it; returns false when that closes a cycle.
    fn visit(&mut self, key: Key, columns: Columns, row: &mut [u64]) -> bool {
        self.dirty[key as usize] = false;
        let width = row.len();
        row.fill(0);
        let mut join = |other: Key, rows: &[u64]| {
            bits::join(row, &rows[other as usize * width..][..width]);
        };
        for &other in self.keys.into.keys(key) {
            join(other, &self.rows);
        }
        for (_, added) in self.graph.added_into(key) {
            join(added.from, &self.rows);
        }
        for &block in self.blocks.starting(key) {
            set(row, self.bit(block), columns, 0);
        }
        for &block in self.blocks.entering(key) {
            set(row, self.bit(block), columns, columns.len);
        }
        let start = key as usize * width;
        let own = &mut self.rows[start..start + width];
        if own == row {
            return true;
        }
        own.copy_from_slice(row);
        // During the first pass all later keys are dirty anyway.
        let (keys, blocks) = (self.keys, self.blocks);
        for &other in keys.out.keys(key) {
            self.mark_dirty(other);
        }
        let (dirty, heap, graph) = (&mut self.dirty, &mut self.heap, &*self.graph);
        for (_, added) in graph.added_out(key) {
            if !dirty[added.to as usize] {
                dirty[added.to as usize] = true;
                heap.push(Reverse((graph.place(added.to), added.to)));
            }
        }
        let by_paths = [
            (blocks.ending(key), 0, Sabotage::NoFirstLast),
            (blocks.entering(key), columns.len, Sabotage::NoEntries),
        ];
        for (found, plane, sabotage) in by_paths {
            if self.sabotage != sabotage
                && !found.iter().all(|&block| self.force_all(block, key, columns, width, plane))
            {
                return false;
            }
        }
        true
    }

    /// Sabotage: the last block of each resource comes first.
    fn force_wrongly(&mut self) -> bool {
        (0..self.members.len()).all(|resource| match self.members[resource][..] {
            [first, .., last] => self.force(last, first, resource),
            _ => true,
        })
    }

    fn mark_dirty(&mut self, key: Key) {
        if !self.dirty[key as usize] {
            self.dirty[key as usize] = true;
            self.heap.push(Reverse((self.graph.place(key), key)));
        }
    }

    fn bit(&self, block: u32) -> usize {
        self.base[self.problem.blocks[block as usize].resource as usize]
            + self.known.number(block) as usize
    }

    /// Orders before `block` all new predecessors in the row of `key` (from its word `plane` on).
    fn force_all(
        &mut self,
        block: u32,
        key: Key,
        columns: Columns,
        width: usize,
        plane: usize,
    ) -> bool {
        let resource = self.problem.blocks[block as usize].resource as usize;
        let base = self.base[resource];
        let count = self.members[resource].len();
        let by_entry = plane > 0;
        let mut found = std::mem::take(&mut self.fresh);
        found.clear();
        for word in 0..bits::width(count) {
            // The bits of a small resource lie within one word of the row, from its base on.
            let Some(column) =
                (base / 64 + word).checked_sub(columns.start).filter(|&c| c < columns.len)
            else {
                continue;
            };
            let bits = self.rows[key as usize * width + plane + column] >> (base % 64);
            let left = count - word * 64;
            let mask = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            for bit in members_of_word(bits & mask & !self.known.word(block, word)) {
                let other = self.members[resource][word * 64 + bit as usize];
                if other != block && (!by_entry || self.problem.keeps(other, block)) {
                    found.push(other);
                }
            }
        }
        // The latest first: its known predecessors often include all the others.
        let mut fine = true;
        for _ in 0..FEW {
            found.retain(|&other| !self.known.is(other, block));
            let place = |&&other: &&u32| self.graph.place(self.blocks.last[other as usize]);
            let Some(&latest) = found.iter().max_by_key(place) else { break };
            fine = fine && self.force(latest, block, resource);
        }
        found.sort_by_key(|&other| Reverse(self.graph.place(self.blocks.last[other as usize])));
        for &other in &found {
            if !self.known.is(other, block) {
                fine = fine && self.force(other, block, resource);
            }
        }
        self.fresh = found;
        fine
    }

    /// Records that `first` comes before `second`, and adds the edges for it.
    fn force(&mut self, first: u32, second: u32, resource: usize) -> bool {
        let words = bits::width(self.members[resource].len());
        let covered = self.covers[second as usize].iter().any(|&cover| self.known.is(first, cover));
        let limit = self.graph.len();
        self.forced.push(Forced { first, second, limit });
        let mut fresh = Vec::new();
        let members = &self.members[resource];
        self.known.learn(first, second, words, |number| fresh.push(members[number as usize]));
        let (problem, blocks) = (self.problem, self.blocks);
        if !covered {
            self.covers[second as usize].push(first);
            let (from, to) =
                (problem.blocks[first as usize].last, problem.blocks[second as usize].first);
            let ends = (blocks.last[first as usize], blocks.first[second as usize]);
            if !self.add(ends, Info { from, to, fact: Fact::of_blocks(first, second), lit: None }) {
                return false;
            }
        }
        if blocks.fifo[resource] {
            return covered || self.add_entry(first, second);
        }
        // Among the known predecessors, each level needs an edge of its own from its last entry.
        fresh.sort_by_key(|&other| Reverse(self.graph.place(blocks.last[other as usize])));
        for other in fresh {
            let level = |block: u32| problem.blocks[block as usize].entry.map(|entry| entry.rank);
            if problem.keeps(second, other)
                && !self.entry_covers[second as usize].iter().any(|&cover| {
                    level(cover) == level(other)
                        && problem.keeps(cover, other)
                        && self.known.is(other, cover)
                })
            {
                self.entry_covers[second as usize].push(other);
                if !self.add_entry(other, second) {
                    return false;
                }
            }
        }
        true
    }

    /// Adds the edge between the entries of two blocks if the order of the blocks needs it.
    fn add_entry(&mut self, first: u32, second: u32) -> bool {
        if !self.problem.keeps(second, first) {
            return true;
        }
        let ends = (self.blocks.entry[first as usize], self.blocks.entry[second as usize]);
        let (from, to) = (self.problem.entry_node(first), self.problem.entry_node(second));
        self.add(ends, Info { from, to, fact: Fact::of_blocks(first, second), lit: None })
    }

    fn add(&mut self, (from, to): (Key, Key), info: Info) -> bool {
        let label = self.infos.len() as u32;
        self.infos.push(info);
        if !self.graph.add(self.keys, from, to, label) {
            return false;
        }
        self.mark_dirty(to);
        true
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.rows.capacity() + self.known.bytes() + self.graph.bytes() + 64 * self.infos.len()
    }
}

fn set(row: &mut [u64], bit: usize, columns: Columns, plane: usize) {
    if let Some(word) = (bit / 64).checked_sub(columns.start).filter(|&word| word < columns.len) {
        row[plane + word] |= 1 << (bit % 64);
    }
}
