//! Makes text from an input harmless: what could steer a terminal or reorder a line is shown by its number.

use std::borrow::Cow;

/// Returns whether a character does something other than show itself: control characters (terminal
/// escapes among them), characters that reorder text or are invisible, and line separators.
pub(crate) const fn is_hostile(c: char) -> bool {
    matches!(c,
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
        | '\u{e0000}'..='\u{e007f}')
}

/// Returns the text with hostile characters replaced: `\n`, `\r` and `\t` by these, others by `\u{1b}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hostile(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Returns the text made visible and cut to `max` characters, the last one an ellipsis if it was cut.
pub(crate) fn clipped(text: &str, max: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(max) else { return visible(text) };
    let keep = text[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    Cow::Owned(format!("{}…", visible(&text[..keep])))
}

/// Returns the text made visible and then escaped for XML, in content and in attributes.
pub(crate) fn xml(text: &str) -> String {
    let visible = visible(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_shown_by_number() {
        assert_eq!(visible("a\x1b[31mb\0\u{202e}c\u{9b}2J"), r"a\u{1b}[31mb\u{0}\u{202e}c\u{9b}2J");
        assert_eq!(visible("line\nbreak\ttab"), r"line\nbreak\ttab");
        assert!(matches!(visible("schön ✓ 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(clipped("äöüß", 3), "äö…");
        assert_eq!(clipped("\x1b\x1b\x1b", 2), r"\u{1b}…");
        assert_eq!(clipped("", 0), "");
    }

    #[test]
    fn xml_has_no_markup_left() {
        assert_eq!(xml("<a b='c'>&\"]]>\0"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;]]&gt;\\u{0}");
    }
}
