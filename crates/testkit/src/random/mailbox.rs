//! Mailboxes under a virtual clock.

use super::machine::{Agent, Machine, Plan};
use anyorder_common::random::Random;
use anyorder_trace::{EventKind, Mailbox, Position, TaskDef, TaskId, TaskKind};

/// A pending task.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) task: TaskId,
    /// When it may begin.
    due: u64,
    /// The number of its post; negative and falling for posts to the front.
    order: i64,
    pub(super) plan: Vec<Plan>,
}

impl Machine {
    /// Posts a new task from one agent's code to another agent's mailbox.
    pub(super) fn post(&mut self, from: usize, to: usize, plan: Vec<Plan>) {
        let mailbox = self.agents[to].mailbox;
        // Ladders have no delays, since one odd rung breaks them.
        let plain = !plan.is_empty() && self.rng.percent(80);
        let delayed = !plain && mailbox == Mailbox::Delayed && self.rng.percent(self.delay_percent);
        let delay = if delayed { self.rng.pick(&[1, 2, 2, 4, 6, 12]) } else { 0 };
        let front = !plain && delay == 0 && mailbox != Mailbox::Bag && self.rng.percent(8);
        self.tasks += 1;
        let name = self
            .build
            .interner
            .name(&format!("m{}", self.tasks))
            .expect("small traces fit into their tables");
        let task = self
            .build
            .interner
            .push_task(TaskDef {
                name,
                kind: TaskKind::Posted,
                handler: self.agents[to].id,
                delay,
                position: if front { Position::Front } else { Position::Back },
            })
            .expect("small traces fit into their tables");
        self.emit(from, EventKind::Post, task.0);
        self.posts += 1;
        // The clock may stand still between two posts. Their order then decides.
        let (due, order) = match (mailbox, front) {
            (_, true) => (0, -self.posts),
            (Mailbox::Delayed, false) => (self.now + delay, self.posts),
            _ => (0, self.posts),
        };
        self.agents[to].pending.push(Pending { task, due, order, plan });
    }

    /// The plan of the next task, if it is fixed.
    pub(super) fn next_plan(&self, agent: usize) -> Option<&[Plan]> {
        let agent = &self.agents[agent];
        let next = first(agent).filter(|_| agent.mailbox != Mailbox::Bag)?;
        Some(&agent.pending[next].plan)
    }

    /// Takes the next task that the mailbox's discipline allows. The clock advances to its due
    /// time.
    pub(super) fn take(&mut self, agent: usize) -> Option<Pending> {
        let index = match self.agents[agent].mailbox {
            _ if self.agents[agent].pending.is_empty() => return None,
            Mailbox::Bag => self.rng.index(self.agents[agent].pending.len()),
            _ => first(&self.agents[agent])?,
        };
        let pending = self.agents[agent].pending.remove(index);
        self.now = self.now.max(pending.due);
        Some(pending)
    }
}

/// The pending task that is due first. Of equal ones, the task posted first.
fn first(agent: &Agent) -> Option<usize> {
    (0..agent.pending.len()).min_by_key(|i| (agent.pending[*i].due, agent.pending[*i].order))
}
