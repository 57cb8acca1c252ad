//! The part of a pass that applies if sections give the order of locks.
//!
//! Non-racy candidates depend on the kinds of edges by which a strand learns a clock. So the
//! visiting pass separates edges of sections and derived edges from the others.

use super::Pass;
use crate::relation::state::State;
use crate::relation::strands::StrandId;
use anyorder_order::ClockRef;
use anyorder_trace::{EventId, TaskId};

impl Pass<'_, '_> {
    /// Joins all predecessors of an event into the clock of its strand, and records by which edges
    /// the strand learns them.
    pub(super) fn arrive_apart(&mut self, event: EventId, strand: StrandId) {
        let at = strand.index();
        let before = std::mem::replace(&mut self.state.at[at], ClockRef::EMPTY);
        let next_edge = self.next_edge;
        self.apart = true;
        self.join_hard(event, strand);
        self.apart = false;
        self.learnt = self.state.at[at];
        self.state.at[at] = before;
        let joined = self.state.clocks.join(before, self.learnt);
        self.state.set(strand, joined);
        let clocks = &mut self.state.clocks;
        self.unsectioned = self.state.at[at];
        if !self.engine.derived.is_empty() {
            self.unsectioned = clocks.join(self.plain[at], self.learnt);
            self.plain[at] = self.unsectioned;
            for edge in next_edge..self.next_edge {
                let edge = self.engine.given.edges[edge];
                if self.engine.derived.contains(&(edge.from, edge.to))
                    && let Some(stamp) = self.state.saved.get(&edge.from).copied()
                {
                    self.join(strand, stamp);
                }
            }
        }
        self.join_sections(event, strand);
    }

    /// Joins the releases of sections that contain an action that does not commute with the given
    /// one.
    pub(super) fn join_sections(&mut self, event: EventId, strand: StrandId) {
        let Some(plan) = &self.engine.sections else { return };
        let handler = self.engine.strands.get(strand).handler;
        while let Some(pull) = plan.pulls.get(self.next_pull).filter(|pull| pull.event <= event) {
            let mut at = self.state.at[strand.index()];
            let State { clocks, slots, edges, .. } = &mut self.state;
            let slot = &slots[pull.slot.0 as usize];
            *edges += slot.join_others(clocks, handler, &mut at);
            if let Some(plain) = self.plain.get_mut(strand.index()) {
                slot.join_others(clocks, handler, plain);
            }
            self.state.set(strand, at);
            self.next_pull += 1;
        }
    }

    /// Publishes the clock of a release to the slots of its section.
    pub(super) fn leave_section(&mut self, event: EventId, strand: StrandId) {
        let stamp = self.stamp(event, strand);
        let Some(plan) = &self.engine.sections else { return };
        let handler = self.engine.strands.get(strand).handler;
        let chain = self.engine.chains.of(strand);
        let publishes = &plan.publishes[self.next_publish..];
        for publish in publishes.iter().take_while(|publish| publish.event <= event) {
            let slot = &mut self.state.slots[publish.slot.0 as usize];
            slot.add(&self.state.clocks, handler, chain, stamp);
            self.next_publish += 1;
        }
    }

    /// Returns the key under which a barrier counts an event: its task, or its strand in `threads`
    /// if sections give orders.
    pub(super) fn passer(&self, task: TaskId, strand: StrandId) -> u32 {
        let threads = self.engine.sections.is_some() && !self.engine.rules.reorders_tasks();
        if threads { strand.0 } else { task.0 }
    }
}
