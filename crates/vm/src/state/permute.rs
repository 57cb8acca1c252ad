//! Representatives of states that declared symmetries make the same.

use super::encode::encode;
use super::message::Queue;
use super::normal::normalize;
use super::parts::State;
use super::thread::{Origin, Status, Thread, What};
use crate::machine::Machine;
use crate::program::Symmetry;
use crate::value::{Seq, Value, mix};
use std::sync::Arc;

/// How many orders of instances that look alike are tried.
const ORDERS_MAX: usize = 5_040;

/// Returns the representative of a state: of each symmetry, the instances ordered by what they have; where several have the
/// same, the order that gives the least bytes. Beyond `ORDERS_MAX` orders the first found is taken: that is still a state that
/// behaves the same, but no longer the same one for all of them.
pub(crate) fn representative(machine: &Machine, state: &State) -> State {
    let mut best = state.clone();
    for symmetry in &machine.program.symmetries {
        best = least(machine, &best, symmetry);
    }
    best
}

fn least(machine: &Machine, state: &State, symmetry: &Symmetry) -> State {
    let size = usize::from(symmetry.size);
    let keys: Vec<u128> = (0..size).map(|i| signature(machine, state, symmetry, i)).collect();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by_key(|i| keys[*i]);
    let mut best: Option<(Vec<u8>, State)> = None;
    let mut tried = 0;
    each_order(&keys, &mut order, 0, &mut |order| {
        let mut permuted = permute(machine, state, symmetry, order);
        if machine.numbers {
            normalize(machine, &mut permuted);
        }
        let mut bytes = Vec::new();
        encode(machine, &permuted, &mut bytes);
        if best.as_ref().is_none_or(|(least, _)| bytes < *least) {
            best = Some((bytes, permuted));
        }
        tried += 1;
        tried < ORDERS_MAX
    });
    best.map_or_else(|| state.clone(), |(_, state)| state)
}

/// Calls `each` with every order in which equal keys are permuted, until it says false.
fn each_order(
    keys: &[u128],
    order: &mut Vec<usize>,
    at: usize,
    each: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    if at == order.len() {
        return each(order);
    }
    let mut other = at;
    while other < order.len() && keys[order[other]] == keys[order[at]] {
        order.swap(at, other);
        let more = each_order(keys, order, at + 1, each);
        order.swap(at, other);
        if !more {
            return false;
        }
        other += 1;
    }
    true
}

/// The numbers of a symmetry's members: what stands at `first[..] + i` belongs to instance i.
struct Members<'a> {
    machine: &'a Machine,
    symmetry: &'a Symmetry,
}

impl Members<'_> {
    fn slots(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        self.symmetry.handlers.iter().map(|h| layout.handler_first[h.index()])
    }

    fn events(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        self.symmetry.events.iter().map(|e| layout.event_first[e.index()])
    }

    fn threads(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        self.symmetry.threads.iter().map(|t| layout.thread_first[t.index()])
    }

    fn locks(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        self.symmetry.locks.iter().map(|l| layout.lock_first[l.index()])
    }

    fn conds(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        self.symmetry.conds.iter().map(|c| layout.cond_first[c.index()])
    }

    /// The slots that events without a handler have of their own.
    fn own_slots(&self) -> impl Iterator<Item = u32> {
        let layout = &self.machine.layout;
        let own =
            |e: &&crate::program::EventId| self.machine.program.events[e.index()].handler.is_none();
        let first = |e: &crate::program::EventId| layout.event_first[e.index()] as usize;
        let slots = self.symmetry.events.iter().filter(own).map(first);
        slots.filter_map(|member| layout.member_slot.get(member).copied())
    }

    /// Maps a number that may belong to a member of one of the runs that start at `firsts`.
    fn map(&self, number: u32, firsts: impl Iterator<Item = u32>, to: &[usize]) -> u32 {
        let size = u32::from(self.symmetry.size);
        for first in firsts {
            if (first..first + size).contains(&number) {
                return first + to[(number - first) as usize] as u32;
            }
        }
        number
    }
}

/// What an instance has, hashed without its number.
fn signature(machine: &Machine, state: &State, symmetry: &Symmetry, instance: usize) -> u128 {
    let members = Members { machine, symmetry };
    let i = instance as u32;
    let mut sum = 0u128;
    let mut kind = 0u64;
    let mut add = |hash: u128| {
        kind += 1;
        sum = sum.wrapping_add(mix::mix(kind, hash));
    };
    for first in members.slots() {
        add(state.queue((first + i) as usize).map_or(0, |queue| queue.hash));
    }
    for first in members.events() {
        let started = state.flag(machine.layout.started_flag(first + i));
        let toggled = state.flag(machine.layout.toggled_flag(first + i));
        add(u128::from(started) + 2 * u128::from(toggled));
    }
    for first in members.locks() {
        add(u128::from(state.lock((first + i) as usize) != 0));
    }
    for global in &symmetry.globals {
        let element = match state.global(global.index()) {
            Value::List(list) if list.items().len() == usize::from(symmetry.size) => {
                list.items().get(instance)
            }
            _ => None,
        };
        add(element.map_or(0, Value::hash));
    }
    for first in members.threads() {
        let thread = state.threads().iter().find(|t| t.origin == Origin::Declared(first + i));
        add(thread.map_or(0, |thread| {
            let mut thread = Thread::clone(thread);
            thread.origin = Origin::Declared(0);
            // Numbers of locks and conditions may be those of instances.
            thread.status = match thread.status {
                Status::Waiting { .. } => Status::Waiting { cond: 0, lock: 0 },
                Status::Woken { .. } => Status::Woken { lock: 0 },
                Status::Ready => Status::Ready,
            };
            if let Some(index) = thread.regs.first_mut() {
                *index = Value::Null;
            }
            thread.rehash();
            thread.hash
        }));
    }
    sum
}

/// Puts instance `order[p]` in the place of instance p, for all p.
fn permute(machine: &Machine, state: &State, symmetry: &Symmetry, order: &[usize]) -> State {
    let members = Members { machine, symmetry };
    let layout = &machine.layout;
    let size = order.len();
    let mut to = vec![0; size];
    for (place, instance) in order.iter().enumerate() {
        to[*instance] = place;
    }
    let mut result = state.clone();
    for global in &symmetry.globals {
        if let Value::List(list) = state.global(global.index())
            && list.items().len() == size
        {
            let items = order.iter().map(|i| list.items()[*i].clone()).collect();
            result.replace_global(global.index(), Value::List(Arc::new(Seq::list(items))));
        }
    }
    let mut queues: Vec<Option<Arc<Queue>>> = Vec::new();
    for (i, queue) in state.queues() {
        let i = members.map(i as u32, members.slots(), &to) as usize;
        queues.resize(queues.len().max(i + 1), None);
        queues[i] = Some(Arc::new(queue.clone()));
    }
    result.replace_queues(queues);
    let mut words = vec![0u64; layout.flags().div_ceil(64)];
    let mut set = |flag: usize| words[flag / 64] |= 1 << (flag % 64);
    for flag in (0..layout.flags()).filter(|flag| state.flag(*flag)) {
        let count = layout.members.len();
        match flag.checked_sub(1) {
            None => set(flag),
            Some(member) => {
                let (base, member) =
                    if member < count { (0, member) } else { (count, member - count) };
                set(1 + base + members.map(member as u32, members.events(), &to) as usize);
            }
        }
    }
    result.replace_flags(&words);
    let threads_count = layout.thread_members.len() as u32;
    let slot = |slot: u32| {
        let handlers = members.map(slot, members.slots(), &to);
        if handlers == slot { members.map(slot, members.own_slots(), &to) } else { handlers }
    };
    let owner = |owner: u32| match owner {
        0 => 0,
        _ if layout.dynamic_of(owner).is_some() => owner,
        _ if owner <= threads_count => 1 + members.map(owner - 1, members.threads(), &to),
        _ => 1 + threads_count + slot(owner - 1 - threads_count),
    };
    let mut locks = vec![0; layout.locks as usize];
    for (i, held_by) in (0..).zip(state.locks()) {
        locks[members.map(i, members.locks(), &to) as usize] = owner(*held_by);
    }
    result.replace_locks(locks);
    let lock = |number: u32| members.map(number, members.locks(), &to);
    let cond = |number: u32| members.map(number, members.conds(), &to);
    let mut threads: Vec<Arc<Thread>> = Vec::new();
    for thread in state.threads() {
        let mut thread = Thread::clone(thread);
        let old = thread.clone();
        thread.origin = match thread.origin {
            Origin::Declared(member) => {
                Origin::Declared(members.map(member, members.threads(), &to))
            }
            Origin::Slot(number) => Origin::Slot(slot(number)),
            Origin::Dynamic => Origin::Dynamic,
        };
        if let What::Event(member) = thread.what {
            thread.what = What::Event(members.map(member, members.events(), &to));
        }
        thread.status = match thread.status {
            Status::Ready => Status::Ready,
            Status::Waiting { cond: c, lock: l } => {
                Status::Waiting { cond: cond(c), lock: lock(l) }
            }
            Status::Woken { lock: l } => Status::Woken { lock: lock(l) },
        };
        if let (Some(before), Some(after)) = (index(machine, &old), index(machine, &thread))
            && let Some(reg) = thread.regs.first_mut()
            && *reg == Value::Int(before)
        {
            *reg = Value::Int(after);
        }
        thread.rehash();
        threads.push(Arc::new(thread));
    }
    threads.sort_by_key(|thread| thread.origin);
    result.replace_threads(threads);
    result.resum();
    result
}

/// The index in its family of what a thread runs.
fn index(machine: &Machine, thread: &Thread) -> Option<i64> {
    match (thread.origin, thread.what) {
        (Origin::Declared(member), _) => {
            let (declared, index) = machine.layout.thread_members[member as usize];
            machine.program.threads[usize::from(declared)].family.map(|_| index)
        }
        (_, What::Event(member)) => {
            let (event, index) = machine.layout.members[member as usize];
            machine.program.events[usize::from(event)].family.map(|_| index)
        }
        _ => None,
    }
}
