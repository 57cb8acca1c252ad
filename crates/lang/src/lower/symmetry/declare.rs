//! Index sets as symmetries of the machine.

use super::registers::{Signatures, registers};
use super::shape::Shapes;
use crate::check::{IndexSet, Symmetries};
use crate::diagnostic::{Code, Diagnostic};
use crate::lower::lowerer::Lowerer;
use crate::lower::symbols::EventIds;
use crate::source::Span;
use anyorder_vm::program::{self as vm, EventId, FuncId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Declares the symmetries; gives what the machine cannot follow.
pub(crate) fn declare(low: &mut Lowerer<'_>, symmetries: &Symmetries) -> Option<Diagnostic> {
    if symmetries.sets.is_empty() {
        return None;
    }
    let shapes = Shapes::new(&symmetries.shapes);
    let sets: Option<Vec<vm::Symmetry>> =
        symmetries.sets.iter().map(|set| symmetry(low, set)).collect();
    let mut indices = shapes.indices(low, &symmetries.shapes);
    let signatures = signatures(low, symmetries, &shapes);
    let registers = registers(low.b.program(), &indices, &signatures);
    match (sets, registers) {
        (Some(sets), Some(registers)) => {
            indices.registers = registers;
            let program = low.b.program_mut();
            program.symmetries = sets;
            program.indices = indices;
            None
        }
        _ => {
            let span = low.model.name.as_ref().map_or(Span::default(), |name| name.span);
            let message = "symmetric, but in a form that the machine cannot follow";
            Some(Diagnostic::new(Code::SYMMETRY, span, message).note(
                "families that share indices start at 0; a thread takes payloads out of enums by `match`",
            ))
        }
    }
}

fn symmetry(low: &Lowerer<'_>, set: &IndexSet) -> Option<vm::Symmetry> {
    let s = &low.symbols;
    let size = u16::try_from(set.size).ok()?;
    let (mut events, mut event_runs): (Vec<EventId>, Vec<EventId>) = (vec![], vec![]);
    for event in &set.events {
        match &s.events.get(event.index())?.ids {
            EventIds::One(id) => events.push(*id),
            EventIds::Members(0, ids) => {
                let first = ids.first()?;
                let follow = (first.0..).zip(ids).all(|(number, id)| number == id.0);
                if !follow || ids.len() != usize::from(size) {
                    return None;
                }
                event_runs.push(*first);
            }
            EventIds::Members(..) => return None,
        }
    }
    let thread = |id: u32| u16::try_from(id).ok().map(ThreadId);
    Some(vm::Symmetry {
        size,
        handlers: set
            .handlers
            .iter()
            .map(|h| Some(s.handlers.get(h.index())?.id))
            .collect::<Option<_>>()?,
        threads: set.threads.iter().map(|t| thread(t.0)).collect::<Option<_>>()?,
        events,
        event_runs,
        locks: set.locks.iter().map(|l| Some(s.locks.get(l.index())?.id)).collect::<Option<_>>()?,
        conds: set.conds.iter().map(|c| Some(s.conds.get(c.index())?.id)).collect::<Option<_>>()?,
        globals: vec![],
    })
}

/// Where indices are in the parameters and results of functions.
fn signatures(low: &Lowerer<'_>, symmetries: &Symmetries, shapes: &Shapes<'_>) -> Signatures {
    let (s, known) = (&low.symbols, &symmetries.shapes);
    let mut params: BTreeMap<FuncId, Vec<vm::Shape>> = BTreeMap::new();
    let mut results: BTreeMap<FuncId, vm::Shape> = BTreeMap::new();
    let mut members: BTreeSet<FuncId> = BTreeSet::new();
    for (info, (shape, result)) in s.funcs.iter().zip(&known.functions) {
        params.insert(info.id, shape.iter().map(|p| shapes.of(p)).collect());
        results.insert(info.id, shapes.of(result));
    }
    for (class, methods) in s.classes.iter().zip(&known.methods) {
        for (info, (shape, result)) in class.methods.iter().zip(methods) {
            let own = std::iter::once(vm::Shape::Plain);
            params.insert(info.id, own.chain(shape.iter().map(|p| shapes.of(p))).collect());
            results.insert(info.id, shapes.of(result));
        }
    }
    for (info, shape) in s.tasks.iter().zip(&known.tasks) {
        params.insert(info.body, shape.iter().map(|p| shapes.of(p)).collect());
    }
    let program = low.b.program();
    for (number, set) in (0..).zip(&symmetries.sets) {
        for thread in &set.threads {
            if let Some(thread) = program.threads.get(thread.index()) {
                params.insert(thread.body, vec![vm::Shape::Index(number)]);
                members.insert(thread.body);
            }
        }
        for event in &set.events {
            if let Some(EventIds::One(id)) = s.events.get(event.index()).map(|e| &e.ids)
                && let Some(event) = program.events.get(id.index())
            {
                params.insert(event.body, vec![vm::Shape::Index(number)]);
                members.insert(event.body);
            }
        }
    }
    Signatures { params, results, members }
}
