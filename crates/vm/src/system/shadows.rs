//! Shadow locations: what steps share besides memory, such as slots, mailboxes and time. An engine
//! that looks at accesses only must not take dependent steps for independent ones.
//!
//! The interpreter logs the accesses of posts, `cancel`, `join`, locks and conditions. This module
//! adds those that follow from the step as a whole.

use super::names::StateNames;
use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::state::{Origin, State, Status, StepId, Thread, ThreadBody};
use crate::step::{Log, LoggedAccess, LoggedPlace};
use anyorder_system::AccessKind;

/// A step with the states before and after it.
pub(crate) struct TakenStep<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) before: &'a State,
    pub(crate) step: StepId,
    pub(crate) after: &'a State,
    pub(crate) failed: bool,
}

/// Returns the accesses of a step to shadow locations.
pub(crate) fn shadows(stepped: &TakenStep<'_>, names: &StateNames, log: &Log) -> Vec<LoggedAccess> {
    let mut found = Found { stepped, touches: Vec::new() };
    // Nothing can run before `init`, or after a failure.
    let alone = stepped.failed || stepped.step == StepId::Init;
    found.push(LoggedPlace::Failed, if alone { AccessKind::Write } else { AccessKind::Read });
    match stepped.step {
        StepId::Init => {}
        StepId::Event(member) => found.event(member),
        StepId::Message { queue, .. } => found.message(queue, names),
        StepId::Thread { origin, .. } => found.thread(origin),
    }
    found.woken();
    for created in &log.created {
        found.push(LoggedPlace::Task(created.uid), AccessKind::Write);
    }
    found.touches
}

struct Found<'a> {
    stepped: &'a TakenStep<'a>,
    touches: Vec<LoggedAccess>,
}

/// Returns whether threads of two states are the same thread.
fn is_same(a: &Thread, b: &Thread) -> bool {
    a.origin == b.origin && a.uid == b.uid
}

impl Found<'_> {
    #[cfg_attr(test, track_caller)]
    fn push(&mut self, place: LoggedPlace, kind: AccessKind) {
        if self.stepped.machine.reports.drops() {
            return;
        }
        self.touches.push(LoggedAccess::plain(place, kind));
    }

    fn event(&mut self, member: u32) {
        let layout = &self.stepped.machine.layout;
        let declared = self.stepped.machine.event_of(member);
        self.push(LoggedPlace::Event(member), AccessKind::Rmw);
        for other in layout.members_before(declared) {
            self.push(LoggedPlace::Started(other), AccessKind::Read);
        }
        self.started(member);
        self.begins(layout.member_slot[member as usize]);
    }

    /// Reports that an event has begun or ended, if other events come after it.
    fn started(&mut self, member: u32) {
        let layout = &self.stepped.machine.layout;
        let (event, _) = layout.members[member as usize];
        if layout.keep_started[usize::from(event)] {
            self.push(LoggedPlace::Started(member), AccessKind::Write);
        }
    }

    /// Reports that a body begins in a slot. If it does not end at once, no other may begin there.
    fn begins(&mut self, slot: u32) {
        if self.stepped.machine.atomic {
            return;
        }
        let mut threads = self.stepped.after.threads().iter();
        match threads.find(|thread| thread.origin == Origin::Slot(slot)) {
            Some(stays) => {
                self.push(LoggedPlace::Busy(slot), AccessKind::Rmw);
                self.push(LoggedPlace::Task(stays.uid), AccessKind::Write);
            }
            None => self.push(LoggedPlace::Busy(slot), AccessKind::Read),
        }
    }

    fn message(&mut self, queue: u32, names: &StateNames) {
        let machine = self.stepped.machine;
        let Some(message) = self.stepped.step.message(self.stepped.before) else { return };
        self.push(LoggedPlace::Task(message.uid), AccessKind::Rmw);
        match machine.layout.mailbox(queue as usize) {
            MailboxKind::Bag if !message.front => {
                // A message in front of all others is taken first.
                if machine.program.posts.iter().any(|post| post.front) {
                    self.push(LoggedPlace::First(queue), AccessKind::Read);
                }
            }
            _ => self.push(LoggedPlace::First(queue), AccessKind::Rmw),
        }
        // Also if the message is due already: the accesses of a step must not depend on steps
        // before it that do not conflict with it.
        if names.is_delayed(message.uid) {
            self.push(LoggedPlace::Now, AccessKind::Rmw);
        }
        if (queue as usize) < machine.layout.pool() {
            self.begins(queue);
        }
    }

    fn thread(&mut self, origin: Origin) {
        let Some(thread) = self.stepped.step.thread(self.stepped.before) else { return };
        self.push(LoggedPlace::of_thread(thread), AccessKind::Rmw);
        if self.stepped.after.threads().iter().any(|other| is_same(other, thread)) {
            return;
        }
        if let Origin::Slot(slot) = origin {
            self.push(LoggedPlace::Busy(slot), AccessKind::Write);
        }
        if let ThreadBody::Event(member) = thread.body {
            self.started(member);
        }
    }

    /// Reports the threads that were notified.
    fn woken(&mut self) {
        let after = self.stepped.after.threads();
        for thread in self.stepped.before.threads() {
            if !matches!(thread.status, Status::Waiting { .. }) {
                continue;
            }
            let now = after.iter().find(|other| is_same(other, thread));
            if now.is_some_and(|now| !matches!(now.status, Status::Waiting { .. })) {
                self.push(LoggedPlace::of_thread(thread), AccessKind::Write);
            }
        }
    }
}
