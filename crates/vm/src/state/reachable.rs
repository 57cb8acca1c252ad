//! Reachability: the objects and handles that something refers to. The rest is garbage and must not
//! affect the canonical form.

use super::parts::State;
use crate::value::Value;
use rustc_hash::FxHashSet;

/// The reachable objects and handles.
#[derive(Default)]
pub(super) struct Reachable {
    /// For each object, by its number - 1: whether it is reachable.
    pub(super) objects: Vec<bool>,
    /// The handles in reachable values.
    pub(super) handles: FxHashSet<u32>,
}

impl Reachable {
    /// Finds what is reachable. Linear in that.
    pub(super) fn of(state: &State) -> Reachable {
        let mut reachable =
            Reachable { objects: vec![false; state.heap().len()], ..Reachable::default() };
        let mut todo = Vec::new();
        state.roots().for_each(|value| reachable.value(value, &mut todo));
        while let Some(object) = todo.pop() {
            if let Some(object) = state.object(object) {
                object.fields.iter().for_each(|field| reachable.value(field, &mut todo));
            }
        }
        reachable.handles.remove(&0);
        reachable
    }

    fn value(&mut self, value: &Value, todo: &mut Vec<u32>) {
        if !value.has_refs() {
            return;
        }
        match value {
            Value::Obj(number) => {
                let slot = self.objects.get_mut((*number as usize).wrapping_sub(1));
                if let Some(slot) = slot
                    && !std::mem::replace(slot, true)
                {
                    todo.push(*number);
                }
            }
            Value::Handle(handle) => {
                self.handles.insert(*handle);
            }
            _ => value.children().for_each(|child| self.value(child, todo)),
        }
    }
}
