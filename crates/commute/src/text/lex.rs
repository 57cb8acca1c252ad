//! Words and signs of a specification: those of the model language.

use super::error::SpecError;
use std::ops::Range;

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Word(String),
    Int(i64),
    Text(String),
    Sign(&'static str),
    End,
}

/// Signs; a longer one comes before its prefixes.
const SIGNS: [&str; 23] = [
    "->", "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", ",", ";", ".", "~", "/", "<",
    ">", "!", "+", "-", "*", "%",
];

/// Splits a text; the last token is [`Token::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, Range<usize>)>, SpecError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = source[at..].chars().next() {
        let rest = &source[at..];
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at += comment(source, at)?;
            continue;
        }
        let (token, length) = if letter.is_ascii_alphabetic() || letter == '_' {
            let length = word_length(rest);
            (Token::Word(rest[..length].to_owned()), length)
        } else if letter.is_ascii_digit() {
            number(source, at)?
        } else if letter == '"' {
            string(source, at)?
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let message = format!("`{}` has no meaning here", letter.escape_debug());
            return Err(SpecError::new(source, at..at + letter.len_utf8(), message, None));
        };
        found.push((token, at..at + length));
        at += length;
    }
    found.push((Token::End, source.len()..source.len()));
    Ok(found)
}

/// The length of a comment, which may contain others.
fn comment(source: &str, start: usize) -> Result<usize, SpecError> {
    let mut depth = 0;
    let mut at = start;
    loop {
        let rest = &source[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            match rest.chars().next() {
                Some(letter) => at += letter.len_utf8(),
                None => {
                    let message = "the comment does not end";
                    return Err(SpecError::new(source, start..start + 2, message, None));
                }
            }
        }
        if depth == 0 {
            return Ok(at - start);
        }
    }
}

/// The length of the letters, digits and `_` at the beginning of a text.
fn word_length(text: &str) -> usize {
    text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len())
}

fn number(source: &str, start: usize) -> Result<(Token, usize), SpecError> {
    let rest = &source[start..];
    let length = word_length(rest);
    let digits = rest[..length].replace('_', "");
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    value.map(|value| (Token::Int(value), length)).map_err(|_| {
        let message = format!("`{}` is no number of 64 bits", &rest[..length]);
        SpecError::new(source, start..start + length, message, None)
    })
}

fn string(source: &str, start: usize) -> Result<(Token, usize), SpecError> {
    let mut text = String::new();
    let mut letters = source[start..].char_indices().skip(1);
    let open = |length: usize| {
        SpecError::new(source, start..start + length, "the string does not end", None)
    };
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((Token::Text(text), at + 1)),
            '\n' => return Err(open(at)),
            '\\' => {
                let escape = letters.next();
                let Some(letter) = escape.and_then(|(_, letter)| escaped(letter, &mut letters))
                else {
                    let span = start + at..start + at + 2;
                    let hint = "known are \\n \\t \\r \\0 \\\" \\\\ \\u{1F600}".to_owned();
                    return Err(SpecError::new(source, span, "an unknown escape", Some(hint)));
                };
                text.push(letter);
            }
            letter => text.push(letter),
        }
    }
    Err(open(1))
}

fn escaped(letter: char, rest: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        '"' => '"',
        '\\' => '\\',
        'u' => {
            if rest.next()?.1 != '{' {
                return None;
            }
            let digits: String =
                rest.map(|(_, letter)| letter).take_while(|&letter| letter != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        _ => return None,
    })
}
