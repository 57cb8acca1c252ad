//! JSON whose bytes are safe on a terminal.

use super::is_hostile;
use std::borrow::Cow;
use std::io::{self, Write};

/// Returns JSON with a `\u` escape for every hostile character but the line feed, which separates.
/// In correct JSON the others stand only in strings, where the escape means the same.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let escapes = |c: char| c != '\n' && is_hostile(c);
    if !json.contains(escapes) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if escapes(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes JSON as [`escape_json`] returns it. Each piece that is written must be whole characters,
/// as those of `write!` and of serialisers are.
#[derive(Debug)]
pub struct HarmlessJson<W> {
    inner: W,
}

impl<W: Write> HarmlessJson<W> {
    /// Wraps a stream.
    pub fn new(inner: W) -> HarmlessJson<W> {
        HarmlessJson { inner }
    }
}

impl<W: Write> Write for HarmlessJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "JSON that is not UTF-8"))?;
        self.inner.write_all(escape_json(text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_hostile_is_escaped() {
        assert!(matches!(escape_json("{\n \"é\": 1}"), Cow::Borrowed(_)));
        assert_eq!(escape_json("\"\u{202e}\u{e0041}\""), "\"\\u202e\\udb40\\udc41\"");
        let mut out = HarmlessJson::new(Vec::new());
        write!(out, "[\"\u{9b}\"]").unwrap();
        assert_eq!(out.inner, b"[\"\\u009b\"]");
    }
}
