//! Decides most pairs without a search: those with a witness in which each lock is taken in its
//! recorded order, and those that lack what every witness needs.
//!
//! **Problem.** Two accesses `a` before `b` in the trace, of two chains. Is there a witness that
//! keeps, for each lock, the recorded order of the sections that it contains? If not, is there no
//! witness at all?
//!
//! **Source.** Mathur, Pavlogiannis, Viswanathan, "Optimal Prediction of Synchronization-Preserving
//! Races", POPL 2021. Take what comes before `a` and `b`, by program order, causes and
//! observations. Of the sections of a lock that this set begins, each but the last, as far as the
//! last excludes it, must end: add its release and what comes before it. When nothing more is to be
//! added, the set in the order of the trace is a run. If it has neither `a` nor `b`, both can come
//! next (form `co_enabled`). The same with `b` and what it observes in the set: if it lacks `a`, it
//! is a run that `a` may follow (form `last`).
//!
//! A second closure asks for less: only sections that a lock held at the end excludes must end. If
//! that adds an action, or if what the open section of such a lock has read is overwritten
//! (`overwritten.rs`), there is no witness of the form. Of pairs with a wait or a signal, only this
//! closure is asked.
//!
//! **Incremental.** The set of a pair contains that of another one, if both actions of the other
//! one come no later in their chains. So for pairs of two chains, the set only grows: the next pair
//! begins with the set of the last one, unless an action goes back.
//!
//! **Guarantee.** Exact for what it answers, if the trace has memory, locks, forks, joins, waits
//! and signals only; it answers nothing about others. A read as first action may observe the same
//! in form `last`, which is not asked.
//!
//! **Cost.** For the pairs of two chains that do not go back: the sections of the two and of what
//! comes before them, times the chains that take their locks, and the width of a clock for each
//! pair and each release.

use super::answer::Form;
use super::chains::NONE;
use super::confirmer::Confirmer;
use super::deadlock::closure::{Closures, Later, acquire, begun_before};
use super::holding::SectionId;
use super::overwritten::Writes;
use super::past::Past;
use super::question::Question;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// What is known of a pair without a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InOrderAnswer {
    /// There is a witness of this form, in which each lock is taken in its recorded order, and one
    /// of form `co_enabled`. There may be one of a stronger form.
    Confirmed(Form),
    /// The pair is proved to have no witness.
    Impossible,
    /// It takes a search.
    Open,
}

/// A rule that the closures leave out, to see that tests notice it.
#[cfg(test)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InOrderFault {
    /// Sections need not end.
    SectionsStayOpen,
    /// Sets of earlier pairs are used where the actions go back.
    SetsStay,
    /// Locks held at the second action stay held in form `last`.
    SecondHolds,
    /// What the second action observes does not matter.
    SecondObservesNothing,
    /// Shared sections exclude each other.
    ReadersExclude,
    /// Each other write overwrites, also one that can come first.
    AnyOverwrites,
}

/// The most numbers in the sets of pairs that may grow.
const NUMBERS_MAX: usize = 1 << 24;

/// The state of the closures of pairs.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// Whether the trace has only what the closures know; `None` before it was asked for.
    fits: Option<bool>,
    locks: Rc<Locks>,
    writes: Option<Writes>,
    /// How often what a section has read was overwritten.
    refuted_by_reads: Cell<u64>,
    /// By the chains of two actions, the sets of the last pair, for both forms.
    growing: HashMap<(u32, u32), [Growing; 2]>,
    numbers: usize,
    #[cfg(test)]
    fault: Option<InOrderFault>,
}

/// For each chain, the locks that it takes, and for each lock where its cursors begin.
#[derive(Debug, Default)]
struct Locks {
    of_chain: Vec<Vec<u32>>,
    first_cursor: Vec<u32>,
    cursors: usize,
}

/// The closed set of a pair.
#[derive(Clone, Debug)]
struct Growing {
    pair: (u32, u32),
    /// By chain, the number of the last event plus 1; 0 for none.
    tops: Vec<u32>,
    /// By lock and chain that takes it: the number of begun sections, and of exclusive ones.
    cursors: Vec<[u32; 2]>,
    /// Chains whose tops have grown since their locks were visited.
    grown: Vec<u32>,
    is_grown: Vec<bool>,
    /// Whether a section must end that never does.
    is_dead: bool,
}

impl Confirmer<'_> {
    /// Decides a pair, `first` before `second` in the trace, without a search. Pairs of the same
    /// two chains are cheap if neither action goes back from one pair to the next.
    pub fn decide_in_order(
        &mut self,
        first: EventId,
        second: EventId,
        cancel: &Cancel,
    ) -> InOrderAnswer {
        let (a, b) = (first.0, second.0);
        if !self.fits_in_order() {
            return InOrderAnswer::Open;
        }
        let kinds = [a, b].map(|event| self.past.op(event).0.kind());
        if !kinds.iter().all(|kind| kind.is_access() || signals(*kind)) {
            return InOrderAnswer::Open;
        }
        let Some(closures) = self.closures(cancel) else { return InOrderAnswer::Open };
        let (past, in_order) = (&self.past, &mut self.in_order);
        let chains = (past.chain[a as usize], past.chain[b as usize]);
        if chains.0 == chains.1 {
            return InOrderAnswer::Open;
        }
        if in_order.locks.of_chain.is_empty() {
            in_order.locks = Rc::new(Locks::new(&closures));
        }
        in_order.writes.get_or_insert_with(|| Writes::new(past));
        let mut work = closures.chains as u64;
        let decided = match kinds.iter().all(|kind| kind.is_access()) {
            true => in_order.decide((past, &closures), (a, b), &mut work),
            false => in_order.refute((past, &closures), (a, b), &mut work),
        };
        self.count_events(work);
        decided
    }

    /// Returns an order of events from `start` on, without the tail, that answers a question, if
    /// each lock can be taken in its recorded order: the closed set of the pair in the order of the
    /// trace. Linear in the events from there on. The order is replayed: events before `start`
    /// happen, too, and the set may be without them.
    pub(super) fn closed_order(
        &mut self,
        question: &Question,
        start: u32,
        cancel: &Cancel,
    ) -> Option<Vec<u32>> {
        let (a, b) = (question.first, question.second);
        let is_last = match question.form {
            Form::CoEnabled => false,
            Form::Last => true,
            // What the first action observes makes no difference.
            Form::Reversed if !self.past.is_observer(a) => true,
            _ => return None,
        };
        let decided = self.decide_in_order(EventId(a), EventId(b), cancel);
        let InOrderAnswer::Confirmed(form) = decided else { return None };
        if is_last && form == Form::CoEnabled {
            return None;
        }
        let chain = |event: u32| self.past.chain[event as usize];
        let set = &self.in_order.growing.get(&(chain(a), chain(b)))?[usize::from(is_last)];
        let last = set.tops.iter().max().copied().unwrap_or(start);
        let is_in = |event: &u32| {
            *event < set.tops[chain(*event) as usize] && !question.tail.contains(event)
        };
        let order: Vec<u32> = (start..last.max(start)).filter(is_in).collect();
        self.replays(question, start, &order).then_some(order)
    }

    /// Forgets the sets of pairs: the next pairs have nothing to do with them.
    pub fn begin_in_order(&mut self) {
        self.in_order.growing.clear();
        self.in_order.numbers = 0;
    }

    #[cfg(test)]
    /// Returns how often a closure was refuted because what a section has read was overwritten.
    pub(crate) fn refuted_by_reads(&self) -> u64 {
        self.in_order.refuted_by_reads.get()
    }

    #[cfg(test)]
    #[must_use]
    /// Puts a fault into the closures.
    pub fn with_in_order_fault(mut self, fault: InOrderFault) -> Self {
        self.in_order.fault = Some(fault);
        self
    }

    /// Returns whether the trace has only what the closures know.
    fn fits_in_order(&mut self) -> bool {
        let past = &self.past;
        *self.in_order.fits.get_or_insert_with(|| {
            !past.tasks
                && past.components.is_none()
                && !past.is_cut
                && past.first_doubt == NONE
                && past.calls.is_empty()
                && past.blocking.is_empty()
                && past.openings.is_empty()
                && past.holding.overlap() == NONE
                && !past.holding.is_ambiguous
                && has_one_chain_each(past)
        })
    }
}

/// Returns whether an event waits for a signal, or gives one.
const fn signals(kind: EventKind) -> bool {
    matches!(kind, EventKind::Wait | EventKind::Signal | EventKind::Broadcast)
}

/// Returns whether each owner of sections has one chain.
fn has_one_chain_each(past: &Past<'_>) -> bool {
    let mut chain_of: HashMap<u32, u32> = HashMap::new();
    past.holding.sections.iter().all(|section| {
        *chain_of.entry(section.owner).or_insert(section.chain) == section.chain
            && (section.release == NONE || past.chain[section.release as usize] == section.chain)
    })
}

impl Locks {
    fn new(closures: &Closures) -> Locks {
        let mut locks = Locks { of_chain: vec![Vec::new(); closures.chains], ..Locks::default() };
        for (number, lock) in closures.locks.iter().enumerate() {
            locks.first_cursor.push(locks.cursors as u32);
            locks.cursors += lock.lists.len();
            for list in &lock.lists {
                locks.of_chain[list.chain as usize].push(number as u32);
            }
        }
        locks
    }
}

impl InOrder {
    /// Proves that a pair with a wait or a signal has no witness, or leaves it open: no run in the
    /// order of the locks is looked for, as what a signal does depends on when it comes.
    fn refute(
        &self,
        of: (&Past<'_>, &Closures),
        (a, b): (u32, u32),
        work: &mut u64,
    ) -> InOrderAnswer {
        let held = [a, b].map(|event| held(of.0, event));
        match [false, true].iter().any(|last| self.is_possible(of, (a, b), *last, (&held, work))) {
            true => InOrderAnswer::Open,
            false => InOrderAnswer::Impossible,
        }
    }

    fn decide(
        &mut self,
        of: (&Past<'_>, &Closures),
        (a, b): (u32, u32),
        work: &mut u64,
    ) -> InOrderAnswer {
        let held = [a, b].map(|event| held(of.0, event));
        let section = |id: &SectionId| of.0.holding.sections[*id as usize];
        let excludes =
            |one: &SectionId| held[1].iter().any(|other| section(one).excludes(&section(other)));
        let is_apart = held[0].iter().any(excludes);
        // A run of form `last` that keeps the order of locks shows that both can come next, too.
        if is_apart || !self.is_in_order(of, (a, b), false, work) {
            let is_possible = !is_apart && self.is_possible(of, (a, b), false, (&held, work))
                || self.is_possible(of, (a, b), true, (&held, work));
            return if is_possible { InOrderAnswer::Open } else { InOrderAnswer::Impossible };
        }
        InOrderAnswer::Confirmed(match self.is_in_order(of, (a, b), true, work) {
            true if of.0.op(a).0.kind().reads() && !of.0.is_free(a) => Form::Last,
            true => Form::Reversed,
            false => Form::CoEnabled,
        })
    }

    /// Returns whether the closure of a pair that keeps the order of locks lacks the first action
    /// and, unless it is the last event of the run, the second one.
    fn is_in_order(
        &mut self,
        (past, closures): (&Past<'_>, &Closures),
        pair: (u32, u32),
        is_last: bool,
        work: &mut u64,
    ) -> bool {
        let [shared_exclude, sections_stay, sets_stay] = self.faults();
        let (a, b) = pair;
        let chains = (past.chain[a as usize], past.chain[b as usize]);
        let locks = Rc::clone(&self.locks);
        if !self.growing.contains_key(&chains) {
            let numbers = 2 * (closures.chains + 2 * locks.cursors);
            if self.numbers + numbers > NUMBERS_MAX {
                self.growing.clear();
                self.numbers = 0;
            }
            self.numbers += numbers;
            let new = || Growing::new(closures, &locks);
            self.growing.insert(chains, [new(), new()]);
        }
        let second = self.second(past, b, is_last);
        let Some(sets) = self.growing.get_mut(&chains) else { return false };
        let set = &mut sets[usize::from(is_last)];
        if (set.pair.0 > a || set.pair.1 > b) && !sets_stay {
            *work += (closures.chains + locks.cursors) as u64;
            *set = Growing::new(closures, &locks);
        }
        set.pair = pair;
        set.add_before(past, closures, a);
        match second {
            Second::Before => set.add_before(past, closures, b),
            Second::With => set.add(past, closures, b),
            Second::WithoutObservations => {
                set.add_before(past, closures, b);
                let top = &mut set.tops[chains.1 as usize];
                *top = (*top).max(b + 1);
                set.grow(chains.1);
            }
        }
        if !sections_stay {
            set.close((past, closures), &locks, shared_exclude, work);
        }
        let has = |event: u32| event < set.tops[past.chain[event as usize] as usize];
        !set.is_dead && !has(a) && (is_last || !has(b))
    }

    /// Returns whether the closure that every witness of a form contains lacks the first action,
    /// and for `co_enabled` the second one.
    fn is_possible(
        &self,
        (past, closures): (&Past<'_>, &Closures),
        (a, b): (u32, u32),
        is_last: bool,
        (held, work): (&[Vec<SectionId>; 2], &mut u64),
    ) -> bool {
        let is_second_held = !is_last || self.second_holds_in_last();
        let ends = held[0].iter().chain(held[1].iter().filter(|_| is_second_held));
        let mut set = Growing::new(closures, &Locks::default());
        set.add_before(past, closures, a);
        match self.second(past, b, is_last) {
            Second::Before => set.add_before(past, closures, b),
            _ => set.add(past, closures, b),
        }
        let has = |set: &Growing, event: u32| event < set.tops[past.chain[event as usize] as usize];
        loop {
            let mut has_grown = false;
            for held in ends.clone() {
                let held = past.holding.sections[*held as usize];
                let Some(lock) = closures.locks.get(held.lock as usize) else { continue };
                for list in lock.lists.iter().filter(|list| list.chain != held.chain) {
                    *work += 1;
                    let sections = if held.exclusive { &list.all } else { &list.exclusive };
                    let top = set.tops[list.chain as usize];
                    let begun = sections.partition_point(|section| acquire(past, *section) < top);
                    let Some(last) = begun.checked_sub(1) else { continue };
                    let release = past.holding.sections[sections[last] as usize].release;
                    if release == NONE {
                        return false;
                    }
                    if !has(&set, release) {
                        set.add(past, closures, release);
                        has_grown = true;
                    }
                }
            }
            if has(&set, a) || (!is_last && has(&set, b)) {
                return false;
            }
            if !has_grown {
                break;
            }
        }
        let ends = [a, b].into_iter().zip(held).take(if is_last { 1 } else { 2 });
        let mut inside = ends.flat_map(|(action, held)| held.iter().map(move |id| (*id, action)));
        let Some(writes) = &self.writes else { return true };
        let any = self.any_overwrites();
        let are_read = |inside| writes.are_read((past, closures, any), &set.tops, inside, work);
        let is_refuted = inside.any(are_read);
        self.refuted_by_reads.set(self.refuted_by_reads.get() + u64::from(is_refuted));
        !is_refuted
    }

    /// Returns what of the second action belongs to a set.
    fn second(&self, past: &Past<'_>, b: u32, is_last: bool) -> Second {
        #[cfg(test)]
        if is_last && self.fault == Some(InOrderFault::SecondObservesNothing) {
            return Second::WithoutObservations;
        }
        debug_assert!((b as usize) < past.chain.len());
        if is_last { Second::With } else { Second::Before }
    }

    #[cfg(test)]
    fn faults(&self) -> [bool; 3] {
        use InOrderFault::{ReadersExclude, SectionsStayOpen, SetsStay};
        [ReadersExclude, SectionsStayOpen, SetsStay].map(|fault| self.fault == Some(fault))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests have faults")]
    const fn faults(&self) -> [bool; 3] {
        [false; 3]
    }

    #[cfg(test)]
    fn any_overwrites(&self) -> bool {
        self.fault == Some(InOrderFault::AnyOverwrites)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests have faults")]
    const fn any_overwrites(&self) -> bool {
        false
    }

    #[cfg(test)]
    fn second_holds_in_last(&self) -> bool {
        self.fault == Some(InOrderFault::SecondHolds)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests have faults")]
    const fn second_holds_in_last(&self) -> bool {
        false
    }
}

/// What of the second action belongs to a set.
#[derive(Clone, Copy)]
enum Second {
    /// What comes before it.
    Before,
    /// The action, too, and what it observes.
    With,
    /// A fault: the action without what it observes.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests have faults"))]
    WithoutObservations,
}

impl Growing {
    fn new(closures: &Closures, locks: &Locks) -> Growing {
        Growing {
            pair: (0, 0),
            tops: vec![0; closures.chains],
            cursors: vec![[0; 2]; locks.cursors],
            grown: Vec::new(),
            is_grown: vec![false; closures.chains],
            is_dead: false,
        }
    }

    /// Adds an event and all that comes before it.
    fn add(&mut self, past: &Past<'_>, closures: &Closures, event: u32) {
        let chain = past.chain[event as usize];
        if self.tops[chain as usize] > event {
            return;
        }
        self.tops[chain as usize] = event + 1;
        self.grow(chain);
        for (chain, before) in (0..).zip(closures.before(event)) {
            if self.tops[chain as usize] < *before {
                self.tops[chain as usize] = *before;
                self.grow(chain);
            }
        }
    }

    fn grow(&mut self, chain: u32) {
        if !std::mem::replace(&mut self.is_grown[chain as usize], true) {
            self.grown.push(chain);
        }
    }

    /// Adds what comes before an action, except what it observes.
    fn add_before(&mut self, past: &Past<'_>, closures: &Closures, action: u32) {
        let previous = past.previous[action as usize];
        let causes = past.causes.row(action).iter().copied();
        for before in causes.chain((previous != NONE).then_some(previous)) {
            if before != NONE {
                self.add(past, closures, before);
            }
        }
    }

    /// Adds the releases of sections that must end, and what comes before them.
    fn close(
        &mut self,
        (past, closures): (&Past<'_>, &Closures),
        locks: &Locks,
        shared_exclude: bool,
        work: &mut u64,
    ) {
        while let Some(chain) = self.grown.pop() {
            self.is_grown[chain as usize] = false;
            for lock in &locks.of_chain[chain as usize] {
                let lists = &closures.locks[*lock as usize].lists;
                let from = locks.first_cursor[*lock as usize] as usize;
                *work += lists.len() as u64;
                let mut later = [Later::default(); 2];
                for (list, cursors) in lists.iter().zip(&mut self.cursors[from..]) {
                    let top = self.tops[list.chain as usize];
                    let kinds = [&list.all, &list.exclusive].into_iter().zip(cursors);
                    for ((sections, cursor), later) in kinds.zip(&mut later) {
                        *cursor += begun_before(past, &sections[*cursor as usize..], top);
                        if let Some(last) = cursor.checked_sub(1) {
                            let last = acquire(past, sections[last as usize]);
                            later.put(last + 1, list.chain);
                        }
                    }
                }
                for (at, list) in lists.iter().enumerate() {
                    let [all, _] = self.cursors[from + at];
                    let Some(last) = all.checked_sub(1) else { continue };
                    let section = past.holding.sections[list.all[last as usize] as usize];
                    let of = usize::from(!section.exclusive && !shared_exclude);
                    if later[of].besides(list.chain) <= section.acquire {
                        continue;
                    }
                    if section.release == NONE {
                        self.is_dead = true;
                    } else {
                        self.add(past, closures, section.release);
                    }
                }
            }
        }
    }
}

/// Returns the sections that are open at an event.
fn held(past: &Past<'_>, event: u32) -> Vec<SectionId> {
    match past.holding.sections.is_empty() {
        true => Vec::new(),
        false => past.holding.held(&past.chain, event),
    }
}
