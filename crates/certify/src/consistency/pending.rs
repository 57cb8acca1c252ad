//! The messages that wait in the mailboxes, and those that must run before another.

use super::mailbox::Due;
use super::model::{Model, Role};
use anyorder_trace::{HandlerId, TaskId};
use std::collections::VecDeque;

/// No message waits; greater than the time of every post.
const NEVER: u32 = u32::MAX;

/// The pending messages of all handlers. Times are positions in the checked order.
///
/// The delayed messages of one handler are leaves of a tree, ascending by delay, with the times of
/// their posts while they wait. The least time among the delays up to a bound shows whether any of
/// them must run first.
pub(super) struct Pending {
    dues: Vec<Due>,
    /// By task: its leaf in the tree of its handler.
    leaves: Vec<u32>,
    /// By task: when it was posted; [`NEVER`] before and after it waits.
    posted: Vec<u32>,
    /// By handler.
    mailboxes: Vec<Waiting>,
}

/// The messages that wait in one mailbox.
#[derive(Default)]
struct Waiting {
    /// The delays of its messages, ascending.
    delays: Vec<u64>,
    /// The inner nodes, then the leaves: the least time below each.
    tree: Vec<u32>,
    /// The messages at the front, in the order of their posts; begun ones are removed lazily.
    fronts: VecDeque<TaskId>,
}

impl Pending {
    /// Prepares for the posted tasks of a trace: O(tasks * log tasks).
    pub(super) fn new(model: &Model<'_>, dues: Vec<Due>) -> Pending {
        let handlers = model.trace.tables().handlers.len();
        let mut by_delay: Vec<(HandlerId, u64, TaskId)> = model
            .trace
            .task_ids()
            .filter(|&task| model.role(task) == Role::Posted)
            .filter_map(|task| match (dues[task.index()], model.handler(task)) {
                (Due::After(delay), Some(handler)) => Some((handler, delay, task)),
                _ => None,
            })
            .collect();
        by_delay.sort_unstable();
        let mut leaves = vec![0; dues.len()];
        let mut mailboxes: Vec<Waiting> = Vec::new();
        mailboxes.resize_with(handlers, Waiting::default);
        for (handler, delay, task) in by_delay {
            let delays = &mut mailboxes[handler.index()].delays;
            leaves[task.index()] = delays.len() as u32;
            delays.push(delay);
        }
        for mailbox in &mut mailboxes {
            mailbox.tree = vec![NEVER; 2 * mailbox.delays.len()];
        }
        Pending { posted: vec![NEVER; dues.len()], dues, leaves, mailboxes }
    }

    /// Puts a task into its mailbox.
    pub(super) fn post(&mut self, task: TaskId, handler: HandlerId, time: u32) {
        self.posted[task.index()] = time;
        let mailbox = &mut self.mailboxes[handler.index()];
        match self.dues[task.index()] {
            Due::After(_) => mailbox.set(self.leaves[task.index()], time),
            Due::Front => mailbox.fronts.push_back(task),
            Due::Free => {}
        }
    }

    /// Whether a task waits in its mailbox.
    pub(super) fn waits(&self, task: TaskId) -> bool {
        self.posted[task.index()] != NEVER
    }

    /// Removes a waiting task from its mailbox.
    ///
    /// # Errors
    ///
    /// Fails with the time of the post of a task that must run first.
    pub(super) fn take(&mut self, task: TaskId, handler: HandlerId) -> Result<(), u32> {
        let time = std::mem::replace(&mut self.posted[task.index()], NEVER);
        let mailbox = &mut self.mailboxes[handler.index()];
        let Due::After(delay) = self.dues[task.index()] else { return Ok(()) };
        mailbox.set(self.leaves[task.index()], NEVER);
        while let Some(&front) = mailbox.fronts.front() {
            let waits = self.posted[front.index()];
            if waits != NEVER {
                if waits < time {
                    return Err(waits);
                }
                break;
            }
            mailbox.fronts.pop_front();
        }
        let first = mailbox.first_up_to(delay);
        if first < time { Err(first) } else { Ok(()) }
    }
}

impl Waiting {
    fn set(&mut self, leaf: u32, time: u32) {
        let mut node = leaf as usize + self.delays.len();
        self.tree[node] = time;
        while node > 1 {
            node /= 2;
            self.tree[node] = self.tree[2 * node].min(self.tree[2 * node + 1]);
        }
    }

    /// The least time among messages with at most this delay.
    fn first_up_to(&self, delay: u64) -> u32 {
        let leaves = self.delays.len();
        let bound = self.delays.partition_point(|&other| other <= delay);
        let (mut low, mut high) = (leaves, leaves + bound);
        let mut first = NEVER;
        while low < high {
            if low % 2 == 1 {
                first = first.min(self.tree[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                first = first.min(self.tree[high]);
            }
            low /= 2;
            high /= 2;
        }
        first
    }
}
