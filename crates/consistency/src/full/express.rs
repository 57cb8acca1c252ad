//! The graph of all orders: slots, and lines of express nodes for the orders of messages.

use crate::answer::Why;
use crate::mailbox::MailboxRule;
use crate::partial::{MessageId, Slot};
use crate::saturate::{Graph, Rules};

/// A node: a slot, or an express node from the number of slots on.
pub(super) type Node = u32;

/// The meaning of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    /// An order of two slots.
    Direct(Why),
    /// From the end, or the post, of a message to the express node after it.
    Enter(MessageId),
    /// From an express node to the next one.
    Ride,
    /// From an express node to the beginning, or the post, of this message.
    Leave(MessageId),
}

/// The graph; it borrows the orders and lists no edge between messages.
pub(super) struct Express<'g> {
    pub(super) graph: &'g Graph<'g>,
    orders: &'g [Vec<MessageId>],
    rules: Rules,
    /// For each message, its place in the order of its handler.
    place: Vec<u32>,
    /// For each handler, where its two lines start among the express nodes: bodies, then posts.
    lines: Vec<u32>,
    /// For each handler, whether its posts are all in the order of the messages and can have a
    /// line.
    post_line: Vec<bool>,
    /// For each express node: handler, place, whether it is on the line of posts.
    express: Vec<(u32, u32, bool)>,
}

impl<'g> Express<'g> {
    /// Builds the graph in time linear in the messages.
    pub(super) fn new(
        graph: &'g Graph<'g>,
        orders: &'g [Vec<MessageId>],
        rules: Rules,
    ) -> Express<'g> {
        let mut place = vec![0; graph.trace.messages.len()];
        let mut lines = Vec::with_capacity(orders.len());
        let mut express = Vec::new();
        for (handler, order) in (0..).zip(orders) {
            lines.push(express.len() as u32);
            for posts in [false, true] {
                express.extend((0..order.len() as u32).map(|at| (handler, at, posts)));
            }
            for (at, &message) in (0..).zip(order) {
                place[message as usize] = at;
            }
        }
        let post_line = orders.iter().map(|order| has_post_line(graph, order)).collect();
        Express { graph, orders, rules, place, lines, post_line, express }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.graph.slots() + self.express.len()
    }

    /// The slot of a node, unless it is an express node.
    pub(super) fn slot(&self, node: Node) -> Option<Slot> {
        ((node as usize) < self.graph.slots()).then_some(node)
    }

    /// Calls `step` with every direct successor of a node.
    pub(super) fn after(&self, node: Node, mut step: impl FnMut(Node, Edge)) {
        match (node as usize).checked_sub(self.graph.slots()) {
            None => self.after_slot(node, &mut step),
            Some(express) => self.after_express(node, express, &mut step),
        }
    }

    fn after_slot(&self, slot: Slot, step: &mut impl FnMut(Node, Edge)) {
        for (next, relation) in self.graph.after(slot) {
            step(next, Edge::Direct(Why::Given(relation)));
        }
        if self.orders.is_empty() {
            return;
        }
        let message = self.graph.message(slot);
        let ends = self.graph.last(message) == slot
            && !self.graph.trace.messages[message as usize].initial;
        if self.rules.runs_edges && ends {
            self.enter(message, false, step);
        }
        if self.rules.post_edges {
            for posted in self.graph.posted_by(slot) {
                let handler = self.graph.trace.messages[posted as usize].handler as usize;
                match self.post_line[handler] {
                    true => self.enter(posted, true, step),
                    false => self.later_posts(posted, &self.orders[handler], step),
                }
            }
        }
    }

    fn enter(&self, message: MessageId, posts: bool, step: &mut impl FnMut(Node, Edge)) {
        let handler = self.graph.trace.messages[message as usize].handler as usize;
        let length = self.orders[handler].len() as u32;
        let next = self.place[message as usize] + 1;
        if next < length {
            let line = self.lines[handler] + if posts { length } else { 0 };
            step(self.graph.slots() as u32 + line + next, Edge::Enter(message));
        }
    }

    fn later_posts(
        &self,
        first: MessageId,
        order: &[MessageId],
        step: &mut impl FnMut(Node, Edge),
    ) {
        for &second in &order[self.place[first as usize] as usize + 1..] {
            if let Some(post) = self.graph.post(second)
                && self.graph.posts_follow(first, second)
            {
                step(post, Edge::Direct(Why::Decided(crate::Fact::Runs { first, second })));
            }
        }
    }

    fn after_express(&self, node: Node, express: usize, step: &mut impl FnMut(Node, Edge)) {
        let (handler, at, posts) = self.express[express];
        let order = &self.orders[handler as usize];
        let message = order[at as usize];
        if (at as usize) + 1 < order.len() {
            step(node + 1, Edge::Ride);
        }
        let to = if posts { self.graph.post(message) } else { Some(self.graph.first(message)) };
        if let Some(to) = to {
            step(to, Edge::Leave(message));
        }
    }
}

/// Whether all posts of an order follow each other: under FIFO, when no event posts two of its
/// messages.
fn has_post_line(graph: &Graph<'_>, order: &[MessageId]) -> bool {
    let mut posts: Vec<Slot> = order.iter().filter_map(|&message| graph.post(message)).collect();
    posts.sort_unstable();
    graph.trace.mailboxes == MailboxRule::Fifo && posts.windows(2).all(|pair| pair[0] != pair[1])
}
