//! Source maps: from a place in a script that was built to the place in the text that a person
//! wrote.
//!
//! **Source.** ECMA-426, "Source map format". **Deviations.** (1) A map with `sections` is not
//! read. (2) A map is read up to [`SEGMENTS_MAX`] segments. **Cost.** One pass over the mappings
//! for the table, a binary search for each place.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The most segments of a map.
const SEGMENTS_MAX: usize = 5_000_000;

/// A source map.
#[derive(Debug)]
pub(super) struct SourceMap {
    sources: Vec<String>,
    contents: Vec<Option<String>>,
    segments: Vec<Segment>,
}

/// A place in the script that was built, and where it comes from. All from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Segment {
    line: u32,
    column: u32,
    /// The source, and the line and column in it; `None` for text that comes from nowhere.
    origin: Option<(u32, u32, u32)>,
}

/// A place in a text that a person wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Original<'a> {
    pub(super) source: &'a str,
    /// Its text, if the map has it.
    pub(super) content: Option<&'a str>,
    /// From 1.
    pub(super) line: u32,
    /// From 1.
    pub(super) column: u32,
}

/// Returns the address of the map that a script names in its last lines.
pub(super) fn address(script: &str) -> Option<&str> {
    let last = script.lines().rev().take(10);
    let comment = |line: &'_ str| -> Option<usize> {
        let line = line.trim_start();
        ["//# sourceMappingURL=", "//@ sourceMappingURL="]
            .iter()
            .find(|start| line.starts_with(**start))
            .map(|start| start.len())
    };
    let found = last.filter_map(|line| line.trim().get(comment(line)?..)).next();
    found.filter(|address| !address.is_empty())
}

/// Returns the map in a `data:` address, if it is one.
pub(super) fn inline(address: &str) -> Option<Vec<u8>> {
    let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
    match head.ends_with(";base64") {
        true => STANDARD.decode(data).ok(),
        false => None,
    }
}

impl SourceMap {
    /// Reads a map; `None` if it is none, or has sections.
    pub(super) fn parse(bytes: &[u8]) -> Option<SourceMap> {
        let text = std::str::from_utf8(bytes).ok()?;
        let text = text.strip_prefix(")]}'").unwrap_or(text);
        let value: Value = serde_json::from_str(text.trim_start()).ok()?;
        let root = value["sourceRoot"].as_str().unwrap_or_default();
        let sources = value["sources"].as_array()?.iter();
        let sources = sources.map(|one| format!("{root}{}", one.as_str().unwrap_or("?")));
        let contents = value["sourcesContent"].as_array().into_iter().flatten();
        let contents = contents.map(|one| one.as_str().map(str::to_owned)).collect();
        let segments = segments(value["mappings"].as_str()?)?;
        Some(SourceMap { sources: sources.collect(), contents, segments })
    }

    /// Returns where a place comes from. Line and column are from 1; a column counts UTF-16 units.
    pub(super) fn original(&self, line: u32, column: u32) -> Option<Original<'_>> {
        let (line, column) = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.segments.partition_point(|one| (one.line, one.column) <= (line, column));
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let (source, line, column) = segment.origin.filter(|_| segment.line == line)?;
        let at = usize::try_from(source).ok()?;
        Some(Original {
            source: self.sources.get(at)?,
            content: self.contents.get(at).and_then(Option::as_deref),
            line: line.saturating_add(1),
            column: column.saturating_add(1),
        })
    }
}

/// Reads the mappings: lines end with `;`, segments with `,`; each number is a difference to the
/// one before.
fn segments(mappings: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut origin = [0_i64; 3];
    for (line, text) in (0..).zip(mappings.split(';')) {
        let mut column = 0_i64;
        for field in text.split(',').filter(|field| !field.is_empty()) {
            let numbers = numbers(field)?;
            column += numbers.first()?;
            let mapped = match numbers.get(1..4) {
                Some(differences) => {
                    for (number, difference) in origin.iter_mut().zip(differences) {
                        *number = number.checked_add(*difference)?;
                    }
                    let [source, line, column] = origin.map(|number| u32::try_from(number).ok());
                    Some((source?, line?, column?))
                }
                None => None,
            };
            let column = u32::try_from(column).ok()?;
            segments.push(Segment { line, column, origin: mapped });
            if segments.len() > SEGMENTS_MAX {
                return None;
            }
        }
    }
    segments.sort_unstable();
    Some(segments)
}

/// Reads the numbers of a segment: in base 64, five bits a digit, the sign in the lowest bit.
fn numbers(field: &str) -> Option<Vec<i64>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0_i64, 0_u32);
    for byte in field.bytes() {
        let digit = i64::try_from(DIGITS.iter().position(|known| *known == byte)?).ok()?;
        number |= (digit & 31).checked_shl(shift).filter(|_| shift < 40)?;
        if digit & 32 != 0 {
            shift += 5;
            continue;
        }
        numbers.push(if number & 1 == 1 { -(number >> 1) } else { number >> 1 });
        (number, shift) = (0, 0);
    }
    (shift == 0).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a number as the format says, the other way round.
    fn written(number: i64) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut rest = if number < 0 { (-number << 1) | 1 } else { number << 1 };
        let mut text = String::new();
        loop {
            let digit = rest & 31;
            rest >>= 5;
            let more = if rest > 0 { 32 } else { 0 };
            text.push(char::from(DIGITS[(digit | more) as usize]));
            if rest == 0 {
                return text;
            }
        }
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, -1, 15, 16, -16, 31, 32, 1_000, -123_456, 1 << 30] {
            assert_eq!(numbers(&written(number)), Some(vec![number]), "{number}");
        }
        assert_eq!(numbers("AAgBC"), Some(vec![0, 0, 16, 1]));
        for wrong in ["g", "!", "gggggggggggggg"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn places_come_from_their_sources() {
        let map = r#"{"version":3,"sources":["a.ts","b.ts"],"sourcesContent":["x\ny",null],
            "mappings":"AAAA,IACA;;A,CCAC"}"#;
        let map = SourceMap::parse(map.as_bytes()).expect("a map");
        let at =
            |line, column| map.original(line, column).map(|one| (one.source, one.line, one.column));
        assert_eq!(at(1, 1), Some(("a.ts", 1, 1)));
        assert_eq!(at(1, 4), Some(("a.ts", 1, 1)), "up to the next one");
        assert_eq!(at(1, 5), Some(("a.ts", 2, 1)));
        assert_eq!(at(2, 1), None, "a line without any");
        assert_eq!(at(3, 1), None, "text that comes from nowhere");
        assert_eq!(at(3, 2), Some(("b.ts", 2, 2)));
        assert_eq!(map.original(1, 1).and_then(|one| one.content), Some("x\ny"));
        for wrong in
            ["", "{}", r#"{"sources":[],"mappings":"!"}"#, r#"{"sources":[],"mappings":"D"}"#]
        {
            assert!(SourceMap::parse(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_script_names_its_map_at_its_end() {
        assert_eq!(address("x\n//# sourceMappingURL=a.js.map\n"), Some("a.js.map"));
        assert_eq!(address("x\n  //# sourceMappingURL=a.js.map  "), Some("a.js.map"));
        assert_eq!(address("'//# sourceMappingURL=a'"), None);
        assert_eq!(inline("data:application/json;base64,e30=").as_deref(), Some(&b"{}"[..]));
        assert_eq!(inline("a.js.map"), None);
    }
}
