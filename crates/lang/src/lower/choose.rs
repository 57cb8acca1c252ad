//! `choose`, in all forms.

use super::body::Body;
use super::lowerer::number;
use crate::ast::{Alternative, Expr, Stmt};
use anyorder_program::{Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers `choose { "lost" => { .. } "ok" => { .. } }`.
    pub(crate) fn choose_block(&mut self, s: &Stmt, alternatives: &'a [Alternative]) {
        let labels: Vec<&str> =
            alternatives.iter().map(|a| a.label.as_ref().map_or("", |l| &l.value)).collect();
        let choice = self.low.b.choice(&labels);
        let taken = self.temp();
        self.emit_at(s.span, Op::Choose { dst: taken, choice });
        let end = self.fb.label();
        for (i, alternative) in alternatives.iter().enumerate() {
            let other = self.fb.label();
            if i + 1 < alternatives.len() {
                let mark = self.mark();
                let is = self.temp();
                let value = i32::from(number(i));
                self.emit(Op::EqInt { dst: is, a: taken, value });
                self.release(mark);
                self.fb.jump_if_not(is, other);
            }
            self.block(&alternative.body, None);
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.fb.bind(end);
    }

    /// `choose a..b`, `choose e`.
    pub(crate) fn choose_value(&mut self, e: &Expr, from: &'a Expr, dst: Reg) {
        match from.as_range() {
            Some((a, b)) => {
                let a = self.stable(a, &[b]);
                let b = self.expr(b);
                self.emit_at(e.span, Op::ChooseInt { dst, a, b });
            }
            None => {
                let src = self.expr(from);
                self.emit_at(e.span, Op::ChooseFrom { dst, src });
            }
        }
    }
}
