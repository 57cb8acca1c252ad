//! Cycles that violate transactions.

use super::blocks::Blocks;
use super::graph::{Edge, Graph, NONE};
use super::{Link, TransactionOptions, TransactionsChecked, Unit, Violation};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, HandlerId, SiteId, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A place of blocks: where they begin, or their thread if that is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Site(SiteId),
    Thread(HandlerId),
}

/// Adds the violations of a graph to the outcome.
///
/// # Errors
///
/// Fails if it was stopped.
pub(super) fn violations(
    (trace, blocks): (&Trace, &Blocks),
    graph: &Graph,
    options: &TransactionOptions,
    control: &Control<'_>,
    checked: &mut TransactionsChecked,
) -> Result<(), Stopped> {
    checked.components = u64::from(graph.components);
    let place = |block: u32| {
        let block = blocks.get(block);
        match trace.event(block.begin).site {
            SiteId::UNKNOWN => Place::Thread(block.thread),
            site => Place::Site(site),
        }
    };
    let blocks_of = graph.component.iter().zip(&graph.block).zip(0_u32..);
    let on_cycle =
        blocks_of.filter(|((component, block), _)| **component != NONE && **block != NONE);
    // By place: its transactions on cycles, in the order of the trace.
    let mut places: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
    for ((_, block), unit) in on_cycle {
        checked.on_cycles += 1;
        places.entry(place(*block)).or_default().push(unit);
    }
    let mut search = Search { graph, steps: 0, steps_max: options.steps_max };
    let mut in_order: Vec<&Vec<u32>> = places.values().collect();
    in_order.sort_by_key(|units| units[0]);
    for units in in_order {
        if checked.violations.len() >= options.max_cycles {
            checked.is_cut = true;
            break;
        }
        for unit in units {
            control.check()?;
            let Some(path) = search.violation(*unit) else { continue };
            let block = blocks.get(graph.block[*unit as usize]);
            checked.violations.push(Violation {
                begin: block.begin,
                end: block.end,
                thread: block.thread,
                links: path.iter().map(|edge| link(blocks, graph, edge)).collect(),
                on_cycles: units.len() as u64,
            });
            break;
        }
        checked.is_cut |= search.is_over();
    }
    checked.violations.sort_by_key(|violation| violation.begin);
    Ok(())
}

fn link(blocks: &Blocks, graph: &Graph, edge: &Edge) -> Link {
    let unit = |unit: u32| match graph.block[unit as usize] {
        NONE => Unit::Single(graph.first[unit as usize]),
        block => Unit::Block(blocks.get(block).begin),
    };
    let Edge { before, after, why, .. } = *edge;
    Link { from: unit(edge.from), to: unit(edge.to), before, after, why }
}

struct Search<'g> {
    graph: &'g Graph,
    steps: u64,
    steps_max: u64,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.steps > self.steps_max
    }

    /// Returns a cycle that violates a transaction: it begins and ends there, and the target of its
    /// last edge is its latest. The earliest such target, and of these cycles a shortest.
    fn violation(&mut self, unit: u32) -> Option<Vec<Edge>> {
        let entry = self.entry(unit)?;
        self.shortest(unit, entry)
    }

    /// Returns the edge into a transaction, with the earliest target, whose source can be reached
    /// from it by edges with earlier targets.
    fn entry(&mut self, start: u32) -> Option<Edge> {
        // By unit: the earliest event at which it is reached, the latest target on the way there.
        let mut reached: FxHashMap<u32, EventId> = FxHashMap::default();
        let mut queue = BinaryHeap::from([Reverse((EventId(0), start))]);
        let mut entry: Option<Edge> = None;
        while let Some(Reverse((at, unit))) = queue.pop() {
            if entry.is_some_and(|edge| edge.after <= at) || self.is_over() {
                break;
            }
            if reached.get(&unit).is_some_and(|known| *known < at) {
                continue;
            }
            for edge in self.graph.of(unit) {
                self.steps += 1;
                if edge.to == start {
                    let is_latest = edge.after > at && unit != start;
                    if is_latest && entry.is_none_or(|other| edge.after < other.after) {
                        entry = Some(*edge);
                    }
                    continue;
                }
                let later = at.max(edge.after);
                let known = reached.entry(edge.to).or_insert(EventId::NONE);
                if later < *known {
                    *known = later;
                    queue.push(Reverse((later, edge.to)));
                }
            }
        }
        entry
    }

    /// Returns the shortest cycle from a transaction to one edge into it, by edges with earlier
    /// targets.
    fn shortest(&mut self, start: u32, entry: Edge) -> Option<Vec<Edge>> {
        let mut by: FxHashMap<u32, Edge> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(unit) = queue.pop_front() {
            if unit == entry.from {
                break;
            }
            for edge in self.graph.of(unit).iter().take_while(|edge| edge.after < entry.after) {
                self.steps += 1;
                if edge.to != start && !by.contains_key(&edge.to) {
                    by.insert(edge.to, *edge);
                    queue.push_back(edge.to);
                }
            }
        }
        let mut path = vec![entry];
        let mut at = entry.from;
        while at != start {
            let edge = *by.get(&at)?;
            path.push(edge);
            at = edge.from;
        }
        path.reverse();
        Some(path)
    }
}
