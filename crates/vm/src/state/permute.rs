//! Permutes the instances of a symmetry in a state.

use super::canonical::{canonicalize, sort_bags};
use super::group::Group;
use super::message::Message;
use super::parts::State;
use super::rename::{Renaming, rename, rename_globals, rename_message, rename_object};
use super::thread::{Origin, Status, Thread, ThreadBody};
use crate::machine::{Machine, Owner};
use crate::value::Value;
use std::sync::Arc;

/// Puts instance `order[p]` in the place of instance p, for all p. The result is in canonical form.
/// Linear in the state, except for the canonical form.
pub(super) fn permute(group: &Group<'_>, state: &State, order: &[usize]) -> State {
    let mut to = vec![0; order.len()];
    for (place, instance) in order.iter().enumerate() {
        to[*instance] = place;
    }
    let permutation = Permutation { group, order, to: &to };
    let machine = group.machine;
    let mut result = state.clone();
    rename_globals(machine, &mut result, &permutation);
    permutation.queues(state, &mut result);
    permutation.flags(state, &mut result);
    permutation.locks(state, &mut result);
    let heap = state.heap().iter().map(|object| rename_object(object, &permutation));
    result.replace_heap(heap.collect());
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
        let moved = |message: &Message| {
            let mut moved = rename_message(message, self);
            moved.move_to_queue(self.group.map(message.queue, &self.group.slots, self.to));
            moved
        };
        let mut messages: Vec<Message> = state.messages().iter().map(moved).collect();
        sort_bags(self.machine(), &mut messages);
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
        match layout.owner(owner) {
            Owner::Nobody | Owner::Dynamic(_) => owner,
            Owner::Thread(thread) => {
                layout.owner_thread(self.group.map(thread, &self.group.threads, self.to))
            }
            Owner::Slot(slot) => layout.owner_slot(self.slot(slot)),
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
            let body = |member: u32| self.machine().event_of(member).body.0;
            // Members that are separate events have separate bodies, which differ only in the
            // index.
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
