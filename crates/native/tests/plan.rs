//! Holds against a simulation: whatever the scheduler does, threads that keep the holds of a
//! witness come to its goal, with all conflicts in its order.

use anyorder_common::random::{Random, Rng};
use anyorder_native::plan::{Goal, GoalEnd, Hold, Moment, Operation, goal_holds, holds};
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, DeadlockOptions, Form, NoCommunication, Scale,
};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{Action, EventId, EventKind, Mailbox, Mode, Op, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Acquire(u32, Mode),
    Release(u32, Mode),
    Access(EventKind, u32),
    Fork(usize),
    Join(usize),
    Wait(u32),
    Retake(u32),
    Wake,
    Signal(EventKind),
}

struct Run<'r> {
    rng: &'r mut Rng,
    steps: Vec<Vec<Step>>,
    conditions: bool,
}

const MODES: [Mode; 3] = [Mode::EXCLUSIVE, Mode::EXCLUSIVE, Mode::SHARED];

impl Run<'_> {
    fn body(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut held: Vec<(u32, Mode)> = Vec::new();
        let nests = self.rng.percent(40);
        if nests && self.rng.percent(50) {
            let first = self.rng.within(0, 1) as u32;
            for lock in [first, 1 - first] {
                steps.push(Step::Acquire(lock, Mode::EXCLUSIVE));
                held.push((lock, Mode::EXCLUSIVE));
            }
        }
        for _ in 0..self.rng.within(3, 9) {
            let lock = self.rng.within(0, 1) as u32;
            let choice = self.rng.within(0, 99);
            match if nests { choice * 7 / 10 } else { choice } {
                0..35 if held.iter().all(|(other, _)| *other != lock) => {
                    let mode = self.rng.pick(&MODES);
                    held.push((lock, mode));
                    steps.push(Step::Acquire(lock, mode));
                }
                35..60 if !(held.is_empty() || nests && held.len() < 2 && self.rng.percent(60)) => {
                    let (lock, mode) = held.pop().expect("one is held");
                    steps.push(Step::Release(lock, mode));
                }
                60..75 if self.conditions => match held.last().copied() {
                    Some((lock, Mode::EXCLUSIVE)) if self.rng.percent(60) => {
                        steps.extend([Step::Wait(lock), Step::Retake(lock), Step::Wake]);
                    }
                    _ => steps.push(Step::Signal(self.rng.pick(&[
                        EventKind::Signal,
                        EventKind::Signal,
                        EventKind::Broadcast,
                    ]))),
                },
                _ => {
                    let kind =
                        self.rng.pick(&[EventKind::Read, EventKind::Write, EventKind::Write]);
                    steps.push(Step::Access(kind, self.rng.within(0, 3) as u32));
                }
            }
        }
        steps.extend(held.into_iter().rev().map(|(lock, mode)| Step::Release(lock, mode)));
        steps
    }
}

/// Makes a random run of threads. Thread 0 forks some of the others, and may join them.
fn random_run(rng: &mut Rng, conditions: bool) -> Trace {
    let threads = rng.within(2, 4) as usize;
    let mut run = Run { rng, steps: Vec::new(), conditions };
    for _ in 0..threads {
        let body = run.body();
        run.steps.push(body);
    }
    let mut forked = vec![false; threads];
    for (child, is_forked) in forked.iter_mut().enumerate().skip(1) {
        if run.rng.percent(40) {
            let first = run.steps[0].len() as u64;
            let at = run.rng.within(0, first.min(3)) as usize;
            run.steps[0].insert(at, Step::Fork(child));
            *is_forked = true;
            if run.rng.percent(40) {
                run.steps[0].push(Step::Join(child));
            }
        }
    }
    record(run.rng, &run.steps, forked)
}

fn record(rng: &mut Rng, steps: &[Vec<Step>], forked: Vec<bool>) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers: Vec<_> = (0..steps.len())
        .map(|t| b.handler(&format!("T{t}"), Mailbox::None).expect("room"))
        .collect();
    let locks: Vec<u32> = ["m", "n"]
        .map(|name| {
            let name = b.interner.name(name).expect("room");
            b.interner.lock(name).expect("room").0
        })
        .to_vec();
    let range = |address, size| anyorder_trace::Location::Range { address, size, generation: 0 };
    let places = [range(0x100, 4), range(0x102, 8), range(0x108, 600), range(0x200, 8)]
        .map(|place| b.interner.location(place).expect("room").0);
    let (mut next, mut begun) =
        (vec![0; steps.len()], forked.iter().map(|f| !f).collect::<Vec<_>>());
    let mut held: Vec<(usize, u32, bool)> = Vec::new();
    let (mut waits_since, mut signals) = (vec![0; steps.len()], 0);
    loop {
        let can = |t: &usize| {
            let Some(step) = steps[*t].get(next[*t]).filter(|_| begun[*t]) else { return false };
            let free = |lock: u32, shared: bool| {
                !held.iter().any(|of| of.0 != *t && of.1 == lock && !(shared && of.2))
            };
            match step {
                Step::Acquire(lock, mode) => free(*lock, mode.is_shared()),
                Step::Retake(lock) => free(*lock, false) && signals > waits_since[*t],
                Step::Join(child) => begun[*child] && next[*child] == steps[*child].len(),
                _ => true,
            }
        };
        let ready: Vec<usize> = (0..steps.len()).filter(can).collect();
        if ready.is_empty() {
            return b.finish();
        }
        let t = rng.pick(&ready);
        let task = b.initial(handlers[t]);
        match steps[t][next[t]] {
            Step::Acquire(lock, mode) => {
                held.push((t, lock, mode.is_shared()));
                b.push(task, Op::new(EventKind::Acquire, mode), locks[lock as usize]);
            }
            Step::Retake(lock) => {
                held.push((t, lock, false));
                b.push(task, Op::new(EventKind::Acquire, Mode::EXCLUSIVE), locks[lock as usize]);
            }
            Step::Release(lock, mode) => {
                held.retain(|of| (of.0, of.1) != (t, lock));
                b.push(task, Op::new(EventKind::Release, mode), locks[lock as usize]);
            }
            Step::Wait(lock) => {
                waits_since[t] = signals;
                held.retain(|of| (of.0, of.1) != (t, lock));
                b.on_condition(task, EventKind::Wait, "c").expect("room");
                b.push(task, Op::new(EventKind::Release, Mode::EXCLUSIVE), locks[lock as usize]);
            }
            Step::Access(kind, place) => {
                b.push(task, kind.into(), places[place as usize]);
            }
            Step::Fork(child) => {
                begun[child] = true;
                b.on_handler(task, EventKind::Fork, handlers[child]);
            }
            Step::Join(child) => {
                b.on_handler(task, EventKind::Join, handlers[child]);
            }
            Step::Wake => {
                b.on_condition(task, EventKind::Wake, "c").expect("room");
            }
            Step::Signal(kind) => {
                signals += 1;
                b.on_condition(task, kind, "c").expect("room");
            }
        }
        next[t] += 1;
    }
}

/// The operations of a trace: a wait with its wake is one, every other event one of its own.
fn operations(trace: &Trace) -> Vec<Operation> {
    let mut waiting: BTreeMap<u32, u32> = BTreeMap::new();
    let mut all = Vec::new();
    for event in trace.events() {
        let handler = trace.handler_of(event.id).0;
        let at = event.id.0;
        let of = match event.kind() {
            EventKind::Wait => {
                waiting.insert(handler, at);
                Operation { id: at, moment: Moment::Waiting, can_wait: true }
            }
            EventKind::Wake => {
                let id = waiting.remove(&handler).expect("it waits");
                Operation { id, moment: Moment::Passed, can_wait: false }
            }
            EventKind::Release if waiting.contains_key(&handler) => {
                Operation { id: waiting[&handler], moment: Moment::Waiting, can_wait: false }
            }
            EventKind::Acquire if waiting.contains_key(&handler) => {
                Operation { id: waiting[&handler], moment: Moment::Passed, can_wait: false }
            }
            _ => Operation { id: at, moment: Moment::Passed, can_wait: true },
        };
        all.push(of);
    }
    all
}

/// Whether two events conflict, by the definition.
fn conflict(trace: &Trace, a: EventId, b: EventId) -> bool {
    let (x, y) = (trace.event(a), trace.event(b));
    match (x.action(), y.action()) {
        (Action::Acquire(l, m), Action::Acquire(k, n)) => {
            l == k && !(m.is_shared() && n.is_shared())
        }
        (
            Action::Access { kind: k, location: l, .. },
            Action::Access { kind: j, location: m, .. },
        ) => {
            let range = |l: anyorder_trace::LocationId| match trace.tables().locations[l.index()] {
                anyorder_trace::Location::Range { address, size, .. } => (address, u64::from(size)),
                _ => unreachable!("all places are ranges"),
            };
            let ((a, s), (b, t)) = (range(l), range(m));
            (k.writes() || j.writes()) && a < b + t && b < a + s
        }
        (
            Action::Signal(_) | Action::Broadcast(_) | Action::Wait(_),
            Action::Signal(_) | Action::Broadcast(_) | Action::Wait(_),
        ) => true,
        _ => false,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The goal, with all conflicts in the order of the witness.
    Goal,
    /// Nobody can go on.
    Stuck,
    /// Two conflicting events in another order.
    Other(EventId, EventId),
}

/// Runs the threads that take part under a random scheduler.
fn simulate(
    (trace, operations): (&Trace, &[Operation]),
    (goal, holds, free): (&Goal<'_>, &[Hold], usize),
    rng: &mut Rng,
) -> End {
    let mut lanes: BTreeMap<u32, Vec<EventId>> = BTreeMap::new();
    for event in trace.events() {
        lanes.entry(trace.handler_of(event.id).0).or_default().push(event.id);
    }
    let taking_part: BTreeSet<u32> =
        goal.order.iter().map(|event| trace.handler_of(*event).0).collect();
    let beginning = &goal.order[..free];
    let mut done: Vec<EventId> = (0..goal.prefix).map(EventId).collect();
    let mut next: BTreeMap<u32, usize> = lanes
        .iter()
        .map(|(lane, all)| (*lane, all.iter().filter(|event| event.0 < goal.prefix).count()))
        .collect();
    let end = |done: &[EventId], next: &BTreeMap<u32, usize>| {
        let reached = |event: EventId| {
            let lane = trace.handler_of(event).0;
            done.contains(&event) || lanes[&lane].get(next[&lane]) == Some(&event)
        };
        match goal.end {
            GoalEnd::Reversed { first, .. } => done.contains(&first),
            GoalEnd::Together { first, second } => {
                (reached(first) && reached(second))
                    && !done.contains(&first)
                    && !done.contains(&second)
            }
            GoalEnd::Deadlock(requests) => requests.iter().all(|event| reached(*event)),
        }
    };
    while !end(&done, &next) {
        let state = |event: EventId| {
            let lane = trace.handler_of(event).0;
            let of = operations[event.index()];
            let after = |moment: Moment| {
                done.iter().any(|d| {
                    operations[d.index()].id == of.id && operations[d.index()].moment == moment
                })
            };
            if after(Moment::Passed) {
                Some(Moment::Passed)
            } else if after(Moment::Waiting) {
                Some(Moment::Waiting)
            } else if lanes[&lane].get(next[&lane]) == Some(&event) {
                Some(Moment::Reached)
            } else {
                None
            }
        };
        let can = |lane: &&u32| {
            let Some(event) = lanes[*lane].get(next[*lane]).copied() else { return false };
            // What is left to the program happens as in the trace.
            if let Some(at) = beginning.iter().position(|other| *other == event)
                && !beginning[..at].iter().all(|other| done.contains(other))
            {
                return false;
            }
            let is_held = holds
                .iter()
                .any(|hold| hold.event == event && state(hold.other) < Some(hold.until));
            !is_held && can_happen(trace, &done, event)
        };
        let ready: Vec<u32> = taking_part.iter().filter(can).copied().collect();
        if ready.is_empty() {
            return End::Stuck;
        }
        let lane = rng.pick(&ready);
        done.push(lanes[&lane][next[&lane]]);
        *next.get_mut(&lane).expect("a thread") += 1;
    }
    let place = |event: EventId| goal.order.iter().position(|other| *other == event);
    for (at, later) in done.iter().enumerate() {
        for earlier in &done[..at] {
            let same = trace.handler_of(*earlier) == trace.handler_of(*later);
            if same || earlier.0 < goal.prefix || !conflict(trace, *earlier, *later) {
                continue;
            }
            match (place(*earlier), place(*later)) {
                (Some(a), Some(b)) if a > b => return End::Other(*earlier, *later),
                (None, Some(_)) => return End::Other(*earlier, *later),
                _ => {}
            }
        }
    }
    End::Goal
}

/// Whether locks, forks, joins and signals let an event happen.
fn can_happen(trace: &Trace, done: &[EventId], event: EventId) -> bool {
    let own = trace.handler_of(event);
    let forks = |id: EventId| {
        trace.events().any(|e| e.id != id && e.action() == Action::Fork(trace.handler_of(id)))
    };
    let begun = !forks(event) || done.iter().any(|d| trace.event(*d).action() == Action::Fork(own));
    let possible = match trace.event(event).action() {
        Action::Acquire(lock, mode) => {
            let mut held: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
            for d in done {
                match trace.event(*d).action() {
                    Action::Acquire(l, m) if l == lock => {
                        held.entry(trace.handler_of(*d).0).or_default().push(m.is_shared());
                    }
                    Action::Release(l, _) if l == lock => {
                        held.entry(trace.handler_of(*d).0).or_default().pop();
                    }
                    _ => {}
                }
            }
            let mut others = held.iter().filter(|(t, _)| **t != own.0).flat_map(|(_, of)| of);
            others.all(|shared| *shared && mode.is_shared()) && woken(trace, done, event)
        }
        Action::Join(child) => {
            trace.events().filter(|e| trace.handler_of(e.id) == child).all(|e| done.contains(&e.id))
        }
        _ => true,
    };
    begun && possible
}

/// Whether a thread that waits has a signal since.
fn woken(trace: &Trace, done: &[EventId], event: EventId) -> bool {
    let own = trace.handler_of(event);
    let waits = done.iter().rposition(|d| {
        trace.handler_of(*d) == own && !matches!(trace.event(*d).kind(), EventKind::Release)
    });
    let Some(at) = waits.filter(|at| trace.event(done[*at]).kind() == EventKind::Wait) else {
        return true;
    };
    done[at..]
        .iter()
        .any(|d| matches!(trace.event(*d).kind(), EventKind::Signal | EventKind::Broadcast))
}

#[derive(Default, Debug)]
struct Seen {
    goals: BTreeMap<&'static str, u64>,
    holds: u64,
    free: u64,
    /// Runs with the holds of the goal alone, and those that came there.
    alone: u64,
    alone_there: u64,
    /// Goals whose first action is held before a section around it.
    before_section: u64,
    /// Runs with one hold less that went another way.
    wrong_without: u64,
    with_prefix: u64,
}

fn try_goal(trace: &Trace, goal: &Goal<'_>, rng: &mut Rng, seen: &mut Seen) -> Vec<End> {
    let operations = operations(trace);
    let of = |event: EventId| Some(operations[event.index()]);
    seen.with_prefix += u64::from(goal.prefix > 0);
    let mut ends = Vec::new();
    let all = holds(trace, goal, &of, usize::MAX).expect("it is short");
    seen.holds += all.len() as u64;
    for _ in 0..5 {
        ends.push(simulate((trace, &operations), (goal, &all, 0), rng));
    }
    let same = goal.order.windows(2).take_while(|pair| pair[0] < pair[1]).count() + 1;
    let alone = goal_holds(trace, goal, &of);
    let end = simulate((trace, &operations), (goal, &alone, 0), rng);
    seen.alone += 1;
    seen.alone_there += u64::from(end != End::Stuck);
    if let (GoalEnd::Reversed { first, second }, [hold]) = (goal.end, &alone[..]) {
        let own = trace.handler_of(first);
        assert!(hold.other == second && hold.event <= first && trace.handler_of(hold.event) == own);
        seen.before_section += u64::from(hold.event != first);
    }
    if !all.is_empty() {
        let mut fewer = all.clone();
        fewer.swap_remove(rng.index(all.len()));
        let end = simulate((trace, &operations), (goal, &fewer, 0), rng);
        seen.wrong_without += u64::from(end != End::Goal);
    }
    if let Ok(few) = holds(trace, goal, &of, all.len().saturating_sub(1)) {
        seen.free += 1;
        ends.push(simulate((trace, &operations), (goal, &few, same), rng));
    }
    ends
}

/// Tries all pairs and deadlocks of a trace; calls `each` for each run.
fn all_goals(trace: &Trace, rng: &mut Rng, seen: &mut Seen, each: &mut dyn FnMut(&Goal<'_>, End)) {
    let mut nothing = NoCommunication;
    let mut scale = Scale::default();
    if rng.percent(50) {
        scale = Scale { first_window: 4, grain: 2, stronger_max: 8, prefix_max: 2, ..scale };
    }
    let options = ConfirmOptions::default();
    let mut confirmer = Confirmer::with_scale(trace, &mut nothing, options, scale);
    let ids: Vec<EventId> = trace.events().map(|event| event.id).collect();
    for (at, second) in ids.iter().enumerate() {
        for first in &ids[..at] {
            let others = trace.handler_of(*first) != trace.handler_of(*second);
            if !others || !conflict(trace, *first, *second) {
                continue;
            }
            let Answer::Confirmed(witness) = confirmer.confirm(*first, *second, &Cancel::new())
            else {
                continue;
            };
            let (first, second) = (*first, *second);
            let end = match witness.form {
                Form::CoEnabled => GoalEnd::Together { first, second },
                _ => GoalEnd::Reversed { first, second },
            };
            let name = if witness.form == Form::CoEnabled { "together" } else { "reversed" };
            let goal = Goal { prefix: witness.prefix, order: &witness.order, end };
            *seen.goals.entry(name).or_default() += 1;
            for end in try_goal(trace, &goal, rng, seen) {
                each(&goal, end);
            }
        }
    }
    let mut check = |_: &[EventId], _: &anyorder_predict::Witness| Ok(());
    let found = confirmer.deadlocks(&DeadlockOptions::default(), &mut check, &Control::default());
    for deadlock in found.found {
        let Some(witness) = deadlock.witness() else { continue };
        let requests: Vec<EventId> =
            deadlock.requests.iter().map(|request| request.event).collect();
        let goal = Goal {
            prefix: witness.prefix,
            order: &witness.order,
            end: GoalEnd::Deadlock(&requests),
        };
        *seen.goals.entry("deadlock").or_default() += 1;
        for end in try_goal(trace, &goal, rng, seen) {
            each(&goal, end);
        }
    }
}

#[test]
fn any_scheduler_that_keeps_the_holds_comes_to_the_goal() {
    let mut seen = Seen::default();
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let trace = random_run(&mut rng, false);
        all_goals(&trace, &mut rng, &mut seen, &mut |goal, end| {
            let events: Vec<String> = trace.events().map(|e| format!("{e:?}")).collect();
            assert_eq!(end, End::Goal, "seed {seed}: {goal:?}\n{}", events.join("\n"));
        });
    }
    println!("{seen:?}");
    for kind in ["together", "reversed", "deadlock"] {
        assert!(seen.goals.get(kind).copied().unwrap_or_default() > 30, "{kind}: {seen:?}");
    }
    assert!(seen.with_prefix > 100 && seen.free > 100, "{seen:?}");
    // Without the other holds, data and locks may come in another order, or nobody can go on.
    assert!(seen.alone_there * 2 > seen.alone && seen.before_section > 100, "{seen:?}");
    let goals: u64 = seen.goals.values().sum();
    assert!(seen.wrong_without * 10 > goals, "{seen:?}");
}

/// A thread cannot be held between a signal and its wake, so some runs take another way.
#[test]
fn with_conditions_most_runs_come_to_the_goal() {
    let mut seen = Seen::default();
    let (mut right, mut all) = (0_u64, 0_u64);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let trace = random_run(&mut rng, true);
        all_goals(&trace, &mut rng, &mut seen, &mut |_, end| {
            all += 1;
            right += u64::from(end == End::Goal);
        });
    }
    println!("{right} of {all}: {seen:?}");
    assert!(right * 10 > all * 9, "{right} of {all}");
}
