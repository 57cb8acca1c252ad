//! Threads that spin, under weak memory.
//!
//! The search lets a thread that spins wait for one of its reads to be revisited, unless its loop
//! gives up: then giving way is an operation that does nothing. A [trial](crate::spinning) tells:
//! in a copy of the graph the thread goes on alone, and reads what it read last.
//!
//! Where threads spin and nothing is left that could revisit their reads, they take turns, again in
//! a copy: loops that give up together, or after more turns than a trial has, are no livelock.

use super::behaviour::{Behaviours, NodeId};
use super::explore::place;
use super::graph::{Event, Graph, Kind};
use super::reading::Reading;
use super::states::States;
use crate::execution::{self, Step};
use crate::ids::{SiteId, ThreadId};
use crate::learn::Incomplete;
use crate::op::{Act, Op};
use crate::program::ThreadProgram;
use crate::spinning::{End, TRIAL_MAX, Trial};
use rustc_hash::FxHashMap;

/// The most operations of one turn.
const TURN_MAX: usize = 1_000;

/// Lets threads spin so often. Returns whether one of them does something that is no spinning.
pub(super) fn gives_up<P: ThreadProgram + ?Sized>(
    graph: &Graph,
    threads: &[u32],
    known: &mut Behaviours<'_, P>,
    states: &mut States,
    spins_max: u32,
) -> Result<bool, Incomplete> {
    let mut copy = Graph::default();
    copy.become_part(graph, |_, _| true);
    for thread in threads.iter().copied().cycle().take(spins_max as usize) {
        for count in 0.. {
            let Some(node) = place(&copy, thread, known, states)? else { break };
            let op = &known.next(node).op;
            let result = match &op.act {
                // Its turn begins, or is over.
                Act::Await(_) if count == 0 => Some(0),
                Act::Await(_) => break,
                Act::Fence(_) => Some(0),
                Act::Store(..) | Act::Alter(_) | Act::Spawn(_) | Act::Fail(_) | Act::Exit(_) => {
                    None
                }
                act => {
                    let object = op.object.0;
                    let last = copy.order(object).last().and_then(|id| copy.written(*id));
                    let value = last.unwrap_or_else(|| states.initial(object));
                    let at = (node, 0);
                    Reading { thread, act, at, object }.idle(value, states)
                }
            };
            let Some(result) = result.filter(|_| count < TURN_MAX) else {
                return Ok(true);
            };
            copy.push(Event { result, ..Event::local(thread, node) });
        }
    }
    Ok(false)
}

/// The objects as a thread sees them that goes on alone.
struct Alone<'g> {
    graph: &'g Graph,
    thread: u32,
    values: FxHashMap<u32, u64>,
}

impl Alone<'_> {
    fn value(&mut self, object: u32, states: &States) -> u64 {
        let Alone { graph, thread, values } = self;
        *values.entry(object).or_insert_with(|| {
            let own = graph.logs[*thread as usize].iter().rev().map(|id| graph.event(*id));
            let mut seen =
                own.filter(|event| event.object == object).map(|event| match event.kind {
                    Kind::Write => Some(event.value),
                    _ => graph.written(event.source),
                });
            let last = || graph.order(object).last().and_then(|id| graph.written(*id));
            seen.next().unwrap_or_else(last).unwrap_or_else(|| states.initial(object))
        })
    }

    /// Performs one phase of an operation. `None` if it waits.
    fn perform(
        &mut self,
        act: &Act,
        (object, at): (u32, (NodeId, u8)),
        states: &mut States,
    ) -> Option<u64> {
        let value = self.value(object, states);
        let mut reading = Reading { thread: self.thread, act, at, object };
        let (result, new) = reading.effect(value, 0, states)?;
        self.values.insert(object, new.unwrap_or(value));
        Some(result)
    }

    /// Performs an operation. `None` if it waits or ends the trial.
    fn result(&mut self, op: &Op, node: NodeId, states: &mut States) -> Option<u64> {
        match &op.act {
            Act::Spawn(_) | Act::Exit(_) | Act::Fail(_) | Act::Join => None,
            Act::Fence(_) | Act::Invoke(_) | Act::Return { .. } | Act::Choose(_) => Some(0),
            Act::Store(value, _) | Act::Alter(value) => {
                self.values.insert(op.object.0, *value);
                Some(0)
            }
            Act::Wait { lock, .. } => {
                self.perform(&op.act, (op.object.0, (node, 0)), states)?;
                self.perform(&op.act, (lock.0, (node, 2)), states)
            }
            act => self.perform(act, (op.object.0, (node, 0)), states),
        }
    }
}

/// Lets a thread go on alone from where it gives way, and notes what that shows.
pub(super) fn try_loop<P: ThreadProgram + ?Sized>(
    graph: &Graph,
    thread: u32,
    known: &mut Behaviours<'_, P>,
    states: &mut States,
    (turns_max, spins_max): (u32, u32),
) -> Result<(), Incomplete> {
    let mut copy = Graph::default();
    copy.become_part(graph, |_, _| true);
    let mut alone = Alone { graph, thread, values: FxHashMap::default() };
    let before = graph.last(thread).map(|last| known.next(graph.event(last).node).site);
    let id = ThreadId(thread);
    let mut trial = Trial::new(id, before.unwrap_or(SiteId::NONE));
    let (mut most, mut steps) = (0, 0);
    let end = loop {
        let Some(node) = place(&copy, thread, known, states)? else { break End::Left };
        let next = known.next(node);
        let (op, site) = (next.op.clone(), next.site);
        let is_wait = matches!(op.act, Act::Await(_));
        let result = if is_wait {
            if trial.turns() == 0 {
                most = known.loops.turns_of_trial((site, &op), (turns_max, spins_max));
            }
            trial.wait(u64::from(node.0), &op, site);
            (trial.turns() < most).then_some(0)
        } else {
            alone.result(&op, node, states)
        };
        steps += 1;
        let Some(result) = result.filter(|_| steps < TRIAL_MAX) else {
            break if is_wait { End::Spins } else { End::Left };
        };
        copy.push(Event { result, ..Event::local(thread, node) });
        if !is_wait {
            let step = Step { thread: id, alternative: 0 };
            trial.step(&execution::Event { step, op, result, site });
        }
    };
    known.loops.conclude(&trial, end, turns_max);
    Ok(())
}
