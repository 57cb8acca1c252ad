//! Unordered collections: elements of sets and maps, messages of bags, forked threads.

use super::canonical::Numbering;
use super::colors::Colors;
use super::parts::State;
use super::reachable::Reachable;
use crate::value::{Value, mix};

/// An element of an unordered collection.
pub(super) struct UnorderedElement<'v> {
    /// A hash of everything but its values.
    pub(super) head: u128,
    /// Its own handle, 0 for none.
    pub(super) handle: u32,
    /// Whether it is a thread. Threads have numbers even if nothing refers to them.
    pub(super) is_thread: bool,
    pub(super) values: [&'v [Value]; 2],
}

impl<'v> UnorderedElement<'v> {
    /// Makes the element of one value, or of a key and a value.
    pub(super) fn of(values: [&'v Value; 2]) -> UnorderedElement<'v> {
        let values = values.map(std::slice::from_ref);
        UnorderedElement { head: 0, handle: 0, is_thread: false, values }
    }

    fn values(&self) -> impl Iterator<Item = &'v Value> {
        let [a, b] = self.values;
        a.iter().chain(b)
    }

    fn has_refs(&self) -> bool {
        self.values().any(Value::has_refs)
    }

    /// Returns whether something in it has no number yet.
    fn is_open(&self, numbers: &Numbering, state: &State) -> bool {
        (self.is_thread && numbers.is_new(state, self.handle))
            || self.values().any(|value| is_open(value, numbers, state))
    }

    /// Returns whether any other element with the same key is the same in every way.
    fn is_plain(&self, reachable: &Reachable) -> bool {
        !self.has_refs() && !reachable.handles.contains(&self.handle)
    }

    fn key(&self, colors: &Colors<'_>) -> u128 {
        let sum = (0..).zip(self.values()).fold(self.head, |sum, (i, value)| {
            if matches!(value, Value::Null) {
                return sum;
            }
            sum.wrapping_add(mix::mix(i, colors.of(value)))
        });
        mix::mix(0x9a27, sum.wrapping_add(colors.of_handle(self.handle)))
    }

    pub(super) fn visit(&self, numbers: &mut Numbering, state: &State) {
        if self.is_thread {
            numbers.visit_handle(state, self.handle);
        }
        for value in self.values() {
            numbers.root(state, value);
        }
    }
}

fn is_open(value: &Value, numbers: &Numbering, state: &State) -> bool {
    value.has_refs()
        && match value {
            Value::Obj(number) => !numbers.has_object(*number),
            Value::Handle(handle) => numbers.is_new(state, *handle),
            _ => value.children().any(|child| is_open(child, numbers, state)),
        }
}

/// Numbers what the elements refer to, in an order that depends on their shape only.
pub(super) fn visit(numbers: &mut Numbering, state: &State, mut parts: Vec<UnorderedElement<'_>>) {
    parts.retain(|part| part.is_thread || part.has_refs());
    while parts.len() > 1 && parts.iter().any(|part| part.is_open(numbers, state)) {
        let reachable = numbers.reachable(state);
        let visited = {
            let colors = Colors::new(state, numbers, &reachable);
            let mut keyed: Vec<(u128, usize)> =
                (0..parts.len()).map(|i| (parts[i].key(&colors), i)).collect();
            keyed.sort_unstable();
            // Stop at the first tie: the numbers that its first element gives may distinguish the
            // others.
            let tie = |i: usize| keyed.get(i + 1).is_some_and(|next| next.0 == keyed[i].0);
            let end =
                (0..keyed.len()).find(|i| tie(*i) && !parts[keyed[*i].1].is_plain(&reachable));
            let end = end.map_or(keyed.len(), |end| end + 1);
            keyed.truncate(end);
            keyed.into_iter().map(|(_, i)| i).collect::<Vec<usize>>()
        };
        for i in &visited {
            parts[*i].visit(numbers, state);
        }
        let mut at = 0;
        parts.retain(|_| {
            at += 1;
            !visited.contains(&(at - 1))
        });
    }
    parts.iter().for_each(|part| part.visit(numbers, state));
}
