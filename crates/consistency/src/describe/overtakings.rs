//! Messages of a recorded run that did not run in the order of their posts, and the reason.

use crate::mailbox::Due;
use crate::partial::{MessageId, PartialTrace};

/// The most pairs of messages compared.
const PAIRS_MAX: u64 = 50_000_000;

/// Pairs of messages of one handler where the one posted first ran later, counted by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overtakings {
    /// One of the two ran because the mailbox was idle.
    pub idle: u64,
    /// The one that ran first was posted to the front.
    pub front: u64,
    /// The one that ran first had the smaller delay.
    pub delay: u64,
    /// Nothing in the trace explains it.
    pub unexplained: u64,
}

impl Overtakings {
    /// Counts the pairs in a trace whose events are in their recorded order; `None` when there are
    /// too many pairs. Quadratic in the messages of a handler.
    #[must_use]
    pub fn of(partial: &PartialTrace) -> Option<Overtakings> {
        if partial.pairs() > PAIRS_MAX {
            return None;
        }
        let event = |slot: u32| partial.events[slot as usize];
        let message = |id: MessageId| &partial.messages[id as usize];
        let mut found = Overtakings::default();
        for posted in partial.posted() {
            let mut order: Vec<(u32, u32, Due)> = posted
                .into_iter()
                .filter_map(|id| {
                    let post = event(message(id).post?);
                    Some((event(message(id).slots.start).0, post.0, message(id).due))
                })
                .collect();
            order.sort_unstable_by_key(|(first, ..)| *first);
            for (at, (_, post, due)) in order.iter().enumerate() {
                for (_, earlier_post, overtaken) in &order[at + 1..] {
                    if earlier_post < post {
                        *found.by(*due, *overtaken) += 1;
                    }
                }
            }
        }
        Some(found)
    }

    /// Returns the sum of all counts.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.idle + self.front + self.delay + self.unexplained
    }

    /// Returns the counter for a message that ran before one posted earlier.
    fn by(&mut self, first: Due, overtaken: Due) -> &mut u64 {
        match (first, overtaken) {
            (Due::Idle, _) | (_, Due::Idle) => &mut self.idle,
            (Due::Front, _) => &mut self.front,
            (Due::After(delay), Due::After(longer)) if delay < longer => &mut self.delay,
            _ => &mut self.unexplained,
        }
    }
}
