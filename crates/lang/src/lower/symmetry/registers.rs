//! Which registers hold indices between steps.
//!
//! **Problem.** For each position in the code of a function, the registers that hold indices when a thread rests there.
//! **How.** Forward over the code, from parameters, globals, fields and results, to a fixed point. Where ways meet, an index on one of
//! them counts: a register that is read behind that holds the same kind of value on both, as the check has found; another is null.
//! Ranges, choices of members, lists made by `map` or `[e; n]` and function values do not hold indices between steps: the check
//! refuses them in threads. **Cost.** Code times registers times the nesting of loops.

use anyorder_vm::program::{Builtin, FuncId, Indices, Op, Program, Reg, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Where indices are in parameters and results.
pub(super) struct Signatures {
    pub(super) params: BTreeMap<FuncId, Vec<Shape>>,
    pub(super) results: BTreeMap<FuncId, Shape>,
    /// Bodies of members of families, whose first register the machine knows.
    pub(super) members: BTreeSet<FuncId>,
}

/// Returns the registers that hold indices: function, position, register. `None` when it cannot be told.
pub(super) fn registers(
    program: &Program,
    indices: &Indices,
    signatures: &Signatures,
) -> Option<Vec<(FuncId, u32, Reg, Shape)>> {
    let mut found = Vec::new();
    for (id, function) in (0..=u16::MAX).map(FuncId).zip(&program.functions) {
        let params = signatures.params.get(&id);
        let flow = Flow { indices, signatures, code: &function.code };
        let mut start = vec![Shape::Plain; usize::from(function.registers)];
        for (slot, shape) in start.iter_mut().zip(params.into_iter().flatten()) {
            *slot = shape.clone();
        }
        for (pc, row) in (0..).zip(flow.rows(start)?) {
            for (reg, shape) in (0..).zip(row.into_iter().flatten()) {
                let known = reg == 0 && signatures.members.contains(&id);
                if shape != Shape::Plain && !known {
                    found.push((id, pc, Reg(reg), shape));
                }
            }
        }
    }
    Some(found)
}

struct Flow<'a> {
    indices: &'a Indices,
    signatures: &'a Signatures,
    code: &'a [Op],
}

type Row = Vec<Shape>;

impl Flow<'_> {
    /// The registers before each instruction; `None` where it is never reached.
    fn rows(&self, start: Row) -> Option<Vec<Option<Row>>> {
        let mut rows: Vec<Option<Row>> = vec![None; self.code.len()];
        let mut open: Vec<(usize, Row)> = vec![(0, start)];
        while let Some((pc, row)) = open.pop() {
            let Some(slot) = rows.get_mut(pc) else { continue };
            let joined = match slot {
                None => row,
                Some(old) => {
                    let joined: Row = old.iter().zip(&row).map(|(a, b)| join(a, b)).collect();
                    if joined == *old {
                        continue;
                    }
                    joined
                }
            };
            *slot = Some(joined.clone());
            let mut after = joined;
            self.step(pc, &mut after)?;
            let op = &self.code[pc];
            let target = match *op {
                Op::Jump { target } | Op::JumpIf { target, .. } | Op::JumpIfNot { target, .. } => {
                    Some(target as usize)
                }
                _ => None,
            };
            if let Some(target) = target {
                open.push((target, after.clone()));
            }
            let ends = matches!(
                op,
                Op::Jump { .. }
                    | Op::Return { .. }
                    | Op::ReturnNull
                    | Op::Fail { .. }
                    | Op::NoMatch { .. }
            );
            if !ends {
                open.push((pc + 1, after));
            }
        }
        Some(rows)
    }

    fn step(&self, pc: usize, row: &mut Row) -> Option<()> {
        let op = self.code[pc];
        let get = |row: &Row, reg: Reg| row.get(reg.index()).cloned().unwrap_or_default();
        let run = |row: &Row, first: Reg, count: u16| {
            let regs = row.iter().skip(first.index()).take(usize::from(count));
            regs.fold(Shape::Plain, |all, shape| join(&all, shape))
        };
        let field = |table: &[Vec<Shape>], ty: usize, field: u16| {
            table.get(ty).and_then(|f| f.get(usize::from(field))).cloned().unwrap_or_default()
        };
        let global = |id| {
            let known = self.indices.globals.iter().find(|(global, _)| *global == id);
            known.map(|(_, shape)| shape.clone()).unwrap_or_default()
        };
        let (dst, shape) = match op {
            Op::Move { dst, src } => (dst, get(row, src)),
            Op::GetGlobal { dst, global: id } => (dst, global(id)),
            Op::GetGlobalAt { dst, global: id, .. } => (dst, element(&global(id))),
            Op::Index { dst, src, .. } => (dst, element(&get(row, src))),
            Op::GetField { dst, class, field: at, .. } => {
                (dst, field(&self.indices.classes, class.index(), at))
            }
            Op::GetFieldAt { dst, class, field: at, .. } => {
                (dst, element(&field(&self.indices.classes, class.index(), at)))
            }
            Op::RecordGet { dst, ty, field: at, .. } => {
                (dst, field(&self.indices.records, ty.index(), at))
            }
            Op::Record { dst, ty, .. } => {
                let fields = self.indices.records.get(ty.index());
                (dst, named(fields.into_iter().flatten()))
            }
            Op::Enum { dst, ty, .. } => {
                let payloads = self.indices.enums.get(ty.index());
                (dst, named(payloads.into_iter().flatten().flatten()))
            }
            Op::Payload { dst, src, index } => (dst, self.payload(pc, src, index)?),
            Op::List { dst, args, count } => (dst, list(run(row, args, count))),
            Op::Set { dst, args, count } => (dst, set(run(row, args, count))),
            Op::Map { dst, args, count } => {
                let entries = (0..count).map(|i| {
                    let key = Reg(args.0.saturating_add(2 * i));
                    (get(row, key), get(row, Reg(key.0.saturating_add(1))))
                });
                let (key, value) = entries
                    .fold((Shape::Plain, Shape::Plain), |(key, value), (k, v)| {
                        (join(&key, &k), join(&value, &v))
                    });
                (dst, map(key, value))
            }
            Op::Call { dst, func, .. } => {
                (dst, self.signatures.results.get(&func).cloned().unwrap_or_default())
            }
            Op::ChooseFrom { dst, src } => (dst, element(&get(row, src))),
            Op::SetIndex { container, index, src } => {
                let shape = match get(row, container) {
                    Shape::Map(key, value) => {
                        map(join(&key, &get(row, index)), join(&value, &get(row, src)))
                    }
                    Shape::List(by, of) => Shape::List(by, Box::new(join(&of, &get(row, src)))),
                    // Empty so far: a list or a map.
                    other => match (get(row, index), get(row, src)) {
                        (Shape::Plain, Shape::Plain) => other,
                        _ => return None,
                    },
                };
                (container, shape)
            }
            Op::Method { dst, method, recv, args } => {
                let arg = |n: u16| get(row, Reg(args.0.saturating_add(n)));
                let before = get(row, recv);
                let after = changed(method, &before, &arg);
                let result = result(method, &before, &arg);
                if let Some(slot) = row.get_mut(recv.index()) {
                    *slot = after;
                }
                (dst, result)
            }
            other => {
                if let Some(slot) = other.writes().and_then(|dst| row.get_mut(dst.index())) {
                    *slot = Shape::Plain;
                }
                return Some(());
            }
        };
        if let Some(slot) = row.get_mut(dst.index()) {
            *slot = shape;
        }
        Some(())
    }

    /// A payload value of what the nearest test above has found to be a variant.
    fn payload(&self, pc: usize, value: Reg, index: u16) -> Option<Shape> {
        let tested = self.code[..pc].iter().rev().find_map(|op| match *op {
            Op::IsVariant { src, ty, variant, .. } if src == value => Some((ty, variant)),
            _ => None,
        });
        let at = |payload: &Vec<Shape>| payload.get(usize::from(index)).cloned();
        match tested {
            Some((ty, variant)) => {
                let variants = self.indices.enums.get(ty.index());
                let payload = variants.and_then(|v| v.get(usize::from(variant)));
                Some(payload.and_then(at).unwrap_or_default())
            }
            None => {
                let mut all = self.indices.enums.iter().flatten().filter_map(at);
                all.all(|shape| shape == Shape::Plain).then_some(Shape::Plain)
            }
        }
    }
}

fn join(a: &Shape, b: &Shape) -> Shape {
    match (a, b) {
        (Shape::Plain, other) | (other, Shape::Plain) => other.clone(),
        (Shape::List(i, a), Shape::List(j, b)) => Shape::List(i.or(*j), Box::new(join(a, b))),
        (Shape::Set(a), Shape::Set(b)) => Shape::Set(Box::new(join(a, b))),
        (Shape::Map(k, v), Shape::Map(l, w)) => {
            Shape::Map(Box::new(join(k, l)), Box::new(join(v, w)))
        }
        (a, _) => a.clone(),
    }
}

fn element(container: &Shape) -> Shape {
    match container {
        Shape::List(_, of) | Shape::Set(of) | Shape::Map(_, of) => (**of).clone(),
        _ => Shape::Plain,
    }
}

fn named<'s>(mut parts: impl Iterator<Item = &'s Shape>) -> Shape {
    if parts.any(|part| *part != Shape::Plain) { Shape::Named } else { Shape::Plain }
}

fn list(of: Shape) -> Shape {
    if of == Shape::Plain { of } else { Shape::List(None, Box::new(of)) }
}

fn set(of: Shape) -> Shape {
    if of == Shape::Plain { of } else { Shape::Set(Box::new(of)) }
}

fn map(key: Shape, value: Shape) -> Shape {
    match (key, value) {
        (Shape::Plain, Shape::Plain) => Shape::Plain,
        (key, value) => Shape::Map(Box::new(key), Box::new(value)),
    }
}

/// The receiver after a method.
fn changed(method: Builtin, before: &Shape, arg: &dyn Fn(u16) -> Shape) -> Shape {
    let more = match method {
        Builtin::Push => list(arg(0)),
        Builtin::Insert => list(arg(1)),
        Builtin::Add => set(arg(0)),
        Builtin::Set => map(arg(0), arg(1)),
        _ => return before.clone(),
    };
    join(before, &more)
}

/// The result of a method.
fn result(method: Builtin, recv: &Shape, arg: &dyn Fn(u16) -> Shape) -> Shape {
    match (method, recv) {
        (
            Builtin::First
            | Builtin::Last
            | Builtin::Pop
            | Builtin::TakeFirst
            | Builtin::Min
            | Builtin::Max,
            container,
        ) => element(container),
        (Builtin::Remove, Shape::List(_, of)) => (**of).clone(),
        (Builtin::Remove | Builtin::Get, Shape::Map(_, of)) => (**of).clone(),
        (Builtin::GetOr, container) => join(&element(container), &arg(1)),
        (Builtin::Union, container) => join(container, &arg(0)),
        (Builtin::Intersect | Builtin::Minus | Builtin::Slice, container) => container.clone(),
        (Builtin::ToSet, Shape::List(_, of)) => Shape::Set(of.clone()),
        (Builtin::ToSet | Builtin::ToList, container) => container.clone(),
        (Builtin::Elements, Shape::Set(of) | Shape::Map(of, _)) => list((**of).clone()),
        (Builtin::Elements, container) => container.clone(),
        (Builtin::Values, Shape::Map(_, of)) => list((**of).clone()),
        _ => Shape::Plain,
    }
}
