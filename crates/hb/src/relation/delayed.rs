//! The tasks with a delay that one poster's chain posted and a handler has begun.
//!
//! **Problem.** FIFO orders a task after those that the chain posted before it with at most its
//! delay. Where each task has a delay of its own, there are as many of these as tasks.
//!
//! **Idea.** A task that is after all of those covers them: only the *greatest* ones need a visit,
//! those that no task with a later post and at least their delay covers. A visit takes the last
//! post among the small delays, then the last post before that one among the greater delays, and so
//! on. A task that does not cover its own, or that an earlier one should have waited for, is kept
//! by the caller instead.
//!
//! **Method.** A segment tree over the different delays of the trace. Each of its nodes has the
//! posts of its tasks, sorted, and is there only if it has some.
//!
//! **Cost.** With `d` different delays and `t` tasks, each task visited and each insertion cost
//! `log d · log t`.

use crate::relation::begun::Begun;
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The most tasks that are visited one by one.
const FEW: usize = 4;

/// Tasks with a delay, by delay and post.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delayed {
    /// In the order in which they began, with the places of their delays among all of the trace.
    tasks: Vec<(Begun, u32)>,
    /// The nodes of the tree: for each post, the place of its task. Node 1 is the root; empty as
    /// long as there are few tasks.
    nodes: FxHashMap<u32, BTreeMap<u32, u32>>,
}

impl Delayed {
    /// Adds a task with a delay of `delays`, which are sorted. Returns false, and adds nothing, if
    /// it does not cover the tasks that FIFO orders before it, or is not before one that it should
    /// precede. `is_before(a, b)` returns whether task `a` ends before task `b` begins.
    pub(crate) fn insert(
        &mut self,
        delays: &[u64],
        delay: u64,
        begun: Begun,
        is_before: impl Fn(&Begun, &Begun) -> bool,
    ) -> bool {
        let rank = delays.partition_point(|other| *other < delay) as u32;
        let mut covers = true;
        self.visit(delays, delay, begun.post.0, |earlier| {
            covers &= is_before(earlier, &begun);
            covers
        });
        if !covers || self.last((rank, delays.len() as u32), u32::MAX, delays) > Some(begun.post) {
            return false;
        }
        self.tasks.push((begun, rank));
        if self.nodes.is_empty() && self.tasks.len() > FEW {
            for place in 0..self.tasks.len() {
                self.add(place, delays.len());
            }
        } else if !self.nodes.is_empty() {
            self.add(self.tasks.len() - 1, delays.len());
        }
        true
    }

    fn add(&mut self, place: usize, delays: usize) {
        let (begun, rank) = self.tasks[place];
        let mut node = delays as u32 + rank;
        while node > 0 {
            self.nodes.entry(node).or_default().insert(begun.post.0, place as u32);
            node /= 2;
        }
    }

    /// Passes to `take` the tasks posted before an event number with at most a delay, without those
    /// that others cover. `take` returns whether the task has ended; if not, it covers nothing.
    pub(crate) fn visit(
        &self,
        delays: &[u64],
        delay: u64,
        mut bound: u32,
        mut take: impl FnMut(&Begun) -> bool,
    ) {
        let end = delays.partition_point(|other| *other <= delay) as u32;
        if self.nodes.is_empty() {
            let few = self.tasks.iter().rev();
            for (begun, _) in few.filter(|(begun, rank)| *rank < end && begun.post.0 < bound) {
                take(begun);
            }
            return;
        }
        let mut from = 0;
        while let Some(place) = self.find((from, end), bound, delays.len() as u32) {
            let (begun, rank) = &self.tasks[place as usize];
            if take(begun) {
                from = rank + 1;
            }
            bound = begun.post.0;
        }
    }

    /// Returns the last post of a task in a range of delays before an event number.
    fn last(&self, ranks: (u32, u32), bound: u32, delays: &[u64]) -> Option<EventId> {
        if self.nodes.is_empty() {
            let within = |rank: u32| (ranks.0..ranks.1).contains(&rank);
            let few =
                self.tasks.iter().filter(|(begun, rank)| within(*rank) && begun.post.0 < bound);
            return few.map(|(begun, _)| begun.post).max();
        }
        let place = self.find(ranks, bound, delays.len() as u32)?;
        Some(self.tasks[place as usize].0.post)
    }

    /// Returns the place of the task with the last post in a range of delays before an event
    /// number.
    fn find(&self, (from, end): (u32, u32), bound: u32, delays: u32) -> Option<u32> {
        let mut best = None;
        let mut look = |node: u32| {
            let Some(posts) = self.nodes.get(&node) else { return };
            best = best.max(posts.range(..bound).next_back().map(|(post, place)| (*post, *place)));
        };
        let (mut from, mut end) = (from + delays, end + delays);
        while from < end {
            if from % 2 == 1 {
                look(from);
                from += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                look(end);
            }
            (from, end) = (from / 2, end / 2);
        }
        best.map(|(_, place)| place)
    }

    /// Returns, of the tasks posted between two event numbers, the last post of one that `counts`.
    pub(crate) fn last_between(
        &self,
        (from, before): (u32, u32),
        counts: impl Fn(&Begun) -> bool,
    ) -> Option<EventId> {
        if self.nodes.is_empty() {
            let tasks = self.tasks.iter().map(|(begun, _)| begun);
            let posted = tasks.filter(|begun| (from..before).contains(&begun.post.0));
            return posted.filter(|begun| counts(begun)).map(|begun| begun.post).max();
        }
        let posts = self.nodes.get(&1)?.range(from..before.max(from)).rev();
        let mut tasks = posts.map(|(_, place)| &self.tasks[*place as usize].0);
        Some(tasks.find(|begun| counts(begun))?.post)
    }
}
