//! Parses a line from left to right.

use crate::fault::{Fault, utf8};
use anyorder_common::text::is_hostile;

/// A place in a line. Methods that take something move the cursor past it.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte that is not a space.
    pub(super) fn new(line: &'a [u8]) -> Cursor<'a> {
        let mut cursor = Cursor { line, at: 0 };
        cursor.skip_spaces();
        cursor
    }

    /// Returns the position of the cursor in bytes, from 0.
    pub(super) fn column(&self) -> usize {
        self.at
    }

    /// Returns a fault at this place.
    pub(super) fn fault(&self, message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
        Fault::new(self.at, message)
    }

    /// Returns whether the line is at its end.
    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.at == self.line.len()
    }

    /// Returns the next byte without taking it; 0 at the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.line.get(self.at).copied().unwrap_or(0)
    }

    /// Returns the byte after the next one without taking it; 0 after the end.
    #[inline]
    pub(super) fn peek_second(&self) -> u8 {
        self.line.get(self.at + 1).copied().unwrap_or(0)
    }

    /// Takes a byte if it is the next one.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.at < self.line.len() && self.line[self.at] == byte;
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Ends a token: takes the spaces after it. At least one is required unless the line ends.
    #[inline]
    pub(super) fn end_token(&mut self) -> Result<(), Fault> {
        let before = self.at;
        self.skip_spaces();
        if self.at == before && !self.at_end() {
            return Err(self.fault("expected a space"));
        }
        Ok(())
    }

    /// Fails unless the line is at its end.
    pub(super) fn end_line(&self) -> Result<(), Fault> {
        if self.at_end() { Ok(()) } else { Err(self.fault("expected the end of the line")) }
    }

    /// Takes letters, digits, `_` and `-`; possibly none.
    #[inline]
    pub(super) fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-') =
            self.line.get(self.at)
        {
            self.at += 1;
        }
        &self.line[start..self.at]
    }

    /// Takes an id such as `x12`.
    #[inline]
    pub(super) fn id(&mut self, letter: u8, expected: &'static str) -> Result<u32, Fault> {
        let start = self.at;
        if !self.take(letter) || !self.peek().is_ascii_digit() {
            self.at = start;
            return Err(self.fault(expected));
        }
        match self.digits().and_then(|number| u32::try_from(number).ok()) {
            Some(number) if number != u32::MAX => Ok(number),
            _ => Err(Fault::new(start, "expected an id of at most 4294967294")),
        }
    }

    /// Takes decimal digits; `None` when their number passes 64 bits.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let mut number = Some(0u64);
        while let Some(digit @ b'0'..=b'9') = self.line.get(self.at) {
            let digit = u64::from(digit - b'0');
            number = number.and_then(|number| number.checked_mul(10)?.checked_add(digit));
            self.at += 1;
        }
        number
    }

    /// Takes a number of at most 64 bits, decimal or hexadecimal with `0x`.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        let start = self.at;
        if !self.peek().is_ascii_digit() {
            return Err(self.fault("expected a number"));
        }
        let number = if self.peek() == b'0' && self.peek_second() == b'x' {
            self.at += 2;
            if !self.peek().is_ascii_hexdigit() {
                return Err(self.fault("expected hexadecimal digits"));
            }
            self.hexadecimal()
        } else {
            self.digits()
        };
        number.ok_or_else(|| Fault::new(start, "expected a number of at most 64 bits"))
    }

    /// Takes hexadecimal digits; `None` when their number passes 64 bits.
    fn hexadecimal(&mut self) -> Option<u64> {
        let mut number = Some(0u64);
        while let Some(digit) = (self.peek() as char).to_digit(16) {
            number = number.and_then(|number| number.checked_mul(16)).map(|n| n | u64::from(digit));
            self.at += 1;
        }
        number
    }

    /// Takes a number of at most 32 bits.
    #[inline]
    pub(super) fn number_32(&mut self) -> Result<u32, Fault> {
        let start = self.at;
        let number = self.number()?;
        u32::try_from(number).map_err(|_| Fault::new(start, "expected a number of at most 32 bits"))
    }

    /// Takes a quoted string, and appends it to `out` without quotes and escapes.
    pub(super) fn string(&mut self, out: &mut String) -> Result<(), Fault> {
        if !self.take(b'"') {
            return Err(self.fault("expected a quoted string"));
        }
        loop {
            let rest = &self.line[self.at..];
            let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(Fault::new(self.line.len(), "expected `\"` at the end of the string"));
            };
            out.push_str(utf8(&rest[..length], self.at)?);
            self.at += length;
            if self.take(b'"') {
                return Ok(());
            }
            out.push(self.escape()?);
        }
    }

    /// Takes an escape sequence.
    fn escape(&mut self) -> Result<char, Fault> {
        const EXPECTED: &str =
            "expected one of the escapes `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t`, `\\u{...}`";
        let start = self.at;
        let simple = match self.peek_second() {
            b'"' => Some('"'),
            b'\\' => Some('\\'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => None,
            _ => return Err(Fault::new(start, EXPECTED)),
        };
        self.at += 2;
        if let Some(simple) = simple {
            return Ok(simple);
        }
        let number = if self.take(b'{') { self.hexadecimal() } else { None };
        let character = number.and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32);
        match character {
            Some(character) if self.take(b'}') => Ok(character),
            _ => Err(Fault::new(start, EXPECTED)),
        }
    }
}

/// Appends a quoted string that [`Cursor::string`] reads back and a terminal displays unchanged:
/// characters that could move the cursor or change the text direction are escaped.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut plain = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{20}'..='\u{7e}' => continue,
            _ if !is_hostile(character) => continue,
            _ => "",
        };
        out.extend_from_slice(&text.as_bytes()[plain..at]);
        plain = at + character.len_utf8();
        if escape.is_empty() {
            out.extend_from_slice(format!("\\u{{{:x}}}", u32::from(character)).as_bytes());
        } else {
            out.extend_from_slice(escape.as_bytes());
        }
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_round_trips() {
        let mut text = String::new();
        for character in ('\0'..='\u{3000}').chain('\u{e0000}'..='\u{e0080}').chain(['\u{10ffff}'])
        {
            text.push(character);
        }
        let mut quoted = Vec::new();
        quote(&text, &mut quoted);
        assert!(!quoted.iter().any(u8::is_ascii_control));
        let mut back = String::new();
        let mut cursor = Cursor::new(&quoted);
        cursor.string(&mut back).unwrap();
        cursor.end_line().unwrap();
        assert_eq!(back, text);
    }
}
