//! Failures that only weak memory has.
//!
//! Exploration under weak memory comes after the one of sequentially consistent executions, whose
//! failures have executions that can be run again. What is left here has none: a load returns an
//! older store than the last one before it in every order of the operations.

use super::blocked;
use super::explore::{Limits, explore, timed};
use super::failure::{Failure, FailureKind, RaceAccess, race};
use super::replay::Schedule;
use super::run::Run;
use super::source::Sources;
use super::summary::{LongLoop, Summary};
use super::trace::Trace;
use crate::runtime::{Position, Program};
use anyorder_common::cancel::Cancel;
use anyorder_threads::{
    Act, Blocked, Ending, Event, Fault, Next, Step, ThreadId, ThreadProgram as _, WeakEvent,
    WeakFound, WeakOptions, World, explore_weak,
};
use std::collections::BTreeSet;
use std::time::Instant;

/// How writes of one thread become visible to others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Memory {
    /// In one order for all: atomics are sequentially consistent, whatever their ordering. What an
    /// ordering does not give is found as races on plain data.
    #[default]
    Sequential,
    /// As the orderings say: RC11, the repaired memory model of C++20 and Rust, in which no value
    /// comes out of thin air. Explored after all sequentially consistent executions.
    Rc11,
}

/// The most events of one execution, whatever is allowed: a loop that does not give way would have
/// as many, and their cost is the square.
const EVENTS_MAX: usize = 20_000;

/// Explores a program under weak memory, after it was explored without.
pub(super) fn explore_both(program: &mut Program, limits: Limits) -> Summary {
    let begun = Instant::now();
    let mut summary = explore(program, limits);
    let cancel = Cancel::new();
    let options = WeakOptions {
        events_max: limits.steps_max.saturating_mul(2).min(EVENTS_MAX),
        executions_max: limits.executions_max.unwrap_or(u64::MAX),
        turns_max: limits.turns_max,
        cores: limits.cores,
        cancel: cancel.clone(),
        ..WeakOptions::default()
    };
    let left = limits.time_max.map(|most| most.saturating_sub(begun.elapsed()));
    let explored = timed(left, &cancel, || explore_weak(program, &options));
    // The executions were run as far as something was to be learnt: what they leave is no leak.
    let _ = (program.take_leaks(), program.take_misuses());
    summary.executions_weak = Some(explored.executions);
    summary.incomplete = summary.incomplete.take().or(explored.incomplete);
    for long in &explored.long_loops {
        let long = LongLoop::of(program, long);
        let is_it = |known: &&mut LongLoop| {
            (&known.reads, &known.gives_way) == (&long.reads, &long.gives_way)
        };
        match summary.long_loops.iter_mut().find(is_it) {
            Some(known) => known.turns = known.turns.max(long.turns),
            None => summary.long_loops.push(long),
        }
    }
    let mut sources = Sources::default();
    for found in &explored.faults {
        if let Some(failure) = failure(program, found, &mut sources)
            && !summary.failures.iter().any(|known| is_same(&known.kind, &failure.kind))
            && !summary.failures_weak.iter().any(|known| is_same(&known.kind, &failure.kind))
        {
            summary.failures_weak.push(failure);
        }
    }
    summary
}

fn failure(program: &Program, found: &WeakFound, sources: &mut Sources) -> Option<Failure> {
    let stuck: &[Blocked] = match &found.fault {
        Fault::Deadlock(stuck) | Fault::Livelock(stuck) => stuck,
        _ => &[],
    };
    let run = run(program, &found.events, stuck, &found.fault);
    if !stuck.is_empty() && run.has_failed() {
        return None;
    }
    let mut trace = Trace::new(program, &run, sources);
    for (line, event) in trace.lines.iter_mut().zip(&found.events) {
        if matches!(line.act, Act::Load(_) | Act::Update { .. }) {
            line.reads_from = event.reads_from;
        }
    }
    let kind = match &found.fault {
        Fault::Failure(number) => FailureKind::Panic(program.panic(*number)?),
        Fault::Deadlock(_) => FailureKind::Deadlock(blocked::waiting(program, &run, &trace)),
        Fault::Livelock(_) => FailureKind::Livelock(blocked::waiting(program, &run, &trace)),
        Fault::Race(found) => FailureKind::Race(Box::new(race(program, &run, &trace, found))),
        Fault::StepLimit => return None,
    };
    let panics = run.events.iter().filter(|event| matches!(event.op.act, Act::Fail(_))).count();
    let is_consequence = matches!(kind, FailureKind::Panic(_)) && panics > 1;
    let schedule = Schedule::of(&run.events, None);
    Some(Failure { kind, trace, is_confirmed: true, is_consequence, passing: None, schedule })
}

/// The events as a run. Objects other than atomics are as they are in one order of the events.
fn run(program: &Program, events: &[WeakEvent], stuck: &[Blocked], fault: &Fault) -> Run {
    let mut world = World::new();
    let event = |event: &WeakEvent| {
        world.make(&event.op, |object| program.initial(object));
        world.perform(event.thread, &event.op, 0);
        let step = Step { thread: event.thread, alternative: 0 };
        Event { step, op: event.op.clone(), result: event.result, site: event.site }
    };
    let events: Vec<Event> = events.iter().map(event).collect();
    stuck.iter().for_each(|stuck| world.make(&stuck.op, |object| program.initial(object)));
    let pending = |stuck: &Blocked| (stuck.thread, Next { op: stuck.op.clone(), site: stuck.site });
    Run {
        in_vain: vec![false; events.len()],
        events,
        pending: stuck.iter().map(pending).collect(),
        world,
        ending: match fault {
            Fault::Deadlock(_) => Some(Ending::Deadlock),
            Fault::Livelock(_) => Some(Ending::Livelock),
            _ => None,
        },
    }
}

/// Whether two failures are one for the reader.
fn is_same(a: &FailureKind, b: &FailureKind) -> bool {
    let side = |access: &RaceAccess| (access.write, access.position.clone());
    let waits = |kind: &FailureKind| -> Option<BTreeSet<(ThreadId, Option<Position>)>> {
        match kind {
            FailureKind::Deadlock(waiting) | FailureKind::Livelock(waiting) => {
                Some(waiting.iter().map(|one| (one.thread, one.position.clone())).collect())
            }
            _ => None,
        }
    };
    match (a, b) {
        (FailureKind::Race(a), FailureKind::Race(b)) => {
            let (own, other) =
                ([side(&a.first), side(&a.second)], [side(&b.first), side(&b.second)]);
            let [first, second] = other.clone();
            a.cell == b.cell && (own == other || own == [second, first])
        }
        (FailureKind::Panic(a), FailureKind::Panic(b)) => a == b,
        _ => waits(a).is_some() && waits(a) == waits(b),
    }
}
