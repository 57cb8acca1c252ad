//! The orders that calls of objects give to a run, for happens-before.

use super::Specifications;
use crate::failure::Failure;
use anyorder_predict::{Internals, SpecifiedCommunication, orders_of_calls, without_internals};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};

/// Returns the orders that calls of objects give by their specifications, as pairs of events; none
/// for a trace without invocations. `None` if the job was stopped: with a part of them, races would
/// be found that are none.
pub(crate) fn order_of_calls(
    trace: &Trace,
    specifications: Option<&Specifications>,
    cancel: &Cancel,
) -> Result<Option<Vec<(EventId, EventId)>>, Failure> {
    if !trace.columns().ops.iter().any(|op| op.kind() == EventKind::Invoke) {
        return Ok(Some(Vec::new()));
    }
    let types = Specifications::types_of(specifications)?;
    let without = without_internals(trace, &types, Internals::Auto);
    let trace = without.as_ref().unwrap_or(trace);
    let mut communication = SpecifiedCommunication::new(types, trace);
    Ok(orders_of_calls(trace, &mut communication, cancel).ok())
}
