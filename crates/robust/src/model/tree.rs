//! The invocations of a run of the multi-thread semantics, and the order in which one thread would
//! run them.

use super::mailboxes::{Waiting, deliverable};
use super::sim::INIT;
use anyorder_system::{
    AsyncSystem, HandlerOrder, InterleavedStep, InvocationId, InvocationStep, Lane,
    PostedInvocation,
};
use std::sync::Arc;

/// An invocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) id: InvocationId,
    /// The occurrence of an event that it belongs to.
    pub(crate) occurrence: u32,
    /// The places of its ancestors and its own, each among the posts of its parent.
    pub(crate) path: Arc<[u32]>,
    children: u32,
    /// The order of its handler; `None` on a thread of its own.
    order: Option<HandlerOrder>,
    pub(crate) lane: Lane,
    front: bool,
    delay: u64,
    pub(crate) over: bool,
    cancelled: bool,
}

/// The invocations of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) members: Vec<Member>,
    /// The event of each occurrence.
    pub(crate) events: Vec<u32>,
}

impl Tree {
    /// Begins a run. What `init` posts is the first occurrence.
    pub(crate) fn of_init<A: AsyncSystem>(
        system: &A,
        posted: &[PostedInvocation],
        cancelled: &[InvocationId],
    ) -> Tree {
        let mut tree = Tree::default();
        if !posted.is_empty() {
            let root = tree.start(INIT, InvocationId(0), (Lane::Own, None));
            posted.iter().for_each(|one| tree.post(system, root, one));
            tree.cancel(cancelled);
            tree.members[root as usize].over = true;
        }
        tree
    }

    /// Adds a step. Returns its invocation.
    pub(crate) fn add<A: AsyncSystem>(
        &mut self,
        system: &A,
        next: &InterleavedStep<A::State>,
    ) -> u32 {
        let step = &next.step;
        let member = match next.event {
            Some(event) => {
                let lane = system.events()[event as usize].lane;
                self.start(event, step.invocation, (lane, super::sim::order_of(system, lane)))
            }
            None => self.place_of(step.invocation).unwrap_or(0),
        };
        self.took(system, member, step);
        member
    }

    /// Notes what a step of an invocation posted, took back and ended.
    fn took<A: AsyncSystem>(&mut self, system: &A, member: u32, step: &InvocationStep<A::State>) {
        step.posted.iter().for_each(|one| self.post(system, member, one));
        self.cancel(&step.cancelled);
        self.members[member as usize].over = step.ended;
    }

    pub(crate) fn start(
        &mut self,
        event: u32,
        id: InvocationId,
        (lane, order): (Lane, Option<HandlerOrder>),
    ) -> u32 {
        let occurrence = self.events.len() as u32;
        self.events.push(event);
        self.members.push(Member {
            id,
            occurrence,
            path: Arc::from([]),
            children: 0,
            order,
            lane,
            front: false,
            delay: 0,
            over: false,
            cancelled: false,
        });
        self.members.len() as u32 - 1
    }

    pub(crate) fn post<A: AsyncSystem>(
        &mut self,
        system: &A,
        parent: u32,
        posted: &PostedInvocation,
    ) {
        let order = super::sim::order_of(system, posted.lane);
        let by = &mut self.members[parent as usize];
        let path: Vec<u32> = by.path.iter().copied().chain([by.children]).collect();
        by.children += 1;
        let occurrence = by.occurrence;
        let delayed = order == Some(HandlerOrder::Delayed) && !posted.front;
        self.members.push(Member {
            id: posted.invocation,
            occurrence,
            path: path.into(),
            children: 0,
            order,
            lane: posted.lane,
            front: posted.front && order.is_some(),
            delay: if delayed { posted.delay } else { 0 },
            over: false,
            cancelled: false,
        });
    }

    pub(crate) fn cancel(&mut self, cancelled: &[InvocationId]) {
        for id in cancelled {
            if let Some(found) = self.place_of(*id) {
                let member = &mut self.members[found as usize];
                (member.over, member.cancelled) = (true, true);
            }
        }
    }

    /// Returns the number of an invocation that is not over.
    pub(crate) fn place_of(&self, id: InvocationId) -> Option<u32> {
        let found = self.members.iter().rposition(|one| one.id == id && !one.over);
        found.map(|found| found as u32)
    }

    /// Returns whether nothing is left to run.
    pub(crate) fn is_over(&self) -> bool {
        self.members.iter().all(|one| one.over)
    }

    /// Returns, for each invocation of an occurrence, its place in the reference order of those
    /// posted so far. Others have no place. What was taken back takes no part.
    pub(crate) fn ranks(&self, occurrence: u32) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.members.len()];
        let of = |one: u32| &self.members[one as usize];
        let mine = |one: &u32| of(*one).occurrence == occurrence && !of(*one).cancelled;
        let all: Vec<u32> = (0..self.members.len() as u32).filter(mine).collect();
        let Some(mut next) = all.iter().copied().find(|one| of(*one).path.is_empty()) else {
            return ranks;
        };
        // What is pending, in the order of the posts, with its due time.
        let mut pending: Vec<(u32, u64)> = Vec::new();
        let mut clock = 0;
        for rank in 0.. {
            ranks[next as usize] = rank;
            let parent = &of(next).path;
            let mut posted: Vec<u32> =
                all.iter().copied().filter(|one| is_child(parent, &of(*one).path)).collect();
            posted.sort_by_key(|one| of(*one).path.last());
            pending.extend(posted.iter().map(|one| (*one, of(*one).delay.saturating_add(clock))));
            let Some((found, due)) = self.first(&pending, clock) else { break };
            clock = clock.max(due);
            pending.retain(|(one, _)| *one != found);
            next = found;
        }
        ranks
    }

    /// Returns which pending invocation runs next.
    fn first(&self, pending: &[(u32, u64)], clock: u64) -> Option<(u32, u64)> {
        let of = |one: u32| &self.members[one as usize];
        let waiting = |(post, (one, due)): (u32, &(u32, u64))| {
            let Member { lane, order, front, .. } = *of(*one);
            Waiting { lane, order, front, due: *due, post }
        };
        let all: Vec<Waiting> = (0..).zip(pending).map(waiting).collect();
        let could: Vec<(u32, u64)> = pending
            .iter()
            .zip(deliverable(&all))
            .filter_map(|(one, delivered)| delivered.then_some(*one))
            .collect();
        let now = could.iter().map(|(_, due)| *due).min()?.max(clock);
        let due = could.into_iter().filter(|(_, due)| *due <= now);
        due.min_by(|(a, _), (b, _)| of(*a).path.cmp(&of(*b).path))
    }
}

fn is_child(parent: &[u32], path: &[u32]) -> bool {
    path.len() == parent.len() + 1 && path.starts_with(parent)
}

impl Member {
    /// Returns what decides its place in the reference order, as a number.
    pub(crate) fn shape(&self) -> u128 {
        let lane = match self.lane {
            Lane::Handler(handler) => u128::from(handler) + 1,
            Lane::Own => 0,
        };
        let flags = u128::from(self.front) | (u128::from(self.cancelled) << 1);
        (u128::from(self.delay) << 64) | (lane << 8) | flags
    }
}
