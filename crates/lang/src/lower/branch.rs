//! `if` and `match`, as statements and as values.

use super::body::Body;
use super::lowerer::{number, numbers};
use crate::ast::{ArmBody, Block, If, IfElse, Match, Pattern, PatternKind};
use crate::check::{Meaning, Type};
use anyorder_program::{Label, Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// An `if`; as a value, into a register.
    pub(crate) fn if_(&mut self, i: &'a If, dst: Option<Reg>) {
        let (otherwise, end) = (self.fb.label(), self.fb.label());
        self.jump_when(&i.cond, false, otherwise);
        self.block(&i.then, dst);
        if i.otherwise.is_some() {
            self.fb.jump(end);
        }
        self.fb.bind(otherwise);
        match &i.otherwise {
            Some(IfElse::Block(b)) => self.block(b, dst),
            Some(IfElse::If(i)) => self.if_(i, dst),
            None => {}
        }
        self.fb.bind(end);
    }

    /// A block with its own scope. A value at its end goes into a register, or is dropped.
    pub(crate) fn block(&mut self, b: &'a Block, dst: Option<Reg>) {
        let mark = self.mark();
        b.stmts.iter().for_each(|s| self.stmt(s));
        match (&b.value, dst) {
            (Some(value), Some(dst)) => self.expr_to(value, dst),
            (Some(value), None) => drop(self.expr(value)),
            (None, Some(dst)) => drop(self.load(&Literal::Null, Some(dst))),
            (None, None) => {}
        }
        self.release(mark);
    }

    /// A `match`; as a value, into a register. Tries the arms in order; a failure if none matches.
    pub(crate) fn match_(&mut self, m: &'a Match, dst: Option<Reg>) {
        let whole = self.mark();
        let subject = self.expr(&m.subject);
        let ty = self.ty(&m.subject);
        let end = self.fb.label();
        let mut open = true;
        for arm in &m.arms {
            let mark = self.mark();
            let next = self.fb.label();
            self.at(arm.pattern.span);
            let certain = self.pattern(&arm.pattern, subject, &ty, next);
            match (&arm.body, dst) {
                (ArmBody::Block(b), dst) => self.block(b, dst),
                (ArmBody::Expr(e), Some(dst)) => self.expr_to(e, dst),
                (ArmBody::Expr(e), None) => drop(self.expr(e)),
            }
            self.release(mark);
            self.fb.jump(end);
            self.fb.bind(next);
            if certain {
                open = false;
                break;
            }
        }
        if open {
            self.emit_at(m.subject.span, Op::NoMatch { src: subject });
        }
        self.fb.bind(end);
        self.release(whole);
    }

    /// Tests a value and brings the names of the pattern into scope; jumps to `next` if the value
    /// does not match. Returns whether the pattern matches every value.
    fn pattern(&mut self, p: &'a Pattern, value: Reg, ty: &Type, next: Label) -> bool {
        match &p.kind {
            PatternKind::Wildcard => return true,
            PatternKind::Binding(name) => {
                let reg = self.temp();
                self.copy(reg, value);
                self.declare(name, reg);
                return true;
            }
            PatternKind::Bool(wanted) if *ty == Type::Bool => self.jump_on(value, !wanted, next),
            PatternKind::Int(v) => self.equals(value, &Literal::Int(*v), next),
            PatternKind::Bool(v) => self.equals(value, &Literal::Bool(*v), next),
            PatternKind::Str(v) => self.equals(value, &Literal::Str(v.clone()), next),
            PatternKind::Null => self.equals(value, &Literal::Null, next),
            PatternKind::Variant { variant, args, .. } => {
                let Some(Meaning::Variant(id, at)) = self.meaning(variant.id) else { return false };
                let mark = self.mark();
                let is = self.temp();
                let (ty, variant) = (id.into(), number(at));
                self.emit(Op::IsVariant { dst: is, src: value, ty, variant });
                self.release(mark);
                self.fb.jump_if_not(is, next);
                let tables = self.low.tables;
                let types = &tables.enums[id.index()].variants[at as usize].1;
                for ((arg, ty), at) in args.iter().zip(types).zip(numbers(0)) {
                    self.payload(arg, value, at, ty, next);
                }
            }
            // Left by recovery; models with errors are not lowered.
            PatternKind::Error => {}
        }
        false
    }

    fn payload(&mut self, p: &'a Pattern, src: Reg, index: u16, ty: &Type, next: Label) {
        if matches!(p.kind, PatternKind::Wildcard) {
            return;
        }
        let dst = self.temp();
        self.emit_at(p.span, Op::Payload { dst, src, index });
        if let PatternKind::Binding(name) = &p.kind {
            self.declare(name, dst);
        } else {
            self.pattern(p, dst, ty, next);
        }
    }

    fn equals(&mut self, a: Reg, wanted: &Literal, next: Label) {
        let mark = self.mark();
        let dst = self.temp();
        match wanted {
            Literal::Int(v) if i32::try_from(*v).is_ok() => {
                self.emit(Op::EqInt { dst, a, value: *v as i32 });
            }
            other => {
                let b = self.load(other, None);
                self.emit(Op::Eq { dst, a, b });
            }
        }
        self.release(mark);
        self.fb.jump_if_not(dst, next);
    }
}
