//! Regular expressions, as far as those of Java are those of the crate `regex`.
//!
//! Classes such as `\d` are of ASCII, and `.` matches no end of a line. What only Java has (looking
//! around, references back, possessive repetition) is not known.

use super::interp::{Res, throw, unsupported};
use super::value::{Value, show};
use regex::{Captures, Regex};
use std::rc::Rc;

/// Characters outside of classes of which Java's meaning is written otherwise.
fn translate(pattern: &str, text: &str) -> Res<String> {
    let unknown = || unsupported("this regular expression");
    let mut out = String::new();
    let mut in_class = 0u32;
    let chars: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        at += 1;
        match c {
            '\\' => {
                at += 1;
                match next {
                    Some('d') => out += "[0-9]",
                    Some('D') => out += "[^0-9]",
                    Some('w') => out += "[a-zA-Z0-9_]",
                    Some('W') => out += "[^a-zA-Z0-9_]",
                    Some('s') => out += "[ \\t\\n\\x0B\\x0C\\r]",
                    Some('S') => out += "[^ \\t\\n\\x0B\\x0C\\r]",
                    Some('b') if in_class == 0 => out += "(?-u:\\b)",
                    Some(c @ ('n' | 'r' | 't' | 'f')) => out.extend(['\\', c]),
                    Some(c) if !c.is_alphanumeric() && c.is_ascii() => {
                        out += &regex::escape(c.encode_utf8(&mut [0; 4]))
                    }
                    _ => return unknown(),
                }
            }
            '[' => {
                in_class += 1;
                out.push(c);
            }
            ']' if in_class > 0 => {
                in_class -= 1;
                out.push(c);
            }
            '-' | '~' if in_class > 0 && next == Some(c) => return unknown(),
            _ if in_class > 0 => out.push(c),
            '.' => out += "[^\\n\\r\\u{85}\\u{2028}\\u{2029}]",
            '$' if text.ends_with(['\n', '\r']) => return unknown(),
            '(' if next == Some('?') && !matches!(chars.get(at + 1), Some(':')) => {
                return unknown();
            }
            '*' | '+' | '?' | '}' if next == Some('+') => return unknown(),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// Returns the expression of a pattern for a text.
fn compile(pattern: &str, text: &str) -> Res<Regex> {
    match Regex::new(&translate(pattern, text)?) {
        Ok(regex) => Ok(regex),
        Err(_) => unsupported("this regular expression"),
    }
}

/// Returns whether the whole text is one match.
pub(super) fn matches(text: &str, pattern: &str) -> Res<bool> {
    let whole = format!("\\A(?:{})\\z", translate(pattern, text)?);
    match Regex::new(&whole) {
        Ok(regex) => Ok(regex.is_match(text)),
        Err(_) => unsupported("this regular expression"),
    }
}

/// Returns the first match, or null.
pub(super) fn find(text: &str, pattern: &str) -> Res {
    let regex = compile(pattern, text)?;
    Ok(regex.find(text).map_or(Value::Null, |found| Value::text(found.as_str())))
}

/// Returns whether there is a match.
pub(super) fn is_found(text: &str, pattern: &str) -> Res<bool> {
    Ok(compile(pattern, text)?.is_match(text))
}

/// A match: its text, or a list with the groups if there are some.
fn match_value(found: &Captures<'_>) -> Value {
    let group = |at: usize| found.get(at).map_or(Value::Null, |one| Value::text(one.as_str()));
    match found.len() {
        1 => group(0),
        groups => Value::list((0..groups).map(group).collect()),
    }
}

/// Returns all matches.
pub(super) fn all(text: &str, pattern: &str) -> Res<Vec<Value>> {
    let regex = compile(pattern, text)?;
    Ok(regex.captures_iter(text).map(|found| match_value(&found)).collect())
}

/// Replaces matches: `$1` is a group, a backslash stands before a character that is itself.
pub(super) fn replace(text: &str, pattern: &str, by: &str, most: usize) -> Res {
    let regex = compile(pattern, text)?;
    let (mut out, mut last) = (String::new(), 0);
    for found in regex.captures_iter(text).take(most) {
        let Some(whole) = found.get(0) else { continue };
        out += &text[last..whole.start()];
        last = whole.end();
        let mut chars = by.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some(c) => out.push(c),
                    None => return throw("IllegalArgumentException", "character to be escaped"),
                },
                '$' => match chars.next().and_then(|c| c.to_digit(10)) {
                    // More digits may belong to the group; with so few groups they do not.
                    Some(group) if found.len() <= 10 => {
                        if group as usize >= found.len() {
                            return throw("IndexOutOfBoundsException", format!("No group {group}"));
                        }
                        out += found.get(group as usize).map_or("", |one| one.as_str());
                    }
                    _ => return unsupported("this replacement"),
                },
                c => out.push(c),
            }
        }
    }
    out += &text[last..];
    Ok(Value::text(out))
}

/// Splits a text; empty parts at the end are left out, and one at the start that an empty match
/// makes.
pub(super) fn split(text: &str, pattern: &str) -> Res {
    let regex = compile(pattern, text)?;
    let (mut parts, mut last) = (Vec::new(), 0);
    for found in regex.find_iter(text) {
        if found.end() == 0 {
            continue;
        }
        parts.push(&text[last..found.start()]);
        last = found.end();
    }
    if parts.is_empty() {
        return Ok(Value::list(vec![Value::text(text)]));
    }
    parts.push(&text[last..]);
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    Ok(Value::list(parts.into_iter().map(Value::text).collect()))
}

/// `a =~ b`
pub(super) fn matcher(text: &Value, pattern: &Value) -> Res {
    if matches!(pattern, Value::Null) || matches!(text, Value::Null) {
        return unsupported("a regular expression of null");
    }
    let one = (show(text), show(pattern));
    // What is not known is found out here.
    compile(&one.1, &one.0)?;
    Ok(Value::Matcher(Rc::new(one)))
}

/// Methods of what `=~` gives.
pub(super) fn matcher_method(
    one: &(String, String),
    name: &str,
    arguments: &[Value],
) -> Res<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("matches", []) => Value::Bool(matches(&one.0, &one.1)?),
        ("size", []) => Value::Long(all(&one.0, &one.1)?.len() as i64),
        ("getCount", []) => Value::Int(all(&one.0, &one.1)?.len() as i32),
        ("getAt", [Value::Int(at)]) => matcher_index(one, *at)?,
        _ => return unsupported(format!("the method `{name}` of a matcher")),
    }))
}

/// The match of this number; negative ones count from the end.
pub(super) fn matcher_index(one: &(String, String), at: i32) -> Res {
    let found = all(&one.0, &one.1)?;
    let at = if at < 0 { i64::from(at) + found.len() as i64 } else { i64::from(at) };
    match usize::try_from(at).ok().and_then(|at| found.get(at)) {
        Some(value) => Ok(value.clone()),
        None => throw("IndexOutOfBoundsException", format!("index is out of range: {at}")),
    }
}
