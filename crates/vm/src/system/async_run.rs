//! The machine as a program of invocations: each takes its next step at any time.

use super::accesses::AccessTranslator;
use super::names::{StateNames, task_of};
use super::tasks::{add_deciding_reads, not_stopped};
use super::words;
use crate::machine::{Elements, INIT_FLAG, Machine};
use crate::program::{Granularity, MailboxKind, Program, ProgramError, SiteId, SourceSite};
use crate::state::{Origin, State, StepId, threads};
use crate::step::{Log, LoggedAccess, LoggedPlace};
use crate::transitions::{StepExecutor, candidates, event_is_open, initial, unstarted};
use anyorder_system::{
    Access, AccessKind, AsyncSystem, EventInfo, HandlerInfo, HandlerOrder, Hash128,
    InterleavedStep, InterleavedSystem, InvocationId, InvocationStep, Lane, PostedInvocation,
    RunError, Taker, WaitPlace,
};
use anyorder_trace::{Interner, Location, LocationId, Tables};
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
    /// The same program, by the rules of its handlers.
    bound: Arc<Machine>,
    /// The tasks that locations stand for.
    fates: FxHashMap<LocationId, u64>,
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
    pub fn new(mut program: Program) -> Result<AsyncRun, ProgramError> {
        // Nobody asks for updates here.
        program.components.clear();
        let mut by_access = program.clone();
        by_access.settings.granularity = Granularity::Access;
        let bound = Arc::new(Machine::new(by_access)?);
        let machine = Machine::unbound(program)?;
        let layout = &machine.layout;
        let handlers = (0..layout.pool()).map(|slot| HandlerInfo {
            name: words::slot_name(&machine, slot as u32).to_string(),
            order: match layout.mailboxes[slot] {
                MailboxKind::Fifo => HandlerOrder::Fifo,
                MailboxKind::Bag => HandlerOrder::Bag,
                MailboxKind::Delayed => HandlerOrder::Delayed,
            },
        });
        let mut handlers: Vec<HandlerInfo> = handlers.collect();
        let events = (0..).zip(&layout.members).map(|(member, (event, _))| {
            let declared = &machine.program.events[usize::from(*event)];
            let members = |events: &[crate::program::EventId]| {
                events.iter().flat_map(|other| layout.members_of(other.index())).collect()
            };
            let home = machine.homes.as_ref().and_then(|homes| homes[usize::from(*event)]);
            let name = words::event_name(&machine, member);
            let lane = match home {
                Some((handler, instance)) => {
                    Lane::Handler(layout.handler_first[handler.index()] + u32::from(instance))
                }
                None if declared.once => Lane::Own,
                // Without a handler, its occurrences follow one another nevertheless.
                None => {
                    let order = HandlerOrder::Bag;
                    handlers.push(HandlerInfo { name: name.to_string(), order });
                    Lane::Handler(handlers.len() as u32 - 1)
                }
            };
            EventInfo {
                task: task_of(&name),
                name: name.to_string(),
                lane,
                once: declared.once,
                after: members(&declared.after),
                started: members(&declared.started),
            }
        });
        let events = events.collect();
        Ok(AsyncRun {
            handlers,
            events,
            interner: Interner::default(),
            elements: Elements::of(machine.program()),
            fates: FxHashMap::default(),
            bound,
            machine: Arc::new(machine),
        })
    }

    /// Returns what the program has that is no event and no task, in words, with the place of the
    /// first; `None` if nothing.
    #[must_use]
    pub fn unsupported(&self) -> Option<(&'static str, Option<SourceSite>)> {
        use crate::program::Op;
        let program = &self.machine.program;
        let place = |site: Option<&SiteId>| {
            let site = site.and_then(|site| program.sites.get(site.index()))?;
            (site.line > 0).then_some(*site)
        };
        if let Some(thread) = program.threads.first() {
            let body = &program.functions[thread.body.index()];
            return Some(("a declared thread", place(body.sites.first())));
        }
        program.functions.iter().find_map(|f| {
            f.code.iter().zip(&f.sites).find_map(|(op, site)| match op {
                Op::Fork { .. } => Some(("a forked thread", place(Some(site)))),
                Op::Wait { .. } => Some(("a condition", place(Some(site)))),
                _ => None,
            })
        })
    }

    /// Runs all alternatives of a step.
    fn run(
        &mut self,
        machine: &Arc<Machine>,
        before: &State,
        step: StepId,
        invocation: InvocationId,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        let machine = machine.clone();
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
            // Whoever takes a task back comes in time or too late.
            if let Some(message) = step.message(before).filter(|message| message.handle != 0) {
                let place = LoggedPlace::Task(message.uid);
                log.accesses.insert(0, LoggedAccess::plain(place, AccessKind::Write));
            }
            let state = outcome.state;
            let failure = outcome.fault.map(|fault| fault.failure(&machine.program));
            let runs = running(&machine, &state, step, invocation);
            let invocation = match (invocation.0, runs) {
                (0, Some(uid)) => InvocationId(uid),
                _ => invocation,
            };
            let accesses = self.accesses(&machine, before, &state, &log)?;
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

    /// Returns the outcomes of `init`, with what it posted. Some may fail.
    fn beginnings(
        &mut self,
        machine: &Arc<Machine>,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        let state = unstarted(machine);
        if !state.flag(INIT_FLAG) {
            return Ok(vec![InvocationStep {
                state,
                invocation: InvocationId(0),
                accesses: Vec::new(),
                posted: Vec::new(),
                cancelled: Vec::new(),
                ended: true,
                failure: None,
            }]);
        }
        let steps = self.run(machine, &state, StepId::Init, InvocationId(0))?;
        if steps.iter().all(|step| step.failure.is_some())
            && let Some(failure) = steps.iter().find_map(|step| step.failure.as_ref())
        {
            return Err(RunError::Crashed(format!("`init` fails: {failure}")));
        }
        Ok(steps)
    }

    fn lane(&self, queue: u32) -> Lane {
        if queue as usize == self.machine.layout.pool() { Lane::Own } else { Lane::Handler(queue) }
    }

    /// Translates the accesses of a step to shared memory and to the fate of tasks.
    fn accesses(
        &mut self,
        machine: &Arc<Machine>,
        before: &State,
        after: &State,
        log: &Log,
    ) -> Result<Vec<Access>, RunError> {
        let full = |full: anyorder_trace::TableFull| RunError::Crashed(full.to_string());
        let machine = machine.clone();
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
                self.fates.insert(location, uid);
                // A `cancel` writes what becomes of the task, also if it comes too late.
                let late = log.kept.contains(&uid);
                let kind = if late { AccessKind::Rmw } else { touch.kind };
                let site = anyorder_trace::SiteId::UNKNOWN;
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
        StepId::Message { .. } => {
            state.threads().iter().map(|t| t.uid).find(|t| *t == invocation.0)
        }
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

    fn initial(&mut self) -> Result<Vec<InvocationStep<State>>, RunError> {
        self.beginnings(&self.machine.clone())
    }

    fn init_is_step(&self) -> bool {
        initial(&self.machine).flag(INIT_FLAG)
    }

    fn start(&mut self, state: &State, event: u32) -> Result<Vec<InvocationStep<State>>, RunError> {
        if !event_is_open(&self.machine, state, event) {
            return Ok(Vec::new());
        }
        self.run(&self.machine.clone(), state, StepId::Event(event), InvocationId(0))
    }

    fn advance(
        &mut self,
        state: &State,
        invocation: InvocationId,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        match step_of(state, invocation) {
            Some(step) => self.run(&self.machine.clone(), state, step, invocation),
            None => Ok(Vec::new()),
        }
    }

    fn live(&self, state: &State) -> Vec<(InvocationId, Hash128)> {
        let messages = state.queues().flat_map(|(_, queue)| {
            let places = queue.iter().enumerate();
            places.map(|(place, one)| (InvocationId(one.uid), Hash128(one.term(place))))
        });
        let threads = state.threads().iter();
        messages.chain(threads.map(|one| (InvocationId(one.uid), Hash128(one.hash)))).collect()
    }

    fn waits_at(&mut self, state: &State, invocation: InvocationId) -> Option<WaitPlace> {
        let step = step_of(state, invocation)?;
        let site = self.machine.waits_at(state, step)?;
        Some((site.line, site.column))
    }

    fn memory(&self, state: &State) -> Hash128 {
        Hash128(state.sum)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        words::show(&self.machine, state)
    }
}

/// Returns the next step of an invocation.
fn step_of(state: &State, invocation: InvocationId) -> Option<StepId> {
    let messages = state.queues().flat_map(|(queue, messages)| {
        messages.iter().zip(0..).map(move |(message, position)| (queue as u32, message, position))
    });
    let mut mine = messages.filter(|(_, message, _)| message.uid == invocation.0);
    match mine.next() {
        Some((queue, message, position)) => {
            Some(StepId::Message { queue, position, task: message.task })
        }
        None => threads(state).find(|(thread, _)| thread.uid == invocation.0).map(|(_, step)| step),
    }
}

impl InterleavedSystem for AsyncRun {
    fn begin(&mut self) -> Result<Vec<InvocationStep<State>>, RunError> {
        self.beginnings(&self.bound.clone())
    }

    fn steps(&mut self, state: &State) -> Result<Vec<InterleavedStep<State>>, RunError> {
        let machine = self.bound.clone();
        let mut possible = Vec::new();
        candidates(&machine, state, false, |step| possible.push(step));
        let mut steps = Vec::new();
        for step in possible {
            let (event, invocation) = match step {
                StepId::Event(member) => (Some(member), 0),
                StepId::Message { .. } => (None, step.message(state).map_or(0, |one| one.uid)),
                _ => (None, step.thread(state).map_or(0, |one| one.uid)),
            };
            let ran = self.run(&machine, state, step, InvocationId(invocation))?;
            let numbered = (0..).zip(ran);
            steps.extend(numbered.map(|(alternative, step)| InterleavedStep {
                event,
                alternative,
                step,
            }));
        }
        Ok(steps)
    }

    fn take(
        &mut self,
        state: &State,
        taker: Taker,
    ) -> Result<Vec<InvocationStep<State>>, RunError> {
        let machine = self.bound.clone();
        match taker {
            Taker::Event(event) if !event_is_open(&machine, state, event) => Ok(Vec::new()),
            Taker::Event(event) => self.run(&machine, state, StepId::Event(event), InvocationId(0)),
            Taker::Invocation(id) => match step_of(state, id) {
                Some(step) => self.run(&machine, state, step, id),
                None => Ok(Vec::new()),
            },
        }
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        Hash128(state.sum)
    }

    fn objects(&self, state: &State) -> Hash128 {
        state.heap().iter().fold(Hash128::new(), |hash, object| hash.number(object.uid))
    }

    fn fate(&self, location: LocationId) -> Option<InvocationId> {
        self.fates.get(&location).map(|uid| InvocationId(*uid))
    }

    fn posts_to_the_front(&self) -> bool {
        self.machine.program.posts.iter().any(|post| post.front)
    }
}
