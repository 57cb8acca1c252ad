//! What is wrong in a reaction: endless ones, fights, orders, and what a wait overwrites.

use super::finding::{FindingKind, Writer};
use super::reaction::Way;
use super::search::{About, Search};
use crate::lower::{BEGAN, OVERLAPS, RESTARTED};
use anyorder_system::StateSystem;
use anyorder_vm::Write;
use std::collections::BTreeMap;

/// The most pairs of ways of two orders that are compared for one event.
const COMPARED_MAX: usize = 4_000;

/// The most timers that end in one aftermath.
const DEPTH_MAX: usize = 10;

/// The most aftermaths of one event.
const RUNS_MAX: usize = 8;

impl Search<'_> {
    /// Looks for what is wrong in one reaction.
    pub(super) fn examine(&mut self, at: usize, event: &str, way: &Way) {
        if way.endless {
            return self.endless(at, event, way);
        }
        let mut last: BTreeMap<&str, &Write> = BTreeMap::new();
        let mut fights = Vec::new();
        for write in way.writes.iter().filter(|write| self.is_state(write)) {
            if let Some(before) = last.insert(&write.attribute, write)
                && let (Some(a), Some(b)) = (before.by, write.by)
                && a != b
                && before.value != write.value
                && self.are_apart(a, b, (at, way))
            {
                fights.push((before.clone(), write.clone()));
            }
        }
        for (a, b) in fights {
            self.pair(FindingKind::Fight, at, event, way, &a, &b);
        }
        if self.nodes[at].before.is_some() {
            self.overwritten(at, event, way);
        }
        self.modes(at, event, way);
    }

    /// Whether two parts run for different automations. What a script sets for the automation that
    /// calls it is a step of that one, also where another automation calls it at other times.
    fn are_apart(&self, a: u32, b: u32, (at, way): (usize, &Way)) -> bool {
        let of = |part: u32| self.roots.get(part as usize).map_or(&[][..], Vec::as_slice);
        let waits = |part: usize| self.nodes[at].waiting.contains(&self.entities[part]);
        let began = |part: usize| {
            way.notes.iter().any(|(word, of)| word == BEGAN && *of == self.entities[part])
        };
        let live = |part: &usize| began(*part) || waits(*part);
        let mut all: Vec<usize> = of(a).iter().chain(of(b)).copied().filter(live).collect();
        all.sort_unstable();
        all.dedup();
        // Runs that neither wait nor begin here are known only by what they call.
        all.len() != 1
    }

    fn pair(&mut self, kind: FindingKind, at: usize, event: &str, way: &Way, a: &Write, b: &Write) {
        let writers = vec![self.writer(a), self.writer(b)];
        let about = About { entity: a.attribute.clone(), writers, ..About::default() };
        self.found(kind, at, event, way, about);
    }

    fn endless(&mut self, at: usize, event: &str, way: &Way) {
        if way.is_guessed() {
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
        let about = About { entity, writers, ..About::default() };
        self.found(FindingKind::Loop, at, event, way, about);
    }

    /// A run that waited sets a state which another automation has set since the run began.
    fn overwritten(&mut self, at: usize, event: &str, way: &Way) {
        let mut found = Vec::new();
        for write in way.writes.iter().filter(|write| self.is_state(write)) {
            let Some(by) = write.by else { continue };
            let Some(entity) = self.entity_of(by) else { continue };
            let waits = |node: usize| self.nodes[node].waiting.iter().any(|name| name == entity);
            // A run that the event itself begins has waited for nothing.
            let began = |(word, of): &(String, String)| {
                of == entity && [RESTARTED, OVERLAPS].contains(&word.as_str())
            };
            if !waits(at) || way.notes.iter().any(began) {
                continue;
            }
            let mut node = at;
            // Back to where the run began: who set it last since then?
            while let Some(before) = self.nodes[node].before {
                if !waits(before) {
                    break;
                }
                if let Some(last) = self.nodes[node].way.last_wish(&write.attribute) {
                    if let Some(other) = last.by
                        && other != by
                        && last.value != write.value
                        && self.are_apart(other, by, (before, &self.nodes[node].way))
                    {
                        found.push((last.clone(), write.clone()));
                    }
                    break;
                }
                node = before;
            }
        }
        for (a, b) in found {
            if !self.is_restored(way, &a) {
                self.pair(FindingKind::Overwritten, at, event, way, &a, &b);
            }
        }
    }

    /// Whether the state gets the value of an update again before all timers have ended: then the
    /// run that waited only shows something, such as a light that flashes.
    fn is_restored(&self, way: &Way, wish: &Write) -> bool {
        let runs = self.aftermath(&way.state);
        let ends = |run: &Vec<(String, Way)>| {
            let mut all = run.iter().flat_map(|(_, way)| &way.writes);
            let last = all.rfind(|w| w.attribute == wish.attribute);
            run.len() < DEPTH_MAX && last.is_some_and(|last| last.value == wish.value)
        };
        !runs.is_empty() && runs.iter().all(ends)
    }

    /// Compares the ends of one event in both orders of the automations.
    pub(super) fn compare_orders(&mut self, at: usize, event: &str, ways: &[Way], others: &[Way]) {
        let last = |way: &Way, key: &str| {
            way.writes.iter().rfind(|w| w.attribute == *key && w.by.is_some()).cloned()
        };
        for key in self.slice.about.clone() {
            let pairs = ways.iter().flat_map(|way| others.iter().map(move |other| (way, other)));
            let mut pairs: Vec<(&Way, &Way)> = pairs
                .take(COMPARED_MAX)
                .filter(|(way, other)| !way.endless && !other.endless && way.agrees(other))
                .collect();
            // What rests on nothing unknown comes first.
            pairs.sort_by_key(|(way, other)| way.is_guessed() || other.is_guessed());
            let found = pairs.into_iter().find_map(|(way, other)| {
                let (mine, theirs) = (last(way, &key)?, last(other, &key)?);
                let apart =
                    mine.by.zip(theirs.by).is_some_and(|(a, b)| self.are_apart(a, b, (at, way)));
                let differ = mine.value != theirs.value && mine.by != theirs.by && apart;
                (differ && self.writers(&way.writes) > 1).then_some((way, other, mine, theirs))
            });
            let Some((way, other, mine, theirs)) = found else { continue };
            let writers = vec![self.writer(&theirs), self.writer(&mine)];
            let ends = vec![mine.value, theirs.value];
            let assumed = other.is_guessed();
            let about = About { entity: key, writers, ends, assumed, ..About::default() };
            let way = way.clone();
            self.found(FindingKind::Order, at, event, &way, about);
        }
    }

    /// Returns what follows from a state if nothing comes from outside, until no timer runs.
    pub(super) fn aftermath(&self, state: &anyorder_vm::State) -> Vec<Vec<(String, Way)>> {
        let mut done = Vec::new();
        let mut open = vec![(state.clone(), Vec::new())];
        while let Some((state, run)) = open.pop() {
            if done.len() >= RUNS_MAX || (self.stop)() {
                break;
            }
            let events = super::search::events(&self.machine, &state).unwrap_or_default();
            let timer = events.into_iter().find(|(event, _)| event == "time passes");
            let Some((event, first)) = timer.filter(|_| run.len() < DEPTH_MAX) else {
                done.push(run);
                continue;
            };
            let reaction = super::reaction::react(&self.machine, first, self.stop);
            for way in reaction.ways.into_iter().filter(|way| !way.endless).take(RUNS_MAX) {
                let mut next: Vec<(String, Way)> = run.clone();
                next.push((event.clone(), way.clone()));
                let same = self.machine.fingerprint(&way.state) == self.machine.fingerprint(&state);
                if same {
                    done.push(next);
                } else {
                    open.push((way.state, next));
                }
            }
        }
        done
    }
}
