//! Checks the contract of [`Reducible`] on random walks, for authors of front ends.
//!
//! In each state of a walk, the check runs all ready tasks, and all pairs of them in both orders.
//! It compares the unchanged parts before and after each step. A walk finds a broken clause only if
//! it shows the violation. Finding none is no proof.

use crate::failure::Failure;
use crate::properties::Properties;
use crate::reducible::{Effects, Place, Reducible, TaskKey, TouchKind};
use crate::update::Update;
use anyorder_common::hash::Hash128;
use anyorder_common::random::{Random, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A clause of the contract of [`Reducible`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Clause {
    /// The transitions of a state are those of all its ready tasks, and depend on its contents
    /// alone.
    Transitions = 0,
    /// 1: What a task does is a function of what it touches.
    Touches = 1,
    /// 2: Whether a task is ready depends only on what it awaits.
    Awaits = 2,
    /// 3: A step changes only what it reports as written; steps without a conflict can be swapped.
    Writes = 3,
    /// 4: Tasks that await several places are known.
    Known = 4,
    /// 5: An invariant depends only on what it watches.
    Watches = 5,
    /// 6: A step that updates an attribute writes to it.
    Updates = 6,
}

/// A broken clause, with the state and tasks that break it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{clause} of `Reducible` is broken: {what}, in the state {}", words(state))]
pub struct BrokenContract {
    /// The clause.
    pub clause: Clause,
    /// A description of the tasks and places that show it.
    pub what: String,
    /// The state, as the system shows it.
    pub state: Vec<(String, String)>,
}

fn words(state: &[(String, String)]) -> String {
    let values: Vec<String> =
        state.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    values.join(", ")
}

/// Options of the check. Equal seeds give equal walks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContractOptions {
    /// The seed.
    pub seed: u64,
    /// The number of walks.
    pub walks: u32,
    /// The most steps of a walk.
    pub steps_max: u32,
}

impl Default for ContractOptions {
    fn default() -> ContractOptions {
        ContractOptions { seed: 1, walks: 100, steps_max: 100 }
    }
}

/// How often each clause was tested, by its number: `checks[Clause::Writes as usize]`. A clause
/// with 0 was not checked.
pub type ContractChecks = [u64; 7];

/// Checks the contract of a system on random walks.
///
/// ```
/// use anyorder_system::*;
///
/// /// Two counters up to 3. The second one forgets to report its write.
/// struct Counters;
///
/// impl StateSystem for Counters {
///     type State = [u8; 2];
///     type Action = usize;
///
///     fn initial(&self) -> Vec<[u8; 2]> {
///         vec![[0, 0]]
///     }
///
///     fn successors(&self, state: &[u8; 2], out: &mut Vec<Successor<[u8; 2], usize>>) {
///         self.successors_of_tasks(state, out);
///     }
///
///     fn encode(&self, state: &[u8; 2], out: &mut Vec<u8>) {
///         out.extend(state);
///     }
///
///     fn decode(&self, bytes: &[u8]) -> Option<[u8; 2]> {
///         bytes.try_into().ok()
///     }
/// }
///
/// impl Reducible for Counters {
///     fn ready(&self, state: &[u8; 2], out: &mut Vec<TaskKey>) {
///         out.extend((0..2).filter(|task| state[*task] < 3).map(|task| TaskKey(task as u64)));
///     }
///
///     fn run(&self, state: &[u8; 2], task: TaskKey, out: &mut Effects<[u8; 2], usize>) {
///         let (action, mut state) = (task.0 as usize, *state);
///         state[action] += 1;
///         let kind = if action == 0 { TouchKind::Write } else { TouchKind::Read };
///         out.touched.push(Touched { place: Place(task.0), kind });
///         out.successors.push(Successor { action, state, failure: None });
///     }
///
///     fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
///         out.push(Place(task.0));
///     }
/// }
///
/// let broken = check_contract(&Counters, &ContractOptions::default()).unwrap_err();
/// assert_eq!(broken.clause, Clause::Awaits);
/// assert_eq!(
///     broken.to_string(),
///     "clause 2 of `Reducible` is broken: `task 1` changes whether `task 1` is ready and does not write what that \
///      awaits: place 1, in the state state = [0, 2]"
/// );
/// ```
///
/// # Errors
///
/// Fails with the first broken clause.
pub fn check_contract<S: Reducible>(
    system: &S,
    options: &ContractOptions,
) -> Result<ContractChecks, BrokenContract> {
    let mut check = Check {
        system,
        properties: system.properties(),
        updating: !system.components().is_empty(),
        known: listed(|out| system.tasks(out)),
        announcers: BTreeMap::new(),
        attributes: BTreeMap::new(),
        checks: [0; 7],
    };
    let mut random = SplitMix64(options.seed);
    for _ in 0..options.walks {
        let mut initial = system.initial();
        if initial.is_empty() {
            break;
        }
        let mut state = initial.swap_remove(random.index(initial.len()));
        for _ in 0..options.steps_max {
            let mut next = check.state(&state)?;
            if next.is_empty() {
                break;
            }
            state = next.swap_remove(random.index(next.len()));
        }
    }
    Ok(check.checks)
}

/// The result of running a task in a state.
struct Attempt<S: Reducible> {
    task: TaskKey,
    /// The states after the alternatives that do not fail.
    states: Vec<S::State>,
    /// The ends of the alternatives: the state, and the failure if one failed.
    ends: BTreeSet<(Option<Failure>, Hash128)>,
    touched: BTreeSet<(Place, TouchKind)>,
    awaited: BTreeSet<Place>,
    updated: Vec<Update>,
    /// The number of alternatives, and of lists of updates.
    counts: (usize, usize),
}

impl<S: Reducible> Attempt<S> {
    fn of(system: &S, state: &S::State, task: TaskKey) -> Attempt<S> {
        let mut effects = Effects::default();
        system.run(state, task, &mut effects);
        let Effects { successors, touched, updates } = effects;
        let lists = 0..updates.len();
        Attempt {
            task,
            ends: ends(system, &successors),
            counts: (successors.len(), updates.len()),
            states: successors
                .into_iter()
                .filter(|one| one.failure.is_none())
                .map(|one| one.state)
                .collect(),
            touched: touched.into_iter().map(|one| (one.place, one.kind)).collect(),
            awaited: awaited(system, task),
            updated: lists.flat_map(|at| updates.of(at).to_vec()).collect(),
        }
    }

    fn writes(&self) -> BTreeSet<Place> {
        let writes = self.touched.iter().filter(|(_, kind)| *kind == TouchKind::Write);
        writes.map(|(place, _)| *place).collect()
    }

    /// The places that decide or record its effect: those that it touches or awaits.
    fn places(&self) -> BTreeSet<Place> {
        self.touched.iter().map(|(place, _)| *place).chain(self.awaited.iter().copied()).collect()
    }

    /// The failures of its alternatives; `None` for those that do not fail.
    fn failures(&self) -> BTreeSet<Option<&Failure>> {
        self.ends.iter().map(|(failure, _)| failure.as_ref()).collect()
    }

    /// Whether one writes a place that the other touches. Silent writes count as reads, which is
    /// the stronger claim.
    fn conflicts(&self, other: &Attempt<S>) -> bool {
        !self.writes().is_disjoint(&other.places()) || !other.writes().is_disjoint(&self.places())
    }
}

fn ends<S: Reducible>(
    system: &S,
    successors: &[crate::Successor<S::State, S::Action>],
) -> BTreeSet<(Option<Failure>, Hash128)> {
    let end = |one: &crate::Successor<S::State, S::Action>| match &one.failure {
        Some(failure) => (Some(failure.clone()), Hash128(0)),
        None => (None, system.fingerprint(&one.state)),
    };
    successors.iter().map(end).collect()
}

/// Returns what a function appends to a list.
fn listed<T: Ord>(append: impl FnOnce(&mut Vec<T>)) -> BTreeSet<T> {
    let mut list = Vec::new();
    append(&mut list);
    list.into_iter().collect()
}

fn awaited<S: Reducible>(system: &S, task: TaskKey) -> BTreeSet<Place> {
    listed(|out| system.awaits(task, out))
}

/// For steps that update an attribute without writing it: the sets of places that they write.
type OtherWrites = BTreeSet<BTreeSet<Place>>;

struct Check<'s, S: Reducible> {
    system: &'s S,
    properties: Properties<'s, S::State>,
    updating: bool,
    /// The tasks known before the first run.
    known: BTreeSet<TaskKey>,
    /// For each other task, the places written at each change of whether it is pending.
    announcers: BTreeMap<TaskKey, BTreeSet<Place>>,
    /// For each attribute, the places that all its updates touch, and the writes of those that did
    /// not write the attribute.
    attributes: BTreeMap<Place, (BTreeSet<Place>, OtherWrites)>,
    checks: ContractChecks,
}

type Checked<T = ()> = Result<T, BrokenContract>;

impl<S: Reducible> Check<'_, S> {
    fn hit(&mut self, clause: Clause) {
        self.checks[clause as usize] += 1;
    }

    fn broken(&self, clause: Clause, state: &S::State, what: impl Into<String>) -> Checked {
        Err(BrokenContract { clause, what: what.into(), state: self.system.show(state) })
    }

    fn name(&self, state: &S::State, task: TaskKey) -> String {
        format!("`{}`", self.system.task_name(state, task))
    }

    fn names(&self, places: &BTreeSet<Place>) -> String {
        let names: Vec<String> =
            places.iter().map(|place| self.system.place_name(*place)).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    }

    fn ready(&self, state: &S::State) -> BTreeSet<TaskKey> {
        listed(|out| self.system.ready(state, out))
    }

    fn pending(&self, state: &S::State) -> BTreeSet<TaskKey> {
        let mut pending = listed(|out| self.system.pending(state, out));
        pending.retain(|key| awaited(self.system, *key).len() > 1);
        pending
    }

    /// Checks all clauses in a state. Returns the states after it.
    fn state(&mut self, state: &S::State) -> Checked<Vec<S::State>> {
        let ready = self.ready(state);
        let attempts: Vec<Attempt<S>> =
            ready.iter().map(|task| Attempt::of(self.system, state, *task)).collect();
        self.transitions(state, &attempts)?;
        self.known(state, &attempts)?;
        for attempt in &attempts {
            self.updates(state, attempt)?;
            for after in &attempt.states {
                self.step(state, (&attempts, attempt), after)?;
            }
        }
        for (index, a) in attempts.iter().enumerate() {
            for b in &attempts[index + 1..] {
                if !a.conflicts(b) {
                    self.swap(state, a, b)?;
                }
            }
        }
        Ok(attempts.into_iter().flat_map(|attempt| attempt.states).collect())
    }

    /// Checks that the transitions are those of the ready tasks, and that a state decoded from its
    /// encoding behaves the same.
    fn transitions(&mut self, state: &S::State, attempts: &[Attempt<S>]) -> Checked {
        self.hit(Clause::Transitions);
        let mut successors = Vec::new();
        self.system.successors(state, &mut successors);
        let all: BTreeSet<_> = attempts.iter().flat_map(|one| one.ends.iter().cloned()).collect();
        if ends(self.system, &successors) != all {
            let what = "its transitions are not those of its ready tasks";
            return self.broken(Clause::Transitions, state, what);
        }
        let mut bytes = Vec::new();
        self.system.encode(state, &mut bytes);
        let Some(copy) = self.system.decode(&bytes) else {
            let what = "it cannot be decoded from its encoding";
            return self.broken(Clause::Transitions, state, what);
        };
        let same = self.system.fingerprint(&copy) == self.system.fingerprint(state);
        if !same || self.ready(&copy) != attempts.iter().map(|one| one.task).collect() {
            let what = "decoded from its encoding it is another";
            return self.broken(Clause::Transitions, state, what);
        }
        for attempt in attempts {
            self.hit(Clause::Touches);
            let other = Attempt::of(self.system, &copy, attempt.task);
            if (&other.touched, &other.ends) != (&attempt.touched, &attempt.ends) {
                let name = self.name(state, attempt.task);
                let what = format!("{name} does something else when it is run again");
                return self.broken(Clause::Touches, state, what);
            }
        }
        Ok(())
    }

    /// Checks that tasks which await several places are known.
    fn known(&mut self, state: &S::State, attempts: &[Attempt<S>]) -> Checked {
        let pending = self.pending(state);
        for attempt in attempts.iter().filter(|one| one.awaited.len() > 1) {
            self.hit(Clause::Known);
            if !self.known.contains(&attempt.task) && !pending.contains(&attempt.task) {
                let (name, places) = (self.name(state, attempt.task), self.names(&attempt.awaited));
                let what = format!("{name} awaits {places}, and is neither in `tasks` nor pending");
                return self.broken(Clause::Known, state, what);
            }
        }
        Ok(())
    }

    /// Checks that a task which updates an attribute writes it, or another place that all its
    /// updates touch.
    fn updates(&mut self, state: &S::State, attempt: &Attempt<S>) -> Checked {
        if !self.updating {
            return Ok(());
        }
        let (successors, lists) = attempt.counts;
        if successors != lists {
            let name = self.name(state, attempt.task);
            let what = format!("{name} has {successors} alternatives and {lists} lists of updates");
            return self.broken(Clause::Updates, state, what);
        }
        let (places, writes) = (attempt.places(), attempt.writes());
        for update in &attempt.updated {
            self.hit(Clause::Updates);
            let (common, elsewhere) = self
                .attributes
                .entry(update.place)
                .or_insert_with(|| (places.clone(), OtherWrites::new()));
            common.retain(|place| places.contains(place));
            if !writes.contains(&update.place) {
                elsewhere.insert(writes.clone());
            }
            if elsewhere.iter().any(|writes| writes.is_disjoint(common)) {
                let name = self.name(state, attempt.task);
                let attribute = self.system.place_name(update.place);
                let what = format!("{name} updates {attribute}, and not all who do so write it");
                return self.broken(Clause::Updates, state, what);
            }
        }
        Ok(())
    }

    /// Checks that a step changes only what it writes: the ready and pending tasks, the effects of
    /// other tasks, and the invariants stay the same otherwise.
    fn step(
        &mut self,
        before: &S::State,
        (attempts, did): (&[Attempt<S>], &Attempt<S>),
        after: &S::State,
    ) -> Checked {
        let writes = did.writes();
        let was = attempts.iter().map(|one| one.task).collect::<BTreeSet<_>>();
        let now = self.ready(after);
        for other in was.symmetric_difference(&now) {
            self.hit(Clause::Awaits);
            let awaited = awaited(self.system, *other);
            if awaited.is_disjoint(&writes) {
                let (a, b) = (self.name(before, did.task), self.name(before, *other));
                let what = format!(
                    "{a} changes whether {b} is ready and does not write what that awaits: {}",
                    self.names(&awaited)
                );
                return self.broken(Clause::Awaits, before, what);
            }
        }
        self.announced(before, did, after)?;
        for other in attempts.iter().filter(|other| now.contains(&other.task)) {
            if !writes.is_disjoint(&other.places()) {
                continue;
            }
            self.hit(Clause::Touches);
            let then = Attempt::of(self.system, after, other.task);
            if (&then.touched, then.failures()) != (&other.touched, other.failures()) {
                let (a, b) = (self.name(before, did.task), self.name(before, other.task));
                let (touched, wrote) = (self.names(&other.places()), self.names(&writes));
                let what = format!(
                    "{b}, which touches {touched}, does something else after {a}, which writes {wrote}"
                );
                return self.broken(Clause::Touches, before, what);
            }
        }
        for index in 0..self.properties.invariants.len() {
            let look = |state: &S::State| {
                let invariant = &self.properties.invariants[index];
                (invariant.holds(state), listed(|out| invariant.watches(state, out)))
            };
            let old = look(before);
            if !writes.is_disjoint(&old.1) {
                continue;
            }
            self.checks[Clause::Watches as usize] += 1;
            if look(after) != old {
                let name = &self.properties.invariants[index].name;
                let (a, places) = (self.name(before, did.task), self.names(&old.1));
                let what = format!("the invariant `{name}` watches {places}, and changes by {a}");
                return self.broken(Clause::Watches, before, what);
            }
        }
        Ok(())
    }

    /// Checks that one of the places that a task awaits records whether it is pending: each such
    /// change writes that place.
    fn announced(&mut self, before: &S::State, did: &Attempt<S>, after: &S::State) -> Checked {
        let (was, is) = (self.pending(before), self.pending(after));
        for task in was.symmetric_difference(&is).filter(|task| !self.known.contains(*task)) {
            self.checks[Clause::Known as usize] += 1;
            let places =
                self.announcers.entry(*task).or_insert_with(|| awaited(self.system, *task));
            let writes = did.writes();
            places.retain(|place| writes.contains(place));
            if places.is_empty() {
                let (a, b) = (self.name(before, did.task), self.name(before, *task));
                let what = format!(
                    "{a} changes whether {b} is pending, and no place that it awaits is written whenever that changes"
                );
                return self.broken(Clause::Known, before, what);
            }
        }
        Ok(())
    }

    /// Checks that two tasks without a conflict lead to the same state in both orders.
    fn swap(&mut self, state: &S::State, a: &Attempt<S>, b: &Attempt<S>) -> Checked {
        self.hit(Clause::Writes);
        let both = |first: &Attempt<S>, second: TaskKey| -> BTreeSet<Hash128> {
            let then = first.states.iter().map(|after| Attempt::of(self.system, after, second));
            then.flat_map(|one| one.ends).filter(|end| end.0.is_none()).map(|end| end.1).collect()
        };
        if both(a, b.task) == both(b, a.task) {
            return Ok(());
        }
        let describe = |one: &Attempt<S>| {
            let (name, places) = (self.name(state, one.task), self.names(&one.places()));
            format!("{name}, which touches {places} and writes {},", self.names(&one.writes()))
        };
        let what = format!("{} and {} lead elsewhere in the other order", describe(a), describe(b));
        self.broken(Clause::Writes, state, what)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clause {}", *self as u8)
    }
}
