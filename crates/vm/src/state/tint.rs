//! Hashes of states in which instances are told apart by colours only: exchanging instances together with their colours
//! changes nothing.

use super::group::{Group, shape_of_global};
use super::message::Message;
use super::parts::State;
use super::permute::member_index;
use super::thread::{Origin, Status, Thread, ThreadBody};
use crate::machine::Machine;
use crate::program::{MailboxKind, Shape};
use crate::value::{Seq, Value, mix};

/// The colours of the instances of each symmetry.
pub(super) type Colors = Vec<Vec<u64>>;

/// What a number is of.
const REF: u64 = 1;
const LIST: u64 = 2;
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

/// Returns the hash of a state under colours. Linear in the state. Objects and handles count by what is in them, not by which
/// one is meant.
pub(super) fn tinted(groups: &[Group<'_>], state: &State, colors: &Colors) -> u128 {
    let Some(machine) = groups.first().map(|group| group.machine) else { return 0 };
    let tint = Tint { machine, groups, colors };
    let mut sum = 0u128;
    let mut add = |key: u64, hash: u128| sum = sum.wrapping_add(mix::mix(key, hash));
    for global in 0..machine.program.globals.len() {
        let shape = shape_of_global(machine, global);
        add(GLOBAL + global as u64, tint.value(state.global(global), &shape));
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
        let is_bag = machine.layout.mailboxes.get(i).is_none_or(|k| *k == MailboxKind::Bag);
        let key = tint.slot(i as u32);
        add(QUEUE, mix::mix(key as u64, tint.queue(queue, is_bag)));
    }
    for thread in state.threads() {
        add(THREAD, tint.thread(thread));
    }
    for object in state.heap() {
        let shapes = machine.program.indices.classes.get(usize::from(object.class));
        let fields = tint.fields(&object.fields, shapes.map_or(&[], |shapes| shapes));
        add(OBJECT + u64::from(object.class), fields);
    }
    sum
}

struct Tint<'a> {
    machine: &'a Machine,
    groups: &'a [Group<'a>],
    colors: &'a Colors,
}

impl Tint<'_> {
    fn color(&self, group: usize, instance: usize) -> Option<u64> {
        self.colors.get(group)?.get(instance).copied()
    }

    fn value(&self, value: &Value, shape: &Shape) -> u128 {
        match (shape, value) {
            (Shape::Index(group), Value::Int(i)) => {
                let color = usize::try_from(*i).ok();
                let color = color.and_then(|i| self.color(usize::from(*group), i));
                color.map_or(value.hash(), |color| mix::number(INSTANCE, color))
            }
            (Shape::List(by, of), Value::List(list)) => {
                let items = list.items();
                let group = by.map(usize::from);
                let group =
                    group.filter(|g| self.colors.get(*g).map(Vec::len) == Some(items.len()));
                let key = |i: usize| group.and_then(|g| self.color(g, i)).unwrap_or(i as u64);
                sum(
                    LIST,
                    items.iter().enumerate().map(|(i, v)| mix::mix(key(i), self.value(v, of))),
                )
            }
            (Shape::Set(of), Value::Set(set)) => {
                sum(LIST + 1, set.items().iter().map(|v| mix::mix(1, self.value(v, of))))
            }
            (Shape::Map(key, of), Value::Map(map)) => {
                let entries = map.entries().iter();
                sum(
                    LIST + 2,
                    entries.map(|(k, v)| self.pair(self.value(k, key), self.value(v, of))),
                )
            }
            (Shape::Named, Value::Record(r)) => {
                let shapes = self.machine.program.indices.records.get(usize::from(r.ty));
                self.seq(r, shapes.map_or(&[], |shapes| shapes))
            }
            (Shape::Named, Value::VariantOf(v)) => self.seq(v, self.payload(v.ty, v.variant)),
            (Shape::Named, Value::VariantInt { ty, variant, value: payload }) => {
                match self.payload(*ty, *variant).first() {
                    Some(shape) => {
                        let head = (u64::from(*ty) << 16) | u64::from(*variant);
                        mix::mix(head, self.value(&Value::Int(*payload), shape))
                    }
                    None => value.hash(),
                }
            }
            (_, value) if value.has_refs() => self.references(value),
            (_, value) => value.hash(),
        }
    }

    fn payload(&self, ty: u16, variant: u16) -> &[Shape] {
        let of = self.machine.program.indices.enums.get(usize::from(ty));
        of.and_then(|e| e.get(usize::from(variant))).map_or(&[], |shapes| shapes)
    }

    fn pair(&self, a: u128, b: u128) -> u128 {
        mix::mix(a as u64, mix::mix((a >> 64) as u64, b))
    }

    fn seq(&self, seq: &Seq, shapes: &[Shape]) -> u128 {
        let head = (u64::from(seq.ty) << 16) | u64::from(seq.variant);
        mix::mix(head, self.fields(seq.items(), shapes))
    }

    fn fields(&self, fields: &[Value], shapes: &[Shape]) -> u128 {
        let fields = fields.iter().enumerate();
        let plain = Shape::Plain;
        sum(
            LIST + 3,
            fields.map(|(i, v)| mix::mix(i as u64, self.value(v, shapes.get(i).unwrap_or(&plain)))),
        )
    }

    /// A value with references: they count as nothing but references.
    fn references(&self, value: &Value) -> u128 {
        let plain = Shape::Plain;
        let inner = |v: &Value| self.value(v, &plain);
        match value {
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                self.seq(s, &[])
            }
            Value::Set(set) => sum(LIST + 1, set.items().iter().map(|v| mix::mix(1, inner(v)))),
            Value::Map(map) => {
                let entries = map.entries().iter();
                sum(LIST + 2, entries.map(|(k, v)| self.pair(inner(k), inner(v))))
            }
            _ => mix::number(REF, 0),
        }
    }

    /// The key of a number that may be a member's.
    fn place<I: Iterator<Item = u32>>(
        &self,
        kind: u64,
        number: u32,
        firsts: impl Fn(&Group<'_>) -> I,
    ) -> u128 {
        let found = self.groups.iter().find_map(|group| {
            let (run, instance) = group.find(number, firsts(group))?;
            let color = self.color(group.number, instance)?;
            let head = kind + 1 + ((group.number as u64) << 20) + run as u64;
            Some(mix::mix(head, mix::number(INSTANCE, color)))
        });
        found.unwrap_or_else(|| mix::number(kind, u64::from(number)))
    }

    fn event(&self, member: u32) -> u128 {
        self.place(FLAG, member, |group| runs(group.events()))
    }

    fn lock(&self, number: u32) -> u128 {
        self.place(LOCK, number, |group| runs(group.locks()))
    }

    fn cond(&self, number: u32) -> u128 {
        self.place(COND, number, |group| runs(group.conds()))
    }

    fn slot(&self, number: u32) -> u128 {
        let is_handler = (number as usize) < self.machine.layout.pool();
        if is_handler {
            self.place(SLOT, number, |group| runs(group.slots()))
        } else {
            self.place(OWN_SLOT, number, |group| runs(group.own_slots()))
        }
    }

    fn member(&self, thread: u32) -> u128 {
        self.place(THREAD, thread, |group| runs(group.threads()))
    }

    fn owner(&self, owner: u32) -> u128 {
        let layout = &self.machine.layout;
        let threads_count = layout.thread_members.len() as u32;
        match owner {
            _ if layout.dynamic_of(owner).is_some() => mix::number(REF, 1),
            0 => 0,
            _ if owner <= threads_count => self.member(owner - 1),
            _ => self.slot(owner - 1 - threads_count),
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
        let shapes = self.machine.program.indices.tasks.get(usize::from(message.task));
        let args = match (shapes.map_or(&[][..], |shapes| &shapes[..]), &message.args) {
            ([one], args) => self.value(args, one),
            (many, Value::List(list)) if many.len() > 1 => self.fields(list.items(), many),
            (_, args) => self.value(args, &Shape::Plain),
        };
        let head = (u64::from(message.task) << 1) | u64::from(message.front);
        mix::mix(head, mix::mix(message.due, args))
    }

    fn thread(&self, thread: &Thread) -> u128 {
        let origin = match thread.origin {
            Origin::Declared(member) => self.member(member),
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
        let own = member_index(self.machine, thread).map(Value::Int);
        let mut low = 0;
        for frame in &thread.frames {
            let word =
                (u64::from(frame.func) << 48) | (u64::from(frame.dst) << 32) | u64::from(frame.pc);
            let shapes = program.indices.registers_at(frame.func, frame.pc);
            let count = usize::from(program.functions[usize::from(frame.func)].registers);
            for (reg, value) in thread.regs.iter().skip(low).take(count).enumerate() {
                // The index of the member is told by the origin.
                if low + reg == 0 && own.as_ref() == Some(value) {
                    continue;
                }
                let shape = shapes.iter().find(|shape| shape.2.index() == reg).map(|s| &s.3);
                let value = self.value(value, shape.unwrap_or(&Shape::Plain));
                hash = hash.wrapping_add(mix::mix((low + reg) as u64, value));
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

/// The same type for all kinds of runs.
fn runs(firsts: impl Iterator<Item = u32>) -> std::vec::IntoIter<u32> {
    firsts.collect::<Vec<u32>>().into_iter()
}
