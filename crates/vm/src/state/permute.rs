//! States with the instances of a symmetry exchanged.

use super::canonical::{canonicalize, sort_bag};
use super::group::{Group, shape_of_global};
use super::message::Message;
use super::object::Object;
use super::parts::State;
use super::thread::{Origin, Status, Thread, ThreadBody};
use crate::machine::Machine;
use crate::program::Shape;
use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

/// Puts instance `order[p]` in the place of instance p, for all p; the result is in canonical form. Linear in the state, but for
/// the canonical form.
pub(super) fn permute(group: Group<'_>, state: &State, order: &[usize]) -> State {
    let mut to = vec![0; order.len()];
    for (place, instance) in order.iter().enumerate() {
        to[*instance] = place;
    }
    let permutation = Permutation { group, order, to: &to };
    let machine = group.machine;
    let mut result = state.clone();
    for global in 0..machine.program.globals.len() {
        let shape = shape_of_global(machine, global);
        if *shape != Shape::Plain {
            let value = permutation.value(state.global(global), &shape);
            result.replace_global(global, value);
        }
    }
    permutation.queues(state, &mut result);
    permutation.flags(state, &mut result);
    permutation.locks(state, &mut result);
    permutation.heap(state, &mut result);
    permutation.threads(state, &mut result);
    result.recompute_sum();
    if machine.needs_numbering {
        canonicalize(machine, &mut result);
    }
    result
}

struct Permutation<'a> {
    group: Group<'a>,
    order: &'a [usize],
    to: &'a [usize],
}

impl Permutation<'_> {
    fn machine(&self) -> &Machine {
        self.group.machine
    }

    fn index(&self, value: i64) -> i64 {
        let to = usize::try_from(value).ok().and_then(|i| self.to.get(i));
        to.map_or(value, |to| *to as i64)
    }

    fn value(&self, value: &Value, shape: &Shape) -> Value {
        let is = |number: &u16| usize::from(*number) == self.group.number;
        match (shape, value) {
            (Shape::Index(number), Value::Int(i)) if is(number) => Value::Int(self.index(*i)),
            (Shape::List(by, of), Value::List(list)) => {
                let items = list.items();
                let moves = by.as_ref().is_some_and(is) && items.len() == self.order.len();
                let item = |i: usize| {
                    let item = if moves { &items[self.order[i]] } else { &items[i] };
                    self.value(item, of)
                };
                Value::List(Arc::new(Seq::list((0..items.len()).map(item).collect())))
            }
            (Shape::Set(of), Value::Set(set)) => {
                let items = set.items().iter().map(|item| self.value(item, of)).collect();
                Value::Set(Arc::new(Set::new(items)))
            }
            (Shape::Map(key, of), Value::Map(map)) => {
                let entries = map.entries().iter();
                let entries = entries.map(|(k, v)| (self.value(k, key), self.value(v, of)));
                Value::Map(Arc::new(Map::new(entries.collect())))
            }
            (Shape::Named, value) => self.named(value),
            _ => value.clone(),
        }
    }

    fn named(&self, value: &Value) -> Value {
        let indices = &self.machine().program.indices;
        let payload = |ty: u16, variant: u16| {
            indices.enums.get(usize::from(ty)).and_then(|e| e.get(usize::from(variant)))
        };
        let seq = |seq: &Seq, shapes: Option<&Vec<Shape>>| {
            let items = seq.items().iter().enumerate();
            let items = items.map(|(i, item)| match shapes.and_then(|s| s.get(i)) {
                Some(shape) => self.value(item, shape),
                None => item.clone(),
            });
            Arc::new(Seq::new(seq.ty, seq.variant, items.collect()))
        };
        match value {
            Value::Record(r) => Value::Record(seq(r, indices.records.get(usize::from(r.ty)))),
            Value::VariantOf(v) => Value::VariantOf(seq(v, payload(v.ty, v.variant))),
            Value::VariantInt { ty, variant, value } => {
                let shape = payload(*ty, *variant).and_then(|p| p.first());
                match shape.map(|shape| self.value(&Value::Int(*value), shape)) {
                    Some(Value::Int(value)) => {
                        Value::VariantInt { ty: *ty, variant: *variant, value }
                    }
                    _ => Value::VariantInt { ty: *ty, variant: *variant, value: *value },
                }
            }
            other => other.clone(),
        }
    }

    fn queues(&self, state: &State, result: &mut State) {
        let mut messages: Vec<Message> = Vec::new();
        for (i, queue) in state.queues() {
            let i = self.group.map(i as u32, self.group.slots(), self.to);
            let mut queue = queue.to_vec();
            for message in &mut queue {
                message.move_to_queue(i);
                let shapes = self.machine().program.indices.tasks.get(usize::from(message.task));
                let args = match shapes.map_or(&[][..], |shapes| &shapes[..]) {
                    [] => continue,
                    [one] => self.value(&message.args, one),
                    many => self.arguments(&message.args, many),
                };
                message.change(|body| body.args = args);
            }
            sort_bag(self.machine(), i as usize, &mut queue);
            messages.append(&mut queue);
        }
        result.replace_messages(messages);
    }

    fn arguments(&self, args: &Value, shapes: &[Shape]) -> Value {
        match args {
            Value::List(list) => {
                let items = list.items().iter().zip(shapes);
                let items = items.map(|(item, shape)| self.value(item, shape)).collect();
                Value::List(Arc::new(Seq::list(items)))
            }
            other => other.clone(),
        }
    }

    fn flags(&self, state: &State, result: &mut State) {
        let layout = &self.machine().layout;
        let mut words = vec![0u64; layout.flags().div_ceil(64)];
        let mut set = |flag: usize| words[flag / 64] |= 1 << (flag % 64);
        let count = layout.members.len();
        for flag in (0..layout.flags()).filter(|flag| state.flag(*flag)) {
            match flag.checked_sub(1) {
                None => set(flag),
                Some(member) => {
                    let (base, member) =
                        if member < count { (0, member) } else { (count, member - count) };
                    let member = self.group.map(member as u32, self.group.events(), self.to);
                    set(1 + base + member as usize);
                }
            }
        }
        result.replace_flags(&words);
    }

    fn slot(&self, slot: u32) -> u32 {
        let handlers = self.group.map(slot, self.group.slots(), self.to);
        if handlers != slot {
            return handlers;
        }
        self.group.map(slot, self.group.own_slots(), self.to)
    }

    fn owner(&self, owner: u32) -> u32 {
        let layout = &self.machine().layout;
        let threads_count = layout.thread_members.len() as u32;
        match owner {
            0 => 0,
            _ if layout.dynamic_of(owner).is_some() => owner,
            _ if owner <= threads_count => {
                1 + self.group.map(owner - 1, self.group.threads(), self.to)
            }
            _ => 1 + threads_count + self.slot(owner - 1 - threads_count),
        }
    }

    fn locks(&self, state: &State, result: &mut State) {
        let mut locks = vec![0; self.machine().layout.locks as usize];
        for (i, held_by) in (0..).zip(state.locks()) {
            locks[self.lock(i) as usize] = self.owner(*held_by);
        }
        result.replace_locks(locks);
    }

    fn lock(&self, number: u32) -> u32 {
        self.group.map(number, self.group.locks(), self.to)
    }

    fn cond(&self, number: u32) -> u32 {
        self.group.map(number, self.group.conds(), self.to)
    }

    fn heap(&self, state: &State, result: &mut State) {
        let classes = &self.machine().program.indices.classes;
        if classes.iter().flatten().all(|shape| *shape == Shape::Plain) {
            return;
        }
        let heap = state.heap().iter().map(|object| {
            let shapes = classes.get(usize::from(object.class)).map_or(&[][..], |c| &c[..]);
            let mut object = Object::clone(object);
            for (field, shape) in object.fields.iter_mut().zip(shapes) {
                *field = self.value(field, shape);
            }
            object.rehash();
            Arc::new(object)
        });
        result.replace_heap(heap.collect());
    }

    fn threads(&self, state: &State, result: &mut State) {
        let threads = state.threads().iter().map(|thread| Arc::new(self.thread(thread)));
        let mut threads: Vec<Arc<Thread>> = threads.collect();
        threads.sort_by_key(|thread| thread.origin);
        result.replace_threads(threads);
    }

    fn thread(&self, old: &Thread) -> Thread {
        let group = &self.group;
        let mut thread = old.clone();
        thread.origin = match old.origin {
            Origin::Declared(member) => {
                Origin::Declared(group.map(member, group.threads(), self.to))
            }
            Origin::Slot(number) => Origin::Slot(self.slot(number)),
            Origin::Dynamic => Origin::Dynamic,
        };
        if let ThreadBody::Event(member) = old.body {
            thread.body = ThreadBody::Event(group.map(member, group.events(), self.to));
        }
        thread.status = match old.status {
            Status::Ready => Status::Ready,
            Status::Waiting { cond, lock } => {
                Status::Waiting { cond: self.cond(cond), lock: self.lock(lock) }
            }
            Status::Woken { lock } => Status::Woken { lock: self.lock(lock) },
        };
        if let (Some(before), Some(after)) =
            (member_index(self.machine(), old), member_index(self.machine(), &thread))
            && let Some(reg) = thread.regs.first_mut()
            && *reg == Value::Int(before)
        {
            *reg = Value::Int(after);
        }
        let mut low = 0;
        let program = &self.machine().program;
        for frame in &old.frames {
            for (_, _, reg, shape) in program.indices.registers_at(frame.func, frame.pc) {
                if let Some(slot) = thread.regs.get_mut(low + reg.index()) {
                    *slot = self.value(slot, shape);
                }
            }
            low += usize::from(program.functions[usize::from(frame.func)].registers);
        }
        thread.rehash();
        thread
    }
}

/// The index in its family of what a thread runs: it is in the first register of the outermost call.
pub(super) fn member_index(machine: &Machine, thread: &Thread) -> Option<i64> {
    match (thread.origin, thread.body) {
        (Origin::Declared(member), _) => {
            let (declared, index) = machine.layout.thread_members[member as usize];
            machine.program.threads[usize::from(declared)].family.map(|_| index)
        }
        (_, ThreadBody::Event(member)) => {
            let (event, index) = machine.layout.members[member as usize];
            machine.program.events[usize::from(event)].family.map(|_| index)
        }
        _ => None,
    }
}
