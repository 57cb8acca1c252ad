//! Calls that wait, as members of a deadlock: for a permit of a semaphore, for a value of a channel
//! or room in it, for the end of all work of a wait group. What they wait for is called a permit
//! here, and the object together with what is waited for a semaphore: a channel is two of them.
//!
//! Such a call waits for ever if no permit is left, and no thread outside can come to a call that
//! gives one: each of these needs a request, or is kept. An event is *kept* if it, or an event
//! before it in its thread, that has not come, takes a permit of a semaphore that a request waits
//! for, and needs one, or begins a section that is excluded where the threads of the requests
//! stand. A thread has one to give at an event if, counted from there on, it gives more than it
//! takes at some later time: in one of the comparisons that the rule of the call consists of. So
//! who closes a channel has a value to give, however many it receives before.
//!
//! **Cost.** Linear in the calls of such objects, and in the semaphores of which a thread has a
//! permit to give wherever these change; a logarithm for each question.

use super::closure::acquire;
use super::found::{Permits, WaitsFor};
use super::sabotage::Sabotage;
use super::signals::{Condition, SignalWait, Signals};
use crate::confirm::blocking::{CallRule, CounterId};
use crate::confirm::chains::NONE;
use crate::confirm::past::Past;
use anyorder_system::Cancel;
use anyorder_trace::{ConditionId, EventKind, NameId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A call that gives or takes a permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PermitCall {
    pub(super) event: u32,
    /// Its clock.
    pub(super) row: u32,
    pub(super) gives: bool,
    /// Whether it takes one, and waits or fails where there is none.
    keeps: bool,
    /// The comparisons in which it gives or takes, one bit for each.
    comparisons: u64,
    /// By how much it changes the permits that are left.
    pub(super) change: i64,
    /// By how much all calls before it in its chain change them.
    pub(super) before: i64,
    /// The places of the first calls from this one on that take a permit; that keep the thread from
    /// going on; and that do that or give one.
    next_take: u32,
    next_keep: u32,
    next_mark: u32,
}

/// The calls of one semaphore in one chain, in order.
#[derive(Clone, Debug)]
pub(super) struct ChainCalls {
    pub(super) chain: u32,
    pub(super) calls: Vec<PermitCall>,
    /// The most by which first calls of the chain change the permits that are left.
    pub(super) most: i64,
}

impl ChainCalls {
    /// Returns the place of the first call at or after an event.
    pub(super) fn place(&self, event: u32) -> usize {
        self.calls.partition_point(|call| call.event < event)
    }

    /// Returns by how much the calls before an event change the permits that are left.
    pub(super) fn sum(&self, event: u32) -> i64 {
        let last = self.place(event).checked_sub(1).map(|last| self.calls[last]);
        last.map_or(0, |last| last.before.saturating_add(last.change))
    }

    /// Returns the first call at or after an event that takes a permit.
    pub(super) fn next_take(&self, event: u32) -> Option<PermitCall> {
        let next = self.calls.get(self.place(event))?;
        self.calls.get(next.next_take as usize).copied()
    }

    /// Returns the first call at or after an event that takes a permit and needs one.
    fn next_keep(&self, event: u32) -> Option<PermitCall> {
        let next = self.calls.get(self.place(event))?;
        self.calls.get(next.next_keep as usize).copied()
    }
}

/// A semaphore, by what its calls count.
#[derive(Clone, Debug, Default)]
pub(super) struct Semaphore {
    /// When a permit is left.
    rule: Option<CallRule>,
    /// What is left before all calls, by the first of several alternatives; `None` if what is left
    /// is no sum.
    pub(super) base: Option<i64>,
    /// By chain.
    pub(super) chains: Vec<ChainCalls>,
    /// Whether less than nothing may be left: some call takes a permit and does not wait for it, or
    /// only because there is another alternative.
    pub(super) is_overdrawn: bool,
}

impl Semaphore {
    /// Returns whether a call waits, or fails, where no permit is left.
    fn needed_by(&self, past: &Past<'_>, event: u32) -> bool {
        let mut own = past.blocking.call_rules(event, true);
        self.rule.as_ref().is_some_and(|rule| own.any(|of| of.has_condition_of(rule)))
    }
}

/// The calls that give and take permits.
#[derive(Clone, Debug, Default)]
pub(super) struct PermitCalls {
    of_counter: HashMap<CounterId, OfCounter>,
    /// By number among the conditions; empty for one that is no semaphore.
    semaphores: Vec<Semaphore>,
    /// By number and chain: the place of the chain.
    places: HashMap<(u32, u32), usize>,
    /// By chain: from behind one of its calls up to another one, the set of semaphores of which it
    /// has a permit to give. Each has that last call.
    ahead: HashMap<u32, Vec<(u32, Set)>>,
    /// Sets one after the other.
    sets: Vec<u32>,
    sabotage: Sabotage,
}

/// What nobody gets any more once the threads of a deadlock wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(in crate::confirm) struct Gone {
    /// The semaphores that they wait for, ascending.
    pub(in crate::confirm) semaphores: Vec<u32>,
    /// The locks that they hold, each with whether exclusively.
    pub(in crate::confirm) locks: Vec<(u32, bool)>,
}

/// What the calls of a counter do.
#[derive(Clone, Copy, Debug)]
struct OfCounter {
    /// The semaphore.
    number: u32,
    /// Whether they give permits.
    gives: bool,
    /// By how much each of them changes what is left.
    change: i64,
    comparisons: u64,
}

/// Where a set begins and ends.
type Set = (u32, u32);

impl PermitCalls {
    /// Takes the next call, with its clock.
    pub(super) fn take(&mut self, past: &Past<'_>, event: u32, row: u32) {
        let raises = past.blocking.raises(event).iter().filter(|raise| raise.counts);
        let found = raises.filter_map(|raise| self.of_counter.get(&raise.counter)).copied();
        let mut found: Vec<OfCounter> = found.collect();
        found.sort_by_key(|of| of.number);
        let most = if self.sabotage == Sabotage::OneSemaphore { 1 } else { usize::MAX };
        for of in found.chunk_by(|a, b| a.number == b.number).take(most) {
            self.take_of(past, (event, row), of);
        }
    }

    fn take_of(&mut self, past: &Past<'_>, (event, row): (u32, u32), of: &[OfCounter]) {
        let Some(first) = of.first() else { return };
        let (number, chain) = (first.number, past.chain[event as usize]);
        let semaphore = &mut self.semaphores[number as usize];
        let gives = of.iter().any(|of| of.gives);
        let waits = self.sabotage == Sabotage::TakersWait;
        let keeps = !gives && (waits || semaphore.needed_by(past, event));
        let at = *self.places.entry((number, chain)).or_insert_with(|| {
            semaphore.chains.push(ChainCalls { chain, calls: Vec::new(), most: 0 });
            semaphore.chains.len() - 1
        });
        let of_chain = &mut semaphore.chains[at];
        let last = of_chain.calls.last();
        let before = last.map_or(0, |last| last.before.saturating_add(last.change));
        let change = of.iter().fold(0, |sum: i64, of| sum.saturating_add(of.change));
        of_chain.most = of_chain.most.max(before.saturating_add(change));
        let counts = of.iter().filter(|of| of.gives == gives);
        of_chain.calls.push(PermitCall {
            event,
            row,
            gives,
            keeps,
            comparisons: counts.fold(0, |bits, of| bits | of.comparisons),
            change,
            before,
            next_take: NONE,
            next_keep: NONE,
            next_mark: NONE,
        });
    }

    /// Finds, once all calls were taken, where a thread has a permit to give. Returns whether the
    /// sets of semaphores need no more than `most` numbers.
    pub(super) fn finish(&mut self, most: usize, sabotage: Sabotage) -> bool {
        // By chain: its calls with their semaphores, and whether it has a permit to give from there
        // on.
        let mut of_chain: BTreeMap<u32, Vec<(u32, u32, bool)>> = BTreeMap::new();
        for (number, semaphore) in (0_u32..).zip(&mut self.semaphores) {
            for ChainCalls { chain, calls, .. } in &mut semaphore.chains {
                let all = of_chain.entry(*chain).or_default();
                // By comparison, the most that the calls from here on give at any time beyond what
                // they take.
                let mut ahead = [0_i64; 64];
                let end = calls.len() as u32;
                let (mut next_take, mut next_keep, mut next_mark) = (end, end, end);
                for (place, call) in (0..end).zip(calls.iter_mut()).rev() {
                    let takes = if sabotage == Sabotage::PermitsAnywhere { 0 } else { -1 };
                    for (at, ahead) in ahead.iter_mut().enumerate() {
                        if call.comparisons >> at & 1 == 1 {
                            *ahead = (*ahead).max(0) + if call.gives { 1 } else { takes };
                        }
                    }
                    if !call.gives {
                        next_take = place;
                    }
                    if call.keeps {
                        next_keep = place;
                    }
                    if call.keeps || call.gives {
                        next_mark = place;
                    }
                    (call.next_take, call.next_keep) = (next_take, next_keep);
                    call.next_mark = next_mark;
                    all.push((call.event, number, ahead.iter().any(|ahead| *ahead > 0)));
                }
            }
        }
        let mut known: HashMap<Vec<u32>, Set> = HashMap::new();
        let mut work = 0;
        for (chain, mut calls) in of_chain {
            calls.sort_unstable_by(|a, b| b.cmp(a));
            let mut has: BTreeSet<u32> = BTreeSet::new();
            let versions = self.ahead.entry(chain).or_default();
            for (event, number, is_ahead) in calls {
                if is_ahead == has.contains(&number) {
                    continue;
                }
                if is_ahead {
                    has.insert(number);
                } else {
                    has.remove(&number);
                }
                let list: Vec<u32> = has.iter().copied().collect();
                work += list.len();
                if work > most {
                    return false;
                }
                let set = *known.entry(list).or_insert_with_key(|list| {
                    let from = self.sets.len() as u32;
                    self.sets.extend(list);
                    (from, self.sets.len() as u32)
                });
                versions.push((event, set));
            }
            versions.reverse();
        }
        true
    }

    /// Adds the next semaphore, by the rule of a call that waits for it.
    fn add(&mut self, rule: &CallRule, number: u32, past: &Past<'_>) {
        let sum = rule.sum();
        let factors = sum.as_ref().map_or(&[][..], |(factors, _)| factors);
        let given = rule.helpers().map(|counter| (counter, true));
        for (counter, gives) in given.chain(rule.takers().map(|counter| (counter, false))) {
            let of = factors.iter().filter(|(other, _)| *other == counter);
            let change = of.map(|(_, factor)| *factor).sum();
            let comparisons = match self.sabotage == Sabotage::OneComparison {
                true => 1,
                false => rule.comparisons_of(counter),
            };
            self.of_counter.insert(counter, OfCounter { number, gives, change, comparisons });
        }
        // Calls that count in another alternative only.
        let is_other = |counter: &CounterId| {
            let of = factors.iter().filter(|(other, _)| other == counter);
            of.map(|(_, factor)| *factor).sum::<i64>() == 0
        };
        let mut counters = rule.counters().iter().filter(|counter| is_other(counter));
        let is_overdrawn = counters.any(|counter| past.blocking.before(*counter, NONE) > 0);
        let base = sum.as_ref().map(|(_, added)| *added);
        let rule = Some(rule.clone());
        let semaphore = Semaphore { base, is_overdrawn, rule, ..Semaphore::default() };
        self.semaphores.resize_with(number as usize, Semaphore::default);
        self.semaphores.push(semaphore);
    }

    /// Returns the calls of a semaphore, by chain.
    pub(super) fn chains(&self, number: u32) -> &[ChainCalls] {
        self.semaphores.get(number as usize).map_or(&[][..], |of| &of.chains)
    }

    /// Returns the calls of a semaphore in one chain.
    pub(super) fn of_chain(&self, number: u32, chain: u32) -> Option<&ChainCalls> {
        let at = *self.places.get(&(number, chain))?;
        self.semaphores[number as usize].chains.get(at)
    }

    /// Returns a semaphore; `None` for a condition.
    pub(super) fn semaphore(&self, number: u32) -> Option<&Semaphore> {
        self.semaphores.get(number as usize).filter(|of| !of.chains.is_empty())
    }
}

impl Signals {
    /// Finds the calls that wait for permits. Not all once the job is stopped.
    pub(super) fn add_permits(&mut self, past: &Past<'_>, cancel: &Cancel, sabotage: Sabotage) {
        if past.blocking.is_empty() || sabotage == Sabotage::PermitsForgotten {
            return;
        }
        self.permits.sabotage = sabotage;
        let calls = past.blocking.all();
        let mut numbers: HashMap<&[CounterId], u32> = HashMap::new();
        for (at, event) in calls.iter().enumerate() {
            if is_over(at, cancel) {
                return;
            }
            let Some((object, method, rule)) = permit(past, *event) else { continue };
            let next = self.conditions.len() as u32;
            let number = *numbers.entry(rule.counters()).or_insert(next);
            if number == next {
                self.permits.add(rule, number, past);
                let (id, of) = (object.0, Some((method, rule.clone())));
                self.conditions.push(Condition { id, of, signals: Vec::new() });
            }
            self.waits.push(SignalWait { place: *event, wait: NONE, condition: number });
        }
        for (at, event) in calls.into_iter().enumerate() {
            if is_over(at, cancel) {
                return;
            }
            let raises = past.blocking.raises(event).iter().filter(|raise| raise.counts);
            let taken = raises.filter_map(|raise| self.permits.of_counter.get(&raise.counter));
            for of in taken.filter(|of| !of.gives) {
                let semaphore = &mut self.permits.semaphores[of.number as usize];
                semaphore.is_overdrawn |= !semaphore.needed_by(past, event);
            }
        }
    }

    /// Returns the rule of a semaphore: it holds while a permit is left. `None` for a condition.
    pub(in crate::confirm) fn rule(&self, number: u32) -> Option<&CallRule> {
        self.conditions[number as usize].of.as_ref().map(|(_, rule)| rule)
    }

    /// Returns what a request waits for.
    pub(super) fn waits_for(&self, number: u32) -> WaitsFor {
        let Some(Condition { id, of, .. }) = self.conditions.get(number as usize) else {
            let barrier = number - self.conditions.len() as u32;
            return WaitsFor::Barrier(ConditionId(self.arrivals.barrier(barrier).unwrap_or(NONE)));
        };
        match of {
            None => WaitsFor::Signal(ConditionId(*id)),
            Some((method, _)) => WaitsFor::Call { object: NameId(*id), method: *method },
        }
    }

    /// Returns the semaphores of which a chain has a permit to give at an event.
    pub(super) fn permits_ahead(&self, chain: u32, event: u32) -> impl Iterator<Item = u32> + '_ {
        let versions = self.permits.ahead.get(&chain).map_or(&[][..], Vec::as_slice);
        let at = versions.partition_point(|(last, _)| *last < event);
        let (from, to) = versions.get(at).map_or((0, 0), |(_, set)| *set);
        self.permits.sets[from as usize..to as usize].iter().copied()
    }

    /// Returns the semaphores for which requests wait, ascending.
    pub(in crate::confirm) fn awaited(&self, requests: &[u32], waits: &[bool]) -> Vec<u32> {
        let waiting = requests.iter().zip(waits).filter(|(_, is_wait)| **is_wait);
        let numbers = waiting.filter_map(|(request, _)| self.wait_at(*request));
        let numbers = numbers.map(|wait| wait.condition);
        let mut numbers: Vec<u32> = numbers.filter(|of| self.rule(*of).is_some()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the chains that have calls of some semaphores, ascending.
    pub(super) fn callers(&self, semaphores: &[u32]) -> Vec<u32> {
        let all = semaphores.iter().flat_map(|number| self.permits.chains(*number));
        let mut chains: Vec<u32> = all.map(|of| of.chain).collect();
        chains.sort_unstable();
        chains.dedup();
        chains
    }

    /// Returns the first event of a chain that begins a section which nobody gets any more, among
    /// those from `from` on; `NONE` if there is none.
    pub(super) fn next_section(
        &self,
        past: &Past<'_>,
        locks: &[(u32, bool)],
        (chain, from): (u32, u32),
    ) -> u32 {
        let first = self.sections_of(locks, chain).filter_map(|all| {
            let next = all.partition_point(|section| acquire(past, *section) < from);
            all.get(next).map(|section| acquire(past, *section))
        });
        first.min().unwrap_or(NONE)
    }

    /// Returns, for each lock, the sections of a chain that nobody gets any more.
    fn sections_of(&self, locks: &[(u32, bool)], chain: u32) -> impl Iterator<Item = &[u32]> {
        locks.iter().filter_map(move |(lock, exclusive)| {
            let lists = &self.locks.get(*lock as usize)?.lists;
            let at = lists.binary_search_by_key(&chain, |list| list.chain).ok()?;
            Some(if *exclusive { &lists[at].all[..] } else { &lists[at].exclusive[..] })
        })
    }

    /// Returns the last call with which a chain gives a permit that is awaited before an event that
    /// is kept, if its events before `top` have come; without those that need a request.
    pub(super) fn gives_next(
        &self,
        past: &Past<'_>,
        (gone, requests): (&Gone, &[u32]),
        (chain, top): (u32, u32),
    ) -> Option<u32> {
        let lists = || gone.semaphores.iter().filter_map(|of| self.permits.of_chain(*of, chain));
        let takes = lists().filter_map(|of| of.next_keep(top)).map(|call| call.event);
        let sections = self.next_section(past, &gone.locks, (chain, top));
        let stop = takes.min().unwrap_or(NONE).min(sections);
        let last = lists().filter_map(|of| {
            let calls = &of.calls[of.place(top)..of.place(stop)];
            let is_free =
                |call: &PermitCall| !self.needs(past, (chain, (call.event, call.row)), requests);
            let free = calls.partition_point(is_free);
            calls[..free].iter().rfind(|call| call.gives).map(|call| call.event)
        });
        last.max()
    }

    /// Returns, for each chain whose next call of the awaited semaphores gives a permit, is not
    /// kept and needs no request, that call, and the last event by which the chain came so far: a
    /// call, or the beginning of a section that would keep it. `NONE` if there is none.
    pub(in crate::confirm) fn gives_left(
        &self,
        past: &Past<'_>,
        (gone, requests): (&Gone, &[u32]),
        has_come: &dyn Fn(u32) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut left = Vec::new();
        for chain in self.callers(&gone.semaphores) {
            let (mut next, mut last) = (None::<PermitCall>, None::<u32>);
            for of in gone.semaphores.iter().filter_map(|of| self.permits.of_chain(*of, chain)) {
                let come = of.calls.partition_point(|call| has_come(call.event));
                last = last.max(come.checked_sub(1).map(|at| of.calls[at].event));
                let of_next =
                    of.calls.get(come).and_then(|next| of.calls.get(next.next_mark as usize));
                // What takes a value may give room as well.
                let key = |call: &PermitCall| (call.event, call.gives);
                next = next.into_iter().chain(of_next.copied()).min_by_key(key);
            }
            let Some(call) = next.filter(|call| call.gives) else { continue };
            let mut is_kept = false;
            for all in self.sections_of(&gone.locks, chain) {
                let begins = |at: usize| all.get(at).map(|section| acquire(past, *section));
                let come = all.partition_point(|section| has_come(acquire(past, *section)));
                last = last.max(come.checked_sub(1).and_then(begins));
                is_kept |= begins(come).is_some_and(|next| next < call.event);
            }
            if !is_kept && !self.needs(past, (chain, (call.event, call.row)), requests) {
                left.push((call.event, last.unwrap_or(NONE)));
            }
        }
        left
    }

    /// Returns how many permits a semaphore has in the beginning; `None` for a condition. There
    /// cannot be more than needed if an attempt failed when all of those were taken.
    pub(super) fn permits(&self, past: &Past<'_>, number: u32) -> Option<Permits> {
        let Condition { id, of, .. } = &self.conditions[number as usize];
        let (_, rule) = of.as_ref()?;
        let fails = |event: &u32| {
            let is_taker = |counter: CounterId| rule.takers().any(|taker| taker == counter);
            let mut raises = past.blocking.raises(*event).iter();
            raises.any(|raise| is_taker(raise.counter) && !raise.counts)
                && has_result(past, *event)
                && !rule.holds(|counter| past.blocking.before(counter, *event))
        };
        let is_known =
            !rule.is_open() || rule.has_attempts() && past.blocking.all().iter().any(fails);
        Some(Permits { object: NameId(*id), least: rule.open(), is_known })
    }
}

fn has_result(past: &Past<'_>, event: u32) -> bool {
    let (op, operand) = past.op(event);
    let calls = &past.trace.tables().invocations;
    op.kind() == EventKind::Invoke
        && calls.get(operand as usize).is_some_and(|call| call.result.is_some())
}

/// Returns the object and the method of a call that waits, and its rule.
fn permit<'p>(past: &'p Past<'_>, event: u32) -> Option<(NameId, NameId, &'p CallRule)> {
    let (op, operand) = past.op(event);
    let call = past.trace.tables().invocations.get(operand as usize)?;
    if op.kind() != EventKind::Invoke {
        return None;
    }
    Some((call.object, call.method, past.blocking.waits_by(event)?))
}

fn is_over(at: usize, cancel: &Cancel) -> bool {
    at.is_multiple_of(1 << 12) && cancel.reason().is_some()
}
