//! The titles of predictions.

use super::events::{handler, verb};
use anyorder_predict::check::{
    Category, Fact, common_locks, method, object, object_without_instance,
};
use anyorder_trace::{EventKind, Tables};

/// Returns the title of a finding: one phrase that says what can happen. If an address names the
/// object, the title adds the place of its allocation, which is the same in every run.
pub(super) fn title(tables: &Tables, category: Category, first: &Fact, second: &Fact) -> String {
    Titled { tables, category, first, second }.phrase()
}

/// The two actions of a title.
struct Titled<'a> {
    tables: &'a Tables,
    category: Category,
    first: &'a Fact,
    second: &'a Fact,
}

impl Titled<'_> {
    /// Returns a name, in backticks, with the place that allocated what it names.
    fn placed(&self, name: &str) -> String {
        let is_named = |fact: &&&Fact| object_without_instance(self.tables, fact) == name;
        let facts = [self.first, self.second];
        let place = facts.iter().filter(is_named).find_map(|fact| fact.allocated);
        match place {
            Some(place) => format!("`{name}` (allocated {})", place.phrase(self.tables)),
            None => format!("`{name}`"),
        }
    }

    fn phrase(&self) -> String {
        let Titled { tables, category, first, second } = *self;
        let what = self.placed(&object_without_instance(tables, second));
        let verbs = [verb(tables, first), verb(tables, second)];
        let end = |fact: &Fact| {
            matches!(fact.op.kind(), EventKind::Free | EventKind::Destroy)
                || method(tables, fact)
                    .is_some_and(|method| method == "close" || method == "cancel")
        };
        // The late action is the one that does not end the object's life. If both end it, it is the
        // first in the trace.
        let late = if end(first) && !end(second) { 1 } else { 0 };
        let user = handler(tables, [first, second][late].handler);
        match category {
            Category::UseAfterFree => {
                let verb = match verbs[late].as_str() {
                    "read" => "read",
                    "write" | "rmw" => "written",
                    _ => "used",
                };
                let user_fact = [first, second][late];
                let used = self.placed(&object(tables, user_fact));
                format!("{used} can be {verb} by `{user}` after it is freed")
            }
            Category::DoubleFree => {
                format!("{what} can be freed the other way round: it is freed twice")
            }
            Category::DestroyedLock if end(first) && end(second) => {
                format!("lock {what} is destroyed twice, in either order")
            }
            Category::DestroyedLock => {
                format!("`{user}` can use lock {what} after it is destroyed")
            }
            Category::OverwrittenLock => {
                let (writer, user) = match first.op.kind().is_access() {
                    true => (first, second),
                    false => (second, first),
                };
                let lock = self.placed(&object(tables, user));
                let by = handler(tables, user.handler);
                let over = handler(tables, writer.handler);
                format!("`{over}` can write over lock {lock} before or after `{by}` uses it")
            }
            Category::ClosedChannel | Category::ClosedFile if end(first) && end(second) => {
                format!("{what} is closed twice, in either order")
            }
            Category::ClosedChannel | Category::ClosedFile => {
                format!("`{user}` can call `{}` of {what} after it is closed", verbs[late])
            }
            Category::LostSignal => {
                format!("the {} of {what} can come before or after the wait for it", signal(verbs))
            }
            Category::LostWakeup => {
                format!("lost wake-up: `{}` on {what} may wait for ever", verbs[0])
            }
            Category::EarlyErr => {
                format!("`err` of {what} can be asked for before or after `cancel`")
            }
            Category::MultiThreaded
            | Category::SameHandler
            | Category::Calls
            | Category::Arrival
            | Category::Guarded => self.in_either_order(&what, &verbs),
        }
    }

    /// Returns the title of two actions of which either may come first.
    fn in_either_order(&self, what: &str, [a, b]: &[String; 2]) -> String {
        let under_one_lock = common_locks(self.first, self.second).next().is_some();
        let when = match self.category {
            Category::Arrival => {
                return format!("{a} and {b} to {what} can arrive in either order");
            }
            Category::Guarded if under_one_lock => ", under one lock,",
            Category::Guarded => ", never at the same time,",
            _ => "",
        };
        format!("{a} and {b} of {what}{when} can happen in either order")
    }
}

fn signal(verbs: [String; 2]) -> String {
    verbs.into_iter().find(|verb| verb != "wait").unwrap_or_default()
}
