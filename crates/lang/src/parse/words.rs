//! Words that mean something in their place only.
//!
//! **Rule.** A word of [`CONTEXTUAL`](crate::lex::CONTEXTUAL) is a name, except
//!
//! 1. at the start of a declaration, where no name can stand;
//! 2. at the start of a statement, if the next token can begin what the word needs there: a name
//!    (`release m`), a text (`fail "no"`), a block (`loop {`), or the end (`yield;`). Behind a name
//!    no such token can follow.
//! 3. in an expression: `post`, `fork` and `new` before a name, `set`, `map` and `async` before
//!    `[`, `enabled` before `(`.
//!
//! A call and a parenthesised operand look alike: `cancel(p);`. At the start of a statement this
//! is a call if the model declares a function or procedure of that name, and else the statement.
//! (`cancel`, `join`, `call` and `fail`; the operand of the other words has no parentheses.)
//! For rule 3, a clause may follow the name: in `when new after e1`, `after` is no class. There the
//! token behind it decides.
//!
//! Names that would make rule 3 ambiguous are refused where they are declared: a value called
//! `set`, `map` or `async` could not be indexed, a function called `enabled` could not be called.

use super::parser::Parser;
use crate::ast::Ident;
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{Token, TokenKind};

/// The contextual words that a file declares.
#[derive(Default)]
pub(super) struct DeclaredWords {
    /// As functions or procedures outside of classes.
    callable: Vec<TokenKind>,
    /// As these or as values.
    any: Vec<TokenKind>,
}

impl DeclaredWords {
    pub(super) fn of(tokens: &[Token]) -> Self {
        use TokenKind::{Comma, Const, Fn, LBrace, LParen, Let, Name, Procedure, RBrace, Var};
        let mut depth = 0usize;
        let mut out = DeclaredWords::default();
        for pair in tokens.windows(2) {
            let (before, word) = (pair[0].kind, pair[1].kind);
            match before {
                LBrace => depth += 1,
                RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !word.is_name() || word == Name {
                continue;
            }
            if matches!(before, Fn | Procedure) && depth == 0 && !out.callable.contains(&word) {
                out.callable.push(word);
            }
            let declares = matches!(before, Fn | Procedure | Var | Const | Let | Comma | LParen);
            if declares && !out.any.contains(&word) {
                out.any.push(word);
            }
        }
        out
    }
}

impl Parser<'_> {
    /// Returns whether the current token is a name here, or a contextual word.
    pub(super) fn at_name(&self) -> bool {
        self.kind().is_name()
    }

    /// Returns whether a word begins a statement here that is no expression (rule 2).
    /// `value_allowed`: the block may end in a value.
    pub(super) fn begins_word_statement(&self, value_allowed: bool) -> bool {
        use TokenKind::*;
        let (word, next) = (self.kind(), self.ahead(1));
        match word {
            Let | While | For | Return | Break | Continue | Assert | Assume => true,
            Choose => next == LBrace,
            Var | Const => self.names_something(1),
            Yield => next == Semi || (next == RBrace && !value_allowed),
            Loop | Atomic | With | Acquire | Release | Notify | NotifyAll | Wait | Enable
            | Disable | Cancel | Join | Call | Fail => match next {
                LParen if matches!(word, Cancel | Join | Call | Fail) => {
                    !self.declared_words.callable.contains(&word)
                }
                LParen => !self.declared_words.any.contains(&word),
                Semi => true,
                LBrace => matches!(word, Loop | Atomic) && self.block_follows(),
                Str => word == Fail,
                Int | SelfWord | True | False | Null | Not | Fn | If | Match => {
                    !matches!(word, Loop | Atomic)
                }
                _ => !matches!(word, Loop | Atomic) && self.names_something(1),
            },
            _ => false,
        }
    }

    /// Returns whether `{` follows and begins a block, not the fields of a record.
    pub(super) fn block_follows(&self) -> bool {
        self.ahead(1) == TokenKind::LBrace
            && self.ahead(2) != TokenKind::DotDot
            && self.ahead(3) != TokenKind::Colon
    }

    /// Returns whether the token `n` places ahead stands for a name: one, or a reserved word that
    /// is used as one.
    pub(super) fn names_something(&self, n: usize) -> bool {
        let kind = self.ahead(n);
        let continues = matches!(kind, TokenKind::In | TokenKind::Else);
        kind.is_name() || (kind.is_reserved() && !continues)
    }

    /// Returns whether the current word of an expression (`post`, `fork`, `new`) has its operand
    /// (rule 3). A clause of a post or event may follow a name; it is never followed by a bracket.
    pub(super) fn word_has_operand(&self) -> bool {
        let bracket = matches!(self.ahead(2), TokenKind::LParen | TokenKind::LBrace);
        self.names_something(1) && (bracket || !self.clause_at(1))
    }

    /// Returns whether the token `n` places ahead can continue a statement or declaration behind an
    /// expression.
    fn clause_at(&self, n: usize) -> bool {
        const CLAUSES: &[&str] = &["on", "to", "when", "after", "front", "leads_to"];
        CLAUSES.contains(&self.span_ahead(n).of(self.text))
    }

    /// Returns whether a word of statements or declarations stands where an expression must, as in
    /// `x = wait c with m`.
    pub(super) fn is_misplaced_word(&self) -> bool {
        use TokenKind::{Fork, Name, New, Post};
        let contextual = match self.kind() {
            Post | Fork | New if self.word_has_operand() => false,
            kind => kind.is_name() && kind != Name,
        };
        contextual && self.names_something(1) && !self.clause_at(1) && self.continues_line()
    }

    /// Parses the name of a value. `set[1]` is a set, so no value has such a name.
    pub(super) fn value_name(&mut self, what: &str) -> Ident {
        let word = self.kind();
        if matches!(word, TokenKind::Set | TokenKind::Map | TokenKind::Async) {
            let note = match word {
                TokenKind::Set => "`set[1, 2]` is a set with two elements",
                TokenKind::Map => "`map[1: \"a\"]` is a map with one entry",
                _ => "`async[main] t()` posts a task",
            };
            let message = format!("a value cannot be called `{}`", word.text());
            self.refuse_name(self.token(), message, note.into());
            return self.bump_ident();
        }
        self.name(what)
    }

    /// Reports a function called `enabled`. Its name is the next token.
    pub(super) fn refuse_enabled(&mut self) {
        if self.ahead(1) == TokenKind::Enabled {
            let token = Token { kind: TokenKind::Enabled, span: self.span_ahead(1) };
            self.refuse_name(
                token,
                "a function cannot be called `enabled`".into(),
                "`enabled(e)` is whether the event `e` is enabled".into(),
            );
        }
    }

    fn refuse_name(&mut self, token: Token, message: String, note: String) {
        let other = format!("{}_", token.kind.text());
        self.report_always(
            Diagnostic::new(Code::RESERVED, token.span, message).note(note).suggest(
                "use another name",
                token.span,
                other,
            ),
        );
    }
}
