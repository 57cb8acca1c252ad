//! Finds the states whose sets S are no longer closed, and the tasks that cycles ignore.

use super::engine::Engine;
use super::found::Item;
use super::sabotage::Sabotage;
use super::space::{FULL, WAITING};
use anyorder_common::bits;
use anyorder_system::Reducible;
use std::collections::BTreeMap;

/// So many states are checked between two polls.
const POLLED: u32 = 1 << 10;

impl<S: Reducible> Engine<'_, S> {
    /// Queues every state whose set is not closed under the current facts.
    pub(crate) fn recheck(&mut self) {
        for number in 0..self.space.nodes.len() as u32 {
            if number % POLLED == 0 && self.control.check().is_err() {
                return;
            }
            let node = &self.space.nodes[number as usize];
            if node.inside != FULL && node.inside != WAITING && !self.is_closed(number) {
                self.requeue(number, Vec::new());
            }
        }
    }

    fn requeue(&mut self, number: u32, extra: Vec<u64>) {
        if let Some(state) = self.space.kept.remove(&number) {
            self.queue.push_back(Item { number, state, extra });
        }
    }

    fn is_closed(&self, number: u32) -> bool {
        let node = &self.space.nodes[number as usize];
        let (know, sabotage) = (&self.know, self.options.sabotage());
        let inside = know.sets.rows.row(node.inside);
        let mut edges = self.space.edges(number).iter();
        if !edges.all(|edge| bits::within(know.conflicts.row(edge.footprint), inside)) {
            return sabotage == Sabotage::ActualFootprints;
        }
        let ready = know.sets.rows.row(node.ready);
        let mut others = bits::members(inside).filter(|task| !bits::has(ready, *task));
        others.all(|task| {
            if task < know.observers {
                let watched = self.space.watched[(number * know.observers + task) as usize];
                sabotage == Sabotage::NoObservers
                    || bits::within(know.conflicts.row(watched), inside)
            } else {
                sabotage == Sabotage::NoEnablers || bits::within(know.enablers.row(task), inside)
            }
        })
    }

    /// Finds tasks that are ready in a terminal component of the explored graph but followed from
    /// none of its states. Queues states to follow them, and returns whether there were any.
    pub(crate) fn add_ignored(&mut self) -> bool {
        let all_full = self.space.kept.is_empty();
        if all_full || self.options.sabotage() == Sabotage::NoFairness {
            return false;
        }
        let mut any = false;
        let mut seeds = std::mem::take(&mut self.seeds_of_driver);
        for component in self.space.terminal_components() {
            if self.control.check().is_err() {
                break;
            }
            let leads_nowhere =
                |state: &u32| self.space.edges(*state).iter().all(|edge| edge.state().is_none());
            if self.options.sabotage() == Sabotage::NoProgress && leads_nowhere(&component[0]) {
                continue;
            }
            let (mut ready, mut followed) = (vec![0; self.know.width], vec![0; self.know.width]);
            for state in &component {
                let node = &self.space.nodes[*state as usize];
                if node.ready == WAITING {
                    continue;
                }
                bits::join(&mut ready, self.know.sets.rows.row(node.ready));
                for edge in self.space.edges(*state) {
                    bits::set(&mut followed, edge.task);
                }
            }
            let mut missing: Vec<u64> =
                ready.iter().zip(&followed).map(|(ready, followed)| ready & !followed).collect();
            // All tasks of a state at once, so that it is expanded only once.
            let mut extras: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            while let Some(task) = bits::least(&missing) {
                let is_ready = |state: &&u32| {
                    let ready = self.space.nodes[**state as usize].ready;
                    ready != WAITING && bits::has(self.know.sets.rows.row(ready), task)
                };
                let Some(state) = component.iter().find(is_ready).copied() else { break };
                // Tasks that the closure adds anyway need not be added as well.
                let here = self.space.nodes[state as usize].ready;
                seeds.take_out(&self.know, self.know.sets.rows.row(here), task, &mut missing);
                self.counts.fairness_added += 1;
                any = true;
                let extra = extras.entry(state).or_insert_with(|| vec![0; self.know.width]);
                bits::set(extra, task);
            }
            for (state, extra) in extras {
                self.requeue(state, extra);
            }
        }
        self.seeds_of_driver = seeds;
        any
    }
}
