//! Compares the parts of the states before and after a step.

use super::parts::{Content, Part, Pending, Running};
use crate::program::Program;
use crate::value::Value;
use crate::value::show::short;

/// A value that a step changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlaceChange {
    /// What holds it: `x`, `role[0]`, `obj#1.next`, `lock m`, `enabled(click)`.
    pub name: String,
    /// The value before; `None` where there was none.
    pub old: Option<String>,
    /// The value after; `None` where there is none.
    pub new: Option<String>,
    /// The name of the lock, if it is one: then the values are `free`, or who holds it.
    pub lock: Option<String>,
}

/// A task that a step posted, or a thread that it began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewTask {
    /// The mailbox or the thread.
    pub to: String,
    /// The task with its arguments and its delay; `start` for a thread.
    pub what: String,
}

/// What stands for the owner of a lock that nobody holds.
const FREE: &str = "free";

impl PlaceChange {
    /// Returns the name of the lock that the change takes.
    #[must_use]
    pub fn takes(&self) -> Option<&str> {
        self.lock.as_deref().filter(|_| self.old.as_deref() == Some(FREE))
    }

    /// Returns the name of the lock that the change releases.
    #[must_use]
    pub fn releases(&self) -> Option<&str> {
        self.lock.as_deref().filter(|_| self.new.as_deref() == Some(FREE))
    }
}

/// A shorter value is shown whole when elements are added or removed.
const SHORT: usize = 24;

/// Returns the part of a state that is the same as one of another.
fn find<'a>(parts: &'a [Part], part: &Part) -> Option<&'a Part> {
    parts.iter().find(|other| other.is_identical(part))
}

/// Returns whether reports show the changes of a part as changes of a value.
pub(super) fn is_value(part: &Part) -> bool {
    !matches!(part.content, Content::Happened | Content::Mailbox(_) | Content::Thread(_))
}

/// Returns the values that differ between two states. Skips objects that became unreachable.
pub(super) fn changes(program: &Program, old: &[Part], new: &[Part]) -> Vec<PlaceChange> {
    let mut changes = Vec::new();
    for before in old.iter().filter(|part| is_value(part)) {
        match find(new, before) {
            Some(after) => changed(program, before, after, &mut changes),
            None if matches!(before.content, Content::Field(_)) => {}
            None => changes.push(PlaceChange {
                name: before.label(),
                old: Some(before.text(program)),
                new: absent(before),
                lock: lock(before),
            }),
        }
    }
    for after in new.iter().filter(|part| is_value(part) && find(old, part).is_none()) {
        let (name, new) = (after.label(), Some(after.text(program)));
        changes.push(PlaceChange { name, old: absent(after), new, lock: lock(after) });
    }
    changes
}

/// Returns the content of a part in a state that does not list it.
fn absent(part: &Part) -> Option<String> {
    lock(part).map(|_| FREE.to_owned())
}

fn lock(part: &Part) -> Option<String> {
    matches!(part.content, Content::Lock(_)).then(|| part.name.clone())
}

fn changed(program: &Program, before: &Part, after: &Part, changes: &mut Vec<PlaceChange>) {
    let values = match (&before.content, &after.content) {
        (Content::Variable(a), Content::Variable(b)) | (Content::Field(a), Content::Field(b)) => {
            if a == b {
                return;
            }
            Some((a, b))
        }
        _ => None,
    };
    let (old, new) = (before.text(program), after.text(program));
    if old == new {
        return;
    }
    let name = before.label();
    match values.and_then(|values| elements(program, &name, values)) {
        Some(elements) => changes.extend(elements),
        None => {
            let lock = lock(before);
            changes.push(PlaceChange { name, old: Some(old), new: Some(new), lock });
        }
    }
}

/// Returns the changes of the elements of a list or map, if they are clearer than the whole values:
/// a table of steps then shows `role[0]: Follower -> Candidate`, not two lists of all roles.
fn elements(
    program: &Program,
    name: &str,
    (old, new): (&Value, &Value),
) -> Option<Vec<PlaceChange>> {
    if std::mem::discriminant(old) != std::mem::discriminant(new) {
        return None;
    }
    if !matches!(old, Value::List(_) | Value::Map(_)) {
        return None;
    }
    let (old_items, new_items) = (items(program, old), items(program, new));
    let (old_text, new_text) = (short(program, old), short(program, new));
    // A long text is cut, and elements behind the cut could differ.
    if !old_text.ends_with(']') || !new_text.ends_with(']') {
        return None;
    }
    let keeps_keys = old_items.len() == new_items.len()
        && old_items.iter().zip(&new_items).all(|(a, b)| a.0 == b.0);
    fn find<'v>(items: &[(String, &'v Value)], key: &str) -> Option<&'v Value> {
        items.iter().find(|(other, _)| other == key).map(|(_, value)| *value)
    }
    let mut changes = Vec::new();
    for (key, value) in &old_items {
        let now = find(&new_items, key);
        if now == Some(value) {
            continue;
        }
        let name = format!("{name}[{key}]");
        match now.and_then(|now| elements(program, &name, (value, now))) {
            Some(inner) => changes.extend(inner),
            None => {
                let (old, new) = (short(program, value), now.map(|now| short(program, now)));
                changes.push(PlaceChange { name, old: Some(old), new, lock: None });
            }
        }
    }
    for (key, value) in new_items.iter().filter(|(key, _)| find(&old_items, key).is_none()) {
        let (name, new) = (format!("{name}[{key}]"), Some(short(program, value)));
        changes.push(PlaceChange { name, old: None, new, lock: None });
    }
    let few = changes.len() * 2 <= old_items.len().max(new_items.len());
    let long = old_text.len() > SHORT || new_text.len() > SHORT;
    (!changes.is_empty() && few && (keeps_keys || long)).then_some(changes)
}

/// Returns the elements of a list or map, with their indices or keys.
fn items<'v>(program: &Program, value: &'v Value) -> Vec<(String, &'v Value)> {
    value.elements().map(|(key, item)| (short(program, &key), item)).collect()
}

/// Returns the threads that began to wait for a condition in a step, with the conditions.
pub(super) fn waits(old: &[Part], new: &[Part]) -> Vec<(String, String)> {
    fn waits_for(part: &Part) -> Option<&str> {
        match &part.content {
            Content::Thread(Running { waits_for, .. }) => waits_for.as_deref(),
            _ => None,
        }
    }
    let began = new.iter().filter(|part| find(old, part).and_then(waits_for).is_none());
    began.filter_map(|part| Some((part.name.clone(), waits_for(part)?.to_owned()))).collect()
}

/// Returns the tasks that a step posted and the threads that it forked. `lane` takes the step, and
/// `taken` is what it runs.
pub(super) fn posts(lane: &str, taken: &str, old: &[Part], new: &[Part]) -> Vec<NewTask> {
    let mut posts = Vec::new();
    for part in new {
        let Content::Mailbox(after) = &part.content else { continue };
        let mut known: Vec<&Pending> = match find(old, part).map(|part| &part.content) {
            Some(Content::Mailbox(before)) => before.iter().collect(),
            _ => Vec::new(),
        };
        // The step removed the task that it took. An equal task after the step is new.
        if part.name == lane
            && let Some(at) = known.iter().position(|pending| pending.what == taken)
        {
            known.remove(at);
        }
        for pending in after {
            // Delays shrink while time advances.
            match known.iter().position(|one| one.what == pending.what) {
                Some(at) => drop(known.remove(at)),
                None => posts.push(NewTask { to: part.name.clone(), what: pending.words() }),
            }
        }
    }
    for part in new {
        if matches!(&part.content, Content::Thread(running) if running.forked)
            && find(old, part).is_none()
            && part.name != lane
        {
            posts.push(NewTask { to: part.name.clone(), what: "start".to_owned() });
        }
    }
    posts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Literal, ProgramBuilder};
    use crate::value::Map;
    use std::sync::Arc;

    fn program() -> Program {
        let mut b = ProgramBuilder::new("empty");
        b.global("role", Literal::Null);
        b.finish().expect("a program")
    }

    fn list(items: &[Value]) -> Value {
        Value::list(items.to_vec())
    }

    fn ints(items: &[i64]) -> Value {
        list(&items.iter().map(|item| Value::Int(*item)).collect::<Vec<_>>())
    }

    fn names(items: &[&str]) -> Value {
        list(&items.iter().map(|item| Value::str(item)).collect::<Vec<_>>())
    }

    fn map(entries: &[(&str, i64)]) -> Value {
        let entries = entries.iter().map(|(key, value)| (Value::str(key), Value::Int(*value)));
        Value::Map(Arc::new(Map::new(entries.collect())))
    }

    fn words(old: &Value, new: &Value) -> Option<Vec<String>> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let changes = elements(&program(), "role", (old, new))?;
        let words = changes
            .iter()
            .map(|one| format!("{}: {} -> {}", one.name, text(&one.old), text(&one.new)));
        Some(words.collect())
    }

    #[test]
    fn one_element_of_several_is_shown_alone() {
        let one = words(&names(&["F", "F", "F"]), &names(&["C", "F", "F"]));
        assert_eq!(one.unwrap(), ["role[0]: \"F\" -> \"C\""]);
        let zeros = ints(&[0, 0]);
        let nested = words(&list(&[zeros.clone(), zeros.clone()]), &list(&[zeros, ints(&[0, 1])]));
        assert_eq!(nested.unwrap(), ["role[1][1]: 0 -> 1"]);
        let key = words(&map(&[("a: b", 1), ("c", 2)]), &map(&[("a: b", 3), ("c", 2)]));
        assert_eq!(key.unwrap(), ["role[\"a: b\"]: 1 -> 3"]);
    }

    #[test]
    fn what_changes_mostly_is_shown_whole() {
        assert_eq!(words(&ints(&[1, 2]), &ints(&[3, 4])), None);
        assert_eq!(words(&ints(&[1]), &ints(&[2])), None);
        assert_eq!(words(&ints(&[1, 2]), &ints(&[1, 2, 3])), None, "short enough");
        assert_eq!(words(&Value::Int(1), &Value::Int(2)), None);
        assert_eq!(words(&Value::Null, &ints(&[1, 2])), None);
        let long = |last: i64| ints(&[vec![1; 3_000], vec![last]].concat());
        assert_eq!(words(&long(1), &long(2)), None, "cut");
    }

    #[test]
    fn elements_that_come_and_go_are_shown_where_the_rest_is_long() {
        let old = names(&["Item(1)", "Item(2)", "Item(3)"]);
        let new = names(&["Item(1)", "Item(2)", "Item(3)", "Item(4)"]);
        assert_eq!(words(&old, &new).unwrap(), ["role[3]: none -> \"Item(4)\""]);
        assert_eq!(words(&new, &old).unwrap(), ["role[3]: \"Item(4)\" -> none"]);
    }

    #[test]
    fn posts_are_what_is_new() {
        let mailbox = |tasks: &[(&str, u64)]| {
            let pending =
                |(what, due): &(&str, u64)| Pending { what: (*what).to_owned(), due: *due };
            let content = Content::Mailbox(tasks.iter().map(pending).collect());
            vec![Part { name: "ui".to_owned(), content }]
        };
        let new = |old: &[(&str, u64)], after: &[(&str, u64)], taken: &str| -> Vec<String> {
            let posts = posts("ui", taken, &mailbox(old), &mailbox(after));
            posts.into_iter().map(|post| post.what).collect()
        };
        let none = Vec::<String>::new();
        let (a, b) = (("a()", 0), ("b()", 0));
        assert_eq!(new(&[a, b], &[b, a], "a()"), ["a()"], "the same again");
        assert_eq!(new(&[a, b], &[b], "a()"), none);
        assert_eq!(new(&[("a()", 7), ("b()", 9)], &[("b()", 2)], "a()"), none);
        assert_eq!(new(&[b], &[b, b], "click"), ["b()"]);
        assert_eq!(new(&[], &[("b(1)", 5)], "click"), ["b(1) after 5"]);
    }
}
