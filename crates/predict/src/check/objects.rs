//! The objects of events, by name: tables of a stream may hold an object twice.

use super::facts::Fact;
use anyorder_trace::{InvocationId, LocationId, NameId, OperandKind, SiteId, Tables};

/// Returns the name of the object of an event; empty if it has none.
#[must_use]
pub fn object(tables: &Tables, fact: &Fact) -> String {
    let index = fact.operand as usize;
    let named = |names: &[NameId]| names.get(index).map(|name| tables.name(*name).to_owned());
    let text = match fact.op.kind().operand() {
        OperandKind::Location if index < tables.locations.len() => {
            Some(tables.location_text(LocationId(fact.operand)))
        }
        OperandKind::Lock => named(&tables.locks),
        OperandKind::Condition => named(&tables.conditions),
        OperandKind::Invocation => {
            let invocation = tables.invocations.get(InvocationId(fact.operand).index());
            invocation.map(|invocation| tables.name(invocation.object).to_owned())
        }
        OperandKind::Name => Some(tables.name(NameId(fact.operand)).to_owned()),
        _ => None,
    };
    text.unwrap_or_default()
}

/// Returns the name of the object of an event, a field without its object.
#[must_use]
pub fn object_without_instance(tables: &Tables, fact: &Fact) -> String {
    let index = fact.operand as usize;
    match fact.op.kind().operand() {
        OperandKind::Location if index < tables.locations.len() => {
            tables.location_without_object(LocationId(fact.operand))
        }
        _ => object(tables, fact),
    }
}

/// Returns the part of an object's name that is the same in every run, without addresses and, where
/// the source position is known, without names of variables that are only numbers.
pub(crate) fn object_in_every_run(tables: &Tables, fact: &Fact) -> String {
    let is_location = fact.op.kind().operand() == OperandKind::Location;
    if is_location && fact.site != SiteId(0) && tables.is_numbered(LocationId(fact.operand)) {
        return String::new();
    }
    let text = object_without_instance(tables, fact);
    if text.starts_with("0x") { String::new() } else { text }
}
