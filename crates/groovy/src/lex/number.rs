//! Numbers.

use super::{Kind, Lexer};
use anyorder_common::source::Span;

impl Lexer<'_> {
    /// Reads a number with its suffix. A dot belongs to it only before a digit: `1..2` is a range.
    pub(super) fn number(&mut self) {
        let start = self.at;
        let radix = match (self.peek(0), self.peek(1)) {
            (b'0', b'x' | b'X') => 16,
            (b'0', b'b' | b'B') => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
            let digits = self.at;
            self.digits(radix);
            if self.at == digits {
                self.wrong_number(start, "expected digits");
            }
        } else if self.peek(0) == b'0' {
            self.leading_zero();
        } else {
            self.digits(10);
        }
        let decimal = radix == 10 && self.fraction(start);
        match self.peek(0) {
            b'i' | b'I' | b'l' | b'L' if !decimal => self.at += 1,
            b'g' | b'G' => self.at += 1,
            b'f' | b'F' | b'd' | b'D' if radix == 10 => self.at += 1,
            _ => {}
        }
        self.push_from(Kind::Number, start);
    }

    /// Reads digits behind a zero: octal ones, or any if the number is a decimal one.
    fn leading_zero(&mut self) {
        let rest = &self.bytes[self.at..];
        let all = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let after = rest.get(all).copied().unwrap_or(0);
        let is_fraction = after == b'.' && rest.get(all + 1).is_some_and(u8::is_ascii_digit);
        self.at += 1;
        if all > 1 && (is_fraction || matches!(after, b'e' | b'E' | b'f' | b'F' | b'd' | b'D')) {
            self.at += all - 1;
        } else if matches!(self.peek(0), b'0'..=b'7') {
            self.digits(8);
        }
    }

    /// Reads a fraction and an exponent; returns whether there was one.
    fn fraction(&mut self, start: usize) -> bool {
        let mut decimal = false;
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.digits(10);
            decimal = true;
        }
        if matches!(self.peek(0), b'e' | b'E') {
            self.at += 1 + usize::from(matches!(self.peek(1), b'+' | b'-'));
            if !self.peek(0).is_ascii_digit() {
                self.wrong_number(start, "expected digits of the exponent");
            }
            self.digits(10);
            decimal = true;
        }
        decimal
    }

    /// Reads digits, with underscores between them.
    fn digits(&mut self, radix: u32) {
        let is_digit = |byte: u8| char::from(byte).is_digit(radix);
        while is_digit(self.peek(0)) {
            self.at += 1;
            let rest = &self.bytes[self.at..];
            let lines = rest.iter().take_while(|b| **b == b'_').count();
            if lines > 0 {
                self.at += lines;
                if !is_digit(self.peek(0)) {
                    self.wrong_number(self.at - 1, "expected a digit behind `_`");
                }
            }
        }
    }

    fn wrong_number(&mut self, start: usize, message: &str) {
        self.diagnostics.add(Span::new(start as u32, self.at as u32), message);
    }
}
