//! The places that a step touches. Places mean the same in every state.
//!
//! The log of the step has its accesses to memory, locks and conditions, its posts and its cancels.
//! A comparison of the states before and after shows the changes of threads and flags. An ordered
//! mailbox has two places: its next and its last message. Think of its messages as numbered by
//! their posts: the second place is the last number, the first says which numbers have been taken.
//! So a post and a take commute, even with one message or none: the post writes the place of its
//! own message, and that makes the message ready.

use super::super::accesses::{Sink, has_elements};
use super::keys;
use crate::machine::{Kind, Machine, Places, Tables};
use crate::program::MailboxKind;
use crate::state::{Message, Origin, State, StepId, Thread, ThreadBody};
use crate::step::{Log, LoggedAccess, LoggedPlace};
use crate::value::Value;
use anyorder_system::{AccessKind, Place, TaskKey, TouchKind, Touched};
use std::sync::Arc;

/// Collects what a task touches.
pub(super) struct Touches<'a> {
    pub(super) machine: &'a Machine,
    pub(super) tables: &'a Tables,
    pub(super) before: &'a State,
    pub(super) out: &'a mut Vec<Touched>,
    /// The globals that the step updates: such writes are never silent, even if in the end nothing
    /// is changed.
    pub(super) updated: Vec<u16>,
}

impl<'a> Touches<'a> {
    pub(super) fn new(
        machine: &'a Machine,
        before: &'a State,
        out: &'a mut Vec<Touched>,
    ) -> Touches<'a> {
        Touches { machine, tables: machine.tables(), before, out, updated: Vec::new() }
    }

    #[cfg_attr(test, track_caller)]
    fn push(&mut self, place: Place, kind: TouchKind) {
        if self.machine.reports.drops() {
            return;
        }
        let touched = Touched { place, kind };
        if self.out.last() != Some(&touched) {
            self.out.push(touched);
        }
    }

    #[cfg_attr(test, track_caller)]
    fn at(&mut self, kind: Kind, index: u64, touch: TouchKind) {
        self.push(self.tables.places.at(kind, index), touch);
    }

    /// Adds the logged accesses. `after` is the state after the step, unless it fails.
    pub(super) fn log(&mut self, touches: &[LoggedAccess], after: Option<&State>) {
        for touch in touches {
            self.logged(touch, after);
        }
    }

    fn logged(&mut self, touch: &LoggedAccess, after: Option<&State>) {
        let is_read = touch.kind == AccessKind::Read;
        let kind = if is_read { TouchKind::Read } else { TouchKind::Write };
        match touch.place {
            LoggedPlace::Global(global) => {
                let container = self.tables.places.at(Kind::Global, u64::from(global));
                let updated = self.updated.contains(&global);
                let same = !updated
                    && after.is_some_and(|after| {
                        let global = usize::from(global);
                        // The step may renumber objects and handles, and all handles of ended tasks
                        // are equal. So equal values with references may differ.
                        let (old, new) = (self.before.global(global), after.global(global));
                        let refs =
                            |value: &Value| self.machine.needs_numbering && value.holds_refs();
                        old == new && !refs(old) && !refs(new)
                    });
                self.memory(container, touch, same);
            }
            LoggedPlace::Field { class, field, .. } => {
                self.memory(Places::field(class, field), touch, false);
            }
            // The log has the reads. The flags show the changes.
            LoggedPlace::Enabled(member) => {
                self.at(Kind::Toggled, u64::from(member), TouchKind::Read);
                self.at(Kind::Started, u64::from(member), TouchKind::Read);
            }
            LoggedPlace::Lock(lock) => self.at(Kind::Lock, u64::from(lock), kind),
            LoggedPlace::Cond(cond) => self.at(Kind::Cond, u64::from(cond), kind),
            LoggedPlace::Lifecycle => {
                for lifecycle in 0..self.tables.lifecycles.count() {
                    self.at(Kind::Lifecycle, lifecycle, TouchKind::Read);
                }
            }
            LoggedPlace::Now => self.push(Places::NOW, kind),
            LoggedPlace::First(queue) => self.at(Kind::Head, u64::from(queue), kind),
            LoggedPlace::Last(queue) => self.at(Kind::Tail, u64::from(queue), kind),
            // A comparison of the states reports these, and what the step created and took.
            LoggedPlace::Task(_) | LoggedPlace::Thread(_) | LoggedPlace::Event(_) => {}
            LoggedPlace::Started(_) | LoggedPlace::Busy(_) | LoggedPlace::Failed => {}
        }
    }

    fn memory(&mut self, container: Place, touch: &LoggedAccess, same: bool) {
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

    /// Adds the elements of a container that is read.
    fn elements_of(&mut self, container: Place, touch: &LoggedAccess) {
        if !has_elements(&self.tables.elements, &touch.place) {
            return;
        }
        for (index, _) in touch.value.iter().flat_map(Value::elements) {
            self.push(Places::element(container, &index), TouchKind::Read);
        }
    }

    /// Adds accesses as reads.
    pub(super) fn reads(&mut self, touches: &[LoggedAccess]) {
        for touch in touches {
            let kind = AccessKind::Read;
            self.logged(&LoggedAccess { kind, ..touch.clone() }, None);
        }
    }

    /// Adds what a step did to mailboxes, threads and flags.
    pub(super) fn step(&mut self, step: StepId, after: &State, log: &Log, failed: bool) {
        if step == StepId::Init {
            self.push(Places::INIT, TouchKind::Write);
        }
        self.taken(step);
        self.flags(after);
        // No state follows a failure: no thread has moved.
        if !failed {
            self.threads(step, after);
        }
        for created in log.created.iter().filter(|created| !created.fork) {
            self.posted(created.queue, created.uid, after);
        }
        for (uid, _) in &log.cancelled {
            self.cancelled(*uid);
        }
    }

    /// Adds the posts of a remembered step to delayed mailboxes: whether a message comes first
    /// there depends on the state.
    pub(super) fn delayed(&mut self, after: &State) {
        for message in after.messages().iter().filter(|m| m.uid >= self.before.next_uid) {
            self.posted(message.queue, message.uid, after);
        }
    }

    /// Adds the message that the step takes.
    pub(super) fn taken(&mut self, step: StepId) {
        let Some(message) = step.message(self.before) else { return };
        if self.machine.layout.mailbox(message.queue as usize) == MailboxKind::Delayed {
            self.push(Places::NOW, TouchKind::Write);
        }
        self.gone(message);
    }

    fn cancelled(&mut self, uid: u64) {
        let before = self.before;
        // A message that the step itself posted concerns no other task.
        if let Some(message) = before.messages().iter().find(|message| message.uid == uid) {
            self.gone(message);
        }
    }

    /// Adds a message that left its mailbox.
    fn gone(&mut self, message: &Message) {
        let queue = message.queue;
        let key = keys::message(self.machine, message);
        self.push(Places::standing(key), TouchKind::Write);
        if !self.machine.layout.is_bag(queue as usize) || message.front {
            self.at(Kind::Head, u64::from(queue), TouchKind::Write);
        }
        if let Some(lifecycle) = self.tables.lifecycles.of_post(queue, message.task) {
            self.at(Kind::Lifecycle, lifecycle, TouchKind::Write);
        }
    }

    /// Adds a message that was posted. The log says whether it came last or in front.
    fn posted(&mut self, queue: u32, uid: u64, after: &State) {
        let messages = after.queue(queue as usize);
        // A message that the same step cancelled concerns no other task.
        let Some(message) = messages.iter().rev().find(|message| message.uid == uid) else {
            return;
        };
        let key = keys::message(self.machine, message);
        self.push(Places::standing(key), TouchKind::Write);
        if self.machine.layout.mailbox(queue as usize) == MailboxKind::Delayed {
            // The post reads whether its message comes first.
            let first = messages.first().is_some_and(|first| first.uid == uid);
            let touch = if first { TouchKind::Write } else { TouchKind::Read };
            self.at(Kind::Head, u64::from(queue), touch);
        }
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

    fn threads(&mut self, step: StepId, after: &State) {
        let (old, new) = (self.before.threads(), after.threads());
        let same = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| Arc::ptr_eq(a, b));
        if same {
            return;
        }
        let own = step.thread(self.before);
        let changed = |one: &Arc<Thread>, others: &[Arc<Thread>]| {
            if others.iter().any(|other| Arc::ptr_eq(one, other)) {
                return false;
            }
            let other = others.iter().find(|other| is_one(one, other));
            other.is_none_or(|other| {
                let steps = own.is_some_and(|own| is_one(one, own));
                (one.status, &one.frames) != (other.status, &other.frames)
                    // Registers of other threads can only have new numbers for objects and handles.
                    || steps && (one.regs.iter().any(Value::holds_refs) || one.regs != other.regs)
            })
        };
        for one in old.iter().filter(|one| changed(one, new)) {
            self.push(Places::standing(keys::thread(one)), TouchKind::Write);
            if !new.iter().any(|other| is_one(one, other)) {
                self.comes_or_goes(one);
                self.ended(one);
            }
        }
        for one in new.iter().filter(|one| changed(one, old)) {
            self.push(Places::standing(keys::thread(one)), TouchKind::Write);
            if !old.iter().any(|other| is_one(one, other)) {
                self.comes_or_goes(one);
            }
        }
    }

    /// Adds a thread that began or ended.
    fn comes_or_goes(&mut self, one: &Thread) {
        if let Origin::Slot(slot) = one.origin {
            self.at(Kind::Busy, u64::from(slot), TouchKind::Write);
        }
        if let ThreadBody::Event(member) = one.body {
            self.at(Kind::Started, u64::from(member), TouchKind::Write);
        }
    }

    /// Adds the lifecycle of a thread that ended.
    fn ended(&mut self, one: &Thread) {
        let lifecycles = &self.tables.lifecycles;
        let lifecycle = match (one.body, one.origin) {
            (ThreadBody::Func(func), _) => lifecycles.of_fork(func),
            (ThreadBody::Task(task), Origin::Slot(slot)) => lifecycles.of_post(slot, task),
            (ThreadBody::Task(task), _) => {
                lifecycles.of_post(self.machine.layout.pool() as u32, task)
            }
            (ThreadBody::Thread | ThreadBody::Event(_), _) => None,
        };
        if let Some(lifecycle) = lifecycle {
            self.at(Kind::Lifecycle, lifecycle, TouchKind::Write);
        }
    }
}

/// Returns whether threads of two states are the same thread.
fn is_one(a: &Thread, b: &Thread) -> bool {
    (a.origin, a.uid, a.body) == (b.origin, b.uid, b.body)
}

/// Appends the places that decide whether a task is ready.
pub(super) fn awaits(machine: &Machine, tables: &Tables, key: TaskKey, out: &mut Vec<Place>) {
    let places = &tables.places;
    let mut out = Sink { machine, out };
    if places.init {
        out.push(Places::INIT);
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
            for other in layout.members_before(declared) {
                out.push(places.at(Kind::Started, u64::from(other)));
            }
            if !machine.atomic {
                let slot = layout.member_slot[member as usize];
                out.push(places.at(Kind::Busy, u64::from(slot)));
            }
        }
        keys::KeyKind::Message(queue, _) => {
            if !machine.layout.is_bag(queue as usize) || places.fronts {
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
