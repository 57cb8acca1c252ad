//! The search of one slice: all events in all states, breadth first, up to a bound.
//!
//! **Problem.** Input: some automations as a program. Output: reactions in which two set one state,
//! reactions that do not end, and waits that end in overwriting what another one set.
//! **Guarantee.** Each finding has a run of the program. Up to the bound all reachable quiet states
//! are expanded; what another automation set meanwhile is looked for on the shortest path to each
//! state only.
//! **Cost.** Linear in the reactions; each has a bound. Every bound, and the end of the time, is
//! kept inside of a state's expansion, too.

use super::finding::{Finding, FindingKind, Step, Writer};
use super::reaction::{ALTERNATIVES_MAX, Way, react};
use super::slices::Slice;
use crate::lower::{GIVEN, Lowered, Table, UNKNOWN};
use crate::place::Place;
use anyorder_system::{Hash128, StateSystem};
use anyorder_vm::{Machine, State, Transition, Write};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The most findings of one slice.
const FINDINGS_MAX: usize = 8;

/// The most reactions of one slice.
const REACTIONS_MAX: u64 = 10_000;

/// The most states within the reactions of one slice: one slice does not take the time of all.
const STEPS_MAX: usize = 30_000;

/// A quiet state, and how it was reached.
pub(super) struct Node {
    pub(super) state: State,
    pub(super) before: Option<usize>,
    pub(super) event: String,
    pub(super) way: Way,
    /// The automations with a run that waits.
    pub(super) waiting: Vec<String>,
}

/// What a search of a slice gives.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) findings: Vec<Finding>,
    pub(super) states: u64,
    pub(super) reactions: u64,
    pub(super) cut: bool,
}

/// What a finding says besides its kind and its run.
#[derive(Default)]
pub(super) struct About {
    pub(super) entity: String,
    pub(super) writers: Vec<Writer>,
    pub(super) ends: Vec<String>,
    /// What follows after the event of the finding.
    pub(super) aftermath: Vec<(String, Way)>,
    pub(super) assumed: bool,
}

pub(super) struct Search<'a> {
    pub(super) machine: Machine,
    pub(super) reversed: Option<Machine>,
    pub(super) table: &'a Table,
    /// The entity of each part; "" for one that never waits.
    pub(super) names: Vec<String>,
    /// The entity of each part.
    pub(super) entities: Vec<String>,
    /// The automations for which each part runs: itself, or those that call it.
    pub(super) roots: Vec<Vec<usize>>,
    pub(super) slice: &'a Slice,
    pub(super) nodes: Vec<Node>,
    pub(super) result: Searched,
    pub(super) stop: &'a dyn Fn() -> bool,
    known: HashMap<Hash128, usize>,
    queue: VecDeque<usize>,
    steps: usize,
    states_max: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        (machine, reversed): (Machine, Option<Machine>),
        lowered: &'a Lowered,
        (names, entities, roots): (Vec<String>, Vec<String>, Vec<Vec<usize>>),
        slice: &'a Slice,
        stop: &'a dyn Fn() -> bool,
    ) -> Search<'a> {
        Search {
            machine,
            reversed,
            table: &lowered.table,
            names,
            entities,
            roots,
            slice,
            nodes: Vec::new(),
            result: Searched::default(),
            stop,
            known: HashMap::new(),
            queue: VecDeque::new(),
            steps: 0,
            states_max: 0,
        }
    }

    /// Searches up to so many states.
    pub(super) fn run(mut self, states_max: usize) -> Searched {
        self.states_max = states_max;
        for state in self.machine.initial() {
            self.add(None, String::new(), Way::at(state));
        }
        while let Some(at) = self.queue.pop_front() {
            if self.is_over() {
                self.result.cut = true;
                break;
            }
            self.expand(at);
        }
        self.result.states = self.nodes.len() as u64;
        self.result
    }

    fn is_over(&self) -> bool {
        (self.stop)()
            || self.result.reactions >= REACTIONS_MAX
            || self.steps >= STEPS_MAX
            || self.result.findings.len() >= FINDINGS_MAX
    }

    fn add(&mut self, before: Option<usize>, event: String, way: Way) {
        let key = self.machine.fingerprint(&way.state);
        if self.known.contains_key(&key) {
            return;
        }
        if self.nodes.len() >= self.states_max {
            self.result.cut = true;
            return;
        }
        self.known.insert(key, self.nodes.len());
        self.queue.push_back(self.nodes.len());
        let waiting = self.waiting(&way.state);
        self.nodes.push(Node { state: way.state.clone(), before, event, way, waiting });
    }

    fn expand(&mut self, at: usize) {
        let before = self.nodes[at].state.clone();
        let Some(all_events) = events(&self.machine, &before) else {
            self.result.cut = true;
            return;
        };
        let mut reversed: Option<Vec<(String, Vec<Transition>)>> = None;
        for (event, first) in all_events {
            if self.is_over() {
                self.result.cut = true;
                return;
            }
            let reaction = react(&self.machine, first, self.stop);
            self.result.cut |= reaction.cut;
            self.result.reactions += 1;
            self.steps += reaction.steps;
            let several = reaction.ways.iter().any(|way| self.writers(&way.writes) > 1);
            if several && let Some(other) = &self.reversed {
                let all = reversed.get_or_insert_with(|| {
                    let mut bytes = Vec::new();
                    self.machine.encode(&before, &mut bytes);
                    let same = other.decode(&bytes);
                    same.and_then(|state| events(other, &state)).unwrap_or_default()
                });
                if let Some((_, first)) = all.iter().find(|(name, _)| *name == event) {
                    let others = react(other, first.clone(), self.stop);
                    self.result.cut |= others.cut;
                    self.compare_orders(at, &event, &reaction.ways, &others.ways);
                }
            }
            for way in reaction.ways {
                self.examine(at, &event, &way);
                if !way.endless {
                    self.add(Some(at), event.clone(), way);
                }
            }
        }
    }

    pub(super) fn writers(&self, writes: &[Write]) -> usize {
        let mut by: Vec<u32> =
            writes.iter().filter(|w| self.is_state(w)).filter_map(|w| w.by).collect();
        by.sort_unstable();
        by.dedup();
        by.len()
    }

    pub(super) fn is_state(&self, write: &Write) -> bool {
        self.table.get(&write.attribute).is_some()
    }

    /// The automations with a run that waits in a quiet state.
    pub(super) fn waiting(&self, state: &State) -> Vec<String> {
        if self.names.iter().all(String::is_empty) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (global, value) in self.machine.show(state) {
            if let Some(name) = global.strip_prefix("run of ")
                && value != "0"
            {
                found.push(name.to_owned());
            }
        }
        found
    }

    pub(super) fn entity_of(&self, by: u32) -> Option<&str> {
        self.names.get(by as usize).map(String::as_str).filter(|name| !name.is_empty())
    }

    pub(super) fn writer(&self, write: &Write) -> Writer {
        let names = self.machine.components();
        let name = write.by.and_then(|by| names.get(by as usize).cloned()).unwrap_or_default();
        Writer { name, place: place_of(write), value: plain(&write.value) }
    }

    /// Adds a finding whose run ends with a way of an event in a state.
    pub(super) fn found(
        &mut self,
        kind: FindingKind,
        at: usize,
        event: &str,
        way: &Way,
        about: About,
    ) {
        let names = self.machine.components();
        let mut steps: Vec<Step> = about
            .aftermath
            .iter()
            .rev()
            .map(|(event, way)| self.step(&names, event, way))
            .collect();
        steps.push(self.step(&names, event, way));
        let mut node = at;
        let mut assumed = about.assumed || way.is_guessed();
        while let Some(before) = self.nodes[node].before {
            let this = &self.nodes[node];
            steps.push(self.step(&names, &this.event, &this.way));
            assumed |= this.way.is_guessed();
            node = before;
        }
        steps.reverse();
        let start = self.machine.show(&self.nodes[node].state);
        let start = start.into_iter().filter(|(name, _)| self.table.get(name).is_some());
        let free = |name: &str| {
            let given = format!("{GIVEN}{name}");
            self.machine.program().globals.iter().any(|global| global.name == given)
        };
        let start = start.filter(|(name, _)| !free(name));
        let start = start.map(|(name, value)| (name, plain(&value))).collect();
        let ends = about.ends.iter().map(|end| plain(end)).collect();
        let (entity, writers) = (about.entity, about.writers);
        let also = Vec::new();
        let finding = Finding { kind, entity, also, writers, start, steps, ends, assumed };
        if self.result.findings.iter().all(|known| known.key() != finding.key()) {
            self.result.findings.push(finding);
        }
    }

    fn step(&self, names: &[String], event: &str, way: &Way) -> Step {
        let states = way.writes.iter().filter(|write| self.is_state(write) && write.by.is_some());
        let changes = states.map(|write| {
            let who = write.by.and_then(|by| names.get(by as usize).cloned());
            (who, place_of(write), write.attribute.clone(), plain(&write.value))
        });
        let given = |prefix: &str| -> BTreeMap<String, String> {
            let all = way.given.iter();
            all.filter_map(|(key, value)| {
                Some((key.strip_prefix(prefix)?.to_owned(), plain(value)))
            })
            .collect()
        };
        let changes = changes.collect();
        let (given, guessed) = (given(GIVEN), given(UNKNOWN));
        Step { event: event.to_owned(), changes, given, guessed }
    }
}

/// The events of a state with their first steps, or `None` if the job was stopped.
pub(super) fn events(machine: &Machine, state: &State) -> Option<Vec<(String, Vec<Transition>)>> {
    let all = machine.transitions(state, ALTERNATIVES_MAX)?;
    let mut found: Vec<(String, Vec<Transition>)> = Vec::new();
    let mut part = None;
    for transition in all {
        let this = machine.part(&transition.successor.action);
        if part == this
            && let Some((_, list)) = found.last_mut()
        {
            list.push(transition);
            continue;
        }
        part = this;
        let event = machine.describe(state, &transition.successor.action);
        let event = event.split(", alternative ").next().unwrap_or(&event).to_owned();
        found.push((event, vec![transition]));
    }
    Some(found)
}

pub(super) fn place_of(write: &Write) -> Place {
    write.site.map_or_else(Place::default, |site| Place {
        file: site.file,
        line: site.line,
        column: site.column,
    })
}

/// A value without the quotes of a text.
pub(super) fn plain(value: &str) -> String {
    value.trim_matches('"').to_owned()
}
