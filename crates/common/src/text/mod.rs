//! Text from an input is hostile: none of it may control the terminal.

mod harmless;
mod hostile;
mod json;

pub use harmless::Harmless;
pub use hostile::is_hostile;
pub use json::{HarmlessJson, escape_json};

use std::borrow::Cow;
use std::path::Path;

/// Returns `text` with control, invisible and direction-changing characters written as `\u{..}`;
/// tabs, newlines and carriage returns as `\t`, `\n`, `\r`.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hostile(c) {
            match c {
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                _ => out.extend(c.escape_unicode()),
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns `text` [escaped](escape) and then made fit for XML and HTML, in content and in
/// attributes.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let visible = escape(text);
    let mut safe = String::with_capacity(visible.len());
    for c in visible.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns `text` escaped, except for its line feeds: a text of several lines.
#[must_use]
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| c != '\n' && is_hostile(c)) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(escape).collect();
    Cow::Owned(lines.join("\n"))
}

/// Returns `text` escaped and cut to `width` characters, with `…` where something is missing.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    let text = escape(text);
    if text.chars().count() <= width {
        return text.into_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns `text` escaped and shortened to `width` characters in its middle, because paths and
/// fields differ at their ends.
#[must_use]
pub fn shorten_middle(text: &str, width: usize) -> String {
    let text = escape(text);
    let length = text.chars().count();
    if length <= width {
        return text.into_owned();
    }
    let head = width.saturating_sub(1) / 3;
    let tail = width.saturating_sub(1) - head;
    let mut short: String = text.chars().take(head).collect();
    short.push('…');
    short.extend(text.chars().skip(length - tail));
    short
}

/// Returns a path for messages: escaped, not quoted.
#[must_use]
pub fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

/// Quotes a word for a shell, where it needs quotes. A word with hostile characters becomes
/// `$'...'`, which POSIX shells read back; such a command can be shown and copied.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_hostile) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            // Three octal digits for each byte: no digit that follows can belong to them.
            c if is_hostile(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_are_escaped() {
        assert_eq!(escape("plain ü 漢"), "plain ü 漢");
        assert_eq!(escape("\u{1b}[2J"), "\\u{1b}[2J");
        assert_eq!(escape("a\tb\nc\rd"), "a\\tb\\nc\\rd");
        assert_eq!(escape("x\u{202e}y\u{9b}z\u{200b}"), "x\\u{202e}y\\u{9b}z\\u{200b}");
        assert_eq!(escape("\0\u{e0041}\u{e0100}"), "\\u{0}\\u{e0041}\\u{e0100}");
        assert!(matches!(escape("schön ✓ 日本"), Cow::Borrowed(_)));
        assert_eq!(escape_lines("a\n\x1bb\n"), "a\n\\u{1b}b\n");
        assert!(matches!(escape_lines("a\nb"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcde…");
        assert_eq!(shorten("\u{1b}", 4), "\\u{…");
        assert_eq!(shorten_middle("abcdef", 6), "abcdef");
        assert_eq!(shorten_middle("abcdefghij", 7), "ab…ghij");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quote("a/b-1.trace"), "a/b-1.trace");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's; rm -rf"), r"'it'\''s; rm -rf'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("a\u{202e}1\x1b'\\"), r"$'a\342\200\2561\033\'\\'");
    }
}
