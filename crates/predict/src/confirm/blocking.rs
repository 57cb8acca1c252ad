//! Blocking invocations: the calls that count for and against a waiting call, and the rules that it
//! must satisfy.
//!
//! *Counters* hold the numbers of calls: one for each object, pattern of a rule and key.

use super::chains::NONE;
use anyorder_commute::{Counted, Invocation, Value, WaitRule};
use anyorder_stream::Communication;
use anyorder_system::Cancel;
use anyorder_trace::{Event, Trace};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Number of a counter.
pub(super) type CounterId = u32;

/// A rule that a call must satisfy.
#[derive(Clone, Debug)]
pub(super) struct CallRule {
    rule: Arc<WaitRule>,
    /// In the order of the calls that the rule counts.
    counters: Vec<CounterId>,
    /// The value of the rule's open number: the least with which the trace satisfies the rules of
    /// the object.
    open: i64,
}

/// A counter that a call raises, or could raise with another result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raise {
    pub(super) counter: CounterId,
    /// Whether it depends on its result.
    pub(super) depends_on_result: bool,
    /// Whether it raises the counter with its recorded result.
    pub(super) counts: bool,
}

/// The data of a call.
#[derive(Clone, Debug, Default)]
struct Call {
    raises: Vec<Raise>,
    call_rules: Vec<CallRule>,
    /// Whether it must keep its observations, even if communication is not required.
    bound: bool,
    /// Whether it fails, instead of waiting.
    fails: bool,
}

/// The calls that a counter counts.
#[derive(Clone, Debug, Default)]
struct Counter {
    /// In the order of the trace.
    events: Vec<u32>,
    /// The same events, by chain.
    chains: Vec<Vec<u32>>,
}

/// The calls of all objects that have waiting calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocking {
    calls: HashMap<u32, Call>,
    counters: Vec<Counter>,
    /// During the pass over the trace: event, object and invocation; and the rules of each object.
    seen: Vec<(u32, u32, Invocation)>,
    rules: HashMap<u32, Vec<Arc<WaitRule>>>,
    /// The calls that fail instead of waiting.
    failing: HashSet<u32>,
}

/// The key of a counter during construction: object, rule, position among the rule's patterns, key.
type Place = (u32, usize, usize, Vec<Value>);

impl Blocking {
    /// Takes the next event, an invocation of an object.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: Event,
        object: u32,
        communication: &dyn Communication,
    ) {
        let waits = communication.waits(trace.tables(), event.op, event.operand);
        let Some((waits, invocation)) = waits else { return };
        self.rules.entry(object).or_insert_with(|| waits.rules().to_vec());
        if waits.fails(method(trace, event.id.0)) {
            self.failing.insert(event.id.0);
        }
        self.seen.push((event.id.0, object, invocation));
    }

    /// Handles the end of the trace: finds the rules that each call must satisfy. Once the job is
    /// stopped, not all.
    pub(super) fn finish(&mut self, cancel: &Cancel, chain: &[u32]) {
        let (seen, rules) = (std::mem::take(&mut self.seen), std::mem::take(&mut self.rules));
        let mut places: HashMap<Place, CounterId> = HashMap::new();
        let mut open: HashMap<u32, i64> = HashMap::new();
        for (at, (event, object, invocation)) in seen.iter().enumerate() {
            if at.is_multiple_of(1 << 10) && cancel.reason().is_some() {
                return;
            }
            let rules = rules.get(object).map_or(&[][..], Vec::as_slice);
            let fails = self.failing.contains(event);
            let mut call = Call { fails, ..Call::default() };
            for (number, rule) in
                rules.iter().enumerate().filter(|(_, rule)| rule.applies(invocation))
            {
                call.bound |= rule.is_observed();
                let counted = rule.counted().iter().enumerate();
                let counters: Vec<CounterId> = counted
                    .map(|(place, counted)| {
                        let key = counted.key_for(invocation);
                        self.counter(&mut places, (*object, number, place, key))
                    })
                    .collect();
                let counts: Vec<i64> = counters
                    .iter()
                    .map(|counter| self.counters[*counter as usize].events.len() as i64)
                    .collect();
                // Rules that the trace itself breaks are not required.
                let Some(least) = rule.least(&counts) else { continue };
                let known = open.entry(*object).or_default();
                *known = least.max(*known);
                call.call_rules.push(CallRule { rule: Arc::clone(rule), counters, open: 0 });
            }
            for (number, rule) in rules.iter().enumerate() {
                for (place, counted) in rule.counted().iter().enumerate() {
                    let Some(key) = counted.key_of_any(invocation) else { continue };
                    let counter = self.counter(&mut places, (*object, number, place, key));
                    let counts = counted.key_of(invocation).is_some();
                    if counts {
                        self.counters[counter as usize].events.push(*event);
                    }
                    call.raises.push(Raise {
                        counter,
                        depends_on_result: counted.uses_result(),
                        counts,
                    });
                }
            }
            self.calls.insert(*event, call);
        }
        for (event, object, _) in &seen {
            let known = open.get(object).copied().unwrap_or_default();
            if let Some(call) = self.calls.get_mut(event) {
                call.call_rules.iter_mut().for_each(|call_rule| call_rule.open = known);
            }
        }
        for counter in &mut self.counters {
            let mut chains: HashMap<u32, usize> = HashMap::new();
            for event in &counter.events {
                let next = chains.len();
                let at = *chains.entry(chain[*event as usize]).or_insert(next);
                if at == counter.chains.len() {
                    counter.chains.push(Vec::new());
                }
                counter.chains[at].push(*event);
            }
        }
    }

    fn counter(&mut self, places: &mut HashMap<Place, CounterId>, place: Place) -> CounterId {
        let next = self.counters.len() as u32;
        let counter = *places.entry(place).or_insert(next);
        if counter == next {
            self.counters.push(Counter::default());
        }
        counter
    }

    /// Returns the number of counters.
    pub(super) fn counters(&self) -> usize {
        self.counters.len()
    }

    /// Returns whether no call waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the counters that a call raises or could raise.
    pub(super) fn raises(&self, event: u32) -> &[Raise] {
        self.calls.get(&event).map_or(&[], |call| call.raises.as_slice())
    }

    /// Returns the rules that a call must satisfy. Rules about results are included only
    /// `with_results`.
    pub(super) fn call_rules(
        &self,
        event: u32,
        with_results: bool,
    ) -> impl Iterator<Item = &CallRule> {
        let call_rules = self.calls.get(&event).map_or(&[][..], |call| call.call_rules.as_slice());
        call_rules.iter().filter(move |call_rule| with_results || !call_rule.rule.is_of_result())
    }

    /// Returns the calls of objects that have waiting calls, in the order of the trace.
    pub(super) fn all(&self) -> Vec<u32> {
        let mut calls: Vec<u32> = self.calls.keys().copied().collect();
        calls.sort_unstable();
        calls
    }

    /// Returns the rule by which a call waits, if there is exactly one; of a call that may return
    /// with any result.
    pub(super) fn waits_by(&self, event: u32) -> Option<&CallRule> {
        let is_waiting = self.calls.get(&event).is_some_and(|call| !call.fails);
        let mut rules = self.call_rules(event, false).filter(|_| is_waiting);
        let rule = rules.next().filter(|rule| rule.is_monotone() && rule.helpers().count() > 0)?;
        rules.next().is_none().then_some(rule)
    }

    /// Returns whether a call must keep its observations at any position.
    pub(super) fn is_bound(&self, event: u32) -> bool {
        self.calls.get(&event).is_some_and(|call| call.bound)
    }

    /// Returns how many of the calls that a counter counts come before a position.
    pub(super) fn before(&self, counter: CounterId, position: u32) -> i64 {
        self.first_calls(counter, position).len() as i64
    }

    /// Returns the calls that a counter counts before a position, in the order of the trace.
    pub(super) fn first_calls(&self, counter: CounterId, position: u32) -> &[u32] {
        let events = &self.counters[counter as usize].events;
        &events[..events.partition_point(|event| *event < position)]
    }

    /// Returns, for each chain, the calls that a counter counts, in order.
    pub(super) fn chains(&self, counter: CounterId) -> impl Iterator<Item = &[u32]> {
        self.counters[counter as usize].chains.iter().map(Vec::as_slice)
    }

    /// Returns, for each chain, the calls that could make a rule hold, in order.
    pub(super) fn helpers<'b>(
        &'b self,
        call_rule: &'b CallRule,
    ) -> impl Iterator<Item = &'b [u32]> {
        call_rule.helpers().flat_map(|counter| self.chains(counter))
    }

    /// Returns, for each chain, the calls that could make a rule fail, in order.
    pub(super) fn takers<'b>(&'b self, call_rule: &'b CallRule) -> impl Iterator<Item = &'b [u32]> {
        call_rule.takers().flat_map(|counter| self.chains(counter))
    }
}

impl CallRule {
    /// Returns the counters whose increase can make the rule hold.
    pub(super) fn helpers(&self) -> impl Iterator<Item = CounterId> + '_ {
        self.counters_that(|counted| counted.helps)
    }

    /// Returns the counters whose increase can make the rule fail.
    pub(super) fn takers(&self) -> impl Iterator<Item = CounterId> + '_ {
        self.counters_that(|counted| counted.hurts)
    }

    fn counters_that(&self, are: fn(&Counted) -> bool) -> impl Iterator<Item = CounterId> + '_ {
        let counted = self.rule.counted().iter().zip(&self.counters);
        counted.filter(move |(counted, _)| are(counted)).map(|(_, counter)| *counter)
    }

    /// Returns the counters that the rule reads.
    pub(super) fn counters(&self) -> &[CounterId] {
        &self.counters
    }

    /// Returns the value of the open number.
    pub(super) fn open(&self) -> i64 {
        self.open
    }

    /// Returns the sum that the rule compares with 0: a factor for each counter that the rule
    /// reads, and what is added to them. Of several alternatives, the first one.
    pub(super) fn sum(&self) -> Option<(Vec<(CounterId, i64)>, i64)> {
        let (factors, added) = self.rule.sum(self.open)?;
        Some((self.counters.iter().copied().zip(factors).collect(), added))
    }

    /// Returns which comparisons of the condition count the calls of a counter, one bit for each.
    /// There are no more than 64.
    pub(super) fn comparisons_of(&self, counter: CounterId) -> u64 {
        let is_of = |places: &Vec<usize>| places.iter().any(|at| self.counters[*at] == counter);
        let all = self.rule.comparisons();
        let of = all.iter().take(64).enumerate().filter(|(_, places)| is_of(places));
        of.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Returns whether a call that could make the rule fail does so only with one result.
    pub(super) fn has_attempts(&self) -> bool {
        self.rule.counted().iter().any(|counted| counted.hurts && counted.uses_result())
    }

    /// Returns whether another rule has the same condition.
    pub(super) fn has_condition_of(&self, other: &CallRule) -> bool {
        self.rule.has_condition_of(&other.rule)
    }

    /// Returns whether the rule leaves a number open.
    pub(super) fn is_open(&self) -> bool {
        self.rule.is_open()
    }

    /// Returns whether each call that the rule counts can make it hold, or fail, and not both.
    pub(super) fn is_monotone(&self) -> bool {
        self.rule.counted().iter().all(|counted| counted.helps != counted.hurts)
    }

    /// Returns whether the rule holds, given the value of each counter.
    pub(super) fn holds(&self, mut count: impl FnMut(CounterId) -> i64) -> bool {
        let counts: Vec<i64> = self.counters.iter().map(|counter| count(*counter)).collect();
        self.rule.holds(&counts, self.open)
    }
}

/// Returns the method of a call.
fn method(trace: &Trace, event: u32) -> &str {
    let tables = trace.tables();
    let call = tables.invocations.get(trace.columns().operands[event as usize] as usize);
    call.map_or("", |call| tables.name(call.method))
}

/// Returns the first missing event among ordered events of a chain, or `NONE`. The events that have
/// come form a prefix.
pub(super) fn first_missing(events: &[u32], has_come: impl Fn(u32) -> bool) -> u32 {
    let at = events.partition_point(|event| has_come(*event));
    events.get(at).copied().unwrap_or(NONE)
}

/// Returns the last event that has come.
pub(super) fn last_come(events: &[u32], has_come: impl Fn(u32) -> bool) -> u32 {
    let at = events.partition_point(|event| has_come(*event));
    at.checked_sub(1).map_or(NONE, |at| events[at])
}
