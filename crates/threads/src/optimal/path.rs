//! The events of one execution: which happen before which, and which pairs are in a race.
//!
//! Happens-before is the least order that has program order, spawns, and the order in which
//! dependent events came. Each event has a vector clock: of each thread, how many of its events
//! come up to it.

use super::label::{Label, Touch};
use super::sabotage::Sabotage;
use super::tree::Tree;
use crate::execution::Step;
use crate::ids::{ObjectId, ThreadId};

/// Two events that are to be tried the other way round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reversal {
    /// The first event.
    pub(super) first: u32,
    /// Events that are left out, too, with all that comes after them, so that the second one need
    /// not wait.
    pub(super) without: Vec<u32>,
}

/// An event, and the state of the search before it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) label: Label,
    /// The number of events of its thread before it.
    pub(super) index: u32,
    /// What need not be run before something dependent on it: all executions in which it comes
    /// first were run.
    pub(super) sleep: Vec<Label>,
    /// What else is to be run here.
    pub(super) siblings: Vec<Tree>,
    /// The races whose second event it is.
    pub(super) reversals: Vec<Reversal>,
}

impl Node {
    pub(super) fn step(&self) -> Step {
        let Label { thread, alternative, .. } = self.label;
        Step { thread: ThreadId(thread), alternative }
    }
}

#[derive(Debug, Default)]
pub(super) struct Path {
    pub(super) nodes: Vec<Node>,
    clocks: Vec<u32>,
    /// The threads for which there is room in a clock.
    width: usize,
    /// By thread, its events.
    logs: Vec<Vec<u32>>,
    /// By thread, the event that spawned it.
    spawns: Vec<Option<u32>>,
    /// By object, the events that touch it.
    accesses: Vec<Vec<(u32, Touch)>>,
    pub(super) sabotage: Sabotage,
}

impl Path {
    pub(super) fn new(sabotage: Sabotage) -> Path {
        Path { width: 4, sabotage, ..Path::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn clock(&self, at: u32) -> &[u32] {
        &self.clocks[at as usize * self.width..(at as usize + 1) * self.width]
    }

    /// Whether an event is another one or happens before it.
    #[inline]
    pub(super) fn is_before(&self, first: u32, second: u32) -> bool {
        self.is_in(first, self.clock(second))
    }

    #[inline]
    fn is_in(&self, event: u32, clock: &[u32]) -> bool {
        let node = &self.nodes[event as usize];
        clock[node.label.thread as usize] > node.index
    }

    /// The event after which a thread's next one comes.
    pub(super) fn last(&self, thread: u32) -> Option<u32> {
        let last = self.logs.get(thread as usize).and_then(|log| log.last());
        last.copied().or_else(|| self.spawns.get(thread as usize).copied().flatten())
    }

    /// The events that touch an object, in order.
    pub(super) fn accesses(&self, object: ObjectId) -> &[(u32, Touch)] {
        self.accesses.get(object.index()).map_or(&[], Vec::as_slice)
    }

    fn make_room(&mut self, thread: usize) {
        if self.logs.len() <= thread {
            self.logs.resize_with(thread + 1, Vec::new);
            self.spawns.resize(thread + 1, None);
        }
        if thread >= self.width {
            let width = (thread + 1).next_power_of_two();
            let mut clocks = vec![0; self.nodes.len() * width];
            for (new, old) in clocks.chunks_mut(width).zip(self.clocks.chunks(self.width)) {
                new[..self.width].copy_from_slice(old);
            }
            (self.clocks, self.width) = (clocks, width);
        }
    }

    /// Adds an event, of a thread that spawns another one if one is given. Returns the conflicting
    /// events with which it is in a race: those that do not happen before it by way of others.
    pub(super) fn push(&mut self, node: Node, spawned: Option<ThreadId>) -> Vec<u32> {
        let (own, thread) = (self.nodes.len() as u32, node.label.thread);
        self.make_room(thread as usize);
        let index = self.logs[thread as usize].len() as u32;
        let before = self.last(thread);
        self.clocks.resize((own as usize + 1) * self.width, 0);
        let mut clocks = std::mem::take(&mut self.clocks);
        let (earlier, clock) = clocks.split_at_mut(own as usize * self.width);
        let row = |at: u32| &earlier[at as usize * self.width..(at as usize + 1) * self.width];
        match before {
            Some(before) => clock.copy_from_slice(row(before)),
            None => clock.fill(0),
        }
        clock[thread as usize] = index + 1;
        let mut races = Vec::new();
        node.label.touches(|object, touch| {
            for (at, other) in self.accesses(object).iter().rev() {
                if !touch.conflicts(*other, self.sabotage) {
                    continue;
                }
                if !self.is_in(*at, clock) {
                    races.push(*at);
                    for (own, its) in clock.iter_mut().zip(row(*at)) {
                        *own = (*own).max(*its);
                    }
                }
                if *other == Touch::Write {
                    // It comes after all before it that are in conflict with anything.
                    break;
                }
            }
        });
        self.clocks = clocks;
        node.label.touches(|object, touch| {
            let at = object.index();
            if self.accesses.len() <= at {
                self.accesses.resize_with(at + 1, Vec::new);
            }
            self.accesses[at].push((own, touch));
        });
        self.logs[thread as usize].push(own);
        self.nodes.push(Node { index, ..node });
        if let Some(child) = spawned {
            self.make_room(child.index());
            self.spawns[child.index()] = Some(own);
        }
        races
    }

    /// Removes the last event.
    pub(super) fn pop(&mut self) -> Option<Node> {
        let node = self.nodes.pop()?;
        let own = self.nodes.len() as u32;
        self.clocks.truncate(own as usize * self.width);
        self.logs[node.label.thread as usize].pop();
        node.label.touches(|object, _| {
            self.accesses[object.index()].pop();
        });
        let spawned = self.spawns.iter_mut().find(|spawn| **spawn == Some(own));
        if let Some(spawned) = spawned {
            *spawned = None;
        }
        Some(node)
    }

    /// The events before the end that conflict with what a thread does after `before`, the latest
    /// first, without those that happen before it by its own past.
    pub(super) fn conflicting(&self, label: &Label, before: Option<u32>, end: u32) -> Vec<u32> {
        let mut found = Vec::new();
        label.touches(|object, touch| {
            let others = self.accesses(object).iter().rev();
            for (at, other) in others.filter(|other| other.0 < end) {
                let is_past = before.is_some_and(|before| self.is_before(*at, before));
                let is_own = self.nodes[*at as usize].label.thread == label.thread;
                if !is_past && !is_own && touch.conflicts(*other, self.sabotage) {
                    found.push(*at);
                }
            }
        });
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    /// The events from one on up to an end that do not happen after it, nor after those left out;
    /// without one.
    pub(super) fn apart(
        &self,
        reversal: &Reversal,
        second: Option<u32>,
        end: u32,
        into: &mut Vec<u32>,
    ) {
        into.clear();
        let Reversal { first, without } = reversal;
        into.extend((*first + 1..end).filter(|at| {
            Some(*at) != second
                && !self.is_before(*first, *at)
                && !without.iter().any(|out| self.is_before(*out, *at))
        }));
    }
}
