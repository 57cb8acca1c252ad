//! `if` and `match`, as statements and as values.

use super::body::{Body, Val};
use super::declare::numbers;
use super::ty::Ty;
use crate::ast::{Arm, ArmBody, Block, Expr, If, IfElse, Match, Pattern, PatternKind};
use crate::diagnostic::Code;
use anyorder_vm::program::{Label, Literal, Op, Reg};

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

    pub(crate) fn if_value(&mut self, i: &'a If, want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let (otherwise, end) = (self.fb.label(), self.fb.label());
        self.jump_when(&i.cond, false, otherwise);
        let a = self.block_value(&i.then, dst);
        self.fb.jump(end);
        self.fb.bind(otherwise);
        let b = match &i.otherwise {
            Some(IfElse::Block(b)) => self.block_value(b, dst),
            Some(IfElse::If(i)) => self.if_value(i, Some(dst)).ty,
            None => self.load(&Literal::Null, Some(dst)).ty,
        };
        self.fb.bind(end);
        Val::new(dst, a.join(b))
    }

    /// Lowers a block with a value; without one, null.
    fn block_value(&mut self, b: &'a Block, dst: Reg) -> Ty {
        let mark = self.mark();
        for s in &b.stmts {
            self.stmt(s);
        }
        let ty = match &b.value {
            Some(value) => self.expr_to(value, dst),
            None => self.load(&Literal::Null, Some(dst)).ty,
        };
        self.release(mark);
        ty
    }

    pub(crate) fn match_statement(&mut self, m: &'a Match) {
        let mark = self.mark();
        self.arms(m, &mut |body, arm| {
            match &arm.body {
                ArmBody::Block(b) => body.block(b),
                ArmBody::Expr(e) => {
                    body.expr(e);
                }
            }
            Ty::Null
        });
        self.release(mark);
    }

    pub(crate) fn match_value(&mut self, _: &'a Expr, m: &'a Match, want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let ty = self.arms(m, &mut |body, arm| match &arm.body {
            ArmBody::Block(b) => body.block_value(b, dst),
            ArmBody::Expr(e) => body.expr_to(e, dst),
        });
        self.release(mark);
        Val::new(dst, ty)
    }

    /// Tries the arms in order; a failure if none matches.
    fn arms(&mut self, m: &'a Match, arm_body: &mut dyn FnMut(&mut Self, &'a Arm) -> Ty) -> Ty {
        let subject = self.expr(&m.subject);
        let end = self.fb.label();
        let mut result: Option<Ty> = None;
        let mut open = true;
        for arm in &m.arms {
            let mark = self.mark();
            let next = self.fb.label();
            self.at(arm.pattern.span);
            let certain = self.pattern(&arm.pattern, &subject, next);
            let ty = arm_body(self, arm);
            result = Some(result.map_or(ty.clone(), |r| r.join(ty)));
            self.release(mark);
            self.fb.jump(end);
            self.fb.bind(next);
            if certain {
                open = false;
                break;
            }
        }
        if open {
            self.emit_at(m.subject.span, Op::NoMatch { src: subject.reg });
        }
        self.fb.bind(end);
        result.unwrap_or(Ty::Any)
    }

    /// Tests a value and brings the names of the pattern into scope; goes to `next` if it does not match. Returns whether it
    /// matches any value.
    fn pattern(&mut self, p: &'a Pattern, value: &Val, next: Label) -> bool {
        match &p.kind {
            PatternKind::Wildcard => return true,
            PatternKind::Binding(name) => {
                let reg = self.temp();
                self.copy(reg, value.reg);
                self.declare(&name.name, reg, value.ty.clone());
                return true;
            }
            PatternKind::Bool(wanted) if value.ty == Ty::Bool => {
                if *wanted {
                    self.fb.jump_if_not(value.reg, next);
                } else {
                    self.fb.jump_if(value.reg, next);
                }
            }
            PatternKind::Int(v) => self.equals(value.reg, &Literal::Int(*v), next),
            PatternKind::Bool(v) => self.equals(value.reg, &Literal::Bool(*v), next),
            PatternKind::Str(v) => self.equals(value.reg, &Literal::Str(v.clone()), next),
            PatternKind::Null => self.equals(value.reg, &Literal::Null, next),
            PatternKind::Variant { enum_name, variant, args } => {
                let known = self.low.symbols.enumeration(&enum_name.name);
                let known = known.and_then(|(i, e)| Some((i, e.id, e.variant(&variant.name)?)));
                let Some((index, ty, number)) = known else {
                    self.unknown(Code::UNKNOWN_MEMBER, p.span, "no such variant");
                    return false;
                };
                let mark = self.mark();
                let is = self.temp();
                self.emit(Op::IsVariant { dst: is, src: value.reg, ty, variant: number });
                self.release(mark);
                self.fb.jump_if_not(is, next);
                let types = self.payload_types(index, number);
                for ((arg, ty), at) in args.iter().zip(types).zip(numbers(0)) {
                    self.payload(arg, value.reg, at, ty, next);
                }
            }
            PatternKind::Error => {
                self.unknown(Code::EXPECTED, p.span, "no pattern");
            }
        }
        false
    }

    fn payload(&mut self, p: &'a Pattern, src: Reg, index: u16, ty: Ty, next: Label) {
        if matches!(p.kind, PatternKind::Wildcard) {
            return;
        }
        let dst = self.temp();
        self.emit_at(p.span, Op::Payload { dst, src, index });
        if let PatternKind::Binding(name) = &p.kind {
            self.declare(&name.name, dst, ty);
        } else {
            self.pattern(p, &Val::new(dst, ty), next);
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
                let b = self.load(other, None).reg;
                self.emit(Op::Eq { dst, a, b });
            }
        }
        self.release(mark);
        self.fb.jump_if_not(dst, next);
    }
}
