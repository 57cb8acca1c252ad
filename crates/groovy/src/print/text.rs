//! Strings in quotes.

/// Returns a string in quotes with ASCII characters only, as the canonical form has it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some('\n') => out.push_str("\\n"),
            Some(c) if (' '..='~').contains(&c) => out.push(c),
            _ => out += &format!("\\u{unit:04x}"),
        }
    }
    out.push('"');
    out
}

/// Returns the text of a string between double quotes in Groovy.
pub(super) fn escaped(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' if quote == '"' => out.push_str("\\$"),
            c if c == quote => out.extend(['\\', c]),
            c if c < ' ' || c == '\u{7f}' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}
