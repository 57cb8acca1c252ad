//! The values of literals.

use crate::source::Span;

/// Why a number has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntError {
    /// Beyond 64 bits.
    TooLarge,
    /// Not digits.
    Malformed,
}

/// Returns the magnitude of a number: decimal, or hexadecimal after `0x`. Ignores `_` between
/// digits. The magnitude is at most 2^63, for the least integer after `-`.
///
/// # Errors
/// Fails if the text is not a number, or if the number is larger.
pub fn parse_int(text: &str) -> Result<u64, IntError> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(IntError::Malformed);
    }
    let value = u64::from_str_radix(&digits, radix).map_err(|_| IntError::TooLarge)?;
    if value > 1 << 63 { Err(IntError::TooLarge) } else { Ok(value) }
}

/// Returns the characters of the string literal `text` (with its quotes; the closing one may be
/// missing), and the places of its unknown escapes in the file. `start` is the place of the opening
/// quote. Linear.
pub fn unescape(text: &str, start: u32) -> (String, Vec<Span>) {
    let inner = text.strip_prefix('"').unwrap_or(text);
    let mut out = String::with_capacity(inner.len());
    let mut wrong = Vec::new();
    let mut at = start + (text.len() - inner.len()) as u32;
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        let (value, len) = match c {
            '"' => break,
            '\\' => escape(rest),
            c => (Some(c), c.len_utf8()),
        };
        match value {
            Some(value) => out.push(value),
            None => wrong.push(Span::new(at, at + len as u32)),
        }
        at += len as u32;
        rest = &rest[len..];
    }
    (out, wrong)
}

/// Returns the character of the escape at the start of `text`, and the length of the escape.
fn escape(text: &str) -> (Option<char>, usize) {
    let Some(letter) = text[1..].chars().next() else { return (None, 1) };
    let simple = match letter {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        '"' => Some('"'),
        '\\' => Some('\\'),
        _ => None,
    };
    if letter == 'u'
        && let Some(body) = text[2..].strip_prefix('{')
        && let Some(close) = body.find('}').filter(|&close| close <= 6)
    {
        let digits = &body[..close];
        let hex = digits.chars().all(|c| c.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| hex).and_then(char::from_u32);
        return (value, 4 + close);
    }
    (simple, 1 + letter.len_utf8())
}
