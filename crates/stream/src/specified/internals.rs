//! The inside of invocations. The events between an `invoke` and its `return` implement a method,
//! and the method's specification replaces them.

use super::resolve::{Resolved, Resolver};
use super::types::Types;
use anyorder_trace::{EventKind, NameId, Tables, Trace};
use std::collections::{HashMap, HashSet};

/// Whether memory accesses, lock operations and further invocations inside an invocation of a
/// specified object are hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Internals {
    /// Hidden for objects whose returns are in the trace. In memory, this applies to all events of
    /// the trace; in a stream, from the first return of the object on.
    #[default]
    Auto,
    /// Hidden. An invocation without a return lasts to the end of its task.
    Hide,
    /// Not hidden.
    Show,
}

/// The most open invocations of one task; the oldest are dropped.
const OPEN_MAX: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Open {
    object: u32,
    method: NameId,
    /// The number of such invocations directly nested in one another.
    count: u32,
}

/// The tasks that are inside an invocation. Memory: an entry for each task with an open invocation.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    internals: Internals,
    open: HashMap<u32, Vec<Open>>,
    /// The objects whose returns are in the trace.
    returning: HashSet<u32>,
    /// For each task, whether it is inside an invocation.
    hidden: Vec<bool>,
    /// The locks that each task acquired inside and has not released. The release of a hidden
    /// acquire is hidden, too.
    taken: HashMap<u32, Vec<u32>>,
}

impl Inside {
    pub(super) fn new(internals: Internals) -> Inside {
        let (open, returning) = (HashMap::new(), HashSet::new());
        Inside { internals, open, returning, hidden: Vec::new(), taken: HashMap::new() }
    }

    /// Finds the objects that have returns in a whole trace.
    pub(super) fn learn(&mut self, resolver: &mut Resolver, trace: &Trace) {
        if self.internals != Internals::Auto {
            return;
        }
        let columns = trace.columns();
        for (op, operand) in columns.ops.iter().zip(&columns.operands) {
            if op.kind() == EventKind::Return
                && let Some(known) = resolver.object_of(trace.tables(), *operand)
            {
                self.returning.insert(known.object);
            }
        }
    }

    #[inline]
    pub(super) fn is_hidden(&self, task: u32) -> bool {
        self.hidden.get(task as usize).copied().unwrap_or(false)
    }

    /// Returns whether an event of the [inside](is_of_the_inside) is hidden. Call it once for each
    /// event, in order. A release inside is not hidden if the lock was acquired outside: otherwise
    /// the lock would look held for ever.
    #[inline]
    pub(super) fn hides(&mut self, task: u32, kind: EventKind, operand: u32) -> bool {
        self.is_hidden(task) && self.hides_inside(task, kind, operand)
    }

    fn hides_inside(&mut self, task: u32, kind: EventKind, operand: u32) -> bool {
        match kind {
            EventKind::Acquire => self.taken.entry(task).or_default().push(operand),
            EventKind::Release => {
                let taken = self.taken.entry(task).or_default();
                let Some(at) = taken.iter().rposition(|lock| *lock == operand) else {
                    return false;
                };
                taken.remove(at);
            }
            _ => {}
        }
        true
    }

    /// Records that a task invokes a method of a specified object. Returns whether it is inside
    /// another invocation.
    pub(super) fn invoke(
        &mut self,
        tables: &Tables,
        task: u32,
        (known, method): (Resolved, NameId),
    ) -> bool {
        let was_inside = self.is_hidden(task);
        if self.internals == Internals::Show {
            return was_inside;
        }
        let open = self.open.entry(task).or_default();
        match open.last_mut() {
            Some(last) if (last.object, last.method) == (known.object, method) => {
                // Without returns, invocations only seem to be nested.
                last.count = last.count.saturating_add(1);
            }
            _ => {
                if open.len() >= OPEN_MAX {
                    open.remove(0);
                }
                open.push(Open { object: known.object, method, count: 1 });
            }
        }
        self.update(tables, task);
        was_inside
    }

    /// Records that a task returns from a method of a specified object.
    pub(super) fn returns(
        &mut self,
        tables: &Tables,
        task: u32,
        (known, method): (Resolved, NameId),
    ) {
        if self.internals == Internals::Show {
            return;
        }
        let is_new = self.returning.insert(known.object) && self.internals == Internals::Auto;
        if let Some(open) = self.open.get_mut(&task) {
            let found = open.iter().rposition(|o| (o.object, o.method) == (known.object, method));
            if let Some(at) = found {
                open.truncate(at + 1);
                // This is the first return of the object. Before it, returns were not recorded, or
                // none had been reached.
                open[at].count = if is_new { 0 } else { open[at].count - 1 };
                if open[at].count == 0 {
                    open.pop();
                }
            }
            if open.is_empty() {
                self.open.remove(&task);
            }
        }
        self.update(tables, task);
        if is_new {
            let tasks: Vec<u32> = self.open.keys().copied().collect();
            for other in tasks {
                self.update(tables, other);
            }
        }
    }

    /// Handles the end of a task.
    pub(super) fn end(&mut self, task: u32) {
        self.taken.remove(&task);
        if self.open.remove(&task).is_some() {
            self.hidden.iter_mut().skip(task as usize).take(1).for_each(|hidden| *hidden = false);
        }
    }

    fn update(&mut self, tables: &Tables, task: u32) {
        let inside = self.open.get(&task).is_some_and(|open| {
            open.iter().any(|o| match self.internals {
                Internals::Auto => self.returning.contains(&o.object),
                Internals::Hide => true,
                Internals::Show => false,
            })
        });
        if self.hidden.len() < tables.tasks.len() {
            self.hidden.resize(tables.tasks.len(), false);
        }
        if let Some(hidden) = self.hidden.get_mut(task as usize) {
            *hidden = inside;
        }
        if !inside {
            self.taken.remove(&task);
        }
    }
}

/// Returns whether events of this kind are hidden inside an invocation. Other events still order
/// the trace; waits and signals are not actions there.
const fn is_of_the_inside(kind: EventKind) -> bool {
    use EventKind::{Acquire, Destroy, Invoke, Release, Return};
    kind.is_access() || matches!(kind, Acquire | Release | Destroy | Invoke | Return)
}

/// Returns for each event of a trace whether it is hidden. Hidden events are memory accesses, lock
/// operations, and each `invoke` or `return` inside an invocation of a specified object. Linear
/// time.
#[must_use]
pub fn hidden_events(trace: &Trace, types: &Types, internals: Internals) -> Vec<bool> {
    let (tables, columns) = (trace.tables(), trace.columns());
    let mut resolver = Resolver::new(types.clone());
    resolver.complete(tables);
    let mut inside = Inside::new(internals);
    inside.learn(&mut resolver, trace);
    let mut hidden = Vec::with_capacity(columns.len());
    for row in 0..columns.len() {
        let (task, operand) = (columns.tasks[row].0, columns.operands[row]);
        let kind = columns.ops[row].kind();
        let known = match kind {
            EventKind::Invoke | EventKind::Return => resolver.specified_call(tables, operand),
            _ => None,
        };
        hidden.push(match (kind, known) {
            (EventKind::Invoke, Some(known)) => inside.invoke(tables, task, known),
            (EventKind::Return, Some(known)) => {
                inside.returns(tables, task, known);
                inside.is_hidden(task)
            }
            (EventKind::End | EventKind::Exit, _) => {
                inside.end(task);
                false
            }
            _ => is_of_the_inside(kind) && inside.hides(task, kind, operand),
        });
    }
    hidden
}

/// Returns a trace in which events without meaning (`other`, without a name) replace all
/// [`hidden_events`], under the same numbers; `None` if there are none. The search for witnesses
/// and their checker then need not handle internals.
/// [`Specified::for_trace`](crate::Specified::for_trace) of the *whole* trace still does: waits and
/// signals stay where they are, as orders, and are actions only outside.
#[must_use]
pub fn without_internals(trace: &Trace, types: &Types, internals: Internals) -> Option<Trace> {
    let hidden = hidden_events(trace, types, internals);
    if !hidden.contains(&true) {
        return None;
    }
    let mut columns = trace.columns().clone();
    for (row, _) in hidden.iter().enumerate().filter(|(_, hidden)| **hidden) {
        columns.ops[row] = EventKind::Other.into();
        columns.operands[row] = 0;
    }
    Some(Trace::new(trace.tables().clone(), columns))
}
