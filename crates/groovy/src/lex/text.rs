//! Strings in all their forms.

use super::{Form, Kind, Lexer, starts_name};
use anyorder_common::source::Span;

impl Lexer<'_> {
    fn text_token(&mut self, kind: Kind, start: usize, text: String) {
        let index = self.texts.len() as u32;
        self.texts.push(text);
        self.push(kind, start as u32, self.at as u32, index);
    }

    fn unterminated(&mut self, start: usize, expected: &str) {
        let span = Span::new(start as u32, start as u32 + 1);
        self.diagnostics.add(span, format!("this string has no end, expected `{expected}`"));
    }

    /// Reads `'...'` or `'''...'''`.
    pub(super) fn plain_string(&mut self) {
        let start = self.at;
        let triple = self.starts("'''");
        let quote = if triple { "'''" } else { "'" };
        self.at += quote.len();
        let mut text = String::new();
        loop {
            if self.at >= self.bytes.len() || (!triple && matches!(self.peek(0), b'\n' | b'\r')) {
                self.unterminated(start, quote);
                break;
            }
            if self.starts(quote) {
                self.at += quote.len();
                break;
            }
            self.string_character(&mut text);
        }
        self.text_token(Kind::Text, start, text);
    }

    pub(super) fn string(&mut self) {
        let start = self.at;
        let form = if self.starts("\"\"\"") { Form::Triple } else { Form::Double };
        self.at += if form == Form::Triple { 3 } else { 1 };
        self.body(form, start, true);
    }

    pub(super) fn slashy(&mut self) {
        let start = self.at;
        self.at += 1;
        self.body(Form::Slash, start, true);
    }

    pub(super) fn dollar_slashy(&mut self) {
        let start = self.at;
        self.at += 2;
        self.body(Form::Dollar, start, true);
    }

    /// Goes on with a string behind a part.
    pub(super) fn resume(&mut self, form: Form) {
        self.body(form, self.at, false);
    }

    /// Reads a string up to its next part or its end.
    fn body(&mut self, form: Form, start: usize, first: bool) {
        let mut text = String::new();
        if form == Form::Double && first {
            self.lines += 1;
        }
        // The first character of `$//...` is no end.
        if form == Form::Dollar && first && self.peek(0) == b'/' {
            self.verbatim(&mut text);
        }
        let quote = match form {
            Form::Double => "\"",
            Form::Triple => "\"\"\"",
            Form::Slash => "/",
            Form::Dollar => "/$",
        };
        loop {
            let c = self.peek(0);
            if self.at >= self.bytes.len() || (form == Form::Double && matches!(c, b'\n' | b'\r')) {
                self.unterminated(start, quote);
                break;
            }
            if form == Form::Dollar && c == b'$' && matches!(self.peek(1), b'$' | b'/') {
                text.push(char::from(self.peek(1)));
                self.at += 2;
                continue;
            }
            if self.starts(quote) {
                self.at += quote.len();
                break;
            }
            if c == b'$' {
                let next = self.source[self.at + 1..].chars().next();
                if next.is_some_and(|c| c == '{' || starts_name(c)) {
                    self.at += 1;
                    self.part = Some(form);
                    let kind = if first { Kind::TextStart } else { Kind::TextMiddle };
                    return self.text_token(kind, start, text);
                }
                if matches!(form, Form::Double | Form::Triple) {
                    let span = Span::new(self.at as u32, self.at as u32 + 1);
                    self.diagnostics.add(span, "expected a name or `{` after `$`; write `\\$`");
                }
                text.push('$');
                self.at += 1;
                continue;
            }
            match form {
                Form::Double | Form::Triple => self.string_character(&mut text),
                Form::Slash | Form::Dollar => self.raw_character(form, &mut text),
            }
        }
        if form == Form::Double {
            self.lines = self.lines.saturating_sub(1);
        }
        self.text_token(if first { Kind::Text } else { Kind::TextEnd }, start, text);
    }

    /// Reads one character of a string without escapes.
    fn raw_character(&mut self, form: Form, text: &mut String) {
        if form == Form::Slash && self.starts("\\/") {
            text.push('/');
            self.at += 2;
        } else if self.starts("\\u") && self.unicode_escape(text) {
        } else if self.starts("\\\n") || self.starts("\\\r") {
            self.skip_newline_in_string();
        } else {
            self.verbatim(text);
        }
    }

    /// Copies one character; an end of line of any kind becomes `\n`.
    fn verbatim(&mut self, text: &mut String) {
        let c = self.char().unwrap_or('\u{fffd}');
        self.at += c.len_utf8();
        if c == '\r' {
            if self.peek(0) == b'\n' {
                self.at += 1;
            }
            text.push('\n');
        } else {
            text.push(c);
        }
    }

    fn string_character(&mut self, text: &mut String) {
        if self.peek(0) != b'\\' {
            return self.verbatim(text);
        }
        let start = self.at;
        let plain = match self.peek(1) {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            c @ (b'"' | b'\'' | b'\\' | b'$') => char::from(c),
            b'0'..=b'7' => return self.octal_escape(text),
            b'u' if self.unicode_escape(text) => return,
            b'\n' | b'\r' => return self.skip_newline_in_string(),
            _ => {
                self.at += 1;
                let span = Span::new(start as u32, start as u32 + 1);
                self.diagnostics.add(span, "unknown escape in a string; write `\\\\`");
                return;
            }
        };
        self.at += 2;
        text.push(plain);
    }

    fn skip_newline_in_string(&mut self) {
        self.at += if self.bytes[self.at + 1..].starts_with(b"\r\n") { 3 } else { 2 };
    }

    fn octal_escape(&mut self, text: &mut String) {
        self.at += 1;
        let digits = if self.peek(0) <= b'3' { 3 } else { 2 };
        let mut value = 0;
        for _ in 0..digits {
            if !matches!(self.peek(0), b'0'..=b'7') {
                break;
            }
            value = value * 8 + u32::from(self.peek(0) - b'0');
            self.at += 1;
        }
        text.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    }

    /// Reads `\uXXXX`; returns whether there was one. Two halves of a pair become one character.
    fn unicode_escape(&mut self, text: &mut String) -> bool {
        let Some((first, end)) = self.code_unit(self.at) else { return false };
        self.at = end;
        if (0xd800..0xdc00).contains(&first)
            && let Some((second, end)) = self.code_unit(self.at)
            && (0xdc00..0xe000).contains(&second)
        {
            self.at = end;
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        } else {
            text.push(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        true
    }

    fn code_unit(&self, at: usize) -> Option<(u32, usize)> {
        let rest = self.bytes.get(at..)?.strip_prefix(b"\\u")?;
        let more = rest.iter().take_while(|b| **b == b'u').count();
        let digits = std::str::from_utf8(rest.get(more..more + 4)?).ok()?;
        let value = digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| value)?;
        Some((code, at + 2 + more + 4))
    }
}
