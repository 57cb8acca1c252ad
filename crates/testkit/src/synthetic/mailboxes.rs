//! Mailboxes of large traces: constant or logarithmic time for each operation.

use super::jobs::Job;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::Mailbox;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The pending tasks of one handler.
#[derive(Debug)]
pub(super) enum Pending {
    /// By post order.
    Fifo(VecDeque<Job>),
    /// In any order.
    Bag(Vec<Job>),
    /// By due time, then post order.
    Delayed(BinaryHeap<Reverse<(u64, u64, Job)>>),
}

impl Pending {
    pub(super) fn new(mailbox: Mailbox) -> Pending {
        match mailbox {
            Mailbox::Bag => Pending::Bag(Vec::new()),
            Mailbox::Delayed => Pending::Delayed(BinaryHeap::new()),
            Mailbox::None | Mailbox::Fifo => Pending::Fifo(VecDeque::new()),
        }
    }

    /// Adds a task; `order` grows with every post.
    pub(super) fn push(&mut self, job: Job, due: u64, order: u64) {
        match self {
            Pending::Fifo(queue) => queue.push_back(job),
            Pending::Bag(bag) => bag.push(job),
            Pending::Delayed(heap) => heap.push(Reverse((due, order, job))),
        }
    }

    /// When the next task may begin; `None` without one.
    pub(super) fn due(&self) -> Option<u64> {
        match self {
            Pending::Fifo(queue) => queue.front().map(|_| 0),
            Pending::Bag(bag) => bag.first().map(|_| 0),
            Pending::Delayed(heap) => heap.peek().map(|Reverse((due, _, _))| *due),
        }
    }

    pub(super) fn pop(&mut self, rng: &mut Rng) -> Option<Job> {
        match self {
            Pending::Fifo(queue) => queue.pop_front(),
            Pending::Bag(bag) if bag.is_empty() => None,
            Pending::Bag(bag) => Some(bag.swap_remove(rng.index(bag.len()))),
            Pending::Delayed(heap) => heap.pop().map(|Reverse((_, _, job))| job),
        }
    }
}
