//! The machine as a program of invocations: each takes its next step at any time.

use super::accesses::{AccessTranslator, Elements};
use super::names::{StateNames, split};
use super::tasks::{add_deciding_reads, not_stopped};
use super::words;
use crate::machine::{INIT_FLAG, Machine};
use crate::program::{HandlerId, MailboxKind, Program, ProgramError};
use crate::state::{Origin, State};
use crate::step::{Log, LoggedAccess, LoggedPlace};
use crate::transitions::{StepExecutor, StepId, initial, threads};
use anyorder_system::{
    Access, AsyncSystem, EventInfo, HandlerInfo, HandlerOrder, Hash128, InvocationId,
    InvocationStep, Lane, PostedInvocation, RunError,
};
use anyorder_trace::{Interner, Location, Tables};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A program whose tasks each run on a thread of their own, with steps at shared accesses: an
/// [`AsyncSystem`].
///
/// Declared threads, forks and conditions are not part of this view:
/// [`unsupported`](Self::unsupported) names what a program has of them.
#[derive(Debug)]
pub struct AsyncRun {
    machine: Arc<Machine>,
    handlers: Vec<HandlerInfo>,
    events: Vec<EventInfo>,
    interner: Interner,
    elements: Elements,
}

impl AsyncRun {
    /// Makes the view of a program.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake in the program.
    pub fn new(program: Program) -> Result<AsyncRun, ProgramError> {
        let machine = Machine::unbound(program)?;
        let layout = &machine.layout;
        let handlers = (0..layout.pool()).map(|slot| HandlerInfo {
            name: words::slot_name(&machine, slot as u32),
            order: match layout.mailboxes[slot] {
                MailboxKind::Fifo => HandlerOrder::Fifo,
                MailboxKind::Bag => HandlerOrder::Bag,
                MailboxKind::Delayed => HandlerOrder::Delayed,
            },
        });
        let events = (0..).zip(&layout.members).map(|(member, (event, _))| {
            let declared = &machine.program.events[usize::from(*event)];
            let members = |events: &[crate::program::EventId]| {
                events.iter().flat_map(|other| layout.members_of(other.index())).collect()
            };
            let home = machine.homes.as_ref().and_then(|homes| homes[usize::from(*event)]);
            let lane = home.map_or(Lane::Own, |(handler, instance): (HandlerId, u16)| {
                Lane::Handler(layout.handler_first[handler.index()] + u32::from(instance))
            });
            EventInfo {
                name: words::event_name(&machine, member),
                task: split(&words::event_name(&machine, member)),
                lane,
                once: declared.once,
                after: members(&declared.after),
                started: members(&declared.started),
            }
        });
        let (handlers, events) = (handlers.collect(), events.collect());
        Ok(AsyncRun {
            handlers,
            events,
            interner: Interner::default(),
            elements: Elements::of(&machine),
            machine: Arc::new(machine),
        })
    }

    /// Returns what the program has that is no event and no task, in words; `None` if nothing.
    #[must_use]
    pub fn unsupported(&self) -> Option<&'static str> {
        use crate::program::Op;
        let program = &self.machine.program;
        if !program.threads.is_empty() {
            return Some("declared threads");
        }
        program.functions.iter().flat_map(|f| &f.code).find_map(|op| match op {
            Op::Fork { .. } => Some("forked threads"),
            Op::Wait { .. } => Some("conditions"),
            _ => None,
        })
    }

    /// Runs all alternatives of a step.
    fn run(
        &mut self,
        before: &State,
        step: StepId,
        invocation: InvocationId,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        let machine = self.machine.clone();
        let mut executor = StepExecutor::logging(&machine, before);
        let mut ran = Vec::new();
        executor.run(step, |executor, _, outcome| ran.push((outcome, executor.take_log())));
        let stopped = executor.interpreter.poll.is_stopped();
        let deciding = std::mem::take(&mut executor.deciding);
        drop(executor);
        if stopped {
            not_stopped()?;
        }
        let mut steps = Vec::with_capacity(ran.len());
        for (outcome, mut log) in ran {
            add_deciding_reads(&mut log, deciding.clone());
            let state = outcome.state;
            let failure = outcome.fault.map(|fault| fault.failure(&machine.program));
            let runs = running(&machine, &state, step, invocation);
            let invocation = match (invocation.0, runs) {
                (0, Some(uid)) => InvocationId(uid),
                _ => invocation,
            };
            let accesses = self.accesses(before, &state, &log)?;
            let posted = log.created.iter().map(|created| PostedInvocation {
                invocation: InvocationId(created.uid),
                task: machine.program.tasks[usize::from(created.number)].name.clone(),
                lane: self.lane(created.queue),
                front: created.front,
                delay: created.delay,
            });
            let posted = posted.collect();
            let cancelled = log.cancelled.iter().map(|(uid, _)| InvocationId(*uid)).collect();
            let ended = runs.is_none();
            steps.push(InvocationStep {
                state,
                invocation,
                accesses,
                posted,
                cancelled,
                ended,
                failure,
            });
        }
        Ok(steps)
    }

    fn lane(&self, queue: u32) -> Lane {
        if queue as usize == self.machine.layout.pool() { Lane::Own } else { Lane::Handler(queue) }
    }

    /// Translates the accesses of a step to shared memory and to the fate of tasks.
    fn accesses(
        &mut self,
        before: &State,
        after: &State,
        log: &Log,
    ) -> Result<Vec<Access>, RunError> {
        let full = |full: anyorder_trace::TableFull| RunError::Crashed(full.to_string());
        let machine = self.machine.clone();
        let (mut names, none) = (StateNames::default(), FxHashMap::default());
        // The number of its allocation names an object.
        let objects = before.heap().iter().chain(after.heap()).map(|object| object.uid);
        names.objects.extend(objects.chain(log.allocated.iter().copied()).map(|uid| (uid, uid)));
        let shared = |touch: &&LoggedAccess| {
            use LoggedPlace::{Cond, Enabled, Field, Global, Lock};
            matches!(touch.place, Global(_) | Field { .. } | Enabled(_) | Lock(_) | Cond(_))
        };
        let touches: Vec<LoggedAccess> = log.accesses.iter().filter(shared).cloned().collect();
        let mut translate = AccessTranslator {
            machine: &machine,
            interner: &mut self.interner,
            elements: &self.elements,
            names: &names,
            before: &names,
            state: before,
            allocated: &log.allocated,
            created: &none,
        };
        let mut accesses = translate.all(&touches).map_err(full)?;
        for touch in &log.accesses {
            if let LoggedPlace::Task(uid) = touch.place {
                let class = self.interner.name("task").map_err(full)?;
                let field = self.interner.name(&uid.to_string()).map_err(full)?;
                let location = Location::Static { class, field };
                let location = self.interner.location(location).map_err(full)?;
                let (kind, site) = (touch.kind, anyorder_trace::SiteId::UNKNOWN);
                accesses.push(Access { location, kind, site, read: None, written: None });
            }
        }
        Ok(accesses)
    }
}

/// Returns the creation of the thread that goes on with an invocation after a step.
fn running(
    machine: &Machine,
    state: &State,
    step: StepId,
    invocation: InvocationId,
) -> Option<u64> {
    let uid = |origin: Origin| {
        let found = state.threads().iter().find(|thread| {
            thread.origin == origin && (invocation.0 == 0 || thread.uid == invocation.0)
        });
        found.map(|thread| thread.uid)
    };
    match step {
        StepId::Event(member) => uid(Origin::Slot(machine.layout.member_slot[member as usize])),
        StepId::Message { .. } => uid(Origin::Dynamic),
        StepId::Thread { origin, .. } => uid(origin),
        StepId::Init => None,
    }
}

impl AsyncSystem for AsyncRun {
    type State = State;

    fn handlers(&self) -> &[HandlerInfo] {
        &self.handlers
    }

    fn events(&self) -> &[EventInfo] {
        &self.events
    }

    fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    fn initial(&mut self) -> Result<Vec<State>, RunError> {
        let state = initial(&self.machine);
        if !state.flag(INIT_FLAG) {
            return Ok(vec![state]);
        }
        let steps = self.run(&state, StepId::Init, InvocationId(0))?;
        match steps.iter().find_map(|step| step.failure.as_ref()) {
            Some(failure) => Err(RunError::Crashed(format!("init fails: {failure}"))),
            None => Ok(steps.into_iter().map(|step| step.state).collect()),
        }
    }

    fn start(&mut self, state: &State, event: u32) -> Result<Vec<InvocationStep<State>>, RunError> {
        if !crate::transitions::event_is_open(&self.machine, state, event) {
            return Ok(Vec::new());
        }
        self.run(state, StepId::Event(event), InvocationId(0))
    }

    fn advance(
        &mut self,
        state: &State,
        invocation: InvocationId,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        let pool = self.machine.layout.pool();
        let messages = state.queue(pool).iter();
        let found = messages.zip(0..).find(|(message, _)| message.uid == invocation.0);
        let step = match found {
            Some((message, position)) => {
                Some(StepId::Message { queue: pool as u32, position, task: message.task })
            }
            None => {
                threads(state).find(|(thread, _)| thread.uid == invocation.0).map(|(_, step)| step)
            }
        };
        match step {
            Some(step) => self.run(state, step, invocation),
            None => Ok(Vec::new()),
        }
    }

    fn memory(&self, state: &State) -> Hash128 {
        Hash128(state.sum)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        words::show(&self.machine, state)
    }
}
