//! Checks of a reply before memory is allocated for it.

use crate::options::LIST_MAX;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Returns whether a text nests its brackets at most `max` deep. One pass, no memory; brackets in
/// strings do not count. For a text that is not JSON either answer is possible: the parser refuses
/// it.
pub(crate) fn is_at_most_deep(text: &[u8], max: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > max {
            return false;
        }
    }
    true
}

/// Reads a list of at most [`LIST_MAX`] entries; for `deserialize_with`.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {LIST_MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if list.len() == LIST_MAX {
                return Err(A::Error::custom(format_args!(
                    "a list of more than {LIST_MAX} entries"
                )));
            }
            list.push(entry);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_strings() {
        assert!(is_at_most_deep(br#"{"a":["[[[[",{}]}"#, 3));
        assert!(!is_at_most_deep(br#"{"a":["",{}]}"#, 2));
        assert!(is_at_most_deep(br#""\"[[[""#, 0));
        assert!(is_at_most_deep(b"]]]][", 1));
        assert!(!is_at_most_deep(&b"[".repeat(1_000_000), 32));
    }

    #[test]
    fn long_lists_are_refused() {
        let read = |count: usize| {
            let text = format!("[{}]", vec!["0"; count].join(","));
            list::<_, u8>(&mut serde_json::Deserializer::from_str(&text)).map(|list| list.len())
        };
        assert_eq!(read(LIST_MAX).ok(), Some(LIST_MAX));
        assert!(read(LIST_MAX + 1).unwrap_err().to_string().contains("more than 65536 entries"));
    }
}
