//! The search of one slice: all events in all states, breadth first, up to a bound.
//!
//! **Problem.** Input: two automations as a program. Output: reactions in which both set one state,
//! reactions that do not end, and waits that end in overwriting what the other one set.
//! **Guarantee.** Each finding has a run of the program. Up to the bound all reachable quiet states
//! are expanded; what another automation set meanwhile is looked for on the shortest path to each
//! state only.
//! **Cost.** Linear in the reactions; each has a bound.

use super::finding::{Finding, FindingKind, Step, Writer};
use super::reaction::{Way, react};
use super::slices::Slice;
use crate::lower::{Lowered, Table};
use crate::place::Place;
use anyorder_system::{Hash128, StateSystem};
use anyorder_vm::{Machine, State, Write};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The most findings of one slice.
const FINDINGS_MAX: usize = 8;

/// The most reactions of one slice.
const REACTIONS_MAX: u64 = 10_000;

/// A quiet state, and how it was reached.
struct Node {
    state: State,
    before: Option<usize>,
    event: String,
    writes: Vec<Write>,
    chosen: bool,
}

/// What a search of a slice gives.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) findings: Vec<Finding>,
    pub(super) states: u64,
    pub(super) reactions: u64,
    pub(super) cut: bool,
}

pub(super) struct Search<'a> {
    machine: Machine,
    reversed: Option<Machine>,
    table: &'a Table,
    names: Vec<String>,
    slice: &'a Slice,
    nodes: Vec<Node>,
    known: HashMap<Hash128, usize>,
    result: Searched,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        machine: Machine,
        reversed: Option<Machine>,
        lowered: &'a Lowered,
        names: Vec<String>,
        slice: &'a Slice,
    ) -> Search<'a> {
        let (nodes, known) = (Vec::new(), HashMap::new());
        let result = Searched::default();
        Search { machine, reversed, table: &lowered.table, names, slice, nodes, known, result }
    }

    /// Searches up to so many states. `stop` is asked before each.
    pub(super) fn run(mut self, states_max: usize, stop: &dyn Fn() -> bool) -> Searched {
        let mut queue = VecDeque::new();
        for state in self.machine.initial() {
            self.add(state, None, String::new(), Vec::new(), false, states_max, &mut queue);
        }
        while let Some(at) = queue.pop_front() {
            let enough = self.result.reactions >= REACTIONS_MAX;
            if stop() || enough || self.result.findings.len() >= FINDINGS_MAX {
                self.result.cut = true;
                break;
            }
            self.expand(at, states_max, &mut queue, stop);
        }
        self.result.states = self.nodes.len() as u64;
        self.result
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a node")]
    fn add(
        &mut self,
        state: State,
        before: Option<usize>,
        event: String,
        writes: Vec<Write>,
        chosen: bool,
        states_max: usize,
        queue: &mut VecDeque<usize>,
    ) {
        let key = self.machine.fingerprint(&state);
        if self.known.contains_key(&key) {
            return;
        }
        if self.nodes.len() >= states_max {
            self.result.cut = true;
            return;
        }
        self.known.insert(key, self.nodes.len());
        queue.push_back(self.nodes.len());
        self.nodes.push(Node { state, before, event, writes, chosen });
    }

    fn expand(
        &mut self,
        at: usize,
        states_max: usize,
        queue: &mut VecDeque<usize>,
        stop: &dyn Fn() -> bool,
    ) {
        let before = self.nodes[at].state.clone();
        let mut next = Vec::new();
        self.machine.successors(&before, &mut next);
        for (number, successor) in next.into_iter().enumerate() {
            if stop() {
                self.result.cut = true;
                return;
            }
            let event = self.machine.describe(&before, &successor.action);
            let event = event.split(", alternative ").next().unwrap_or(&event).to_owned();
            let first = Way {
                state: successor.state,
                writes: Vec::new(),
                endless: false,
                failed: successor.failure.is_some(),
                chosen: false,
            };
            let (ways, cut) = react(&self.machine, &before, &successor.action, first);
            self.result.cut |= cut;
            self.result.reactions += 1;
            let several = ways.iter().any(|way| self.writers(&way.writes) > 1);
            if several && ways.iter().all(|way| !way.endless) {
                self.compare_orders(at, number, &event, &ways);
            }
            for way in ways {
                self.examine(at, &event, &way);
                if !way.failed && !way.endless {
                    self.add(
                        way.state,
                        Some(at),
                        event.clone(),
                        way.writes,
                        way.chosen,
                        states_max,
                        queue,
                    );
                }
            }
        }
    }

    fn writers(&self, writes: &[Write]) -> usize {
        let mut by: Vec<u32> =
            writes.iter().filter(|w| self.is_state(w)).filter_map(|w| w.by).collect();
        by.sort_unstable();
        by.dedup();
        by.len()
    }

    fn is_state(&self, write: &Write) -> bool {
        self.table.get(&write.attribute).is_some()
    }

    /// Looks for what is wrong in one reaction.
    fn examine(&mut self, at: usize, event: &str, way: &Way) {
        if way.endless {
            if way.chosen {
                // What is not known may end it; the ways in which it does are searched, too.
                return;
            }
            let states: Vec<&Write> = way.writes.iter().filter(|w| self.is_state(w)).collect();
            let Some(last) = states.iter().rev().find(|w| w.by.is_some()) else { return };
            let entity = last.attribute.clone();
            let mut writers: Vec<Writer> = Vec::new();
            for write in states.iter().rev().filter(|w| w.by.is_some()) {
                let writer = self.writer(write);
                if writers.iter().all(|known| known.name != writer.name) {
                    writers.push(writer);
                }
            }
            return self.found(FindingKind::Loop, at, event, way, entity, writers, Vec::new());
        }
        let mut last: BTreeMap<&str, &Write> = BTreeMap::new();
        let mut fights = Vec::new();
        for write in way.writes.iter().filter(|write| self.is_state(write)) {
            if let Some(before) = last.insert(&write.attribute, write)
                && let (Some(a), Some(b)) = (before.by, write.by)
                && a != b
                && before.value != write.value
            {
                fights.push((before.clone(), write.clone()));
            }
        }
        for (a, b) in fights {
            let writers = vec![self.writer(&a), self.writer(&b)];
            self.found(
                FindingKind::Fight,
                at,
                event,
                way,
                a.attribute.clone(),
                writers,
                Vec::new(),
            );
        }
        if self.nodes[at].before.is_some() {
            self.overwritten(at, event, way);
        }
    }

    /// A run that waited sets a state which another automation has set since the run began.
    fn overwritten(&mut self, at: usize, event: &str, way: &Way) {
        let mut found = Vec::new();
        for write in way.writes.iter().filter(|write| self.is_state(write)) {
            let Some(by) = write.by else { continue };
            if !self.waits(at, by) {
                continue;
            }
            let mut node = at;
            // Back to where the run began: who set it last since then?
            while let Some(before) = self.nodes[node].before {
                if !self.waits(before, by) {
                    break;
                }
                let last = self.nodes[node].writes.iter().rev();
                let last =
                    last.filter(|w| w.attribute == write.attribute).find(|w| w.value != "null");
                if let Some(last) = last {
                    if let Some(other) = last.by
                        && other != by
                        && last.value != write.value
                    {
                        found.push((last.clone(), write.clone()));
                    }
                    break;
                }
                node = before;
            }
        }
        for (a, b) in found {
            let writers = vec![self.writer(&a), self.writer(&b)];
            self.found(
                FindingKind::Overwritten,
                at,
                event,
                way,
                a.attribute.clone(),
                writers,
                Vec::new(),
            );
        }
    }

    /// Whether a run of a component waits in a quiet state.
    fn waits(&self, at: usize, by: u32) -> bool {
        let Some(name) = self.slice_entity(by).filter(|name| !name.is_empty()) else {
            return false;
        };
        let global = format!("run of {name}");
        let shown = self.machine.show(&self.nodes[at].state);
        shown.iter().any(|(key, value)| *key == global && value != "0")
    }

    fn slice_entity(&self, by: u32) -> Option<&str> {
        self.names.get(by as usize).map(String::as_str)
    }

    /// Runs the same event with the other order, and compares the ends.
    fn compare_orders(&mut self, at: usize, number: usize, event: &str, ways: &[Way]) {
        let Some(other) = &self.reversed else { return };
        let before = &self.nodes[at].state;
        let mut bytes = Vec::new();
        self.machine.encode(before, &mut bytes);
        let Some(same) = other.decode(&bytes) else { return };
        let mut next = Vec::new();
        other.successors(&same, &mut next);
        let Some(successor) = next.into_iter().nth(number) else { return };
        let first = Way {
            state: successor.state,
            writes: Vec::new(),
            endless: false,
            failed: successor.failure.is_some(),
            chosen: false,
        };
        let (others, cut) = react(other, &same, &successor.action, first);
        if cut || ways.iter().chain(&others).any(|way| way.failed || way.endless) {
            return;
        }
        for key in &self.slice.about {
            let ends = |machine: &Machine, ways: &[Way]| {
                let mut all: Vec<String> = ways
                    .iter()
                    .filter_map(|way| {
                        let shown = machine.show(&way.state);
                        shown.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
                    })
                    .collect();
                all.sort();
                all.dedup();
                all
            };
            let (mine, theirs) = (ends(&self.machine, ways), ends(other, &others));
            if mine.len() == 1 && theirs.len() == 1 && mine != theirs {
                let Some(way) = ways.iter().find(|way| self.writers(&way.writes) > 1).cloned()
                else {
                    return;
                };
                let of_key = |ways: &[Way]| {
                    let mut all = ways.iter().flat_map(|way| way.writes.iter());
                    all.rfind(|w| w.attribute == *key && w.by.is_some()).cloned()
                };
                let last = [of_key(&others), of_key(ways)];
                let mut writers: Vec<Writer> =
                    last.iter().flatten().map(|w| self.writer(w)).collect();
                writers.dedup();
                if writers.len() == 2 && writers[0].name != writers[1].name {
                    let ends = [mine, theirs].concat();
                    let key = key.clone();
                    self.found(FindingKind::Order, at, event, &way, key, writers, ends);
                }
                return;
            }
        }
    }

    fn writer(&self, write: &Write) -> Writer {
        let names = self.machine.components();
        let name = write.by.and_then(|by| names.get(by as usize).cloned()).unwrap_or_default();
        Writer { name, place: place_of(write), value: plain(&write.value) }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a finding")]
    fn found(
        &mut self,
        kind: FindingKind,
        at: usize,
        event: &str,
        way: &Way,
        entity: String,
        writers: Vec<Writer>,
        ends: Vec<String>,
    ) {
        let names = self.machine.components();
        let mut steps = vec![self.step(&names, event, &way.writes)];
        let (mut node, mut assumed) = (at, way.chosen);
        while let Some(before) = self.nodes[node].before {
            let this = &self.nodes[node];
            steps.push(self.step(&names, &this.event, &this.writes));
            assumed |= this.chosen;
            node = before;
        }
        steps.reverse();
        let start = self.machine.show(&self.nodes[node].state);
        let start = start.into_iter().filter(|(name, _)| self.table.get(name).is_some());
        let start = start.map(|(name, value)| (name, plain(&value))).collect();
        let ends = ends.iter().map(|end| plain(end)).collect();
        let finding = Finding { kind, entity, writers, start, steps, ends, assumed };
        if self.result.findings.iter().all(|known| known.key() != finding.key()) {
            self.result.findings.push(finding);
        }
    }

    fn step(&self, names: &[String], event: &str, writes: &[Write]) -> Step {
        let states = writes.iter().filter(|write| self.is_state(write) && write.by.is_some());
        let changes = states.map(|write| {
            let who = write.by.and_then(|by| names.get(by as usize).cloned());
            (who, place_of(write), write.attribute.clone(), plain(&write.value))
        });
        Step { event: event.to_owned(), changes: changes.collect() }
    }
}

fn place_of(write: &Write) -> Place {
    write.site.map_or_else(Place::default, |site| Place {
        file: site.file,
        line: site.line,
        column: site.column,
    })
}

/// A value without the quotes of a text.
fn plain(value: &str) -> String {
    value.trim_matches('"').to_owned()
}
