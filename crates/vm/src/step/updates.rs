//! Updates: the attributes that a step changes, in order, and the components that change them.
//!
//! The attributes are the globals, and the elements of the lists and maps in globals. The attribute
//! of a global is its value; the attribute of a global list or map is only which elements exist. A
//! write updates the attributes that it changes: a write of the current value updates nothing. Old
//! and new values are compared at the write, within one step, so the numbers of objects and handles
//! mean the same in both.

use super::interpreter::Interpreter;
use crate::machine::NO_COMPONENT;
use crate::program::SiteId;
use crate::state::{Effect, State};
use crate::value::Value;

/// An update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AttributeUpdate {
    pub(crate) global: u16,
    /// The element of the list or map; `None` for the global itself.
    pub(crate) element: Option<Value>,
    /// The new value; `None` if the element is gone.
    pub(crate) value: Option<Value>,
    /// The component, or [`NO_COMPONENT`].
    pub(crate) by: u16,
    pub(crate) site: SiteId,
}

impl Interpreter<'_> {
    /// Returns the component of the running instruction: that of the innermost function that has
    /// one.
    pub(crate) fn component(&self) -> u16 {
        let components = &self.machine.components;
        let of = |func: u16| components.get(usize::from(func)).copied().unwrap_or(NO_COMPONENT);
        let outer = self.frames.iter().rev().map(|frame| frame.func);
        let mut all = std::iter::once(self.func).chain(outer).map(of);
        all.find(|component| *component != NO_COMPONENT).unwrap_or(NO_COMPONENT)
    }

    /// Returns the task of a message that the running instruction posts: it is created for the
    /// component of the instruction.
    pub(crate) fn task_for(&self, task: u16) -> u16 {
        match self.creator() {
            NO_COMPONENT => task,
            component => self.machine.copies.task_for(task, component),
        }
    }

    /// Returns the function of a thread that the running instruction forks, likewise.
    pub(crate) fn function_for(&self, function: u16) -> u16 {
        match self.creator() {
            NO_COMPONENT => function,
            component => self.machine.copies.function_for(function, component),
        }
    }

    /// Returns the component for which the running instruction creates messages and threads.
    fn creator(&self) -> u16 {
        if self.machine.components.is_empty() { NO_COMPONENT } else { self.component() }
    }

    /// Notes the updates of a write to a global.
    #[cold]
    pub(crate) fn note_update(&mut self, global: u16, value: &Value) {
        if !self.machine.reports_updates() {
            return;
        }
        let (by, site) = (self.component(), self.site());
        let mut new = std::mem::take(&mut self.updates);
        changed(self.state().global(usize::from(global)), value, |element| {
            let value = match &element {
                Some(index) => value.element(index).cloned(),
                None => Some(value.clone()),
            };
            new.push(AttributeUpdate { global, element, value, by, site });
        });
        self.updates = new;
    }

    /// Notes the updates of a write to an element of a global.
    #[cold]
    pub(crate) fn note_update_at(
        &mut self,
        global: u16,
        index: crate::program::Reg,
        value: &Value,
    ) {
        if !self.machine.reports_updates() {
            return;
        }
        let (by, site) = (self.component(), self.site());
        let container = self.state().global(usize::from(global)).clone();
        let index = self.get(index).key_in(&container);
        let mut new = std::mem::take(&mut self.updates);
        set_at(&container, (&index, value), |element| {
            let value = Some(value.clone()).filter(|_| element.is_some());
            new.push(AttributeUpdate { global, element, value, by, site });
        });
        self.updates = new;
    }
}

fn is_equal(old: &Value, new: &Value) -> bool {
    old.is_identical(new) || old == new
}

/// Reports the changes of a write to an element. A write to a missing element of a list is a
/// failure and changes nothing.
fn set_at(
    container: &Value,
    (index, value): (&Value, &Value),
    mut report: impl FnMut(Option<Value>),
) {
    match (container.element(index), container) {
        (Some(old), _) if is_equal(old, value) => {}
        (Some(_), _) => report(Some(index.clone())),
        (None, Value::Map(_)) => {
            report(None);
            report(Some(index.clone()));
        }
        (None, _) => {}
    }
}

/// Reports which attributes differ between an old and a new value of a global: `None` for the
/// global itself, else an element.
fn changed(old: &Value, new: &Value, mut report: impl FnMut(Option<Value>)) {
    if is_equal(old, new) {
        return;
    }
    let containers =
        matches!((old, new), (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)));
    if !containers || !old.elements().map(|(key, _)| key).eq(new.elements().map(|(key, _)| key)) {
        report(None);
    }
    // Both are sorted by key.
    let (mut left, mut right) = (old.elements().peekable(), new.elements().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((a, _)), Some((b, _))) => a.cmp(b),
        };
        let a = if order.is_le() { left.next() } else { None };
        let b = if order.is_ge() { right.next() } else { None };
        match (a, b) {
            (Some((_, old)), Some((_, new))) if is_equal(old, new) => {}
            (Some((key, _)), _) | (None, Some((key, _))) => report(Some(key)),
            (None, None) => {}
        }
    }
}

/// Reports the updates of remembered effects in a state: global, element, component. The effects
/// apply one after the other.
pub(crate) fn effects_update(
    before: &State,
    effects: &[Effect],
    mut report: impl FnMut(u16, Option<Value>, u16),
) {
    for (at, effect) in effects.iter().enumerate() {
        match effect {
            Effect::Set { global, value, by } => {
                let old = current(before, &effects[..at], *global);
                changed(&old, value, |element| report(*global, element, *by));
            }
            Effect::SetAt { global, index, value, by } => {
                let container = current(before, &effects[..at], *global);
                set_at(&container, (index, value), |element| report(*global, element, *by));
            }
            Effect::Flag { .. } | Effect::Post { .. } => {}
        }
    }
}

/// Returns the value of a global after some effects.
fn current(before: &State, effects: &[Effect], global: u16) -> Value {
    let mut value = before.global(usize::from(global)).clone();
    for effect in effects {
        match effect {
            Effect::Set { global: other, value: new, .. } if *other == global => {
                value = new.clone();
            }
            Effect::SetAt { global: other, index, value: new, .. } if *other == global => {
                value.set_element(index, new.clone());
            }
            _ => {}
        }
    }
    value
}
