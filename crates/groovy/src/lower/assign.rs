//! Assignments.

use super::body::Body;
use super::expr::name_of;
use super::lowering::Wanted;
use crate::ast::{Access, Arg, BinaryOp, Expr, ExprKind, IncDec, MemberName};
use anyorder_program::Reg;

impl Body<'_> {
    pub(super) fn assign_expr(&mut self, op: Option<BinaryOp>, target: &Expr, value: &Expr) -> Reg {
        let Some(op) = op else {
            let value = self.expr(value);
            let own = self.code.temp();
            self.code.set(own, value);
            self.assign(target, own);
            return own;
        };
        let old = self.operand(target, &[value]);
        let value = self.expr(value);
        let new = self.binary(op, old, value);
        self.assign(target, new);
        new
    }

    pub(super) fn change(&mut self, op: IncDec, target: &Expr, gives_new: bool) -> Reg {
        let old = self.expr(target);
        let own = self.code.temp();
        self.code.set(own, old);
        let new = match op {
            IncDec::Increment => self.code.library("next", &[own]),
            IncDec::Decrement => self.code.library("previous", &[own]),
        };
        let assignable = matches!(
            target.bare().kind,
            ExprKind::Name(_) | ExprKind::Member(_) | ExprKind::Index(..)
        );
        if assignable {
            self.assign(target, new);
        }
        if gives_new { new } else { own }
    }

    pub(super) fn assign(&mut self, target: &Expr, value: Reg) {
        match &target.bare().kind {
            ExprKind::Name(name) => {
                if !self.write_variable(name, value) {
                    self.set_own(name, value);
                }
            }
            ExprKind::Member(member)
                if name_of(&member.object) == Some("this")
                    && matches!(member.name, MemberName::Fixed(_)) =>
            {
                if let MemberName::Fixed(name) = &member.name {
                    self.set_own(name, value);
                }
            }
            ExprKind::Member(member) => {
                let object = self.expr(&member.object);
                let end = self.code.label();
                if member.access == Access::Safe {
                    let is_null = self.code.is(object, self.code.kinds().types.null);
                    self.code.jump_if(is_null, end);
                }
                match self.member_name(&member.name) {
                    Ok(name) => {
                        let func = self.code.lowering().want(Wanted::Set(name.to_owned()));
                        self.code.call(func, &[object, value]);
                    }
                    Err(name) => {
                        let func = self.code.lowering().want(Wanted::SetAny);
                        self.code.call(func, &[object, value, name]);
                    }
                }
                self.code.bind(end);
            }
            ExprKind::Index(object, keys) => {
                let later: Vec<&Expr> = keys.iter().map(Arg::value).collect();
                let object = self.operand(object, &later);
                let key = self.index_key(keys);
                self.code.library("putAt", &[object, key, value]);
            }
            _ => {
                self.gap("this assignment");
            }
        }
    }

    fn set_own(&mut self, name: &str, value: Reg) {
        let unit = self.unit;
        if !self.platform.set_property(&mut self.code, unit, name, value) {
            self.gap(&format!("the assignment of `{name}`, which is no variable"));
        }
    }
}
