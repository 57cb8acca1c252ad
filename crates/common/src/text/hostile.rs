//! Which characters do not simply display themselves.

/// The characters that [`is_hostile`] accepts, as ranges in ascending order:
///
/// - all of the categories Cc, Cf, Zl and Zp of Unicode 16: controls, formats, line and paragraph
///   separators;
/// - all that Unicode calls default-ignorable: fillers, joiners, variation selectors, tags, and the
///   places kept for more of them;
/// - U+2800, a letter of Braille without dots: it looks like nothing and is no space;
/// - the noncharacters U+FFFE and U+FFFF.
///
/// Spaces (category Zs) are not among them, because a reader sees a gap; nor are combining marks,
/// private characters and letters of scripts that are written from right to left.
const RANGES: [(char, char); 29] = [
    ('\0', '\x1f'),
    ('\x7f', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{fffe}', '\u{ffff}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character does not simply display itself: a control character (including
/// terminal escapes), an invisible one, one that reorders text, or a line separator.
#[must_use]
pub const fn is_hostile(c: char) -> bool {
    // Most text is this.
    if matches!(c, ' '..='~') {
        return false;
    }
    let mut at = 0;
    while at < RANGES.len() {
        if c <= RANGES[at].1 {
            return c >= RANGES[at].0;
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_ascend() {
        for pair in RANGES.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0, "{pair:?}");
        }
    }

    /// The standard library knows which characters are printable, by another table.
    #[test]
    fn whatever_controls_or_hides_is_hostile() {
        for c in '\0'..=char::MAX {
            assert!(!c.is_control() || is_hostile(c), "{c:?}");
            // Letters and digits that show: fillers are letters, too.
            let fillers = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
            assert!(!c.is_alphanumeric() || !is_hostile(c) || fillers.contains(&c), "{c:?}");
        }
        for c in "\u{202a}\u{202e}\u{2066}\u{2069}\u{200b}\u{200d}\u{2060}\u{feff}\u{61c}".chars() {
            assert!(is_hostile(c), "{c:?}");
        }
        for c in "\u{34f}\u{17b4}\u{180e}\u{fe0f}\u{e0020}\u{e0100}\u{2800}\u{1d173}\u{85}".chars()
        {
            assert!(is_hostile(c), "{c:?}");
        }
        for c in " ~é漢ש\u{a0}\u{3000}\u{301}✓→█\u{e000}\u{fffd}😀".chars() {
            assert!(!is_hostile(c), "{c:?}");
        }
    }
}
