//! Hints: which order is missing, and how to enforce it.

use super::events;
use anyorder_predict::check::{Category, Fact, Facts, Held, common_locks};
use anyorder_trace::{EventKind, Tables};

/// The two actions of a finding, with facts about the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) tables: &'a Tables,
    pub(super) facts: &'a Facts,
    pub(super) category: Category,
    pub(super) first: &'a Fact,
    pub(super) second: &'a Fact,
    pub(super) second_event: u64,
}

/// Returns a way to enforce the order or to make it irrelevant.
pub(super) fn hint(pair: &Pair<'_>) -> String {
    let Pair { tables, category, first, second, .. } = *pair;
    let name = |fact: &Fact| events::handler(tables, fact.handler);
    match category {
        Category::UseAfterFree => ended(pair, "free", "or count references"),
        Category::DoubleFree => {
            "let one owner free it, or set the pointer to null under a lock".to_owned()
        }
        Category::DestroyedLock => ended(pair, "destroy", "or give the lock a longer life"),
        Category::OverwrittenLock => {
            let user = if first.op.kind().is_access() { second } else { first };
            format!(
                "construct the lock before `{}` can reach it, and write over it only when nobody uses it",
                name(user)
            )
        }
        Category::ClosedChannel => {
            "let the side that sends close it, after its last send; several senders need to be waited for"
                .to_owned()
        }
        Category::ClosedFile => ended(pair, "close", "or let the last user close it"),
        Category::LostSignal => {
            "check the predicate under the lock before waiting, and change it under the lock before the signal"
                .to_owned()
        }
        Category::LostWakeup => format!(
            "`{}` can take what `{}` waits for, and nothing that comes later serves it: give one for each who waits, or tell those who wait that no more will come",
            name(second),
            name(first)
        ),
        Category::EarlyErr => {
            "wait for the context to be done before asking for its error".to_owned()
        }
        Category::SameHandler => {
            "post the second task from the first, or make both work in either order".to_owned()
        }
        Category::MultiThreaded => locking(tables, first, second),
        Category::Calls | Category::Guarded if common_locks(first, second).next().is_some() => {
            let locks: Vec<String> = common_locks(first, second)
                .map(|held| format!("`{}`", events::lock_name(tables, held.lock)))
                .collect();
            let (locks, keep) = and(&locks, "keeps them apart and orders", "keep them apart and order");
            format!(
                "{locks} {keep} nothing; if `{}` has to come first, let `{}` wait for it",
                name(first),
                name(second)
            )
        }
        Category::Arrival => {
            "each of several senders may come first; if one has to, let the other wait for it"
                .to_owned()
        }
        Category::Calls | Category::Guarded => {
            format!("if `{}` has to come first, let `{}` wait for it", name(first), name(second))
        }
    }
}

/// Returns names as a list for a sentence, with the verb that agrees with it.
fn and<'v>(names: &[String], one: &'v str, several: &'v str) -> (String, &'v str) {
    match names {
        [] => ("no lock".to_owned(), one),
        [name] => (name.clone(), one),
        [most @ .., last] => (format!("{} and {last}", most.join(", ")), several),
    }
}

fn locking(tables: &Tables, first: &Fact, second: &Fact) -> String {
    let name = |fact: &Fact| events::handler(tables, fact.handler);
    let shared = |fact: &Fact| fact.held.iter().all(|held| held.shared);
    match (&*first.held, &*second.held) {
        ([], []) => {
            "no lock is held at either: hold one lock around both, or let one thread wait for the other"
                .to_owned()
        }
        (held, []) => lacking(tables, &name(second), held),
        ([], held) => lacking(tables, &name(first), held),
        _ if shared(first) && shared(second) => {
            "both hold their locks as readers: who writes has to hold one exclusively".to_owned()
        }
        (one, other) => format!(
            "they hold different locks, {} and {}: hold the same one around both",
            events::locks(tables, one),
            events::locks(tables, other)
        ),
    }
}

/// Says that one side holds none of the locks of the other.
fn lacking(tables: &Tables, who: &str, held: &[Held]) -> String {
    let names: Vec<String> =
        held.iter().map(|held| format!("`{}`", events::lock_name(tables, held.lock))).collect();
    let how =
        if held.iter().all(|held| held.shared) { ", exclusively where it writes" } else { "" };
    let (names, _) = and(&names, "", "");
    format!("`{who}` holds no lock: hold {names} there as well{how}")
}

/// Says that the end of an object's life is not ordered after its use.
fn ended(pair: &Pair<'_>, end: &str, other: &str) -> String {
    let Pair { tables, facts, first, second, second_event, .. } = *pair;
    let ends = |fact: &Fact| {
        matches!(fact.op.kind(), EventKind::Free | EventKind::Destroy)
            || events::verb(tables, fact) == "close"
    };
    let (user, ender) = if ends(second) { (first, second) } else { (second, first) };
    let (user_name, ender_name) =
        (events::handler(tables, user.handler), events::handler(tables, ender.handler));
    let late = facts.join_after(second_event, ender.handler, user.handler);
    match late {
        Some(join) => format!(
            "`{ender_name}` joins `{user_name}` only at event {join}, after the {end}: join first"
        ),
        None => format!(
            "nothing orders the {end} on `{ender_name}` after the use on `{user_name}`: join `{user_name}` before it, {other}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::and;

    #[test]
    fn verbs_agree_with_the_names_before_them() {
        let names = |count: usize| {
            ["`a`", "`b`", "`c`"][..count].iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(and(&names(1), "keeps", "keep"), ("`a`".to_owned(), "keeps"));
        assert_eq!(and(&names(2), "keeps", "keep"), ("`a` and `b`".to_owned(), "keep"));
        assert_eq!(and(&names(3), "keeps", "keep"), ("`a`, `b` and `c`".to_owned(), "keep"));
    }
}
