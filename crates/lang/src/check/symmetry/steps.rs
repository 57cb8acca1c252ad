//! Which code may be left in the middle by a step.

use super::flow::{Body, Flow, Place};
use crate::check::{EventId, Granularity, TaskId, ThreadId};
use std::collections::BTreeSet;

impl Flow<'_> {
    /// The bodies that run in several steps: those of threads, and what they call outside of `atomic`.
    pub(super) fn stepping(&self) -> BTreeSet<Body> {
        let count = |n: usize| 0..n as u32;
        let program = self.program;
        let mut found: BTreeSet<Body> = self.forked.clone();
        found.extend(count(program.threads.len()).map(|i| Body::Thread(ThreadId(i))));
        if program.granularity == Granularity::Access {
            found.extend(count(program.tasks.len()).map(|i| Body::Task(TaskId(i))));
            found.extend(count(program.events.len()).map(|i| Body::Event(EventId(i))));
        }
        let mut open: Vec<Body> = found.iter().copied().collect();
        while let Some(body) = open.pop() {
            let from = Place { body, atomic: false };
            for (place, callee) in &self.calls {
                if *place == from && found.insert(*callee) {
                    open.push(*callee);
                }
            }
        }
        found
    }
}
