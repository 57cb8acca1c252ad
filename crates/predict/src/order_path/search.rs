//! The search for a chain of edges, backwards from the later event.

use super::index::{Act, NONE, OrderPaths, OrderRule};
use super::{OrderStep, Ordered};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, LockId};
use std::collections::BTreeMap;

/// An edge of the search: the events of `from`'s lane up to `from` come before the second event.
#[derive(Clone, Copy, Debug)]
struct Reached {
    from: u32,
    to: u32,
    rule: OrderRule,
    /// The number of the entry that reached `to`.
    by: usize,
}

struct Search<'i> {
    index: &'i OrderPaths,
    first: u32,
    /// By lane, the last reached event.
    covered: BTreeMap<u32, u32>,
    reached: Vec<Reached>,
    steps_left: u64,
    cancel: &'i Cancel,
}

/// Finds a chain from an event to a later one.
pub(super) fn search(
    index: &OrderPaths,
    (first, second): (u32, u32),
    steps_max: u64,
    cancel: &Cancel,
) -> Ordered {
    let start = Reached { from: second, to: second, rule: OrderRule::ProgramOrder, by: 0 };
    let mut search = Search {
        index,
        first,
        covered: BTreeMap::new(),
        reached: vec![start],
        steps_left: steps_max,
        cancel,
    };
    let mut next = 0;
    while next < search.reached.len() {
        match search.visit(next) {
            Some(true) => return Ordered::By(search.chain(next)),
            Some(false) => next += 1,
            None => return Ordered::Unknown,
        }
    }
    Ordered::Not
}

impl Search<'_> {
    /// Visits the new events of a lane. Returns whether the first event is among them; `None` if no
    /// steps are left.
    fn visit(&mut self, at: usize) -> Option<bool> {
        let until = self.reached[at].from;
        let lane = self.index.lane_of[until as usize];
        let known = self.covered.get(&lane).copied();
        if known.is_some_and(|known| until <= known) {
            return Some(false);
        }
        self.covered.insert(lane, until);
        if self.index.lane_of[self.first as usize] == lane && self.first <= until {
            return Some(true);
        }
        let events = &self.index.lanes[lane as usize];
        let low = known.map_or(self.first, |known| self.first.max(known + 1));
        let from = events.partition_point(|event| *event < low);
        let to = events.partition_point(|event| *event <= until);
        for &event in events[from..to].iter().rev() {
            self.step()?;
            for edge in self.index.edges_to(event) {
                self.step()?;
                if edge.from >= self.first {
                    let (from, rule) = (edge.from, edge.rule);
                    self.reached.push(Reached { from, to: event, rule, by: at });
                }
            }
            if self.index.has_locks(event) {
                for act in self.index.acts_of(event) {
                    self.sections(act, lane, at)?;
                }
            }
        }
        Some(false)
    }

    fn step(&mut self) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        self.cancel.reason().is_none().then_some(())
    }

    /// Adds the edges from sections to an action in other sections.
    fn sections(&mut self, act: &Act, lane: u32, by: usize) -> Option<()> {
        let index = self.index;
        let others = if act.cell.0 == 0 { index.overlaps.of(act.cell.1) } else { &[] };
        let others = others.iter().map(|location| (0, *location));
        for cell in std::iter::once(act.cell).chain(others) {
            for (&other, done) in index.done.get(&cell).into_iter().flatten() {
                if other == lane {
                    continue;
                }
                let low = self.covered.get(&other).map_or(self.first, |c| self.first.max(c + 1));
                let stop = self.stop(other, low);
                let end = done.partition_point(|earlier| earlier.event < act.event);
                let mut wanted: Vec<u32> = index.held(act.event);
                for earlier in done[..end].iter().rev().take_while(|e| e.event >= stop) {
                    self.step()?;
                    if wanted.is_empty() {
                        break;
                    }
                    let table = &index.tables[usize::from(act.table)];
                    if table.conflicts(earlier.class, act.class) {
                        self.section(act, (earlier.event, low), &mut wanted, by);
                    }
                }
            }
        }
        Some(())
    }

    /// Adds the edges to an action from the sections of one earlier action that end at `low` or
    /// later. Removes from `wanted` the sections of the later action that now have an edge, because
    /// these edges imply earlier ones from that lane.
    fn section(&mut self, act: &Act, (action, low): (u32, u32), wanted: &mut Vec<u32>, by: usize) {
        let index = self.index;
        for first in index.held(action) {
            let first = index.sections[first as usize];
            let is_over = first.release != NONE && first.release < act.event;
            if !is_over || first.release < low {
                continue;
            }
            wanted.retain(|second| {
                let second = index.sections[*second as usize];
                let excludes = first.lock == second.lock && !(first.shared && second.shared);
                if excludes {
                    let rule =
                        OrderRule::Section { lock: LockId(first.lock), action: EventId(action) };
                    self.reached.push(Reached { from: first.release, to: act.event, rule, by });
                }
                !excludes
            });
        }
    }

    /// Returns the first event whose sections can end at `low` or later in a lane.
    fn stop(&self, lane: u32, low: u32) -> u32 {
        let events = &self.index.lanes[lane as usize];
        let at = events.partition_point(|event| *event < low);
        let Some(before) = at.checked_sub(1) else { return low };
        // The sections open at `low` are those of its next event, or of an earlier release.
        let ends = |event: &u32| {
            let first = self.index.first_held(*event)?;
            Some(self.index.sections[first as usize].acquire)
        };
        let around = events[before..].iter().take(2).filter_map(ends).min();
        around.map_or(low, |acquire| acquire.min(low))
    }

    /// Returns the chain from the first event, which the entry has found.
    fn chain(&self, mut at: usize) -> Vec<OrderStep> {
        let mut chain: Vec<OrderStep> = Vec::new();
        let mut add = |from: u32, to: u32, rule: OrderRule| {
            if from == to {
                return;
            }
            let (from, to) = (EventId(from), EventId(to));
            match chain.last_mut() {
                Some(last) if last.rule == OrderRule::Barrier && rule == OrderRule::Barrier => {
                    last.to = to;
                }
                _ => chain.push(OrderStep { from, to, rule }),
            }
        };
        let mut now = self.first;
        loop {
            let Reached { from, to, rule, by } = self.reached[at];
            add(now, from, OrderRule::ProgramOrder);
            if at == 0 {
                return chain;
            }
            add(from, to, rule);
            (now, at) = (to, by);
        }
    }
}
