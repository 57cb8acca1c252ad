//! The tasks that a handler has begun, by poster. The FIFO rule queries them.

use crate::relation::begun::Begun;
use crate::relation::delayed::Delayed;
use crate::relation::state::Stamp;
use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The tasks that one poster's chain posted.
#[derive(Clone, Debug, Default)]
struct OfPoster {
    /// Those without delay, which are nearly all, by post.
    direct: Vec<Begun>,
    /// Those with a delay, if they cover others as the rule says.
    delayed: Delayed,
    /// The others with a delay: for each delay, by post.
    strays: BTreeMap<u64, Vec<Begun>>,
}

impl OfPoster {
    /// Returns the lists of all delays up to one.
    fn up_to(&self, delay: u64) -> impl Iterator<Item = &Vec<Begun>> {
        // Without such tasks, a walk of the map would still cost a look-up.
        let strays = (delay > 0 && !self.strays.is_empty()).then(|| self.strays.range(..=delay));
        std::iter::once(&self.direct).chain(strays.into_iter().flatten().map(|(_, list)| list))
    }
}

/// The tasks of one handler that have begun, by the chain of their poster.
#[derive(Clone, Debug)]
pub(crate) struct BegunTasks {
    /// The posters' chains in insertion order, so that passes are deterministic.
    chains: Vec<ChainId>,
    /// The tasks of each of these chains.
    posters: Vec<OfPoster>,
    /// The place of each chain in the two lists.
    places: FxHashMap<ChainId, u32>,
    /// The last tasks that began without delay, with the stamps of their posts; the most recent
    /// task is last.
    recent: Vec<(StrandId, Stamp)>,
    /// Whether some task began out of the order of its posts, or was posted to the front.
    irregular: bool,
    /// For each chain, the last task that it posted without delay, with the stamp of its post; in a
    /// bag with any delay.
    last_posted: FxHashMap<ChainId, (StrandId, Stamp)>,
    /// The last post of these.
    last_post: EventId,
    /// Whether some of these began against the order of the posts in the trace.
    unsorted: bool,
}

impl Default for BegunTasks {
    fn default() -> BegunTasks {
        BegunTasks {
            chains: Vec::new(),
            posters: Vec::new(),
            places: FxHashMap::default(),
            recent: Vec::new(),
            irregular: false,
            last_posted: FxHashMap::default(),
            last_post: EventId(0),
            unsorted: false,
        }
    }
}

/// The number of recent tasks that are kept.
const RECENT_MAX: usize = 12;
/// The same in short traces, so that they, which tests compare with the definitions, come to what
/// long traces need where no recent task helps.
const RECENT_SHORT_MAX: usize = 1;

impl BegunTasks {
    /// Returns the chains from which tasks that have begun were posted.
    pub(crate) fn chains(&self) -> &[ChainId] {
        &self.chains
    }

    /// Passes to `take` the tasks posted from `chain` before event number `bound` with a delay that
    /// FIFO orders before `delay`. Skips tasks that others dominate. `delays` are all delays of the
    /// trace, sorted. `take` returns whether the task has ended.
    pub(crate) fn visit_ordered(
        &self,
        chain: ChainId,
        bound: u32,
        (delay, delays): (u64, &[u64]),
        take: impl FnMut(&Begun) -> bool,
    ) {
        if let Some(place) = self.places.get(&chain) {
            self.visit_ordered_at(*place as usize, bound, (delay, delays), take);
        }
    }

    /// Works like [`visit_ordered`](Self::visit_ordered) for the chain at a place of
    /// [`chains`](Self::chains).
    pub(crate) fn visit_ordered_at(
        &self,
        place: usize,
        bound: u32,
        (delay, delays): (u64, &[u64]),
        mut take: impl FnMut(&Begun) -> bool,
    ) {
        if bound == 0 {
            return;
        }
        if delay > 0 {
            self.posters[place].delayed.visit(delays, delay, bound, &mut take);
        }
        for list in self.posters[place].up_to(delay) {
            for begun in list[..posted_before(list, bound)].iter().rev() {
                take(begun);
                if begun.dominates {
                    break;
                }
            }
        }
    }

    /// Returns, of the tasks that the chain at a place of [`chains`](Self::chains) posted between
    /// two event numbers, the last post of a task that `counts`.
    pub(crate) fn last_between(
        &self,
        place: usize,
        (from, before): (u32, u32),
        counts: impl Fn(&Begun) -> bool,
    ) -> Option<EventId> {
        let lists = self.posters[place].up_to(u64::MAX);
        let last = lists.filter_map(|list| {
            let posted = list[..posted_before(list, before)].iter().rev();
            let mut unknown = posted.take_while(|begun| begun.post.0 >= from);
            Some(unknown.find(|begun| counts(begun))?.post)
        });
        let delayed = self.posters[place].delayed.last_between((from, before), &counts);
        last.max().max(delayed)
    }

    /// Returns the last tasks that began without delay, the last one first, while all tasks of this
    /// handler began in the order of their posts. A task posted without delay before the post of
    /// one of these is ordered before it.
    pub(crate) fn recent(&self) -> impl Iterator<Item = &(StrandId, Stamp)> {
        let regular = if self.irregular { &[][..] } else { &self.recent[..] };
        regular.iter().rev()
    }

    /// Returns the last task without delay that a chain posted before an event, while all tasks
    /// without delay began in the order of their posts in the trace.
    pub(crate) fn last_posted(&self, chain: ChainId, before: EventId) -> Option<(StrandId, Stamp)> {
        let last = self.last_posted.get(&chain).filter(|_| !self.irregular && !self.unsorted);
        last.filter(|(_, stamp)| stamp.event < before).copied()
    }

    /// Returns the kept stamps.
    pub(crate) fn kept(&mut self) -> impl Iterator<Item = &mut Stamp> {
        let last = self.last_posted.values_mut().map(|(_, stamp)| stamp);
        self.recent.iter_mut().map(|(_, stamp)| stamp).chain(last)
    }

    /// Records the last task that a chain posted.
    pub(crate) fn note_posted(
        &mut self,
        chain: ChainId,
        (strand, post): (StrandId, Stamp),
        is_bag: bool,
    ) {
        self.unsorted |= !is_bag && post.event < self.last_post;
        self.last_post = post.event.max(self.last_post);
        let last = self.last_posted.entry(chain).or_insert((strand, post));
        if last.1.event <= post.event {
            *last = (strand, post);
        }
    }

    /// Records a task that began without delay among the recent ones.
    pub(crate) fn note_recent(&mut self, strand: StrandId, post: Stamp, is_short: bool) {
        if self.recent.len() == if is_short { RECENT_SHORT_MAX } else { RECENT_MAX } {
            self.recent.remove(0);
        }
        self.recent.push((strand, post));
    }

    /// Adds a task that has begun, posted from `chain` after a delay. `is_before(a, b)` returns
    /// whether task `a` ends before task `b` begins.
    pub(crate) fn insert(
        &mut self,
        chain: ChainId,
        (delay, delays): (u64, &[u64]),
        begun: Begun,
        is_before: impl Fn(&Begun, &Begun) -> bool,
    ) {
        let place = *self.places.entry(chain).or_insert_with(|| {
            self.chains.push(chain);
            self.posters.push(OfPoster::default());
            self.chains.len() as u32 - 1
        });
        let poster = &mut self.posters[place as usize];
        if delay > 0 && poster.delayed.insert(delays, delay, begun, &is_before) {
            self.irregular |= begun.front;
            return;
        }
        let list =
            if delay == 0 { &mut poster.direct } else { poster.strays.entry(delay).or_default() };
        let at = posted_before(list, begun.post.0);
        self.irregular |= begun.front || (delay == 0 && at < list.len());
        list.insert(at, begun);
        for i in at..list.len() {
            let dominates = i == 0 || (list[i - 1].dominates && is_before(&list[i - 1], &list[i]));
            if i > at && list[i].dominates == dominates {
                break;
            }
            list[i].dominates = dominates;
        }
    }
}

/// Returns how many tasks of a list were posted before an event number.
fn posted_before(list: &[Begun], bound: u32) -> usize {
    match list.last() {
        Some(last) if last.post.0 >= bound => list.partition_point(|begun| begun.post.0 < bound),
        _ => list.len(),
    }
}
