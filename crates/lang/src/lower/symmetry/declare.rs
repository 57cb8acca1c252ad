//! Index sets as symmetries of the machine.

use super::registers::{Signatures, registers};
use super::shape::Shapes;
use crate::check::{IndexSet, Symmetries};
use crate::diagnostic::{Code, Diagnostic};
use crate::lower::lowerer::Lowerer;
use crate::lower::lowerer::number;
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
    let mut indices = shapes.indices(&symmetries.shapes);
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
    let size = u16::try_from(set.size).ok()?;
    let (mut events, mut event_runs): (Vec<EventId>, Vec<EventId>) = (vec![], vec![]);
    for event in &set.events {
        match low.members(*event).as_slice() {
            [(id, one)] if one.index.is_none() => events.push(*id),
            [(first, one), ..] if one.index == Some(0) => {
                let members = low.members(*event);
                let follow = (first.0..).zip(&members).all(|(number, (id, _))| number == id.0);
                if !follow || members.len() != usize::from(size) {
                    return None;
                }
                event_runs.push(*first);
            }
            _ => return None,
        }
    }
    let thread = |id: u32| u16::try_from(id).ok().map(ThreadId);
    Some(vm::Symmetry {
        size,
        handlers: set.handlers.iter().map(|h| vm::HandlerId(number(h.0))).collect(),
        threads: set.threads.iter().map(|t| thread(t.0)).collect::<Option<_>>()?,
        events,
        event_runs,
        locks: set.locks.iter().map(|l| vm::LockId(number(l.0))).collect(),
        conds: set.conds.iter().map(|c| vm::CondId(number(c.0))).collect(),
        globals: vec![],
    })
}

/// Where indices are in the parameters and results of functions.
fn signatures(low: &Lowerer<'_>, symmetries: &Symmetries, shapes: &Shapes<'_>) -> Signatures {
    let known = &symmetries.shapes;
    let mut params: BTreeMap<FuncId, Vec<vm::Shape>> = BTreeMap::new();
    let mut results: BTreeMap<FuncId, vm::Shape> = BTreeMap::new();
    let mut members: BTreeSet<FuncId> = BTreeSet::new();
    for (id, (shape, result)) in low.functions.iter().zip(&known.functions) {
        params.insert(*id, shape.iter().map(|p| shapes.of(p)).collect());
        results.insert(*id, shapes.of(result));
    }
    for (ids, methods) in low.methods.iter().zip(&known.methods) {
        for (id, (shape, result)) in ids.iter().zip(methods) {
            let own = std::iter::once(vm::Shape::Plain);
            params.insert(*id, own.chain(shape.iter().map(|p| shapes.of(p))).collect());
            results.insert(*id, shapes.of(result));
        }
    }
    for (id, shape) in low.tasks.iter().zip(&known.tasks) {
        params.insert(*id, shape.iter().map(|p| shapes.of(p)).collect());
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
            if let [(id, one)] = low.members(*event).as_slice()
                && one.index.is_none()
                && let Some(event) = program.events.get(id.index())
            {
                params.insert(event.body, vec![vm::Shape::Index(number)]);
                members.insert(event.body);
            }
        }
    }
    Signatures { params, results, members }
}
