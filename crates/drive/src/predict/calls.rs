//! The invocations of a trace, for the check of witnesses.

use anyorder_certify::{Call, CallRules, Calls};
use anyorder_predict::{Communication, SpecifiedCommunication, Types};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::BTreeMap;

/// The invocations of specified objects. Search and check share the types of objects, but each
/// computes the observations of invocations itself.
#[derive(Debug)]
pub(crate) struct SpecifiedCalls {
    calls: SpecifiedCommunication,
}

impl SpecifiedCalls {
    /// Collects all invocations of a trace; not the rest of them once the job is stopped.
    pub(crate) fn new(trace: &Trace, types: &Types, cancel: &Cancel) -> SpecifiedCalls {
        let mut calls = SpecifiedCommunication::new(types.clone(), trace);
        for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
            if cancel.reason().is_some() {
                break;
            }
            calls.object(trace.tables(), event.op, event.operand);
        }
        SpecifiedCalls { calls }
    }

    /// Returns the objects without a specification by name, with the number of their ignored
    /// invocations.
    pub(crate) fn unspecified(&self, trace: &Trace) -> BTreeMap<String, u64> {
        let mut objects = BTreeMap::new();
        let tables = trace.tables();
        for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
            let of_table = tables.invocations.get(event.operand as usize);
            if let (None, Some(invocation)) =
                (self.calls.invocation(tables, event.op, event.operand), of_table)
            {
                *objects.entry(tables.name(invocation.object).to_owned()).or_default() += 1;
            }
        }
        objects
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
