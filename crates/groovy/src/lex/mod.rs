//! From text to tokens.
//!
//! Whether a newline separates statements, and whether a slash begins a string, depends on earlier
//! tokens only. So the whole text becomes tokens before the parser starts.

mod number;
mod text;
mod token;

pub use token::{Kind, MODIFIERS, OPERATORS, PRIMITIVES, Token, WORDS};

use crate::diagnostic::{Diagnostic, Diagnostics};
use anyorder_common::source::{SOURCE_BYTES_MAX, Span};

/// The tokens of a text. The last one is [`Kind::End`].
#[derive(Clone, Debug)]
pub struct Lexed {
    /// The tokens in their order.
    pub tokens: Vec<Token>,
    /// The decoded texts of strings.
    pub texts: Vec<String>,
    /// What is no token.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a text into tokens. Linear in its length. A text longer than [`SOURCE_BYTES_MAX`] gives
/// one message and no tokens but the end.
pub fn lex(source: &str) -> Lexed {
    let mut lexer = Lexer::new(source);
    if source.len() > SOURCE_BYTES_MAX {
        lexer.diagnostics.add(Span::default(), "the file is too long");
    } else {
        lexer.run();
    }
    let end = lexer.source.len() as u32;
    lexer.push(Kind::End, end, end, 0);
    Lexed { tokens: lexer.tokens, texts: lexer.texts, diagnostics: lexer.diagnostics.list }
}

/// The form of a string with parts to insert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `"..."`
    Double,
    /// `"""..."""`
    Triple,
    /// `/.../`
    Slash,
    /// `$/.../$`
    Dollar,
}

struct Lexer<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    texts: Vec<String>,
    diagnostics: Diagnostics,
    /// The open `(` and `[` since the last `{`. Inside them newlines do not count.
    level: i32,
    /// The string whose part to insert is read, directly at this level of `{`.
    part: Option<Form>,
    /// The open strings in double quotes: no newline may stand in their parts.
    lines: u32,
    /// `level` and `part` outside of each open `{`.
    outer: Vec<(i32, Option<Form>)>,
}

pub(crate) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic()
        || c == '_'
        || matches!(c, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{fffe}' | '\u{10000}'..)
}

impl<'a> Lexer<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            bytes: source.as_bytes(),
            at: 0,
            tokens: vec![],
            texts: vec![],
            diagnostics: Diagnostics::default(),
            level: 0,
            part: None,
            lines: 0,
            outer: vec![],
        }
    }

    fn push(&mut self, kind: Kind, start: u32, end: u32, text: u32) {
        self.tokens.push(Token { kind, span: Span::new(start, end), text });
    }

    fn push_from(&mut self, kind: Kind, start: usize) {
        self.push(kind, start as u32, self.at as u32, 0);
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn char(&self) -> Option<char> {
        self.source.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn starts(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn run(&mut self) {
        if self.starts("\u{feff}") {
            self.at += 3;
        }
        if self.starts("#!") {
            self.skip_line();
        }
        while self.at < self.bytes.len() {
            self.next();
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        self.at += length;
    }

    fn next(&mut self) {
        let start = self.at;
        match self.peek(0) {
            b' ' | b'\t' | 0x0c => self.at += 1,
            b'\\' if matches!(self.peek(1), b'\n' | b'\r') => self.skip_escaped_newline(),
            b'\n' | b'\r' => self.newline(),
            b'/' if self.peek(1) == b'/' => self.skip_line(),
            b'/' if self.peek(1) == b'*' => self.skip_comment(),
            b'/' if self.may_begin_slashy() => self.slashy(),
            b'$' if self.peek(1) == b'/' && self.may_begin_slashy() => self.dollar_slashy(),
            b'\'' => self.plain_string(),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            _ => {
                let name = self.char().is_some_and(starts_name)
                    || (self.peek(0) == b'$' && self.part.is_none());
                if name {
                    self.name();
                } else if !self.operator() {
                    let c = self.char().unwrap_or(' ');
                    self.at += c.len_utf8();
                    let span = Span::new(start as u32, self.at as u32);
                    self.diagnostics.add(span, format!("unexpected character `{c}`"));
                }
            }
        }
    }

    fn skip_escaped_newline(&mut self) {
        self.at += if self.bytes[self.at + 1..].starts_with(b"\r\n") { 3 } else { 2 };
    }

    /// Reads a newline and all blanks, comments and newlines behind it as one separator.
    fn newline(&mut self) {
        let start = self.at;
        if self.lines > 0 {
            self.lines = 0;
            let span = Span::new(start as u32, start as u32 + 1);
            self.diagnostics.add(span, "the string ends before the line does, expected `\"`");
        }
        loop {
            match self.peek(0) {
                b'\n' | b'\r' | b' ' | b'\t' | 0x0c if self.at < self.bytes.len() => self.at += 1,
                b'\\' if matches!(self.peek(1), b'\n' | b'\r') => self.skip_escaped_newline(),
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_comment(),
                _ => break,
            }
        }
        let again = self.tokens.last().is_some_and(|last| last.kind == Kind::Newline);
        if self.level == 0 && !again {
            self.push(Kind::Newline, start as u32, start as u32 + 1, 0);
        }
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        match self.source[self.at + 2..].find("*/") {
            Some(length) => self.at += 2 + length + 2,
            None => {
                self.at = self.bytes.len();
                let span = Span::new(start as u32, start as u32 + 2);
                self.diagnostics.add(span, "this comment has no end, expected `*/`");
            }
        }
    }

    fn name(&mut self) {
        let start = self.at;
        let in_string = self.part.is_some();
        let rest = &self.source[self.at..];
        let length = rest
            .find(|c: char| !(starts_name(c) || c.is_ascii_digit() || (c == '$' && !in_string)));
        self.at += length.unwrap_or(rest.len());
        let name = &self.source[start..self.at];
        let kind = match WORDS.binary_search(&name) {
            Ok(index) => Kind::Word(WORDS[index]),
            Err(_) => Kind::Name,
        };
        self.push_from(kind, start);
        if let Some(form) = self.part {
            let next = self.source[self.at..].chars().nth(1);
            if self.peek(0) == b'.' && next.is_some_and(starts_name) {
                let dot = self.at;
                self.at += 1;
                self.push_from(Kind::Op("."), dot);
            } else {
                self.part = None;
                self.resume(form);
            }
        }
    }

    /// Reads an operator; returns whether there is one.
    fn operator(&mut self) -> bool {
        let start = self.at;
        let Some(op) = OPERATORS.iter().copied().find(|op| self.starts(op)) else {
            return false;
        };
        self.at += op.len();
        self.push_from(Kind::Op(op), start);
        match op {
            "(" | "[" => self.level += 1,
            ")" | "]" => self.level -= 1,
            "{" => {
                self.outer.push((self.level, self.part.take()));
                self.level = 0;
            }
            "}" => {
                if let Some((level, part)) = self.outer.pop() {
                    self.level = level;
                    if let Some(form) = part {
                        self.resume(form);
                    }
                }
            }
            _ => {}
        }
        true
    }

    /// Returns whether a slash here begins a string: not behind the end of an expression.
    fn may_begin_slashy(&self) -> bool {
        match self.tokens.last().map(|token| token.kind) {
            Some(Kind::Op(op)) => !matches!(op, "++" | "--" | ")" | "]" | "}"),
            Some(Kind::Newline | Kind::End) | None => true,
            Some(Kind::Word(word)) => {
                matches!(
                    word,
                    "const" | "do" | "final" | "goto" | "abstract" | "strictfp" | "trait"
                )
            }
            Some(Kind::Name | Kind::Number | Kind::Text | Kind::TextEnd) => false,
            Some(Kind::TextStart | Kind::TextMiddle) => true,
        }
    }
}
