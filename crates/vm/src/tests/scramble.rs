//! Scrambles what the canonical form must hide, and brings any state into canonical form.

use super::random::Random;
use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::sabotage::Sabotage;
use crate::state::rename::{Renaming, rename};
use crate::state::{Message, Object, Origin, State, Thread, canonical};
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

struct Shuffled {
    objects: Vec<u32>,
    handles: FxHashMap<u32, u32>,
}

impl Renaming for Shuffled {
    fn object(&self, number: u32) -> u32 {
        self.objects.get((number as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    fn handle(&self, number: u32) -> u32 {
        self.handles.get(&number).copied().unwrap_or(0)
    }
}

fn is_bag(machine: &Machine, queue: usize) -> bool {
    machine.layout.mailboxes.get(queue).is_none_or(|kind| *kind == MailboxKind::Bag)
}

/// Renumbers objects and handles, adds garbage, fills dead registers, shuffles bags and forked
/// threads.
pub(super) fn scramble(machine: &Machine, state: &State, random: &mut Random) -> State {
    let mut result = state.clone();
    let count = state.heap().len() as u32;
    let garbage = if machine.needs_numbering { random.below(3) as u32 } else { 0 };
    let mut places: Vec<u32> = (1..=count + garbage).collect();
    random.shuffle(&mut places);
    let top = state.handle_top();
    let mut numbers: Vec<u32> = (1..=top + 2).collect();
    random.shuffle(&mut numbers);
    let handles = (1..=top).zip(numbers).collect();
    let by = Shuffled { objects: places.clone(), handles };
    let mut heap: Vec<Option<Arc<Object>>> = vec![None; places.len()];
    for (object, place) in state.heap().iter().zip(&places) {
        let fields = object.fields.iter().map(|field| rename(field, &by)).collect();
        let mut object = Object { fields, ..Object::clone(object) };
        object.rehash();
        heap[*place as usize - 1] = Some(Arc::new(object));
    }
    for place in &places[count as usize..] {
        let target = places[random.below(places.len())];
        let fields = vec![Value::Obj(target), Value::Int(random.below(9) as i64)];
        let mut object = Object { class: 0, fields, uid: 0, hash: 0 };
        object.rehash();
        heap[*place as usize - 1] = Some(Arc::new(object));
    }
    for i in 0..machine.program.globals.len() {
        result.replace_global(i, rename(state.global(i), &by));
    }
    let threads = state.threads().iter().map(|thread| {
        let regs = thread.regs.iter().map(|reg| rename(reg, &by)).collect();
        let mut thread = Thread { regs, handle: by.handle(thread.handle), ..Thread::clone(thread) };
        fill_dead(machine, &mut thread, random, &places);
        thread.rehash();
        Arc::new(thread)
    });
    let mut threads: Vec<Arc<Thread>> = threads.collect();
    let first = threads.iter().take_while(|thread| thread.origin != Origin::Dynamic).count();
    random.shuffle(&mut threads[first..]);
    let mut messages: Vec<Message> = Vec::new();
    for (i, queue) in state.queues() {
        let mut queue = queue.to_vec();
        for message in &mut queue {
            message.change(|body| {
                body.args = rename(&body.args, &by);
                body.handle = by.handle(body.handle);
            });
        }
        if is_bag(machine, i) {
            let front = queue.iter().take_while(|message| message.front).count();
            random.shuffle(&mut queue[front..]);
        }
        messages.append(&mut queue);
    }
    let locks = state.locks().iter().map(|owner| match machine.layout.dynamic_of(*owner) {
        Some(handle) if *owner != 0 => machine.layout.owner_dynamic(by.handle(handle)),
        _ => *owner,
    });
    let locks = locks.collect();
    result.replace_heap(heap.into_iter().flatten().collect());
    result.replace_threads(threads);
    result.replace_messages(messages);
    result.replace_locks(locks);
    result.recompute_sum();
    result
}

/// Fills registers that are null and dead.
fn fill_dead(machine: &Machine, thread: &mut Thread, random: &mut Random, objects: &[u32]) {
    // A register was dead if the liveness analysis clears a value that is put there.
    let junk = |random: &mut Random| match objects {
        [] => Value::Int(7),
        objects if random.chance(50) => Value::Obj(objects[random.below(objects.len())]),
        _ => Value::Int(7),
    };
    for i in 0..thread.regs.len() {
        if !random.chance(50) || !matches!(thread.regs[i], Value::Null) {
            continue;
        }
        let mut probe = thread.regs.clone();
        probe[i] = Value::Int(1);
        machine.clear_dead(&thread.frames, &mut probe);
        if matches!(probe[i], Value::Null) {
            thread.regs[i] = junk(random);
        }
    }
}

/// Brings a state into the canonical form of a machine, whatever its order and numbers.
pub(super) fn canonicalize(machine: &Machine, state: &State) -> State {
    let mut result = state.clone();
    let threads = state.threads().iter().map(|thread| {
        let mut thread = Thread::clone(thread);
        machine.clear_dead(&thread.frames, &mut thread.regs);
        thread.rehash();
        Arc::new(thread)
    });
    let threads: Vec<Arc<Thread>> = threads.collect();
    assert!(threads.windows(2).all(|pair| pair[0].origin <= pair[1].origin));
    assert!(threads.iter().all(|t| t.origin != Origin::Dynamic || t.handle != 0));
    result.replace_threads(threads);
    let mut messages: Vec<Message> = Vec::new();
    for (i, queue) in state.queues() {
        let mut queue = queue.to_vec();
        let sorts_bag = is_bag(machine, i) && machine.sabotage != Sabotage::KeepBagOrder;
        let sorts_fifo = machine.sabotage == Sabotage::SortFifo
            && machine.layout.mailboxes.get(i) == Some(&MailboxKind::Fifo);
        if sorts_bag || sorts_fifo {
            let front = queue.iter().take_while(|message| message.front).count();
            queue[front..].sort_by(|a, b| a.bag_key().cmp(&b.bag_key()));
        }
        messages.append(&mut queue);
    }
    result.replace_messages(messages);
    result.recompute_sum();
    if machine.needs_numbering {
        canonical::canonicalize(machine, &mut result);
    }
    result
}
