//! Changes of single elements of lists and maps: a table of steps shows `role[0]: Follower -> Candidate`, not two lists of all roles.

use super::steps::{messages, outside};
use anyorder_finding::run::Change;

/// Values that are shorter are shown whole where their elements come or go.
const SHORT: usize = 24;

/// Returns the changes of the elements of a value in words, if they say it better than the values as wholes.
pub(super) fn changed(name: &str, old: &str, new: &str) -> Option<Vec<Change>> {
    let (before, after) = (parts(old)?, parts(new)?);
    if before.is_map != after.is_map {
        return None;
    }
    let (old_items, new_items) = (&before.items, &after.items);
    let keeps_keys = old_items.len() == new_items.len()
        && old_items.iter().zip(new_items).all(|(a, b)| a.0 == b.0);
    let mut changes: Vec<Change> = Vec::new();
    let find = |items: &[(String, &str)], key: &str| {
        items.iter().find(|(other, _)| other == key).map(|(_, value)| (*value).to_owned())
    };
    for (key, value) in old_items {
        let now = find(new_items, key);
        if now.as_deref() != Some(value) {
            let name = format!("{name}[{key}]");
            let inner = now.as_deref().and_then(|now| changed(&name, value, now));
            match inner {
                Some(inner) => changes.extend(inner),
                None => changes.push(Change { name, old: Some((*value).to_owned()), new: now }),
            }
        }
    }
    for (key, value) in new_items.iter().filter(|(key, _)| find(old_items, key).is_none()) {
        let new = Some((*value).to_owned());
        changes.push(Change { name: format!("{name}[{key}]"), old: None, new });
    }
    let few = changes.len() * 2 <= old_items.len().max(new_items.len());
    let long = old.len() > SHORT || new.len() > SHORT;
    (!changes.is_empty() && few && (keeps_keys || long)).then_some(changes)
}

/// The elements of a list or map, with their indices or keys.
struct Parts<'a> {
    is_map: bool,
    items: Vec<(String, &'a str)>,
}

/// Takes the words of a value apart: `[1, 2]`, `map[1: "a", 2: "b"]`. Nothing where it was cut, or is something else.
fn parts(text: &str) -> Option<Parts<'_>> {
    if let Some(inner) = text.strip_prefix("map[").and_then(|rest| rest.strip_suffix(']')) {
        let items: Option<Vec<(String, &str)>> = messages(inner)
            .into_iter()
            .map(|entry| split_key(entry).map(|(key, value)| (key.to_owned(), value)))
            .collect();
        return Some(Parts { is_map: true, items: items? });
    }
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))?;
    let items = messages(inner).into_iter().enumerate();
    Some(Parts { is_map: false, items: items.map(|(at, one)| (at.to_string(), one)).collect() })
}

/// Takes the key off an entry; colons in brackets and strings do not count.
fn split_key(entry: &str) -> Option<(&str, &str)> {
    let at = outside(entry, ':').next()?;
    Some((&entry[..at], entry[at + 1..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(old: &str, new: &str) -> Option<Vec<String>> {
        changed("role", old, new).map(|all| all.iter().map(Change::words).collect())
    }

    #[test]
    fn one_element_of_several_is_told_alone() {
        let one = words("[Follower, Follower, Follower]", "[Candidate, Follower, Follower]");
        assert_eq!(one.unwrap(), ["role[0]: Follower -> Candidate"]);
        let nested = words("[[0, 0], [0, 0]]", "[[0, 0], [0, 1]]");
        assert_eq!(nested.unwrap(), ["role[1][1]: 0 -> 1"]);
        let key = words("map[\"a: b\": 1, \"c\": 2]", "map[\"a: b\": 3, \"c\": 2]");
        assert_eq!(key.unwrap(), ["role[\"a: b\"]: 1 -> 3"]);
    }

    #[test]
    fn what_changes_mostly_is_told_whole() {
        assert_eq!(words("[1, 2]", "[3, 4]"), None);
        assert_eq!(words("[1]", "[2]"), None);
        assert_eq!(words("[1, 2]", "[1, 2, 3]"), None, "short enough");
        assert_eq!(words("1", "2"), None);
        assert_eq!(words("set[1, 2]", "set[1]"), None);
        assert_eq!(words("null", "[1, 2]"), None);
        assert_eq!(words("[1, 2...", "[1, 3..."), None);
    }

    #[test]
    fn elements_that_come_and_go_are_told_where_the_rest_is_long() {
        let old = "[Item(1), Item(2), Item(3)]";
        let new = "[Item(1), Item(2), Item(3), Item(4)]";
        assert_eq!(words(old, new).unwrap(), ["role[3]: Item(4) (new)"]);
        assert_eq!(words(new, old).unwrap(), ["role[3]: Item(4) -> gone"]);
    }
}
