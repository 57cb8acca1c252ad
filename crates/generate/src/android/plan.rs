//! Decides, before the run, the messages, their posters and their lengths.

use crate::finish::by_key;
use anyorder_common::random::{Random, Rng};

/// The handler of the looper.
pub(super) const UI: u32 = 0;

/// The group of the looper's messages at the start.
pub(super) const START: u32 = u32::MAX;

/// The share of the messages that go to the looper.
const UI_PART: f64 = 0.75;

/// How many messages the looper posts to itself while it starts.
const LAUNCHES_MAX: u32 = 4;

/// One posted message in this many has a weight that is larger by this factor.
const LONG_ONE_IN: u64 = 8;

/// The sizes of a plan, adjusted to fit together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Accesses of all messages together; at least one per handler.
    pub(super) accesses: u32,
    /// Posted messages.
    pub(super) posted: u32,
    /// Handlers, at least one.
    pub(super) handlers: u32,
    /// Groups, at least one, and at most as many as workers (or one).
    pub(super) groups: u32,
    /// The share of accesses that go to shared variables.
    pub(super) share: f64,
}

/// A message: the first ones are the initial messages, in the order of handlers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) handler: u32,
    pub(super) group: u32,
    pub(super) accesses: u32,
}

/// All messages.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) shape: Shape,
    pub(super) messages: Vec<Planned>,
    /// The posted messages, by poster.
    children: Vec<u32>,
    /// By message: where its children begin; one more at the end.
    starts: Vec<u32>,
}

impl Plan {
    /// Makes a plan, in time linear in the number of messages.
    pub(super) fn new(shape: Shape, seed: u64) -> Plan {
        let mut rng = Rng::for_purpose(seed, *b"plan");
        let mut forest = Forest::new(shape);
        for _ in 0..shape.posted {
            forest.post(&mut rng);
        }
        let Forest { mut messages, posters, .. } = forest;
        share_out_accesses(&mut messages, shape, &mut rng);
        let (mut children, starts) = by_key(posters.iter().copied(), messages.len());
        // The first messages are initial ones, which nobody posts.
        children.iter_mut().for_each(|child| *child += shape.handlers);
        Plan { shape, messages, children, starts }
    }

    /// Returns the messages that a message posts, in order.
    pub(super) fn children(&self, message: u32) -> &[u32] {
        let message = message as usize;
        &self.children[self.starts[message] as usize..self.starts[message + 1] as usize]
    }
}

/// Messages while the plan is built.
struct Forest {
    shape: Shape,
    messages: Vec<Planned>,
    /// By posted message: its poster.
    posters: Vec<u32>,
    /// By group: its workers.
    workers: Vec<Vec<u32>>,
    /// By group: its messages so far, including those that start it.
    members: Vec<Vec<u32>>,
    launches_left: u32,
}

impl Forest {
    fn new(shape: Shape) -> Forest {
        let mut workers = vec![Vec::new(); shape.groups as usize];
        let mut messages = vec![Planned { handler: UI, group: START, accesses: 0 }];
        for handler in 1..shape.handlers {
            let group = (handler - 1) % shape.groups;
            workers[group as usize].push(handler);
            messages.push(Planned { handler, group, accesses: 0 });
        }
        let mut members = workers.clone();
        if shape.handlers == 1 {
            // There is no other poster: the group starts from the looper.
            members[0].push(UI);
        }
        let launches_left = LAUNCHES_MAX.min(shape.posted / 10);
        Forest { shape, messages, posters: Vec::new(), workers, members, launches_left }
    }

    /// Adds a posted message.
    fn post(&mut self, rng: &mut Rng) {
        let number = self.messages.len() as u32;
        if self.launches_left > 0 {
            self.launches_left -= 1;
            self.messages.push(Planned { handler: UI, group: START, accesses: 0 });
            self.posters.push(UI);
            return;
        }
        let group = rng.index(self.shape.groups as usize);
        let workers = &self.workers[group];
        let handler = match workers.get(rng.index(workers.len())) {
            Some(worker) if !rng.chance(UI_PART) => *worker,
            _ => UI,
        };
        let members = &self.members[group];
        let sibling = self.posters.last().copied().filter(|poster| {
            self.messages[*poster as usize].group == group as u32 && rng.chance(0.4)
        });
        let poster = match sibling {
            Some(poster) => poster,
            None if rng.chance(0.3) && !workers.is_empty() => workers[rng.index(workers.len())],
            None => members[rng.index(members.len())],
        };
        self.messages.push(Planned { handler, group: group as u32, accesses: 0 });
        self.posters.push(poster);
        self.members[group].push(number);
    }
}

/// Gives every initial message an access, and distributes the others by random weights.
fn share_out_accesses(messages: &mut [Planned], shape: Shape, rng: &mut Rng) {
    let weights: Vec<u64> = messages
        .iter()
        .map(|_| {
            let weight = rng.within(1, 20);
            if rng.below(LONG_ONE_IN) == 0 { weight * 10 } else { weight }
        })
        .collect();
    let total: u64 = weights.iter().sum();
    let free = u64::from(shape.accesses - shape.handlers);
    let (mut weight, mut given) = (0u64, 0u64);
    for (number, (message, its_weight)) in messages.iter_mut().zip(weights).enumerate() {
        weight += its_weight;
        // At most 5e7 accesses and 5e7 messages of weight 200: no overflow.
        let until_now = free * weight / total;
        let own = u64::from((number as u32) < shape.handlers);
        message.accesses = (until_now - given + own) as u32;
        given = until_now;
    }
}
