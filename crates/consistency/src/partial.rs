//! The consistency problem: events in messages, messages on handlers, and the given orders.

use crate::mailbox::{Due, MailboxRule};
use anyorder_trace::{EventId, HandlerId, TaskId};
use std::ops::Range;

/// The number of an event within a [`PartialTrace`]. The events of a message have consecutive
/// slots, in program order.
pub type Slot = u32;

/// The number of a message within a [`PartialTrace`].
pub type MessageId = u32;

/// A trace without the orders of its messages.
#[derive(Clone, Debug)]
pub struct PartialTrace {
    /// The order that the mailboxes keep.
    pub mailboxes: MailboxRule,
    /// The number of handlers; a message refers to its handler by a number below it.
    pub handlers: u32,
    /// All messages, ascending by slots: their slots are disjoint and cover all slots. Every
    /// message has events.
    pub messages: Vec<Message>,
    /// For each slot, the event of the trace.
    pub events: Vec<EventId>,
    /// The given orders between events of different messages: rf, pb, fork, join; of co and fr,
    /// only the next write.
    pub given: Vec<Given>,
    /// Given orders within one message against program order: each makes the trace inconsistent by
    /// itself.
    pub backward: Vec<Given>,
    /// Locations with at least two writes whose coherence order is not given.
    pub open: Vec<OpenLocation>,
    /// What has ended does not begin, where the given orders do not say whether the end comes
    /// first.
    pub ends: Vec<OpenEnds>,
}

/// One message: a run of events of one handler without interruption by the same handler.
#[derive(Clone, Debug)]
pub struct Message {
    /// The handler, as a number below [`PartialTrace::handlers`].
    pub handler: u32,
    /// The handler in the trace.
    pub handler_id: HandlerId,
    /// The task of the trace.
    pub task: TaskId,
    /// Whether it is the handler's initial message, which runs before all others of the handler. At
    /// most one per handler.
    pub initial: bool,
    /// Its events; never empty.
    pub slots: Range<Slot>,
    /// The event that posted it; initial messages have none.
    pub post: Option<Slot>,
    /// How long it waits in its mailbox.
    pub due: Due,
}

/// A given order of two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given {
    /// The event that comes first.
    pub from: Slot,
    /// The event that comes later.
    pub to: Slot,
    /// The reason.
    pub relation: Relation,
}

/// Why one event comes before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// Program order: earlier in the same message, or in the initial message of the handler.
    Program,
    /// A write before a read of its value.
    ReadsFrom,
    /// A write before a later one of the location.
    Coherence,
    /// A read before the writes after the one it reads from.
    FromReads,
    /// A post before the first event of its message.
    PostedBy,
    /// A fork before the first event of the handler it starts.
    Fork,
    /// The last event of a handler before the join that waits for it.
    Join,
    /// The post of a task before what cancels it.
    Cancel,
    /// The enabling of an input before the trigger of it.
    Enable,
    /// What begins before what ends it.
    Ended,
}

/// Beginnings, and events that end each of them: none of these comes between what opened a
/// beginning and that beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenEnds {
    /// The ends.
    pub ends: Vec<Slot>,
    /// Each beginning, with the event that opened it.
    pub begins: Vec<(Slot, Slot)>,
}

/// A location whose coherence order is not given.
#[derive(Clone, Debug)]
pub struct OpenLocation {
    /// Its writes, at least two.
    pub writes: Vec<Slot>,
    /// Its reads, each with the write it reads from; `None` is the initial value.
    pub reads: Vec<(Slot, Option<Slot>)>,
}

impl PartialTrace {
    /// Returns the message of a slot, in time logarithmic in the number of messages.
    ///
    /// # Panics
    ///
    /// Panics when there is no such slot.
    #[must_use]
    pub fn message_of(&self, slot: Slot) -> MessageId {
        assert!((slot as usize) < self.events.len(), "there is no slot {slot}");
        (self.messages.partition_point(|message| message.slots.end <= slot)) as MessageId
    }

    /// Returns whether the first message runs before the second if it was posted earlier. Both are
    /// posted messages of one handler.
    #[must_use]
    pub fn keeps(&self, first: MessageId, second: MessageId) -> bool {
        let due = |message: MessageId| self.messages[message as usize].due;
        self.mailboxes.keeps(due(first), due(second))
    }

    /// Returns, for each handler, its posted messages in ascending order.
    #[must_use]
    pub fn posted(&self) -> Vec<Vec<MessageId>> {
        let mut posted = vec![Vec::new(); self.handlers as usize];
        for (id, message) in self.messages.iter().enumerate() {
            if !message.initial {
                posted[message.handler as usize].push(id as MessageId);
            }
        }
        posted
    }

    /// Returns, for each handler, its initial message if it has one.
    #[must_use]
    pub fn initial(&self) -> Vec<Option<MessageId>> {
        let mut initial = vec![None; self.handlers as usize];
        for (id, message) in self.messages.iter().enumerate() {
            if message.initial {
                initial[message.handler as usize] = Some(id as MessageId);
            }
        }
        initial
    }

    /// Returns the number of pairs of posted messages of one handler.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        let count = |n: usize| n as u64 * (n as u64).saturating_sub(1) / 2;
        self.posted().iter().map(|messages| count(messages.len())).sum()
    }

    /// Returns the first message other than an initial one that posts.
    #[must_use]
    pub fn nested(&self) -> Option<MessageId> {
        let posts = self.messages.iter().filter_map(|message| message.post);
        let posters = posts.map(|post| self.message_of(post));
        posters.filter(|&id| !self.messages[id as usize].initial).min()
    }
}
