//! Expands states: closes the set S of a state and attempts its ready members, based on the facts
//! known when the block began.
//!
//! Many threads do this at a time, and change no shared data. `commit` merges their results.

use super::commuting::{EXECUTED, NO_SOURCE, Source};
use super::engine::Mode;
use super::found::{Attempt, Found, Item, NEW, SOURCE_BLOCKED, Unit};
use super::knowledge::Knowledge;
use super::options::StatefulOptions;
use super::sabotage::Sabotage;
use super::seeds::Seeds;
use super::space::{BLOCKED, FAILED, FULL, NO_PARENT, Space, WAITING};
use anyorder_common::bits;
use anyorder_search::{Key, Property, SystemInfo};
use anyorder_system::{
    Control, Effects, Hash128, JobWatch, Offers, Place, Reducible, Successor, TaskKey, TouchKind,
    Touched, Updates,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The data that the threads of a block share; it does not change during the block.
pub(crate) struct Shared<'a, S: Reducible> {
    pub(crate) system: &'a S,
    pub(crate) know: &'a Knowledge,
    pub(crate) space: &'a Space<S::State>,
    pub(crate) options: &'a StatefulOptions,
    pub(crate) control: &'a Control<'a>,
    pub(crate) items: &'a [Item<S::State>],
    /// Whether to infer edges.
    pub(crate) infer: bool,
    pub(crate) mode: Mode,
    pub(crate) info: &'a SystemInfo<'a, S>,
    /// The next chunk to take.
    pub(crate) next: AtomicUsize,
}

impl<S: Reducible> Shared<'_, S> {
    pub(super) fn is_stopped(&self) -> bool {
        self.control.check().is_err()
    }
}

/// The number of states that a thread takes at a time.
pub(crate) const CHUNK: usize = 32;

/// One thread: its results, and what it reuses from block to block.
pub(crate) struct Worker<S: Reducible> {
    pub(crate) found: Found<S::State>,
    seeds: Seeds,
    pub(super) effects: Effects<S::State, S::Action>,
    keys: Vec<TaskKey>,
    places: Vec<Place>,
    watch: Vec<Touched>,
    pub(super) ready: Vec<u64>,
    pub(super) inside: Vec<u64>,
    attempted: Vec<u64>,
    handled: Vec<u64>,
    /// By task.
    pub(super) sources: Vec<Source>,
    /// Successors of the current state, with their positions among all targets.
    looked_up: Vec<(Hash128, S::State, u32)>,
    /// All transitions of the current state, and the task of each.
    pub(super) transitions: Vec<Successor<S::State, S::Action>>,
    pub(super) updates: Updates,
    pub(super) owners: Vec<u32>,
    /// Some attempt in the current state leads to a state, and is not optional.
    pub(super) progress: bool,
    /// What the attempts in the current state offer.
    pub(super) offers: Offers,
    /// The start of this state's lists of watched places.
    watched_start: usize,
    watched_touches: usize,
}

impl<S: Reducible> Default for Worker<S> {
    fn default() -> Self {
        Worker {
            found: Found::default(),
            seeds: Seeds::default(),
            effects: Effects::default(),
            keys: Vec::new(),
            places: Vec::new(),
            watch: Vec::new(),
            ready: Vec::new(),
            inside: Vec::new(),
            attempted: Vec::new(),
            handled: Vec::new(),
            sources: Vec::new(),
            looked_up: Vec::new(),
            transitions: Vec::new(),
            updates: Updates::default(),
            owners: Vec::new(),
            progress: false,
            offers: Offers::Nothing,
            watched_start: 0,
            watched_touches: 0,
        }
    }
}

impl<S: Reducible> Worker<S> {
    /// Expands chunks of states, in order, until none is left or the job was stopped.
    pub(crate) fn work(&mut self, shared: &Shared<'_, S>) {
        for set in [&mut self.ready, &mut self.inside, &mut self.attempted, &mut self.handled] {
            set.resize(shared.know.width, 0);
        }
        let _entered = JobWatch::of(shared.control).enter();
        self.found.clear();
        self.found.parts.resize(shared.info.parts.len(), false);
        self.sources.resize(shared.know.tasks.len(), NO_SOURCE);
        loop {
            let chunk = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(items) = shared.items.chunks(CHUNK).nth(chunk) else { break };
            let before = self.found.units.len();
            for item in items {
                if shared.is_stopped() {
                    break;
                }
                self.expand(shared, item);
            }
            let done = self.found.units.len() - before;
            self.found.chunks.push((chunk, done));
        }
    }

    fn expand(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) {
        if !self.ask_ready(shared, item) {
            return;
        }
        let node = shared.space.nodes[item.number as usize];
        let fresh = node.inside == WAITING;
        if fresh && shared.mode != Mode::Reduce {
            self.follow_all(shared, item);
            return;
        }
        self.attempted.fill(0);
        self.handled.fill(0);
        self.inside.fill(0);
        self.begin_offers();
        let last = (node.link.parent != NO_PARENT).then_some(node.link.task);
        if fresh {
            self.check_and_watch(shared, item);
        } else {
            self.resume(shared, item.number);
        }
        self.find_commuting_steps(shared, item.number);
        for (inside, extra) in self.inside.iter_mut().zip(&item.extra) {
            *inside |= extra;
        }
        let number = if fresh { shared.know.sets.find(&self.ready) } else { Some(node.ready) };
        loop {
            self.close(shared, item, fresh);
            let enough = self.progress
                || shared.is_stopped()
                || (shared.options.sabotage() == Sabotage::NoProgress
                    && self.attempted.iter().any(|word| *word != 0));
            if enough {
                break;
            }
            let ready = (self.ready.as_slice(), number);
            let seed = self.seeds.choose(shared.know, ready, &self.attempted, last);
            match seed {
                None => break,
                Some((_, true)) => {
                    bits::join(&mut self.inside, &self.ready);
                }
                Some((seed, false)) => {
                    bits::set(&mut self.inside, seed);
                }
            }
        }
        let full = bits::within(&self.ready, &self.attempted);
        self.finish(shared, item, full, number);
    }

    /// Forgets what attempts in another state offer.
    pub(super) fn begin_offers(&mut self) {
        (self.progress, self.offers) = (false, Offers::Nothing);
    }

    /// Notes a transition from the current state.
    pub(super) fn note_transition(&mut self, shared: &Shared<'_, S>, optional: bool, leads: bool) {
        if !optional {
            self.offers = Offers::More;
        } else if self.offers == Offers::Nothing {
            self.offers = Offers::Optional;
        }
        // A set whose ready members are all optional must not keep the search from an end.
        let counts = !optional || shared.options.sabotage() == Sabotage::OptionalLeads;
        self.progress |= leads && counts;
    }

    /// Notes a transition that the task of an inferred attempt has.
    pub(super) fn note_known(&mut self, shared: &Shared<'_, S>, task: u32, leads: bool) {
        self.note_transition(shared, shared.know.optional[task as usize], leads);
    }

    /// Records the results of a state.
    pub(super) fn finish(
        &mut self,
        shared: &Shared<'_, S>,
        item: &Item<S::State>,
        full: bool,
        number: Option<u32>,
    ) {
        self.resolve(shared);
        let end = full && self.offers.is_end();
        let dead = (end && shared.options.deadlocks)
            .then(|| Property::at_end(&shared.info.properties, &item.state, self.offers))
            .flatten();
        if shared.is_stopped() {
            // The system may have returned too little. Without a unit, the state stays waiting.
            return;
        }
        self.found.sets.extend_from_slice(&self.ready);
        self.found.sets.extend_from_slice(&self.inside);
        self.found.units.push(Unit {
            deferred: false,
            full,
            dead,
            end,
            ready: number.unwrap_or(NEW),
            attempts: self.found.attempts.len(),
            unknown: self.found.unknown.len(),
        });
    }

    /// Asks which tasks are ready. If one of them is new, the state waits.
    fn ask_ready(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) -> bool {
        self.keys.clear();
        shared.system.ready(&item.state, &mut self.keys);
        self.ready.fill(0);
        let before = self.found.unknown.len();
        for key in &self.keys {
            match shared.know.tasks.find(key.0) {
                Some(task) => {
                    bits::set(&mut self.ready, task);
                }
                None => self.found.unknown.push(*key),
            }
        }
        if shared.mode != Mode::Bare && shared.options.sabotage() != Sabotage::NoForeknowledge {
            self.keys.clear();
            shared.system.pending(&item.state, &mut self.keys);
            let unknown = self.keys.iter().filter(|key| shared.know.tasks.find(key.0).is_none());
            self.found.unknown.extend(unknown);
        }
        if self.found.unknown.len() == before {
            return true;
        }
        self.found.units.push(Unit {
            deferred: true,
            attempts: self.found.attempts.len(),
            unknown: self.found.unknown.len(),
            ..Unit::default()
        });
        false
    }

    /// Checks the invariants of a new state, and records the places that they read.
    pub(super) fn check_and_watch(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) {
        self.watched_start = self.found.watched.len();
        self.watched_touches = self.found.touched.len();
        self.check_invariants(shared, item);
        for (observer, invariant) in (0..).zip(&shared.info.properties.invariants) {
            self.places.clear();
            invariant.watches(&item.state, &mut self.places);
            self.watch.clear();
            let read = |place: &Place| Touched { place: *place, kind: TouchKind::Read };
            self.watch.extend(self.places.iter().map(read));
            let footprint = shared.know.footprints.find(observer, &self.watch).unwrap_or(NEW);
            if footprint == NEW {
                self.found.touched.extend_from_slice(&self.watch);
            }
            self.found.watched.push((footprint, self.found.touched.len()));
        }
    }

    /// Resumes at the end of the last visit.
    fn resume(&mut self, shared: &Shared<'_, S>, number: u32) {
        let inside = shared.space.nodes[number as usize].inside;
        if inside != FULL {
            self.inside.copy_from_slice(shared.know.sets.rows.row(inside));
        }
        for edge in shared.space.edges(number) {
            bits::set(&mut self.attempted, edge.task);
            if edge.target != BLOCKED {
                self.note_known(shared, edge.task, edge.target < FAILED);
            }
            bits::join(&mut self.inside, shared.know.conflicts.row(edge.footprint));
        }
    }

    /// Closes S and attempts its ready members, until S is closed and all of them are attempted.
    fn close(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>, fresh: bool) {
        while !shared.is_stopped() {
            let next = self.inside.iter().zip(&self.ready).zip(&self.attempted).zip(0u32..);
            let next = next
                .map(|(((inside, ready), attempted), index)| (inside & ready & !attempted, index))
                .find(|(open, _)| *open != 0);
            if let Some((open, index)) = next {
                self.attempt(shared, item, index * 64 + open.trailing_zeros());
                continue;
            }
            if bits::within(&self.ready, &self.attempted)
                || !self.handle_others(shared, item, fresh)
            {
                return;
            }
        }
    }

    /// Adds the tasks that members of S require if they are not ready, and observers. Returns
    /// whether any member was not handled before.
    fn handle_others(
        &mut self,
        shared: &Shared<'_, S>,
        item: &Item<S::State>,
        fresh: bool,
    ) -> bool {
        let mut any = false;
        for index in 0..self.inside.len() {
            let mut open = self.inside[index] & !self.ready[index] & !self.handled[index];
            any |= open != 0;
            self.handled[index] |= open;
            while open != 0 {
                let task = index as u32 * 64 + open.trailing_zeros();
                open &= open - 1;
                if task < shared.know.observers {
                    self.join_watched(shared, item, task, fresh);
                } else if shared.options.sabotage() != Sabotage::NoEnablers {
                    bits::join(&mut self.inside, shared.know.enablers.row(task));
                }
            }
        }
        any
    }

    fn join_watched(
        &mut self,
        shared: &Shared<'_, S>,
        item: &Item<S::State>,
        observer: u32,
        fresh: bool,
    ) {
        if shared.options.sabotage() == Sabotage::NoObservers {
            return;
        }
        let at = observer as usize;
        let (footprint, end) = if fresh {
            self.found.watched[self.watched_start + at]
        } else {
            let observers = shared.know.observers as usize;
            (shared.space.watched[item.number as usize * observers + at], 0)
        };
        if footprint != NEW {
            bits::join(&mut self.inside, shared.know.conflicts.row(footprint));
            return;
        }
        let before =
            at.checked_sub(1).map(|before| self.found.watched[self.watched_start + before].1);
        let list = &self.found.touched[before.unwrap_or(self.watched_touches)..end];
        shared.know.join_conflicts(observer, list, &mut self.inside);
    }

    pub(super) fn attempt(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>, task: u32) {
        bits::set(&mut self.attempted, task);
        let source = self.sources[task as usize];
        if source.number == item.number {
            if source.state != SOURCE_BLOCKED {
                self.note_known(shared, task, true);
            }
            bits::join(&mut self.inside, shared.know.conflicts.row(source.footprint));
            self.push_attempt(task, source.footprint, (source, false));
            return;
        }
        self.run(shared, item, task);
        if shared.options.sabotage() == Sabotage::BlockedTouchNothing
            && self.effects.successors.is_empty()
        {
            self.effects.touched.clear();
        }
        let touched = &self.effects.touched;
        let known = shared.know.footprints.find(task, touched);
        match known {
            _ if shared.options.sabotage() == Sabotage::ActualFootprints => {
                self.join_actual(shared, item, task);
            }
            Some(footprint) => {
                bits::join(&mut self.inside, shared.know.conflicts.row(footprint));
            }
            None => shared.know.join_conflicts(task, touched, &mut self.inside),
        }
        if known.is_none() {
            self.found.touched.extend_from_slice(&self.effects.touched);
        }
        let optional = self.take_successors(shared);
        self.push_attempt(task, known.unwrap_or(NEW), (EXECUTED, optional));
    }

    pub(super) fn run(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>, task: u32) {
        self.effects.clear();
        shared.system.run(&item.state, shared.know.tasks.task(task), &mut self.effects);
        self.found.executions += 1;
    }

    /// Takes the successors of an attempt. Returns whether they are optional.
    pub(super) fn take_successors(&mut self, shared: &Shared<'_, S>) -> bool {
        let mut successors = std::mem::take(&mut self.effects.successors);
        let mut any_optional = false;
        for (at, successor) in successors.drain(..).enumerate() {
            let optional = shared.system.is_optional(&successor.action);
            any_optional |= optional;
            self.note_transition(shared, optional, successor.failure.is_none());
            if shared.know.reading.updates {
                let updates = self.effects.updates.of(at);
                updates.iter().for_each(|update| self.found.updates.push(*update));
                self.found.updates.end();
            }
            shared.info.note_part(&successor.action, &mut self.found.parts);
            if let Some(failure) = successor.failure {
                self.found.failures.push_back(failure);
                self.found.targets.push(FAILED);
                continue;
            }
            let hash = shared.system.fingerprint(&successor.state);
            self.looked_up.push((hash, successor.state, self.found.targets.len() as u32));
            self.found.targets.push(NEW);
        }
        self.effects.successors = successors;
        any_optional
    }

    /// Adds an attempt: its source, and for an executed one whether its transitions are optional.
    pub(super) fn push_attempt(
        &mut self,
        task: u32,
        footprint: u32,
        (source, optional): (Source, bool),
    ) {
        self.found.attempts.push(Attempt {
            task,
            footprint,
            touched: self.found.touched.len() as u32,
            targets: self.found.targets.len() as u32,
            source: source.state,
            source_updates: source.updates,
            optional,
        });
    }

    /// Looks up all targets of this state at once, so that memory requests overlap.
    fn resolve(&mut self, shared: &Shared<'_, S>) {
        let table = &shared.space.table;
        let touched =
            self.looked_up.iter().fold(0, |sum, (hash, ..)| sum ^ table.touch(Key::from(*hash)));
        std::hint::black_box(touched);
        for (hash, state, place) in self.looked_up.drain(..) {
            match table.find(Key::from(hash)) {
                Some(known) => self.found.targets[place as usize] = known,
                None => self.found.arrivals.push_back((hash, state)),
            }
        }
    }

    /// Sabotage: adds the tasks whose footprints in this state conflict with the current one.
    fn join_actual(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>, task: u32) {
        let writes = |one: &Touched| shared.know.reading.writes(one.kind) == Some(true);
        for other in bits::members(&self.ready) {
            let mut effects = Effects::default();
            shared.system.run(&item.state, shared.know.tasks.task(other), &mut effects);
            let conflict = effects.touched.iter().any(|one| {
                let mut mine = self.effects.touched.iter();
                mine.any(|mine| mine.place == one.place && (writes(mine) || writes(one)))
            });
            if conflict && other != task {
                bits::set(&mut self.inside, other);
            }
        }
    }
}
