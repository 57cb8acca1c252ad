//! JSON and JSON lines: the unchanged data, in bytes that are safe on a terminal.

use anyorder_common::text::is_hostile;
use anyorder_finding::{Finding, Outcome};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes the result as exactly one object and a newline.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    write_value(outcome, Audience::Any, out)?;
    out.write_all(b"\n")
}

/// Writes each finding as one object on a line of its own.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write_lines(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    findings.iter().try_for_each(|finding| {
        write_value(finding, Audience::Any, out)?;
        out.write_all(b"\n")
    })
}

/// The destination of JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A file, a pipe or a terminal.
    Any,
    /// A `script` element of an HTML page, which a `</script>` in a string would end.
    Html,
}

/// Writes a value as JSON, with a `\u` escape for every hostile character. The data is the same,
/// but bytes that control a terminal or end an HTML element never appear.
pub(crate) fn write_value<T: Serialize + ?Sized>(
    value: &T,
    audience: Audience,
    out: &mut dyn Write,
) -> io::Result<()> {
    let formatter = Safe { audience };
    let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// The compact form, with further escapes.
struct Safe {
    audience: Audience,
}

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let must_escape = |c: char| {
            is_hostile(c) || self.audience == Audience::Html && matches!(c, '<' | '>' | '&' | '\'')
        };
        let mut rest = fragment;
        while let Some(position) = rest.find(must_escape) {
            let (plain, tail) = rest.split_at(position);
            writer.write_all(plain.as_bytes())?;
            let mut chars = tail.chars();
            let mut units = [0_u16; 2];
            // `find` found a character, so one exists.
            for unit in chars.next().unwrap_or_default().encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str, audience: Audience) -> String {
        let mut out = Vec::new();
        write_value(value, audience, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hostile_characters_are_escaped_and_the_data_is_the_same() {
        let name = "a\u{9b}b\x7f\u{202e}\u{e0041}\0\x1b\n\"\\ </script> & é";
        for audience in [Audience::Any, Audience::Html] {
            let json = text(name, audience);
            assert!(!json.contains(is_hostile), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        }
        assert!(text(name, Audience::Any).contains("</script>"));
        assert!(text(name, Audience::Html).contains(r"\u003c/script\u003e \u0026"));
        assert!(text("\u{e0041}", Audience::Any).contains(r"\udb40\udc41"));
    }
}
