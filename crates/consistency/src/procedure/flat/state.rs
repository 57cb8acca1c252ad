//! Configurations and their enabled steps.

use crate::partial::{MessageId, Slot};
use crate::saturate::{Graph, Saturation};

/// No message.
const NONE: MessageId = MessageId::MAX;

/// The orders that the search obeys.
pub(super) struct Orders<'s> {
    /// The orders that saturation forces.
    pub(super) saturation: Option<&'s Saturation<'s>>,
    /// Whether pending messages keep the order of their posts.
    pub(super) queue: bool,
}

/// The trace, indexed for the search.
pub(super) struct Plan<'s> {
    pub(super) graph: &'s Graph<'s>,
    orders: Orders<'s>,
    /// For each handler, its posted messages.
    posted: Vec<Vec<MessageId>>,
    /// For each slot, where its predecessors in other messages start in `before`.
    starts: Vec<u32>,
    before: Vec<Slot>,
}

/// The progress of the handlers.
#[derive(Clone)]
pub(super) struct State {
    /// For each message, its next slot; before it begins, its first slot.
    next: Vec<Slot>,
    /// For each handler, the message that it runs.
    current: Vec<MessageId>,
    /// For each handler, the messages in its mailbox, in the order of their posts.
    pending: Vec<Vec<MessageId>>,
}

/// A step that may be done now or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// The next event of this message, which posts.
    Post(MessageId),
    /// This message begins.
    Get(MessageId),
}

impl<'s> Plan<'s> {
    pub(super) fn new(graph: &'s Graph<'s>, orders: Orders<'s>) -> Plan<'s> {
        let slots = graph.slots();
        let mut starts = vec![0_u32; slots + 1];
        let message = |slot: Slot| graph.message(slot);
        let cross = |from: Slot| {
            let others = graph.after(from).filter(move |&(to, _)| message(from) != message(to));
            others.map(move |(to, _)| (from, to))
        };
        for (_, to) in (0..slots as Slot).flat_map(cross) {
            starts[to as usize + 1] += 1;
        }
        for slot in 0..slots {
            starts[slot + 1] += starts[slot];
        }
        let mut free = starts.clone();
        let mut before = vec![0; starts[slots] as usize];
        for (from, to) in (0..slots as Slot).flat_map(cross) {
            let place = &mut free[to as usize];
            before[*place as usize] = from;
            *place += 1;
        }
        Plan { graph, orders, posted: graph.trace.posted(), starts, before }
    }

    /// The configuration before the first event: initial messages have begun, all others have not.
    pub(super) fn start(&self) -> State {
        let trace = self.graph.trace;
        let initial = trace.initial();
        let orphans = |messages: &Vec<MessageId>| {
            messages.iter().copied().filter(|&message| self.graph.post(message).is_none()).collect()
        };
        State {
            next: trace.messages.iter().map(|message| message.slots.start).collect(),
            current: initial.iter().map(|message| message.unwrap_or(NONE)).collect(),
            pending: self.posted.iter().map(orphans).collect(),
        }
    }

    /// Whether all predecessors of a message's next event have run.
    fn free(&self, state: &State, slot: Slot) -> bool {
        let range = self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize;
        self.before[range].iter().all(|&before| self.executed(state, before))
    }

    fn executed(&self, state: &State, slot: Slot) -> bool {
        slot < state.next[self.graph.message(slot) as usize]
    }

    fn posted(&self, state: &State, message: MessageId) -> bool {
        self.graph.post(message).is_none_or(|post| self.executed(state, post))
    }

    /// Whether saturation orders the first of two messages of one handler first.
    fn forced(&self, first: MessageId, second: MessageId) -> bool {
        self.orders.saturation.is_some_and(|saturation| saturation.runs_before(first, second))
    }

    /// Whether the first message runs first if it is posted first.
    fn keeps(&self, first: MessageId, second: MessageId) -> bool {
        self.orders.queue && self.graph.posts_follow(second, first)
    }

    fn others(&self, message: MessageId) -> impl Iterator<Item = MessageId> + '_ {
        let handler = self.graph.trace.messages[message as usize].handler as usize;
        self.posted[handler].iter().copied().filter(move |&other| other != message)
    }

    /// Whether a message may be posted now: messages that saturation orders before it must be
    /// posted first.
    fn can_post(&self, state: &State, message: MessageId) -> bool {
        self.others(message).all(|other| {
            let must = self.forced(other, message) && self.graph.posts_follow(other, message);
            !must || self.posted(state, other)
        })
    }

    /// Whether posting a message now is harmless: no message posted later could otherwise run
    /// before it.
    fn harmless_post(&self, state: &State, message: MessageId) -> bool {
        self.others(message).all(|other| {
            self.posted(state, other) || self.forced(message, other) || !self.keeps(message, other)
        })
    }

    /// Whether a pending message may begin now, given that its handler is idle.
    fn can_get(&self, state: &State, message: MessageId) -> bool {
        let handler = self.graph.trace.messages[message as usize].handler as usize;
        let earlier = state.pending[handler].iter().take_while(|&&other| other != message);
        self.free(state, self.graph.first(message))
            && earlier.into_iter().all(|&other| !self.keeps(other, message))
            && self
                .others(message)
                .all(|other| self.begun(state, other) || !self.forced(other, message))
    }

    /// Whether a message that may begin is, in every continuation, the first among those that have
    /// not begun.
    fn harmless_get(&self, state: &State, message: MessageId) -> bool {
        let handler = self.graph.trace.messages[message as usize].handler as usize;
        let pending = &state.pending[handler];
        let place = |message: MessageId| pending.iter().position(|&other| other == message);
        let own = place(message);
        self.others(message).all(|other| {
            let later = place(other).is_none_or(|at| own.is_some_and(|own| at > own));
            self.begun(state, other)
                || self.forced(message, other)
                || (later && self.keeps(message, other))
        })
    }

    fn begun(&self, state: &State, message: MessageId) -> bool {
        state.next[message as usize] > self.graph.first(message)
    }

    /// Executes all harmless steps, and records the slots in the order of execution.
    pub(super) fn advance(&self, state: &mut State, log: &mut Vec<Slot>) {
        let mut moved = true;
        while moved {
            moved = false;
            for handler in 0..state.current.len() {
                while self.step(state, handler, log) {
                    moved = true;
                }
            }
        }
    }

    /// Executes one harmless event of a handler, if there is one.
    fn step(&self, state: &mut State, handler: usize, log: &mut Vec<Slot>) -> bool {
        let message = state.current[handler];
        if message == NONE {
            let next = state.pending[handler].iter().copied();
            let next = next
                .into_iter()
                .find(|&each| self.can_get(state, each) && self.harmless_get(state, each));
            return next.is_some_and(|message| {
                self.execute(state, Choice::Get(message), log);
                true
            });
        }
        let slot = state.next[message as usize];
        let harmless = |posted| self.can_post(state, posted) && self.harmless_post(state, posted);
        let ready = self.free(state, slot) && self.graph.posted_by(slot).all(harmless);
        if ready {
            self.execute(state, Choice::Post(message), log);
        }
        ready
    }

    /// The other steps that are enabled now: each may be right or wrong.
    pub(super) fn choices(&self, state: &State) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (handler, &message) in state.current.iter().enumerate() {
            if message == NONE {
                let ready =
                    state.pending[handler].iter().filter(|&&each| self.can_get(state, each));
                choices.extend(ready.map(|&message| Choice::Get(message)));
                continue;
            }
            let slot = state.next[message as usize];
            if self.free(state, slot)
                && self.graph.posted_by(slot).all(|posted| self.can_post(state, posted))
            {
                choices.push(Choice::Post(message));
            }
        }
        choices
    }

    /// Executes the next event of a message.
    pub(super) fn execute(&self, state: &mut State, choice: Choice, log: &mut Vec<Slot>) {
        let (Choice::Post(message) | Choice::Get(message)) = choice;
        let trace = self.graph.trace;
        let handler = trace.messages[message as usize].handler as usize;
        if let Choice::Get(_) = choice {
            state.pending[handler].retain(|&other| other != message);
            state.current[handler] = message;
        }
        let slot = state.next[message as usize];
        log.push(slot);
        for posted in self.graph.posted_by(slot) {
            state.pending[trace.messages[posted as usize].handler as usize].push(posted);
        }
        state.next[message as usize] = slot + 1;
        if slot == self.graph.last(message) {
            state.current[handler] = NONE;
        }
    }

    /// A key of a configuration: equal for two configurations exactly when they have the same
    /// continuations.
    ///
    /// The progress of the initial messages determines which messages were posted. Posted messages
    /// that are neither pending nor running have ended.
    pub(super) fn key(&self, state: &State) -> Box<[u32]> {
        let mut key = Vec::new();
        for (&message, pending) in state.current.iter().zip(&state.pending) {
            key.push(message);
            key.push(state.next.get(message as usize).copied().unwrap_or_default());
            key.push(pending.len() as u32);
            let start = key.len();
            key.extend_from_slice(pending);
            if !self.ordered(pending) {
                key[start..].sort_unstable();
            }
        }
        key.into()
    }

    /// Whether the order of pending messages matters.
    fn ordered(&self, pending: &[MessageId]) -> bool {
        let later = |at: usize| &pending[at + 1..];
        let pair = |one, two| self.keeps(one, two) || self.keeps(two, one);
        (0..pending.len()).any(|at| later(at).iter().any(|&other| pair(pending[at], other)))
    }
}
