//! Lifecycles of tasks and threads that handles may refer to: tasks wait, run and end; threads run
//! and end.
//!
//! Comparisons, `cancel` and `join` read lifecycles. The handle of an ended task does not say which
//! task it was, so a step that reads one lifecycle reads all of them. A task that ends writes its
//! lifecycle even if no handle refers to it: other steps could change that.

use crate::machine::Machine;
use crate::program::{Op, PostTarget};
use rustc_hash::FxHashMap;

/// The number of lifecycles with places of their own. Further ones share these places.
const APART: u64 = 64;

/// Which posts and forks give handles, by task and mailbox or function: with the numbers of their
/// places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycles {
    posted: FxHashMap<(u32, u16), u64>,
    forked: FxHashMap<u16, u64>,
}

impl Lifecycles {
    pub(crate) fn of(machine: &Machine) -> Lifecycles {
        let mut lifecycles = Lifecycles::default();
        let program = &machine.program;
        for op in program.functions.iter().flat_map(|f| &f.code) {
            match *op {
                Op::Post { dst, post, .. } if dst.some().is_some() => {
                    let post = &program.posts[post.index()];
                    for queue in queues(machine, post.target, post.task.index()) {
                        for task in machine.copies.of_task(post.task.0) {
                            let next = lifecycles.next();
                            lifecycles.posted.entry((queue, task)).or_insert(next);
                        }
                    }
                }
                Op::Fork { dst, func, .. } if dst.some().is_some() => {
                    for func in machine.copies.of_function(func.0) {
                        let next = lifecycles.next();
                        lifecycles.forked.entry(func).or_insert(next);
                    }
                }
                _ => {}
            }
        }
        lifecycles
    }

    fn next(&self) -> u64 {
        (self.posted.len() + self.forked.len()) as u64 % APART
    }

    /// How many places there are.
    pub(crate) fn count(&self) -> u64 {
        ((self.posted.len() + self.forked.len()) as u64).min(APART)
    }

    /// Returns the number of the place of a task posted to a mailbox; `None` if its posts give no
    /// handles.
    pub(crate) fn of_post(&self, queue: u32, task: u16) -> Option<u64> {
        self.posted.get(&(queue, task)).copied()
    }

    /// Returns the number of the place of a forked function.
    pub(crate) fn of_fork(&self, func: u16) -> Option<u64> {
        self.forked.get(&func).copied()
    }
}

/// The mailboxes that a post may go to.
fn queues(machine: &Machine, target: PostTarget, task: usize) -> std::ops::Range<u32> {
    let layout = &machine.layout;
    let pool = layout.pool() as u32;
    match (target, machine.program.tasks[task].handler) {
        (PostTarget::Own, Some((handler, instance))) => {
            let queue = layout.handler_first[handler.index()] + u32::from(instance);
            queue..queue + 1
        }
        (PostTarget::Handler(handler, _), _) => {
            let first = layout.handler_first[handler.index()];
            let count = machine.program.handlers[handler.index()].array.unwrap_or(1);
            first..first + u32::from(count)
        }
        (PostTarget::Any | PostTarget::Own, _) => pool..pool + 1,
    }
}
