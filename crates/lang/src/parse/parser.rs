//! The state of the parser and its smallest operations.

use super::words::DeclaredWords;
use crate::ast::{Expr, ExprKind, Ident, NodeId, Part};
use crate::diagnostic::{Code, DIAGNOSTICS_MAX, Diagnostic};
use crate::lex::{Token, TokenKind};
use crate::source::Span;

/// Deepest nesting of statements, and deepest nesting of expressions. Also the longest chain of
/// operators, calls or fields.
pub const DEPTH_MAX: u16 = 128;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Height of the subtree below each node (of expressions; 1 for others). The length of this
    /// list is the next node id.
    heights: Vec<u16>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Index of the token of the last message: one mistake gives one message.
    last_error: Option<usize>,
    depth: u16,
    /// Greatest `depth` since the innermost [`Parser::mark`].
    depth_peak: u16,
    pub(super) declared_words: DeclaredWords,
    /// In conditions of `if`, `while`, `when` and the like, `Name {` begins a block, not a record.
    pub(super) no_record: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        debug_assert!(tokens.last().is_some_and(|token| token.kind == TokenKind::End));
        Self {
            text,
            declared_words: DeclaredWords::of(&tokens),
            tokens,
            at: 0,
            heights: vec![],
            diagnostics: vec![],
            last_error: None,
            depth: 0,
            depth_peak: 0,
            no_record: false,
        }
    }

    // ---- reading --------------------------------------------------------------------------------

    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.token().kind
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// Returns the kind of the token `n` places ahead.
    pub(super) fn ahead(&self, n: usize) -> TokenKind {
        self.tokens.get(self.at + n).map_or(TokenKind::End, |token| token.kind)
    }

    /// Returns the place of the token `n` places ahead; the last one's beyond the end.
    pub(super) fn span_ahead(&self, n: usize) -> Span {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)].span
    }

    /// Returns whether the next token stands on the same line as the current one.
    pub(super) fn continues_line(&self) -> bool {
        !Span::new(self.span().end, self.span_ahead(1).start).of(self.text).contains('\n')
    }

    /// Returns the index of the current token. A loop compares it to see whether it advances.
    pub(super) fn here(&self) -> usize {
        self.at
    }

    /// Returns the place of the previous token; the start of the file for the first token.
    pub(super) fn before(&self) -> Span {
        if self.at == 0 { Span::new(0, 0) } else { self.tokens[self.at - 1].span }
    }

    /// Returns the range from the start of `from` to the last token taken.
    pub(super) fn since(&self, from: Span) -> Span {
        Span::new(from.start, self.before().end.max(from.start))
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Returns whether the current token is `word`, which is not a token of its own.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Name) && self.span().of(self.text) == word
    }

    /// Returns whether the current token begins a line. A mistake of the previous line ends there.
    pub(super) fn on_new_line(&self) -> bool {
        Span::new(self.before().end, self.span().start).of(self.text).contains('\n')
    }

    // ---- taking ---------------------------------------------------------------------------------

    /// Takes the current token; at the end of the file it stays.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        self.eat_if(self.at(kind))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.eat_if(self.at_word(word))
    }

    fn eat_if(&mut self, found: bool) -> bool {
        if found {
            self.bump();
        }
        found
    }

    /// Takes `kind`, or reports that it is missing and takes nothing.
    pub(super) fn expect(&mut self, kind: TokenKind) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.expected(&format!("`{}`", kind.text()));
        false
    }

    /// Takes the first `=` off a `>=`, as in `let a: list<int>= b;`.
    pub(super) fn split_ge(&mut self) {
        let Token { kind, span } = self.token();
        if kind == TokenKind::Ge {
            self.tokens[self.at] =
                Token { kind: TokenKind::Eq, span: Span::new(span.start + 1, span.end) };
        }
    }

    // ---- reporting ------------------------------------------------------------------------------

    /// Adds a diagnostic, at most one for each token.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.last_error == Some(self.at) {
            return;
        }
        self.last_error = Some(self.at);
        self.report_always(diagnostic);
    }

    /// Adds a diagnostic that is not a consequence of an earlier one.
    pub(super) fn report_always(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether a message was given for the current token.
    pub(super) fn failed_here(&self) -> bool {
        self.last_error == Some(self.at)
    }

    /// Marks later mistakes as consequences of a reported one.
    pub(super) fn mark_failed(&mut self) {
        self.last_error = Some(self.at);
    }

    /// Reports "expected WHAT, found ..." at the current token.
    pub(super) fn expected(&mut self, what: &str) {
        // The lexer has already reported it.
        if self.at(TokenKind::Unknown) {
            return self.mark_failed();
        }
        let diagnostic = self.other_than(what).label(format!("expected {what}"));
        self.report(diagnostic);
    }

    /// The message that something else than `what` stands here.
    pub(super) fn other_than(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::new(Code::EXPECTED, self.span(), message)
    }

    /// Describes the current token.
    pub(super) fn found(&self) -> String {
        let Token { kind, span } = self.token();
        let text = span.of(self.text);
        match kind {
            TokenKind::End => "the end of the file".into(),
            TokenKind::Name => format!("the name `{}`", shortened(text)),
            TokenKind::Int => format!("the number `{}`", shortened(text)),
            TokenKind::Str => "a string".into(),
            kind if kind.is_reserved() => format!("the reserved word `{text}`"),
            kind if kind.is_name() => format!("the word `{text}`"),
            _ => format!("`{}`", shortened(text)),
        }
    }

    // ---- nodes ----------------------------------------------------------------------------------

    pub(super) fn id(&mut self) -> NodeId {
        let id = NodeId(self.heights.len() as u32);
        self.heights.push(1);
        id
    }

    pub(super) fn nodes_count(&self) -> u32 {
        self.heights.len() as u32
    }

    /// An expression without statements in it. It is one higher than its highest part.
    pub(super) fn make(&mut self, span: Span, kind: ExprKind) -> Expr {
        let mut highest = 0;
        kind.parts(&mut |part| {
            if let Part::Expr(part) = part {
                highest = highest.max(self.heights[part.id.index()]);
            }
        });
        self.expr_of_height(span, kind, highest + 1)
    }

    /// Creates an expression that holds statements or types. The nodes and the depth since `mark`
    /// bound its height.
    pub(super) fn expr_since(&mut self, span: Span, kind: ExprKind, mark: Mark) -> Expr {
        let highest = self.heights[mark.first..].iter().copied().max().unwrap_or(0);
        let nested = self.depth_peak.saturating_sub(self.depth);
        self.depth_peak = self.depth_peak.max(mark.peak);
        self.expr_of_height(span, kind, highest.saturating_add(nested).saturating_add(1))
    }

    /// Remembers where an expression that holds statements begins.
    pub(super) fn mark(&mut self) -> Mark {
        let mark = Mark { first: self.heights.len(), peak: self.depth_peak };
        self.depth_peak = self.depth;
        mark
    }

    /// Forgets a mark whose expression became a statement.
    pub(super) fn unmark(&mut self, mark: Mark) {
        self.depth_peak = self.depth_peak.max(mark.peak);
    }

    fn expr_of_height(&mut self, span: Span, kind: ExprKind, height: u16) -> Expr {
        let id = self.id();
        if height > DEPTH_MAX {
            self.too_deep(span);
            return Expr { id, span, kind: ExprKind::Error };
        }
        self.heights[id.index()] = height;
        Expr { id, span, kind }
    }

    /// Takes the current token as a name.
    pub(super) fn bump_ident(&mut self) -> Ident {
        let span = self.bump().span;
        self.ident(span)
    }

    pub(super) fn ident(&mut self, span: Span) -> Ident {
        Ident { id: self.id(), name: span.of(self.text).to_string(), span }
    }

    // ---- depth ----------------------------------------------------------------------------------

    /// Goes one level down. Returns `false` and reports a message if that is too deep. Each `true`
    /// needs a [`Parser::leave`].
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= DEPTH_MAX {
            self.too_deep(self.span());
            return false;
        }
        self.depth += 1;
        self.depth_peak = self.depth_peak.max(self.depth);
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&mut self, span: Span) {
        let span = Span::new(span.start, span.end.min(span.start + 1).max(span.start));
        let message = format!("nested more than {DEPTH_MAX} deep");
        let known = self.diagnostics.iter().any(|d| d.code == Code::TOO_LARGE);
        if !known {
            self.report_always(Diagnostic::new(Code::TOO_LARGE, span, message));
        }
        self.mark_failed();
    }
}

/// The start of an expression, see [`Parser::mark`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    first: usize,
    peak: u16,
}

/// Returns the first characters of `text`, for a message.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return text.to_string();
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}...")
}
