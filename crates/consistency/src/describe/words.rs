//! Events, messages and chains of orders in words.

use crate::answer::{Fact, Link, Why};
use crate::partial::{MessageId, PartialTrace, Relation, Slot};
use anyorder_trace::{Action, EventId, HandlerId, TaskId, Trace};
use std::collections::HashMap;

/// The most links of a chain that are listed. Of a longer chain, the beginning and the end are
/// listed.
const LINKS_MAX: usize = 16;

/// Names things in a trace. Names are as in the trace, not escaped.
pub(super) struct Words<'a> {
    pub(super) trace: &'a Trace,
    pub(super) partial: &'a PartialTrace,
    /// The numbers of the facts listed so far.
    numbers: HashMap<Fact, usize>,
}

impl<'a> Words<'a> {
    pub(super) fn new(trace: &'a Trace, partial: &'a PartialTrace) -> Words<'a> {
        Words { trace, partial, numbers: HashMap::new() }
    }

    /// Gives a fact the next number, and returns it.
    pub(super) fn number(&mut self, fact: Fact) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(fact).or_insert(next)
    }

    /// Returns the event of a slot.
    pub(super) fn event(&self, slot: Slot) -> EventId {
        self.partial.events[slot as usize]
    }

    /// Returns the label of an event, as `anyorder why` takes it.
    pub(super) fn label(&self, slot: Slot) -> String {
        self.trace.unique_label(self.event(slot))
    }

    /// Returns the name of a message.
    pub(super) fn message(&self, message: MessageId) -> String {
        format!("`{}`", self.trace.task_name(self.partial.messages[message as usize].task))
    }

    /// Returns an event with its action.
    fn event_text(&self, slot: Slot) -> String {
        let event = self.trace.event(self.event(slot));
        let kind = event.kind().word();
        let task = |task: TaskId| {
            let known = task.index() < self.trace.tasks_count();
            if known { self.trace.task_name(task).to_owned() } else { "?".to_owned() }
        };
        let handler = |handler: HandlerId| {
            let known = handler.index() < self.trace.tables().handlers.len();
            if known { self.trace.handler_name(handler).to_owned() } else { "?".to_owned() }
        };
        let what = match event.action() {
            Action::Access { location, .. } | Action::Free(location) => {
                format!("{kind} {}", self.trace.location_text(location))
            }
            Action::Post(posted) | Action::Cancel(posted) => format!("{kind} {}", task(posted)),
            Action::Get(_) => format!("{kind} {}", task(event.task)),
            Action::Fork(other) | Action::Join(other) => format!("{kind} {}", handler(other)),
            _ => kind.to_owned(),
        };
        format!("{} ({what})", self.label(slot))
    }

    /// Returns a fact in words.
    pub(super) fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::Runs { first, second } => {
                format!("{} runs before {}", self.message(first), self.message(second))
            }
            Fact::Before { first, second } => {
                format!("{} comes before {}", self.event_text(first), self.event_text(second))
            }
        }
    }

    /// Returns links as a chain; each ends where the next begins.
    pub(super) fn chain(&self, links: &[Link]) -> String {
        let Some(first) = links.first() else { return String::new() };
        let mut text = self.event_text(first.from);
        let cut = if links.len() > LINKS_MAX { links.len() - LINKS_MAX + 1 } else { 0 };
        let head = if cut > 0 { LINKS_MAX / 2 } else { links.len() };
        for (at, link) in links.iter().enumerate() {
            if at == head {
                text.push_str(&format!(" ... {cut} more steps ..."));
            }
            if at < head || at >= head + cut {
                text.push_str(&format!(" -{}-> ", self.why(link)));
                // A cycle ends where it begins.
                let closes = at + 1 == links.len() && link.to == first.from;
                let to = if closes { self.label(link.to) } else { self.event_text(link.to) };
                text.push_str(&to);
            }
        }
        text
    }

    /// Returns the word for the order of a link.
    fn why(&self, link: &Link) -> String {
        let fact = match link.why {
            Why::Given(relation) => return WORDS[relation as usize].to_owned(),
            Why::Decided(fact) => fact,
        };
        let word = match fact {
            Fact::Runs { first, .. } => {
                let own = &self.partial.messages[first as usize].slots;
                if own.contains(&link.from) { "eo" } else { "mo" }
            }
            Fact::Before { first, .. } => {
                let writes = self.trace.event(self.event(first)).kind().writes();
                if writes { "co" } else { "before" }
            }
        };
        match self.numbers.get(&fact) {
            Some(number) => format!("{word}({number})"),
            None => word.to_owned(),
        }
    }

    /// Returns the links of a cycle, without the inner ones of a run of program order, starting at
    /// the earliest event.
    pub(super) fn cycle(&self, links: &[Link]) -> Vec<Link> {
        let start = (0..links.len()).min_by_key(|at| self.event(links[*at].from)).unwrap_or(0);
        self.joined(links[start..].iter().chain(&links[..start]).copied())
    }

    /// Returns links without the inner ones of a run of program order.
    pub(super) fn joined(&self, links: impl Iterator<Item = Link>) -> Vec<Link> {
        let program = Why::Given(Relation::Program);
        let message = |slot| self.partial.message_of(slot);
        let mut joined: Vec<Link> = Vec::new();
        for link in links {
            match joined.last_mut() {
                Some(last)
                    if last.why == program
                        && link.why == program
                        && message(last.from) == message(link.to) =>
                {
                    last.to = link.to;
                }
                _ => joined.push(link),
            }
        }
        joined
    }
}

/// The words for relations, in the order of their declaration.
const WORDS: [&str; 10] =
    ["po", "rf", "co", "fr", "pb", "fork", "join", "cancel", "enable", "ended"];
