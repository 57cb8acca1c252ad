//! The order of the tasks of a handler, computed at the begin of each task.
//!
//! **Idea.** One number for each chain of the handler gives the tasks that end before a task
//! begins. No pre-emption and the FIFO rule find it from the clocks of the events before the task's
//! begin, above all its post. The ends of the tasks found are then joined into its clock. *Fifo,
//! read backwards* works in the other direction: it finds edges between posts, for the next pass.

use crate::relation::begun::Begun;
use crate::relation::chain_map::ChainMap;
use crate::relation::engine::Engine;
use crate::relation::given::Edge;
use crate::relation::pass::Pass;
use crate::relation::rules::Rule;
use crate::relation::sabotage::Sabotage;
use crate::relation::state::{Clocks, Stamp, State};
use crate::relation::strands::{Strand, StrandId};
use crate::relation::task_orders::Order;
use anyorder_order::{ChainId, ClockRef};
use anyorder_trace::{EventId, HandlerId};
use rustc_hash::FxHashMap;

/// The most posters that are scanned one by one.
const FEW_POSTERS: usize = 3;
/// Traces of fewer events take the ways of long ones with many posters: all tests try those.
const SHORT: usize = 1_000;
/// The most posters that are scanned one by one where no recent task helps.
const POSTERS_SCANNED_MAX: usize = 256;
/// The most chains of a handler that are asked one by one.
const FEW_CHAINS: usize = 32;

impl Pass<'_, '_> {
    /// Finds the tasks of its handler that end before a task begins.
    pub(crate) fn order(
        &mut self,
        strand: StrandId,
        sources: &[Stamp],
        post: Option<&Stamp>,
        explicit: bool,
    ) {
        let at = *self.engine.strands.get(strand);
        let mut order = Order::default();
        let mut explicit = explicit;
        let front = self.engine.task_is_front(at.task);
        let fifo_post = post.filter(|_| !self.engine.is_bag(at.handler) && !front);
        let recent = fifo_post.and_then(|post| self.recent_before(strand, post));
        let mut base = recent.map(|(_, stamp)| stamp.clock);
        let mut recent_tainted = false;
        if let Some((earlier, _)) = recent {
            self.put_before(earlier, &mut order);
            recent_tainted = self.state.tainted[earlier.index()];
        } else if let Some((beside, stamp)) = post.and_then(|post| self.beside(&at, post)) {
            if self.engine.sabotage != Sabotage::BesideForgotten {
                self.put_all_before(beside, &mut order);
            }
            base = Some(stamp.clock);
        }
        for source in sources {
            let is_post = post.is_some_and(|post| post.event == source.event);
            self.no_preemption(&at, source, base.filter(|_| is_post), &mut order);
        }
        let mut next = self.engine.given.orders.partition_point(|(_, b, _)| *b < at.task);
        while let Some((a, b, _)) = self.engine.given.orders.get(next)
            && *b == at.task
        {
            explicit = true;
            for a in self.engine.strands.of_task(*a) {
                self.put_before(a, &mut order);
            }
            next += 1;
        }
        let mut tainted = explicit | recent_tainted;
        if let Some(post) = fifo_post {
            self.fifo(strand, (post, recent), &mut order, &mut tainted);
            tainted |= self.fifo_of_bare_posts(strand, post, &mut order);
        }
        self.state.tainted[strand.index()] = tainted;
        self.engine.orders.set(strand, order);
    }

    /// Orders task `a`, and all tasks before it, before the current task.
    fn put_before(&mut self, a: StrandId, order: &mut Order) {
        put_before(self.engine, a, order);
    }

    /// Orders the tasks before a task in a bag before the current task, which is posted later.
    fn put_all_before(&mut self, beside: StrandId, order: &mut Order) {
        for at in 0..self.engine.orders.last_before(beside).len() {
            let before = self.engine.orders.last_before(beside)[at];
            self.put_before(before, order);
        }
    }

    /// Applies the rule of no pre-emption to one event that is before the begin of a task. What the
    /// clock `base` knows is done.
    fn no_preemption(
        &mut self,
        at: &Strand,
        source: &Stamp,
        base: Option<ClockRef>,
        order: &mut Order,
    ) {
        let engine = &mut *self.engine;
        let from = engine.strands.get(source.strand);
        if from.posted && from.handler == at.handler {
            if from.last < at.first {
                put_before(engine, source.strand, order);
            }
            return;
        }
        let (chains, clocks) = (&engine.chains, &self.state.clocks);
        let known = match base {
            Some(base) => more_known_of(chains, clocks, (source.clock, base), at.handler),
            None => last_first(known_of(chains, clocks, source.clock, at.handler)),
        };
        for (chain, value) in known {
            let local = engine.chains.info(chain).local;
            if value <= engine.orders.clocks.get(order.clock, local) {
                continue;
            }
            if let Some(&a) = engine.begun_on(chain, value).last()
                && engine.strands.get(a).last < at.first
            {
                put_before(engine, a, order);
            }
        }
    }

    /// Applies the FIFO rule to the earlier posted tasks of the same handler that are not before a
    /// recent one.
    fn fifo(
        &mut self,
        strand: StrandId,
        (post, recent): (&Stamp, Option<(StrandId, Stamp)>),
        order: &mut Order,
        tainted: &mut bool,
    ) {
        // Two posts of one handler are compared by the orders of their tasks.
        let mut in_order: Vec<(ChainId, u32)> = Vec::new();
        if let Some((_, recent)) = recent {
            let engine = &*self.engine;
            let (post, recent) = (post.strand, recent.strand);
            let chains = engine.chains.posted_of(engine.strands.get(post).handler);
            let orders = &engine.orders;
            let (post, recent) = (orders.of(post), orders.of(recent));
            orders.clocks.store.for_each_above(post, recent, |local, value| {
                in_order.push((chains[local.index()], value));
            });
        }
        let engine = &mut *self.engine;
        let at = *engine.strands.get(strand);
        let begun = &self.state.begun[at.handler.index()];
        let delay = engine.delay(at.task);
        let (clocks, all_tainted) = (&self.state.clocks, &self.state.tainted);
        let mut take = |engine: &mut Engine<'_>, earlier: &Begun| {
            engine.tasks_visited += 1;
            let has_ended = earlier.last < at.first;
            if has_ended {
                let value = earlier.last.0 + 1;
                engine.orders.put(order, earlier.strand, earlier.local, value);
                *tainted |= all_tainted[earlier.strand.index()];
            }
            has_ended
        };
        let delays = std::rc::Rc::clone(&engine.delays);
        let delay = (delay, &delays[..]);
        let mut visit = |chain: ChainId, known: u32| {
            let bound = engine.bound(post.strand, post.event.0, chain, |_| known);
            begun.visit_ordered(chain, bound, delay, |earlier| take(engine, earlier));
        };
        // Posts before the post of a recent task can be skipped if the recent task is ordered
        // before this one. Otherwise scan the posters of this handler, or those that the post
        // knows; usually one of the two lists is short.
        if let Some((_, recent)) = recent {
            clocks.store.for_each_above(post.clock, recent.clock, &mut visit);
            in_order.into_iter().for_each(|(chain, known)| visit(chain, known));
        } else if begun.chains().len() <= POSTERS_SCANNED_MAX {
            for (place, &chain) in begun.chains().iter().enumerate() {
                let known = |chain| clocks.get(post.clock, chain);
                let bound = engine.bound(post.strand, post.event.0, chain, known);
                begun.visit_ordered_at(place, bound, delay, |earlier| take(engine, earlier));
            }
        } else {
            clocks.store.for_each(post.clock, &mut visit);
        }
    }

    /// Finds a task of a bag that the same chain posted before a given post, if nothing but that
    /// chain and the start of the handler gives its order: then the order of the task of the given
    /// post has it all.
    fn beside(&self, at: &Strand, post: &Stamp) -> Option<(StrandId, Stamp)> {
        let engine = &*self.engine;
        if !engine.is_bag(at.handler) || engine.is_bare(post.strand) {
            return None;
        }
        let chain = engine.chains.of(post.strand);
        let before =
            if engine.sabotage == Sabotage::BesideLater { EventId::NONE } else { post.event };
        let last = self.state.begun[at.handler.index()].last_posted(chain, before)?;
        let is_plain = |beside: StrandId| !self.state.tainted[beside.index()];
        Some(last)
            .filter(|(beside, _)| is_plain(*beside) || engine.sabotage == Sabotage::BesideOrdered)
    }

    /// Finds a task that began recently and whose post is before a given post, if the same rules
    /// apply to the predecessors of both posts.
    fn recent_before(&self, strand: StrandId, post: &Stamp) -> Option<(StrandId, Stamp)> {
        let engine = &*self.engine;
        let at = engine.strands.get(strand);
        let poster = engine.strands.get(post.strand);
        let begun = &self.state.begun[at.handler.index()];
        let are_few = begun.chains().len() <= FEW_POSTERS && engine.trace.len() >= SHORT;
        if engine.delay(at.task) > 0 || are_few {
            return None;
        }
        let recent = begun.recent().copied().find(|(earlier, stamp)| {
            let other = engine.strands.get(stamp.strand);
            let alike = other.posted == poster.posted
                && (!poster.posted || other.handler == poster.handler)
                || engine.sabotage == Sabotage::RecentUnlike;
            let chain = engine.chains.of(stamp.strand);
            let bound = || {
                engine.bound(post.strand, post.event.0, chain, |chain| {
                    self.state.clocks.get(post.clock, chain)
                })
            };
            // A trace may break the order of posts.
            let is_posted_before = match stamp.strand == post.strand {
                true => stamp.event < post.event,
                false => bound() > stamp.event.0,
            } || engine.sabotage == Sabotage::RecentLater;
            alike && engine.strands.get(*earlier).last < at.first && is_posted_before
        });
        // The strands of a chain are alike, and its posts are in order.
        recent.or_else(|| {
            let chain = (!engine.is_bare(post.strand)).then(|| engine.chains.of(post.strand))?;
            let last = begun.last_posted(chain, post.event)?;
            Some(last).filter(|(earlier, _)| engine.strands.get(*earlier).last < at.first)
        })
    }

    /// Applies the FIFO rule to tasks that bare strands posted. Such a post is before another post
    /// exactly if the begin of its task is, whatever their order as tasks. This matters to no
    /// pre-emption only if a task of the same handler makes the other post. Returns whether one of
    /// the tasks is tainted.
    fn fifo_of_bare_posts(&mut self, strand: StrandId, post: &Stamp, order: &mut Order) -> bool {
        let engine = &mut *self.engine;
        let at = *engine.strands.get(strand);
        let poster = engine.strands.get(post.strand);
        if !engine.has_bare || !poster.posted || poster.handler != at.handler {
            return false;
        }
        let mut tainted = false;
        let known = known_of(&engine.chains, &self.state.clocks, post.clock, at.handler);
        for (chain, value) in known {
            let local = engine.chains.info(chain).local;
            let known = engine.orders.clocks.get(order.clock, local);
            if value <= known {
                continue;
            }
            let begun = engine.begun_on(chain, value).iter().rev();
            let unknown = begun.take_while(|task| engine.strands.get(**task).last.0 >= known);
            let posted = |task: &&StrandId| {
                let task = engine.strands.get(**task);
                let posted = engine.trace.span(task.task).post;
                let bare = !posted.is_none() && engine.is_bare(engine.strand_of(posted));
                bare && task.last < at.first && engine.fifo_applies(task.task, at.task)
            };
            if let Some(earlier) = unknown.copied().find(|task| posted(&task)) {
                put_before(engine, earlier, order);
                tainted |= self.state.tainted[earlier.index()];
            }
        }
        tainted
    }

    /// Joins the ends of the tasks that come before a task into its clock.
    pub(crate) fn join_ordered_tasks(&mut self, strand: StrandId) {
        let engine = &*self.engine;
        let own = engine.chains.of(strand);
        for &task in engine.orders.last_before(strand) {
            let chain = engine.chains.of(task);
            let value = engine.strands.get(task).last.0 + 1;
            let State { at, grown, clocks, .. } = &self.state;
            if clocks.get(at[strand.index()], chain) < value {
                let (clock, grown) = (at[task.index()], grown[task.index()]);
                self.state.learn(strand, own, clock, Some((chain, grown)));
                self.state.raise(strand, chain, value);
                self.state.edges += 1;
            }
        }
    }

    /// Gives a strand its chain.
    pub(crate) fn place(&mut self, strand: StrandId) {
        let Engine { strands, orders, chains, .. } = &mut *self.engine;
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        let (store, clock) = match strands.get(strand).posted {
            true => (&orders.clocks.store, orders.of(strand)),
            false => (&clocks.store, at),
        };
        chains.place(strands, strand, store, clock);
    }

    /// Records a task as begun, and finds the posts whose order follows from its order.
    pub(crate) fn after_begin(&mut self, strand: StrandId, post: Option<&Stamp>) {
        let at = *self.engine.strands.get(strand);
        let Some(post) = post else { return };
        if self.engine.is_bag(at.handler) {
            if !self.engine.is_bare(post.strand) {
                let chain = self.engine.chains.of(post.strand);
                self.state.begun[at.handler.index()].note_posted(chain, (strand, *post), true);
            }
            return;
        }
        let front = self.engine.task_is_front(at.task);
        let delay = self.engine.delay(at.task);
        if self.state.tainted[strand.index()] && delay == 0 && !front {
            self.read_backwards(strand, post);
        }
        let engine = &*self.engine;
        if engine.is_bare(post.strand) {
            // See `fifo_of_bare_posts`.
            return;
        }
        let chain = engine.chains.of(post.strand);
        if delay == 0 && !front {
            let is_short = engine.trace.len() < SHORT;
            let begun = &mut self.state.begun[at.handler.index()];
            begun.note_recent(strand, *post, is_short);
            let takes_all = engine.sabotage == Sabotage::LastUnsorted;
            begun.note_posted(chain, (strand, *post), takes_all);
        }
        let local = engine.chains.info(engine.chains.of(strand)).local;
        self.state.begun[at.handler.index()].insert(
            chain,
            (delay, &engine.delays),
            Begun::new((post.event, strand), (local, at.last), front),
            |a, b| engine.orders.get(b.strand, a.local) > a.last.0,
        );
    }

    /// Applies the FIFO rule, read backwards: collects edges between the posts of ordered tasks.
    /// The last post of each poster is enough. Tasks before a recent task can be skipped: their
    /// posts are, or will be, before the post of the recent task, which is before this one.
    fn read_backwards(&mut self, strand: StrandId, post: &Stamp) {
        let recent = self.recent_before(strand, post).map(|(earlier, _)| earlier);
        let mut from = match recent {
            Some(recent) => self.posts_after(strand, post, recent),
            None => self.posts_of_all(strand, post),
        };
        from.sort_unstable();
        let (to, rule) = (post.event, Rule::FifoBackwards);
        self.found.extend(from.into_iter().map(|from| Edge { from, to, rule }));
    }

    /// Returns, for each poster, the last post of a task that is before `strand`, unless it is
    /// known to be before `post`.
    fn posts_of_all(&self, strand: StrandId, post: &Stamp) -> Vec<EventId> {
        let engine = &*self.engine;
        let begun = &self.state.begun[engine.strands.get(strand).handler.index()];
        let order = engine.orders.of(strand);
        let counts =
            |task: &Begun| !task.front && engine.orders.clocks.get(order, task.local) > task.last.0;
        let known = |chain| self.state.clocks.get(post.clock, chain);
        let mut found = Vec::new();
        for (place, &chain) in begun.chains().iter().enumerate() {
            // Posts of the chain below this number are known, so only later ones are looked at.
            let from = engine.bound(post.strand, post.event.0, chain, known);
            let last = begun.last_between(place, (from, post.event.0), counts);
            found.extend(last.filter(|before| !self.is_known(*before, post)));
        }
        found
    }

    /// Returns whether one post is known to be before another, or the orders of their tasks say
    /// whether it is.
    fn is_known(&self, before: EventId, post: &Stamp) -> bool {
        let engine = &*self.engine;
        let by = engine.strand_of(before);
        let (at, poster) = (engine.strands.get(by), engine.strands.get(post.strand));
        let in_one_loop = poster.posted && at.posted && at.handler == poster.handler;
        if in_one_loop || engine.is_bare(by) || by == post.strand {
            return true;
        }
        let known = |chain| self.state.clocks.get(post.clock, chain);
        engine.bound(post.strand, post.event.0, engine.chains.of(by), known) > before.0
    }

    /// Works like [`posts_of_all`](Self::posts_of_all) without the tasks before `recent`.
    fn posts_after(&self, strand: StrandId, post: &Stamp, recent: StrandId) -> Vec<EventId> {
        let engine = &*self.engine;
        let chains = engine.chains.posted_of(engine.strands.get(strand).handler);
        let mut last: FxHashMap<ChainId, EventId> = FxHashMap::default();
        let (order, recent) = (engine.orders.of(strand), engine.orders.of(recent));
        let orders = &engine.orders.clocks.store;
        orders.for_each_above(order, recent, |local, below| {
            let from = orders.get(recent, local);
            let tasks = engine.chains.strands_of(chains[local.index()]);
            let start = tasks.partition_point(|task| engine.strands.get(*task).last.0 < from);
            for task in tasks[start..].iter().map(|task| engine.strands.get(*task)) {
                if task.last.0 >= below {
                    break;
                }
                let before = engine.trace.span(task.task).post;
                if before.is_none()
                    || before >= post.event
                    || engine.task_is_front(task.task)
                    || self.is_known(before, post)
                {
                    continue;
                }
                let last = last.entry(engine.chains.of(engine.strand_of(before))).or_insert(before);
                *last = before.max(*last);
            }
        });
        last.into_values().collect()
    }
}

/// Finds the tasks that a task is put before; see [`TaskOrders::put`].
fn put_before(engine: &mut Engine<'_>, a: StrandId, order: &mut Order) {
    let local = engine.chains.info(engine.chains.of(a)).local;
    let value = engine.strands.get(a).last.0 + 1;
    engine.orders.put(order, a, local, value);
}

/// Returns the entries of a clock for the chains of posted tasks of a handler that are greater than
/// those of another clock.
fn more_known_of(
    chains: &ChainMap,
    clocks: &Clocks,
    (clock, than): (ClockRef, ClockRef),
    handler: HandlerId,
) -> Vec<(ChainId, u32)> {
    let mut known = Vec::new();
    clocks.store.for_each_above(clock, than, |chain, value| {
        let info = chains.info(chain);
        if info.posted && info.handler == handler {
            known.push((chain, value));
        }
    });
    last_first(known)
}

/// Sorts entries: the last events first, since their tasks are after many of the others.
fn last_first(mut known: Vec<(ChainId, u32)>) -> Vec<(ChainId, u32)> {
    known.sort_unstable_by_key(|(_, value)| std::cmp::Reverse(*value));
    known
}

/// Returns the entries of a clock for the chains of posted tasks of a handler, without those that
/// are 0.
fn known_of(
    chains: &ChainMap,
    clocks: &Clocks,
    clock: ClockRef,
    handler: HandlerId,
) -> Vec<(ChainId, u32)> {
    let of_handler = chains.posted_of(handler);
    let mut known = Vec::new();
    let mut budget = 4 * of_handler.len();
    let walked = of_handler.len() > FEW_CHAINS
        && clocks.store.for_each_while(clock, |chain, value| {
            let info = chains.info(chain);
            if info.posted && info.handler == handler {
                known.push((chain, value));
            }
            budget -= 1;
            budget > 0
        });
    if !walked {
        let entries = of_handler.iter().map(|chain| (*chain, clocks.get(clock, *chain)));
        known = entries.filter(|(_, value)| *value > 0).collect();
    }
    known
}
