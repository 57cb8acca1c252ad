//! The tasks that a handler has begun, by poster. The FIFO rule queries them.

use crate::relation::state::Stamp;
use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A task that has begun, with the position of its post on the poster's chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    post: EventId,
    pub(crate) strand: StrandId,
    /// Whether all entries before it in its list end before it begins.
    dominates: bool,
}

/// The tasks of one handler that have begun: for each poster's chain and each delay, by post.
#[derive(Clone, Debug, Default)]
pub(crate) struct BegunTasks {
    of_chain: FxHashMap<ChainId, BTreeMap<u64, Vec<Begun>>>,
    /// The keys of `of_chain` in insertion order, so that passes are deterministic.
    chains: Vec<ChainId>,
    /// The last tasks that began without delay, with the stamps of their posts; the most recent
    /// task is last.
    recent: Vec<(StrandId, Stamp)>,
    /// Whether some task began out of the order of its posts, or was posted to the front.
    irregular: bool,
}

/// The number of recent tasks that are kept.
const RECENT_MAX: usize = 12;

impl BegunTasks {
    /// Returns the chains from which tasks that have begun were posted.
    pub(crate) fn chains(&self) -> &[ChainId] {
        &self.chains
    }

    /// Passes to `take` the tasks posted from `chain` before event number `bound` with a delay that
    /// FIFO orders before `delay`. Skips tasks that others dominate. `is_before` returns whether a
    /// task is already ordered before.
    pub(crate) fn visit_ordered(
        &self,
        chain: ChainId,
        bound: u32,
        delay: u64,
        mut take: impl FnMut(Begun),
    ) {
        let Some(delays) = self.of_chain.get(&chain) else { return };
        for (_, list) in delays.range(..=delay) {
            let end = list.partition_point(|begun| begun.post.0 < bound);
            for begun in list[..end].iter().rev() {
                take(*begun);
                if begun.dominates {
                    break;
                }
            }
            if delay == 0 {
                break;
            }
        }
    }

    /// Returns the last post from `chain` before event number `before` of a task that `counts`.
    pub(crate) fn last_before(
        &self,
        chain: ChainId,
        before: EventId,
        counts: impl Fn(StrandId) -> bool,
    ) -> Option<EventId> {
        let lists = self.of_chain.get(&chain)?.values();
        let last = lists.filter_map(|list| {
            let end = list.partition_point(|begun| begun.post < before);
            let found = list[..end].iter().rev().find(|begun| counts(begun.strand))?;
            Some(found.post)
        });
        last.max()
    }

    /// Returns the last tasks that began without delay, the last one first, while all tasks of this
    /// handler began in the order of their posts. A task posted without delay before the post of
    /// one of these is ordered before it.
    pub(crate) fn recent(&self) -> impl Iterator<Item = &(StrandId, Stamp)> {
        let regular = if self.irregular { &[][..] } else { &self.recent[..] };
        regular.iter().rev()
    }

    /// Returns the kept stamps.
    pub(crate) fn recent_mut(&mut self) -> impl Iterator<Item = &mut Stamp> {
        self.recent.iter_mut().map(|(_, stamp)| stamp)
    }

    /// Records a task that began without delay among the recent ones.
    pub(crate) fn note_recent(&mut self, strand: StrandId, post: Stamp) {
        if self.recent.len() == RECENT_MAX {
            self.recent.remove(0);
        }
        self.recent.push((strand, post));
    }

    /// Adds a task that has begun. `is_before(a, b)` returns whether task `a` ends before task `b`
    /// begins.
    pub(crate) fn insert(
        &mut self,
        chain: ChainId,
        delay: u64,
        (post, strand, front): (EventId, StrandId, bool),
        is_before: impl Fn(StrandId, StrandId) -> bool,
    ) {
        let delays = self.of_chain.entry(chain).or_insert_with(|| {
            self.chains.push(chain);
            BTreeMap::new()
        });
        let list = delays.entry(delay).or_default();
        let at = list.partition_point(|begun| begun.post < post);
        self.irregular |= front || (delay == 0 && at < list.len());
        list.insert(at, Begun { post, strand, dominates: false });
        for i in at..list.len() {
            let dominates =
                i == 0 || (list[i - 1].dominates && is_before(list[i - 1].strand, list[i].strand));
            if i > at && list[i].dominates == dominates {
                break;
            }
            list[i].dominates = dominates;
        }
    }
}
