//! The simulated machine: running tasks, waiting agents, and the trace so far.

use super::callbacks::Components;
use super::locks::Locks;
use super::mailbox::Pending;
use super::shape::Act;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    ConditionId, EventId, EventKind, HandlerId, InputId, LocationId, Mailbox, Mode, Op, TaskId,
    TraceBuilder,
};
use std::collections::VecDeque;

/// Planned acts, which code does before random ones.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// Posts a task with its own plan to the handler of this index.
    Post(usize, Vec<Plan>),
    Enable(InputId),
    Trigger(InputId),
    Callback,
    /// Several of these, in one task.
    All(Vec<Plan>),
    /// Opens the gate of this number; no event.
    Open(u64),
    /// Waits at a gate until it opens, or gives up; no event.
    Gate(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Waits for its fork.
    Unborn,
    /// Runs its initial code.
    Initial,
    /// Takes tasks from its mailbox, or runs bursts.
    Serving,
    /// Has run its last event.
    Exited,
}

/// A running posted task or burst.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) task: TaskId,
    pub(super) acts_left: u64,
    pub(super) plan: VecDeque<Plan>,
}

/// A wait: its object, and the event that ended it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) condition: ConditionId,
    pub(super) woken_by: Option<EventId>,
}

/// One handler, its code and its mailbox.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) id: HandlerId,
    pub(super) mailbox: Mailbox,
    pub(super) untracked: bool,
    pub(super) phase: Phase,
    /// Its initial code.
    pub(super) initial: Running,
    /// Its posted task or burst.
    pub(super) running: Option<Running>,
    pub(super) pending: Vec<Pending>,
    pub(super) waiting: Option<Waiting>,
    /// Whether initial code has its own start and stop events.
    pub(super) begins: bool,
    /// Whether an event that is still to come creates its mailbox.
    pub(super) attach_due: bool,
    /// Whether an event that is still to come starts its loop.
    pub(super) loop_due: bool,
}

impl Agent {
    /// The task whose code runs: the posted one, or else the initial one.
    pub(super) fn code(&mut self) -> &mut Running {
        self.running.as_mut().unwrap_or(&mut self.initial)
    }

    /// Whether tasks can be posted to it now.
    pub(super) fn takes_posts(&self) -> bool {
        self.mailbox != Mailbox::None && !self.attach_due && self.phase != Phase::Exited
    }
}

/// The whole machine.
pub(super) struct Machine {
    pub(super) rng: Rng,
    pub(super) build: TraceBuilder,
    pub(super) agents: Vec<Agent>,
    pub(super) locks: Locks,
    /// The acts that this program uses.
    pub(super) acts: Vec<(Act, u32)>,
    pub(super) acts_max: u64,
    pub(super) delay_percent: u32,
    pub(super) android: bool,
    pub(super) variables: Vec<LocationId>,
    pub(super) atomics: Vec<LocationId>,
    /// The address range's generation, and whether it is allocated.
    pub(super) range: (u32, bool),
    pub(super) conditions: Vec<ConditionId>,
    pub(super) inputs: Vec<InputId>,
    /// The inputs enabled now.
    pub(super) enabled: Vec<InputId>,
    pub(super) components: Components,
    /// The gates that are open.
    pub(super) gates: Vec<u64>,
    pub(super) now: u64,
    pub(super) posts: i64,
    pub(super) tasks: u32,
    pub(super) events_max: usize,
    /// Nothing new starts any more.
    pub(super) winding_down: bool,
}

impl Machine {
    /// Appends an event of the code that the agent runs.
    pub(super) fn emit(&mut self, agent: usize, op: impl Into<Op>, operand: u32) -> EventId {
        let task = self.agents[agent].code().task;
        self.emit_in(task, op, operand)
    }

    /// Appends an event of a task.
    pub(super) fn emit_in(&mut self, task: TaskId, op: impl Into<Op>, operand: u32) -> EventId {
        self.now += self.rng.below(2);
        self.build.push(task, op.into(), operand)
    }

    /// Makes the last event refer to an earlier one.
    pub(super) fn refer(&mut self, event: EventId, to: EventId) {
        self.build.columns.refers.push(event.0, u64::from(to.0));
    }

    pub(super) fn is_full(&self) -> bool {
        self.build.columns.len() >= self.events_max
    }

    pub(super) fn access(
        &mut self,
        agent: usize,
        kind: EventKind,
        mode: Mode,
        location: LocationId,
    ) {
        self.emit(agent, Op::new(kind, mode), location.0);
    }
}
