//! `if` and `match` with a value, and the values of blocks.

use super::checker::{Checker, end_of};
use super::infer::Fit;
use super::stmt::word_span;
use super::types::Type;
use crate::ast::{ArmBody, Block, Expr, If, Match, Stmt, StmtKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The common type of branches, and the place that it comes from.
struct Branches<'w> {
    want: Option<&'w Type>,
    so_far: Option<(Type, Span)>,
    /// Whether the value of some branch must be checked when the model runs.
    is_checked: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn if_value(&mut self, expr: &'a Expr, node: &'a If, want: Option<&Type>) -> Type {
        let mut branches = Branches { want, so_far: None, is_checked: false };
        let mut has_else = false;
        for (cond, block) in node.branches() {
            match cond {
                Some(cond) => drop(self.expect(cond, &Type::Bool)),
                None => has_else = true,
            }
            self.branch_block(&mut branches, block);
        }
        if !has_else {
            let (word, message) =
                (word_span(expr.span, "if"), "an `if` without `else` has no value");
            let diagnostic = Diagnostic::new(Code::BRANCH_VALUE, word, message);
            self.report(diagnostic.label("what is its value otherwise?"));
        }
        self.common(expr, branches)
    }

    pub(super) fn match_value(
        &mut self,
        expr: &'a Expr,
        node: &'a Match,
        want: Option<&Type>,
    ) -> Type {
        let subject = self.expr(&node.subject);
        let mut branches = Branches { want, so_far: None, is_checked: false };
        for arm in &node.arms {
            self.in_scope(|c| {
                c.pattern(&arm.pattern, &subject);
                match &arm.body {
                    ArmBody::Block(block) => c.branch_block(&mut branches, block),
                    ArmBody::Expr(value) => c.branch_value(&mut branches, value),
                }
            });
        }
        self.coverage(word_span(expr.span, "match"), node, &subject);
        self.common(expr, branches)
    }

    fn common(&mut self, expr: &Expr, branches: Branches<'_>) -> Type {
        if let (Some(want), true) = (branches.want, branches.is_checked) {
            self.program.runtime_checks.insert(expr.id, want.clone());
        }
        match (branches.want, branches.so_far) {
            (_, Some((ty, _))) => ty,
            (Some(want), None) => want.clone(),
            (None, None) => Type::Never,
        }
    }

    fn branch_block(&mut self, branches: &mut Branches<'_>, block: &'a Block) {
        self.in_scope(|c| {
            let falls = c.statements(&block.stmts);
            match &block.value {
                Some(value) => c.branch_value(branches, value),
                None if falls => {
                    let message = "this branch ends without a value";
                    let mut diagnostic =
                        Diagnostic::new(Code::BRANCH_VALUE, end_of(block), message)
                            .label("expected a value before this");
                    if let Some(Stmt { kind: StmtKind::Expr(_), span, .. }) = block.stmts.last() {
                        let semi = Span::new(span.end.saturating_sub(1), span.end);
                        diagnostic =
                            diagnostic.suggest("to make this the value, remove the `;`", semi, "");
                    }
                    c.report(diagnostic);
                }
                None => {}
            }
        });
    }

    fn branch_value(&mut self, branches: &mut Branches<'_>, value: &'a Expr) {
        let ty = match branches.want {
            Some(want) => {
                let found = self.expr_hinted(value, want);
                match self.unknowns.fit(&found, want) {
                    Fit::Yes | Fit::Checked => {
                        self.fit_here(value, &found, want, None);
                        branches.is_checked |= self.program.runtime_checks.contains_key(&value.id);
                        branches.so_far = Some((want.clone(), value.span));
                        return;
                    }
                    _ => found,
                }
            }
            None => self.expr(value),
        };
        branches.so_far = match branches.so_far.take() {
            None => Some((ty, value.span)),
            Some((known, first)) => match self.unknowns.join(&known, &ty) {
                Some(joined) => Some((joined, first)),
                None => {
                    let (a, b) = (self.show(&known), self.show_found(&ty));
                    let message = format!("expected `{a}`, found {b}");
                    self.report(
                        Diagnostic::new(Code::TYPE_MISMATCH, value.span, message)
                            .also(first, format!("the other branch gives `{a}`")),
                    );
                    Some((known, first))
                }
            },
        };
    }
}
