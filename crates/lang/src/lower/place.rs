//! Places: what can be assigned, and changed by a method. The rules X4 to X8 of `docs/semantics.md`.

use super::body::{Body, Val};
use super::symbols::Symbol;
use super::ty::Ty;
use crate::ast::{Expr, ExprKind};
use anyorder_vm::program::{ClassId, GlobalId, Label, NameId, Op, RecordId, Reg};

/// A place, its object and index in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A variable, or a value that is no place.
    Reg(Reg),
    Global(GlobalId),
    GlobalAt(GlobalId, Reg),
    Field(Reg, ClassId, u16),
    FieldAt(Reg, ClassId, u16, Reg),
    /// A part of the value in a register.
    Part(Reg, Part),
}

/// A part of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Field(RecordId, u16),
    Element(Reg),
    /// Of a record, or of an object: known only at run time.
    Member(NameId),
}

/// A place, the type of what is there, and what must be written back when it has been written: the values it is part of, the
/// innermost last.
pub(crate) struct Located {
    pub(crate) place: Place,
    pub(crate) ty: Ty,
    back: Vec<(Place, Reg)>,
}

impl Located {
    fn new(place: Place, ty: Ty) -> Located {
        Located { place, ty, back: Vec::new() }
    }
}

/// What a member access leads to, by the type of the value.
enum Member {
    Object(ClassId, u16, Ty),
    Part(Part, Ty),
}

impl<'a> Body<'_, 'a> {
    /// Evaluates a place up to the access to it. Values that it is a part of are read.
    pub(crate) fn place(&mut self, e: &'a Expr) -> Located {
        match &e.kind {
            ExprKind::Paren(inner) => self.place(inner),
            ExprKind::Name(name) => match self.global(name) {
                Some((id, ty)) => Located::new(Place::Global(id), ty),
                None => self.value_place(e),
            },
            ExprKind::Field { base, name } if !self.is_variant(e) => {
                match self.member(&self.static_ty(base), &name.name) {
                    Member::Object(class, field, ty) => {
                        let object = self.expr(base).reg;
                        Located::new(Place::Field(object, class, field), ty)
                    }
                    Member::Part(part, ty) => {
                        let (whole, back) = self.whole(base);
                        Located { place: Place::Part(whole, part), ty, back }
                    }
                }
            }
            ExprKind::Index { base, index } => {
                let ty = self.static_ty(e);
                if let Some(container) = self.container(base, index) {
                    let index = self.expr(index).reg;
                    return Located::new(element(container, index), ty);
                }
                let (whole, back) = self.whole(base);
                let index = self.expr(index).reg;
                Located { place: Place::Part(whole, Part::Element(index)), ty, back }
            }
            _ => self.value_place(e),
        }
    }

    fn value_place(&mut self, e: &'a Expr) -> Located {
        let value = self.expr(e);
        Located::new(Place::Reg(value.reg), value.ty)
    }

    /// Reads the value that a place is part of; what to write back when it has been changed.
    fn whole(&mut self, e: &'a Expr) -> (Reg, Vec<(Place, Reg)>) {
        let located = self.place(e);
        if let Place::Reg(reg) = located.place {
            return (reg, located.back);
        }
        self.at(e.span);
        let reg = self.read(located.place, None);
        let mut back = located.back;
        back.push((located.place, reg));
        (reg, back)
    }

    /// A global, or a field of an object, that holds a container: its elements are locations of their own. The index, evaluated
    /// next, cannot make it the field of another object.
    fn container(&mut self, e: &'a Expr, index: &Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Paren(inner) => self.container(inner, index),
            ExprKind::Name(name) => self.global(name).map(|(id, _)| Place::Global(id)),
            ExprKind::Field { base, name } if !self.is_variant(e) => {
                match self.member(&self.static_ty(base), &name.name) {
                    Member::Object(class, field, _) => {
                        let object = self.stable(base, &[index]).reg;
                        Some(Place::Field(object, class, field))
                    }
                    Member::Part(..) => None,
                }
            }
            _ => None,
        }
    }

    fn global(&self, name: &str) -> Option<(GlobalId, Ty)> {
        if self.local(name).is_some() {
            return None;
        }
        match self.low.symbols.get(name) {
            Some(Symbol::Global(g)) => {
                self.low.symbols.globals.get(g).map(|info| (info.id, info.ty.clone()))
            }
            _ => None,
        }
    }

    fn member(&mut self, base: &Ty, name: &str) -> Member {
        let symbols = &self.low.symbols;
        match base.solid() {
            Ty::Class(c) => {
                let info = &symbols.classes[*c];
                if let Some(field) = info.field(name) {
                    let ty = info.fields[usize::from(field)].ty.clone();
                    return Member::Object(info.id, field, ty);
                }
            }
            Ty::Record(r) => {
                let info = &symbols.records[*r];
                if let Some(field) = info.field(name) {
                    let ty = info.types[usize::from(field)].clone();
                    return Member::Part(Part::Field(info.id, field), ty);
                }
            }
            _ => {}
        }
        Member::Part(Part::Member(self.low.name(name)), Ty::Any)
    }

    /// The type of an expression that has not been lowered.
    pub(crate) fn static_ty(&self, e: &Expr) -> Ty {
        let told = match &e.kind {
            ExprKind::Paren(inner) => self.static_ty(inner),
            ExprKind::Name(name) => match self.local(name) {
                Some(local) => local.ty.clone(),
                None => self.global(name).map_or(Ty::Any, |(_, ty)| ty),
            },
            ExprKind::SelfRef => self.this.as_ref().map_or(Ty::Any, |(_, ty)| ty.clone()),
            ExprKind::New { class, .. } => {
                self.low.symbols.class(&class.name).map_or(Ty::Any, |(i, _)| Ty::Class(i))
            }
            ExprKind::Index { base, .. } => self.static_ty(base).indexed(),
            ExprKind::Field { base, name } => match self.static_ty(base).solid() {
                Ty::Class(c) => {
                    let info = &self.low.symbols.classes[*c];
                    info.field(&name.name)
                        .map_or(Ty::Any, |f| info.fields[usize::from(f)].ty.clone())
                }
                Ty::Record(r) => {
                    let info = &self.low.symbols.records[*r];
                    info.field(&name.name).map_or(Ty::Any, |f| info.types[usize::from(f)].clone())
                }
                _ => Ty::Any,
            },
            _ => Ty::Any,
        };
        if told == Ty::Any {
            return (self.low.hints)(&self.low.symbols, e.id).unwrap_or(Ty::Any);
        }
        told
    }

    /// `a.f` as a value.
    pub(crate) fn field_value_of(
        &mut self,
        e: &'a Expr,
        base: &'a Expr,
        name: &str,
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let base = self.expr(base);
        self.at(e.span);
        let ty = self.get_member(dst, &base, name);
        self.release(mark);
        Val::new(dst, ty)
    }

    /// Reads a member of the value in a register.
    pub(crate) fn get_member(&mut self, dst: Reg, base: &Val, name: &str) -> Ty {
        let (place, ty) = match self.member(&base.ty, name) {
            Member::Object(class, field, ty) => (Place::Field(base.reg, class, field), ty),
            Member::Part(part, ty) => (Place::Part(base.reg, part), ty),
        };
        self.read(place, Some(dst));
        ty
    }

    /// `a[i]` as a value.
    pub(crate) fn element_value(
        &mut self,
        e: &'a Expr,
        base: &'a Expr,
        index: &'a Expr,
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let ty = self.static_ty(base).indexed();
        if let Some(container) = self.container(base, index) {
            let index = self.expr(index).reg;
            self.at(e.span);
            self.read(element(container, index), Some(dst));
        } else {
            // Of a variable, the element is looked up when the index is known (X4).
            let src = self.expr(base).reg;
            let index = self.expr(index).reg;
            self.emit_at(e.span, Op::Index { dst, src, index });
        }
        self.release(mark);
        Val::new(dst, ty)
    }

    /// Reads a place.
    pub(crate) fn read(&mut self, place: Place, want: Option<Reg>) -> Reg {
        if let Place::Reg(src) = place {
            if let Some(dst) = want {
                self.copy(dst, src);
            }
            return want.unwrap_or(src);
        }
        let dst = self.dst(want);
        self.emit(match place {
            Place::Reg(src) => Op::Move { dst, src },
            Place::Global(global) => Op::GetGlobal { dst, global },
            Place::GlobalAt(global, index) => Op::GetGlobalAt { dst, global, index },
            Place::Field(object, class, field) => Op::GetField { dst, object, class, field },
            Place::FieldAt(object, class, field, index) => {
                Op::GetFieldAt { dst, object, class, field, index }
            }
            Place::Part(src, Part::Field(ty, field)) => Op::RecordGet { dst, src, ty, field },
            Place::Part(src, Part::Element(index)) => Op::Index { dst, src, index },
            Place::Part(src, Part::Member(name)) => Op::GetMember { dst, src, name },
        });
        dst
    }

    /// Writes a place, and the values it is part of back to theirs.
    pub(crate) fn write(&mut self, to: &Located, src: Reg) {
        let end = self.fb.label();
        let mut last = to.place;
        self.write_one(last, src);
        for (place, whole) in to.back.iter().rev() {
            // What was written is a field of an object, as it turns out: nothing holds a copy of it (X6).
            if let Place::Part(holder, Part::Member(_)) = last {
                self.unless_object(holder, end);
            }
            self.write_one(*place, *whole);
            last = *place;
        }
        self.fb.bind(end);
    }

    /// Goes on elsewhere with an object in the register.
    pub(crate) fn unless_object(&mut self, src: Reg, end: Label) {
        let mark = self.mark();
        let dst = self.temp();
        self.emit(Op::IsObject { dst, src });
        self.fb.jump_if(dst, end);
        self.release(mark);
    }

    fn write_one(&mut self, place: Place, src: Reg) {
        let op = match place {
            Place::Reg(dst) => {
                self.copy(dst, src);
                return;
            }
            Place::Global(global) => Op::SetGlobal { global, src },
            Place::GlobalAt(global, index) => Op::SetGlobalAt { global, index, src },
            Place::Field(object, class, field) => Op::SetField { object, class, field, src },
            Place::FieldAt(object, class, field, index) => {
                Op::SetFieldAt { object, class, field, index, src }
            }
            Place::Part(record, Part::Field(ty, field)) => Op::RecordSet { record, ty, field, src },
            Place::Part(container, Part::Element(index)) => Op::SetIndex { container, index, src },
            Place::Part(object, Part::Member(name)) => Op::SetMember { object, name, src },
        };
        self.emit(op);
    }

    /// A value in a register that nobody else changes.
    pub(crate) fn own(&mut self, value: &Val) -> Reg {
        let copy = self.temp();
        self.copy(copy, value.reg);
        copy
    }
}

fn element(container: Place, index: Reg) -> Place {
    match container {
        Place::Global(g) => Place::GlobalAt(g, index),
        Place::Field(object, class, field) => Place::FieldAt(object, class, field, index),
        Place::Reg(reg) | Place::Part(reg, _) => Place::Part(reg, Part::Element(index)),
        done @ (Place::GlobalAt(..) | Place::FieldAt(..)) => done,
    }
}
