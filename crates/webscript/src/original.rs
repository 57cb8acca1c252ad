//! Places and words of the text as it was, for places and words of the text as it is.
//!
//! The browser names lines, columns and expressions of rewritten texts in its messages. Rewriting
//! keeps lines, so a place is known by what was inserted before it in its line.

use crate::lines::Lines;
use crate::sites::{Origin, Sites, SourceId};

/// A part of a line that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Where it begins in the text as it was; both counted from 1.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// How many UTF-16 units it had.
    pub(crate) removed: u32,
    /// How many it has.
    pub(crate) inserted: u32,
    /// How far from its end the browser would name the place of what is right behind it.
    pub(crate) nudge: i32,
}

/// Returns the length of a text in UTF-16 units.
pub(crate) fn units(text: &str) -> u32 {
    let count = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The names of all functions that rewriting inserts begin so.
const HELPER: &str = "__ao";

/// What the browser calls a value that has no simple name.
const VALUE: &str = "(intermediate value)";

impl Sites {
    /// Returns the column that a place of a rewritten text had before; lines are the same. Both are
    /// counted from 1, in UTF-16 units. What was inserted counts as what follows it. It takes the
    /// time of a binary search and of one line.
    #[must_use]
    pub fn column(&self, source: SourceId, line: u32, column: u32) -> u32 {
        let moves = self.moves_of(source);
        let first = moves.partition_point(|one| one.line < line);
        let mut shift = 0_i64;
        for one in moves.iter().skip(first).take_while(|one| one.line == line) {
            let begin = i64::from(one.column) + shift;
            let end = begin + i64::from(one.inserted);
            match i64::from(column) {
                at if at < begin => break,
                at if at < end => return one.column,
                at if at == end && one.nudge != 0 => {
                    return one.column.saturating_add_signed(one.nudge);
                }
                _ => shift += i64::from(one.inserted) - i64::from(one.removed),
            }
        }
        u32::try_from(i64::from(column) - shift).unwrap_or(1).max(1)
    }

    /// Returns a message of the browser about a place of the text as it was, with the expression
    /// that it is about as it was written. Without a place, the expression has no name. It takes
    /// the time of one pass over the source.
    #[must_use]
    pub fn message(&self, place: Option<(SourceId, u32, u32)>, message: &str) -> String {
        without_helpers(message, |rest| {
            let (source, line, column) = place?;
            let text = self.text_of(source)?;
            let lines = Lines::new(text, Origin::start_of(source));
            let offset = lines.offset(line, column)?;
            expression(text, offset, rest)
        })
    }
}

/// What the browser says of a call whose value is not iterable.
const CALLED: &str = " is not a function or its return value is not iterable";

/// The longest part of a text that is searched for the beginning of a chain, in bytes.
const CHAIN_BYTES_MAX: usize = 2000;

/// Returns how far from an offset the browser names the place of what begins there, in a text where
/// nothing is inserted. A call has the place of the word before its bracket, if there is one. A
/// property has the place of its name, but of its dot if there is a call in the chain before it.
pub(crate) fn nudge(source: &str, offset: usize) -> i32 {
    let (before, after) = source.split_at_checked(offset).unwrap_or_default();
    let signed = |count: u32| i32::try_from(count).unwrap_or(0);
    if after.starts_with('(') {
        let word = before.chars().rev().take_while(|one| is_part(*one));
        return -signed(word.map(|one| u32::from(one.len_utf16() == 2) + 1).sum());
    }
    let Some(rest) = after.strip_prefix('.') else { return 0 };
    let mut begin = before.len().saturating_sub(CHAIN_BYTES_MAX);
    while !before.is_char_boundary(begin) {
        begin += 1;
    }
    let chain = chain_before(before.get(begin..).unwrap_or_default(), String::new());
    let is_in_call = chain.contains("(...)") || chain.contains('?');
    let spaces = rest.len() - rest.trim_start_matches(' ').len();
    if is_in_call { 0 } else { signed(units(rest.get(..spaces).unwrap_or_default()) + 1) }
}

/// Returns a message without inserted functions: an expression with one becomes what `found`
/// returns for the text behind it.
fn without_helpers(message: &str, found: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(HELPER) {
        let (before, after) = rest.split_at(at);
        let begin = before.rfind([' ', '\'', '"']).map_or(0, |at| at + 1);
        let ends = [" is not", "' ", "'.", "\n"];
        let end = ends.iter().filter_map(|end| after.find(end)).min().unwrap_or(after.len());
        let behind = after.get(end..).unwrap_or_default();
        out.push_str(before.get(..begin).unwrap_or_default());
        let found = found(behind).unwrap_or_else(|| VALUE.to_owned());
        out.push_str(&found);
        rest = behind;
        // The inserted function is no call of the page's.
        if let Some(behind) = behind.strip_prefix(CALLED).filter(|_| !found.ends_with(')')) {
            out.push_str(" is not iterable");
            rest = behind;
        }
    }
    out + rest
}

/// Returns the expression that a message is about, as the browser writes it: what is called,
/// constructed or iterated at an offset.
fn expression(text: &str, offset: usize, message: &str) -> Option<String> {
    let here = text.get(offset..)?;
    if let Some(rest) = here.strip_prefix("new").filter(|_| message.contains("constructor")) {
        return Some(chain_after(rest.trim_start())).filter(|chain| !chain.is_empty());
    }
    if message.contains("iterable") {
        let chain = chain_after(here);
        return Some(chain).filter(|chain| !chain.is_empty());
    }
    let word = word_after(here);
    if word.is_empty() {
        let before = text.get(..offset)?.trim_end();
        return before.ends_with([')', ']']).then(|| chain_before(before, String::new()));
    }
    Some(chain_before(text.get(..offset)?, word.to_owned()))
}

fn is_part(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric()
}

fn word_after(text: &str) -> &str {
    let end = text.find(|one| !is_part(one) && one != '#').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Returns the names and dots with which a text begins.
fn chain_after(text: &str) -> String {
    let end = text.find(|one| !is_part(one) && one != '.').unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_end_matches('.').to_owned()
}

/// Returns an expression whose end is known, with what is before it.
fn chain_before(text: &str, end: String) -> String {
    let mut out = end;
    let mut rest = text.trim_end();
    // Whether a value must come before what there is.
    let mut needs_value = out.is_empty();
    loop {
        if !needs_value {
            let Some(before) = rest.strip_suffix('.') else { return out };
            let (before, dot) = before.strip_suffix('?').map_or((before, "."), |one| (one, "?."));
            out.insert_str(0, dot);
            rest = before.trim_end();
        }
        needs_value = false;
        let word = rest.len()
            - rest.chars().rev().take_while(|one| is_part(*one)).map(char::len_utf8).sum::<usize>();
        let (before, last) = rest.split_at(word);
        if !last.is_empty() {
            out.insert_str(0, last);
            rest = before.trim_end();
        } else if let Some((before, _)) = bracketed(rest, '(', ')') {
            if !before.ends_with(|one| is_part(one) || one == ')' || one == ']') {
                return VALUE.to_owned() + &out;
            }
            out.insert_str(0, "(...)");
            (rest, needs_value) = (before, true);
        } else if let Some((before, inner)) = bracketed(rest, '[', ']') {
            if !before.ends_with(|one| is_part(one) || one == ')' || one == ']') {
                return VALUE.to_owned() + &out;
            }
            let quoted =
                inner.strip_prefix(['\'', '"']).and_then(|one| one.strip_suffix(['\'', '"']));
            let key = quoted.map_or_else(|| format!("[{inner}]"), |name| format!(".{name}"));
            out.insert_str(0, &key);
            (rest, needs_value) = (before, true);
        } else {
            return VALUE.to_owned() + &out;
        }
    }
}

/// Returns what is before the bracket that a text ends with, and what is in it.
fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inner_end = text.strip_suffix(close)?.len();
    let mut depth = 0_u32;
    for (at, one) in text.char_indices().rev() {
        if one == close {
            depth += 1;
        } else if one == open {
            depth -= 1;
            if depth == 0 {
                return Some((text.get(..at)?.trim_end(), text.get(at + 1..inner_end)?));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_named_as_the_browser_does() {
        let named = |text: &str| {
            let offset = text.find('|').unwrap();
            let text = text.replace('|', "");
            expression(&text, offset, " is not a function")
        };
        let expected = [
            ("x = |f()", "f"),
            ("a.b\n  .|c()", "a.b.c"),
            ("a?.|c()", "a?.c"),
            ("f(1, (2)).|c()", "f(...).c"),
            ("(a, b).|c()", "(intermediate value).c"),
            ("a[0]|()", "a[0]"),
            ("a[i].|b()", "a[i].b"),
            ("f()|()", "f(...)"),
            ("o['p']|()", "o.p"),
        ];
        for (text, expression) in expected {
            assert_eq!(named(text).as_deref(), Some(expression), "{text}");
        }
    }

    #[test]
    fn messages_have_no_inserted_functions() {
        let without = |text: &str| without_helpers(text, |_| None);
        let message = "TypeError: __aoR(...).b is not a function";
        assert_eq!(without(message), "TypeError: (intermediate value) is not a function");
        let message = "Cannot destructure property 'a' of '__aoQ(...)' as it is undefined.";
        let expected =
            "Cannot destructure property 'a' of '(intermediate value)' as it is undefined.";
        assert_eq!(without(message), expected);
        assert_eq!(without("nothing"), "nothing");
        let iterable = format!("__aoQ(...){CALLED}");
        assert_eq!(without_helpers(&iterable, |_| Some("n".to_owned())), "n is not iterable");
        assert_eq!(
            without_helpers(&iterable, |_| Some("f(...)".to_owned())),
            format!("f(...){CALLED}")
        );
    }

    #[test]
    fn the_browser_names_words_of_calls_and_of_properties() {
        for (text, expected) in
            [("f|()", -1), ("a.bc|()", -2), ("a|.b", 1), ("f()|.b", 0), ("a?.b|.c", 0), ("a|+b", 0)]
        {
            let offset = text.find('|').unwrap();
            assert_eq!(nudge(&text.replace('|', ""), offset), expected, "{text}");
        }
    }
}
