//! Index types as symmetries of the machine, with the declarations that each of them numbers.

use super::lowerer::{Lowerer, number, numbers};
use crate::check::{EventId, IndexId};
use anyorder_program::{CondId, HandlerId, LockId, Symmetry, ThreadId};

/// Declares the symmetries, in the order of the index types.
pub(super) fn declare(low: &mut Lowerer<'_>) {
    let tables = low.tables;
    for (id, info) in (0..).map(IndexId).zip(&tables.indices) {
        let mut symmetry = Symmetry {
            name: info.name.clone(),
            size: number(info.size),
            handlers: over(id, tables.handlers.iter().map(|one| one.index), HandlerId),
            locks: over(id, tables.locks.iter().map(|one| one.index), LockId),
            conds: over(id, tables.conds.iter().map(|one| one.index), CondId),
            threads: over(id, tables.threads.iter().map(|one| one.index), ThreadId),
            ..Symmetry::default()
        };
        for event in over(id, tables.events.iter().map(|one| one.index), |at| EventId(at.into())) {
            match low.members(event).as_slice() {
                [(id, member)] if member.index.is_none() => symmetry.events.push(*id),
                members => symmetry.event_runs.extend(members.first().map(|(id, _)| *id)),
            }
        }
        low.b.symmetry(symmetry);
    }
}

/// The declarations over an index type. `all` are the index types of all declarations of a kind.
fn over<Id>(
    wanted: IndexId,
    all: impl Iterator<Item = Option<IndexId>>,
    id: impl Fn(u16) -> Id,
) -> Vec<Id> {
    let found = numbers(0).zip(all).filter(|(_, index)| *index == Some(wanted));
    found.map(|(at, _)| id(at)).collect()
}
