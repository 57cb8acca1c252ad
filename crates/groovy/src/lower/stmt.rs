//! Statements.

use super::body::{Body, Final, Loop};
use super::code::Trap;
use super::kinds::THROWN;
use super::native::to_literal;
use crate::ast::{Block, Case, Catch, Declaration, Expr, ForHead, Stmt, StmtKind, TypeName};
use crate::eval::Value;
use anyorder_program::{Literal, Op, Reg};
use std::rc::Rc;

impl Body<'_> {
    /// Compiles statements. The value of the last one goes to `dst`.
    pub(super) fn statements(&mut self, statements: &[Stmt], dst: Option<Reg>) {
        let (mark, variables) = (self.code.mark(), self.scope.len());
        for (at, stmt) in statements.iter().enumerate() {
            let is_last = at + 1 == statements.len();
            self.stmt(stmt, dst.filter(|_| is_last));
        }
        self.scope.truncate(variables);
        self.code.release(mark);
    }

    fn block(&mut self, block: &Block, dst: Option<Reg>) {
        self.statements(&block.statements, dst);
    }

    /// Compiles a statement as a block of its own.
    fn inner(&mut self, stmt: &Stmt, dst: Option<Reg>) {
        self.statements(std::slice::from_ref(stmt), dst);
    }

    fn null_to(&mut self, dst: Option<Reg>) {
        if let Some(dst) = dst {
            self.code.emit(Op::Null { dst });
        }
    }

    fn stmt(&mut self, stmt: &Stmt, dst: Option<Reg>) {
        self.code.at(stmt.span);
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Package(_) | StmtKind::Import(_) | StmtKind::Method(_) => {
                self.null_to(dst)
            }
            StmtKind::Class(_) => self.unknown("a class", dst),
            StmtKind::Error => self.unknown("a statement with a mistake", dst),
            StmtKind::Declare(declaration) => {
                let last = self.declaration(declaration);
                if let Some(dst) = dst {
                    self.code.set(dst, last);
                }
            }
            StmtKind::Expr(e) => {
                let mark = self.code.mark();
                let value = self.expr(e);
                if let Some(dst) = dst {
                    self.code.set(dst, value);
                }
                self.code.release(mark);
            }
            StmtKind::Block(block) => {
                let end = self.code.label();
                let finals = self.finals.len();
                // A block with a label can be left by it.
                if !stmt.labels.is_empty() {
                    let labels = stmt.labels.clone();
                    self.loops.push(Loop { labels, end, next: None, finals });
                }
                self.block(block, dst);
                if !stmt.labels.is_empty() {
                    self.loops.pop();
                }
                self.code.bind(end);
            }
            StmtKind::If(condition, yes, no) => self.if_stmt(condition, yes, no.as_deref(), dst),
            StmtKind::While(condition, body) => {
                self.null_to(dst);
                self.while_loop(condition, body, &stmt.labels);
            }
            StmtKind::For(head, body) => {
                self.null_to(dst);
                let (mark, variables) = (self.code.mark(), self.scope.len());
                self.for_loop(head, body, &stmt.labels);
                self.scope.truncate(variables);
                self.code.release(mark);
            }
            StmtKind::Switch(value, cases) => self.switch(value, cases, dst),
            StmtKind::Try(block, catches, last) => {
                self.try_stmt(block, catches, last.as_ref(), dst);
            }
            StmtKind::Synchronized(lock, block) => {
                let mark = self.code.mark();
                self.expr(lock);
                self.code.release(mark);
                self.block(block, dst);
            }
            StmtKind::Return(value) => {
                let mark = self.code.mark();
                let value = match value {
                    Some(value) => self.expr(value),
                    None => self.code.null(),
                };
                self.leave_with(value);
                self.code.release(mark);
            }
            StmtKind::Break(label) => self.leave_loop(label.as_deref(), false),
            StmtKind::Continue(label) => self.leave_loop(label.as_deref(), true),
            StmtKind::Throw(value) => {
                let mark = self.code.mark();
                let value = self.expr(value);
                self.throw(value);
                self.code.release(mark);
            }
            StmtKind::Assert(condition, message) => {
                self.null_to(dst);
                self.assert(condition, message.as_ref());
            }
        }
    }

    fn unknown(&mut self, what: &str, dst: Option<Reg>) {
        let mark = self.code.mark();
        let value = self.gap(what);
        if let Some(dst) = dst {
            self.code.set(dst, value);
        }
        self.code.release(mark);
    }

    /// Declares variables; returns the value of the last one.
    pub(super) fn declaration(&mut self, declaration: &Declaration) -> Reg {
        if let Some(together) = &declaration.together {
            let regs: Vec<Reg> = declaration.variables.iter().map(|_| self.code.temp()).collect();
            let value = self.expr(together);
            let all = self.code.temp();
            self.code.set(all, value);
            for (at, reg) in (0..).zip(&regs) {
                let index = self.literal(Literal::Int(at));
                let item = self.code.library("part", &[all, index]);
                self.code.set(*reg, item);
            }
            for (one, reg) in declaration.variables.iter().zip(regs) {
                self.declare(&one.name, one.type_name.clone(), reg);
            }
            return all;
        }
        let mut last = None;
        for one in &declaration.variables {
            let typed = declaration.type_name.as_ref();
            let reg = self.code.temp();
            // The register stays, those of the first value do not.
            let mark = self.code.mark();
            let value = match &one.value {
                Some(value) => {
                    let value = self.expr(value);
                    match typed {
                        Some(typed) => self.cast(value, typed, false),
                        None => value,
                    }
                }
                None => {
                    let first = to_literal(&self.code.kinds(), &first_value(typed));
                    self.literal(first.unwrap_or_default())
                }
            };
            self.code.set(reg, value);
            self.code.release(mark);
            self.declare(&one.name, typed.cloned(), reg);
            last = Some(reg);
        }
        match last {
            Some(last) => last,
            None => self.code.null(),
        }
    }

    fn if_stmt(&mut self, condition: &Expr, yes: &Stmt, no: Option<&Stmt>, dst: Option<Reg>) {
        let (otherwise, end) = (self.code.label(), self.code.label());
        let mark = self.code.mark();
        self.condition(condition, false, otherwise);
        self.code.release(mark);
        self.inner(yes, dst);
        self.code.jump(end);
        self.code.bind(otherwise);
        match no {
            Some(no) => self.inner(no, dst),
            None => self.null_to(dst),
        }
        self.code.bind(end);
    }

    fn while_loop(&mut self, condition: &Expr, body: &Stmt, labels: &[String]) {
        let (next, end) = (self.code.label(), self.code.label());
        let (mark, variables) = (self.code.mark(), self.scope.len());
        self.code.bind(next);
        self.condition(condition, false, end);
        self.round(body, labels, end, next);
        self.code.jump(next);
        self.code.bind(end);
        self.scope.truncate(variables);
        self.code.release(mark);
    }

    /// Compiles the body of a loop.
    fn round(
        &mut self,
        body: &Stmt,
        labels: &[String],
        end: anyorder_program::Label,
        next: anyorder_program::Label,
    ) {
        let finals = self.finals.len();
        self.loops.push(Loop { labels: labels.to_vec(), end, next: Some(next), finals });
        self.inner(body, None);
        self.loops.pop();
    }

    fn for_loop(&mut self, head: &ForHead, body: &Stmt, labels: &[String]) {
        let (top, next, end) = (self.code.label(), self.code.label(), self.code.label());
        match head {
            ForHead::Each(variable, items) => {
                let items = self.expr(items);
                let items = self.code.library("iterated", &[items]);
                let at = self.literal(Literal::Int(0));
                let length = self.length(items);
                self.code.bind(top);
                let (mark, variables) = (self.code.mark(), self.scope.len());
                let more = self.code.value(|dst| Op::Lt { dst, a: at, b: length });
                self.code.jump_if_not(more, end);
                let item = self.code.value(|dst| Op::Index { dst, src: items, index: at });
                let item = match &variable.type_name {
                    Some(typed) => self.cast(item, typed, false),
                    None => item,
                };
                let own = self.code.temp();
                self.code.set(own, item);
                self.declare(&variable.name, variable.type_name.clone(), own);
                self.round(body, labels, end, next);
                self.scope.truncate(variables);
                self.code.release(mark);
                self.code.bind(next);
                self.code.emit(Op::AddInt { dst: at, a: at, value: 1 });
                self.code.jump(top);
            }
            ForHead::Classic(first, condition, step) => {
                if let Some(first) = first {
                    self.expr(first);
                }
                self.code.bind(top);
                if let Some(condition) = condition {
                    let mark = self.code.mark();
                    self.condition(condition, false, end);
                    self.code.release(mark);
                }
                self.round(body, labels, end, next);
                self.code.bind(next);
                if let Some(step) = step {
                    let mark = self.code.mark();
                    self.expr(step);
                    self.code.release(mark);
                }
                self.code.jump(top);
            }
        }
        self.code.bind(end);
    }

    pub(super) fn length(&mut self, items: Reg) -> Reg {
        let method = anyorder_program::Builtin::Len;
        self.code.value(|dst| Op::Method { dst, method, recv: items, args: Reg(0) })
    }

    fn switch(&mut self, value: &Expr, cases: &[Case], dst: Option<Reg>) {
        self.null_to(dst);
        let (mark, variables) = (self.code.mark(), self.scope.len());
        let value = self.expr(value);
        let own = self.code.temp();
        self.code.set(own, value);
        let end = self.code.label();
        let labels: Vec<_> = cases.iter().map(|_| self.code.label()).collect();
        for (case, label) in cases.iter().zip(&labels) {
            let Some(test) = &case.value else { continue };
            self.code.at(case.span);
            let mark = self.code.mark();
            let test = self.expr(test);
            let takes = self.code.library("isCase", &[test, own]);
            self.code.jump_if(takes, *label);
            self.code.release(mark);
        }
        let default = cases.iter().position(|case| case.value.is_none());
        self.code.jump(default.map_or(end, |at| labels[at]));
        let finals = self.finals.len();
        self.loops.push(Loop { labels: vec![], end, next: None, finals });
        for (case, label) in cases.iter().zip(&labels) {
            self.code.bind(*label);
            for stmt in &case.body {
                self.stmt(stmt, dst);
            }
        }
        self.loops.pop();
        self.code.bind(end);
        self.scope.truncate(variables);
        self.code.release(mark);
    }

    fn try_stmt(
        &mut self,
        block: &Block,
        catches: &[Catch],
        last: Option<&Block>,
        dst: Option<Reg>,
    ) {
        let mark = self.code.mark();
        let outcome = self.code.temp();
        let (caught, late, done) = (self.code.label(), self.code.label(), self.code.label());
        let traps = self.code.traps.len();
        let last = last.map(|block| Rc::new(block.clone()));
        if let Some(block) = &last {
            self.finals.push(Final { block: block.clone(), traps });
        }
        self.code.traps.push(Trap { outcome, target: caught });
        self.block(block, dst);
        self.code.traps.pop();
        self.code.jump(done);
        self.code.bind(caught);
        self.raise_gap(outcome);
        if last.is_some() {
            self.code.traps.push(Trap { outcome, target: late });
        }
        let exception = self.code.value(|dst| Op::Payload { dst, src: outcome, index: 0 });
        for one in catches {
            let (takes, other) = (self.code.label(), self.code.label());
            self.code.at(one.span);
            for name in &one.types {
                let is = self.instance_of(exception, name);
                self.code.jump_if(is, takes);
            }
            if one.types.is_empty() {
                let exception_type = "Exception".to_owned();
                let name = self.literal(Literal::Str(exception_type));
                let is = self.code.library("isInstance", &[exception, name]);
                self.code.jump_if(is, takes);
            }
            self.code.jump(other);
            self.code.bind(takes);
            let (mark, variables) = (self.code.mark(), self.scope.len());
            let own = self.code.temp();
            self.code.set(own, exception);
            self.declare(&one.name, None, own);
            self.block(&one.body, dst);
            self.scope.truncate(variables);
            self.code.release(mark);
            self.code.jump(done);
            self.code.bind(other);
        }
        self.code.raise(outcome);
        if let Some(block) = &last {
            self.code.traps.pop();
            self.finals.pop();
            self.code.bind(late);
            self.raise_gap(outcome);
            self.block(block, None);
            self.code.raise(outcome);
            self.code.bind(done);
            self.block(block, None);
        } else {
            self.code.bind(late);
            self.code.bind(done);
        }
        self.code.release(mark);
    }

    /// A gap is never caught, and no `finally` runs for it.
    fn raise_gap(&mut self, outcome: Reg) {
        let ty = self.code.kinds().outcome;
        let thrown =
            self.code.value(|dst| Op::IsVariant { dst, src: outcome, ty, variant: THROWN });
        let ok = self.code.label();
        self.code.jump_if(thrown, ok);
        self.code.raise(outcome);
        self.code.bind(ok);
    }

    /// Returns from the body, through the `finally` blocks around.
    pub(super) fn leave_with(&mut self, value: Reg) {
        let value = match self.result.clone() {
            Some(typed) if typed.name == "void" => self.code.null(),
            Some(typed) => self.cast(value, &typed, false),
            None => value,
        };
        let own = self.code.temp();
        self.code.set(own, value);
        self.run_finals(0);
        self.code.ret(own);
    }

    /// Emits the `finally` blocks from the innermost to the one with this number.
    fn run_finals(&mut self, from: usize) {
        let (finals, traps) = (self.finals.clone(), self.code.traps.clone());
        while self.finals.len() > from {
            let Some(last) = self.finals.pop() else { break };
            self.code.traps.truncate(last.traps);
            self.block(&last.block, None);
        }
        (self.finals, self.code.traps) = (finals, traps);
    }

    fn leave_loop(&mut self, label: Option<&str>, again: bool) {
        let fits = |one: &&Loop| match label {
            Some(label) => one.labels.iter().any(|own| own == label),
            None => one.labels.is_empty() || one.next.is_some(),
        };
        let mut loops = self.loops.iter().rev().filter(|one| !again || one.next.is_some());
        let found = loops.find(fits).cloned();
        let Some(found) = found else {
            self.unknown("`break` or `continue` without a loop", None);
            return;
        };
        self.run_finals(found.finals);
        match found.next {
            Some(next) if again => self.code.jump(next),
            _ => self.code.jump(found.end),
        }
    }

    fn throw(&mut self, value: Reg) {
        let is = self.code.is(value, self.code.kinds().types.exception);
        let other = self.code.label();
        self.code.jump_if_not(is, other);
        self.code.throw_exception(value);
        self.code.bind(other);
        let is_null = self.code.is(value, self.code.kinds().types.null);
        let not_null = self.code.label();
        self.code.jump_if_not(is_null, not_null);
        self.code.throw("NullPointerException", "null");
        self.code.bind(not_null);
        self.code.throw("GroovyCastException", "not an exception");
    }

    fn assert(&mut self, condition: &Expr, message: Option<&Expr>) {
        let ok = self.code.label();
        let mark = self.code.mark();
        self.condition(condition, true, ok);
        match message {
            Some(message) => {
                let message = self.expr(message);
                let message = self.code.show(message);
                let class = self.code.text("AssertionError");
                self.code.throw_values(class, message);
            }
            None => self.code.throw("PowerAssertionError", "assertion failed"),
        }
        self.code.release(mark);
        self.code.bind(ok);
    }
}

/// What a variable without a value has.
fn first_value(typed: Option<&TypeName>) -> Value {
    match typed.filter(|one| one.dimensions == 0).map(|one| one.name.as_str()) {
        Some("int" | "short" | "byte") => Value::Int(0),
        Some("long") => Value::Long(0),
        Some("double") => Value::Double(0.0),
        Some("float") => Value::Float(0.0),
        Some("boolean") => Value::Bool(false),
        _ => Value::Null,
    }
}
