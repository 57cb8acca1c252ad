//! The graph of the given orders, over slots.

use super::Rules;
use crate::answer::{Fact, Link, Why};
use crate::partial::{MessageId, PartialTrace, Relation, Slot};

/// Program order and the given orders of a trace: linear in both.
pub(crate) struct Graph<'t> {
    pub(crate) trace: &'t PartialTrace,
    /// For each slot, its message.
    message: Vec<MessageId>,
    /// For each slot, where its edges start in `edges`; one entry more than slots.
    starts: Vec<u32>,
    /// The given orders, and those from the end of an initial message to the other messages of its
    /// handler.
    edges: Vec<(Slot, Relation)>,
    /// Each post with the message it creates, ascending.
    posts: Vec<(Slot, MessageId)>,
}

impl<'t> Graph<'t> {
    /// Builds the graph in linear time.
    pub(crate) fn new(trace: &'t PartialTrace) -> Graph<'t> {
        let slots = trace.events.len();
        let mut message = vec![0; slots];
        let mut posts = Vec::new();
        for (id, each) in (0..).zip(&trace.messages) {
            message[each.slots.start as usize..each.slots.end as usize].fill(id);
            posts.extend(each.post.map(|post| (post, id)));
        }
        posts.sort_unstable();
        let all = || {
            let given = trace.given.iter().chain(&trace.backward);
            given.map(|given| (given.from, given.to, given.relation)).chain(initial_edges(trace))
        };
        let mut starts = vec![0_u32; slots + 1];
        for (from, ..) in all() {
            starts[from as usize + 1] += 1;
        }
        for slot in 0..slots {
            starts[slot + 1] += starts[slot];
        }
        let mut free = starts.clone();
        let mut edges = vec![(0, Relation::Program); starts[slots] as usize];
        for (from, to, relation) in all() {
            let place = &mut free[from as usize];
            edges[*place as usize] = (to, relation);
            *place += 1;
        }
        Graph { trace, message, starts, edges, posts }
    }

    /// The bytes that the graph of a trace takes.
    pub(crate) fn bytes(trace: &PartialTrace) -> u64 {
        let edges = trace.given.len() + trace.backward.len() + trace.messages.len();
        trace.events.len() as u64 * 12 + edges as u64 * 8 + trace.messages.len() as u64 * 8
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.message.len()
    }

    /// The message of a slot.
    pub(crate) fn message(&self, slot: Slot) -> MessageId {
        self.message[slot as usize]
    }

    /// The first event of a message.
    pub(crate) fn first(&self, message: MessageId) -> Slot {
        self.trace.messages[message as usize].slots.start
    }

    /// The last event of a message.
    pub(crate) fn last(&self, message: MessageId) -> Slot {
        self.trace.messages[message as usize].slots.end - 1
    }

    /// The post of a message.
    pub(crate) fn post(&self, message: MessageId) -> Option<Slot> {
        self.trace.messages[message as usize].post
    }

    /// The messages that a slot posts.
    pub(crate) fn posted_by(&self, slot: Slot) -> impl Iterator<Item = MessageId> + '_ {
        let start = self.posts.partition_point(|&(post, _)| post < slot);
        self.posts[start..]
            .iter()
            .take_while(move |&&(post, _)| post == slot)
            .map(|&(_, message)| message)
    }

    /// The direct successors of a slot, and the relation to each.
    pub(crate) fn after(&self, slot: Slot) -> impl Iterator<Item = (Slot, Relation)> + '_ {
        let next = slot + 1;
        let same = (next as usize) < self.slots() && self.message(next) == self.message(slot);
        let range = self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize;
        same.then_some((next, Relation::Program))
            .into_iter()
            .chain(self.edges[range].iter().copied())
    }

    /// Whether the posts of two messages of one handler must be in the order in which the messages
    /// run: if the second were posted first, it would run first. An event that posts both does not
    /// order them.
    pub(crate) fn posts_follow(&self, first: MessageId, second: MessageId) -> bool {
        match (self.post(first), self.post(second)) {
            (Some(one), Some(two)) => one != two && self.trace.keeps(second, first),
            _ => false,
        }
    }

    /// Returns the cycle of the first order given against program order.
    pub(crate) fn backward_cycle(&self) -> Option<Vec<Link>> {
        let given = self.trace.backward.first()?;
        let back = Link { from: given.from, to: given.to, why: Why::Given(given.relation) };
        let program = Link { from: given.to, to: given.from, why: Why::Given(Relation::Program) };
        Some(if given.from == given.to { vec![back] } else { vec![program, back] })
    }

    /// Calls `step` with the slots that orders of messages put directly after a slot; `later` gives
    /// the messages that run after a posted one.
    pub(crate) fn decided_after<I: Iterator<Item = MessageId>>(
        &self,
        slot: Slot,
        rules: Rules,
        later: impl Fn(MessageId) -> I,
        mut step: impl FnMut(Slot, Why),
    ) {
        let message = self.message(slot);
        let runs = |first, second| Why::Decided(Fact::Runs { first, second });
        if rules.runs_edges && self.last(message) == slot {
            later(message).for_each(|second| step(self.first(second), runs(message, second)));
        }
        if !rules.post_edges {
            return;
        }
        for first in self.posted_by(slot) {
            for second in later(first) {
                if let Some(post) = self.post(second)
                    && self.posts_follow(first, second)
                {
                    step(post, runs(first, second));
                }
            }
        }
    }

    /// Merges consecutive links of a path where one link suffices: program order with program
    /// order, and program order with an order of messages.
    pub(crate) fn joined(&self, path: &[Link]) -> Vec<Link> {
        let mut joined: Vec<Link> = Vec::new();
        for &link in path {
            match joined.last_mut().and_then(|last| Some((self.join(*last, link)?, last))) {
                Some((both, last)) => *last = both,
                None => joined.push(link),
            }
        }
        joined
    }

    /// One link in place of two, if one of them implies it.
    fn join(&self, one: Link, two: Link) -> Option<Link> {
        let program = |link: Link| link.why == Why::Given(Relation::Program);
        // A decided order of messages covers all their events; the order of their posts covers only
        // the posts.
        let bodies = |link: Link| match link.why {
            Why::Decided(Fact::Runs { first, second }) => {
                self.message(link.from) == first && self.message(link.to) == second
            }
            _ => false,
        };
        let inside = |link: Link| program(link) && self.message(link.from) == self.message(link.to);
        let why = match () {
            () if program(one) && program(two) && (inside(one) || inside(two)) => one.why,
            () if inside(one) && bodies(two) => two.why,
            () if bodies(one) && inside(two) => one.why,
            () => return None,
        };
        Some(Link { from: one.from, to: two.to, why })
    }
}

/// The end of each initial message comes before the beginning of every other message of its
/// handler.
fn initial_edges(trace: &PartialTrace) -> impl Iterator<Item = (Slot, Slot, Relation)> + '_ {
    let initial = trace.initial();
    trace.messages.iter().filter(|message| !message.initial).filter_map(move |message| {
        let before = initial[message.handler as usize]?;
        let last = trace.messages[before as usize].slots.end - 1;
        Some((last, message.slots.start, Relation::Program))
    })
}
