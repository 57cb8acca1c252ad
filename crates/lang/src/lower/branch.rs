//! `if` and `match`, as statements and as values.

use super::body::Body;
use super::lowerer::{number, numbers};
use crate::ast::{Arm, ArmBody, Block, If, IfElse, Match, Pattern, PatternKind};
use crate::check::{Meaning, Type};
use anyorder_vm::program::{EnumId, Label, Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    pub(crate) fn if_statement(&mut self, i: &'a If) {
        let (otherwise, end) = (self.fb.label(), self.fb.label());
        self.jump_when(&i.cond, false, otherwise);
        self.block(&i.then);
        match &i.otherwise {
            None => self.fb.bind(otherwise),
            Some(branch) => {
                self.fb.jump(end);
                self.fb.bind(otherwise);
                match branch {
                    IfElse::Block(b) => self.block(b),
                    IfElse::If(i) => self.if_statement(i),
                }
            }
        }
        self.fb.bind(end);
    }

    pub(crate) fn if_value(&mut self, i: &'a If, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let (otherwise, end) = (self.fb.label(), self.fb.label());
        self.jump_when(&i.cond, false, otherwise);
        self.block_value(&i.then, dst);
        self.fb.jump(end);
        self.fb.bind(otherwise);
        match &i.otherwise {
            Some(IfElse::Block(b)) => self.block_value(b, dst),
            Some(IfElse::If(i)) => drop(self.if_value(i, Some(dst))),
            None => drop(self.load(&Literal::Null, Some(dst))),
        }
        self.fb.bind(end);
        dst
    }

    /// Lowers a block with a value; a block without one gives null.
    fn block_value(&mut self, b: &'a Block, dst: Reg) {
        let mark = self.mark();
        for s in &b.stmts {
            self.stmt(s);
        }
        match &b.value {
            Some(value) => self.expr_to(value, dst),
            None => drop(self.load(&Literal::Null, Some(dst))),
        }
        self.release(mark);
    }

    pub(crate) fn match_statement(&mut self, m: &'a Match) {
        let mark = self.mark();
        self.arms(m, &mut |body, arm| match &arm.body {
            ArmBody::Block(b) => body.block(b),
            ArmBody::Expr(e) => drop(body.expr(e)),
        });
        self.release(mark);
    }

    pub(crate) fn match_value(&mut self, m: &'a Match, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let mark = self.mark();
        self.arms(m, &mut |body, arm| match &arm.body {
            ArmBody::Block(b) => body.block_value(b, dst),
            ArmBody::Expr(e) => body.expr_to(e, dst),
        });
        self.release(mark);
        dst
    }

    /// Lowers a test of the arms in order, and a failure if none matches.
    fn arms(&mut self, m: &'a Match, arm_body: &mut dyn FnMut(&mut Self, &'a Arm)) {
        let subject = self.expr(&m.subject);
        let ty = self.ty(&m.subject);
        let end = self.fb.label();
        let mut open = true;
        for arm in &m.arms {
            let mark = self.mark();
            let next = self.fb.label();
            self.at(arm.pattern.span);
            let certain = self.pattern(&arm.pattern, subject, &ty, next);
            arm_body(self, arm);
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
    }

    /// Tests a value and brings the names of the pattern into scope. Jumps to `next` if the value
    /// does not match. Returns whether the pattern matches any value.
    fn pattern(&mut self, p: &'a Pattern, value: Reg, ty: &Type, next: Label) -> bool {
        match &p.kind {
            PatternKind::Wildcard => return true,
            PatternKind::Binding(name) => {
                let reg = self.temp();
                self.copy(reg, value);
                self.declare(name, reg);
                return true;
            }
            PatternKind::Bool(wanted) if *ty == Type::Bool => {
                if *wanted {
                    self.fb.jump_if_not(value, next);
                } else {
                    self.fb.jump_if(value, next);
                }
            }
            PatternKind::Int(v) => self.equals(value, &Literal::Int(*v), next),
            PatternKind::Bool(v) => self.equals(value, &Literal::Bool(*v), next),
            PatternKind::Str(v) => self.equals(value, &Literal::Str(v.clone()), next),
            PatternKind::Null => self.equals(value, &Literal::Null, next),
            PatternKind::Variant { variant, args, .. } => {
                let Some(Meaning::Variant(id, at)) = self.meaning(variant.id) else { return false };
                let mark = self.mark();
                let is = self.temp();
                let (ty, variant) = (EnumId(number(id.0)), number(at));
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
