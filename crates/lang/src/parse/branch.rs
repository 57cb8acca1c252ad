//! `if`, `match` and `choose`: with blocks or values as branches.

use super::parser::Parser;
use super::stmt::{BlockElement, assign_op};
use crate::ast::{
    Alternative, Arm, ArmBody, Block, Expr, ExprKind, If, IfElse, Match, Stmt, StmtKind,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind;

impl Parser<'_> {
    /// Parses `if` or `match` at the start of a statement. It is a value if it ends a block that
    /// may have a value and its branches have values.
    pub(super) fn branching(&mut self, value_allowed: bool) -> BlockElement {
        let mark = self.mark();
        let start = self.span();
        if self.at(TokenKind::If) {
            let mut node = self.if_node(value_allowed);
            if value_allowed && self.at(TokenKind::RBrace) && if_has_value(&node) {
                let kind = ExprKind::If(Box::new(node));
                return BlockElement::Value(self.expr_since(self.since(start), kind, mark));
            }
            self.if_without_value(&mut node);
            self.unmark(mark);
            return self.stmt_from(start, StmtKind::If(node));
        }
        let mut node = self.match_node(value_allowed);
        if value_allowed && self.at(TokenKind::RBrace) && match_has_value(&node) {
            let kind = ExprKind::Match(Box::new(node));
            return BlockElement::Value(self.expr_since(self.since(start), kind, mark));
        }
        self.match_without_value(&mut node);
        self.unmark(mark);
        self.stmt_from(start, StmtKind::Match(node))
    }

    pub(super) fn if_expr(&mut self) -> Expr {
        let mark = self.mark();
        let start = self.span();
        let node = self.if_node(true);
        self.expr_since(self.since(start), ExprKind::If(Box::new(node)), mark)
    }

    pub(super) fn match_expr(&mut self) -> Expr {
        let mark = self.mark();
        let start = self.span();
        let node = self.match_node(true);
        self.expr_since(self.since(start), ExprKind::Match(Box::new(node)), mark)
    }

    /// Parses `if c { .. } else if d { .. } else { .. }`.
    fn if_node(&mut self, value_allowed: bool) -> If {
        self.bump();
        let cond = Box::new(self.condition());
        let then = self.branch_block(value_allowed);
        let mut otherwise = None;
        if self.eat(TokenKind::Else) {
            otherwise = Some(if !self.at(TokenKind::If) {
                IfElse::Block(self.branch_block(value_allowed))
            } else if self.enter() {
                let inner = self.if_node(value_allowed);
                self.leave();
                IfElse::If(Box::new(inner))
            } else {
                self.skip_statement();
                IfElse::Block(Block { stmts: vec![], value: None, span: self.before().after() })
            });
        }
        If { cond, then, otherwise }
    }

    fn branch_block(&mut self, value_allowed: bool) -> Block {
        self.with_records(|p| p.body(value_allowed))
    }

    /// Parses `match e { pattern => body, .. }`.
    fn match_node(&mut self, value_allowed: bool) -> Match {
        self.bump();
        let subject = Box::new(self.condition());
        let mut arms = Vec::new();
        if !self.expect(TokenKind::LBrace) {
            return Match { subject, arms };
        }
        let open = self.before();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::End) {
            let here = self.here();
            arms.push(self.with_records(|p| p.arm(value_allowed)));
            let after_block = arms.last().is_some_and(|arm| matches!(arm.body, ArmBody::Block(_)));
            if !self.eat(TokenKind::Comma) && !after_block && !self.at(TokenKind::RBrace) {
                self.expected("`,` or `}`");
                if !self.skip_in_list(TokenKind::RBrace) {
                    break;
                }
            }
            if here == self.here() {
                break;
            }
        }
        self.close(TokenKind::RBrace, open);
        Match { subject, arms }
    }

    fn arm(&mut self, value_allowed: bool) -> Arm {
        let start = self.span();
        let pattern = self.pattern();
        self.expect(TokenKind::FatArrow);
        let body = if self.at(TokenKind::LBrace) {
            ArmBody::Block(self.block_of(value_allowed))
        } else {
            let value = self.expr();
            self.no_bare_assignment();
            ArmBody::Expr(value)
        };
        Arm { pattern, body, span: self.since(start) }
    }

    /// Reports `3 => x = 1,`.
    fn no_bare_assignment(&mut self) {
        use TokenKind::{MinusMinus, PlusPlus};
        if assign_op(self.kind()).is_some() || matches!(self.kind(), PlusPlus | MinusMinus) {
            let diagnostic = self.other_than("`,` or `}`");
            self.report(diagnostic.note("statements in an arm stand in braces: `3 => { x = 1; }`"));
        }
    }

    /// Parses `choose { "lost" => { .. } { .. } }`.
    pub(super) fn choose_stmt(&mut self) -> StmtKind {
        self.bump();
        let open = self.bump().span;
        let mut alternatives = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::End) {
            let label = self.at(TokenKind::Str).then(|| self.text_literal("a label"));
            if label.is_some() {
                self.expect(TokenKind::FatArrow);
            }
            if !self.at(TokenKind::LBrace) {
                self.expected("an alternative: `{ .. }` or `\"label\" => { .. }`");
                self.skip_statement();
                break;
            }
            let body = self.block();
            self.eat(TokenKind::Comma);
            alternatives.push(Alternative { label, body });
        }
        self.close(TokenKind::RBrace, open);
        if alternatives.is_empty() && !self.failed_here() {
            let message = "`choose` without alternatives";
            self.report_always(Diagnostic::new(Code::EXPECTED, self.since(open), message));
        }
        StmtKind::Choose(alternatives)
    }

    // ---- blocks whose value is not used ---------------------------------------------------------

    fn if_without_value(&mut self, node: &mut If) {
        self.block_without_value(&mut node.then);
        match &mut node.otherwise {
            None => {}
            Some(IfElse::Block(block)) => self.block_without_value(block),
            Some(IfElse::If(inner)) => self.if_without_value(inner),
        }
    }

    fn match_without_value(&mut self, node: &mut Match) {
        for arm in &mut node.arms {
            if let ArmBody::Block(block) = &mut arm.body {
                self.block_without_value(block);
            }
        }
    }

    fn block_without_value(&mut self, block: &mut Block) {
        let Some(value) = block.value.take() else { return };
        let span = value.span;
        let kind = match value.kind {
            ExprKind::If(mut node) => {
                self.if_without_value(&mut node);
                StmtKind::If(*node)
            }
            ExprKind::Match(mut node) => {
                self.match_without_value(&mut node);
                StmtKind::Match(*node)
            }
            kind => {
                let place = span.after();
                let message = "missing `;` after the statement";
                self.report_always(
                    Diagnostic::new(Code::MISSING_SEMICOLON, place, message)
                        .suggest("add it", place, ";")
                        .note("a value without `;` is only for branches whose value is used"),
                );
                StmtKind::Expr(Expr { id: value.id, span, kind })
            }
        };
        let id = self.id();
        block.stmts.push(Stmt { id, span, kind });
    }
}

fn if_has_value(node: &If) -> bool {
    let has_else = node.branches().any(|(cond, _)| cond.is_none());
    has_else && node.branches().any(|(_, block)| block.value.is_some())
}

fn match_has_value(node: &Match) -> bool {
    node.arms.iter().any(|arm| match &arm.body {
        ArmBody::Expr(_) => true,
        ArmBody::Block(block) => block.value.is_some(),
    })
}
