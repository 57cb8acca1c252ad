//! The search itself: its state between rounds, and the loop over rounds.

use crate::commit::exclusive;
use crate::error::SearchError;
use crate::frontier::{Entry, Frontier};
use crate::graph::Graph;
use crate::links::{Links, NO_PARENT};
use crate::options::{Order, SearchOptions, Stop, Storage};
use crate::outcome::{Limit, Outcome, Property, Stats};
use crate::parallel::Pool;
use crate::store::{Key, NUMBERS_MAX, Store, Visit};
use crate::updates::UpdateLists;
use anyorder_common::numbers::plural;
use anyorder_system::{Actors, Classes, Control, Properties, StateSystem};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::thread;

/// Fairness classes are stored in 16 bits.
const CLASSES_MAX: usize = u16::MAX as usize;

/// The progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gauge {
    /// The states found.
    pub states: u64,
    /// The transitions taken.
    pub transitions: u64,
    /// The waiting states.
    pub frontier: u64,
    /// The depth of the states being expanded.
    pub depth: u32,
    /// The known memory in bytes.
    pub bytes: u64,
}

/// Why a search pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// Between two rounds.
    Round,
    /// A limit or a stop has ended it. The outcome is built next.
    Cut,
}

/// The place of a violation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Fault {
    /// The number of steps of its path.
    pub(crate) length: u32,
    /// The violating state; for a failure, the state before it.
    pub(crate) state: u32,
    /// The position of the failing successor.
    pub(crate) place: Option<u32>,
}

/// A search that can be stopped, saved and resumed.
///
/// ```
/// # use anyorder_search::example::Counter;
/// use anyorder_search::{SearchOptions, Search};
/// use anyorder_system::{Cancel, Control, StopReason};
/// let system = Counter { limit: 100 };
/// let mut search = Search::new(&system, &SearchOptions::default())?;
///
/// let control = Control::default();
/// control.cancel.stop(StopReason::Interrupted);
/// assert!(!search.run(&control)?.complete);
///
/// let outcome = search.run(&Control::default())?;
/// assert!(outcome.complete && outcome.stats.states == 101);
/// # Ok::<(), anyorder_search::SearchError>(())
/// ```
pub struct Search<'s, S: StateSystem> {
    pub(crate) system: &'s S,
    pub(crate) options: SearchOptions,
    pub(crate) store: Arc<Store>,
    pub(crate) links: Links,
    pub(crate) frontier: Frontier<S::State>,
    pub(crate) graph: Option<Graph>,
    pub(crate) faults: BTreeMap<Property, Fault>,
    pub(crate) parts_ran: Vec<bool>,
    /// Whether an end that is no deadlock was met. Not known of the part before a resumption.
    pub(crate) ended: bool,
    pub(crate) stats: Stats,
    /// The depth of the level being expanded, if there is one.
    pub(crate) level: Option<u32>,
    /// Whether the table has entries of states that were not counted.
    pub(crate) stale: bool,
    pub(crate) info: Arc<SystemInfo<'s, S>>,
    pub(crate) responses: usize,
    pub(crate) update_lists: UpdateLists,
    /// The reported violations, and the number of known ones at that time.
    reported_count: usize,
    reported: BTreeSet<Property>,
}

impl<'s, S: StateSystem> Search<'s, S> {
    /// Prepares a search. It reads only the initial states.
    ///
    /// # Errors
    ///
    /// Fails if the system has no initial state, or if the options contradict each other.
    pub fn new(system: &'s S, options: &SearchOptions) -> Result<Search<'s, S>, SearchError> {
        let mut search = Search::empty(system, options)?;
        search.add_initial()?;
        Ok(search)
    }

    /// Prepares a search without any known state.
    pub(crate) fn empty(
        system: &'s S,
        options: &SearchOptions,
    ) -> Result<Search<'s, S>, SearchError> {
        let mut options = options.clone();
        if options.depth_max.is_some() {
            options.order = Order::Breadth;
        }
        let info = SystemInfo::of(system);
        let responses = if options.responses { info.properties.responses.len() } else { 0 };
        options.updates &= !system.components().is_empty();
        options.livelocks &= options.deadlocks && info.actors.is_some();
        let graph = responses > 0 || options.keep_graph || options.updates || options.livelocks;
        let classes = info.fairness.len();
        if graph && matches!(options.storage, Storage::Bitstate { .. }) {
            return Err(SearchError::NeedsStates("response properties and graphs"));
        }
        if options.symmetry && options.updates {
            return Err(SearchError::NoUpdates("under symmetry"));
        }
        if options.symmetry && responses > 0 {
            return Err(SearchError::ResponsesUnderSymmetry);
        }
        if classes > CLASSES_MAX {
            let what = "fairness classes";
            return Err(SearchError::TooMany { what, count: classes, max: CLASSES_MAX });
        }
        Ok(Search {
            system,
            store: Arc::new(Store::new(options.storage)?),
            links: Links::default(),
            frontier: Frontier::new(),
            graph: graph.then(|| Graph::new(responses, classes > 0, options.updates)),
            faults: BTreeMap::new(),
            parts_ran: vec![false; info.parts.len()],
            ended: false,
            stats: Stats::default(),
            level: None,
            stale: false,
            info: Arc::new(info),
            responses,
            update_lists: UpdateLists::default(),
            reported_count: 0,
            reported: BTreeSet::new(),
            options,
        })
    }

    fn add_initial(&mut self) -> Result<(), SearchError> {
        let initials = self.system.initial();
        if initials.is_empty() {
            return Err(SearchError::NoInitialState);
        }
        let mut entries = Vec::new();
        for (mut state, place) in initials.into_iter().zip(0..) {
            if self.options.symmetry
                && let Some(representative) = self.system.representative(&state)
            {
                state = representative;
            }
            let number = self.links.len() as u32;
            if !self.add_known(&state, number) {
                continue;
            }
            self.links.push(NO_PARENT, place);
            let info = Arc::clone(&self.info);
            for index in info.properties.broken(&state) {
                let fault = Fault { length: 0, state: number, place: None };
                self.fault(Property::Invariant(index), fault);
            }
            if let Some(graph) = &mut self.graph {
                let responses = info.properties.responses.iter().take(self.responses);
                let flags: Vec<u8> = responses.map(|one| flags(one.holds(&state))).collect();
                graph.add_states(1, &flags);
                graph.set_initial(number + 1);
            }
            entries.push(Entry { number, depth: 0, state });
        }
        self.stats.states = entries.len() as u64;
        self.frontier.push(entries);
        Ok(())
    }

    /// Adds an initial state to the known states. Returns whether it is new.
    fn add_known(&mut self, state: &S::State, number: u32) -> bool {
        let hash = self.system.fingerprint(state);
        let (states, mut encoding) = (self.links.len(), Vec::new());
        if let Some(table) = exclusive(&mut self.store).table_mut()
            && states + 2 > table.room()
        {
            table.grow(states + 2);
        }
        match exclusive(&mut self.store) {
            Store::Fingerprints(table) => table.insert(Key::from(hash), number),
            Store::Exact(exact) => {
                self.system.encode(state, &mut encoding);
                match exact.table.visit(Key::from(hash), 0) {
                    Visit::New(slot) => exact.table.set_number(slot, number),
                    Visit::Known(holder) if exact.find(holder, &encoding).is_some() => {
                        return false;
                    }
                    _ => exact.set_aside(&encoding, number),
                }
                exact.arena.push(&encoding);
                true
            }
            Store::Bitstate(bits) => {
                let new = bits.insert(hash, 0);
                bits.settle(1);
                new
            }
        }
    }

    /// Searches until the end, a limit or a stop. After a stop, a further call resumes the search.
    ///
    /// # Errors
    ///
    /// Fails if the program's representatives or encodings are wrong.
    pub fn run(&mut self, control: &Control<'_>) -> Result<Outcome<S>, SearchError> {
        self.run_paused(control, &mut |_, _| Ok(()))
    }

    /// Like [`run`](Self::run), and calls `pause` between rounds and after a cut: to be watched, or
    /// to be [saved](Self::save). A round expands at most about 32,768 states.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run) and of `pause`.
    pub fn run_paused(
        &mut self,
        control: &Control<'_>,
        pause: &mut dyn FnMut(&Self, Pause) -> Result<(), SearchError>,
    ) -> Result<Outcome<S>, SearchError> {
        self.run_raising(control, pause, &mut |_| None)
    }

    /// Like [`run_paused`](Self::run_paused), and calls `raise` with the limit on states when that
    /// has cut the search. With a higher one from it, the search goes on at once. In breadth-first
    /// order, the outcome is that of a search without the lower limits.
    ///
    /// # Errors
    ///
    /// The errors of [`run_paused`](Self::run_paused).
    pub fn run_raising(
        &mut self,
        control: &Control<'_>,
        pause: &mut dyn FnMut(&Self, Pause) -> Result<(), SearchError>,
        raise: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<Outcome<S>, SearchError> {
        let limits = loop {
            let limits = self.rounds(control, pause)?;
            let cut_at = self.options.states_max.filter(|_| limits == [Limit::States]);
            match cut_at.and_then(&mut *raise) {
                Some(higher) => self.options.states_max = Some(higher),
                None => break limits,
            }
        };
        if !limits.is_empty() {
            pause(self, Pause::Cut)?;
        }
        self.conclude(limits, control)
    }

    /// Searches until the end, a limit or a stop, and returns the limits that were met.
    fn rounds(
        &mut self,
        control: &Control<'_>,
        pause: &mut dyn FnMut(&Self, Pause) -> Result<(), SearchError>,
    ) -> Result<Vec<Limit>, SearchError> {
        control.progress.phase("states");
        if std::mem::take(&mut self.stale)
            && let Some(table) = exclusive(&mut self.store).table_mut()
        {
            table.forget_provisional();
        }
        thread::scope(|scope| {
            let pool = Pool::new(scope, self.options.threads.get());
            if pool.threads() < self.options.threads.get() {
                control.progress.note(&fewer_threads(pool.threads(), self.options.threads.get()));
            }
            loop {
                if let Some(limits) = self.end(control) {
                    break Ok(limits);
                }
                if let Some(limit) = self.round(&pool, control) {
                    break Ok(vec![limit]);
                }
                control.progress.report(self.stats.states, None);
                self.report_found(control);
                if let Err(error) = pause(self, Pause::Round) {
                    break Err(error);
                }
            }
        })
    }

    /// Reports each finding once, while the search runs: a search may take very long.
    fn report_found(&mut self, control: &Control<'_>) {
        if self.reported_count == self.faults.len() || self.options.stop == Stop::FirstViolation {
            return;
        }
        self.reported_count = self.faults.len();
        for (property, fault) in &self.faults {
            if self.reported.insert(property.to_report()) {
                control.progress.note(&found_words(self.system, property, fault.length));
            }
        }
    }

    /// Returns the limits that end the search here. `None`: it continues. An empty list: nothing
    /// was cut.
    fn end(&mut self, control: &Control<'_>) -> Option<Vec<Limit>> {
        let order = self.options.order;
        let found = self.options.stop == Stop::FirstViolation && !self.faults.is_empty();
        let Some(depth) = self.frontier.depth(order) else { return Some(Vec::new()) };
        let new_level = order == Order::Depth || self.level != Some(depth);
        if new_level {
            if found {
                return Some(Vec::new());
            }
            self.stats.frontier_peak = self.stats.frontier_peak.max(self.frontier.len() as u64);
        }
        if self.options.depth_max.is_some_and(|most| depth >= most) {
            return Some(vec![Limit::Depth]);
        }
        self.level = Some(depth);
        if let Err(stopped) = control.check() {
            return Some(vec![Limit::from(stopped.0)]);
        }
        control.limits.memory_exceeded(self.bytes(), 0).then(|| vec![Limit::Memory])
    }

    /// Returns the known memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept_bytes() + self.frontier.bytes()
    }

    /// Returns the memory of the permanent data, in bytes.
    fn kept_bytes(&self) -> u64 {
        let graph = self.graph.as_ref().map_or(0, Graph::bytes);
        self.store.bytes() + self.links.bytes() + graph
    }

    /// Like [`kept_bytes`](Self::kept_bytes), but independent of when the table grew.
    pub(crate) fn bytes_needed(&self) -> u64 {
        self.kept_bytes() - self.store.bytes() + self.store.bytes_needed(self.stats.states)
    }

    /// Returns the progress of the search. Constant time.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        Gauge {
            states: self.stats.states,
            transitions: self.stats.transitions,
            frontier: self.frontier.len() as u64,
            depth: self.level.unwrap_or(0),
            bytes: self.bytes(),
        }
    }

    /// Records a violation, unless one of the same property with a path of at most this length is
    /// known.
    pub(crate) fn fault(&mut self, key: Property, fault: Fault) {
        let known = self.faults.entry(key).or_insert(fault);
        *known = (*known).min(fault);
    }

    /// Returns how many response properties are evaluated in each state: those that the graph is
    /// for.
    pub(crate) fn flagged(&self) -> usize {
        if self.graph.is_some() { self.responses } else { 0 }
    }

    /// Returns the number of states at which the search ends.
    pub(crate) fn states_max(&self) -> u64 {
        self.options.states_max.unwrap_or(u64::MAX).min(NUMBERS_MAX)
    }

    /// Returns the graph of the known states, if it was kept.
    #[must_use]
    pub fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }
}

/// The properties and classes of a system, which a search asks for once.
pub struct SystemInfo<'s, S: StateSystem> {
    /// Its properties.
    pub properties: Properties<'s, S::State>,
    /// Its fairness classes.
    pub fairness: Classes<'s, S::Action>,
    /// Its parts.
    pub parts: Classes<'s, S::Action>,
    /// What takes its transitions, if livelocks are faults.
    pub actors: Option<Actors<'s, S::State, S::Action>>,
}

impl<'s, S: StateSystem> SystemInfo<'s, S> {
    /// Asks a system.
    #[must_use]
    pub fn of(system: &'s S) -> SystemInfo<'s, S> {
        let (properties, fairness) = (system.properties(), system.fairness());
        SystemInfo { properties, fairness, parts: system.parts(), actors: system.actors() }
    }

    /// Records that the part of an action ran.
    #[inline]
    pub fn note_part(&self, action: &S::Action, parts_ran: &mut [bool]) {
        if let Some(ran) = self.parts.of(action).and_then(|part| parts_ran.get_mut(part)) {
            *ran = true;
        }
    }
}

impl<S: StateSystem> fmt::Debug for SystemInfo<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemInfo").field("properties", &self.properties).finish_non_exhaustive()
    }
}

/// A byte for a response property in a state: bit 0 for the trigger, bit 1 for the response.
pub(crate) fn flags((trigger, response): (bool, bool)) -> u8 {
    u8::from(trigger) | (u8::from(response) << 1)
}

/// Returns the text for a system that has started fewer threads than asked for.
#[must_use]
pub fn fewer_threads(started: usize, wanted: usize) -> String {
    format!("only {started} of {wanted} threads could be started")
}

/// Returns the text that reports a finding during a search.
pub fn found_words<S: StateSystem>(system: &S, property: &Property, steps: u32) -> String {
    let what = match property {
        Property::Deadlock(_) => "a deadlock".to_owned(),
        Property::Final => "a wrong end".to_owned(),
        Property::Livelock(_) => "a livelock".to_owned(),
        Property::Invariant(_) => format!("invariant `{}` does not hold", property.name(system)),
        _ => property.name(system),
    };
    format!("found so far: {what}, after {}; the search goes on", plural(steps.into(), "step"))
}

/// Searches a system in one call.
///
/// # Errors
///
/// The same errors as [`Search::new`] and [`Search::run`].
pub fn search<S: StateSystem>(
    system: &S,
    options: &SearchOptions,
    control: &Control<'_>,
) -> Result<Outcome<S>, SearchError> {
    Search::new(system, options)?.run(control)
}
