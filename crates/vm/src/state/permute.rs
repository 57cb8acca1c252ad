//! States with the instances of a symmetry exchanged.

use super::canonical::{canonicalize, sort_bag};
use super::group::Group;
use super::message::Message;
use super::object::Object;
use super::parts::State;
use super::rename::{Renaming, rename};
use super::thread::{Origin, Status, Thread, ThreadBody};
use crate::machine::Machine;
use crate::value::Value;
use std::sync::Arc;

/// Puts instance `order[p]` in the place of instance p, for all p; the result is in canonical form.
/// Linear in the state, but for the canonical form.
pub(super) fn permute(group: &Group<'_>, state: &State, order: &[usize]) -> State {
    let mut to = vec![0; order.len()];
    for (place, instance) in order.iter().enumerate() {
        to[*instance] = place;
    }
    let permutation = Permutation { group, order, to: &to };
    let machine = group.machine;
    let mut result = state.clone();
    for global in 0..machine.program.globals.len() {
        let value = state.global(global);
        if value.has_indices() {
            result.replace_global(global, rename(value, &permutation));
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
    group: &'a Group<'a>,
    order: &'a [usize],
    to: &'a [usize],
}

impl Renaming for Permutation<'_> {
    fn concerns(&self, value: &Value) -> bool {
        value.has_indices()
    }

    fn object(&self, number: u32) -> u32 {
        number
    }

    fn handle(&self, number: u32) -> u32 {
        number
    }

    fn index(&self, of: u16, member: u16) -> u16 {
        let to = self.places(of).and_then(|_| self.to.get(usize::from(member)));
        to.and_then(|to| u16::try_from(*to).ok()).unwrap_or(member)
    }

    fn places(&self, of: u16) -> Option<&[usize]> {
        (usize::from(of) == self.group.number).then_some(self.order)
    }
}

impl Permutation<'_> {
    fn machine(&self) -> &Machine {
        self.group.machine
    }

    fn queues(&self, state: &State, result: &mut State) {
        let mut messages: Vec<Message> = Vec::new();
        for (i, queue) in state.queues() {
            let i = self.group.map(i as u32, &self.group.slots, self.to);
            let mut queue = queue.to_vec();
            for message in &mut queue {
                message.move_to_queue(i);
                if message.args.has_indices() {
                    let args = rename(&message.args, self);
                    message.change(|body| body.args = args);
                }
            }
            sort_bag(self.machine(), i as usize, &mut queue);
            messages.append(&mut queue);
        }
        result.replace_messages(messages);
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
                    let member = self.group.map(member as u32, &self.group.events, self.to);
                    set(1 + base + member as usize);
                }
            }
        }
        result.replace_flags(&words);
    }

    fn slot(&self, slot: u32) -> u32 {
        let handlers = self.group.map(slot, &self.group.slots, self.to);
        if handlers != slot {
            return handlers;
        }
        self.group.map(slot, &self.group.own_slots, self.to)
    }

    fn owner(&self, owner: u32) -> u32 {
        let layout = &self.machine().layout;
        let threads_count = layout.thread_members.len() as u32;
        match owner {
            0 => 0,
            _ if layout.dynamic_of(owner).is_some() => owner,
            _ if owner <= threads_count => {
                1 + self.group.map(owner - 1, &self.group.threads, self.to)
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
        self.group.map(number, &self.group.locks, self.to)
    }

    fn cond(&self, number: u32) -> u32 {
        self.group.map(number, &self.group.conds, self.to)
    }

    fn heap(&self, state: &State, result: &mut State) {
        if state.heap().iter().all(|object| !object.fields.iter().any(Value::has_indices)) {
            return;
        }
        let heap = state.heap().iter().map(|object| {
            let mut object = Object::clone(object);
            object.fields.iter_mut().for_each(|field| *field = rename(field, self));
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
                Origin::Declared(group.map(member, &group.threads, self.to))
            }
            Origin::Slot(number) => Origin::Slot(self.slot(number)),
            Origin::Dynamic => Origin::Dynamic,
        };
        if let ThreadBody::Event(member) = old.body {
            let other = group.map(member, &group.events, self.to);
            thread.body = ThreadBody::Event(other);
            let layout = &self.machine().layout;
            let body = |member: u32| {
                let (event, _) = layout.members[member as usize];
                self.machine().program.events[usize::from(event)].body.0
            };
            // Members that are events of their own have bodies of their own, which differ in the
            // index only.
            if let Some(frame) = thread.frames.first_mut()
                && frame.func == body(member)
            {
                frame.func = body(other);
            }
        }
        thread.status = match old.status {
            Status::Ready => Status::Ready,
            Status::Waiting { cond, lock } => {
                Status::Waiting { cond: self.cond(cond), lock: self.lock(lock) }
            }
            Status::Woken { lock } => Status::Woken { lock: self.lock(lock) },
        };
        thread.regs.iter_mut().for_each(|reg| *reg = rename(reg, self));
        thread.rehash();
        thread
    }
}
