//! Text from an input is hostile: none of it may control the terminal.

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

/// Returns whether a character does not simply display itself: a control character (including
/// terminal escapes), an invisible one, one that reorders text, or a line separator.
#[must_use]
pub const fn is_hostile(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}'
            | '\u{e0000}'..='\u{e0fff}'
    )
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

/// Quotes a word for a shell, where it needs quotes.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
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
    }
}
