//! Which permits of semaphores the next events of a recording take: a part begins with no more.

use crate::merge::Step;
use crate::recording::{Event, kind};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The takes that come next, in the order of the events.
///
/// Cost: another pass over the events. Memory: eight bytes for each take that comes next.
pub(super) struct Takes<I> {
    /// The events, from the first one that is not in `next` on.
    ahead: I,
    /// How many takes have passed that `ahead` has still to give.
    behind: u64,
    next: VecDeque<u64>,
    /// By semaphore, how many of `next` are its own.
    counts: FxHashMap<u64, u32>,
    most: usize,
}

impl<I: Iterator<Item = Step>> Takes<I> {
    /// `events` are those of the recording from its beginning on; `most` is how many takes a part
    /// may have.
    pub(super) fn new(events: I, most: u64) -> Takes<I> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let (next, counts) = (VecDeque::new(), FxHashMap::default());
        Takes { ahead: events, behind: 0, next, counts, most }
    }

    /// The next event has passed.
    pub(super) fn pass(&mut self, event: &Event) {
        if event.kind != kind::SEM_WAIT {
            return;
        }
        match self.next.pop_front() {
            Some(semaphore) => {
                if let Some(count) = self.counts.get_mut(&semaphore) {
                    *count -= 1;
                }
            }
            None => self.behind += 1,
        }
    }

    /// Returns, by semaphore, how many of the next takes are its own.
    pub(super) fn counts(&mut self) -> &FxHashMap<u64, u32> {
        while self.next.len() < self.most {
            let Some(step) = self.ahead.next() else { break };
            if step.event.kind != kind::SEM_WAIT {
                continue;
            }
            if self.behind > 0 {
                self.behind -= 1;
                continue;
            }
            self.next.push_back(step.event.address);
            *self.counts.entry(step.event.address).or_default() += 1;
        }
        &self.counts
    }
}
