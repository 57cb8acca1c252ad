//! Mutations of lines and of the words in them.

use super::grow::HOSTILE;
use crate::kind::Kind;
use anyorder_common::random::{Random as _, Rng};
use std::ops::Range;

/// Numbers as text at which readers and engines may go wrong.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "1e308",
    "0.5",
    "0x7fffffffffffffff",
    "1000000",
];

/// Drops, doubles, swaps, moves or repeats lines, or takes some of another input.
pub(super) fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let at = rng.index(lines.len());
    let to = rng.index(lines.len());
    let end = (at + 1 + rng.index(8)).min(lines.len());
    match rng.below(7) {
        0 => drop(lines.drain(at..end)),
        1 => {
            let part = lines[at..end].to_vec();
            lines.splice(to..to, part);
        }
        2 => lines.swap(at, to),
        3 => {
            let line = lines.remove(at);
            lines.insert(to.min(lines.len()), line);
        }
        4 => {
            let times = 1 << rng.below(12);
            lines.splice(at..at, std::iter::repeat_n(lines[at], times).collect::<Vec<_>>());
        }
        5 => {
            let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
            let from = rng.index(others.len());
            let count = 1 + rng.index(20);
            lines.splice(at..at, others.iter().skip(from).take(count).copied().collect::<Vec<_>>());
        }
        _ => rng.shuffle(&mut lines[at..end]),
    }
    *bytes = lines.concat();
}

/// Replaces a word by another of the input, a word of the format, a number, or hostile text.
pub(super) fn tokens(rng: &mut Rng, kind: Kind, bytes: &mut Vec<u8>) {
    let words = words(bytes);
    if words.is_empty() {
        return;
    }
    let word = words[rng.index(words.len())].clone();
    let new: Vec<u8> = match rng.below(6) {
        0 | 1 => bytes[words[rng.index(words.len())].clone()].to_vec(),
        2 => rng.pick(kind.words()).into(),
        3 => rng.pick(&NUMBERS).into(),
        4 => near(rng, &bytes[word.clone()]),
        _ => rng.pick(&HOSTILE).into(),
    };
    if rng.percent(80) {
        bytes.splice(word, new);
    } else {
        let new = [&new[..], b" "].concat();
        bytes.splice(word.start..word.start, new);
    }
}

/// Replaces a number by a number of the input, a name by a name, or drops, doubles or moves one
/// line: the mutant is often still an input that can be read.
pub(super) fn gentle(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let words = words(bytes);
    let class = |word: &Range<usize>| {
        let first = bytes[word.start];
        (first.is_ascii_digit(), first.is_ascii_alphabetic())
    };
    if words.is_empty() || rng.percent(35) {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let (from, to) = (rng.index(lines.len()), rng.index(lines.len()));
        match rng.below(3) {
            _ if lines.is_empty() => {}
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from]),
            _ => lines.swap(from, to),
        }
        *bytes = lines.concat();
        return;
    }
    let word = words[rng.index(words.len())].clone();
    let alike: Vec<&Range<usize>> =
        words.iter().filter(|other| class(other) == class(&word)).collect();
    let new = bytes[alike[rng.index(alike.len())].clone()].to_vec();
    let new = if rng.percent(15) { near(rng, &new) } else { new };
    bytes.splice(word, new);
}

/// Returns a number near that of the word, or the word with a letter at its end.
fn near(rng: &mut Rng, word: &[u8]) -> Vec<u8> {
    let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<i64>().ok());
    match number {
        Some(number) => {
            let step = rng.pick(&[-2, -1, 1, 2, 1000]);
            number.wrapping_add(step).to_string().into_bytes()
        }
        None => [word, &[b'a' + rng.below(26) as u8]].concat(),
    }
}

/// Returns where the words are: runs of letters, digits, `_` and what is not ASCII, and single
/// other characters.
fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        if is_word(bytes[start]) {
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
        } else if bytes[start].is_ascii_whitespace() {
            continue;
        }
        words.push(start..at);
    }
    words
}
