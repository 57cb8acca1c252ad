//! The invocations of a trace, for the check of witnesses.

use anyorder_certify::{Call, CallRules, Calls};
use anyorder_predict::{Communication, SpecifiedCall, SpecifiedCommunication, Types};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Op, Tables, Trace};
use std::collections::BTreeMap;

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

    /// Returns an event as a call of a specified object.
    pub(super) fn specified(
        &self,
        tables: &Tables,
        op: Op,
        operand: u32,
    ) -> Option<SpecifiedCall<'_>> {
        self.calls.invocation(tables, op, operand)
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
