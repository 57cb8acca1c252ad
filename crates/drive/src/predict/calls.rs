//! The invocations of a trace, for the check of witnesses.

use crate::not_understood::{PLACES_MAX, TEXTS_MAX};
use anyorder_certify::{Call, CallRules, Calls};
use anyorder_commute::{Comm, Invocation, Value, Waits};
use anyorder_finding::{Warning, WarningKind};
use anyorder_predict::{Communication, SpecifiedCall, SpecifiedCommunication, Types};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap};

/// The events after which it is asked again whether the job is stopped. Asking at calls alone would
/// let a long trace without calls go on.
const BETWEEN_POLLS: usize = 1 << 12;

/// Returns how the invocations of a trace communicate; not of all of them once the job is stopped.
pub(super) fn communication(
    trace: &Trace,
    types: &Types,
    cancel: &Cancel,
) -> SpecifiedCommunication {
    let mut goes_on = || cancel.reason().is_none();
    SpecifiedCommunication::new_while(types.clone(), trace, &mut goes_on)
}

/// The invocations of specified objects. Search and check share the types of objects, but each
/// computes the observations of invocations itself.
#[derive(Debug)]
pub(crate) struct SpecifiedCalls {
    calls: SpecifiedCommunication,
}

impl SpecifiedCalls {
    /// Collects all invocations of a trace; not the rest of them once the job is stopped.
    pub(crate) fn new(trace: &Trace, types: &Types, cancel: &Cancel) -> SpecifiedCalls {
        let mut calls = communication(trace, types, cancel);
        let columns = trace.columns();
        for (at, (op, operand)) in columns.ops.iter().zip(&columns.operands).enumerate() {
            if at.is_multiple_of(BETWEEN_POLLS) && cancel.reason().is_some() {
                break;
            }
            if op.kind() == EventKind::Invoke {
                calls.object(trace.tables(), *op, *operand);
            }
        }
        SpecifiedCalls { calls }
    }

    /// Returns the objects without a specification by name, with the number of their ignored
    /// invocations.
    pub(crate) fn unspecified(&self, trace: &Trace) -> BTreeMap<String, u64> {
        let mut objects = BTreeMap::new();
        let tables = trace.tables();
        let columns = trace.columns();
        let all = columns.ops.iter().zip(&columns.operands);
        for (op, operand) in all.filter(|(op, _)| op.kind() == EventKind::Invoke) {
            let of_table = tables.invocations.get(*operand as usize);
            if let (None, Some(invocation)) =
                (self.calls.invocation(tables, *op, *operand), of_table)
            {
                *objects.entry(tables.name(invocation.object).to_owned()).or_default() += 1;
            }
        }
        objects
    }
}

/// A call that returned where its type says that it waits, by the events before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BrokenWait {
    pub(crate) event: EventId,
    pub(crate) object: String,
    pub(crate) method: String,
}

/// Returns a warning for each method whose calls returned before what they wait for. Such a
/// call keeps no place: pairs with it may be left out.
pub(crate) fn warnings_of_waits(input: &str, trace: &Trace, broken: &[BrokenWait]) -> Vec<Warning> {
    let mut by_method: BTreeMap<(&str, &str), Warning> = BTreeMap::new();
    for BrokenWait { event, object, method } in broken {
        let key = (object.as_str(), method.as_str());
        let warning = by_method.entry(key).or_insert_with(|| {
            let text = format!(
                "`{method}` of `{object}` returns before what it waits for, by the rules of its type: record a call that waits where it continues"
            );
            Warning::new(WarningKind::Ignored, input, text, 0)
        });
        warning.count += 1;
        if warning.places.len() < PLACES_MAX {
            warning.places.push(format!("event {}", trace.unique_label(*event)));
        }
    }
    by_method.into_values().take(TEXTS_MAX).collect()
}

/// The calls of one object so far.
#[derive(Default)]
struct Counted {
    /// How many calls each part of a rule counts, by rule, part and key.
    counts: HashMap<(usize, usize, Vec<Value>), i64>,
    /// The distinct invocations.
    seen: BTreeMap<u32, Invocation>,
}

impl SpecifiedCalls {
    /// Returns the calls that the trace has too early by the `waits` rules of their own type. It
    /// then does not say what they waited for.
    pub(crate) fn broken_waits(&self, trace: &Trace, cancel: &Cancel) -> Vec<BrokenWait> {
        let tables = trace.tables();
        let (mut broken, mut objects) = (Vec::new(), HashMap::<u32, Counted>::new());
        for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
            if cancel.reason().is_some() {
                break;
            }
            let call = self.calls.invocation(tables, event.op, event.operand);
            let Some(SpecifiedCall { object, comm, waits: Some(waits), invocation, .. }) = call
            else {
                continue;
            };
            let known = objects.entry(object).or_default();
            if !known.can_return(waits, comm, &invocation)
                && let Some(of_table) = tables.invocations.get(event.operand as usize)
            {
                let [object, method] = [of_table.object, of_table.method];
                let [object, method] = [object, method].map(|name| tables.name(name).to_owned());
                broken.push(BrokenWait { event: event.id, object, method });
            }
            known.add(waits, event.operand, invocation);
        }
        broken
    }
}

impl Counted {
    /// Returns whether a call can return behind the calls so far.
    fn can_return(&self, waits: &Waits, comm: Option<&Comm>, call: &Invocation) -> bool {
        let mut rules = waits.rules().iter().enumerate().filter(|(_, rule)| rule.applies(call));
        rules.all(|(at, rule)| {
            if rule.is_observed() {
                let observes = |earlier: &Invocation| {
                    comm.is_none_or(|comm| {
                        comm.modes(call).any(|mode| comm.matches(mode, earlier, call))
                    })
                };
                return self.seen.values().any(observes);
            }
            let count = |(part, counted): (usize, &anyorder_commute::Counted)| {
                let key = (at, part, counted.key_for(call));
                self.counts.get(&key).copied().unwrap_or(0)
            };
            let counts: Vec<i64> = rule.counted().iter().enumerate().map(count).collect();
            rule.least(&counts).is_some()
        })
    }

    fn add(&mut self, waits: &Waits, number: u32, call: Invocation) {
        for (at, rule) in waits.rules().iter().enumerate() {
            for (part, counted) in rule.counted().iter().enumerate() {
                if let Some(key) = counted.key_of(&call) {
                    *self.counts.entry((at, part, key)).or_default() += 1;
                }
            }
        }
        self.seen.entry(number).or_insert(call);
    }
}

impl Calls for SpecifiedCalls {
    fn call(&self, trace: &Trace, event: EventId) -> Option<Call<'_>> {
        let event = trace.event(event);
        let call = self.calls.invocation(trace.tables(), event.op, event.operand)?;
        let rules = match call.comm {
            Some(comm) => CallRules::Comm(comm),
            None if call.in_order => CallRules::InOrder,
            None => CallRules::Conflicts(call.spec),
        };
        let (object, waits) = (call.object, call.waits);
        Some(Call { object, rules, waits, invocation: call.invocation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Mailbox, TraceBuilder};

    #[test]
    fn a_trace_without_calls_is_polled_as_well() {
        let mut b = TraceBuilder::new();
        let name = b.interner.name("l").expect("room");
        let handler = b.handler("T", Mailbox::None).expect("room");
        let task = b.initial(handler);
        let lock = b.interner.lock(name).expect("room");
        let pairs = 20 * BETWEEN_POLLS;
        for _ in 0..pairs {
            b.push(task, EventKind::Acquire.into(), lock.0);
            b.push(task, EventKind::Release.into(), lock.0);
        }
        let trace = b.finish();
        let types = Types::built_in().expect("they are tested");
        let most = 1 << 20;
        let cancel = Cancel::after_polls(most);
        let calls = SpecifiedCalls::new(&trace, &types, &cancel);
        // Both passes over the events.
        assert!(most - cancel.polls_left() >= 80, "{} polls", most - cancel.polls_left());
        assert!(calls.unspecified(&trace).is_empty());
    }
}
