//! The interpreter: what each part of a model may do next, from `docs/semantics.md`.

use crate::ast::{Order, VarKind};
use crate::code::{Body, Position, Program};
use crate::execution::{Execution, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The name of an invocation: the member of an event, which of its occurrences, and the place of
/// each post among those of its parent.
pub(crate) type Id = Rc<[u16]>;

/// The first number in names of what `init` posts.
pub(crate) const INIT: u16 = u16::MAX;

/// The first number in names of events; the member and its occurrence follow.
pub(crate) const EVENT: u16 = u16::MAX - 1;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Value {
    Int(i64),
    List(Vec<i64>),
    /// None is `null`.
    Handle(Option<Id>),
}

/// Who has a lock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Holder {
    Free,
    Mailbox(usize),
    Event(usize),
    Task(Id),
}

/// A posted task that has not begun.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) code: usize,
    pub(crate) argument: Option<Value>,
    /// None is a thread of its own.
    pub(crate) mailbox: Option<usize>,
    pub(crate) due: i64,
    pub(crate) front: bool,
}

/// What a body runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Runs {
    Init,
    Member(usize),
    Code(usize),
}

/// A body that has begun and not ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Running {
    pub(crate) runs: Runs,
    pub(crate) mailbox: Option<usize>,
    pub(crate) at: usize,
    pub(crate) registers: Vec<Value>,
    pub(crate) argument: Option<Value>,
    pub(crate) posts: u16,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) vars: Vec<Value>,
    pub(crate) locks: Vec<Holder>,
    pub(crate) on: Vec<bool>,
    pub(crate) count: Vec<u8>,
    pub(crate) clock: i64,
    /// In the order of the posts.
    pub(crate) pending: Vec<Message>,
    pub(crate) running: BTreeMap<Id, Running>,
}

/// A location of the shared memory, or of what the program decides by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Location {
    Var(usize),
    Element(usize, i64),
    Flag(usize),
    Lock(usize),
    Task(Id),
}

impl Location {
    pub(crate) fn overlaps(&self, other: &Location) -> bool {
        match (self, other) {
            (Location::Var(a), Location::Element(b, _))
            | (Location::Element(a, _), Location::Var(b)) => a == b,
            _ => self == other,
        }
    }
}

/// An access: a location, and whether it is written.
pub(crate) type Access = (Location, bool);

/// A failure: what fails, where, and the numbers in its message.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Fault(pub(crate) &'static str, pub(crate) Position, pub(crate) Vec<i64>);

/// What a post says about its task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Posted {
    pub(crate) id: Id,
    pub(crate) code: usize,
    pub(crate) mailbox: Option<usize>,
    pub(crate) delay: i64,
    pub(crate) front: bool,
}

/// What a step did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) accesses: Vec<Access>,
    pub(crate) posted: Vec<Posted>,
    pub(crate) cancelled: Vec<Id>,
}

/// Who takes a step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Actor {
    Start(usize),
    Take(Id),
    Continue(Id),
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) id: Id,
    pub(crate) log: Log,
    pub(crate) next: Result<State, Fault>,
}

/// Returns the states after `init`, one for each of its choices, or how it fails.
pub(crate) fn initial(program: &Program) -> Vec<Step> {
    let vars = program.vars.iter().map(|kind| match kind {
        VarKind::Int(first) => Value::Int(*first),
        VarKind::Array => Value::List(vec![0, 0]),
        VarKind::List => Value::List(Vec::new()),
        VarKind::Handle => Value::Handle(None),
    });
    let state = State {
        vars: vars.collect(),
        locks: vec![Holder::Free; program.locks],
        on: program.members.iter().map(|member| !member.disabled).collect(),
        count: vec![0; program.members.len()],
        clock: 0,
        pending: Vec::new(),
        running: BTreeMap::new(),
    };
    let id = Id::from([INIT]);
    let registers = vec![Value::Int(0); program.init.registers];
    let running =
        Running { runs: Runs::Init, mailbox: None, at: 0, registers, argument: None, posts: 0 };
    let start = Execution {
        program,
        state,
        running,
        id,
        visible_done: true,
        atomic: 1,
        log: Log::default(),
    };
    start.all().0
}

/// Returns who may take a step, as far as mailboxes and the order of events say.
pub(crate) fn actors(program: &Program, state: &State, repeat: u8) -> Vec<Actor> {
    let starts =
        (0..program.members.len()).filter(|member| may_start(program, state, *member, repeat));
    let takes = state.pending.iter().filter(|one| {
        one.mailbox.is_none_or(|mailbox| is_free(state, mailbox) && is_next(program, state, one))
    });
    let continues = state.running.keys().cloned().map(Actor::Continue);
    starts
        .map(Actor::Start)
        .chain(takes.map(|one| Actor::Take(one.id.clone())))
        .chain(continues)
        .collect()
}

/// Whether nothing runs on a handler.
fn is_free(state: &State, mailbox: usize) -> bool {
    state.running.values().all(|one| one.mailbox != Some(mailbox))
}

/// Whether the mailbox allows a message (M2 to M5).
pub(crate) fn is_next(program: &Program, state: &State, message: &Message) -> bool {
    let Some(mailbox) = message.mailbox else { return true };
    let all = || state.pending.iter().filter(|one| one.mailbox == message.mailbox);
    if let Some(latest) = all().rfind(|one| one.front) {
        return latest.id == message.id;
    }
    match program.mailboxes[mailbox].order {
        Order::Bag => true,
        Order::Fifo => all().next().is_some_and(|one| one.id == message.id),
        Order::Delayed => all().min_by_key(|one| one.due).is_some_and(|one| one.id == message.id),
    }
}

/// Whether an event may start (E1), but for its guard.
fn may_start(program: &Program, state: &State, member: usize, repeat: u8) -> bool {
    let info = &program.members[member];
    let code = |other: usize| state.running.values().any(|one| one.runs == Runs::Member(other));
    state.on[member]
        && state.count[member] < if info.once { 1 } else { repeat }
        && info.after.iter().all(|other| state.count[*other] > 0 && !code(*other))
        && info.started.iter().all(|other| state.count[*other] > 0)
        && match info.mailbox {
            Some(mailbox) => is_free(state, mailbox),
            None => !code(member),
        }
}

/// Returns the steps of one of the [`actors`], one for each choice.
pub(crate) fn steps(program: &Program, before: &State, actor: &Actor) -> Vec<Step> {
    attempt(program, before, actor).0
}

/// Returns the statements that one of the [`actors`] cannot pass.
pub(crate) fn waits_at(program: &Program, state: &State, actor: &Actor) -> BTreeSet<Position> {
    attempt(program, state, actor).1
}

/// The steps, and the statements that cannot be passed.
pub(crate) type Attempt = (Vec<Step>, BTreeSet<Position>);

fn attempt(program: &Program, before: &State, actor: &Actor) -> Attempt {
    let mut state = before.clone();
    let mut log = Log::default();
    let (id, running, visible_done) = match actor {
        Actor::Start(member) => {
            let info = &program.members[*member];
            log.accesses.push((Location::Flag(*member), false));
            if let Some(guard) = &info.guard {
                match holds(program, before, guard, info.parameter, &mut log) {
                    Ok(true) => {}
                    Ok(false) => return (Vec::new(), BTreeSet::new()),
                    Err(fault) => {
                        let id = occurrence(*member, state.count[*member]);
                        return (vec![Step { id, log, next: Err(fault) }], BTreeSet::new());
                    }
                }
            }
            if info.once {
                log.accesses.push((Location::Flag(*member), true));
            }
            let id = occurrence(*member, state.count[*member]);
            state.count[*member] += 1;
            let running = Running {
                runs: Runs::Member(*member),
                mailbox: info.mailbox,
                at: 0,
                registers: vec![Value::Int(0); info.body.registers],
                argument: info.parameter.map(Value::Int),
                posts: 0,
            };
            (id, running, true)
        }
        Actor::Take(id) => {
            let at = state.pending.iter().position(|one| one.id == *id).expect("a message");
            let message = state.pending.remove(at);
            let delayed =
                message.mailbox.is_some_and(|one| program.mailboxes[one].order == Order::Delayed);
            if delayed {
                state.clock = state.clock.max(message.due);
            }
            log.accesses.push((Location::Task(id.clone()), true));
            let running = Running {
                runs: Runs::Code(message.code),
                mailbox: message.mailbox,
                at: 0,
                registers: vec![Value::Int(0); program.codes[message.code].registers],
                argument: message.argument,
                posts: 0,
            };
            (id.clone(), running, true)
        }
        Actor::Continue(id) => {
            let running = state.running.remove(id).expect("a body that runs");
            (id.clone(), running, false)
        }
    };
    Execution { program, state, running, id, visible_done, atomic: 0, log }.all()
}

fn occurrence(member: usize, nth: u8) -> Id {
    Id::from([EVENT, member as u16, u16::from(nth)])
}

/// Evaluates a guard.
fn holds(
    program: &Program,
    state: &State,
    guard: &Body,
    parameter: Option<i64>,
    log: &mut Log,
) -> Result<bool, Fault> {
    let running = Running {
        runs: Runs::Init,
        mailbox: None,
        at: 0,
        registers: vec![Value::Int(0); guard.registers],
        argument: parameter.map(Value::Int),
        posts: 0,
    };
    let mut execution = Execution {
        program,
        state: state.clone(),
        running,
        id: Rc::from([]),
        visible_done: true,
        atomic: 1,
        log: Log::default(),
    };
    while let Some(op) = guard.ops.get(execution.running.at) {
        execution.running.at += 1;
        match execution.perform(op) {
            Ok(()) => {}
            Err(Stop::Fault(fault)) => return Err(fault),
            Err(Stop::Blocked) => return Ok(false),
        }
    }
    log.accesses.extend(execution.log.accesses);
    Ok(execution.running.registers[0] == Value::Int(1))
}

/// Whether a task has not ended.
pub(crate) fn is_live(state: &State, id: &Id) -> bool {
    state.running.contains_key(id) || state.pending.iter().any(|one| one.id == *id)
}
