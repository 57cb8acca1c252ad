//! The `key:value` fields of a line.

use crate::fault::Fault;
use std::borrow::Cow;
use std::ops::Range;

/// The only key that may follow a number directly, without a blank.
const THREAD_NAME: &[u8] = b"thread-name";

/// Keys whose values are text with blanks. Such a value ends at the next key of [`AFTER_TEXT`].
const TEXT_KEYS: [&[u8]; 4] = [b"component", b"action", b"database", THREAD_NAME];

/// Keys that may follow a text.
const AFTER_TEXT: [&[u8]; 6] = [b"component", b"id", b"state", b"intent", b"onRecLater", b"action"];

/// The largest number of stored fields; no operation has as many.
const FIELDS_MAX: usize = 12;

/// One field: the places of its key and its value in the line.
#[derive(Clone, Debug, Default)]
struct Field {
    key: Range<usize>,
    value: Range<usize>,
}

/// The fields of a line, in any order.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    line: &'a [u8],
    list: [Field; FIELDS_MAX],
    count: usize,
}

impl<'a> Fields<'a> {
    /// Finds the fields of `line` from byte `from` on.
    pub(super) fn parse(line: &'a [u8], from: usize) -> Fields<'a> {
        let mut fields = Fields { line, list: Default::default(), count: 0 };
        let mut at = from;
        while at < line.len() {
            if line[at].is_ascii_whitespace() {
                at += 1;
                continue;
            }
            let length = line[at..].iter().position(u8::is_ascii_whitespace);
            let end = length.map_or(line.len(), |length| at + length);
            fields.token(at..end);
            at = end;
        }
        fields
    }

    /// Begins a field, or adds to the last one.
    fn token(&mut self, token: Range<usize>) {
        match key_length(&self.line[token.clone()]) {
            Some(length) if self.may_begin(&self.line[token.start..token.start + length]) => {
                let key = token.start..token.start + length;
                let mut value = key.end + 1..token.end;
                let glued = if self.is_text(&key) {
                    None
                } else {
                    memchr::memmem::find(&self.line[value.clone()], b"thread-name:")
                };
                if let Some(glued) = glued {
                    let name = value.start + glued..value.start + glued + THREAD_NAME.len();
                    value.end = name.start;
                    self.push(Field { key, value });
                    self.push(Field { value: name.end + 1..token.end, key: name });
                } else {
                    self.push(Field { key, value });
                }
            }
            _ => {
                if let Some(last) = self.list[..self.count].last_mut() {
                    last.value.end = token.end;
                }
            }
        }
    }

    /// Returns whether this key may start a field after the last one. Otherwise it is part of that
    /// field's text.
    fn may_begin(&self, key: &[u8]) -> bool {
        match self.list[..self.count].last() {
            Some(last) if self.is_text(&last.key) => AFTER_TEXT.contains(&key),
            _ => true,
        }
    }

    fn is_text(&self, key: &Range<usize>) -> bool {
        TEXT_KEYS.contains(&&self.line[key.clone()])
    }

    fn push(&mut self, field: Field) {
        if self.count < FIELDS_MAX {
            self.list[self.count] = field;
            self.count += 1;
        }
    }

    fn find(&self, key: &str) -> Option<Range<usize>> {
        let list = &self.list[..self.count];
        let field = list.iter().find(|field| &self.line[field.key.clone()] == key.as_bytes())?;
        Some(field.value.clone())
    }

    /// Returns whether there is a field of this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn value(&self, key: &str) -> Result<Range<usize>, Fault> {
        self.find(key)
            .ok_or_else(|| Fault::new(self.line.len(), format!("expected `{key}:` with its value")))
    }

    /// Returns the text of a field; it may be empty.
    pub(super) fn text(&self, key: &str) -> Result<Cow<'a, str>, Fault> {
        Ok(String::from_utf8_lossy(&self.line[self.value(key)?]))
    }

    /// Returns an identifying number below 2^32, such as a thread or a message.
    pub(super) fn count(&self, key: &str) -> Result<u32, Fault> {
        let value = self.value(key)?;
        let number = signed(&self.line[value.clone()]).and_then(|n| u32::try_from(n).ok());
        number.ok_or_else(|| self.bad(key, value, "a number from 0 to 4294967295"))
    }

    /// Returns a number that may be negative.
    pub(super) fn signed(&self, key: &str) -> Result<i64, Fault> {
        let value = self.value(key)?;
        signed(&self.line[value.clone()]).ok_or_else(|| self.bad(key, value, "a whole number"))
    }

    /// Returns the identity of an object: a hexadecimal address, or a number that may be printed as
    /// a signed 32-bit one.
    pub(super) fn identity(&self, key: &str) -> Result<u64, Fault> {
        let value = self.value(key)?;
        identity(&self.line[value.clone()])
            .ok_or_else(|| self.bad(key, value, "an address or a number"))
    }

    fn bad(&self, key: &str, value: Range<usize>, expected: &str) -> Fault {
        let shown = String::from_utf8_lossy(&self.line[value.clone()]);
        let shown: String = shown.chars().take(40).collect();
        Fault::new(value.start, format!("expected {expected} for `{key}`, found `{shown}`"))
    }
}

/// Returns the length of the key that a token begins with, if it is followed by a colon.
fn key_length(token: &[u8]) -> Option<usize> {
    let length = token.iter().position(|b| !(b.is_ascii_alphabetic() || b"-_".contains(b)))?;
    (length > 0 && token[length] == b':').then_some(length)
}

/// Reads a decimal number with an optional minus sign.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number: i64 = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -number } else { number })
}

/// Reads an identity; see [`Fields::identity`].
pub(super) fn identity(text: &[u8]) -> Option<u64> {
    if let [b'0', b'x', digits @ ..] = text {
        if digits.is_empty() || digits.len() > 16 {
            return None;
        }
        return digits.iter().try_fold(0u64, |number, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            Some(number << 4 | u64::from(digit))
        });
    }
    let number = signed(text)?;
    if number >= 0 {
        return u64::try_from(number).ok();
    }
    // The runtime prints the same hash signed in some operations and unsigned in others.
    i32::try_from(number).ok().map(|number| u64::from(number.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Fields<'_> {
        Fields::parse(line.as_bytes(), 0)
    }

    #[test]
    fn blanks_tabs_and_glued_names() {
        let fields = parse("par-tid:1\t child-tid:5");
        assert_eq!(fields.count("par-tid"), Ok(1));
        assert_eq!(fields.count("child-tid"), Ok(5));
        assert!(!fields.has("tid"));
        let fields = parse("tid:2thread-name:Binder Thread #1");
        assert_eq!(fields.count("tid"), Ok(2));
        assert_eq!(fields.text("thread-name").unwrap(), "Binder Thread #1");
    }

    #[test]
    fn empty_and_blank_texts() {
        let fields = parse("tid:1 component: id:0 state:BIND-APP");
        assert_eq!(fields.text("component").unwrap(), "");
        assert_eq!(fields.identity("id"), Ok(0));
        assert_eq!(fields.text("state").unwrap(), "BIND-APP");
        let fields = parse("tid:1 action:my own action:really component:5 intent:0");
        assert_eq!(fields.text("action").unwrap(), "my own");
        let fields = parse("tid:1 component:A b:c id:7 state:X");
        assert_eq!(fields.text("component").unwrap(), "A b:c");
    }

    #[test]
    fn numbers() {
        assert_eq!(identity(b"0x41060aa8"), Some(0x4106_0aa8));
        assert_eq!(identity(b"1090957864"), Some(1_090_957_864));
        assert_eq!(identity(b"-1"), Some(0xffff_ffff));
        assert_eq!(identity(b"-2147483649"), None);
        assert_eq!(identity(b"0x"), None);
        assert_eq!(identity(b"0x11111111111111111"), None);
        assert_eq!(signed(b"-"), None);
        assert_eq!(signed(b"9999999999999999999"), None);
        assert!(parse("tid:one").count("tid").unwrap_err().message.contains("`one`"));
        assert_eq!(parse("tid:-1").count("tid").unwrap_err().column, 4);
        assert_eq!(parse("tid:1 2").count("tid").unwrap_err().column, 4);
        assert_eq!(parse("src:1").count("tid").unwrap_err().column, 5);
    }
}
