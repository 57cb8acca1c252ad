//! Statements.

use super::parser::Parser;
use super::recovery::starts_item;
use crate::ast::{AssignOp, Block, Expr, ExprKind, Stmt, StmtKind};
use crate::diagnostic::{Code, Diagnostic, foreign_word_hint, word_form};
use crate::lex::{CONTEXTUAL, RESERVED, TokenKind};
use crate::source::Span;

/// An element of a block.
pub(super) enum BlockElement {
    Stmt(Stmt),
    /// The value at the end of the block.
    Value(Expr),
}

/// Words of statements that end in `;`.
const SIMPLE_STATEMENTS: &[TokenKind] = {
    use TokenKind::*;
    &[
        Break, Continue, Return, Assert, Assume, Fail, Cancel, Enable, Disable, Acquire, Release,
        Wait, Notify, NotifyAll, Join, Yield, Call,
    ]
};

impl Parser<'_> {
    /// Parses a block of statements only.
    pub(super) fn block(&mut self) -> Block {
        self.block_of(false)
    }

    /// Parses a block that may end in a value.
    pub(super) fn value_block(&mut self) -> Block {
        self.block_of(true)
    }

    pub(super) fn block_of(&mut self, value_allowed: bool) -> Block {
        let start = self.span();
        let mut block = Block { stmts: vec![], value: None, span: start };
        if !self.at(TokenKind::LBrace) {
            self.expected("`{`");
            block.span = self.before().after();
            return block;
        }
        let open = self.bump().span;
        if !self.enter() {
            self.skip_block();
            block.span = self.since(start);
            return block;
        }
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::End) && !self.block_ends() {
            let here = self.here();
            match self.element(value_allowed) {
                BlockElement::Stmt(stmt) => block.stmts.push(stmt),
                BlockElement::Value(value) => block.value = Some(Box::new(value)),
            }
            if here == self.here() {
                self.bump();
            }
        }
        self.leave();
        self.close(TokenKind::RBrace, open);
        block.span = self.since(start);
        block
    }

    /// Returns whether a declaration begins here. Then a `}` is missing.
    fn block_ends(&self) -> bool {
        use TokenKind::{Colon, Const, Final, Fn, Init, LParen, Var};
        match self.kind() {
            Fn => self.ahead(1) != LParen,
            Var | Const => false,
            Final => self.ahead(1) == Colon,
            Init => self.block_follows(),
            kind => starts_item(kind) && self.names_something(1),
        }
    }

    /// Skips the rest of a block whose `{` was taken, with its `}`.
    fn skip_block(&mut self) {
        let mut depth = 1usize;
        while depth > 0 && !self.at(TokenKind::End) {
            match self.bump().kind {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace => depth -= 1,
                _ => {}
            }
        }
        self.mark_failed();
    }

    /// Parses a statement in place of a block; `None` for a value.
    pub(super) fn bare_statement(&mut self) -> Option<Stmt> {
        match self.element(false) {
            BlockElement::Stmt(stmt) => Some(stmt),
            BlockElement::Value(_) => None,
        }
    }

    fn element(&mut self, value_allowed: bool) -> BlockElement {
        let start = self.span();
        match self.kind() {
            TokenKind::If | TokenKind::Match => self.branching(value_allowed),
            _ if !self.begins_word_statement(value_allowed)
                && !self.is_misplaced_word()
                && self.begins_expression() =>
            {
                self.expression_element(value_allowed)
            }
            _ => {
                let kind = self.keyword_stmt();
                self.stmt_from(start, kind)
            }
        }
    }

    pub(super) fn stmt_from(&mut self, start: Span, kind: StmtKind) -> BlockElement {
        BlockElement::Stmt(Stmt { id: self.id(), span: self.since(start), kind })
    }

    pub(super) fn begins_expression(&self) -> bool {
        self.begins_expression_at(0)
    }

    /// Returns whether an expression begins with the token `n` places ahead.
    pub(super) fn begins_expression_at(&self, n: usize) -> bool {
        use TokenKind::*;
        match self.ahead(n) {
            Choose => self.ahead(n + 1) != LBrace,
            Int | Str | True | False | Null | SelfWord | LParen | LBracket | Fn | Not | Minus
            | Underscore => true,
            kind => kind.is_name(),
        }
    }

    /// Parses statements that begin with a word of their own.
    fn keyword_stmt(&mut self) -> StmtKind {
        use TokenKind::*;
        match self.kind() {
            Let => self.let_stmt(),
            Var | Const => self.wrong_let(),
            While => {
                self.bump();
                StmtKind::While { cond: self.condition(), body: self.body(false) }
            }
            Loop => {
                self.bump();
                StmtKind::Loop(self.block())
            }
            For => self.for_stmt(),
            LBrace => StmtKind::Block(self.block()),
            Choose => self.choose_stmt(),
            Atomic => {
                self.bump();
                StmtKind::Atomic(self.block())
            }
            With => {
                self.bump();
                let lock = self.before_block(|p| p.reference("the name of a lock"));
                StmtKind::With { lock, body: self.block() }
            }
            Semi => {
                let diagnostic = self.other_than("a statement");
                self.report(diagnostic.suggest("remove it", self.span(), ""));
                self.bump();
                StmtKind::Error
            }
            _ => self.simple_stmt(),
        }
    }

    /// Parses statements that end in `;`.
    fn simple_stmt(&mut self) -> StmtKind {
        use TokenKind::*;
        let word = self.kind();
        let is_name = assign_op(self.ahead(1)).is_some() || self.ahead(1) == PlusPlus;
        let known = SIMPLE_STATEMENTS.contains(&word);
        let named = (!known || is_name) && self.reserved_as_name("a statement");
        if !known && !named {
            self.expected("a statement");
        }
        if !known || named {
            self.skip_statement();
            return StmtKind::Error;
        }
        let by_name =
            matches!(word, Enable | Disable | Acquire | Release | Wait | Notify | NotifyAll);
        if by_name && self.ahead(1) == LParen {
            let (span, form) = (self.span_ahead(1), word_form(word.text()).unwrap_or_default());
            let message = format!("`{}` is a statement, not a call", word.text());
            self.report(
                Diagnostic::new(Code::EXPECTED, span, message).note(format!("write `{form}`")),
            );
            self.skip_statement();
            return StmtKind::Error;
        }
        self.bump();
        let kind = match word {
            Break => StmtKind::Break,
            Continue => StmtKind::Continue,
            Yield => StmtKind::Yield,
            Return => {
                let bare = matches!(self.kind(), Semi | RBrace);
                StmtKind::Return((!bare).then(|| self.expr()))
            }
            Assert => {
                let cond = self.expr();
                let message = self.eat(Comma).then(|| self.text_literal("the message, a string"));
                StmtKind::Assert { cond, message }
            }
            Assume => StmtKind::Assume(self.expr()),
            Fail => StmtKind::Fail(self.text_literal("the message, a string")),
            Cancel => StmtKind::Cancel(self.expr()),
            Enable | Disable => StmtKind::Enable {
                event: self.reference("the name of an event"),
                on: word == Enable,
            },
            Acquire => StmtKind::Acquire(self.reference("the name of a lock")),
            Release => StmtKind::Release(self.reference("the name of a lock")),
            Wait => {
                let cond = self.reference("the name of a condition");
                self.expect(With);
                StmtKind::Wait { cond, lock: self.reference("the name of a lock") }
            }
            Notify | NotifyAll => StmtKind::Notify {
                cond: self.reference("the name of a condition"),
                all: word == NotifyAll,
            },
            Join => StmtKind::Join(self.expr()),
            _ => self.call_stmt(),
        };
        self.semi(&format!("`{}`", word.text()));
        kind
    }

    /// Parses the text after `call`.
    fn call_stmt(&mut self) -> StmtKind {
        let call = self.expr();
        if !matches!(call.kind, ExprKind::Call { .. } | ExprKind::Method { .. } | ExprKind::Error) {
            let message = "`call` needs a call, like `call f(1)`";
            self.report(Diagnostic::new(Code::EXPECTED, call.span, message));
        }
        StmtKind::Call(call)
    }

    fn let_stmt(&mut self) -> StmtKind {
        self.bump();
        let name = self.name_or_blank("the name of a local");
        let ty = self.eat(TokenKind::Colon).then(|| self.declared_ty());
        let value = if self.at(TokenKind::Semi) && !self.failed_here() {
            self.expected("`=` and a first value");
            self.make(self.before().after(), ExprKind::Error)
        } else {
            if !self.at(TokenKind::Ge) {
                self.expect(TokenKind::Eq);
            }
            self.expr()
        };
        self.semi("`let`");
        StmtKind::Let { name, ty, value }
    }

    /// Reports `var x = 1;` within a body.
    fn wrong_let(&mut self) -> StmtKind {
        let span = self.span();
        let word = self.kind().text();
        let message = format!("`{word}` declares outside of bodies only");
        self.report(Diagnostic::new(Code::EXPECTED, span, message).suggest(
            "a local is made with `let`",
            span,
            "let",
        ));
        self.let_stmt()
    }

    fn for_stmt(&mut self) -> StmtKind {
        self.bump();
        let var = self.name_or_blank("the name of the element");
        self.expect(TokenKind::In);
        let iter = self.condition();
        StmtKind::For { var, iter, body: self.body(false) }
    }

    /// Parses an assignment, a step, a call, or the value at the end of a block.
    fn expression_element(&mut self, value_allowed: bool) -> BlockElement {
        let start = self.span();
        if self.foreign_await().is_some() {
            self.mark_failed();
            self.skip_statement();
            return self.stmt_from(start, StmtKind::Error);
        }
        let expr = self.with_records(Self::expr);
        if let Some(op) = assign_op(self.kind()) {
            self.check_place(&expr);
            self.bump();
            let value = self.with_records(Self::expr);
            self.semi("the assignment");
            return self.stmt_from(start, StmtKind::Assign { place: expr, op, value });
        }
        if matches!(self.kind(), TokenKind::PlusPlus | TokenKind::MinusMinus) {
            self.check_place(&expr);
            let up = self.bump().kind == TokenKind::PlusPlus;
            self.semi("the statement");
            return self.stmt_from(start, StmtKind::Step { place: expr, up });
        }
        if value_allowed && self.at(TokenKind::RBrace) {
            return BlockElement::Value(expr);
        }
        if self.misspelt_word(&expr) {
            return self.stmt_from(start, StmtKind::Error);
        }
        self.check_effect(&expr);
        self.semi("the statement");
        self.stmt_from(start, StmtKind::Expr(expr))
    }

    /// Reports `asert x;`: a name before a token that cannot follow a name.
    fn misspelt_word(&mut self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let follows = self.begins_expression() || self.at(TokenKind::LBrace);
        if !follows || self.on_new_line() {
            return false;
        }
        let message = format!("expected a statement, found the name `{name}`");
        let diagnostic = Diagnostic::new(Code::EXPECTED, expr.span, message);
        self.report_always(match foreign_word_hint(name) {
            Some(written) => diagnostic.note(written),
            None => diagnostic.similar(
                "word",
                expr.span,
                name,
                RESERVED.iter().chain(CONTEXTUAL).copied(),
            ),
        });
        self.mark_failed();
        self.skip_statement();
        true
    }

    fn check_place(&mut self, expr: &Expr) {
        if matches!(
            expr.kind,
            ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. } | ExprKind::Error
        ) {
            return;
        }
        let mut diagnostic = Diagnostic::new(Code::PLACE, expr.span, "this cannot be assigned to")
            .note("places are locals, globals, fields (`a.b`) and elements (`a[i]`)");
        if matches!(&expr.kind, ExprKind::Binary { .. }) && self.at(TokenKind::Eq) {
            diagnostic = diagnostic.note("values are compared with `==`");
        }
        self.report_always(diagnostic);
    }

    fn check_effect(&mut self, expr: &Expr) {
        let effect = match &expr.kind {
            ExprKind::Paren(inner) => matches!(inner.kind, ExprKind::Error),
            kind => matches!(
                kind,
                ExprKind::Call { .. }
                    | ExprKind::Method { .. }
                    | ExprKind::Post(_)
                    | ExprKind::Fork(_)
                    | ExprKind::Choose(_)
                    | ExprKind::If(_)
                    | ExprKind::Match(_)
                    | ExprKind::Error
            ),
        };
        if effect || self.failed_here() {
            return;
        }
        let message = "this expression does nothing as a statement";
        let mut diagnostic = Diagnostic::new(Code::NOT_A_STATEMENT, expr.span, message);
        if let ExprKind::Binary { op: crate::ast::BinaryOp::Eq, op_span, .. } = &expr.kind {
            diagnostic = diagnostic.suggest("to assign, write one `=`", *op_span, "=");
        }
        self.report_always(diagnostic);
    }
}

pub(super) fn assign_op(kind: TokenKind) -> Option<AssignOp> {
    Some(match kind {
        TokenKind::Eq => AssignOp::Set,
        TokenKind::PlusEq => AssignOp::Add,
        TokenKind::MinusEq => AssignOp::Sub,
        TokenKind::StarEq => AssignOp::Mul,
        TokenKind::SlashEq => AssignOp::Div,
        TokenKind::PercentEq => AssignOp::Rem,
        _ => return None,
    })
}
