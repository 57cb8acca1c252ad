//! The outcomes of all runs and of the serial ones, by visiting every state (Definition 1).

use crate::robust_brute::ast::Order;
use crate::robust_brute::code::{Op, Position, Program};
use crate::robust_brute::machine::{
    Actor, Fault, Holder, Id, Message, Runs, State, Step, Value, actors, initial, is_live, is_next,
    steps, waits_at,
};
use crate::robust_brute::mutants::Mutant;
use crate::robust_brute::rename::renamed;
use std::collections::{BTreeSet, HashSet};

/// What a run ends with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// Nothing is left to run: the shared memory, and how often each event has happened.
    Memory(Memory),
    Failure(Fault),
}

/// The shared memory of a state in which nothing runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Memory {
    vars: Vec<Value>,
    locks: Vec<Holder>,
    on: Vec<bool>,
    count: Vec<u8>,
}

/// The outcomes of some runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) all: BTreeSet<Outcome>,
    /// For each deadlock, the places at which something waits. For serial runs: the place at which
    /// each stuck one waits.
    pub(crate) stuck: BTreeSet<BTreeSet<Position>>,
    /// Whether these are all.
    pub(crate) complete: bool,
    /// Whether an event could happen once more than it may.
    pub(crate) more: bool,
    /// Whether a task was cancelled.
    pub(crate) cancelled: bool,
    pub(crate) states: usize,
}

/// The maximum number of invocations of an expanded state.
const INVOCATIONS: usize = 10;

/// Longest name of one, where names are kept.
const NAME: usize = 9;

/// Whether a state has more invocations than are expanded.
pub(crate) fn is_too_large(state: &State) -> bool {
    let pending = state.pending.iter().map(|one| &one.id);
    state.running.len() + state.pending.len() > INVOCATIONS
        || state.running.keys().chain(pending).any(|id| id.len() > NAME)
}

/// Whether nothing is left to run.
pub(crate) fn is_quiet(state: &State) -> bool {
    state.running.is_empty() && state.pending.is_empty()
}

/// The memory of a quiet state (C2, C3).
pub(crate) fn memory(program: &Program, state: &State) -> Memory {
    let ended = |value: &Value| match value {
        Value::Handle(Some(_)) => Value::Handle(Some(Id::from([]))),
        other => other.clone(),
    };
    let flag = |at: usize| {
        let over = program.members[at].once && state.count[at] > 0;
        state.on[at] && !over
    };
    Memory {
        vars: state.vars.iter().map(ended).collect(),
        locks: state.locks.iter().map(|holder| holder_of(state, holder)).collect(),
        on: (0..program.members.len()).map(flag).collect(),
        count: match program.mutant {
            Some(Mutant::CountsAreForgotten) => Vec::new(),
            _ => state.count.clone(),
        },
    }
}

/// The holder of a lock; all that have ended are one.
fn holder_of(state: &State, holder: &Holder) -> Holder {
    match holder {
        Holder::Task(id) if !is_live(state, id) => Holder::Task(Id::from([])),
        other => other.clone(),
    }
}

/// The outcomes of runs before anything has run.
pub(crate) fn begins(program: &Program) -> Vec<Outcome> {
    let states = initial(program).into_iter().filter_map(|step| step.next.ok());
    states.filter(is_quiet).map(|state| Outcome::Memory(memory(program, &state))).collect()
}

/// Whether something can run after `init`.
pub(crate) fn runs(program: &Program, repeat: u8) -> bool {
    initial(program).iter().filter_map(|step| step.next.as_ref().ok()).any(|state| {
        let mut actors = actors(program, state, repeat).into_iter();
        actors.any(|actor| !steps(program, state, &actor).is_empty())
    })
}

/// Visits all states of the multi-thread semantics.
pub(crate) fn concurrent(program: &Program, repeat: u8, most: usize) -> Outcomes {
    let mut found = Outcomes { complete: true, ..Outcomes::default() };
    let mut seen = HashSet::new();
    let mut open = Vec::new();
    for step in initial(program) {
        visit(program, step, &mut seen, &mut open, &mut found.all);
    }
    while let Some(state) = open.pop() {
        if seen.len() > most {
            found.complete = false;
            break;
        }
        if is_too_large(&state) {
            found.complete = false;
            continue;
        }
        if is_quiet(&state) {
            found.all.insert(Outcome::Memory(memory(program, &state)));
        }
        let mut any = false;
        for actor in actors(program, &state, repeat) {
            for step in steps(program, &state, &actor) {
                any = true;
                found.cancelled |= !step.log.cancelled.is_empty();
                visit(program, step, &mut seen, &mut open, &mut found.all);
            }
        }
        let more = actors(program, &state, u8::MAX).iter().any(|actor| {
            matches!(actor, Actor::Start(member) if state.count[*member] >= repeat
                && !program.members[*member].once
                && !steps(program, &state, actor).is_empty())
        });
        found.more |= more;
        if !any && !more {
            found.stuck.extend(places(program, &state));
        }
    }
    found.states = seen.len();
    found
}

fn visit(
    program: &Program,
    step: Step,
    seen: &mut HashSet<State>,
    open: &mut Vec<State>,
    all: &mut BTreeSet<Outcome>,
) {
    match step.next {
        Err(fault) => _ = all.insert(Outcome::Failure(fault)),
        Ok(state) => {
            let state = renamed(program, state);
            if seen.insert(state.clone()) {
                open.push(state);
            }
        }
    }
}

/// The places at which something waits in a state without steps; `None` if nothing must go on.
pub(crate) fn places(program: &Program, state: &State) -> Option<BTreeSet<Position>> {
    let lane = |mailbox: Option<usize>| mailbox.is_some_and(|one| program.mailboxes[one].daemon);
    let (mut places, mut of_daemons) = (BTreeSet::new(), BTreeSet::new());
    let mut waits = false;
    for (id, one) in &state.running {
        let body = program.body(one.runs);
        let daemon = match one.runs {
            Runs::Member(member) => program.members[member].daemon,
            Runs::Code(code) => program.daemons[code],
            Runs::Init => false,
        };
        // A daemon must not wait for a lock for ever.
        let lock = matches!(body.ops[one.at], Op::Acquire(..));
        let at = waits_at(program, state, &Actor::Continue(id.clone()));
        if !(daemon || lane(one.mailbox)) || lock {
            waits = true;
            places.extend(at);
        } else {
            of_daemons.extend(at);
        }
    }
    for one in &state.pending {
        if !lane(one.mailbox) && !program.daemons[one.code] {
            waits = true;
            let free = state
                .running
                .values()
                .all(|other| one.mailbox.is_none() || other.mailbox != one.mailbox);
            if free && is_next(program, state, one) {
                places.extend(waits_at(program, state, &Actor::Take(one.id.clone())));
            }
        }
    }
    let places = if places.is_empty() { of_daemons } else { places };
    waits.then_some(places)
}

/// Visits all serial runs: whole events, each with its tasks in the reference order.
pub(crate) fn serial(program: &Program, repeat: u8, most: usize) -> Outcomes {
    let mut found = Outcomes { complete: true, ..Outcomes::default() };
    let mut seen = HashSet::new();
    let mut open = Vec::new();
    for mut step in initial(program) {
        if let (Ok(state), Some(Mutant::TasksOfInitNeverRun)) = (&mut step.next, program.mutant) {
            state.pending.clear();
        }
        visit(program, step, &mut seen, &mut open, &mut found.all);
    }
    while let Some(mut state) = open.pop() {
        if seen.len() > most {
            found.complete = false;
            break;
        }
        if is_too_large(&state) {
            found.complete = false;
            continue;
        }
        let next: Vec<Actor> = if is_quiet(&state) {
            found.all.insert(Outcome::Memory(memory(program, &state)));
            actors(program, &state, repeat)
        } else {
            vec![next_in_order(program, &mut state)]
        };
        let mut any = false;
        for actor in &next {
            for step in steps(program, &state, actor) {
                any = true;
                visit(program, step, &mut seen, &mut open, &mut found.all);
            }
        }
        if !any && !is_quiet(&state) {
            found.stuck.insert(waits_at(program, &state, &next[0]));
        }
    }
    found.states = seen.len();
    found
}

/// What comes next in an event that has begun alone: its running body, or the first pending task,
/// depth-first, that its mailbox delivers.
fn next_in_order(program: &Program, state: &mut State) -> Actor {
    if let Some(id) = state.running.keys().next() {
        return Actor::Continue(id.clone());
    }
    let delayed = |one: &Message| {
        one.mailbox.is_some_and(|mailbox| program.mailboxes[mailbox].order == Order::Delayed)
    };
    loop {
        let next = |one: &&Message| is_next(program, state, one);
        let due = |one: &&Message| !delayed(one) || one.due <= state.clock;
        let first = state.pending.iter().filter(next).filter(due).min_by_key(|one| one.id.clone());
        if let Some(first) = first {
            return Actor::Take(first.id.clone());
        }
        // Nothing else can run, so time passes.
        let due = state.pending.iter().filter(next).map(|one| one.due).min();
        state.clock = due.expect("a message that is due later");
    }
}
