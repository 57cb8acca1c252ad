//! What a step touched, as places that mean the same in every state.
//!
//! What the code does to memory, locks and conditions is in the log of the step. What happens to mailboxes, threads and flags is told by comparing
//! the states before and after. Mailboxes that have an order are four places each: what comes next, what came last, whether there is one message and whether
//! there are two. So a post and a take commute as long as neither makes the mailbox empty or finds it so.

use super::super::accesses::Elements;
use super::keys::{self, Kind, Places, fixed};
use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::state::{Message, Origin, State, Thread, What};
use crate::step::{Place as Logged, Touch};
use crate::value::Value;
use crate::walk::Move;
use anyorder_system::{AccessKind, Place, TaskKey, TouchKind, Touched};
use std::sync::Arc;

/// What does not change while a machine is explored.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(super) places: Places,
    pub(super) elements: Elements,
}

/// Collects what a task touches.
pub(super) struct Touches<'a> {
    pub(super) machine: &'a Machine,
    pub(super) tables: &'a Tables,
    pub(super) before: &'a State,
    pub(super) out: &'a mut Vec<Touched>,
    /// The globals that the step updates: such writes are never silent, even if in the end nothing is changed.
    pub(super) updated: Vec<u16>,
}

impl Touches<'_> {
    fn push(&mut self, place: Place, kind: TouchKind) {
        let touched = Touched { place, kind };
        if self.out.last() != Some(&touched) {
            self.out.push(touched);
        }
    }

    fn at(&mut self, kind: Kind, index: u64, touch: TouchKind) {
        self.push(self.tables.places.at(kind, index), touch);
    }

    /// Adds what the code did. `after` is the state that it led to, if it led to one.
    pub(super) fn log(&mut self, touches: &[Touch], after: Option<&State>) {
        for touch in touches {
            self.logged(touch, after);
        }
    }

    fn logged(&mut self, touch: &Touch, after: Option<&State>) {
        let write = |read: bool| if read { TouchKind::Read } else { TouchKind::Write };
        let kind = write(touch.kind == AccessKind::Read);
        match touch.place {
            Logged::Global(global) => {
                let container = self.tables.places.at(Kind::Global, u64::from(global));
                let updated =
                    !self.machine.switches.silent_updates && self.updated.contains(&global);
                let same = !updated
                    && after.is_some_and(|after| {
                        let global = usize::from(global);
                        // Objects and handles are numbered anew: one number may be of another one.
                        let (old, new) = (self.before.global(global), after.global(global));
                        !old.has_refs() && !new.has_refs() && old == new
                    });
                self.memory(container, touch, same);
            }
            Logged::Field { class, field, .. } => {
                self.memory(Places::field(class, field), touch, false);
            }
            // Only what is asked; changes are seen in the flags.
            Logged::Enabled(member) => {
                self.at(Kind::Toggled, u64::from(member), TouchKind::Read);
                self.at(Kind::Started, u64::from(member), TouchKind::Read);
            }
            Logged::Lock(lock) => self.at(Kind::Lock, u64::from(lock), kind),
            Logged::Cond(cond) => self.at(Kind::Cond, u64::from(cond), kind),
            Logged::Task(_) | Logged::Thread(_) => self.push(fixed::LIVES, kind),
            Logged::Now => self.push(fixed::NOW, kind),
            // Told by comparing states.
            Logged::First(queue) => self.at(Kind::Head, u64::from(queue), kind),
            Logged::Last(queue) => self.at(Kind::Tail, u64::from(queue), kind),
            Logged::Event(_) | Logged::Started(_) | Logged::Busy(_) | Logged::Failed => {}
        }
    }

    fn memory(&mut self, container: Place, touch: &Touch, same: bool) {
        let kind = match touch.kind {
            AccessKind::Read => TouchKind::Read,
            _ if same => TouchKind::SilentWrite,
            _ => TouchKind::Write,
        };
        let Some(element) = &touch.element else {
            self.push(container, kind);
            // A write that changes nothing depends on what is there.
            if kind != TouchKind::Write {
                self.elements_of(container, touch);
            }
            return;
        };
        self.push(container, TouchKind::Read);
        self.push(Places::element(container, element), kind);
    }

    /// Who reads a container reads its elements.
    fn elements_of(&mut self, container: Place, touch: &Touch) {
        if !self.tables.elements.has(&touch.place) {
            return;
        }
        match &touch.value {
            Some(Value::List(list)) => {
                for i in 0..list.items().len() as i64 {
                    self.push(Places::element(container, &Value::Int(i)), TouchKind::Read);
                }
            }
            Some(Value::Map(map)) => {
                for (key, _) in map.entries() {
                    self.push(Places::element(container, key), TouchKind::Read);
                }
            }
            _ => {}
        }
    }

    /// Adds what was only looked at: reads, whatever they are logged as.
    pub(super) fn looked(&mut self, touches: &[Touch]) {
        for touch in touches {
            let kind = AccessKind::Read;
            self.logged(&Touch { kind, ..touch.clone() }, None);
        }
    }

    /// Adds what a step did besides: to mailboxes, threads, flags.
    pub(super) fn step(&mut self, step: Move, after: &State) {
        if step == Move::Init {
            self.push(fixed::INIT, TouchKind::Write);
        }
        if self.tables.places.init {
            self.push(fixed::INIT, TouchKind::Read);
        }
        self.taken(step);
        self.flags(after);
        self.threads(step, after);
        self.queues(after);
    }

    /// Adds what a step from memory did to mailboxes. `all`: not only to bags.
    pub(super) fn mail(&mut self, step: Move, after: &State, all: bool) {
        let Move::Message { queue, .. } = step else {
            if all {
                self.queues(after);
            }
            return;
        };
        self.taken(step);
        if all || self.tables.places.fronts || self.is_ordered(queue as usize) {
            self.queues(after);
        } else if let Move::Message { queue, position, .. } = step
            && let Some(message) = self.before.queue(queue as usize).get(position as usize)
        {
            let key = keys::message(queue as usize, message);
            self.push(Places::standing(key), TouchKind::Write);
        }
    }

    /// Who runs a message takes it from its mailbox.
    fn taken(&mut self, step: Move) {
        let Move::Message { queue, position, .. } = step else { return };
        let messages = self.before.queue(queue as usize);
        let Some(message) = messages.get(position as usize) else { return };
        let kind = self.machine.layout.mailboxes.get(queue as usize).copied();
        if kind == Some(MailboxKind::Delayed) {
            self.push(fixed::NOW, TouchKind::Write);
        }
        if self.is_ordered(queue as usize) || message.front {
            self.at(Kind::Head, u64::from(queue), TouchKind::Write);
            self.at(Kind::More, u64::from(queue), TouchKind::Read);
        }
    }

    fn is_ordered(&self, queue: usize) -> bool {
        let kind = self.machine.layout.mailboxes.get(queue);
        kind.is_some_and(|kind| *kind != MailboxKind::Bag)
    }

    fn flags(&mut self, after: &State) {
        if self.before.flag_words().eq(after.flag_words()) {
            return;
        }
        let layout = &self.machine.layout;
        for member in 0..layout.members.len() as u32 {
            for (kind, flag) in [
                (Kind::Started, layout.started_flag(member)),
                (Kind::Toggled, layout.toggled_flag(member)),
            ] {
                if self.before.flag(flag) != after.flag(flag) {
                    self.at(kind, u64::from(member), TouchKind::Write);
                }
            }
        }
    }

    fn threads(&mut self, step: Move, after: &State) {
        let (old, new) = (self.before.threads(), after.threads());
        let same = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| Arc::ptr_eq(a, b));
        if same {
            return;
        }
        let own = own_thread(self.before, step);
        let changed = |one: &Arc<Thread>, others: &[Arc<Thread>]| {
            if others.iter().any(|other| Arc::ptr_eq(one, other)) {
                return false;
            }
            let other = others.iter().find(|other| is_one(one, other));
            other.is_none_or(|other| {
                let steps = own.is_some_and(|own| is_one(one, own));
                (one.status, &one.frames) != (other.status, &other.frames)
                    // Others' registers have new numbers for objects and handles at most.
                    || steps && (one.has_refs() || one.regs != other.regs)
            })
        };
        for (one, others) in old.iter().map(|t| (t, new)).chain(new.iter().map(|t| (t, old))) {
            if changed(one, others) {
                self.push(Places::standing(keys::thread(one)), TouchKind::Write);
                self.ends(one, others);
            }
        }
    }

    /// Adds what it means that a thread is there in one of two states only.
    fn ends(&mut self, one: &Thread, others: &[Arc<Thread>]) {
        if others.iter().any(|other| is_one(one, other)) {
            return;
        }
        if one.handle != 0 {
            self.push(fixed::LIVES, TouchKind::Write);
        }
        if let Origin::Slot(slot) = one.origin {
            self.at(Kind::Busy, u64::from(slot), TouchKind::Write);
        }
        if let What::Event(member) = one.what {
            self.at(Kind::Started, u64::from(member), TouchKind::Write);
        }
    }

    fn queues(&mut self, after: &State) {
        for queue in 0..=self.machine.layout.pool() {
            let (old, new) = (self.before.queue(queue), after.queue(queue));
            // Objects may have new numbers: what counts is which messages there are.
            let same = std::ptr::eq(old, new)
                || old.len() == new.len()
                    && (old.iter().zip(new).all(|(a, b)| is_same(a, b))
                        // New numbers of objects and handles may have sorted a bag anew.
                        || !self.is_ordered(queue)
                            && old.iter().all(|a| new.iter().any(|b| is_same(a, b))));
            if !same {
                self.queue(queue, old, new);
            }
        }
    }

    fn queue(&mut self, queue: usize, old: &[Message], new: &[Message]) {
        let number = queue as u64;
        let ordered = self.is_ordered(queue);
        if ordered || self.tables.places.fronts {
            for (kind, least) in [(Kind::Some, 1), (Kind::More, 2)] {
                let differs = (old.len() >= least) != (new.len() >= least);
                let touch = if differs { TouchKind::Write } else { TouchKind::Read };
                self.at(kind, number, touch);
            }
            // A bag gives any, unless one is in front.
            let head = |list: &'_ [Message]| match list.first() {
                Some(first) if ordered || first.front => Some((first.uid, first.task)),
                _ => None,
            };
            if head(old) != head(new) {
                self.at(Kind::Head, number, TouchKind::Write);
            } else if self.machine.layout.mailboxes.get(queue) == Some(&MailboxKind::Delayed) {
                // Who posts looks whether it comes first.
                self.at(Kind::Head, number, TouchKind::Read);
            }
        }
        let (old, new) = apart(old, new);
        self.moved(queue, old, new);
        self.moved(queue, new, old);
    }

    /// Adds the messages of one state that the other does not have.
    fn moved(&mut self, queue: usize, here: &[Message], there: &[Message]) {
        for (i, message) in here.iter().enumerate() {
            let count = |list: &[Message]| list.iter().filter(|m| is_same(m, message)).count();
            if here[..i].iter().any(|m| is_same(m, message)) || count(here) <= count(there) {
                continue;
            }
            self.push(Places::standing(keys::message(queue, message)), TouchKind::Write);
            if message.handle != 0 {
                self.push(fixed::LIVES, TouchKind::Write);
            }
        }
    }
}

/// Leaves out what two mailboxes begin and end with alike: mailboxes may be long, and most steps take or post one message.
fn apart<'m>(old: &'m [Message], new: &'m [Message]) -> (&'m [Message], &'m [Message]) {
    let start = old.iter().zip(new).take_while(|(a, b)| is_same(a, b)).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| is_same(a, b)).count();
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// Whether two threads are one, at two times.
fn is_one(a: &Thread, b: &Thread) -> bool {
    (a.origin, a.uid, a.what) == (b.origin, b.uid, b.what)
}

/// The thread that takes a step.
fn own_thread(state: &State, step: Move) -> Option<&Thread> {
    let Move::Thread { origin, rank } = step else { return None };
    let skip = if origin == Origin::Dynamic { rank as usize } else { 0 };
    let mut same = state.threads().iter().filter(|thread| thread.origin == origin);
    same.nth(skip).map(|thread| &**thread)
}

/// Whether two messages are the same but for their handle and time.
fn is_same(a: &Message, b: &Message) -> bool {
    a.uid == b.uid && a.task == b.task
}

/// The places that decide whether a task is ready.
pub(super) fn awaits(machine: &Machine, tables: &Tables, key: TaskKey, out: &mut Vec<Place>) {
    let places = &tables.places;
    if places.init {
        out.push(fixed::INIT);
    }
    match keys::kind(key) {
        keys::KeyKind::Init => {}
        keys::KeyKind::Event(member) => {
            let layout = &machine.layout;
            let Some((event, _)) = layout.members.get(member as usize) else { return };
            let declared = &machine.program.events[usize::from(*event)];
            if declared.once {
                out.push(places.at(Kind::Started, u64::from(member)));
            }
            out.push(places.at(Kind::Toggled, u64::from(member)));
            for other in declared.after.iter().chain(&declared.started) {
                for other in layout.members_of(other.index()) {
                    out.push(places.at(Kind::Started, u64::from(other)));
                }
            }
            if !machine.atomic {
                let slot = layout.member_slot[member as usize];
                out.push(places.at(Kind::Busy, u64::from(slot)));
            }
        }
        keys::KeyKind::Message(queue, _) => {
            let ordered = machine.layout.mailboxes.get(queue as usize);
            if ordered.is_some_and(|kind| *kind != MailboxKind::Bag) || places.fronts {
                out.push(places.at(Kind::Head, u64::from(queue)));
            }
            out.push(Places::standing(key));
            if !machine.atomic && (queue as usize) < machine.layout.pool() {
                out.push(places.at(Kind::Busy, u64::from(queue)));
            }
        }
        keys::KeyKind::Thread => out.push(Places::standing(key)),
    }
}
