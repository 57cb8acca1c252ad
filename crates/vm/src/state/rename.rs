//! Renumbers objects, handles and indices in values and in the parts of a state.

use super::message::Message;
use super::object::Object;
use super::parts::State;
use super::thread::Thread;
use crate::machine::Machine;
use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

/// New numbers for objects and handles; 0 for dropped objects and ended handles.
pub(crate) trait Renaming {
    /// Whether anything in a value may get another number.
    fn concerns(&self, value: &Value) -> bool {
        value.has_refs()
    }
    /// The new number of an object.
    fn object(&self, number: u32) -> u32;
    /// The new number of a handle.
    fn handle(&self, number: u32) -> u32;
    /// The new handle of a message or thread with a handle.
    fn own_handle(&self, number: u32) -> u32 {
        self.handle(number)
    }
    /// The value of an index type that replaces another.
    fn index(&self, _of: u16, member: u16) -> u16 {
        member
    }
    /// For each place of a list that an index type numbers, the place that its element comes from.
    fn places(&self, _of: u16) -> Option<&[usize]> {
        None
    }
}

/// Returns the value with the new numbers. Shares the parts without numbers.
pub(crate) fn rename(value: &Value, by: &impl Renaming) -> Value {
    if !by.concerns(value) {
        return value.clone();
    }
    let seq = |seq: &Seq| {
        let items = seq.items().iter().map(|item| rename(item, by)).collect();
        Arc::new(Seq::new(seq.ty, seq.variant, items))
    };
    match value {
        Value::Obj(number) => Value::Obj(by.object(*number)),
        Value::Handle(number) => Value::Handle(by.handle(*number)),
        Value::Index { of, member } => Value::Index { of: *of, member: by.index(*of, *member) },
        Value::List(list) => {
            let places = list.ty.checked_sub(1).and_then(|of| by.places(of));
            match places.filter(|places| places.len() == list.items().len()) {
                Some(places) => {
                    let items = places.iter().map(|from| rename(&list.items()[*from], by));
                    Value::List(Arc::new(Seq::new(list.ty, 0, items.collect())))
                }
                None => Value::List(seq(list)),
            }
        }
        Value::Record(items) => Value::Record(seq(items)),
        Value::VariantOf(items) => Value::VariantOf(seq(items)),
        Value::Func(items) => Value::Func(seq(items)),
        Value::Set(set) => {
            let items = set.items().iter().map(|item| rename(item, by)).collect();
            Value::Set(Arc::new(Set::new(items)))
        }
        Value::Map(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|(k, v)| (rename(k, by), rename(v, by))).collect();
            Value::Map(Arc::new(Map::new(entries)))
        }
        other => other.clone(),
    }
}

/// Renames what the globals refer to. The sum is wrong until it is computed anew.
pub(crate) fn rename_globals(machine: &Machine, state: &mut State, by: &impl Renaming) {
    for i in 0..machine.program.globals.len() {
        if by.concerns(state.global(i)) {
            let value = rename(state.global(i), by);
            state.replace_global(i, value);
        }
    }
}

/// Returns the object with other references.
pub(crate) fn rename_object(object: &Arc<Object>, by: &impl Renaming) -> Arc<Object> {
    if !object.fields.iter().any(|field| by.concerns(field)) {
        return object.clone();
    }
    let fields = object.fields.iter().map(|field| rename(field, by)).collect();
    let mut object = Object { fields, ..Object::clone(object) };
    object.rehash();
    Arc::new(object)
}

/// Returns the thread with another handle and other references.
pub(crate) fn rename_thread(thread: &Arc<Thread>, by: &impl Renaming) -> Arc<Thread> {
    if thread.handle == 0 && !thread.regs.iter().any(|reg| by.concerns(reg)) {
        return thread.clone();
    }
    let regs = thread.regs.iter().map(|reg| rename(reg, by)).collect();
    let handle = by.own_handle(thread.handle);
    let mut thread = Thread { regs, handle, ..Thread::clone(thread) };
    thread.rehash();
    Arc::new(thread)
}

/// Returns the message with another handle and other references.
pub(crate) fn rename_message(message: &Message, by: &impl Renaming) -> Message {
    let mut message = message.clone();
    if message.handle != 0 || by.concerns(&message.args) {
        message.change(|body| {
            body.handle = by.own_handle(body.handle);
            body.args = rename(&body.args, by);
        });
    }
    message
}

/// Returns the owners of the locks, dynamic threads by their new handles.
pub(crate) fn rename_owners(machine: &Machine, state: &State, by: &impl Renaming) -> Vec<u32> {
    let renamed = |owner: &u32| match machine.layout.dynamic_of(*owner) {
        Some(handle) => machine.layout.owner_dynamic(by.own_handle(handle)),
        None => *owner,
    };
    state.locks().iter().map(renamed).collect()
}
