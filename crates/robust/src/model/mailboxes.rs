//! Which pending invocations the mailboxes deliver (`docs/robustness.md`, "Runs").

use anyorder_system::{HandlerOrder, Lane};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a mailbox knows of a pending invocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub(crate) lane: Lane,
    /// The order of its handler; `None` on a thread of its own.
    pub(crate) order: Option<HandlerOrder>,
    /// Whether it goes before what its handler has.
    pub(crate) front: bool,
    /// When it is due.
    pub(crate) due: u64,
    /// Its place in the order of the posts.
    pub(crate) post: u32,
}

/// Returns for each pending invocation whether it can be the next one of its mailbox. Linear, as
/// tasks that post themselves make long queues.
pub(crate) fn deliverable(pending: &[Waiting]) -> Vec<bool> {
    let mut heads: BTreeMap<u32, &Waiting> = BTreeMap::new();
    for one in pending {
        if let (Lane::Handler(handler), Some(_)) = (one.lane, one.order) {
            let head = heads.entry(handler).or_insert(one);
            if one.key() < head.key() {
                *head = one;
            }
        }
    }
    let is_next = |one: &Waiting| match (one.lane, one.order) {
        (Lane::Handler(handler), Some(order)) => heads.get(&handler).is_some_and(|head| {
            head.post == one.post || (order == HandlerOrder::Bag && !head.front)
        }),
        _ => true,
    };
    pending.iter().map(is_next).collect()
}

impl Waiting {
    /// The least one is at the head of its mailbox.
    fn key(&self) -> (bool, u64, Reverse<u32>, u32) {
        let due = if self.order == Some(HandlerOrder::Delayed) { self.due } else { 0 };
        match self.front {
            true => (false, 0, Reverse(self.post), 0),
            false => (true, due, Reverse(0), self.post),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Waiting, deliverable};
    use anyorder_system::{HandlerOrder, Lane};

    fn check(order: HandlerOrder, waiting: &[(bool, u64)], wanted: &[bool]) {
        let all = (0..).zip(waiting).map(|(post, (front, due))| Waiting {
            lane: Lane::Handler(0),
            order: Some(order),
            front: *front,
            due: *due,
            post,
        });
        let mut all: Vec<Waiting> = all.collect();
        assert_eq!(deliverable(&all), wanted, "{order:?} {waiting:?}");
        // Other mailboxes and threads do not matter.
        all.push(Waiting { lane: Lane::Handler(1), front: true, post: 9, ..all[0] });
        all.push(Waiting { lane: Lane::Own, order: None, post: 10, ..all[0] });
        let more = [wanted, &[true, true]].concat();
        assert_eq!(deliverable(&all), more, "{order:?} {waiting:?}");
    }

    #[test]
    fn each_mailbox_has_its_order() {
        let plain = [(false, 0), (false, 0)];
        check(HandlerOrder::Bag, &plain, &[true, true]);
        check(HandlerOrder::Fifo, &plain, &[true, false]);
        check(HandlerOrder::Delayed, &[(false, 5), (false, 3), (false, 3)], &[false, true, false]);
        // The latest post to the front goes before all others.
        let front = [(false, 0), (true, 0), (true, 0), (false, 0)];
        for order in [HandlerOrder::Bag, HandlerOrder::Fifo, HandlerOrder::Delayed] {
            check(order, &front, &[false, false, true, false]);
        }
        // A due time is none of a fifo mailbox.
        check(HandlerOrder::Fifo, &[(false, 9), (false, 1)], &[true, false]);
    }
}
