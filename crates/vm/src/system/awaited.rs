//! The locations that decide whether each pending task can run, and how many alternatives it has.
//!
//! Enabled tasks have such locations, too: a guard that holds may stop to hold. The locations are
//! those that the check reads, so a step that writes none of them does not change the answer. Every
//! event, message and thread also waits for its own shadow location.

use super::names::StateNames;
use crate::machine::{INIT_FLAG, Machine};
use crate::program::MailboxKind;
use crate::state::{State, Status, StepId, Thread, threads};
use crate::step::{LoggedAccess, LoggedPlace};
use crate::transitions::{StepExecutor, event_is_open};
use anyorder_system::{AccessKind, TaskName};

/// Returns each pending task with the reads that decide about it.
pub(super) fn awaited(
    machine: &Machine,
    state: &State,
    names: &StateNames,
) -> Vec<(TaskName, Vec<LoggedAccess>)> {
    if state.flag(INIT_FLAG) {
        // All tasks wait for `init`, which conflicts with all of them.
        return Vec::new();
    }
    let mut query =
        AwaitedQuery { machine, executor: StepExecutor::logging(machine, state), state };
    query.executor.interpreter.notify_order = names.in_order(state);
    let mut found = Vec::new();
    for member in 0..machine.layout.members.len() as u32 {
        if let Some(touches) = query.event(member) {
            found.push((names.next(machine, state, StepId::Event(member)), touches));
        }
    }
    for (queue, messages) in state.queues() {
        for (position, message) in messages.iter().enumerate() {
            let (queue, position) = (queue as u32, position as u32);
            let step = StepId::Message { queue, position, task: message.task };
            found.push((names.next(machine, state, step), query.message(step, message.uid)));
        }
    }
    for (thread, step) in threads(state) {
        found.push((names.next(machine, state, step), query.thread(step, thread)));
    }
    found
}

struct AwaitedQuery<'a> {
    machine: &'a Machine,
    executor: StepExecutor<'a>,
    state: &'a State,
}

fn read(place: LoggedPlace) -> LoggedAccess {
    LoggedAccess::plain(place, AccessKind::Read)
}

impl AwaitedQuery<'_> {
    /// Returns the reads for an event; `None` if the event is over.
    fn event(&mut self, member: u32) -> Option<Vec<LoggedAccess>> {
        let layout = &self.machine.layout;
        let declared = self.machine.event_of(member);
        if declared.once && self.state.flag(layout.started_flag(member)) {
            return None;
        }
        let mut touches =
            vec![read(LoggedPlace::Event(member)), read(LoggedPlace::Enabled(member))];
        let others = layout.members_before(declared);
        touches.extend(others.map(|other| read(LoggedPlace::Started(other))));
        self.slot(layout.member_slot[member as usize], &mut touches);
        if event_is_open(self.machine, self.state, member) {
            self.add_deciding(StepId::Event(member), &mut touches);
        }
        Some(touches)
    }

    fn message(&mut self, step: StepId, uid: u64) -> Vec<LoggedAccess> {
        let mut touches = vec![read(LoggedPlace::Task(uid))];
        let StepId::Message { queue, position, .. } = step else { return touches };
        let layout = &self.machine.layout;
        let bag = layout.is_bag(queue as usize);
        if !bag || self.machine.program.posts.iter().any(|post| post.front) {
            touches.push(read(LoggedPlace::First(queue)));
        }
        if layout.mailbox(queue as usize) == MailboxKind::Delayed {
            touches.extend([read(LoggedPlace::Last(queue)), read(LoggedPlace::Now)]);
        }
        if (queue as usize) < layout.pool() {
            self.slot(queue, &mut touches);
        }
        let front = self.state.queue(queue as usize).first().is_some_and(|first| first.front);
        if position == 0 || (bag && !front) {
            self.add_deciding(step, &mut touches);
        }
        touches
    }

    fn thread(&mut self, step: StepId, thread: &Thread) -> Vec<LoggedAccess> {
        let mut touches = vec![read(LoggedPlace::of_thread(thread))];
        match thread.status {
            Status::Waiting { .. } => {}
            Status::Woken { lock } => touches.push(read(LoggedPlace::Lock(lock))),
            Status::Ready => self.add_deciding(step, &mut touches),
        }
        touches
    }

    /// Adds the slot: a task begins there only while no other runs there.
    fn slot(&self, slot: u32, touches: &mut Vec<LoggedAccess>) {
        if !self.machine.atomic {
            touches.push(read(LoggedPlace::Busy(slot)));
        }
    }

    /// Adds the accesses of a candidate while it can still be dropped or reach a choice, and the
    /// locks and tasks that it would wait for.
    fn add_deciding(&mut self, step: StepId, touches: &mut Vec<LoggedAccess>) {
        if self.executor.is_certain(step) {
            return;
        }
        let waits = |touch: &LoggedAccess| {
            matches!(touch.place, LoggedPlace::Lock(_) | LoggedPlace::Task(_))
        };
        self.executor.run(step, |executor, _, _| {
            touches.extend(executor.take_log().accesses.into_iter().filter(waits));
        });
        touches.append(&mut self.executor.deciding);
        for touch in touches {
            touch.kind = AccessKind::Read;
        }
    }
}
