//! The state of the parser, and what all its parts use.

use crate::diagnostic::Diagnostics;
use crate::lex::{Kind, Lexed, Token};
use anyorder_common::source::Span;

/// How deep expressions and statements may nest in brackets and operators.
pub(crate) const NESTING_MAX: u32 = 100;

/// The greatest height of an expression: the longest chain of operators and calls.
pub(crate) const HEIGHT_MAX: u32 = 1_000;

/// The most tokens of a type that are read ahead, to tell a declaration from an expression.
pub(super) const AHEAD_MAX: usize = 300;

/// A mistake was reported; the statement is given up.
#[derive(Debug)]
pub(super) struct Reported;

pub(super) type Res<T> = Result<T, Reported>;

/// What stands on the left of an expression. It decides whether a block on the next line belongs
/// to a call at its start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The start of a statement, or an equals sign.
    Statement,
    /// Anything else.
    Inner,
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) texts: &'a [String],
    /// For each opening bracket, the token that closes it; else its own index.
    pub(super) close: Vec<u32>,
    pub(super) at: usize,
    pub(super) nesting: u32,
    /// The greatest height of an expression that was read since the last [`Parser::grown`] began.
    pub(super) height: u32,
    pub(super) diagnostics: Diagnostics,
    /// The names of the classes around.
    pub(super) classes: Vec<String>,
    /// The innermost class around is an interface: its methods need no body.
    pub(super) in_interface: bool,
    /// Where `this(...)` or `super(...)` may stand: at the start of a constructor.
    pub(super) constructor_call: Option<u32>,
    /// The next statement is one of the file, not of a block.
    pub(super) at_top: bool,
    /// The tokens of the latest path expression.
    pub(super) last_path: (usize, usize),
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str, lexed: &'a Lexed) -> Self {
        let diagnostics = Diagnostics { list: lexed.diagnostics.clone() };
        Self {
            source,
            tokens: &lexed.tokens,
            texts: &lexed.texts,
            close: closers(&lexed.tokens),
            at: 0,
            nesting: 0,
            height: 0,
            diagnostics,
            classes: vec![],
            in_interface: false,
            constructor_call: None,
            at_top: false,
            last_path: (0, 0),
        }
    }

    pub(super) fn kind_at(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::End, |token| token.kind)
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind_at(self.at)
    }

    /// Returns the kind behind a newline, if there is one here.
    pub(super) fn kind_behind_newline(&self) -> Kind {
        self.kind_at(self.behind_newline(self.at))
    }

    /// Returns the index behind a newline token at `index`, if there is one.
    pub(super) fn behind_newline(&self, index: usize) -> usize {
        index + usize::from(self.kind_at(index) == Kind::Newline)
    }

    pub(super) fn is_op(&self, op: &str) -> bool {
        matches!(self.kind(), Kind::Op(found) if found == op)
    }

    pub(super) fn is_op_at(&self, index: usize, op: &str) -> bool {
        matches!(self.kind_at(index), Kind::Op(found) if found == op)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Word(found) if found == word)
    }

    pub(super) fn is_word_at(&self, index: usize, word: &str) -> bool {
        matches!(self.kind_at(index), Kind::Word(found) if found == word)
    }

    pub(super) fn span(&self) -> Span {
        self.span_at(self.at)
    }

    pub(super) fn span_at(&self, index: usize) -> Span {
        let index = index.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(index).map_or(Span::default(), |token| token.span)
    }

    /// Returns the text of the token at `index`.
    pub(super) fn text_at(&self, index: usize) -> &'a str {
        self.span_at(index).of(self.source)
    }

    /// Returns the decoded string of a text token.
    pub(super) fn string_at(&self, index: usize) -> String {
        let token = self.tokens.get(index);
        token.and_then(|token| self.texts.get(token.text as usize)).cloned().unwrap_or_default()
    }

    /// Returns the place from the token `from` to the last one that was read.
    pub(super) fn span_from(&self, from: usize) -> Span {
        let last = self.at.saturating_sub(1).max(from);
        self.span_at(from).to(self.span_at(last))
    }

    pub(super) fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len().saturating_sub(1));
    }

    pub(super) fn eat_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn skip_newline(&mut self) {
        if self.kind() == Kind::Newline {
            self.bump();
        }
    }

    pub(super) fn expect_op(&mut self, op: &str) -> Res<()> {
        if self.eat_op(op) { Ok(()) } else { Err(self.expected(&format!("`{op}`"))) }
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Res<String> {
        if self.kind() != Kind::Name {
            return Err(self.expected(what));
        }
        self.bump();
        Ok(self.text_at(self.at - 1).to_owned())
    }

    /// Reports that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let found = match self.kind() {
            Kind::End => "the end of the file".to_owned(),
            Kind::Newline => "the end of the line".to_owned(),
            Kind::Text | Kind::TextStart | Kind::TextMiddle | Kind::TextEnd => {
                "a string".to_owned()
            }
            _ => {
                let text: String = self.text_at(self.at).chars().take(40).collect();
                format!("`{text}`")
            }
        };
        self.report(self.span(), format!("expected {what}, found {found}"))
    }

    pub(super) fn report(&mut self, span: Span, message: String) -> Reported {
        self.diagnostics.add(span, message);
        Reported
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.nesting >= NESTING_MAX {
            let message = format!("nested too deeply, {NESTING_MAX} levels at the most");
            return Err(self.report(self.span(), message));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Reads a part of the tree with its own height, for [`Parser::grow`].
    pub(super) fn grown<T>(&mut self, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let outer = std::mem::take(&mut self.height);
        let result = read(self);
        self.height = self.height.max(outer);
        result
    }

    /// Counts a node above what was read.
    pub(super) fn grow(&mut self) -> Res<()> {
        self.height += 1;
        if self.height > HEIGHT_MAX {
            let message = format!("this chain is too long, {HEIGHT_MAX} operators at the most");
            return Err(self.report(self.span(), message));
        }
        Ok(())
    }

    /// Returns the token behind the bracket that closes the one at `index`.
    pub(super) fn behind_bracket(&self, index: usize) -> Option<usize> {
        let close = self.close.get(index).copied()? as usize;
        (close > index).then_some(close + 1)
    }
}

/// Returns for each opening bracket, and each start of a string with parts, the index of the token
/// that closes it. Others, and those that nothing closes, have their own index.
fn closers(tokens: &[Token]) -> Vec<u32> {
    let mut close: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let closes = match token.kind {
            Kind::Op("(") => {
                open.push((index, ")"));
                continue;
            }
            Kind::Op("[") => {
                open.push((index, "]"));
                continue;
            }
            Kind::Op("{") => {
                open.push((index, "}"));
                continue;
            }
            Kind::TextStart => {
                open.push((index, "\""));
                continue;
            }
            Kind::Op(op @ (")" | "]" | "}")) => op,
            Kind::TextEnd => "\"",
            _ => continue,
        };
        // A brace closes what was forgotten inside it; another bracket closes only its own kind.
        let strong = matches!(closes, "}" | "\"");
        while let Some((_, wants)) = open.last() {
            if *wants == closes || !strong || *wants == "\"" {
                break;
            }
            open.pop();
        }
        if let Some((start, wants)) = open.last().copied()
            && wants == closes
        {
            close[start] = index as u32;
            open.pop();
        }
    }
    close
}
