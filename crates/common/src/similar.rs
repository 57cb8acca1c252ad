//! "Did you mean": the known word nearest to an unknown one.

/// Longest word compared, in characters: the distance takes quadratic time.
const WORD_CHARS_MAX: usize = 64;

/// Returns the candidate with the least edit distance to `word`, if it is close enough to be a
/// typing error: a distance of at most a third of the length (at least 1), or a difference in case
/// only. The first of equally close candidates wins. Time: candidates times the product of lengths.
#[must_use]
pub fn most_similar<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().take(WORD_CHARS_MAX + 1).collect();
    if letters.is_empty() || letters.len() > WORD_CHARS_MAX {
        return None;
    }
    let limit = (letters.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == word || candidate.is_empty() {
            continue;
        }
        let distance =
            if candidate.eq_ignore_ascii_case(word) { 0 } else { distance(&letters, candidate) };
        // Every word is one edit away from a word of one letter, so such a distance proves nothing.
        let near = distance == 0 || (distance <= limit && distance < letters.len());
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The number of edits (insert, delete, replace, swap neighbours) that turn one word into the
/// other: optimal string alignment.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(WORD_CHARS_MAX + 1).collect();
    if b.len() > WORD_CHARS_MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["count", "queue", "shown", "x", "Idle"];
        assert_eq!(most_similar("cuont", known), Some("count"), "swapped letters");
        assert_eq!(most_similar("queu", known), Some("queue"));
        assert_eq!(most_similar("idle", known), Some("Idle"), "case");
        assert_eq!(most_similar("timer", known), None);
        assert_eq!(most_similar("y", known), None, "one letter is no slip of another");
        assert_eq!(most_similar("", known), None);
    }

    #[test]
    fn the_distance_counts_edits() {
        let d = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(
            (d("abc", "abc"), d("abc", "acb"), d("abc", "ab"), d("abc", "xyz")),
            (0, 1, 1, 3)
        );
        assert_eq!(d("", "abc"), 3);
    }
}
