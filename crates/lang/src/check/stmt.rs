//! Statements: types, contexts, and whether the end can be reached.

use super::body::BodyKind;
use super::checker::Checker;
use super::model::{Granularity, LocalKind};
use super::symmetry::Visit;
use super::types::Type;
use crate::ast::{ArmBody, AssignOp, Block, Expr, ExprKind, If, Match, Stmt, StmtKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks a block with its own scope. Returns whether its end can be reached.
    pub(super) fn block(&mut self, block: &'a Block) -> bool {
        self.in_scope(|c| {
            let falls = c.statements(&block.stmts);
            if let Some(value) = &block.value {
                c.expr(value);
            }
            falls
        })
    }

    /// Checks a sequence of statements. Returns whether its end can be reached.
    pub(super) fn statements(&mut self, stmts: &'a [Stmt]) -> bool {
        let mut falls = true;
        for (at, stmt) in stmts.iter().enumerate() {
            if !falls && stmts[..at].last().is_some_and(ends) {
                self.unreachable(stmt.span);
            }
            falls &= self.stmt(stmt);
        }
        falls
    }

    pub(super) fn unreachable(&mut self, span: Span) {
        let line_end = span.of(self.text).find('\n').map_or(span.end, |at| span.start + at as u32);
        let span = Span::new(span.start, line_end);
        self.report(Diagnostic::new(Code::UNREACHABLE, span, "this code is never reached"));
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => {
                let ty = match ty {
                    Some(written) => {
                        let ty = self.ty(written);
                        let found = self.expr_action_hinted(value, &ty);
                        self.fit_here(
                            value,
                            &found,
                            &ty,
                            Some((written.span, "because of this type")),
                        );
                        ty
                    }
                    None => self.variable_type(value),
                };
                self.declare_local(name, ty, LocalKind::Let);
                true
            }
            StmtKind::Assign { place, op, value } => {
                self.assignment(place, *op, value);
                true
            }
            StmtKind::Step { place, .. } => {
                let ty = self.assigned_place(place);
                self.fit_here(place, &ty, &Type::Int, None);
                true
            }
            StmtKind::Expr(expr) | StmtKind::Call(expr) => {
                self.expr_action(expr);
                true
            }
            StmtKind::If(node) => self.if_stmt(node),
            StmtKind::Match(node) => self.match_stmt(stmt.span, node),
            StmtKind::While { cond, body } => {
                self.expect(cond, &Type::Bool);
                let left = self.loop_body(body);
                left || !is_true(cond)
            }
            StmtKind::Loop(body) => self.loop_body(body),
            StmtKind::For { var, iter, body } => {
                let element = self.elements_of(iter);
                self.visits.push(Visit::Loop { var, iter, body });
                self.in_scope(|c| {
                    c.declare_local(var, element, LocalKind::Element);
                    c.loop_body(body);
                });
                true
            }
            StmtKind::Block(body) => self.block(body),
            StmtKind::Choose(alternatives) => {
                self.changes_state(word_span(stmt.span, "choose"), "`choose`");
                let mut falls = alternatives.is_empty();
                for alternative in alternatives {
                    falls |= self.block(&alternative.body);
                }
                falls
            }
            StmtKind::Error => true,
            _ => self.leaf_stmt(stmt),
        }
    }

    fn leaf_stmt(&mut self, stmt: &'a Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => {
                let is_break = matches!(stmt.kind, StmtKind::Break);
                match self.body.loops.last_mut() {
                    Some(left) => *left |= is_break,
                    None => {
                        let word = if is_break { "break" } else { "continue" };
                        let message = format!("`{word}` outside of a loop");
                        self.error(Code::CONTEXT, word_span(stmt.span, word), message);
                    }
                }
                false
            }
            StmtKind::Return(value) => {
                self.return_stmt(stmt.span, value.as_ref());
                false
            }
            StmtKind::Assert { cond, .. } | StmtKind::Assume(cond) => {
                self.expect(cond, &Type::Bool);
                !matches!((&stmt.kind, &cond.kind), (StmtKind::Assume(_), ExprKind::Bool(false)))
            }
            StmtKind::Fail(_) => false,
            // Control leaves it like a plain block: at its end, or by a statement that leaves the
            // block.
            StmtKind::With { lock, body } => {
                self.lock_stmt(stmt.span, "with", lock);
                self.block(body)
            }
            StmtKind::Atomic(body) => {
                let word = word_span(stmt.span, "atomic");
                let outer = self.body.atomic.replace(word);
                let falls = self.block(body);
                self.body.atomic = outer;
                falls
            }
            _ => {
                self.effect_stmt(stmt);
                true
            }
        }
    }

    /// Checks statements about tasks, events, locks and threads.
    fn effect_stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Cancel(task) => {
                self.expect(task, &Type::Task);
                self.changes_state(stmt.span, "`cancel`");
            }
            StmtKind::Enable { event, .. } => {
                self.events_ref(event);
                self.changes_state(stmt.span, "`enable`");
            }
            StmtKind::Acquire(lock) => self.lock_stmt(stmt.span, "acquire", lock),
            StmtKind::Release(lock) => self.lock_stmt(stmt.span, "release", lock),
            StmtKind::Wait { cond, lock } => {
                self.element_ref(cond, "condition");
                self.element_ref(lock, "lock");
                self.blocking(word_span(stmt.span, "wait"), "`wait`");
            }
            StmtKind::Notify { cond, .. } => {
                self.element_ref(cond, "condition");
                self.changes_state(stmt.span, "`notify`");
            }
            StmtKind::Join(thread) => {
                self.expect(thread, &Type::Thread);
                self.blocking(word_span(stmt.span, "join"), "`join`");
            }
            StmtKind::Yield => self.blocking(word_span(stmt.span, "yield"), "`yield`"),
            _ => {}
        }
    }

    fn lock_stmt(&mut self, span: Span, word: &'static str, lock: &'a crate::ast::Ref) {
        self.element_ref(lock, "lock");
        self.changes_state(word_span(span, word), "a lock operation");
    }

    /// Checks a statement that lets others run. It is not allowed where a body is one step.
    fn blocking(&mut self, span: Span, what: &'static str) {
        self.changes_state(span, what);
        if let Some(atomic) = self.body.atomic {
            let message = format!("{what} is not allowed in an `atomic` block");
            self.report(
                Diagnostic::new(Code::CONTEXT, span, message)
                    .also(atomic, "this block is one step"),
            );
            return;
        }
        let one_step = match self.body.kind {
            BodyKind::Init => true,
            BodyKind::Task | BodyKind::Event => self.program.granularity == Granularity::Task,
            _ => false,
        };
        if one_step {
            let note = if self.body.kind == BodyKind::Init {
                "`init` is one step; threads and functions that they call may wait"
            } else {
                "its body is one step; threads may wait, or tasks with `setting granularity = access;`"
            };
            let message = format!("{what} is not allowed in {}", self.body.kind.what());
            self.report(Diagnostic::new(Code::CONTEXT, span, message).note(note));
        }
    }

    fn expr_action_hinted(&mut self, value: &'a Expr, want: &Type) -> Type {
        if matches!(value.kind, ExprKind::Post(_) | ExprKind::Fork(_) | ExprKind::Choose(_)) {
            return self.expr_action(value);
        }
        self.expr_hinted(value, want)
    }

    fn assignment(&mut self, place: &'a Expr, op: AssignOp, value: &'a Expr) {
        let ty = self.assigned_place(place);
        match op {
            AssignOp::Set => {
                self.expect_action(value, &ty);
            }
            AssignOp::Add => match self.solid(&ty) {
                Type::Int | Type::Str | Type::List(_) | Type::Any | Type::Unknown(_) => {
                    let solid = self.solid(&ty);
                    self.fit_here(place, &ty, &solid, None);
                    self.expect(value, &solid);
                }
                other => {
                    self.expr(value);
                    let message = format!("`+=` does not take `{}`", self.show(&other));
                    self.error(Code::OPERAND, place.span, message);
                }
            },
            _ => {
                self.fit_here(place, &ty, &Type::Int, None);
                self.expect(value, &Type::Int);
            }
        }
    }

    fn return_stmt(&mut self, span: Span, value: Option<&'a Expr>) {
        let result = self.body.result.clone();
        let word = word_span(span, "return");
        match (value, result) {
            (None, None) => {}
            (Some(value), Some(result)) => drop(self.expect(value, &result)),
            (None, Some(result)) => {
                if self.unknowns.shallow(&result) != Type::Any {
                    let message = format!("expected a value of type `{}`", self.show(&result));
                    self.error(Code::NO_RETURN_VALUE, word, message);
                }
            }
            (Some(value), None) => {
                self.expr(value);
                let message = "a value is returned where none is wanted";
                let note = match self.body.kind {
                    BodyKind::Function => "write the type of the result: `fn f() -> int { .. }`",
                    _ => "only functions give values",
                };
                self.report(Diagnostic::new(Code::TYPE_MISMATCH, value.span, message).note(note));
            }
        }
    }

    /// Checks the body of a loop. Returns whether a `break` leaves the loop.
    fn loop_body(&mut self, body: &'a Block) -> bool {
        self.body.loops.push(false);
        self.block(body);
        self.body.loops.pop().is_some_and(|left| left)
    }

    /// Checks the collection of a `for` and returns the type of its elements.
    fn elements_of(&mut self, iter: &'a Expr) -> Type {
        let ty = self.expr(iter);
        match self.solid(&ty) {
            Type::List(element)
            | Type::Set(element)
            | Type::Map(element, _)
            | Type::Array(_, element) => *element,
            Type::Any | Type::Unknown(_) | Type::Never => Type::Any,
            other => {
                let message = format!("`for` does not go through `{}`", self.show(&other));
                let mut diagnostic = Diagnostic::new(Code::OPERAND, iter.span, message)
                    .note("it goes through lists, sets, the keys of maps, and ranges");
                if other == Type::Int {
                    let before = iter.span.before();
                    diagnostic = diagnostic.suggest("the numbers below it", before, "0..");
                }
                self.report(diagnostic);
                Type::Any
            }
        }
    }

    fn if_stmt(&mut self, node: &'a If) -> bool {
        let (mut falls, mut has_else) = (false, false);
        for (cond, block) in node.branches() {
            match cond {
                Some(cond) => drop(self.expect(cond, &Type::Bool)),
                None => has_else = true,
            }
            falls |= self.block(block);
        }
        falls || !has_else
    }

    fn match_stmt(&mut self, span: Span, node: &'a Match) -> bool {
        let subject = self.expr(&node.subject);
        let mut falls = false;
        for arm in &node.arms {
            self.in_scope(|c| {
                c.pattern(&arm.pattern, &subject);
                falls |= match &arm.body {
                    ArmBody::Block(block) => c.block(block),
                    ArmBody::Expr(expr) => {
                        c.expr_action(expr);
                        true
                    }
                };
            });
        }
        self.coverage(word_span(span, "match"), node, &subject);
        falls
    }
}

/// Returns the place of the first word of a statement.
pub(super) fn word_span(span: Span, word: &str) -> Span {
    Span::new(span.start, span.start + word.len() as u32)
}

/// Whether a statement visibly ends the block: only the first statement behind it is reported.
fn ends(stmt: &Stmt) -> bool {
    !matches!(stmt.kind, StmtKind::Let { .. } | StmtKind::Assign { .. } | StmtKind::Expr(_))
}

fn is_true(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Bool(value) => *value,
        ExprKind::Paren(inner) => is_true(inner),
        _ => false,
    }
}
