//! Clocks joined by key: an event takes the clocks of all keys but its own.
//!
//! **Problem.** A lock that `k` handlers use hands over, at each acquire, the clocks of `k - 1`
//! handlers. Joining them one by one makes a trace of `n` acquires cost `n·k` joins.
//!
//! **Idea.** The join of all keys is kept beside the parts. Where the own part is known already, as
//! program order usually tells, the join of all is the answer. Otherwise a binary tree over the
//! parts gives the join of the others. Its inner nodes are computed when they are asked for.
//!
//! **Cost.** An addition and a query are one join each where the own part is known, and as many as
//! the logarithm of the keys otherwise, over time.

use crate::relation::state::{Clocks, Last, Stamp};
use anyorder_order::{ChainId, ClockRef};
use rustc_hash::FxHashMap;

/// Clocks joined by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByKey {
    at: FxHashMap<u32, u32>,
    parts: Vec<Part>,
    all: Part,
    others: Others,
}

/// A join of clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) clock: ClockRef,
    /// The event whose clock this is, if it is that of one event.
    pub(crate) last: Option<Last>,
}

impl Default for Part {
    fn default() -> Part {
        Part { clock: ClockRef::EMPTY, last: None }
    }
}

impl Part {
    fn add(&mut self, clocks: &mut Clocks, stamp: Stamp, chain: ChainId) {
        let replaced = self.clock == ClockRef::EMPTY
            || self.last.is_some_and(|last| clocks.get(stamp.clock, last.chain) > last.event.0);
        self.clock = if replaced { stamp.clock } else { clocks.join(self.clock, stamp.clock) };
        let is_stamp = self.clock == stamp.clock;
        self.last = is_stamp.then_some(Last { event: stamp.event, strand: stamp.strand, chain });
    }
}

impl ByKey {
    /// Joins the clock of an event on `chain` into the one of its key.
    pub(crate) fn add(&mut self, clocks: &mut Clocks, key: u32, stamp: Stamp, chain: ChainId) {
        let next = self.parts.len() as u32;
        let at = *self.at.entry(key).or_insert(next);
        if at == next {
            self.parts.push(Part::default());
        }
        self.parts[at as usize].add(clocks, stamp, chain);
        self.all.add(clocks, stamp, chain);
        self.others.changed(at as usize);
    }

    /// Returns the number of keys but one.
    pub(crate) fn others_count(&self, key: u32) -> u64 {
        (self.parts.len() - usize::from(self.at.contains_key(&key))) as u64
    }

    /// Returns the clock of a key.
    pub(crate) fn own(&self, key: u32) -> Option<Part> {
        self.at.get(&key).map(|at| self.parts[*at as usize])
    }

    /// Returns the join of the clocks of all keys.
    pub(crate) fn all(&self) -> Part {
        self.all
    }

    /// Passes clocks to `take` whose join is that of all keys but one.
    pub(crate) fn for_others(
        &mut self,
        clocks: &mut Clocks,
        key: u32,
        mut take: impl FnMut(&mut Clocks, Part),
    ) {
        /// The most keys that are taken one by one.
        const FEW: usize = 8;
        let own = self.at.get(&key).map(|at| *at as usize);
        if self.parts.len() <= FEW {
            let others = self.parts.iter().enumerate().filter(|(at, _)| Some(*at) != own);
            others.for_each(|(_, part)| take(clocks, *part));
            return;
        }
        let Some(own) = own else { return take(clocks, self.all) };
        self.others.resize(self.parts.len());
        let mut node = self.others.leaves() + own;
        while node > 1 {
            let clock = self.others.get(clocks, &self.parts, node ^ 1);
            take(clocks, Part { clock, last: None });
            node /= 2;
        }
    }

    /// Returns the kept clocks.
    pub(crate) fn kept(&mut self) -> impl Iterator<Item = &mut ClockRef> {
        let parts = self.parts.iter_mut().chain([&mut self.all]).map(|part| &mut part.clock);
        parts.chain(self.others.inner.iter_mut().flatten())
    }
}

/// A binary tree of joins. Node 1 is its root, node `n` has the children `2n` and `2n + 1`; the
/// leaves are the parts.
#[derive(Clone, Debug, Default)]
struct Others {
    /// The inner nodes; `None` where a leaf below has changed since. Invariant: below a node that
    /// is known, all are.
    inner: Vec<Option<ClockRef>>,
}

impl Others {
    fn leaves(&self) -> usize {
        self.inner.len()
    }

    /// Makes room for leaves, forgetting all inner nodes if there was too little.
    fn resize(&mut self, leaves: usize) {
        if self.inner.len() < leaves {
            self.inner = vec![None; leaves.next_power_of_two()];
        }
    }

    fn changed(&mut self, leaf: usize) {
        let mut node = (self.leaves() + leaf) / 2;
        while node > 0 && self.inner.get_mut(node).and_then(Option::take).is_some() {
            node /= 2;
        }
    }

    fn get(&mut self, clocks: &mut Clocks, parts: &[Part], node: usize) -> ClockRef {
        if node >= self.leaves() {
            return parts.get(node - self.leaves()).map_or(ClockRef::EMPTY, |part| part.clock);
        }
        if let Some(known) = self.inner[node] {
            return known;
        }
        let left = self.get(clocks, parts, 2 * node);
        let right = self.get(clocks, parts, 2 * node + 1);
        let joined = clocks.join(left, right);
        self.inner[node] = Some(joined);
        joined
    }
}
