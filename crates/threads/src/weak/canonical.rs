//! Revisits where graphs have no order of writes: which source of a read stands for all others.
//!
//! A read is added *maximally* if it reads from its canonical source: the first one, in an order
//! that is a matter of the graph alone, from which the operation can read so that the graph has a
//! sequentially consistent order. There always is one, since an order of the graph without the read
//! goes on with the read. So what a revisit deletes could have been added in one way only, as where
//! writes are ordered.

use super::explore::Search;
use super::graph::{Event, Graph, INITIAL, Id, Kind, has};
use super::linear::extend;
use super::reading::{Reading, Want};
use super::revisit::is_maximal;
use super::sabotage::Sabotage;
use crate::program::ThreadProgram;

impl<P: ThreadProgram + ?Sized> Search<'_, '_, P> {
    /// As [`revisitable`](super::revisit::revisitable).
    pub(super) fn revisitable_by_class(&mut self, object: u32, prefix: &[u32]) -> Vec<Id> {
        let mut found = Vec::new();
        let Some(graph) = self.graphs.last() else { return found };
        let first = graph.accesses(object).and_then(|all| all.reads.first().copied());
        let Some(mut first) = first else { return found };
        let count = graph.events.len() as Id;
        if self.sabotage == Sabotage::DeletionsForgotten {
            first = first.max(count.saturating_sub(1));
        }
        for id in (first..count).rev() {
            let Some(graph) = self.graphs.last() else { return found };
            let event = *graph.event(id);
            if has(prefix, &event) && self.sabotage != Sabotage::RevisitsOfThePrefix {
                continue;
            }
            let is_open = self.states.is_loose(event.object);
            let is_maximal = match event.kind {
                Kind::Read if is_open => self.is_canonical(id, prefix),
                _ => is_maximal(graph, id, prefix, is_open, self.sabotage),
            };
            if !is_maximal {
                return found;
            }
            if event.kind == Kind::Read && event.object == object {
                found.push(id);
            }
        }
        found
    }

    /// Whether a read reads from its canonical source, as far as what is not deleted with it tells.
    fn is_canonical(&mut self, id: Id, prefix: &[u32]) -> bool {
        let Search { graphs, known, states, sabotage, .. } = self;
        let Some(graph) = graphs.last() else { return false };
        if *sabotage == Sabotage::DeletionsOfReads {
            return true;
        }
        let event = *graph.event(id);
        let is_there = |other: &Id| *other < id || has(prefix, graph.event(*other));
        let order = graph.order(event.object).iter().copied();
        let mut sources: Vec<Id> = order.filter(is_there).collect();
        let place = |id: &Id| (graph.event(*id).thread, graph.event(*id).index);
        sources.sort_unstable_by_key(|source| std::cmp::Reverse(place(source)));
        sources.push(INITIAL);
        if sources[0] == event.source {
            return true;
        }
        let mut part = Graph::default();
        part.become_part(graph, |other, event| other < id || has(prefix, event));
        for source in sources {
            if source == event.source {
                return true;
            }
            let name = match source {
                INITIAL => INITIAL,
                source => {
                    let (thread, index) = place(&source);
                    part.logs[thread as usize][index as usize]
                }
            };
            let value = part.written(name).unwrap_or_else(|| states.initial(event.object));
            let (at, thread) = ((event.node, event.phase), event.thread);
            let act = known.act(event.node);
            let mut reading = Reading { thread, act, at, object: event.object };
            let read = reading.event(name, value, 0, states);
            let before = part.events.len();
            let id = part.push(read);
            let mut is_possible = extend(&mut part, id, *sabotage);
            if is_possible
                && !read.is_done
                && let Want::Write(write) = Want::next_phase(&read, act)
            {
                let place = part.order(event.object).len() as u32;
                let id = part.push(Event { thread, place, ..write });
                is_possible = extend(&mut part, id, *sabotage);
            }
            if is_possible {
                return false;
            }
            while part.events.len() > before {
                part.pop();
            }
        }
        false
    }
}
