//! States that were found and not yet expanded.

use crate::options::Order;
use std::collections::VecDeque;

/// Smaller blocks are merged.
const SMALL: usize = 64;

/// Larger blocks are split.
const LARGE: usize = 4096;

/// A waiting state.
#[derive(Clone, Debug)]
pub(crate) struct Entry<S> {
    pub(crate) number: u32,
    pub(crate) depth: u32,
    pub(crate) state: S,
}

/// Waiting states in blocks, the oldest first. The states of a block are of one depth.
#[derive(Debug)]
pub(crate) struct Frontier<S> {
    blocks: VecDeque<Vec<Entry<S>>>,
    len: usize,
}

impl<S> Frontier<S> {
    pub(crate) fn new() -> Frontier<S> {
        Frontier { blocks: VecDeque::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory in bytes, without what states point to.
    pub(crate) fn bytes(&self) -> u64 {
        (self.len * size_of::<Entry<S>>()) as u64
    }

    /// Adds new states, in order.
    pub(crate) fn push(&mut self, mut entries: Vec<Entry<S>>) {
        let Some(first) = entries.first() else { return };
        self.len += entries.len();
        if let Some(last) = self.blocks.back_mut() {
            let same = last.last().is_some_and(|entry| entry.depth == first.depth);
            if same && last.len() + entries.len() <= SMALL {
                last.append(&mut entries);
                return;
            }
        }
        while entries.len() > LARGE {
            let rest = entries.split_off(LARGE);
            self.blocks.push_back(entries);
            entries = rest;
        }
        self.blocks.push_back(entries);
    }

    /// Returns the depth of the next states.
    pub(crate) fn depth(&self, order: Order) -> Option<u32> {
        let block = match order {
            Order::Breadth => self.blocks.front(),
            Order::Depth => self.blocks.back(),
        };
        block.and_then(|block| block.first()).map(|entry| entry.depth)
    }

    /// Takes blocks of about `states` states. Breadth-first: the oldest, all of one depth.
    /// Depth-first: the newest.
    pub(crate) fn take(&mut self, order: Order, states: usize) -> Vec<Vec<Entry<S>>> {
        let depth = self.depth(order);
        let (mut taken, mut count) = (Vec::new(), 0);
        while count < states {
            let block = match order {
                Order::Breadth if self.depth(order) != depth => None,
                Order::Breadth => self.blocks.pop_front(),
                Order::Depth => self.blocks.pop_back(),
            };
            let Some(block) = block else { break };
            count += block.len();
            taken.push(block);
        }
        self.len -= count;
        taken
    }

    /// Puts taken blocks back, without the first `done` states.
    pub(crate) fn put_back(&mut self, order: Order, taken: Vec<Vec<Entry<S>>>, mut done: usize) {
        let mut rest = Vec::new();
        for mut block in taken {
            let here = done.min(block.len());
            done -= here;
            let block = if here == 0 { block } else { block.split_off(here) };
            self.len += block.len();
            if !block.is_empty() {
                rest.push(block);
            }
        }
        for block in rest.into_iter().rev() {
            match order {
                Order::Breadth => self.blocks.push_front(block),
                Order::Depth => self.blocks.push_back(block),
            }
        }
    }

    /// Returns all waiting states, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<S>> {
        self.blocks.iter().flatten()
    }
}
