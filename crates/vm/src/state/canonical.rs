//! The canonical form of states with objects and handles.

use super::message::Message;
use super::parts::State;
use super::reachable::Reachable;
use super::rename::{
    Renaming, rename_globals, rename_message, rename_object, rename_owners, rename_thread,
};
use super::thread::{Origin, Thread};
use super::unordered::{self, UnorderedElement};
use crate::machine::Machine;
use crate::sabotage::Sabotage;
use crate::value::{GHOST, Value, mix};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A new numbering of objects and handles.
#[derive(Default)]
pub(crate) struct Numbering {
    /// The new number of each object, by its old number - 1; 0 for an object not met yet.
    objects: Vec<u32>,
    /// The old numbers in the order of the new ones.
    order: Vec<u32>,
    /// Old handles to new ones.
    handles: FxHashMap<u32, u32>,
    /// The replacements of handles of what has ended, for a run with a log.
    ghosts: FxHashMap<u32, u32>,
    /// The reachable objects and handles, once computed.
    reachable: Option<Rc<Reachable>>,
}

impl Renaming for Numbering {
    fn object(&self, number: u32) -> u32 {
        self.objects.get((number as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    fn handle(&self, number: u32) -> u32 {
        match self.handles.get(&number) {
            Some(new) => *new,
            None if number >= GHOST => number,
            None => self.ghosts.get(&number).copied().unwrap_or(0),
        }
    }

    fn own_handle(&self, number: u32) -> u32 {
        self.number(number)
    }
}

impl Numbering {
    /// Returns the new number of a handle; 0 if nothing refers to it, or if its task or thread has
    /// ended.
    pub(super) fn number(&self, handle: u32) -> u32 {
        self.handles.get(&handle).copied().unwrap_or(0)
    }

    /// Returns whether an object has a number. A missing object counts as numbered.
    pub(super) fn has_object(&self, number: u32) -> bool {
        self.objects.get((number as usize).wrapping_sub(1)).is_none_or(|new| *new != 0)
    }

    /// Returns the reachable objects and handles.
    pub(super) fn reachable(&mut self, state: &State) -> Rc<Reachable> {
        self.reachable.get_or_insert_with(|| Rc::new(Reachable::of(state))).clone()
    }

    /// Returns whether a handle is live and has no number yet.
    pub(super) fn is_new(&self, state: &State, handle: u32) -> bool {
        handle != 0
            && handle < GHOST
            && !self.handles.contains_key(&handle)
            && state.is_live(handle)
    }
}

impl Numbering {
    /// Numbers what a value refers to directly.
    fn visit(&mut self, state: &State, value: &Value) {
        if !value.has_refs() {
            return;
        }
        match value {
            Value::Obj(number) => {
                let slot = self.objects.get_mut((*number as usize).wrapping_sub(1));
                if let Some(slot) = slot
                    && *slot == 0
                {
                    self.order.push(*number);
                    *slot = self.order.len() as u32;
                }
            }
            Value::Handle(handle) => self.visit_handle(state, *handle),
            Value::Set(set) => {
                let parts =
                    set.items().iter().map(|item| UnorderedElement::of([item, &Value::Null]));
                unordered::visit(self, state, parts.collect());
            }
            Value::Map(map) => {
                let parts = map.entries().iter().map(|(k, v)| UnorderedElement::of([k, v]));
                unordered::visit(self, state, parts.collect());
            }
            _ => value.children().for_each(|child| self.visit(state, child)),
        }
    }

    pub(super) fn visit_handle(&mut self, state: &State, handle: u32) {
        if self.is_new(state, handle) {
            let number = self.handles.len() as u32 + 1;
            self.handles.insert(handle, number);
        }
    }

    /// Numbers everything that the objects met so far refer to, from the `from`th object on.
    fn close(&mut self, state: &State, mut from: usize) {
        while from < self.order.len() {
            if let Some(object) = state.object(self.order[from]) {
                object.fields.iter().for_each(|field| self.visit(state, field));
            }
            from += 1;
        }
    }

    pub(super) fn root(&mut self, state: &State, value: &Value) {
        let from = self.order.len();
        self.visit(state, value);
        self.close(state, from);
    }

    fn is_identity(&self, objects: usize) -> bool {
        self.order.len() == objects
            && (1..).zip(&self.order).all(|(new, old)| new == *old)
            && self.handles.iter().all(|(old, new)| old == new)
    }
}

/// Brings a state into canonical form like [`canonicalize`], but replaces handles of what has ended
/// by their `ghosts`.
pub(crate) fn canonicalize_with_ghosts(
    machine: &Machine,
    state: &mut State,
    ghosts: FxHashMap<u32, u32>,
) {
    canonicalize_as(machine, state, Numbering { ghosts, ..Numbering::default() });
}

/// Brings a state into canonical form. Linear in the values with objects or handles, except for
/// ties between messages of a bag.
pub(crate) fn canonicalize(machine: &Machine, state: &mut State) {
    canonicalize_as(machine, state, Numbering::default());
}

fn canonicalize_as(machine: &Machine, state: &mut State, numbers: Numbering) {
    let objects = vec![0; state.heap().len()];
    let mut numbers = Numbering { objects, ..numbers };
    if machine.sabotage == Sabotage::KeepThreadOrder {
        for thread in state.threads().iter().filter(|thread| thread.origin == Origin::Dynamic) {
            numbers.visit_handle(state, thread.handle);
        }
    }
    for i in 0..machine.program.globals.len() {
        numbers.root(state, state.global(i));
    }
    for thread in state.threads().iter().filter(|thread| thread.origin != Origin::Dynamic) {
        thread.regs.iter().for_each(|reg| numbers.root(state, reg));
    }
    for owner in state.locks() {
        if let Some(handle) = machine.layout.dynamic_of(*owner) {
            numbers.visit_handle(state, handle);
        }
    }
    let mut unordered: Vec<UnorderedElement<'_>> = Vec::new();
    for (i, queue) in state.queues() {
        let is_bag = machine.layout.is_bag(i);
        let front = queue.iter().take_while(|message| message.front || !is_bag);
        let ordered = front.count();
        for message in &queue[..ordered] {
            numbers.root(state, &message.args);
        }
        let bag = queue[ordered..].iter().map(|message| UnorderedElement {
            head: mix::number(i as u64, u64::from(message.task)),
            handle: message.handle,
            ..UnorderedElement::of([&message.args, &Value::Null])
        });
        unordered.extend(bag);
    }
    if machine.sabotage == Sabotage::KeepPostOrder {
        unordered.drain(..).for_each(|part| part.visit(&mut numbers, state));
    }
    for thread in state.threads().iter().filter(|thread| thread.origin == Origin::Dynamic) {
        let values: [&[Value]; 2] = [&thread.regs, &[]];
        unordered.push(UnorderedElement {
            head: thread.position_hash(),
            handle: thread.handle,
            is_thread: true,
            values,
        });
    }
    unordered::visit(&mut numbers, state, unordered);
    if machine.sabotage == Sabotage::KeepGarbage || machine.sabotage == Sabotage::KeepHeapOrder {
        numbers.weaken(machine, state);
    }
    let is_sorted = is_sorted(state.threads());
    if is_sorted && numbers.is_identity(state.heap().len()) && !has_stale(state, &numbers) {
        return;
    }
    apply(machine, state, &numbers);
}

/// Returns whether dynamic threads are in the order of their handles.
fn is_sorted(threads: &[Arc<Thread>]) -> bool {
    threads.windows(2).all(|pair| {
        (pair[0].origin, pair[0].handle) <= (pair[1].origin, pair[1].handle)
            || pair[1].origin != Origin::Dynamic
    })
}

impl Numbering {
    /// Weakens the canonical form, for tests.
    fn weaken(&mut self, machine: &Machine, state: &State) {
        let all = 1..=state.heap().len() as u32;
        if machine.sabotage == Sabotage::KeepGarbage {
            let missing: Vec<u32> = all.filter(|number| self.object(*number) == 0).collect();
            self.order.extend(missing);
        }
        if machine.sabotage == Sabotage::KeepHeapOrder {
            self.order.sort_unstable();
        }
        for (new, old) in (1..).zip(&self.order) {
            self.objects[*old as usize - 1] = new;
        }
    }
}

/// Returns whether the state holds handles of what has ended, or messages with a handle that
/// nothing refers to.
fn has_stale(state: &State, numbers: &Numbering) -> bool {
    fn stale(value: &Value, numbers: &Numbering) -> bool {
        value.has_refs()
            && match value {
                Value::Handle(handle) => numbers.handle(*handle) != *handle,
                _ => value.children().any(|child| stale(child, numbers)),
            }
    }
    let fields = state.heap().iter().flat_map(|object| &object.fields);
    state.roots().chain(fields).any(|value| stale(value, numbers))
        || state.handles().any(|(handle, _)| handle != 0 && !numbers.handles.contains_key(&handle))
}

/// Applies the new numbers to all parts of the state.
fn apply(machine: &Machine, state: &mut State, numbers: &Numbering) {
    rename_globals(machine, state, numbers);
    let heap = numbers.order.iter().filter_map(|old| state.heap().get(*old as usize - 1));
    let heap = heap.map(|object| rename_object(object, numbers)).collect();
    let threads = state.threads().iter().map(|thread| rename_thread(thread, numbers));
    let mut threads: Vec<Arc<Thread>> = threads.collect();
    if !is_sorted(&threads) {
        threads.sort_by_key(|thread| match thread.origin {
            Origin::Dynamic => (thread.origin, thread.handle),
            origin => (origin, 0),
        });
    }
    let locks = rename_owners(machine, state, numbers);
    let messages = state.messages().iter().map(|message| rename_message(message, numbers));
    let mut messages: Vec<Message> = messages.collect();
    sort_bags(machine, &mut messages);
    state.replace_heap(heap);
    state.replace_threads(threads);
    state.replace_locks(locks);
    state.replace_messages(messages);
    state.recompute_sum();
}

/// Sorts the messages of each bag. The messages of a mailbox must stand together.
pub(super) fn sort_bags(machine: &Machine, messages: &mut [Message]) {
    if machine.sabotage == Sabotage::KeepBagOrder {
        return;
    }
    for queue in messages.chunk_by_mut(|a, b| a.queue == b.queue) {
        if machine.layout.is_bag(queue[0].queue as usize) {
            // The stable sort keeps the order of front messages.
            queue.sort_by(|a, b| match (a.front, b.front) {
                (false, false) => a.bag_key().cmp(&b.bag_key()),
                (a, b) => b.cmp(&a),
            });
        }
    }
}
