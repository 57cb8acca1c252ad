//! From text to tokens. Every text can be split: characters without meaning become an `Unknown`
//! token and a diagnostic.

mod literal;
mod token;

pub use literal::{IntError, parse_int, unescape};
pub use token::{CONTEXTUAL, Comment, RESERVED, Token, TokenKind};

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The tokens of a text (the last is `End`), its comments, and the mistakes in its characters.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// Tokens in order; the last one is `End`.
    pub tokens: Vec<Token>,
    /// Comments in order.
    pub comments: Vec<Comment>,
    /// Wrong characters, open strings and comments.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits `text`, which must be no longer than [`crate::source::SOURCE_BYTES_MAX`]. Linear.
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text,
        at: 0,
        out: Lexed { tokens: vec![], comments: vec![], diagnostics: vec![] },
        unknown: None,
    };
    // Some editors write a byte order mark.
    if text.starts_with('\u{feff}') {
        lexer.at = 3;
    }
    while lexer.step() {}
    lexer.flush_unknown();
    let end = text.len() as u32;
    lexer.out.tokens.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    out: Lexed,
    /// The current run of characters without meaning, which gets one message.
    unknown: Option<Span>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span_of(&self, len: usize) -> Span {
        Span::new(self.at as u32, (self.at + len) as u32)
    }

    fn push(&mut self, kind: TokenKind, len: usize) {
        self.flush_unknown();
        let span = self.span_of(len);
        self.out.tokens.push(Token { kind, span });
        self.at += len;
    }

    /// Takes one token, comment or space. Returns `false` at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        match first {
            ' ' | '\t' | '\r' | '\n' => {
                let len = rest.bytes().take_while(u8::is_ascii_whitespace).count().max(1);
                self.flush_unknown();
                self.at += len;
            }
            '/' if rest.starts_with("//") => self.line_comment(),
            '/' if rest.starts_with("/*") => self.block_comment(),
            '"' => self.string(),
            '0'..='9' => {
                let len = word_len(rest);
                self.push(TokenKind::Int, len);
            }
            c if is_name_start(c) => {
                let len = word_len(rest);
                let word = &rest[..len];
                let kind = if word == "_" {
                    TokenKind::Underscore
                } else {
                    TokenKind::word(word).unwrap_or(TokenKind::Name)
                };
                self.push(kind, len);
            }
            c => match sign(rest) {
                Some((kind, len)) => self.push(kind, len),
                None => self.unknown(c),
            },
        }
        true
    }

    fn unknown(&mut self, c: char) {
        let span = self.span_of(c.len_utf8());
        self.unknown = Some(self.unknown.map_or(span, |before| before.to(span)));
        self.at += c.len_utf8();
    }

    fn flush_unknown(&mut self) {
        let Some(span) = self.unknown.take() else { return };
        self.out.tokens.push(Token { kind: TokenKind::Unknown, span });
        let text = span.of(self.text);
        let shown: String = text.chars().take(20).flat_map(visible).collect();
        let diagnostic =
            Diagnostic::new(Code::CHARACTER, span, format!("`{shown}` has no meaning here"));
        self.out.diagnostics.push(match text {
            "&" => diagnostic.suggest("`and` is written `&&`", span, "&&"),
            "|" => diagnostic.suggest("`or` is written `||`", span, "||"),
            "'" => diagnostic.note("strings are written in double quotes"),
            _ => diagnostic,
        });
    }

    fn line_comment(&mut self) {
        self.flush_unknown();
        let line = self.rest().split('\n').next().unwrap_or("");
        let span = self.span_of(line.trim_end_matches('\r').len());
        let len = line.len();
        self.out.comments.push(Comment { span, block: false });
        self.at += len;
    }

    /// Takes a block comment. Block comments nest, so a region with comments can be commented out.
    fn block_comment(&mut self) {
        self.flush_unknown();
        let rest = self.rest().as_bytes();
        let (mut depth, mut i) = (0usize, 0usize);
        while i < rest.len() {
            match rest.get(i..i + 2) {
                Some(b"/*") => (depth, i) = (depth + 1, i + 2),
                Some(b"*/") => (depth, i) = (depth - 1, i + 2),
                _ => i += 1,
            }
            if depth == 0 {
                break;
            }
        }
        let span = self.span_of(i);
        if depth > 0 {
            let open = self.span_of(2);
            self.out.diagnostics.push(
                Diagnostic::new(Code::UNTERMINATED, open, "this comment does not end")
                    .label("opened here")
                    .note("block comments nest: each `/*` needs its `*/`"),
            );
        }
        self.out.comments.push(Comment { span, block: true });
        self.at += i;
    }

    /// Takes a string. It ends on its line, so that an open string does not swallow the file.
    fn string(&mut self) {
        let rest = self.rest().as_bytes();
        let mut i = 1;
        let mut closed = false;
        while let Some(&byte) = rest.get(i) {
            match byte {
                b'"' => {
                    (closed, i) = (true, i + 1);
                    break;
                }
                b'\n' => break,
                b'\\' if rest.get(i + 1).is_some_and(|&next| next != b'\n') => i += 2,
                _ => i += 1,
            }
        }
        // The byte after a backslash may be the first of a longer character.
        let mut len = i.min(rest.len());
        while !self.text.is_char_boundary(self.at + len) {
            len += 1;
        }
        if !closed {
            let line = self.text[self.at..self.at + len].trim_end();
            let span = self.span_of(line.len());
            len = line.len();
            self.out.diagnostics.push(
                Diagnostic::new(Code::UNTERMINATED, span, "this string does not end on its line")
                    .suggest("close it", span.after(), "\""),
            );
        }
        self.push(TokenKind::Str, len);
    }
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Bytes of the name or number at the start of `text`. All letters and digits that follow a number
/// belong to it, so `12ab` is one wrong number and not a number and a name.
fn word_len(text: &str) -> usize {
    text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len())
}

/// Returns a character as messages show it.
fn visible(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

/// Returns the longest sign at the start of `text`, and its length.
fn sign(text: &str) -> Option<(TokenKind, usize)> {
    use TokenKind::*;
    const LONG: &[TokenKind] = &[
        DotDot, Arrow, FatArrow, PlusPlus, MinusMinus, PlusEq, MinusEq, StarEq, SlashEq, PercentEq,
        EqEq, NotEq, Le, Ge, AndAnd, OrOr,
    ];
    const SHORT: &[TokenKind] = &[
        LBrace, RBrace, LParen, RParen, LBracket, RBracket, Comma, Semi, Colon, Dot, Question,
        Tilde, Plus, Minus, Star, Slash, Percent, Lt, Gt, Not, Eq,
    ];
    let kind = LONG.iter().chain(SHORT).find(|kind| text.starts_with(kind.text()))?;
    Some((*kind, kind.text().len()))
}

#[cfg(test)]
mod tests;
