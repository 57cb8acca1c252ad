//! Patterns with `*` (any text) and `?` (any one character).

/// Returns whether the whole text matches the pattern. O(pattern × text) at worst, without
/// recursion: it backtracks only to the last `*`, because an earlier one can match no better.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star_p, star_t)) = star else { return false };
                star = Some((star_p, star_t + 1));
                p = star_p + 1;
                t = star_t + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("*", "", true),
            ("a", "", false),
            ("Foo.*", "Foo.bar@0x41", true),
            ("*.bar@*", "Foo.bar@0x41", true),
            ("Foo.ba?", "Foo.bar", true),
            ("Foo.ba?", "Foo.ba", false),
            ("Foo", "Foo.bar", false),
            ("*ab*ab", "abab", true),
            ("*ab", "abc", false),
            ("ä?", "äö", true),
            ("a*b*c", "aXbYbZc", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!matches(&pattern, &"a".repeat(5_000)));
    }
}
