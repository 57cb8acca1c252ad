//! Calls that wait for a permit of a semaphore, as members of a deadlock.
//!
//! Such a call waits for ever if every call that gives a permit and needs no request has come, and
//! no permit is left. A thread has one to give at an event if, counted from there on, it gives more
//! than it takes at some later time.
//!
//! **Cost.** Linear in the calls of semaphores, times a logarithm for each question.

use super::found::{Permits, WaitsFor};
use super::sabotage::Sabotage;
use super::signals::{Condition, SignalWait, Signals};
use crate::confirm::blocking::{CallRule, CounterId};
use crate::confirm::chains::NONE;
use crate::confirm::past::Past;
use anyorder_trace::{ConditionId, EventKind, NameId};
use std::collections::HashMap;

/// The method that waits for a permit.
const ACQUIRE: &str = "acquire";

/// The number of a semaphore, and calls of it, each with a fact about it.
type SemaphoreCalls = (u32, Vec<(u32, bool)>);

/// The most calls of semaphores: all calls that give a permit must come, and with many threads that
/// is most of the trace, in another order.
pub(in crate::confirm) const CALLS_MAX: usize = 512;

/// The calls that give and take permits.
#[derive(Clone, Debug, Default)]
pub(super) struct PermitCalls {
    /// By counter: the number of the semaphore, and whether the counted calls give permits.
    of_counter: HashMap<CounterId, (u32, bool)>,
    /// By call, its clock.
    rows: HashMap<u32, u32>,
    /// By chain: its semaphores with their calls, in order. Each has whether it gives a permit; at
    /// the end, whether the thread has one to give from there on.
    by_chain: HashMap<u32, Vec<SemaphoreCalls>>,
}

impl PermitCalls {
    /// Takes the next call, with its clock. Returns the semaphore of which it gives or takes a
    /// permit, and whether it gives one.
    pub(super) fn take(&mut self, past: &Past<'_>, event: u32, row: u32) -> Option<(u32, bool)> {
        let raises = past.blocking.raises(event).iter().filter(|raise| raise.counts);
        let found = raises.filter_map(|raise| self.of_counter.get(&raise.counter)).next();
        let (number, gives) = *found?;
        self.rows.insert(event, row);
        let of_chain = self.by_chain.entry(past.chain[event as usize]).or_default();
        match of_chain.iter_mut().find(|(other, _)| *other == number) {
            Some((_, calls)) => calls.push((event, gives)),
            None => of_chain.push((number, vec![(event, gives)])),
        }
        Some((number, gives))
    }

    /// Finds, once all calls were taken, from which of them on a thread has a permit to give.
    pub(super) fn finish(&mut self, sabotage: Sabotage) {
        for (_, calls) in self.by_chain.values_mut().flatten() {
            // The most that the calls from here on give at any time beyond what they take.
            let mut most = 0_i64;
            for (_, gives) in calls.iter_mut().rev() {
                let takes = if sabotage == Sabotage::PermitsAnywhere { 0 } else { -1 };
                most = most.max(0) + if *gives { 1 } else { takes };
                *gives = most > 0;
            }
        }
    }
}

impl Signals {
    /// Finds the calls that wait for permits.
    pub(super) fn add_permits(&mut self, past: &Past<'_>, sabotage: Sabotage) {
        if past.blocking.is_empty() || sabotage == Sabotage::PermitsForgotten {
            return;
        }
        let calls = past.blocking.of_semaphores();
        if calls.len() > CALLS_MAX {
            self.lacks_permits = true;
            return;
        }
        let mut numbers: HashMap<&[CounterId], u32> = HashMap::new();
        for event in calls {
            let Some((name, rule)) = permit(past, event) else { continue };
            let next = self.conditions.len() as u32;
            let number = *numbers.entry(rule.counters()).or_insert(next);
            if number == next {
                let gives = rule.helpers().map(|counter| (counter, (number, true)));
                self.permits.of_counter.extend(gives);
                let takes = rule.takers().map(|counter| (counter, (number, false)));
                self.permits.of_counter.extend(takes);
                let rule = Some(rule.clone());
                self.conditions.push(Condition { id: name.0, rule, signals: Vec::new() });
            }
            self.waits.push(SignalWait { place: event, wait: NONE, condition: number });
        }
    }

    /// Returns the rule of a semaphore: it holds while a permit is left. `None` for a condition.
    pub(in crate::confirm) fn rule(&self, number: u32) -> Option<&CallRule> {
        self.conditions[number as usize].rule.as_ref()
    }

    /// Returns what a request waits for.
    pub(super) fn waits_for(&self, number: u32) -> WaitsFor {
        let Condition { id, rule, .. } = &self.conditions[number as usize];
        match rule {
            None => WaitsFor::Signal(ConditionId(*id)),
            Some(_) => WaitsFor::Permit(NameId(*id)),
        }
    }

    /// Returns the number of semaphores of which a chain gives or takes permits.
    pub(super) fn semaphores_of(&self, chain: u32) -> usize {
        self.permits.by_chain.get(&chain).map_or(0, Vec::len)
    }

    /// Returns the semaphores of which a chain has a permit to give at an event.
    pub(super) fn permits_ahead(&self, chain: u32, event: u32) -> impl Iterator<Item = u32> + '_ {
        let all = self.permits.by_chain.get(&chain).map_or(&[][..], Vec::as_slice);
        all.iter().filter_map(move |(number, calls)| {
            let next = calls.partition_point(|(call, _)| *call < event);
            calls.get(next).is_some_and(|(_, has)| *has).then_some(*number)
        })
    }

    /// Returns whether all permits can be taken at a request, if it waits for one: whether those
    /// calls that need no request take as many as there are.
    pub(super) fn may_run_out(&self, past: &Past<'_>, request: u32, requests: &[u32]) -> bool {
        let wait = self.wait_at(request);
        let Some(rule) = wait.and_then(|wait| self.rule(wait.condition)) else { return true };
        !rule.holds(|counter| {
            let free = past.blocking.chains(counter).map(|calls| {
                let is_free = |call: &u32| {
                    let row = self.permits.rows.get(call).copied().unwrap_or_default();
                    !self.needs(past, (past.chain[*call as usize], (*call, row)), requests)
                };
                calls.partition_point(is_free) as i64
            });
            free.sum()
        })
    }

    /// Returns how many permits a semaphore has in the beginning; `None` for a condition. There
    /// cannot be more than needed if an attempt failed when all of those were taken.
    pub(super) fn permits(&self, past: &Past<'_>, number: u32) -> Option<Permits> {
        let Condition { id, rule, .. } = &self.conditions[number as usize];
        let rule = rule.as_ref()?;
        let fails = |event: &u32| {
            let is_taker = |counter: CounterId| rule.takers().any(|taker| taker == counter);
            let mut raises = past.blocking.raises(*event).iter();
            raises.any(|raise| is_taker(raise.counter) && !raise.counts)
                && has_result(past, *event)
                && !rule.holds(|counter| past.blocking.before(counter, *event))
        };
        let is_known = !rule.is_open() || past.blocking.of_semaphores().iter().any(fails);
        Some(Permits { object: NameId(*id), least: rule.open(), is_known })
    }
}

fn has_result(past: &Past<'_>, event: u32) -> bool {
    let (op, operand) = past.op(event);
    let calls = &past.trace.tables().invocations;
    op.kind() == EventKind::Invoke
        && calls.get(operand as usize).is_some_and(|call| call.result.is_some())
}

/// Returns the name of the semaphore of a call that waits for a permit, and its rule.
fn permit<'p>(past: &'p Past<'_>, event: u32) -> Option<(NameId, &'p CallRule)> {
    let (op, operand) = past.op(event);
    let tables = past.trace.tables();
    let call = tables.invocations.get(operand as usize)?;
    if op.kind() != EventKind::Invoke || tables.name(call.method) != ACQUIRE {
        return None;
    }
    let mut rules = past.blocking.call_rules(event, false);
    let rule = rules.next().filter(|rule| rule.is_monotone())?;
    rules.next().is_none().then_some((call.object, rule))
}
