//! Index types as symmetries of the machine: what each of them numbers.

use super::lowerer::Lowerer;
use super::symbols::EventIds;
use crate::check::IndexId;
use anyorder_vm::program::{Symmetry, ThreadId};

/// Declares the symmetries, in the order of the index types.
pub(super) fn declare(low: &mut Lowerer<'_>) {
    let (symbols, tables) = (&low.symbols, low.tables);
    let sizes = tables.indices.iter().zip(&symbols.indices);
    let named = sizes.map(|(info, size)| (info.name.clone(), *size));
    let mut found: Vec<Symmetry> =
        named.map(|(name, size)| Symmetry { name, size, ..Symmetry::default() }).collect();
    let mut add = |index: Option<IndexId>, part: &mut dyn FnMut(&mut Symmetry)| {
        index.and_then(|index| found.get_mut(index.index())).into_iter().for_each(part);
    };
    for (info, part) in tables.handlers.iter().zip(&symbols.handlers) {
        add(info.index, &mut |one| one.handlers.push(part.id));
    }
    for (info, part) in tables.locks.iter().zip(&symbols.locks) {
        add(info.index, &mut |one| one.locks.push(part.id));
    }
    for (info, part) in tables.conds.iter().zip(&symbols.conds) {
        add(info.index, &mut |one| one.conds.push(part.id));
    }
    for (info, id) in tables.threads.iter().zip(0..) {
        add(info.index, &mut |one| one.threads.push(ThreadId(id)));
    }
    for (info, part) in tables.events.iter().zip(&symbols.events) {
        add(info.index, &mut |one| match &part.ids {
            EventIds::One(id) => one.events.push(*id),
            EventIds::Members(_, ids) => one.event_runs.extend(ids.first()),
        });
    }
    low.b.program_mut().symmetries = found;
}
