//! Places: what an assignment or a method can change. The rules X4 to X8 of `docs/semantics.md`.

use super::body::Body;
use super::lowerer::number;
use crate::ast::{Expr, ExprKind};
use crate::check::Meaning;
use anyorder_program::{ClassId, GlobalId, Label, NameId, Op, RecordId, Reg};

/// A place, its object and index in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A variable, or a value that is not a place.
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
    /// Of a record or an object; only the run decides which.
    Member(NameId),
}

/// A place, and the values that it is part of, the innermost last. They must be written back after
/// a write.
pub(crate) struct Located {
    pub(crate) place: Place,
    back: Vec<(Place, Reg)>,
}

impl Located {
    fn new(place: Place) -> Located {
        Located { place, back: Vec::new() }
    }
}

/// What a member access denotes.
enum Member {
    Object(ClassId, u16),
    Part(Part),
}

impl<'a> Body<'_, 'a> {
    /// Evaluates a place up to the access to it. Reads the values that contain it.
    pub(crate) fn place(&mut self, e: &'a Expr) -> Located {
        match &e.kind {
            ExprKind::Paren(inner) => self.place(inner),
            ExprKind::Name(_) => Located::new(match self.global(e) {
                Some(id) => Place::Global(id),
                None => Place::Reg(self.expr(e)),
            }),
            ExprKind::Field { base, name } if !self.is_variant(e) => {
                match self.member(e, &name.name) {
                    Member::Object(class, field) => {
                        let object = self.expr(base);
                        Located::new(Place::Field(object, class, field))
                    }
                    Member::Part(part) => {
                        let (whole, back) = self.whole(base);
                        Located { place: Place::Part(whole, part), back }
                    }
                }
            }
            ExprKind::Index { base, index } => {
                if let Some(container) = self.container(base, index) {
                    let index = self.expr(index);
                    return Located::new(element(container, index));
                }
                let (whole, back) = self.whole(base);
                let index = self.expr(index);
                Located { place: Place::Part(whole, Part::Element(index)), back }
            }
            _ => Located::new(Place::Reg(self.expr(e))),
        }
    }

    /// Reads the value that a place is part of, with what to write back after a change.
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

    /// Returns the place of a container in a global or in a field of an object. The elements of
    /// such a container are separate locations. The index, evaluated next, cannot turn it into the
    /// field of another object.
    fn container(&mut self, e: &'a Expr, index: &Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Paren(inner) => self.container(inner, index),
            ExprKind::Name(_) => self.global(e).map(Place::Global),
            ExprKind::Field { base, name } if !self.is_variant(e) => {
                match self.member(e, &name.name) {
                    Member::Object(class, field) => {
                        let object = self.stable(base, &[index]);
                        Some(Place::Field(object, class, field))
                    }
                    Member::Part(_) => None,
                }
            }
            _ => None,
        }
    }

    fn global(&self, e: &Expr) -> Option<GlobalId> {
        match self.meaning(e.id) {
            Some(Meaning::Global(id)) => Some(id.into()),
            _ => None,
        }
    }

    fn is_variant(&self, e: &Expr) -> bool {
        matches!(self.meaning(e.id), Some(Meaning::Variant(..)))
    }

    /// The member that a field access or a method call names.
    fn member(&mut self, e: &Expr, name: &str) -> Member {
        match self.meaning(e.id) {
            Some(Meaning::ClassField(id, at)) => Member::Object(id.into(), number(at)),
            Some(Meaning::RecordField(id, at)) => Member::Part(Part::Field(id.into(), number(at))),
            _ => Member::Part(Part::Member(self.low.name(name))),
        }
    }

    /// `a.f` as a value.
    pub(crate) fn field_value(&mut self, e: &Expr, base: &'a Expr, name: &str, dst: Reg) {
        if let Some(Meaning::Variant(id, variant)) = self.meaning(e.id) {
            return self.variant((id, variant), &[], dst);
        }
        let base = self.expr(base);
        self.at(e.span);
        self.get_member(dst, base, e, name);
    }

    /// Reads the member that an expression names from the value in a register.
    pub(crate) fn get_member(&mut self, dst: Reg, base: Reg, e: &Expr, name: &str) {
        let place = match self.member(e, name) {
            Member::Object(class, field) => Place::Field(base, class, field),
            Member::Part(part) => Place::Part(base, part),
        };
        self.read(place, Some(dst));
    }

    /// `a[i]` as a value.
    pub(crate) fn element_value(&mut self, e: &Expr, base: &'a Expr, index: &'a Expr, dst: Reg) {
        if let Some(container) = self.container(base, index) {
            let index = self.expr(index);
            self.at(e.span);
            self.read(element(container, index), Some(dst));
        } else {
            // The element of a variable is looked up after the index is known (X4).
            let src = self.expr(base);
            let index = self.expr(index);
            self.emit_at(e.span, Op::Index { dst, src, index });
        }
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

    /// Writes a place, and writes the values that it is part of back to their places.
    pub(crate) fn write(&mut self, to: &Located, src: Reg) {
        let end = self.fb.label();
        let mut last = to.place;
        self.write_one(last, src);
        for (place, whole) in to.back.iter().rev() {
            // If the run finds that the written place is a field of an object, no other value holds
            // a copy of it (X6).
            if let Place::Part(holder, Part::Member(_)) = last {
                self.unless_object(holder, end);
            }
            self.write_one(*place, *whole);
            last = *place;
        }
        self.fb.bind(end);
    }

    /// Jumps if the register holds an object.
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

    /// Returns a register whose value nobody else changes.
    pub(crate) fn own(&mut self, value: Reg) -> Reg {
        let copy = self.temp();
        self.copy(copy, value);
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
