//! Error recovery: where to continue after a mistake.

use super::parser::Parser;
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind::{self, *};

impl Parser<'_> {
    /// Takes a `;`, or reports that it is missing and finds the end of the statement or
    /// declaration.
    pub(super) fn semi(&mut self, what: &str) {
        if self.eat(Semi) {
            return;
        }
        if !self.failed_here() && !self.at(Unknown) && !self.behind_open_string() {
            let place = self.before().after();
            let message = format!("missing `;` after {what}");
            let diagnostic = Diagnostic::new(Code::MISSING_SEMICOLON, place, message);
            self.report(diagnostic.suggest("add it", place, ";"));
            // The next line is most likely correct.
            if self.on_new_line() || self.at(RBrace) || starts_statement(self.kind()) {
                return;
            }
        }
        self.skip_statement();
    }

    /// Returns whether the last token was an open string. The text that the string swallowed is not
    /// missing.
    fn behind_open_string(&self) -> bool {
        let text = self.before().of(self.text);
        text.starts_with('"') && (text.len() == 1 || !text.ends_with('"'))
    }

    /// Skips to the token after the next `;`, or to a `}` or a word that begins a statement or
    /// declaration.
    pub(super) fn skip_statement(&mut self) {
        let mut depth = 0usize;
        let start = self.here();
        loop {
            match self.kind() {
                End => return,
                LBrace => depth += 1,
                RBrace if depth == 0 => return,
                RBrace if depth > 1 => depth -= 1,
                Semi if depth == 0 => break,
                RBrace => break,
                kind if self.here() > start
                    && self.on_new_line()
                    && (starts_item(kind) || (depth == 0 && starts_statement(kind))) =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
        self.bump();
    }

    /// Skips to the next word that begins a declaration.
    pub(super) fn skip_item(&mut self) {
        let start = self.here();
        loop {
            match self.kind() {
                End => return,
                Semi | RBrace => {
                    self.bump();
                    if starts_item(self.kind()) || self.at(End) {
                        return;
                    }
                }
                kind if self.here() > start && self.on_new_line() && starts_item(kind) => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips to the element after the next comma of a list, after a wrong element. Returns `false`
    /// if the list has no more elements.
    pub(super) fn skip_in_list(&mut self, close: TokenKind) -> bool {
        let mut depth = 0usize;
        loop {
            let kind = self.kind();
            match kind {
                End | Semi => return false,
                _ if depth == 0 && kind == close => return false,
                Comma if depth == 0 => {
                    self.bump();
                    return true;
                }
                LParen | LBracket | LBrace => depth += 1,
                RParen | RBracket | RBrace if depth == 0 => return false,
                RParen | RBracket | RBrace => depth -= 1,
                kind if self.on_new_line() && (starts_item(kind) || starts_statement(kind)) => {
                    return false;
                }
                _ => {}
            }
            self.bump();
        }
    }
}

/// Words that begin a declaration and nothing within one (`fn`, `lock` and others may stand
/// elsewhere).
pub(super) const ITEM_STARTS: &[TokenKind] = &[
    Const, Enum, Record, Class, Var, Lock, Cond, Handler, Fn, Task, Procedure, Event, Thread, Init,
    Driver, Component, Invariant, Response, Final, Spec, Setting, Symmetric, Once, Disabled,
    Unfair, Daemon,
];

/// Words that begin a statement.
const STATEMENT_STARTS: &[TokenKind] = &[
    Let, If, While, Loop, For, Break, Continue, Return, Match, Assert, Assume, Fail, Post, Async,
    Cancel, Enable, Disable, Acquire, Release, With, Wait, Notify, NotifyAll, Fork, Join, Choose,
    Atomic, Yield, Call,
];

pub(super) fn starts_item(kind: TokenKind) -> bool {
    ITEM_STARTS.contains(&kind)
}

pub(super) fn starts_statement(kind: TokenKind) -> bool {
    STATEMENT_STARTS.contains(&kind)
}
