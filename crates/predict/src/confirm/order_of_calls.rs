//! The orders that calls of objects give to the recorded run.
//!
//! **Definition computed.** A call that may have to wait comes after each call that it observes,
//! and after each call that it waited for. It waited for the calls of a kind if its condition would
//! not hold with one of them fewer; the number that its type leaves open is the least with which
//! the trace is possible. This is how locks order events in happens-before: by what came first in
//! this run. Calls that never wait order nothing: who reads a map that happens to hold a value has
//! not waited for the value.
//!
//! **Cost.** If *n* threads each wait for all earlier ones, listing what each waited for takes n²
//! pairs. So each task and each call has the number of first calls of a counter that are before it
//! anyway, and a pair is listed only for what no other pair implies: about one for each call where
//! a semaphore is used as a lock; for calls that several tasks wait for in turn, one for each of
//! these tasks. Time as the number of pairs, besides that of the search's preparation.

use super::blocking::{Blocking, CounterId};
use super::calls::Calls;
use super::chains::NONE;
use anyorder_stream::Communication;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap};

/// The orders so far.
struct Orders<'t> {
    trace: &'t Trace,
    list: Vec<(EventId, EventId)>,
    /// By the tasks of both, the latest call that a call was ordered with.
    latest: HashMap<(u32, u32), u32>,
    /// By task, how many first calls of a counter are before what comes next in it.
    of_task: HashMap<(u32, CounterId), usize>,
    /// By call of a counter, how many first calls of that counter are before it.
    of_call: HashMap<(u32, CounterId), usize>,
}

impl Orders<'_> {
    fn task(&self, event: u32) -> u32 {
        self.trace.event(EventId(event)).task.0
    }

    fn add(&mut self, from: u32, to: u32) {
        let tasks = (self.task(from), self.task(to));
        let latest = self.latest.entry(tasks).or_insert(NONE);
        if tasks.0 != tasks.1 && (*latest == NONE || *latest < from) {
            *latest = from;
            self.list.push((EventId(from), EventId(to)));
        }
    }

    /// Adds that a call is after some first calls of a counter.
    fn add_all(&mut self, calls: &[u32], counter: CounterId, to: u32) {
        let place = (self.task(to), counter);
        let mut low = self.of_task.get(&place).copied().unwrap_or(0);
        let mut at = calls.len();
        while at > low {
            at -= 1;
            self.add(calls[at], to);
            low = low.max(self.of_call.get(&(calls[at], counter)).copied().unwrap_or(0));
        }
        self.of_task.insert(place, calls.len());
    }
}

/// Returns the orders that calls give, as pairs of events: with program order, all that the
/// definition above has.
///
/// # Errors
///
/// Fails if the job is stopped.
pub fn orders_of_calls(
    trace: &Trace,
    communication: &mut dyn Communication,
    cancel: &Cancel,
) -> Result<Vec<(EventId, EventId)>, Stopped> {
    let (mut calls, mut blocking) = (Calls::default(), Blocking::default());
    // Each call, and of those that it observes the last one of each task.
    let mut invoked: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut observed: BTreeMap<u32, u32> = BTreeMap::new();
    for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
        cancel.check()?;
        let id = event.id.0;
        observed.clear();
        calls.take(trace, event, communication, &mut |source| {
            let last = observed.entry(trace.event(EventId(source)).task.0).or_insert(source);
            *last = source.max(*last);
        });
        let Some(object) = calls.object(id) else { continue };
        blocking.take(trace, event, object, communication);
        if communication.waits(trace.tables(), event.op, event.operand).is_some() {
            invoked.push((id, observed.values().copied().collect()));
        }
    }
    let threads: Vec<u32> = trace.events().map(|event| trace.handler_of(event.id).0).collect();
    blocking.finish(cancel, &threads);
    let (of_task, of_call) = (HashMap::new(), HashMap::new());
    let mut orders = Orders { trace, list: Vec::new(), latest: HashMap::new(), of_task, of_call };
    for (id, observed) in invoked {
        cancel.check()?;
        for rule in blocking.call_rules(id, true) {
            observed.iter().for_each(|source| orders.add(*source, id));
            let count = |counter| blocking.before(counter, id);
            for kind in rule.helpers() {
                let with_one_fewer = |counter| count(counter) - i64::from(counter == kind);
                if count(kind) > 0 && rule.holds(count) && !rule.holds(with_one_fewer) {
                    orders.add_all(blocking.first_calls(kind, id), kind, id);
                }
            }
        }
        let task = orders.task(id);
        for raise in blocking.raises(id).iter().filter(|raise| raise.counts) {
            if let Some(first) = orders.of_task.get(&(task, raise.counter)) {
                orders.of_call.insert((id, raise.counter), *first);
            }
        }
    }
    Ok(orders.list)
}
