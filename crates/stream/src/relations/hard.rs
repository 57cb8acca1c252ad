//! The hard order. Every relation here contains it besides program order.
//!
//! The edges are: fork before the first event, last event before join, post before get, signal
//! before wake, earlier barrier events before later ones, and an atomic release before the acquire
//! that reads it or a later read-modify-write of its release sequence. `docs/happens-before.md`
//! defines them for its rule set `threads`. Forks, joins and posts hold in every run; wakes,
//! barriers and atomics are only observed.

use crate::analysis::StreamEvent;
use crate::relations::lanes::{ClockObserver, LaneId, Lanes, Published};
use anyorder_trace::{EventKind, Op};
use std::collections::{HashMap, VecDeque};

/// The most unmatched signals of a condition that are remembered; the oldest are dropped first.
const SIGNALS_MAX: usize = 1 << 12;

#[derive(Clone, Debug)]
struct Signal {
    event: u64,
    broadcast: bool,
    published: Published,
}

#[derive(Clone, Debug, Default)]
struct Condition {
    signals: VecDeque<Signal>,
    /// What the last passer published, who knew what the others had.
    barrier: Published,
    /// The last wait of each task that waits.
    waits: HashMap<u32, u64>,
}

/// State of the hard order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hard {
    posts: HashMap<u32, Published>,
    conditions: HashMap<u32, Condition>,
    /// What the release sequence of the last write of a location has released, if anything.
    released: HashMap<u32, Published>,
    /// The number of signals dropped because there were too many.
    pub(crate) signals_lost: u64,
}

impl Hard {
    /// Applies an event that is neither a memory access nor a lock operation.
    pub(crate) fn apply(
        &mut self,
        lanes: &mut Lanes,
        lane: LaneId,
        e: StreamEvent,
        watch: ClockObserver<'_>,
    ) {
        match e.op.kind() {
            EventKind::Fork => lanes.fork(lane, e.operand as usize),
            EventKind::Join => lanes.join_handler(lane, e.operand as usize, watch),
            EventKind::Post => {
                self.posts.insert(e.operand, lanes.publish(lane));
            }
            EventKind::Cancel => {
                self.posts.remove(&e.operand);
            }
            EventKind::Get => {
                if let Some(post) = self.posts.remove(&e.task) {
                    lanes.learn_from(lane, &post, watch);
                }
            }
            EventKind::Signal | EventKind::Broadcast => self.signal(lanes, lane, e),
            EventKind::Wait => {
                self.conditions.entry(e.operand).or_default().waits.insert(e.task, e.event);
            }
            EventKind::Wake if !e.op.is_timeout() => self.wake(lanes, lane, e, watch),
            EventKind::Barrier => {
                let condition = self.conditions.entry(e.operand).or_default();
                lanes.learn_from(lane, &condition.barrier, watch);
                lanes.publish_to(lane, &mut condition.barrier);
            }
            _ => {}
        }
    }

    fn signal(&mut self, lanes: &mut Lanes, lane: LaneId, e: StreamEvent) {
        let condition = self.conditions.entry(e.operand).or_default();
        if condition.signals.len() >= SIGNALS_MAX {
            condition.signals.pop_front();
            self.signals_lost += 1;
        }
        let broadcast = e.op.kind() == EventKind::Broadcast;
        let published = lanes.publish(lane);
        condition.signals.push_back(Signal { event: e.event, broadcast, published });
    }

    fn wake(&mut self, lanes: &mut Lanes, lane: LaneId, e: StreamEvent, watch: ClockObserver<'_>) {
        let Some(condition) = self.conditions.get_mut(&e.operand) else { return };
        let waited = condition.waits.get(&e.task).copied();
        let at = match e.refers {
            Some(event) => condition.signals.iter().position(|s| s.event == event),
            None => condition.signals.iter().position(|s| waited.is_none_or(|w| s.event > w)),
        };
        let Some(at) = at else { return };
        lanes.learn_from(lane, &condition.signals[at].published, watch);
        if !condition.signals[at].broadcast {
            condition.signals.remove(at);
        }
    }

    /// Returns whether a memory access is part of the hard order.
    #[inline]
    pub(crate) fn minds_access(&self, op: Op) -> bool {
        op.mode().is_atomic() || !self.released.is_empty()
    }

    /// Applies the acquire side of a memory access, before the access.
    pub(crate) fn before_access(
        &mut self,
        lanes: &mut Lanes,
        lane: LaneId,
        (op, location): (Op, u32),
        watch: ClockObserver<'_>,
    ) {
        if op.kind().reads()
            && op.mode().acquires()
            && let Some(release) = self.released.get(&location)
        {
            lanes.learn_from(lane, release, watch);
        }
    }

    /// Applies the release side of a memory access, after the access.
    pub(crate) fn after_access(
        &mut self,
        lanes: &mut Lanes,
        lane: LaneId,
        (op, location): (Op, u32),
    ) {
        if !op.kind().writes() {
            return;
        }
        let releases = op.kind() != EventKind::Free && op.mode().releases();
        match (releases, op.continues_sequence()) {
            // It has learnt what is there.
            (true, true) if op.mode().acquires() => {
                lanes.publish_to(lane, self.released.entry(location).or_default());
            }
            (true, true) => {
                let published = lanes.publish(lane);
                self.released.entry(location).or_default().join(&published);
            }
            (true, false) => {
                lanes.publish_to(lane, self.released.entry(location).or_default());
            }
            (false, true) => {}
            (false, false) => {
                self.released.remove(&location);
            }
        }
    }
}
