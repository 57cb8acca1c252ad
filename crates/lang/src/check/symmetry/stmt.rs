//! What statements do with indices.

use super::flow::{Flow, Loop, Place};
use super::result::SymmetryRule as Rule;
use super::shape::Shape;
use crate::ast::{AssignOp, BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::check::Meaning;

impl<'a> Flow<'a> {
    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Let { name, value, .. } => {
                let shape = self.expr(value);
                if let Some(Meaning::Local(local)) = self.program.meaning(name.id)
                    && let Some(own) = self.locals.get(local.index()).cloned()
                {
                    self.unify(&own, &shape, value.span);
                }
            }
            StmtKind::Assign { place, op, value } => {
                let (place_shape, shape) = (self.expr(place), self.expr(value));
                match (op, &place_shape) {
                    (AssignOp::Set, _) => self.unify(&place_shape, &shape, value.span),
                    (AssignOp::Add, Shape::List(leaf, _)) => {
                        self.unify(&place_shape, &shape, value.span);
                        let what = "the place in lists that are joined";
                        self.demand(*leaf, stmt.span, Rule::ByPosition, what);
                    }
                    (AssignOp::Add, Shape::Unit) => {}
                    _ => {
                        let what = "used in arithmetic";
                        self.demand_all(&place_shape, place.span, Rule::Arithmetic, what);
                        self.demand_all(&shape, value.span, Rule::Arithmetic, what);
                    }
                }
            }
            StmtKind::Step { place, .. } => {
                let shape = self.expr(place);
                self.demand_all(&shape, place.span, Rule::Arithmetic, "used in arithmetic");
            }
            StmtKind::Expr(e)
            | StmtKind::Call(e)
            | StmtKind::Assume(e)
            | StmtKind::Cancel(e)
            | StmtKind::Join(e) => drop(self.expr(e)),
            StmtKind::If(one) => drop(self.if_(one)),
            StmtKind::Match(one) => drop(self.match_(one)),
            StmtKind::While { cond, body } => {
                self.expr(cond);
                self.block(body);
            }
            StmtKind::Loop(body) | StmtKind::Block(body) => drop(self.block(body)),
            StmtKind::For { var, iter, body } => {
                let over = self.source(iter);
                let of = match &over {
                    Shape::List(_, of) | Shape::Set(of) | Shape::Map(of, _) => (**of).clone(),
                    _ => Shape::Any,
                };
                if let Some(Meaning::Local(local)) = self.program.meaning(var.id)
                    && let Some(own) = self.locals.get(local.index()).cloned()
                {
                    self.unify(&own, &of, var.span);
                }
                let distinct = is_range(iter) || matches!(over, Shape::Set(_) | Shape::Map(..));
                let (span, place) = (iter.span, self.place);
                self.loops.push(Loop { over, var, body, distinct, span, place });
                self.block(body);
            }
            StmtKind::Return(Some(e)) => {
                let shape = self.expr(e);
                if let Some(result) = self.results.last().cloned() {
                    self.unify(&result, &shape, e.span);
                }
            }
            StmtKind::Assert { cond, .. } => drop(self.expr(cond)),
            StmtKind::Enable { event, .. } => self.reference(event),
            StmtKind::Acquire(r) | StmtKind::Release(r) => self.reference(r),
            StmtKind::With { lock, body } => {
                self.reference(lock);
                self.block(body);
            }
            StmtKind::Wait { cond, lock } => {
                self.reference(cond);
                self.reference(lock);
            }
            StmtKind::Notify { cond, .. } => self.reference(cond),
            StmtKind::Choose(alternatives) => {
                alternatives.iter().for_each(|one| drop(self.block(&one.body)));
            }
            StmtKind::Atomic(body) => {
                let before = self.place;
                self.place = Place { atomic: true, ..before };
                self.block(body);
                self.place = before;
            }
            StmtKind::Return(None)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Fail(_)
            | StmtKind::Yield
            | StmtKind::Error => {}
        }
    }
}

fn is_range(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Paren(inner) => is_range(inner),
        ExprKind::Binary { op, .. } => *op == BinaryOp::Range,
        _ => false,
    }
}
