//! The reference order of an event: the order in which a single thread runs its invocations.
//!
//! **Problem.** Given the tree of an event's invocations, with the mailbox, the delay and the
//! position of each: in which order does one thread run them, each to its end? **Source.** The
//! single-thread semantics of Bouajjani et al., ESOP 2017, section 3.3: depth-first preorder of the
//! call tree, children in the order of their posts. **Deviations.** 1. The paper's tasks run in any
//! order; here a handler may keep an order. At each point runs the first pending invocation in
//! depth-first preorder that its mailbox can deliver: any one of a bag, any forked thread, any
//! burst, and of a `fifo` mailbox only the one that was posted first. Without fifo and delays that
//! is depth-first preorder. If all tasks of the event run on one fifo handler, it is the order of
//! the posts. 2. Code takes no time. A delayed task of a `delayed` mailbox becomes due when the
//! clock reaches the time of its post plus its delay; the clock advances, to the next due time,
//! only when nothing else can run. Due tasks of one mailbox run by due time, then in the order of
//! their posts. 3. A post to the front comes before all pending tasks of its mailbox, the latest
//! such post first.
//!
//! **Naive version.** Scan all pending invocations for the first that can run:
//! `testkit::robust`. **Worked example.** An event posts `p` to a bag, and `q` and `r` to a fifo
//! handler; `p` posts `s` to that handler. Depth-first preorder is `e p s q r`. When `s` is posted,
//! `q` and `r` are before it in their mailbox. So the order is `e p q r s`. **Cost.** n log n.

use super::forest::{Forest, InvocationIndex, NONE, STRIDE};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{HandlerId, Mailbox, Position, Tables, TaskKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The position of each invocation in the reference order of its event.
///
/// # Errors
///
/// Fails if it was stopped.
pub(super) fn positions(
    forest: &Forest,
    tables: &Tables,
    control: &Control<'_>,
) -> Result<Vec<u32>, Stopped> {
    let mut positions = vec![0; forest.invocations.len()];
    let mut run = Run::new(forest, tables);
    let mut done = 0;
    for event in 0..forest.events_count() as u32 {
        let members = forest.of_event(event);
        if members.len() > 1 {
            run.event(members, &mut positions, control)?;
        }
        if done / STRIDE != (done + members.len()) / STRIDE {
            control.step(done as u64, Some(positions.len() as u64))?;
        }
        done += members.len();
    }
    Ok(positions)
}

/// The place of a pending task in its mailbox: posts to the front by falling number, then by due
/// time and number of the post.
type Place = (u64, i64);

/// A single thread that runs one event.
struct Run<'a> {
    forest: &'a Forest,
    tables: &'a Tables,
    /// Where each invocation is in the preorder of its event.
    preorder: Vec<u32>,
    /// By invocation: its first child and its next sibling.
    first_child: Vec<InvocationIndex>,
    next_sibling: Vec<InvocationIndex>,
    ran: Vec<bool>,
    /// The pending tasks of mailboxes that keep an order.
    queues: FxHashMap<HandlerId, BTreeMap<Place, InvocationIndex>>,
    /// Places in preorder of what may run. An entry of a queue may be out of date.
    ready: BinaryHeap<Reverse<(u32, InvocationIndex)>>,
    /// The due times of tasks at the head of their mailboxes, before they are due.
    later: BinaryHeap<Reverse<(u64, u32, InvocationIndex)>>,
    now: u64,
    posts: i64,
}

impl<'a> Run<'a> {
    fn new(forest: &'a Forest, tables: &'a Tables) -> Run<'a> {
        let count = forest.invocations.len();
        Run {
            forest,
            tables,
            preorder: vec![0; count],
            first_child: vec![NONE; count],
            next_sibling: vec![NONE; count],
            ran: vec![false; count],
            queues: FxHashMap::default(),
            ready: BinaryHeap::new(),
            later: BinaryHeap::new(),
            now: 0,
            posts: 0,
        }
    }

    /// Runs an event, and numbers its invocations.
    fn event(
        &mut self,
        members: &[InvocationIndex],
        positions: &mut [u32],
        control: &Control<'_>,
    ) -> Result<(), Stopped> {
        for (place, member) in members.iter().enumerate() {
            self.preorder[*member as usize] = place as u32;
        }
        // In preorder, later siblings come later: read backwards, each becomes the first child.
        for member in members.iter().rev() {
            let parent = self.forest.invocations[*member as usize].parent;
            if parent != NONE {
                self.next_sibling[*member as usize] = self.first_child[parent as usize];
                self.first_child[parent as usize] = *member;
            }
        }
        (self.now, self.posts) = (0, 0);
        self.queues.clear();
        self.later.clear();
        self.ready.push(Reverse((0, members[0])));
        let mut place = 0_u32;
        loop {
            while let Some(Reverse((_, next))) = self.ready.pop() {
                if !self.can_run(next) {
                    continue;
                }
                positions[next as usize] = place;
                place += 1;
                self.run(next);
                if (place as usize).is_multiple_of(STRIDE) {
                    control.check()?;
                }
            }
            let Some(Reverse((due, ..))) = self.later.peek() else { break };
            self.now = self.now.max(*due);
            while let Some(Reverse((due, place, next))) = self.later.peek().copied()
                && due <= self.now
            {
                self.later.pop();
                self.ready.push(Reverse((place, next)));
            }
        }
        debug_assert_eq!(place as usize, members.len(), "every invocation of an event runs");
        Ok(())
    }

    /// Returns the mailbox whose order an invocation has to keep, if any.
    fn queue_of(&self, invocation: InvocationIndex) -> Option<(HandlerId, Mailbox)> {
        let invocation = &self.forest.invocations[invocation as usize];
        let posted = self.tables.tasks[invocation.task.index()].kind == TaskKind::Posted;
        let mailbox = self.tables.handlers.get(invocation.handler.index())?.mailbox;
        let ordered = matches!(mailbox, Mailbox::Fifo | Mailbox::Delayed);
        (posted && ordered && invocation.parent != NONE).then_some((invocation.handler, mailbox))
    }

    /// Returns whether an invocation is still pending, and at the head of its mailbox and due.
    fn can_run(&self, invocation: InvocationIndex) -> bool {
        if self.ran[invocation as usize] {
            return false;
        }
        let Some((handler, _)) = self.queue_of(invocation) else { return true };
        let head = self.queues.get(&handler).and_then(BTreeMap::first_key_value);
        head.is_some_and(|((due, _), head)| *head == invocation && *due <= self.now)
    }

    /// Runs an invocation: it leaves its mailbox, and its children enter theirs.
    fn run(&mut self, invocation: InvocationIndex) {
        self.ran[invocation as usize] = true;
        if let Some((handler, _)) = self.queue_of(invocation) {
            if let Some(queue) = self.queues.get_mut(&handler) {
                queue.pop_first();
            }
            self.announce_head(handler);
        }
        let mut child = self.first_child[invocation as usize];
        while child != NONE {
            self.post(child);
            child = self.next_sibling[child as usize];
        }
    }

    fn post(&mut self, child: InvocationIndex) {
        let Some((handler, mailbox)) = self.queue_of(child) else {
            self.ready.push(Reverse((self.preorder[child as usize], child)));
            return;
        };
        self.posts += 1;
        let def = &self.tables.tasks[self.forest.invocations[child as usize].task.index()];
        let place = match (def.position, mailbox) {
            (Position::Front, _) => (0, -self.posts),
            (Position::Back, Mailbox::Delayed) => (self.now.saturating_add(def.delay), self.posts),
            (Position::Back, _) => (0, self.posts),
        };
        let queue = self.queues.entry(handler).or_default();
        queue.insert(place, child);
        if queue.first_key_value().is_some_and(|(_, head)| *head == child) {
            self.announce_head(handler);
        }
    }

    /// Lets the head of a mailbox run, now or when it is due.
    fn announce_head(&mut self, handler: HandlerId) {
        let head = self.queues.get(&handler).and_then(BTreeMap::first_key_value);
        let Some(((due, _), head)) = head.map(|(place, head)| (*place, *head)) else { return };
        let place = self.preorder[head as usize];
        if due <= self.now {
            self.ready.push(Reverse((place, head)));
        } else {
            self.later.push(Reverse((due, place, head)));
        }
    }
}
