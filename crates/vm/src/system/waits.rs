//! What waits in a state, and for what. In a state without steps this describes the deadlock.
//!
//! A thread that has not ended waits, and so does a message in a mailbox. A daemon may wait for
//! ever, but not for a lock: its holder will never release it, and no program intends that.

use super::name::{Detail, Name};
use super::words::{
    body_name, cond_name, lock_name, message_name, queue_name, slot_name, thread_name,
};
use crate::machine::{INIT_FLAG, Machine, Owner};
use crate::program::{FuncId, HandlerId, SiteId, SourceSite, TaskId};
use crate::state::{Message, Origin, State, Status, StepId, Thread, ThreadBody, threads};
use crate::step::{Blocked, LoggedPlace};
use crate::transitions::{Action, StepExecutor};

/// The reason of a wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A lock.
    Lock {
        /// The lock.
        lock: Name,
        /// Its number.
        number: u32,
        /// The name of its holder; `None` if the holder has ended.
        holder: Option<Name>,
    },
    /// A notification.
    Notify {
        /// The condition.
        cond: Name,
    },
    /// The end of a thread or task.
    End {
        /// Its name.
        of: Name,
    },
    /// A condition that it assumes.
    Assumption,
    /// Its turn: other messages come first, or the handler runs a body that waits.
    Turn,
}

/// Something that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The name of the thread, the handler, or the event without a handler.
    pub who: Name,
    /// The body that it runs, or the message; `None` if that is its name.
    pub runs: Option<Name>,
    /// Whether it is a message in a mailbox.
    pub message: bool,
    /// The reason.
    pub reason: Reason,
    /// Its source position.
    pub site: Option<SourceSite>,
    /// Whether the program allows it to wait for ever.
    pub may: bool,
}

impl Machine {
    /// Returns everything that waits in a state, in the order of reports. Linear in the state; runs
    /// each thread up to the instruction that blocks.
    #[must_use]
    pub fn waiting(&self, state: &State) -> Vec<Waiting> {
        if state.flag(INIT_FLAG) {
            return Vec::new();
        }
        let mut executor = StepExecutor::new(self, state);
        let mut all: Vec<Waiting> = threads(state)
            .map(|(thread, step)| self.thread(state, &mut executor, thread, step))
            .collect();
        for (queue, messages) in state.queues() {
            for (message, position) in messages.iter().zip(0..) {
                all.push(self.message(&mut executor, (queue, message), position));
            }
        }
        all
    }

    /// Returns the position of the last access of a step to a lock, if it accesses the lock.
    #[must_use]
    pub fn lock_site(&self, state: &State, action: &Action, lock: u32) -> Option<SourceSite> {
        let log = StepExecutor::logging(self, state).run_one(action)?.log;
        let place = LoggedPlace::Lock(lock);
        let access = log.accesses.iter().rfind(|access| access.place == place)?;
        Some(self.program.sites.get(access.site.index()).copied().unwrap_or_default())
    }

    /// Returns where a step of an invocation waits that cannot be taken.
    pub(crate) fn waits_at(&self, state: &State, step: StepId) -> Option<SourceSite> {
        let mut executor = StepExecutor::new(self, state);
        match step.thread(state) {
            Some(thread) => self.source(blocked(&mut executor, thread, step).1),
            None => self.source(executor.blocked(step)?.1),
        }
    }

    /// Returns whether something waits that must not wait for ever.
    pub(crate) fn something_waits(&self, state: &State) -> bool {
        let undelivered = |(queue, messages): (usize, &[Message])| {
            messages.iter().any(|message| !self.may_stay(queue, message))
        };
        if state.queues().any(undelivered) {
            return true;
        }
        let mut executor = StepExecutor::new(self, state);
        threads(state).any(|(thread, step)| {
            !self.is_daemon(thread)
                || matches!(blocked(&mut executor, thread, step).0, Blocked::Lock(_))
        })
    }

    pub(super) fn is_daemon_handler(&self, queue: usize) -> bool {
        let handler = self.layout.handler_of.get(queue);
        handler.is_some_and(|handler| self.program.daemons.handlers.contains(&HandlerId(*handler)))
    }

    /// Returns whether a message may stay in its mailbox for ever.
    fn may_stay(&self, queue: usize, message: &Message) -> bool {
        self.is_daemon_handler(queue) || self.program.daemons.tasks.contains(&TaskId(message.task))
    }

    /// Returns whether a thread may wait for ever, unless it waits for a lock.
    pub(super) fn is_daemon(&self, thread: &Thread) -> bool {
        let daemons = &self.program.daemons;
        let own = match (thread.body, thread.origin) {
            (ThreadBody::Thread, Origin::Declared(member)) => {
                let (declared, _) = self.layout.thread_members[member as usize];
                daemons.threads.iter().any(|one| one.index() == usize::from(declared))
            }
            (ThreadBody::Thread, _) => false,
            (ThreadBody::Event(member), _) => {
                let (event, _) = self.layout.members[member as usize];
                daemons.events.iter().any(|one| one.index() == usize::from(event))
            }
            (ThreadBody::Task(task), _) => daemons.tasks.contains(&TaskId(task)),
            (ThreadBody::Func(func), _) => daemons.functions.contains(&FuncId(func)),
        };
        own || matches!(thread.origin, Origin::Slot(slot) if self.is_daemon_handler(slot as usize))
    }

    fn thread(
        &self,
        state: &State,
        executor: &mut StepExecutor<'_>,
        thread: &Thread,
        step: StepId,
    ) -> Waiting {
        let (for_what, site) = blocked(executor, thread, step);
        let may = self.is_daemon(thread) && !matches!(for_what, Blocked::Lock(_));
        let reason = match (thread.status, for_what) {
            (Status::Waiting { cond, .. }, _) => Reason::Notify { cond: cond_name(self, cond) },
            (_, Blocked::Lock(lock)) => {
                let holder = self.owner(state, state.lock(lock as usize));
                Reason::Lock { lock: lock_name(self, lock), number: lock, holder }
            }
            (_, Blocked::Join(handle)) => Reason::End { of: self.named(state, handle) },
            (_, Blocked::Assumption) => Reason::Assumption,
        };
        let who = self.who(thread);
        let runs = Some(body_name(self, thread)).filter(|_| thread.body != ThreadBody::Thread);
        let runs = runs.filter(|runs| *runs != who);
        Waiting { who, runs, message: false, reason, site: self.source(site), may }
    }

    fn message(
        &self,
        executor: &mut StepExecutor<'_>,
        (queue, message): (usize, &Message),
        position: u32,
    ) -> Waiting {
        let number = queue as u32;
        let all = executor.state.threads();
        let busy = all.iter().any(|thread| thread.origin == Origin::Slot(number));
        let turn = position > 0 && !self.layout.is_bag(queue);
        let step = StepId::Message { queue: number, position, task: message.task };
        let stuck = if busy || turn { None } else { executor.blocked(step) };
        let reason = if stuck.is_some() { Reason::Assumption } else { Reason::Turn };
        Waiting {
            who: queue_name(self, queue),
            runs: Some(message_name(self, message)),
            message: true,
            reason,
            site: stuck.and_then(|(_, site)| self.source(site)),
            may: self.may_stay(queue, message),
        }
    }

    /// Returns the name of a thread that waits or holds a lock.
    pub(super) fn who(&self, thread: &Thread) -> Name {
        match thread.origin {
            Origin::Declared(member) => thread_name(self, member),
            Origin::Slot(slot) => slot_name(self, slot),
            Origin::Dynamic => {
                Name::new(body_name(self, thread).declared, Detail::Handle(thread.handle))
            }
        }
    }

    /// Returns the name of the holder of a lock.
    fn owner(&self, state: &State, owner: u32) -> Option<Name> {
        match self.layout.owner(owner) {
            Owner::Nobody | Owner::Dynamic(0) => None,
            Owner::Dynamic(handle) => Some(self.named(state, handle)),
            Owner::Thread(thread) => {
                let origin = Origin::Declared(thread);
                let lives = state.threads().iter().any(|thread| thread.origin == origin);
                lives.then(|| thread_name(self, thread))
            }
            Owner::Slot(slot) => Some(slot_name(self, slot)),
        }
    }

    /// Returns the name of the task or thread of a handle.
    fn named(&self, state: &State, handle: u32) -> Name {
        let thread = state.threads().iter().find(|thread| thread.handle == handle);
        if let Some(thread) = thread {
            return self.who(thread);
        }
        let message = state.messages().iter().find(|message| message.handle == handle);
        let unknown = || Name::new("", Detail::Handle(handle));
        message.map_or_else(unknown, |one| message_name(self, one))
    }

    fn source(&self, site: SiteId) -> Option<SourceSite> {
        self.program.sites.get(site.index()).copied().filter(|site| site.line > 0)
    }
}

/// Returns what a blocked thread waits for, and its position.
fn blocked(executor: &mut StepExecutor<'_>, thread: &Thread, step: StepId) -> (Blocked, SiteId) {
    let here = || {
        let frame = thread.frames.last();
        let program = &executor.machine.program;
        let function = frame.and_then(|frame| program.functions.get(usize::from(frame.func)));
        let site = function.zip(frame).and_then(|(f, frame)| f.sites.get(frame.pc as usize));
        site.copied().unwrap_or(SiteId(0))
    };
    match thread.status {
        Status::Waiting { .. } => (Blocked::Assumption, here()),
        Status::Woken { lock } if executor.state.lock(lock as usize) != 0 => {
            (Blocked::Lock(lock), here())
        }
        Status::Woken { .. } => (Blocked::Assumption, here()),
        Status::Ready => {
            let start = here();
            executor.blocked(step).unwrap_or((Blocked::Assumption, start))
        }
    }
}
