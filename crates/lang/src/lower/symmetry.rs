//! Which components may be exchanged for each other.
//!
//! `symmetric` on an array of handlers or a family of threads is the claim of whoever wrote the model. All that is declared
//! symmetric with the same number of members is permuted together, and with it what belongs to single members: arrays of
//! locks and conditions of that size, globals declared as `[T; N]`, and families of events `[i in 0..N]`.

use super::lowerer::Lowerer;
use super::symbols::EventIds;
use anyorder_vm::program::{self as vm, ThreadId};

/// Declares the symmetries.
pub(crate) fn declare(low: &mut Lowerer<'_>) {
    let mut sizes: Vec<u16> = Vec::new();
    let handlers = low.symbols.handlers.iter();
    sizes.extend(handlers.filter(|h| h.symmetric).filter_map(|h| h.size));
    let threads: Vec<(ThreadId, u16)> = low
        .symbols
        .threads
        .iter()
        .zip(low.b.program().threads.iter().zip(super::declare::numbers(0)))
        .filter(|(info, _)| info.decl.symmetric)
        .filter_map(|(_, (thread, id))| {
            let family = thread.family.filter(|f| f.first == 0)?;
            Some((ThreadId(id), family.count))
        })
        .collect();
    sizes.extend(threads.iter().map(|t| t.1));
    sizes.retain(|n| *n > 1);
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let symmetry = of_size(low, size, &threads);
        low.b.symmetry(symmetry);
    }
}

fn of_size(low: &Lowerer<'_>, size: u16, threads: &[(ThreadId, u16)]) -> vm::Symmetry {
    let s = &low.symbols;
    let has_size = |n: Option<u16>| n == Some(size);
    let family = |ids: &EventIds| match ids {
        EventIds::One(id) => {
            let family = low.b.program().events.get(id.index())?.family?;
            (family.first == 0 && family.count == size).then_some(*id)
        }
        EventIds::Members(..) => None,
    };
    vm::Symmetry {
        size,
        handlers: s
            .handlers
            .iter()
            .filter(|h| h.symmetric && has_size(h.size))
            .map(|h| h.id)
            .collect(),
        threads: threads.iter().filter(|t| t.1 == size).map(|t| t.0).collect(),
        events: s.events.iter().filter_map(|e| family(&e.ids)).collect(),
        locks: s.locks.iter().filter(|l| has_size(l.size)).map(|l| l.id).collect(),
        conds: s.conds.iter().filter(|c| has_size(c.size)).map(|c| c.id).collect(),
        globals: s.globals.iter().filter(|g| has_size(g.array)).map(|g| g.id).collect(),
    }
}
