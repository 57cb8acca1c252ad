//! The orders that calls of objects give to the recorded run.
//!
//! **Definition computed.** A call that may have to wait comes after each call that it observes,
//! and after each call that it waited for. It waited for the calls of a kind if its condition would
//! not hold with one of them fewer; the number that its type leaves open is the least with which
//! the trace is possible. This is how locks order events in happens-before: by what came first in
//! this run. Calls that never wait order nothing: who reads a map that happens to hold a value has
//! not waited for the value.
//!
//! Of calls that one handler makes, a call is put after the last one only. For a thread that is all
//! the same, by program order. Where a handler runs many tasks, orders with the earlier ones are
//! missing.
//!
//! **Cost.** A pair of events for each call that another task had not yet been ordered with, so at
//! most as many as calls times handlers. Time as that of the search's preparation.

use super::blocking::{Blocking, last_come};
use super::calls::Calls;
use super::chains::NONE;
use anyorder_stream::Communication;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap};

/// The orders so far.
struct Orders<'t> {
    trace: &'t Trace,
    list: Vec<(EventId, EventId)>,
    /// By the tasks of both, the latest call that a call was ordered with.
    latest: HashMap<(u32, u32), u32>,
}

impl Orders<'_> {
    fn add(&mut self, from: u32, to: u32) {
        let task = |event| self.trace.event(EventId(event)).task.0;
        let tasks = (task(from), task(to));
        let latest = self.latest.entry(tasks).or_insert(NONE);
        if tasks.0 != tasks.1 && (*latest == NONE || *latest < from) {
            *latest = from;
            self.list.push((EventId(from), EventId(to)));
        }
    }
}

/// Returns the orders that calls give, as pairs of events: with program order, all that the
/// definition above has. Once the job is stopped, those found by then.
#[must_use]
pub fn orders_of_calls(
    trace: &Trace,
    communication: &mut dyn Communication,
    cancel: &Cancel,
) -> Vec<(EventId, EventId)> {
    let (mut calls, mut blocking) = (Calls::default(), Blocking::default());
    let mut orders = Orders { trace, list: Vec::new(), latest: HashMap::new() };
    // Each call, and of those that it observes the last one of each thread.
    let mut invoked: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut observed: BTreeMap<u32, u32> = BTreeMap::new();
    for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
        if cancel.reason().is_some() {
            return orders.list;
        }
        let id = event.id.0;
        observed.clear();
        calls.take(trace, event, communication, &mut |source| {
            let last = observed.entry(trace.handler_of(EventId(source)).0).or_insert(source);
            *last = source.max(*last);
        });
        if let Some(object) = calls.object(id) {
            blocking.take(trace, event, object, communication);
            invoked.push((id, observed.values().copied().collect()));
        }
    }
    let threads: Vec<u32> = trace.events().map(|event| trace.handler_of(event.id).0).collect();
    blocking.finish(&threads);
    for (id, observed) in invoked {
        for rule in blocking.call_rules(id, true) {
            observed.iter().for_each(|source| orders.add(*source, id));
            let count = |counter| blocking.before(counter, id);
            for kind in rule.helpers() {
                let with_one_fewer = |counter| count(counter) - i64::from(counter == kind);
                if count(kind) == 0 || !rule.holds(count) || rule.holds(with_one_fewer) {
                    continue;
                }
                for of_thread in blocking.chains(kind) {
                    let last = last_come(of_thread, |call| call < id);
                    if last != NONE {
                        orders.add(last, id);
                    }
                }
            }
        }
    }
    orders.list
}
