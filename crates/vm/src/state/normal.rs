//! The canonical form of states with objects and handles.

use super::colors::Colors;
use super::message::Queue;
use super::object::Object;
use super::parts::State;
use super::rename::{Renaming, rename};
use super::thread::{Origin, Thread};
use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::value::{Value, mix};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The new numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    /// For each object (its old number - 1) the new number; 0: not met.
    objects: Vec<u32>,
    /// The old numbers in the order of the new ones.
    order: Vec<u32>,
    /// Old handles to new ones.
    handles: FxHashMap<u32, u32>,
    /// For tests: handles of what has ended are numbered, too.
    keep_handles: bool,
}

impl Renaming for Numbers {
    fn object(&self, number: u32) -> u32 {
        self.objects.get((number as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    fn handle(&self, number: u32) -> u32 {
        self.handles.get(&number).copied().unwrap_or(0)
    }
}

/// An element of what has no order: of a set, a map or a bag.
struct Part<'v> {
    head: u64,
    values: [&'v Value; 2],
}

impl Part<'_> {
    /// Whether it refers to objects or handles without numbers.
    fn is_open(&self, numbers: &Numbers) -> bool {
        self.values.iter().any(|value| is_open(value, numbers))
    }

    fn visit(&self, numbers: &mut Numbers, state: &State) {
        for value in self.values {
            numbers.root(state, value);
        }
    }
}

fn is_open(value: &Value, numbers: &Numbers) -> bool {
    value.has_refs()
        && match value {
            Value::Obj(number) => numbers.object(*number) == 0,
            Value::Handle(handle) => numbers.handle(*handle) == 0,
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                s.items().iter().any(|item| is_open(item, numbers))
            }
            Value::Set(set) => set.items().iter().any(|item| is_open(item, numbers)),
            Value::Map(map) => {
                map.entries().iter().any(|(k, v)| is_open(k, numbers) || is_open(v, numbers))
            }
            _ => false,
        }
}

impl Numbers {
    /// Gives numbers to what a value refers to, directly.
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
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                s.items().iter().for_each(|item| self.visit(state, item));
            }
            Value::Set(set) => {
                let parts = set.items().iter().map(|item| Part { head: 0, values: [item, item] });
                self.unordered(state, parts.collect());
            }
            Value::Map(map) => {
                let parts = map.entries().iter().map(|(k, v)| Part { head: 0, values: [k, v] });
                self.unordered(state, parts.collect());
            }
            _ => {}
        }
    }

    fn visit_handle(&mut self, state: &State, handle: u32) {
        let live = self.keep_handles || state.is_live(handle);
        if handle != 0 && !self.handles.contains_key(&handle) && live {
            let number = self.handles.len() as u32 + 1;
            self.handles.insert(handle, number);
        }
    }

    /// Visits parts that have no order of their own, in an order that depends on their shape only.
    fn unordered(&mut self, state: &State, mut parts: Vec<Part<'_>>) {
        parts.retain(|part| part.values.iter().any(|value| value.has_refs()));
        while parts.len() > 1 && parts.iter().any(|part| part.is_open(self)) {
            let object = |i: usize| self.objects[i];
            let handle = |h: u32| self.handles.get(&h).copied().unwrap_or(0);
            let colors = Colors::new(state, object, handle);
            let key = |part: &Part<'_>| {
                let [a, b] = part.values.map(|value| colors.of(value, &handle));
                mix::mix(part.head, mix::mix(a as u64, b).wrapping_add(mix::mix(2, a)))
            };
            let keys: Vec<u128> = parts.iter().map(key).collect();
            let least = (0..parts.len()).min_by_key(|i| keys[*i]).unwrap_or(0);
            let part = parts.remove(least);
            part.visit(self, state);
        }
        parts.iter().for_each(|part| part.visit(self, state));
    }

    /// Gives numbers to all that the objects met so far refer to, from the `from`th on.
    fn close(&mut self, state: &State, mut from: usize) {
        while from < self.order.len() {
            if let Some(object) = state.object(self.order[from]) {
                object.fields.iter().for_each(|field| self.visit(state, field));
            }
            from += 1;
        }
    }

    fn root(&mut self, state: &State, value: &Value) {
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

/// Brings a state into canonical form. Linear in what has objects or handles in it, but for ties between messages of a bag.
pub(crate) fn normalize(machine: &Machine, state: &mut State) {
    let globals = machine.program.globals.len();
    let objects = vec![0; state.heap().len()];
    let keep_handles = machine.switches.keep_handles;
    let mut numbers = Numbers { objects, keep_handles, ..Numbers::default() };
    for thread in state.threads().iter().filter(|thread| thread.origin == Origin::Dynamic) {
        numbers.visit_handle(state, thread.handle);
    }
    for i in 0..globals {
        numbers.root(state, state.global(i));
    }
    for thread in state.threads() {
        thread.regs.iter().for_each(|reg| numbers.root(state, reg));
    }
    for (i, queue) in state.queues() {
        let front =
            queue.messages.iter().take_while(|message| message.front || !is_bag(machine, i));
        let ordered = front.count();
        for message in &queue.messages[..ordered] {
            numbers.root(state, &message.args);
        }
        let bag = queue.messages[ordered..].iter().map(|message| {
            let handle = numbers.handle(message.handle);
            let head = (u64::from(message.task) << 32) | u64::from(handle);
            Part { head, values: [&message.args, &message.args] }
        });
        let bag = bag.collect();
        numbers.unordered(state, bag);
    }
    if machine.switches.keep_garbage || machine.switches.keep_heap_order {
        numbers.weaken(machine, state);
    }
    if numbers.is_identity(state.heap().len()) && !has_stale(state, &numbers, globals) {
        return;
    }
    apply(machine, state, &numbers);
}

fn is_bag(machine: &Machine, queue: usize) -> bool {
    machine.layout.mailboxes.get(queue).is_none_or(|kind| *kind == MailboxKind::Bag)
}

impl Numbers {
    /// Does what a worse canonical form would, for tests.
    fn weaken(&mut self, machine: &Machine, state: &State) {
        let all = 1..=state.heap().len() as u32;
        if machine.switches.keep_garbage {
            let missing: Vec<u32> = all.filter(|number| self.object(*number) == 0).collect();
            self.order.extend(missing);
        }
        if machine.switches.keep_heap_order {
            self.order.sort_unstable();
        }
        for (new, old) in (1..).zip(&self.order) {
            self.objects[*old as usize - 1] = new;
        }
    }
}

/// Whether there are handles of what has ended, or messages with a handle that nobody has.
fn has_stale(state: &State, numbers: &Numbers, globals: usize) -> bool {
    fn stale(value: &Value, numbers: &Numbers) -> bool {
        value.has_refs()
            && match value {
                Value::Handle(handle) => numbers.handle(*handle) == 0,
                Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                    s.items().iter().any(|item| stale(item, numbers))
                }
                Value::Set(set) => set.items().iter().any(|item| stale(item, numbers)),
                Value::Map(map) => {
                    map.entries().iter().any(|(k, v)| stale(k, numbers) || stale(v, numbers))
                }
                _ => false,
            }
    }
    let number = |handle: u32| handle != 0 && numbers.handle(handle) == 0;
    (0..globals).any(|i| stale(state.global(i), numbers))
        || state.heap().iter().any(|o| o.fields.iter().any(|f| stale(f, numbers)))
        || state
            .threads()
            .iter()
            .any(|t| number(t.handle) || t.regs.iter().any(|r| stale(r, numbers)))
        || state.queues().any(|(_, queue)| {
            queue.messages.iter().any(|m| number(m.handle) || stale(&m.args, numbers))
        })
}

/// Puts the new numbers into all parts of the state.
fn apply(machine: &Machine, state: &mut State, numbers: &Numbers) {
    for i in 0..machine.program.globals.len() {
        if state.global(i).has_refs() {
            let value = rename(state.global(i), numbers);
            state.replace_global(i, value);
        }
    }
    let heap = numbers.order.iter().filter_map(|old| state.heap().get(*old as usize - 1));
    let heap = heap.map(|object| {
        if !object.fields.iter().any(Value::has_refs) {
            return object.clone();
        }
        let fields = object.fields.iter().map(|field| rename(field, numbers)).collect();
        let mut object = Object { fields, ..Object::clone(object) };
        object.rehash();
        Arc::new(object)
    });
    let heap = heap.collect();
    let threads = state.threads().iter().map(|thread| {
        if !thread.has_refs() {
            return thread.clone();
        }
        let regs = thread.regs.iter().map(|reg| rename(reg, numbers)).collect();
        let handle = numbers.handle(thread.handle);
        let mut thread = Thread { regs, handle, ..Thread::clone(thread) };
        thread.rehash();
        Arc::new(thread)
    });
    let threads: Vec<Arc<Thread>> = threads.collect();
    let locks = state.locks().iter().map(|owner| match machine.layout.dynamic_of(*owner) {
        Some(handle) if *owner != 0 => machine.layout.owner_dynamic(numbers.handle(handle)),
        _ => *owner,
    });
    let locks = locks.collect();
    let mut queues: Vec<Option<Arc<Queue>>> = Vec::new();
    for (i, queue) in state.queues() {
        queues.resize(i + 1, None);
        queues[i] = Some(Arc::new(rename_queue(machine, i, queue, numbers)));
    }
    state.replace_heap(heap);
    state.replace_threads(threads);
    state.replace_locks(locks);
    state.replace_queues(queues);
    state.resum();
}

fn rename_queue(machine: &Machine, index: usize, queue: &Queue, numbers: &Numbers) -> Queue {
    let mut queue = queue.clone();
    for message in &mut queue.messages {
        message.handle = numbers.handle(message.handle);
        message.args = rename(&message.args, numbers);
    }
    if is_bag(machine, index) && !machine.switches.keep_bag_order {
        // The stable sort keeps the front messages in their order.
        queue.messages.sort_by(|a, b| match (a.front, b.front) {
            (false, false) => a.bag_key().cmp(&b.bag_key()),
            (a, b) => b.cmp(&a),
        });
    }
    queue.rehash();
    queue
}
