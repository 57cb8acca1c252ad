//! Which variables a handler can touch, with all that runs because of it.
//!
//! Two apps hear of an event in any order. If what one touches the other does not, both orders end
//! in the same state by the same steps, so one is enough. Without this a chain of events has twice
//! as many executions with each event in it.

use crate::unfold::{Action, EventKey, UnitId, VarId, VarKind, World};
use std::collections::BTreeSet;

/// What a handler can touch.
#[derive(Clone, Default)]
pub(super) struct Footprint {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    /// Whether it can run itself again, so that the limit of depth may end it.
    is_cyclic: bool,
}

impl Footprint {
    fn add(&mut self, other: &Footprint) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.is_cyclic |= other.is_cyclic;
    }

    /// Returns whether the order of two does not matter.
    pub(super) fn is_independent(&self, other: &Footprint) -> bool {
        let free = |one: &Footprint, other: &Footprint| {
            one.writes.is_disjoint(&other.reads) && one.writes.is_disjoint(&other.writes)
        };
        !self.is_cyclic && !other.is_cyclic && free(self, other) && free(other, self)
    }
}

/// The footprints of all handlers.
pub(super) struct Footprints {
    of: Vec<Footprint>,
}

impl Footprints {
    /// Finds them: what each touches itself, then what follows. Takes time linear in the handlers
    /// times the handlers that each leads to.
    pub(super) fn new(world: &World<'_>) -> Footprints {
        let (own, runs): (Vec<Footprint>, Vec<BTreeSet<UnitId>>) =
            (0..world.trees.len()).map(|unit| direct(world, unit)).unzip();
        let of = (0..own.len()).map(|unit| {
            let mut all = own[unit].clone();
            let (mut reached, mut open) = (BTreeSet::new(), vec![unit]);
            while let Some(at) = open.pop() {
                for next in &runs[at] {
                    if reached.insert(*next) {
                        all.add(&own[*next]);
                        open.push(*next);
                    }
                }
            }
            all.is_cyclic |= reached.iter().any(|one| reaches(&runs, *one, *one));
            all
        });
        Footprints { of: of.collect() }
    }

    /// Returns the footprint of an app that hears of an event.
    pub(super) fn hearing(&self, world: &World<'_>, app: usize, event: &EventKey) -> Footprint {
        let mut all = Footprint::default();
        for (var, unit) in world.hearing(event) {
            if world.units[unit].app == app {
                all.reads.insert(var);
                all.add(&self.of[unit]);
            }
        }
        all
    }
}

/// Returns whether a handler can lead to another one.
fn reaches(runs: &[BTreeSet<UnitId>], from: UnitId, to: UnitId) -> bool {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        for next in &runs[at] {
            if *next == to {
                return true;
            }
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    false
}

/// Returns what a handler touches itself, and the handlers that it leads to.
fn direct(world: &World<'_>, unit: UnitId) -> (Footprint, BTreeSet<UnitId>) {
    let (mut own, mut runs) = (Footprint::default(), BTreeSet::new());
    let mut hears = |own: &mut Footprint, event: &EventKey| {
        for (var, taker) in world.hearing(event) {
            own.reads.insert(var);
            runs.insert(taker);
        }
    };
    let mut called = vec![];
    for action in world.trees[unit].nodes.iter().filter_map(|node| node.action.as_ref()) {
        match action {
            Action::Read(var) => {
                own.reads.insert(*var);
            }
            Action::Set { var, event, .. } => {
                own.writes.insert(*var);
                if let Some(event) = event {
                    hears(&mut own, event);
                }
            }
            Action::Emit { event, .. } => hears(&mut own, event),
            Action::Run { unit, .. } => called.push(*unit),
            Action::Unschedule { app, .. } => {
                let timers = |kind: &VarKind| matches!(kind, VarKind::Timer(of, _) if of == app);
                own.writes.extend(world.vars_of(timers));
            }
            Action::Unsubscribe { app, .. } => {
                let held = |kind: &VarKind| matches!(kind, VarKind::Subscribed(of, _) if of == app);
                own.writes.extend(world.vars_of(held));
            }
            Action::Choose(_) | Action::Unknown => {}
        }
    }
    runs.extend(called);
    (own, runs)
}
