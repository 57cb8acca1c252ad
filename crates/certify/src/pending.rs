//! The tasks that wait in the mailbox of a handler, while a schedule is checked.

use anyorder_trace::{EventId, TaskId};
use std::collections::HashMap;

/// A task that waits, as the fifo rule sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) task: TaskId,
    pub(crate) delay: u64,
    /// Its `post` in the trace; a task without one was posted before all others.
    pub(crate) post: Option<EventId>,
    /// Its `get` in the trace.
    pub(crate) get: EventId,
}

/// The waiting tasks of a handler, in the order of their posts in the schedule.
///
/// A tree over the places of the posts finds the first one that goes before another. Its nodes are
/// visited if some task below is due early enough and some task below was posted or taken in
/// another order than in the trace: O(log tasks) for each `get` of schedules that keep most of the
/// recorded order, O(tasks) at the worst.
#[derive(Default)]
pub(crate) struct Pending {
    places: HashMap<TaskId, usize>,
    waiting: Vec<Option<Waiting>>,
    /// The tree: node 1 is the root, and the leaves are the last half.
    nodes: Vec<Node>,
}

/// What holds of all tasks below a node.
#[derive(Clone, Copy)]
struct Node {
    delay_min: u64,
    post_max: Option<EventId>,
    get_min: Option<EventId>,
}

const EMPTY: Node = Node { delay_min: u64::MAX, post_max: None, get_min: None };

impl Node {
    const fn of(one: Waiting) -> Node {
        Node { delay_min: one.delay, post_max: one.post, get_min: Some(one.get) }
    }

    fn over(left: Node, right: Node) -> Node {
        let get_min = match (left.get_min, right.get_min) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (one, other) => one.or(other),
        };
        Node {
            delay_min: left.delay_min.min(right.delay_min),
            post_max: left.post_max.max(right.post_max),
            get_min,
        }
    }

    /// Whether a task below may go before another one. Exact for leaves.
    fn may_precede(self, second: Waiting) -> bool {
        // If the recorded run took the two in another order than it posted them, a schedule may as
        // well.
        let Some(get_min) = self.get_min else { return false };
        let in_order = self.post_max >= second.post || get_min <= second.get;
        self.delay_min <= second.delay && in_order
    }
}

impl Pending {
    /// Adds a task, behind all others.
    pub(crate) fn push(&mut self, one: Waiting) {
        let place = self.waiting.len();
        self.places.insert(one.task, place);
        self.waiting.push(Some(one));
        if place >= self.nodes.len() / 2 {
            self.grow();
        } else {
            self.set(place, Node::of(one));
        }
    }

    /// Removes a task, if it waits.
    pub(crate) fn remove(&mut self, task: TaskId) {
        if let Some(place) = self.places.remove(&task) {
            self.waiting[place] = None;
            self.set(place, EMPTY);
        }
    }

    /// Returns the first waiting task, posted before another one, that the fifo rule takes before
    /// it. All waiting tasks count if the other one does not wait.
    pub(crate) fn first_before(&self, second: Waiting) -> Option<TaskId> {
        let below = self.places.get(&second.task).copied().unwrap_or(self.waiting.len());
        let leaves = self.nodes.len() / 2;
        // A subtree and the first of its places, leftmost last.
        let mut open = vec![(1, 0, leaves)];
        while let Some((node, start, width)) = open.pop() {
            if start >= below || node >= self.nodes.len() || !self.nodes[node].may_precede(second) {
                continue;
            }
            if width == 1 {
                return self.waiting[start].map(|one| one.task);
            }
            let half = width / 2;
            open.extend([(2 * node + 1, start + half, half), (2 * node, start, half)]);
        }
        None
    }

    fn set(&mut self, place: usize, leaf: Node) {
        let mut node = self.nodes.len() / 2 + place;
        self.nodes[node] = leaf;
        while node > 1 {
            node /= 2;
            self.nodes[node] = Node::over(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }

    /// Builds the tree again with twice as many leaves.
    fn grow(&mut self) {
        let leaves = self.waiting.len().next_power_of_two().max(4) * 2;
        self.nodes = vec![EMPTY; 2 * leaves];
        for (place, one) in self.waiting.iter().enumerate() {
            self.nodes[leaves + place] = one.map_or(EMPTY, Node::of);
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = Node::over(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random, Rng};

    /// The definition: some task posted before goes first.
    fn slow(list: &[Waiting], second: Waiting) -> Option<TaskId> {
        let before = list.iter().take_while(|one| one.task != second.task);
        before.copied().find(|one| goes_first(*one, second)).map(|one| one.task)
    }

    fn goes_first(one: Waiting, two: Waiting) -> bool {
        let in_time = one.delay == 0 || (two.delay != 0 && one.delay <= two.delay);
        let ran_otherwise = one.post < two.post && one.get > two.get;
        in_time && !ran_otherwise
    }

    #[test]
    fn the_tree_finds_what_a_list_finds() {
        let (mut found, mut none) = (0, 0);
        for seed in 0..2_000 {
            let mut rng = Rng::new(seed);
            let (mut list, mut tree): (Vec<Waiting>, Pending) = Default::default();
            let mut next = 0;
            let delays = 1 + rng.below(6);
            for _ in 0..60 {
                let task = TaskId(next);
                match rng.below(4) {
                    0 if !list.is_empty() => {
                        let task = list[rng.below(list.len() as u64) as usize].task;
                        list.retain(|one| one.task != task);
                        tree.remove(task);
                    }
                    1 | 2 => {
                        let delay = rng.below(delays);
                        let (post, get) = (next * 8 + rng.below(60) as u32 * 8, rng.below(900));
                        let (post, get) = (Some(EventId(post + 1)), EventId(get as u32 * 8));
                        let one = Waiting { task, delay, post, get };
                        next += 1;
                        list.push(one);
                        tree.push(one);
                    }
                    _ => {}
                }
                // A task that waits, or one that does not.
                let other = Waiting {
                    task: TaskId(10_000),
                    delay: rng.below(delays),
                    post: Some(EventId(rng.below(900) as u32 * 8)),
                    get: EventId(rng.below(900) as u32 * 8 + 1),
                };
                let at = rng.below(list.len() as u64 + 1) as usize;
                let second = list.get(at).copied().unwrap_or(other);
                let first = slow(&list, second);
                assert_eq!(tree.first_before(second), first, "seed {seed}");
                *(if first.is_some() { &mut found } else { &mut none }) += 1;
            }
        }
        assert!(found > 10_000 && none > 10_000, "{found} {none}");
    }
}
