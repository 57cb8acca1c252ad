//! Index types as symmetries of the machine, with the declarations that each of them numbers.

use super::lowerer::{Lowerer, number};
use crate::check::{EventId, IndexId};
use anyorder_vm::program::{CondId, HandlerId, LockId, Symmetry, ThreadId};

/// Declares the symmetries, in the order of the index types.
pub(super) fn declare(low: &mut Lowerer<'_>) {
    let tables = low.tables;
    let symmetry = |(name, size): (&String, u32)| Symmetry {
        name: name.clone(),
        size: number(size),
        ..Symmetry::default()
    };
    let sizes = tables.indices.iter().map(|info| (&info.name, info.size));
    let mut found: Vec<Symmetry> = sizes.map(symmetry).collect();
    let mut add = |index: Option<IndexId>, part: &mut dyn FnMut(&mut Symmetry)| {
        index.and_then(|index| found.get_mut(index.index())).into_iter().for_each(part);
    };
    for (id, info) in (0..).zip(&tables.handlers) {
        add(info.index, &mut |one| one.handlers.push(HandlerId(id)));
    }
    for (id, info) in (0..).zip(&tables.locks) {
        add(info.index, &mut |one| one.locks.push(LockId(id)));
    }
    for (id, info) in (0..).zip(&tables.conds) {
        add(info.index, &mut |one| one.conds.push(CondId(id)));
    }
    for (id, info) in (0..).zip(&tables.threads) {
        add(info.index, &mut |one| one.threads.push(ThreadId(id)));
    }
    for (at, info) in (0..).zip(&tables.events) {
        let members = low.members(EventId(at));
        add(info.index, &mut |one| match members.as_slice() {
            [(id, member)] if member.index.is_none() => one.events.push(*id),
            members => one.event_runs.extend(members.first().map(|(id, _)| *id)),
        });
    }
    low.b.program_mut().symmetries = found;
}
