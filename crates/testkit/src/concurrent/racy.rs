//! Races on plain data, from the definition: every interleaving, and in each the pairs of accesses
//! that happens-before leaves unordered.

use super::bounded::can_go_on;
use super::follow::{Next, follow};
use super::naive::{State, perform};
use super::{Call, Concurrent, Do, Hold, Order, Stmt, Thing, Waits};
use anyorder_common::random::{Random, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};

/// An event of an interleaving: the thread, what it did and the result.
type Event = (usize, Did, u64);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Op(Do),
    Begin(Call),
    Return(Call),
    Yield,
    /// The thread's end.
    End,
}

/// The plain data on which some execution has a race; `None` if there are more interleavings than
/// this. For programs without failures and without loops that spin for ever.
#[must_use]
pub fn racy_cells(program: &Concurrent, most: usize) -> Option<BTreeSet<usize>> {
    racy_cells_within(program, u32::MAX, most)
}

/// As [`racy_cells`], of executions with at most so many preemptions.
#[must_use]
pub fn racy_cells_within(
    program: &Concurrent,
    preemptions: u32,
    most: usize,
) -> Option<BTreeSet<usize>> {
    let (mut racy, mut left) = (BTreeSet::new(), most);
    let private = private(program, &mut left);
    if left == 0 {
        return None;
    }
    left = most;
    let start = (&State::start(program), preemptions);
    every(program, start, &mut Vec::new(), &mut left, &mut |events| {
        racy.append(&mut races_of(events, &private));
    });
    (left > 0).then_some(racy)
}

/// Every interleaving from a state with at most so many preemptions.
fn every(
    program: &Concurrent,
    (state, preemptions): (&State, u32),
    events: &mut Vec<Event>,
    left: &mut usize,
    visit: &mut impl FnMut(&[Event]),
) {
    let mut is_end = true;
    let last = events.last().map(|event| event.0);
    let held = last.filter(|last| can_go_on(program, state, *last));
    for (thread, history) in &state.histories {
        if *left == 0 {
            return;
        }
        if state.ended.contains(thread) || !may_run(program, state, *thread) {
            continue;
        }
        let (did, afters) = steps(program, state, *thread, history);
        let cost = u32::from(held.is_some_and(|held| held != *thread));
        for mut after in afters {
            is_end = false;
            let Some(preemptions) = preemptions.checked_sub(cost) else { continue };
            after.note_running(program, state);
            let result = after.histories[thread].last().copied().unwrap_or(0);
            events.push((*thread, did.clone(), result));
            every(program, (&after, preemptions), events, left, visit);
            events.pop();
        }
    }
    if is_end {
        *left = left.saturating_sub(1);
        visit(events);
    }
}

/// What a thread does, and all states after it.
fn steps(program: &Concurrent, state: &State, thread: usize, history: &[u64]) -> (Did, Vec<State>) {
    let mut after = state.clone();
    let did = match follow(&program.threads[thread], history).next {
        Next::Op(op) => return (Did::Op(op), perform(after, thread, op)),
        Next::Begin(call) => Did::Begin(call),
        Next::Return(call) => Did::Return(call),
        Next::Yield => Did::Yield,
        Next::End => {
            after.ended.insert(thread);
            return (Did::End, vec![after]);
        }
        next => unreachable!("no such statement: {next:?}"),
    };
    after.saw(thread, 0);
    (did, vec![after])
}

/// Whether no other thread is in a call and can go on.
fn may_run(program: &Concurrent, state: &State, thread: usize) -> bool {
    let Some(running) = state.running.filter(|running| *running != thread) else { return true };
    steps(program, state, running, &state.histories[&running]).1.is_empty()
}

/// The things that are only touched in calls of one object. What happens there is the object's.
fn private(program: &Concurrent, left: &mut usize) -> BTreeSet<usize> {
    let mut owners: BTreeMap<usize, BTreeSet<Option<usize>>> = BTreeMap::new();
    let start = (&State::start(program), u32::MAX);
    every(program, start, &mut Vec::new(), left, &mut |events| {
        let mut within: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (thread, did, _) in events {
            let within = within.entry(*thread).or_default();
            match did {
                Did::Begin(call) => within.push(call.object),
                Did::Return(_) => drop(within.pop()),
                Did::Op(op) => things(*op).into_iter().for_each(|thing| {
                    owners.entry(thing).or_default().insert(within.first().copied());
                }),
                Did::End | Did::Yield => {}
            }
        }
    });
    let is_private =
        |owners: &BTreeSet<Option<usize>>| owners.len() == 1 && !owners.contains(&None);
    owners.into_iter().filter(|thing| is_private(&thing.1)).map(|thing| thing.0).collect()
}

/// The things that an operation of these programs touches.
fn things(op: Do) -> Vec<usize> {
    match op {
        Do::LoadAs(n, _)
        | Do::StoreAs(n, ..)
        | Do::AddAs(n, ..)
        | Do::Peek(n)
        | Do::Poke(n)
        | Do::Lock(n, ..)
        | Do::Unlock(n, _)
        | Do::Send(n, ..)
        | Do::Receive(n, _) => vec![n],
        _ => Vec::new(),
    }
}

/// The cells with two unordered accesses, one of them a write.
fn races_of(events: &[Event], private: &BTreeSet<usize>) -> BTreeSet<usize> {
    let before = happens_before(events, private);
    let access = |at: usize| match events[at].1 {
        Did::Op(Do::Peek(cell)) if !private.contains(&cell) => Some((cell, false)),
        Did::Op(Do::Poke(cell)) if !private.contains(&cell) => Some((cell, true)),
        _ => None,
    };
    let mut racy = BTreeSet::new();
    for b in 0..events.len() {
        for a in 0..b {
            if let (Some((cell, first)), Some((other, second))) = (access(a), access(b))
                && cell == other
                && (first || second)
                && events[a].0 != events[b].0
                && !before[b].contains(&a)
            {
                racy.insert(cell);
            }
        }
    }
    racy
}

/// By event, the events that happen before it.
fn happens_before(events: &[Event], private: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for b in 0..events.len() {
        let mut all = BTreeSet::new();
        for a in 0..b {
            let is_inner = |at: usize| match events[at].1 {
                Did::Op(op) => things(op).iter().any(|thing| private.contains(thing)),
                _ => false,
            };
            if events[a].0 == events[b].0
                || (!is_inner(a) && !is_inner(b) && synchronises(events, a, b))
            {
                all.insert(a);
                all.extend(&before[a]);
            }
        }
        before.push(all);
    }
    before
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::Both)
}

fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::Both)
}

/// The number, whether it is read, whether it is written, and the ordering.
fn atomic(did: &Did) -> Option<(usize, bool, bool, Order)> {
    match *did {
        Did::Op(Do::LoadAs(n, order)) => Some((n, true, false, order)),
        Did::Op(Do::StoreAs(n, _, order)) => Some((n, false, true, order)),
        Did::Op(Do::AddAs(n, _, order)) => Some((n, true, true, order)),
        _ => None,
    }
}

/// Whether event `a` synchronises with event `b`, directly.
fn synchronises(events: &[Event], a: usize, b: usize) -> bool {
    let ((thread, left, left_result), (other, right, result)) = (&events[a], &events[b]);
    let (thread, left_result, other, result) = (*thread, *left_result, *other, *result);
    // A thread's end and what sees it; its beginning is the spawn.
    if *left == Did::End {
        return *right == Did::Op(Do::Join(thread))
            || (*right == Did::Op(Do::IsFinished(thread)) && result == 1);
    }
    if *left == Did::Op(Do::Spawn(other)) {
        return true;
    }
    // Calls that do not commute are ordered, and the later one knows of the earlier one.
    if let (Did::Return(left), Did::Begin(right)) = (left, right) {
        return left.object == right.object && left.clashes.contains(&right.call);
    }
    let (Did::Op(left), Did::Op(right)) = (left, right) else { return false };
    match (*left, *right) {
        (Do::Unlock(n, hold), Do::Lock(m, new, _)) => {
            n == m && result == 1 && (hold == Hold::Write || new == Hold::Write)
        }
        // A later unpark of a token that is there already counts, too.
        (Do::Unpark(of), Do::Park(_)) => of == other && result == 1,
        (Do::Send(n, ..), Do::Receive(m, _)) => {
            let sent = |event: &&Event| {
                matches!(event.1, Did::Op(Do::Send(k, ..)) if k == n) && event.2 == 0
            };
            let taken = |event: &&Event| {
                matches!(event.1, Did::Op(Do::Receive(k, _)) if k == n) && event.2 >= 2
            };
            n == m
                && left_result == 0
                && result >= 2
                && events[..a].iter().filter(sent).count()
                    == events[..b].iter().filter(taken).count()
        }
        _ => synchronises_by_atomics(events, a, b),
    }
}

/// Release and acquire, by operations or by fences.
fn synchronises_by_atomics(events: &[Event], a: usize, b: usize) -> bool {
    // The read: `b` itself if it acquires, or an earlier one of its thread if `b` is a fence.
    let reads: Vec<usize> = match &events[b].1 {
        Did::Op(Do::Fence(order)) if acquires(*order) => (0..b)
            .filter(|read| events[*read].0 == events[b].0)
            .filter(|read| atomic(&events[*read].1).is_some_and(|(_, reads, ..)| reads))
            .collect(),
        op => match atomic(op) {
            Some((_, true, _, order)) if acquires(order) => vec![b],
            _ => return false,
        },
    };
    // The heads of the release sequences that `a` begins: `a` itself if it releases, or later
    // writes of its thread if `a` is a fence.
    let heads: Vec<usize> = match &events[a].1 {
        Did::Op(Do::Fence(order)) if releases(*order) => (a + 1..b)
            .filter(|write| events[*write].0 == events[a].0)
            .filter(|write| atomic(&events[*write].1).is_some_and(|(_, _, writes, _)| writes))
            .collect(),
        op => match atomic(op) {
            Some((_, _, true, order)) if releases(order) => vec![a],
            _ => return false,
        },
    };
    reads.iter().any(|read| {
        let Some((number, ..)) = atomic(&events[*read].1) else { return false };
        let writes =
            |at: &usize| matches!(atomic(&events[*at].1), Some((n, _, true, _)) if n == number);
        // The write that is read, and back along the read-modify-writes that continue a sequence.
        let mut at = (0..*read).rev().find(writes);
        while let Some(write) = at {
            if heads.contains(&write) {
                return true;
            }
            let is_rmw = atomic(&events[write].1).is_some_and(|(_, reads, ..)| reads);
            at = if is_rmw { (0..write).rev().find(writes) } else { None };
        }
        false
    })
}

/// Makes a random program of two or three threads about plain data and all that can order it.
#[must_use]
pub fn random_racy_program(seed: u64) -> Concurrent {
    let mut rng = SplitMix64(seed);
    let things = vec![
        Thing::Number(0),
        Thing::Number(0),
        Thing::Content(0),
        Thing::Content(0),
        Thing::Lock,
        Thing::Queue(2),
    ];
    if !rng.percent(40) {
        return Concurrent { things, threads: publishing(&mut rng) };
    }
    let count = 2 + rng.index(2);
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::Both];
    let mut threads: Vec<Vec<Stmt>> = Vec::new();
    for _ in 0..count {
        let mut stmts = Vec::new();
        for _ in 0..2 + rng.index(if count == 2 { 4 } else { 2 }) {
            let (number, cell, order) = (rng.index(2), 2 + rng.index(2), rng.pick(&orders));
            let access = if rng.percent(50) { Do::Peek(cell) } else { Do::Poke(cell) };
            match rng.below(16) {
                0..6 => stmts.push(Stmt::Do(access)),
                6 | 7 => {
                    stmts.push(Stmt::Do(Do::LoadAs(number, order)));
                    if rng.percent(60) {
                        let value = rng.below(2);
                        stmts.push(Stmt::If(value, vec![Stmt::Do(access)], Vec::new()));
                    }
                }
                8 | 9 => stmts.push(Stmt::Do(Do::StoreAs(number, 1, order))),
                10 => stmts.push(Stmt::Do(Do::AddAs(number, 1, order))),
                11 => stmts.push(Stmt::Do(Do::Fence(rng.pick(&orders[1..])))),
                12 | 13 => {
                    let hold = rng.pick(&[Hold::Write, Hold::Read]);
                    stmts.push(Stmt::Do(Do::Lock(4, hold, Waits::Ever)));
                    stmts.push(Stmt::Do(access));
                    stmts.push(Stmt::Do(Do::Unlock(4, hold)));
                }
                14 => stmts.push(Stmt::Do(match rng.below(2) {
                    0 => Do::Park(Waits::Some),
                    _ => Do::Unpark(rng.index(count)),
                })),
                _ => stmts.push(Stmt::Do(match rng.below(2) {
                    0 => Do::Send(5, 2, Waits::Never),
                    _ => Do::Receive(5, Waits::Never),
                })),
            }
        }
        threads.push(stmts);
    }
    for child in (1..count).rev() {
        let at = rng.index(threads[0].len().min(2) + 1);
        threads[0].insert(at, Stmt::Do(Do::Spawn(child)));
        if rng.percent(50) {
            threads[0].push(Stmt::Do(Do::Join(child)));
            threads[0].push(Stmt::Do(Do::Peek(2)));
        }
    }
    Concurrent { things, threads }
}

/// One thread writes data and then a flag, others change the flag, and one reads the data if the
/// flag says so: in any orderings, with and without fences.
fn publishing(rng: &mut SplitMix64) -> Vec<Vec<Stmt>> {
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::Both];
    let fence = |rng: &mut SplitMix64, stmts: &mut Vec<Stmt>| {
        if rng.percent(40) {
            stmts.push(Stmt::Do(Do::Fence(rng.pick(&orders[1..]))));
        }
    };
    let change = |rng: &mut SplitMix64, value: u64| match rng.below(3) {
        0 => Do::AddAs(0, value, rng.pick(&orders)),
        _ => Do::StoreAs(0, value, rng.pick(&orders)),
    };
    let mut writer = vec![Stmt::Do(Do::Poke(2))];
    fence(rng, &mut writer);
    writer.push(Stmt::Do(change(rng, 1)));
    if rng.percent(40) {
        writer.push(Stmt::Do(change(rng, 1)));
    }
    let section = |stmts: &mut Vec<Stmt>| {
        stmts.push(Stmt::Do(Do::Lock(4, Hold::Read, Waits::Ever)));
        stmts.push(Stmt::Do(Do::Unlock(4, Hold::Read)));
    };
    let mut reader = vec![Stmt::Do(Do::LoadAs(0, rng.pick(&orders)))];
    let mut then = Vec::new();
    fence(rng, &mut then);
    let looks_at_the_flag = rng.percent(70);
    if !looks_at_the_flag {
        then.push(Stmt::Do(Do::StoreAs(1, 1, Order::Relaxed)));
        section(&mut then);
    }
    then.push(Stmt::Do(if rng.percent(50) { Do::Peek(2) } else { Do::Poke(2) }));
    match looks_at_the_flag {
        true => reader.push(Stmt::If(1 + rng.below(3), then, Vec::new())),
        false => reader.extend(then),
    }
    let mut threads = vec![reader, writer];
    if rng.percent(60) {
        let mut other = Vec::new();
        if rng.percent(40) {
            other.push(Stmt::Do(if rng.percent(70) { Do::Peek(2) } else { Do::Poke(2) }));
        }
        match looks_at_the_flag {
            true => other.push(Stmt::Do(change(rng, 2))),
            false => other.push(Stmt::Do(Do::LoadAs(1, Order::Relaxed))),
        }
        threads.push(other);
    }
    if rng.percent(50) {
        threads.push(Vec::new());
        threads.reverse();
    }
    for child in (1..threads.len()).rev() {
        threads[0].insert(0, Stmt::Do(Do::Spawn(child)));
    }
    threads
}
