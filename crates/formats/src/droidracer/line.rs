//! Classifies the lines of a log.

use super::fields::signed;

/// The shape of one line of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape<'a> {
    /// Nothing, or the banner.
    Nothing,
    /// A remark of the recorder itself, such as `ABC: ABORT`.
    Note,
    /// The end of the operations; DroidRacer's own results follow.
    Results,
    /// An operation with its number, or an access with its `rwId`.
    Operation {
        /// Whether the number is an `rwId`.
        access: bool,
        /// Its number.
        number: u32,
        /// The name of the operation.
        word: &'a [u8],
        /// Where its fields begin in the line.
        fields: usize,
    },
    /// Not a line of a log.
    Wrong {
        /// Where the line is wrong.
        offset: usize,
        /// What was expected there.
        message: &'static str,
    },
}

/// The beginnings of lines that occur only among the results.
const RESULTS: [&[u8]; 9] = [
    b"HB Graph",
    b"Races detected",
    b"RACE ",
    b"Categorization of detected races",
    b"Multithreaded races",
    b"Async races",
    b"Races due to",
    b"Memory used for",
    b"traceTime:",
];

const BANNER: &[u8] = b"Android bug-checker";

const EXPECTED_NUMBER: &str = "expected a number from 0 to 4294967294 in front of the operation";
const EXPECTED_WORD: &str = "expected the name of an operation behind its number";
const EXPECTED_OPERATION: &str = "expected an operation: `<number> OPERATION key:value ...`";

/// Returns the shape of a line without its end.
pub(super) fn shape(line: &[u8]) -> Shape<'_> {
    let text = line.trim_ascii();
    if text.is_empty() || text.starts_with(BANNER) {
        return Shape::Nothing;
    }
    if RESULTS.iter().any(|start| text.starts_with(start)) {
        return Shape::Results;
    }
    if text.starts_with(b"ABC") {
        return Shape::Note;
    }
    let begin = line.len() - line.trim_ascii_start().len();
    let access = line[begin..].starts_with(b"rwId:");
    let number_at = if access { begin + b"rwId:".len() } else { begin };
    if !access && !line[begin].is_ascii_digit() {
        return Shape::Wrong { offset: 0, message: EXPECTED_OPERATION };
    }
    let number_end = blank_from(line, number_at);
    let number = signed(&line[number_at..number_end]).and_then(|n| u32::try_from(n).ok());
    // `u32::MAX` means an absent id elsewhere.
    let Some(number) = number.filter(|number| *number < u32::MAX) else {
        return Shape::Wrong { offset: number_at, message: EXPECTED_NUMBER };
    };
    let word_at = word_from(line, number_end);
    let word_end = blank_from(line, word_at);
    if word_at == word_end {
        return Shape::Wrong { offset: word_at, message: EXPECTED_WORD };
    }
    Shape::Operation { access, number, word: &line[word_at..word_end], fields: word_end }
}

/// Returns the first blank from `from` on, or the end.
fn blank_from(line: &[u8], from: usize) -> usize {
    let length = line[from..].iter().position(u8::is_ascii_whitespace);
    length.map_or(line.len(), |length| from + length)
}

/// Returns the first byte from `from` on that is not a blank, or the end.
fn word_from(line: &[u8], from: usize) -> usize {
    let length = line[from..].iter().position(|byte| !byte.is_ascii_whitespace());
    length.map_or(line.len(), |length| from + length)
}

/// Returns whether only a log of this format can contain a line: the banner, an access, or a number
/// followed by an operation in capitals.
pub(crate) fn looks_like_operation(line: &[u8]) -> bool {
    if line.trim_ascii_start().starts_with(BANNER) {
        return true;
    }
    match shape(line) {
        Shape::Operation { access, word, fields, .. } => {
            let capitals = word.iter().all(|b| b.is_ascii_uppercase() || b"-_".contains(b));
            let rest = line[fields..].trim_ascii();
            capitals && (access || rest.contains(&b':') || word == b"START")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(shape(b" \t"), Shape::Nothing);
        assert_eq!(shape(b"Android bug-checker log messages "), Shape::Nothing);
        assert_eq!(shape(b" HB Graph size : 1041"), Shape::Results);
        assert_eq!(shape(b"ABC: ABORT "), Shape::Note);
        assert_eq!(
            shape(b"7 CALL tid:1"),
            Shape::Operation { access: false, number: 7, word: b"CALL", fields: 6 }
        );
        assert_eq!(
            shape(b"rwId:9\tREAD tid:1"),
            Shape::Operation { access: true, number: 9, word: b"READ", fields: 11 }
        );
        let wrong = |offset, message| Shape::Wrong { offset, message };
        assert_eq!(shape(b"7"), wrong(1, EXPECTED_WORD));
        assert_eq!(shape(b"7x CALL"), wrong(0, EXPECTED_NUMBER));
        assert_eq!(shape(b"rwId: READ"), wrong(5, EXPECTED_NUMBER));
        assert_eq!(shape(b"4294967295 CALL"), wrong(0, EXPECTED_NUMBER));
        assert_eq!(shape(b"hello"), wrong(0, EXPECTED_OPERATION));
    }

    #[test]
    fn only_this_format_has_such_lines() {
        assert!(looks_like_operation(b"1 START"));
        assert!(looks_like_operation(b"4 ATTACH-Q tid:1\t queue:9"));
        assert!(looks_like_operation(b"rwId:9 READ tid:1 obj:0x1 class:A field:8"));
        assert!(!looks_like_operation(b"1 2 3"));
        assert!(!looks_like_operation(b"12 monkeys"));
        assert!(!looks_like_operation(b"T1|acq(L1)|12"));
    }
}
