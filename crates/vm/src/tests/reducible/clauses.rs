//! Every clause of what engines rely on, in one state: by running all tasks, all pairs of them, and
//! all of them again where one thing is another.

use crate::tests::access::PlaceSpec;
use crate::tests::reducible::attempt::{Attempt, State, awaited, pending, ready, transitions};
use crate::tests::reducible::edits::{ByElement, Changed, Pool, edits};
use crate::tests::reducible::totals::Totals;
use anyorder_system::{Hash128, Place, Reducible, StateSystem, TaskKey, TouchKind};
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What went against a clause, in words.
pub(crate) type Checked = Result<(), String>;

/// How much of a program is explored.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// States.
    pub(crate) states: usize,
    /// Changes of one thing in each of them.
    pub(crate) edits: usize,
    /// Pairs of tasks.
    pub(crate) pairs: bool,
}

pub(crate) struct Subject<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) totals: &'a mut Totals,
    told: BTreeSet<TaskKey>,
    by: ByElement,
    pool: Pool,
    random: u64,
}

fn broken(clause: &str, text: String) -> Checked {
    Err(format!("{clause}: {text}"))
}

impl Subject<'_> {
    pub(crate) fn new<'a>(machine: &'a Machine, totals: &'a mut Totals) -> Subject<'a> {
        let mut told = Vec::new();
        machine.tasks(&mut told);
        totals.programs += 1;
        Subject {
            machine,
            totals,
            told: told.into_iter().collect(),
            by: ByElement::of(machine),
            pool: Pool::default(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % n
    }

    /// Goes through states in any order: some are far from the first.
    pub(crate) fn walk(&mut self, size: Size) -> Checked {
        let machine = self.machine;
        let mut seen: HashSet<Hash128> = HashSet::new();
        let mut open: Vec<State> = machine.initial();
        seen.extend(open.iter().map(|state| machine.fingerprint(state)));
        for state in &open {
            self.pool.add(&machine.view(state));
        }
        for _ in 0..size.states {
            if open.is_empty() {
                break;
            }
            let at = self.below(open.len());
            let state = open.swap_remove(at);
            self.totals.states += 1;
            let attempts = self.state(&state, size.pairs)?;
            let mut all = edits(&machine.view(&state), &self.pool, &self.by);
            for _ in 0..size.edits.min(all.len()) {
                let at = self.below(all.len());
                let changed = all.swap_remove(at);
                self.changed(&state, &attempts, &changed)?;
            }
            for lead in attempts.values().flat_map(|attempt| &attempt.leads) {
                if lead.failure.is_none() && seen.insert(machine.fingerprint(&lead.state)) {
                    self.pool.add(&machine.view(&lead.state));
                    open.push(lead.state.clone());
                }
            }
        }
        Ok(())
    }

    fn name(&self, state: &State, task: TaskKey) -> String {
        format!("`{}`", self.machine.task_name(state, task))
    }

    fn show(&self, state: &State) -> String {
        format!("{:?}", self.machine.show(state))
    }

    /// What concerns one state as it is.
    fn state(&mut self, state: &State, pairs: bool) -> Result<BTreeMap<TaskKey, Attempt>, String> {
        let machine = self.machine;
        let tasks = ready(machine, state);
        let attempts: BTreeMap<TaskKey, Attempt> =
            tasks.iter().map(|task| (*task, Attempt::of(machine, state, *task))).collect();
        for attempt in attempts.values() {
            self.totals.tell((&attempt.touched, &attempt.awaited));
        }
        self.totals.tell((pending(machine, state), &self.told));
        for invariant in 0..machine.invariants().len() {
            self.totals.tell(self.watched(invariant, state));
        }
        self.own(state, &attempts)?;
        for (task, attempt) in &attempts {
            for lead in attempt.leads.iter().filter(|lead| lead.failure.is_none()) {
                self.moves(state, &tasks, (*task, attempt), &lead.state)?;
            }
        }
        if pairs {
            for (i, (a, did_a)) in attempts.iter().enumerate() {
                for (b, did_b) in attempts.iter().skip(i + 1) {
                    self.pair(state, (*a, did_a), (*b, did_b))?;
                }
            }
        }
        Ok(attempts)
    }

    /// The transitions are those of the ready tasks; what awaits several places is known; what a
    /// task does and touches depends on the state alone, however it was come by.
    fn own(&mut self, state: &State, attempts: &BTreeMap<TaskKey, Attempt>) -> Checked {
        let machine = self.machine;
        let mut own: Vec<(Option<&str>, u128)> =
            attempts.values().flat_map(|a| a.ends(machine, State::clone)).collect();
        own.sort_unstable();
        let all = transitions(machine, state);
        let all: Vec<(Option<&str>, u128)> =
            all.iter().map(|(failure, print)| (failure.as_deref(), print.0)).collect();
        self.totals.hit("transitions are those of ready tasks");
        if own != all {
            let text = format!("{own:?} and {all:?} in {}", self.show(state));
            return broken("transitions", text);
        }
        let there = pending(machine, state);
        for task in attempts.keys() {
            if awaited(machine, *task).len() < 2 {
                continue;
            }
            self.totals.hit("4: a task that awaits several places is known");
            if !self.told.contains(task) && !there.contains(task) {
                return broken("4", format!("{} is not known", self.name(state, *task)));
            }
        }
        let mut bytes = Vec::new();
        machine.encode(state, &mut bytes);
        let Some(again) = machine.decode(&bytes) else {
            return broken("bytes", self.show(state));
        };
        if ready(machine, &again) != attempts.keys().copied().collect() {
            return broken("2", format!("other tasks once written down: {}", self.show(state)));
        }
        for (task, attempt) in attempts {
            self.totals.hit("1: the same from a state that was written down");
            let other = Attempt::of(machine, &again, *task);
            self.same("1, written down", state, *task, (attempt, &other))?;
            if attempt.ends(machine, State::clone) != other.ends(machine, State::clone) {
                return broken("1, written down", self.name(state, *task));
            }
            if attempt.leads.is_empty() {
                self.totals.hit("blocked attempts");
            }
            for lead in &attempt.leads {
                if lead.failure.is_some() {
                    self.totals.hit("failing attempts");
                }
            }
            for (_, kind) in &attempt.touched {
                if *kind == TouchKind::SilentWrite {
                    self.totals.hit("silent writes");
                }
            }
            if attempt.is_shared() {
                self.totals.hit("tasks for several messages or threads");
            }
        }
        Ok(())
    }

    /// Two attempts of a task touch the same, and have the same alternatives, as far as can be told
    /// without what they lead to.
    fn same(
        &self,
        clause: &str,
        state: &State,
        task: TaskKey,
        (a, b): (&Attempt, &Attempt),
    ) -> Checked {
        if a.touched == b.touched && a.has_failures_of(b) {
            return Ok(());
        }
        let words = |one: &Attempt| one.words(self.machine).join("; ");
        let (name, show) = (self.name(state, task), self.show(state));
        broken(
            clause,
            format!(
                "{name} in {show}\n  touches {}\n  and then {}\n  {:?} and {:?}",
                words(a),
                words(b),
                a.failures(),
                b.failures()
            ),
        )
    }

    /// A step: what becomes ready or is no more, what comes and goes, and which invariants change
    /// by it.
    fn moves(
        &mut self,
        before: &State,
        tasks: &BTreeSet<TaskKey>,
        (task, did): (TaskKey, &Attempt),
        after: &State,
    ) -> Checked {
        let machine = self.machine;
        let now = ready(machine, after);
        for other in tasks.symmetric_difference(&now) {
            self.totals.hit("2: a step that changes whether a task is ready");
            if !awaited(machine, *other).iter().any(|place| did.writes(*place)) {
                let (a, b) = (self.name(before, task), self.name(after, *other));
                return broken(
                    "2",
                    format!("{a} changes whether {b} is ready: {}", self.show(before)),
                );
            }
        }
        let (was, is) = (pending(machine, before), pending(machine, after));
        for other in was.symmetric_difference(&is) {
            self.totals.hit("4: a step that changes whether a task is there");
            let place = machine.place_of(&PlaceSpec::Standing(*other));
            if !did.writes(place) || !awaited(machine, *other).contains(&place) {
                let (a, b) = (self.name(before, task), self.name(after, *other));
                return broken(
                    "4",
                    format!("{a} changes whether {b} is there: {}", self.show(before)),
                );
            }
        }
        for invariant in 0..machine.invariants().len() {
            let (old, new) = (self.watched(invariant, before), self.watched(invariant, after));
            let writes = old.iter().any(|place| did.writes(*place));
            if writes {
                self.totals.hit("5: a step that writes what an invariant watches");
                continue;
            }
            self.totals.hit("5: a step that writes nothing that an invariant watches");
            if old != new || machine.holds(invariant, before) != machine.holds(invariant, after) {
                let name = self.name(before, task);
                return broken("5", format!("{name} in {}", self.show(before)));
            }
        }
        Ok(())
    }

    fn watched(&self, invariant: usize, state: &State) -> BTreeSet<Place> {
        let mut places = Vec::new();
        self.machine.watches(invariant, state, &mut places);
        places.into_iter().collect()
    }

    /// Two tasks without a conflict can be swapped, and neither notices the other.
    fn pair(
        &mut self,
        state: &State,
        (a, did_a): (TaskKey, &Attempt),
        (b, did_b): (TaskKey, &Attempt),
    ) -> Checked {
        if did_a.conflicts(did_b) {
            self.totals.hit("3: pairs with a conflict");
            return Ok(());
        }
        self.totals.hit("3: pairs without a conflict");
        let ab = self.after(state, (a, did_a), (b, did_b))?;
        let ba = self.after(state, (b, did_b), (a, did_a))?;
        if did_a.failures().iter().chain(&did_b.failures()).any(Option::is_some) {
            self.totals.hit("3: pairs without a conflict, one fails");
        }
        if ab != ba {
            let (a, b) = (self.name(state, a), self.name(state, b));
            return broken("3", format!("{a} and {b} lead elsewhere: {}", self.show(state)));
        }
        Ok(())
    }

    /// Where two tasks in a row lead, without what fails; the second one is as it was before the
    /// first.
    fn after(
        &mut self,
        state: &State,
        (a, did_a): (TaskKey, &Attempt),
        (b, did_b): (TaskKey, &Attempt),
    ) -> Result<Vec<u128>, String> {
        let machine = self.machine;
        let mut ends = Vec::new();
        for lead in did_a.leads.iter().filter(|lead| lead.failure.is_none()) {
            if !ready(machine, &lead.state).contains(&b) {
                let (a, b) = (self.name(state, a), self.name(state, b));
                let text = format!("{a} ends that {b} is ready: {}", self.show(state));
                broken("3", text)?;
            }
            let second = Attempt::of(machine, &lead.state, b);
            self.same(&format!("1, after {}", self.name(state, a)), state, b, (did_b, &second))?;
            let all = second.leads.iter().filter(|lead| lead.failure.is_none());
            ends.extend(all.map(|lead| machine.fingerprint(&lead.state).0));
        }
        ends.sort_unstable();
        // Which of several equal messages it was does not matter.
        ends.dedup();
        Ok(ends)
    }

    /// The state with one thing changed: who does not touch it does not notice.
    fn changed(
        &mut self,
        state: &State,
        attempts: &BTreeMap<TaskKey, Attempt>,
        changed: &Changed,
    ) -> Checked {
        let machine = self.machine;
        let Some(other) = machine.edited(state, &changed.edit) else { return Ok(()) };
        if machine.fingerprint(&other) == machine.fingerprint(state) {
            return Ok(());
        }
        self.totals.edits += 1;
        let places: BTreeSet<Place> = changed.spots.iter().map(|s| machine.place_of(s)).collect();
        let sources: Vec<Place> = changed.uses.iter().map(|s| machine.place_of(s)).collect();
        let container = changed.container.as_ref().map(|spot| machine.place_of(spot));
        let now = ready(machine, &other);
        let what = format!("{:?} in {}", changed.edit, self.show(state));
        for task in attempts.keys().chain(&now) {
            if awaited(machine, *task).is_disjoint(&places) {
                self.totals.hit("2: a change of what a task does not await");
                if attempts.contains_key(task) != now.contains(task) {
                    let text = format!("{} by {what}", self.name(state, *task));
                    return broken("2", text);
                }
            }
        }
        for key in pending(machine, state).symmetric_difference(&pending(machine, &other)) {
            if !places.contains(&machine.place_of(&PlaceSpec::Standing(*key))) {
                return broken("4", format!("{} by {what}", self.name(state, *key)));
            }
        }
        for (task, did) in attempts {
            if !now.contains(task) {
                continue;
            }
            let there = Attempt::of(machine, &other, *task);
            let hits = |one: &Attempt| {
                places.iter().any(|place| one.touches(*place))
                    || container.is_some_and(|place| one.writes_at_all(place))
            };
            if hits(did) && hits(&there) {
                self.totals.hit(&format!("1: touched: {}", changed.kind));
                continue;
            }
            self.totals.hit(&format!("1: not touched: {}", changed.kind));
            self.same(&format!("1, {what}"), state, *task, (did, &there))?;
            if sources.iter().any(|place| did.writes(*place)) {
                continue;
            }
            self.totals.hit("3: a change and a step can be swapped");
            let edit = |state: &State| {
                machine.edited(state, &changed.edit).unwrap_or_else(|| state.clone())
            };
            let (mut ends, mut others) =
                (did.ends(machine, edit), there.ends(machine, State::clone));
            if did.is_shared() || there.is_shared() {
                ends.dedup();
                others.dedup();
            }
            if ends != others {
                return broken("3", format!("{} and {what}", self.name(state, *task)));
            }
        }
        for invariant in 0..machine.invariants().len() {
            let (old, new) = (self.watched(invariant, state), self.watched(invariant, &other));
            if !old.is_disjoint(&places) && !new.is_disjoint(&places) {
                self.totals.hit("5: a change of what an invariant watches");
                continue;
            }
            self.totals.hit("5: a change of what no invariant watches");
            if old != new || machine.holds(invariant, state) != machine.holds(invariant, &other) {
                return broken("5", what);
            }
        }
        Ok(())
    }
}
