//! All that a program can do, state by state. Nothing is left out and nothing is clever.

use super::follow::{History, Next, follow};
use super::{Concurrent, Do, Hold, Thing, Waits};
use std::collections::{BTreeMap, BTreeSet};

/// All that a program can do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// What every thread saw, for each execution that ended or got stuck; with the threads that are
    /// stuck, and whether one of them spins.
    pub ends: BTreeSet<(BTreeMap<usize, History>, BTreeSet<usize>, bool)>,
    /// All that a thread can have seen at some time.
    pub seen: BTreeSet<(usize, History)>,
    /// All failures.
    pub failures: BTreeSet<u32>,
    /// The number of states.
    pub states: usize,
}

/// A condition, a lock and so on, as it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Is {
    Number(u64),
    Lock { writer: bool, upgrader: bool, readers: u32 },
    Condition { waiting: Vec<usize>, notified: BTreeSet<usize> },
    Queue { items: Vec<u64>, room: u32, senders: u32, receivers: u32 },
    Barrier { size: u32, there: u32, generation: u64 },
    Permits { left: u64, closed: bool },
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct State {
    /// By thread that was spawned, what it saw.
    pub(super) histories: BTreeMap<usize, History>,
    things: Vec<Is>,
    tokens: BTreeSet<usize>,
    pub(super) ended: BTreeSet<usize>,
    /// Turns of spinning threads since something changed, and whose was the last one.
    spins: (u32, Option<usize>),
    /// The thread that made the last step, if it is in a call.
    pub(super) running: Option<usize>,
}

/// A number for content that a thread makes of other content.
#[must_use]
pub fn own_value(own: u64, last: u64) -> u64 {
    (last ^ own).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ own
}

/// Searches all that a program can do; `None` if there are more states than this.
#[must_use]
pub fn everything(program: &Concurrent, states_max: usize, fruitless_max: u32) -> Option<Outcome> {
    let start = State::start(program);
    let mut outcome = Outcome::default();
    let mut known = BTreeSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some(state) = todo.pop() {
        if known.len() > states_max {
            return None;
        }
        for (thread, seen) in seen(program, &state) {
            outcome.seen.insert((thread, seen));
        }
        for after in successors(program, &state, fruitless_max, &mut outcome) {
            if known.insert(after.clone()) {
                todo.push(after);
            }
        }
    }
    outcome.states = known.len();
    Some(outcome)
}

pub(super) fn seen(program: &Concurrent, state: &State) -> BTreeMap<usize, History> {
    let of = |(thread, history): (&usize, &History)| {
        (*thread, follow(&program.threads[*thread], history).seen)
    };
    state.histories.iter().map(of).collect()
}

fn begin(thing: &Thing) -> Is {
    match *thing {
        Thing::Number(value) | Thing::Content(value) | Thing::Owners(value) => Is::Number(value),
        Thing::Lock => Is::Lock { writer: false, upgrader: false, readers: 0 },
        Thing::Condition => Is::Condition { waiting: Vec::new(), notified: BTreeSet::new() },
        Thing::Queue(room) => Is::Queue { items: Vec::new(), room, senders: 1, receivers: 1 },
        Thing::Barrier(size) => Is::Barrier { size, there: 0, generation: 0 },
        Thing::Permits(left) => Is::Permits { left, closed: false },
    }
}

pub(super) fn successors(
    program: &Concurrent,
    state: &State,
    fruitless_max: u32,
    outcome: &mut Outcome,
) -> Vec<State> {
    let mut all = Vec::new();
    let mut spinning = Vec::new();
    let running: Vec<usize> =
        state.histories.keys().copied().filter(|thread| !state.ended.contains(thread)).collect();
    let (first, others): (Vec<usize>, Vec<usize>) =
        running.iter().partition(|thread| Some(**thread) == state.running);
    for (at, thread) in first.iter().chain(&others).copied().enumerate() {
        // In a call, nobody else runs.
        if at == first.len() && !all.is_empty() {
            break;
        }
        let history = &state.histories[&thread];
        match follow(&program.threads[thread], history).next {
            Next::Begin(_) | Next::Return(_) | Next::Yield => {
                let mut after = state.clone();
                after.saw(thread, 0);
                all.push(after);
            }
            Next::End => {
                let mut after = state.clone();
                after.ended.insert(thread);
                after.spins = (0, None);
                all.push(after);
            }
            Next::Fail(number) => {
                outcome.failures.insert(number);
                let mut after = state.clone();
                after.saw(thread, 0);
                after.spins = (0, None);
                all.push(after);
            }
            Next::GiveWay(op, result) => {
                let would = perform(state.clone(), thread, op);
                let changed =
                    would.iter().all(|after| after.histories[&thread].last() != Some(&result));
                if changed {
                    let mut after = state.clone();
                    after.saw(thread, 0);
                    all.push(after);
                } else {
                    spinning.push(thread);
                }
            }
            Next::Op(op) => all.extend(perform(state.clone(), thread, op)),
        }
    }
    let (turns, last) = state.spins;
    if all.is_empty() && !spinning.is_empty() && turns < fruitless_max {
        let later = spinning.iter().find(|thread| last.is_none_or(|last| **thread > last));
        let turn = *later.unwrap_or(&spinning[0]);
        let mut after = state.clone();
        after.saw(turn, 0);
        after.spins = (turns + 1, Some(turn));
        all.push(after);
    }
    if all.is_empty() {
        let stuck: BTreeSet<usize> = running.into_iter().collect();
        outcome.ends.insert((seen(program, state), stuck, !spinning.is_empty()));
    }
    for after in &mut all {
        after.note_running(program, state);
    }
    all
}

impl State {
    pub(super) fn start(program: &Concurrent) -> State {
        State {
            histories: [(0, Vec::new())].into(),
            things: program.things.iter().map(begin).collect(),
            tokens: BTreeSet::new(),
            ended: BTreeSet::new(),
            spins: (0, None),
            running: None,
        }
    }

    /// Notes who made the step from `before`, if it is in a call.
    pub(super) fn note_running(&mut self, program: &Concurrent, before: &State) {
        let stepped = |(thread, history): &(&usize, &History)| {
            before.histories.get(thread).is_some_and(|old| old.len() < history.len())
        };
        let stepped = self.histories.iter().find(stepped);
        let is_within = |(thread, history): &(&usize, &History)| {
            !follow(&program.threads[**thread], history).within.is_empty()
        };
        self.running = stepped.filter(is_within).map(|step| *step.0);
    }

    pub(super) fn saw(&mut self, thread: usize, result: u64) {
        self.histories.entry(thread).or_default().push(result);
    }
}

/// All states after an operation; none if it has to wait.
pub(super) fn perform(state: State, thread: usize, op: Do) -> Vec<State> {
    let before = state.clone();
    let mut after = state;
    let mut results: Vec<(State, u64)> = Vec::new();
    match op {
        Do::Choose(count) => {
            for result in 0..u64::from(count) {
                results.push((after.clone(), result));
            }
        }
        Do::Notify(thing, false, counted) => {
            let Is::Condition { waiting, .. } = &after.things[thing] else { unreachable!() };
            let waiting = waiting.clone();
            if waiting.is_empty() {
                results.push((after.clone(), 0));
            }
            for woken in waiting {
                let mut after = after.clone();
                let Is::Condition { waiting, notified } = &mut after.things[thing] else {
                    unreachable!()
                };
                waiting.retain(|other| *other != woken);
                notified.insert(woken);
                results.push((after, u64::from(counted)));
            }
        }
        op => {
            if let Some(result) = perform_alone(&mut after, thread, op) {
                results.push((after, result));
            }
        }
    }
    for (after, result) in &mut results {
        if after.tokens != before.tokens
            || after.things != before.things
            || after.histories.len() != before.histories.len()
            || counts_as_change(op, *result)
        {
            after.spins = (0, None);
        }
        after.saw(thread, *result);
    }
    results.into_iter().map(|result| result.0).collect()
}

/// Operations that end the turns of spinning threads even where they leave everything as it was.
fn counts_as_change(op: Do, result: u64) -> bool {
    match op {
        Do::Store(..)
        | Do::StoreAs(..)
        | Do::AddAs(..)
        | Do::Poke(_)
        | Do::Peek(_)
        | Do::Add(..)
        | Do::Unlock(..)
        | Do::Downgrade(_)
        | Do::Alter(..)
        | Do::Wait(..)
        | Do::Wake(..)
        | Do::Notify(..)
        | Do::Unpark(_)
        | Do::Senders(..)
        | Do::Receivers(..)
        | Do::Arrive(_)
        | Do::Release(..)
        | Do::Close(_)
        | Do::Retain(_)
        | Do::Disown(_)
        | Do::Spawn(_) => true,
        Do::Swap(_, old, _) => result == old,
        _ => false,
    }
}

/// A result without waiting: the failure of what does not wait.
fn refuse(waits: Waits, result: u64) -> Option<u64> {
    if waits == Waits::Ever { None } else { Some(result) }
}

fn perform_alone(state: &mut State, thread: usize, op: Do) -> Option<u64> {
    match op {
        Do::Load(n) | Do::LoadAs(n, _) | Do::Use(n) | Do::CountOwners(n) => Some(*state.number(n)),
        Do::Fence(_) | Do::Peek(_) | Do::Poke(_) => Some(0),
        Do::Store(n, value) | Do::StoreAs(n, value, _) | Do::Alter(n, value) => {
            *state.number(n) = value;
            Some(0)
        }
        Do::StoreNext(_) | Do::AlterNext(_) | Do::AlterOwn(..) => unreachable!("resolved before"),
        Do::Add(n, by) | Do::AddAs(n, by, _) => {
            let old = *state.number(n);
            *state.number(n) = old.wrapping_add(by);
            Some(old)
        }
        Do::Swap(n, old, new) => {
            let value = *state.number(n);
            if value == old {
                *state.number(n) = new;
            }
            Some(value)
        }
        Do::Retain(n) => {
            *state.number(n) += 1;
            Some(0)
        }
        Do::Disown(n) => {
            *state.number(n) = state.number(n).saturating_sub(1);
            Some(u64::from(*state.number(n) == 0))
        }
        Do::Revive(n) => {
            if *state.number(n) == 0 {
                return Some(0);
            }
            *state.number(n) += 1;
            Some(1)
        }
        Do::TakeSole(n) => {
            if *state.number(n) != 1 {
                return Some(0);
            }
            *state.number(n) = 0;
            Some(1)
        }
        Do::Park(waits) => match state.tokens.remove(&thread) {
            true => Some(1),
            false => refuse(waits, 0),
        },
        Do::Unpark(other) => {
            state.tokens.insert(other);
            Some(0)
        }
        Do::Spawn(child) => {
            state.histories.insert(child, Vec::new());
            Some(0)
        }
        Do::Join(child) => state.ended.contains(&child).then_some(0),
        Do::IsFinished(child) => Some(u64::from(state.ended.contains(&child))),
        op => perform_on_thing(state, thread, op),
    }
}

impl State {
    fn number(&mut self, thing: usize) -> &mut u64 {
        let Is::Number(value) = &mut self.things[thing] else { unreachable!("no number") };
        value
    }
}

fn is_free(lock: &Is, hold: Hold) -> bool {
    let Is::Lock { writer, upgrader, readers } = lock else { unreachable!("no lock") };
    match hold {
        Hold::Write => !writer && !upgrader && *readers == 0,
        Hold::Read => !writer,
        Hold::Upgradable => !writer && !upgrader,
    }
}

fn set_hold(lock: &mut Is, hold: Hold, held: bool) {
    let Is::Lock { writer, upgrader, readers } = lock else { unreachable!("no lock") };
    match hold {
        Hold::Write => *writer = held,
        Hold::Upgradable => *upgrader = held,
        Hold::Read if held => *readers += 1,
        Hold::Read => *readers -= 1,
    }
}

fn perform_on_thing(state: &mut State, thread: usize, op: Do) -> Option<u64> {
    let things = &mut state.things;
    match op {
        Do::Lock(n, hold, waits) => {
            if !is_free(&things[n], hold) {
                return refuse(waits, 0);
            }
            set_hold(&mut things[n], hold, true);
            return Some(1);
        }
        Do::IsFree(n, hold) => return Some(u64::from(is_free(&things[n], hold))),
        Do::Unlock(n, hold) => {
            set_hold(&mut things[n], hold, false);
            return Some(0);
        }
        Do::Downgrade(n) => {
            set_hold(&mut things[n], Hold::Write, false);
            set_hold(&mut things[n], Hold::Read, true);
            return Some(1);
        }
        Do::Upgrade(n, waits) => {
            let Is::Lock { readers, .. } = things[n] else { unreachable!("no lock") };
            if readers > 0 {
                return refuse(waits, 0);
            }
            set_hold(&mut things[n], Hold::Upgradable, false);
            set_hold(&mut things[n], Hold::Write, true);
            return Some(1);
        }
        Do::Wait(n, lock) => {
            set_hold(&mut things[lock], Hold::Write, false);
            let Is::Condition { waiting, .. } = &mut things[n] else { unreachable!() };
            waiting.push(thread);
            return Some(0);
        }
        _ => {}
    }
    let n = match op {
        Do::Wake(n, _)
        | Do::Notify(n, ..)
        | Do::Send(n, ..)
        | Do::Receive(n, _)
        | Do::Senders(n, _)
        | Do::Receivers(n, _)
        | Do::Arrive(n)
        | Do::Pass(n, _)
        | Do::Acquire(n, ..)
        | Do::Release(n, _)
        | Do::Close(n) => n,
        _ => unreachable!("done above"),
    };
    match (&mut things[n], op) {
        (Is::Condition { waiting, notified }, Do::Wake(_, waits)) => {
            if notified.remove(&thread) {
                return Some(1);
            }
            let result = refuse(waits, 0)?;
            waiting.retain(|other| *other != thread);
            Some(result)
        }
        (Is::Condition { waiting, notified }, Do::Notify(_, true, counted)) => {
            let count = waiting.len() as u64;
            notified.extend(waiting.drain(..));
            Some(if counted { count } else { 0 })
        }
        (Is::Queue { items, room, receivers, .. }, Do::Send(_, item, waits)) => {
            if *receivers == 0 {
                return Some(1);
            }
            if items.len() >= *room as usize {
                return refuse(waits, 2);
            }
            items.push(item);
            Some(0)
        }
        (Is::Queue { items, senders, .. }, Do::Receive(_, waits)) => {
            if !items.is_empty() {
                return Some(items.remove(0));
            }
            if *senders == 0 { Some(0) } else { refuse(waits, 1) }
        }
        (Is::Queue { senders, .. }, Do::Senders(_, more)) => {
            *senders = if more { *senders + 1 } else { senders.saturating_sub(1) };
            Some(0)
        }
        (Is::Queue { receivers, .. }, Do::Receivers(_, more)) => {
            *receivers = if more { *receivers + 1 } else { receivers.saturating_sub(1) };
            Some(0)
        }
        (Is::Barrier { size, there, generation }, Do::Arrive(_)) => {
            *there += 1;
            let of = *generation;
            let is_last = there >= size;
            if is_last {
                *there = 0;
                *generation += 1;
            }
            Some(2 * of + u64::from(is_last))
        }
        (Is::Barrier { generation, .. }, Do::Pass(_, of)) => (*generation > of).then_some(0),
        (Is::Permits { left, closed }, Do::Acquire(_, count, waits)) => {
            if *closed {
                return Some(2);
            }
            if *left < u64::from(count) {
                return refuse(waits, 0);
            }
            *left -= u64::from(count);
            Some(1)
        }
        (Is::Permits { left, .. }, Do::Release(_, count)) => {
            *left += u64::from(count);
            Some(0)
        }
        (Is::Permits { closed, .. }, Do::Close(_)) => {
            *closed = true;
            Some(0)
        }
        (thing, op) => unreachable!("{op:?} on {thing:?}"),
    }
}
