//! Hashes of states that distinguish instances by colours only: exchanging instances
//! together with their colours changes nothing.

use super::group::Group;
use super::message::Message;
use super::paint::{Paint, painted};
use super::parts::State;
use super::thread::{Origin, Status, Thread, ThreadBody};
use crate::machine::{Machine, Owner};
use crate::value::{Value, mix};

/// The colours of the instances of each symmetry.
pub(super) type Colors = Vec<Vec<u64>>;

// Kinds of numbers.
const REF: u64 = 1;
const FIELDS: u64 = 2;
const INSTANCE: u64 = 3;
const GLOBAL: u64 = 4 << 40;
const FLAG: u64 = 5 << 40;
const LOCK: u64 = 6 << 40;
const QUEUE: u64 = 7 << 40;
const THREAD: u64 = 8 << 40;
const OBJECT: u64 = 9 << 40;
const COND: u64 = 10 << 40;
const SLOT: u64 = 11 << 40;
const OWN_SLOT: u64 = 12 << 40;

/// Returns the hash of a state under colours. Linear in the state. References to objects and
/// handles all count the same.
pub(super) fn tinted(groups: &[Group<'_>], state: &State, colors: &Colors) -> u128 {
    let Some(machine) = groups.first().map(|group| group.machine) else { return 0 };
    let tint = Tint { machine, groups, colors };
    let mut sum = 0u128;
    let mut add = |key: u64, hash: u128| sum = sum.wrapping_add(mix::mix(key, hash));
    for global in 0..machine.program.globals.len() {
        add(GLOBAL + global as u64, painted(state.global(global), &tint));
    }
    let count = machine.layout.members.len();
    for flag in (1..machine.layout.flags()).filter(|flag| state.flag(*flag)) {
        let (base, member) = if flag <= count { (0, flag - 1) } else { (1, flag - 1 - count) };
        add(FLAG + base, tint.event(member as u32));
    }
    for (lock, owner) in (0..).zip(state.locks()) {
        if *owner != 0 {
            let key = tint.lock(lock);
            add(LOCK, mix::mix(key as u64, tint.owner(*owner)));
        }
    }
    for (i, queue) in state.queues() {
        let key = tint.slot(i as u32);
        add(QUEUE, mix::mix(key as u64, tint.queue(queue, machine.layout.is_bag(i))));
    }
    for thread in state.threads() {
        add(THREAD, tint.thread(thread));
    }
    for object in state.heap() {
        add(OBJECT + u64::from(object.class), tint.fields(&object.fields));
    }
    sum
}

struct Tint<'a> {
    machine: &'a Machine,
    groups: &'a [Group<'a>],
    colors: &'a Colors,
}

impl Paint for Tint<'_> {
    fn concerns(&self, value: &Value) -> bool {
        value.has_indices() || value.has_refs()
    }

    /// All references to objects and handles have one colour.
    fn name(&self, value: &Value) -> u128 {
        match value {
            Value::Index { of, member } => {
                let color = self.member(*of, usize::from(*member));
                color.map_or(value.hash(), |color| mix::number(INSTANCE, color))
            }
            _ => mix::number(REF, 0),
        }
    }

    fn member(&self, of: u16, member: usize) -> Option<u64> {
        self.color(usize::from(of), member)
    }
}

impl<'a> Tint<'a> {
    fn color(&self, group: usize, instance: usize) -> Option<u64> {
        self.colors.get(group)?.get(instance).copied()
    }

    fn fields(&self, fields: &[Value]) -> u128 {
        let fields = fields.iter().enumerate();
        sum(FIELDS, fields.map(|(i, v)| mix::mix(i as u64, painted(v, self))))
    }

    fn pair(&self, a: u128, b: u128) -> u128 {
        mix::mix(a as u64, mix::mix((a >> 64) as u64, b))
    }

    /// Returns the key of a number, which may be that of an instance.
    fn place(&self, kind: u64, number: u32, firsts: fn(&'a Group<'a>) -> &'a [u32]) -> u128 {
        let found = self.groups.iter().find_map(|group| {
            let (run, instance) = group.find(number, firsts(group))?;
            let color = self.color(group.number, instance)?;
            let head = kind + 1 + ((group.number as u64) << 20) + run as u64;
            Some(mix::mix(head, mix::number(INSTANCE, color)))
        });
        found.unwrap_or_else(|| mix::number(kind, u64::from(number)))
    }

    fn event(&self, member: u32) -> u128 {
        self.place(FLAG, member, |group| &group.events)
    }

    fn lock(&self, number: u32) -> u128 {
        self.place(LOCK, number, |group| &group.locks)
    }

    fn cond(&self, number: u32) -> u128 {
        self.place(COND, number, |group| &group.conds)
    }

    fn slot(&self, number: u32) -> u128 {
        let is_handler = (number as usize) < self.machine.layout.pool();
        if is_handler {
            self.place(SLOT, number, |group| &group.slots)
        } else {
            self.place(OWN_SLOT, number, |group| &group.own_slots)
        }
    }

    fn declared(&self, thread: u32) -> u128 {
        self.place(THREAD, thread, |group| &group.threads)
    }

    fn owner(&self, owner: u32) -> u128 {
        match self.machine.layout.owner(owner) {
            Owner::Nobody => 0,
            Owner::Thread(thread) => self.declared(thread),
            Owner::Slot(slot) => self.slot(slot),
            Owner::Dynamic(_) => mix::number(REF, 1),
        }
    }

    fn queue(&self, queue: &[Message], is_bag: bool) -> u128 {
        let messages = queue.iter().enumerate();
        sum(
            QUEUE,
            messages.map(|(i, message)| {
                let ordered = !is_bag || message.front;
                mix::mix(if ordered { 1 + i as u64 } else { 0 }, self.message(message))
            }),
        )
    }

    fn message(&self, message: &Message) -> u128 {
        let args = painted(&message.args, self);
        let head = (u64::from(message.task) << 1) | u64::from(message.front);
        mix::mix(head, mix::mix(message.due, args))
    }

    fn thread(&self, thread: &Thread) -> u128 {
        let origin = match thread.origin {
            Origin::Declared(member) => self.declared(member),
            Origin::Slot(slot) => self.slot(slot),
            Origin::Dynamic => mix::number(REF, 2),
        };
        let body = match thread.body {
            ThreadBody::Thread => 0,
            ThreadBody::Event(member) => self.event(member),
            ThreadBody::Task(task) => mix::number(REF + 1, u64::from(task)),
            ThreadBody::Func(func) => mix::number(REF + 2, u64::from(func)),
        };
        let status = match thread.status {
            Status::Ready => 0,
            Status::Waiting { cond, lock } => self.pair(self.cond(cond), self.lock(lock)),
            Status::Woken { lock } => mix::mix(1, self.lock(lock)),
        };
        let mut hash = self.pair(origin, self.pair(body, status));
        let program = &self.machine.program;
        let mut low = 0;
        for frame in &thread.frames {
            // The origin says which member of a family runs.
            let own = low == 0 && matches!(thread.body, ThreadBody::Event(_));
            let func = if own { 0 } else { frame.func };
            let word = (u64::from(func) << 48) | (u64::from(frame.dst) << 32) | u64::from(frame.pc);
            let count = usize::from(program.functions[usize::from(frame.func)].registers);
            for (reg, value) in (low as u64..).zip(thread.regs.iter().skip(low).take(count)) {
                hash = hash.wrapping_add(mix::mix(reg, painted(value, self)));
            }
            hash = mix::mix(word, hash);
            low += count;
        }
        hash
    }
}

fn sum(kind: u64, hashes: impl Iterator<Item = u128>) -> u128 {
    hashes.fold(mix::number(kind, 7), |sum, hash| sum.wrapping_add(hash))
}
