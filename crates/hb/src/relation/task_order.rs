//! The order of the tasks of a handler, computed at the begin of each task.
//!
//! **Idea.** One number for each chain of the handler gives the tasks that end before a task
//! begins. No pre-emption and the FIFO rule find it from the clocks of the events before the task's
//! begin, above all its post. The ends of the tasks found are then joined into its clock. *Fifo,
//! read backwards* works in the other direction: it finds edges between posts, for the next pass.

use crate::relation::given::Edge;
use crate::relation::pass::Pass;
use crate::relation::rules::Rule;
use crate::relation::state::Stamp;
use crate::relation::strands::{Strand, StrandId};
use anyorder_order::{ChainId, Clock};
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;

/// The most posters that are scanned one by one.
const FEW_POSTERS: usize = 3;

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
        let mut order = Clock::new();
        let mut explicit = explicit;
        for source in sources {
            self.no_preemption(&at, source, &mut order);
        }
        let orders = &self.engine.given.orders;
        let start = orders.partition_point(|(_, b, _)| *b < at.task);
        for (a, _, _) in orders[start..].iter().take_while(|(_, b, _)| *b == at.task) {
            explicit = true;
            for a in self.engine.strands.of_task(*a) {
                self.put_before(a, &mut order);
            }
        }
        let mut tainted = explicit;
        let front = self.engine.task_is_front(at.task);
        if let Some(post) = post.filter(|_| !self.engine.is_bag(at.handler) && !front) {
            self.fifo(strand, post, &mut order, &mut tainted);
            tainted |= self.fifo_of_bare_posts(strand, post, &mut order);
        }
        self.state.tainted[strand.index()] = tainted;
        self.engine.orders[strand.index()] = order;
    }

    /// Orders task `a`, and all tasks before it, before the current task.
    fn put_before(&self, a: StrandId, order: &mut Clock) {
        let local = self.engine.chains.info(self.engine.chains.of(a)).local;
        let value = self.engine.strands.get(a).last.0 + 1;
        if order.get(local) < value {
            order.join(&self.engine.orders[a.index()]);
            order.raise(local, value);
        }
    }

    /// Applies the rule of no pre-emption to one event that is before the begin of a task.
    fn no_preemption(&self, at: &Strand, source: &Stamp, order: &mut Clock) {
        let engine = &self.engine;
        let from = engine.strands.get(source.strand);
        if from.posted && from.handler == at.handler {
            if from.last < at.first {
                self.put_before(source.strand, order);
            }
            return;
        }
        for &chain in engine.chains.posted_of(at.handler) {
            let value = self.state.clocks.get(source.clock, chain);
            if value <= order.get(engine.chains.info(chain).local) {
                continue;
            }
            if let Some(&a) = engine.begun_on(chain, value).last()
                && engine.strands.get(a).last < at.first
            {
                self.put_before(a, order);
            }
        }
    }

    /// Applies the FIFO rule to the earlier posted tasks of the same handler.
    fn fifo(&self, strand: StrandId, post: &Stamp, order: &mut Clock, tainted: &mut bool) {
        let at = self.engine.strands.get(strand);
        let begun = &self.state.begun[at.handler.index()];
        let delay = self.engine.delay(at.task);
        let recent = self.recent_before(strand, post).map(|(earlier, stamp)| {
            self.put_before(earlier, order);
            *tainted |= self.state.tainted[earlier.index()];
            stamp
        });
        let mut visit = |chain: ChainId, known: u32| {
            let bound = self.engine.bound(post.strand, post.event.0, chain, |_| known);
            begun.visit_ordered(chain, bound, delay, |earlier| {
                if self.engine.strands.get(earlier.strand).last < at.first {
                    self.put_before(earlier.strand, order);
                    *tainted |= self.state.tainted[earlier.strand.index()];
                }
            });
        };
        // Posts before the post of a recent task can be skipped if the recent task is ordered
        // before this one. Otherwise scan the posters of this handler, or those that the post
        // knows; usually one of the two lists is short.
        if let Some(recent) = recent {
            let clocks = &self.state.clocks;
            clocks.store.for_each_above(post.clock, recent.clock, &mut visit);
            let poster = self.engine.strands.get(post.strand);
            if poster.posted {
                for &chain in self.engine.chains.posted_of(poster.handler) {
                    visit(chain, clocks.get(post.clock, chain));
                }
            }
        } else if begun.chains().len() <= FEW_POSTERS {
            for &chain in begun.chains() {
                visit(chain, self.state.clocks.get(post.clock, chain));
            }
        } else {
            self.state.clocks.store.for_each(post.clock, &mut visit);
        }
    }

    /// Finds a task that began recently and whose post is before a given post, if the same rules
    /// apply to the predecessors of both posts.
    fn recent_before(&self, strand: StrandId, post: &Stamp) -> Option<(StrandId, Stamp)> {
        let engine = &*self.engine;
        let at = engine.strands.get(strand);
        let poster = engine.strands.get(post.strand);
        let begun = &self.state.begun[at.handler.index()];
        if engine.delay(at.task) > 0 || begun.chains().len() <= FEW_POSTERS {
            return None;
        }
        begun.recent().copied().find(|(earlier, stamp)| {
            let other = engine.strands.get(stamp.strand);
            let alike = other.posted == poster.posted
                && (!poster.posted || other.handler == poster.handler);
            let chain = engine.chains.of(stamp.strand);
            let bound = || {
                engine.bound(post.strand, post.event.0, chain, |chain| {
                    self.state.clocks.get(post.clock, chain)
                })
            };
            alike
                && engine.strands.get(*earlier).last < at.first
                && (stamp.strand == post.strand || bound() > stamp.event.0)
        })
    }

    /// Applies the FIFO rule to tasks that bare strands posted. Such a post is before another post
    /// exactly if the begin of its task is, whatever their order as tasks. This matters to no
    /// pre-emption only if a task of the same handler makes the other post. Returns whether one of
    /// the tasks is tainted.
    fn fifo_of_bare_posts(&self, strand: StrandId, post: &Stamp, order: &mut Clock) -> bool {
        let engine = &*self.engine;
        let at = engine.strands.get(strand);
        let poster = engine.strands.get(post.strand);
        if !poster.posted || poster.handler != at.handler {
            return false;
        }
        let mut tainted = false;
        for &chain in engine.chains.posted_of(at.handler) {
            let value = self.state.clocks.get(post.clock, chain);
            let known = order.get(engine.chains.info(chain).local);
            if value <= known {
                continue;
            }
            for &earlier in engine.begun_on(chain, value).iter().rev() {
                let task = engine.strands.get(earlier);
                if task.last.0 < known {
                    break;
                }
                let posted = engine.trace.span(task.task).post;
                let bare = !posted.is_none() && engine.is_bare(engine.strand_of(posted));
                if bare && task.last < at.first && engine.fifo_applies(task.task, at.task) {
                    self.put_before(earlier, order);
                    tainted |= self.state.tainted[earlier.index()];
                    break;
                }
            }
        }
        tainted
    }

    /// Joins the ends of the tasks that come before a task into its clock.
    pub(crate) fn join_ordered_tasks(&mut self, strand: StrandId) {
        let engine = &*self.engine;
        let chains = engine.chains.posted_of(engine.strands.get(strand).handler);
        let order = &engine.orders[strand.index()];
        let (clocks, all) = (&mut self.state.clocks, &mut self.state.at);
        let mut at = all[strand.index()];
        let mut missing: Vec<(u32, ChainId)> = order
            .as_slice()
            .iter()
            .zip(chains)
            .filter(|(value, chain)| **value > 0 && clocks.get(at, **chain) < **value)
            .map(|(value, chain)| (*value, *chain))
            .collect();
        missing.sort_unstable_by(|a, b| b.cmp(a));
        for (value, chain) in missing {
            if clocks.get(at, chain) < value {
                let last = engine.strand_of(EventId(value - 1));
                at = clocks.join(at, all[last.index()]);
                at = clocks.raise(at, chain, value);
                self.state.edges += 1;
            }
        }
        all[strand.index()] = at;
    }

    /// Gives a strand its chain.
    pub(crate) fn place(&mut self, strand: StrandId) {
        let engine = &mut *self.engine;
        let (strands, orders) = (&engine.strands, &engine.orders);
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        let posted = strands.get(strand).posted;
        engine.chains.place(strands, strand, |info, chain, tail| {
            let value = strands.get(tail).last.0;
            if posted {
                orders[strand.index()].get(info.local) > value
            } else {
                clocks.get(at, chain) > value
            }
        });
    }

    /// Records a task as begun, and finds the posts whose order follows from its order.
    pub(crate) fn after_begin(&mut self, strand: StrandId, post: Option<&Stamp>) {
        let at = *self.engine.strands.get(strand);
        let Some(post) = post else { return };
        if self.engine.is_bag(at.handler) {
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
            self.state.begun[at.handler.index()].note_recent(strand, *post);
        }
        self.state.begun[at.handler.index()].insert(
            chain,
            delay,
            (post.event, strand, front),
            |a, b| engine.task_before(a, b),
        );
    }

    /// Applies the FIFO rule, read backwards: collects edges between the posts of ordered tasks.
    /// The last post of each poster is enough. Tasks before a recent task can be skipped: their
    /// posts are, or will be, before the post of the recent task, which is before this one.
    fn read_backwards(&mut self, strand: StrandId, post: &Stamp) {
        let engine = &*self.engine;
        let poster = engine.strands.get(post.strand);
        let handler = engine.strands.get(strand).handler;
        let recent = self.recent_before(strand, post).map(|(earlier, _)| earlier);
        let mut last: FxHashMap<ChainId, EventId> = FxHashMap::default();
        for &chain in engine.chains.posted_of(handler) {
            let local = engine.chains.info(chain).local;
            let below = engine.orders[strand.index()].get(local);
            let from = recent.map_or(0, |recent| engine.orders[recent.index()].get(local));
            let tasks = engine.chains.strands_of(chain);
            let start = tasks.partition_point(|task| engine.strands.get(*task).last.0 < from);
            for task in tasks[start..].iter().map(|task| engine.strands.get(*task)) {
                if task.last.0 >= below {
                    break;
                }
                let before = engine.trace.span(task.task).post;
                if before.is_none() || before >= post.event || engine.task_is_front(task.task) {
                    continue;
                }
                let by = engine.strand_of(before);
                let at = engine.strands.get(by);
                let in_one_loop = poster.posted && at.posted && at.handler == poster.handler;
                if in_one_loop || engine.is_bare(by) || by == post.strand {
                    continue;
                }
                let chain = engine.chains.of(by);
                let known = |chain| self.state.clocks.get(post.clock, chain);
                if engine.bound(post.strand, post.event.0, chain, known) <= before.0 {
                    let last = last.entry(chain).or_insert(before);
                    *last = before.max(*last);
                }
            }
        }
        let mut from: Vec<EventId> = last.into_values().collect();
        from.sort_unstable();
        let (to, rule) = (post.event, Rule::FifoBackwards);
        self.found.extend(from.into_iter().map(|from| Edge { from, to, rule }));
    }
}
