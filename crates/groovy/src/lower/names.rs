//! Which names a tree uses, assigns and closes over.

use crate::ast::{Block, Expr, ExprKind, Stmt, Visitor, walk_block, walk_expr};
use std::collections::BTreeSet;

/// The names in a tree.
#[derive(Default)]
pub(super) struct Names {
    /// All names that are read or assigned.
    pub(super) used: BTreeSet<String>,
    /// Names that are assigned, other than by their declaration.
    pub(super) assigned: BTreeSet<String>,
    /// Names inside of closures.
    pub(super) closed: BTreeSet<String>,
    depth: u32,
}

impl Names {
    /// Collects the names of statements.
    pub(super) fn of(statements: &[Stmt]) -> Names {
        let mut names = Names::default();
        statements.iter().for_each(|stmt| names.stmt(stmt));
        names
    }

    /// Collects the names of a block, as a closure has it.
    pub(super) fn of_block(block: &Block) -> Names {
        let mut names = Names::default();
        walk_block(&mut names, block);
        names
    }

    /// Returns whether an expression assigns a variable.
    pub(super) fn assigns(expr: &Expr) -> bool {
        let mut names = Names::default();
        names.expr(expr);
        !names.assigned.is_empty()
    }

    fn assign(&mut self, target: &Expr) {
        if let ExprKind::Name(name) = &target.bare().kind {
            self.assigned.insert(name.clone());
        }
    }
}

impl Visitor for Names {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.used.insert(name.clone());
                if self.depth > 0 {
                    self.closed.insert(name.clone());
                }
            }
            ExprKind::Assign(_, target, _)
            | ExprKind::Prefix(_, target)
            | ExprKind::Postfix(_, target) => self.assign(target),
            ExprKind::AssignMany(targets, _) => targets.iter().for_each(|one| self.assign(one)),
            _ => {}
        }
        let closure = matches!(expr.kind, ExprKind::Closure(_));
        self.depth += u32::from(closure);
        walk_expr(self, expr);
        self.depth -= u32::from(closure);
    }
}
