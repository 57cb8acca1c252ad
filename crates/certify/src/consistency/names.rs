//! Names of events and tasks: readable ones for errors, and unambiguous ones for the text of a
//! proof.

use super::proof::{Fact, Link, Why};
use crate::names::{Names, by_number, event_name};
use anyorder_trace::{EventId, TaskId, Trace};

/// Names for errors, which may be ambiguous. Ids outside the trace are allowed.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'t> {
    pub(super) trace: &'t Trace,
}

impl Renderer<'_> {
    /// The most facts of a clause in an error.
    const FACTS_MAX: usize = 8;

    pub(super) fn event(self, event: EventId) -> String {
        if event.index() < self.trace.len() {
            event_name(self.trace, event)
        } else {
            by_number(event.0)
        }
    }

    pub(super) fn facts(self, facts: &[Fact]) -> String {
        let mut shown: Vec<String> =
            facts.iter().take(Renderer::FACTS_MAX).map(|&fact| self.fact(fact)).collect();
        match facts.len().saturating_sub(Renderer::FACTS_MAX) {
            0 if facts.is_empty() => shown.push("the empty clause".to_owned()),
            0 => {}
            more => shown.push(format!("{more} more")),
        }
        shown.join(", ")
    }
}

/// Facts and links as text.
pub(super) trait Naming {
    /// Returns an event as it stands in a fact.
    fn event_text(&self, event: EventId) -> String;

    /// Returns a task as it stands in a fact.
    fn task_text(&self, task: TaskId) -> String;

    /// Returns a fact.
    fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::Runs { first, second } => {
                format!("runs {} {}", self.task_text(first), self.task_text(second))
            }
            Fact::Before { first, second } => {
                format!("before {} {}", self.event_text(first), self.event_text(second))
            }
        }
    }

    /// Returns a link of a cycle.
    fn link(&self, link: &Link) -> String {
        let why = match link.why {
            Why::Decided(fact) => self.fact(fact),
            given => given.word().to_owned(),
        };
        format!("{} {} {why}", self.event_text(link.from), self.event_text(link.to))
    }
}

impl Naming for Renderer<'_> {
    fn event_text(&self, event: EventId) -> String {
        self.event(event).escape_debug().to_string()
    }

    fn task_text(&self, task: TaskId) -> String {
        if task.index() < self.trace.tasks_count() {
            self.trace.task_name(task).escape_debug().to_string()
        } else {
            by_number(task.0)
        }
    }
}

impl Naming for Names<'_> {
    fn event_text(&self, event: EventId) -> String {
        self.event(event)
    }

    fn task_text(&self, task: TaskId) -> String {
        self.task(task)
    }
}
