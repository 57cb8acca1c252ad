//! Requests and results.

use crate::error::GenerateError;
use crate::family::Family;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventId, Trace};
use std::collections::VecDeque;

/// The order in which handlers take messages in the recorded run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum RunMailbox {
    /// In the order of the posts: the trace is consistent.
    #[default]
    Fifo,
    /// In random order: the trace may have no run with FIFO mailboxes.
    ///
    /// The trace does not record that it came from a bag; its handlers have FIFO mailboxes
    /// nevertheless.
    Bag,
}

impl RunMailbox {
    /// Both, FIFO first.
    pub const ALL: [RunMailbox; 2] = [RunMailbox::Fifo, RunMailbox::Bag];

    /// Returns the word for it on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RunMailbox::Fifo => "fifo",
            RunMailbox::Bag => "bag",
        }
    }

    /// Takes the next of the waiting messages.
    pub(crate) fn take<M>(self, waiting: &mut VecDeque<M>, rng: &mut Rng) -> Option<M> {
        match self {
            RunMailbox::Fifo => waiting.pop_front(),
            RunMailbox::Bag => waiting.swap_remove_back(rng.index(waiting.len())),
        }
    }
}

/// A request for a trace. [`Request::new`] gives the defaults. A field that is `None` has a default
/// that depends on the family; a field that the family does not have must be `None`.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The family.
    pub family: Family,
    /// The size, in the units of the family: see [`Family::describe`].
    pub size: u64,
    /// The seed: equal requests give equal traces.
    pub seed: u64,
    /// The mailboxes of the run; ignored by families that are not recorded from one.
    pub mailbox: RunMailbox,
    /// Whether the messages are in the file in random order (by the seed), so that the order of
    /// lines reveals nothing. Else the events are in the order of the run or of the construction.
    pub shuffle_lines: bool,
    /// For `sat3` and `bi3sat`: clauses per variable. By default 4.26 and 1.4.
    pub ratio: Option<f64>,
    /// For `android`: messages with events, including initial ones. By default one per 100 events.
    pub messages: Option<u64>,
    /// For `android`: handlers. By default between 4 and 16, by the number of messages.
    pub handlers: Option<u64>,
    /// For `android`: the share of accesses to variables that several messages use. By default
    /// 0.02.
    pub share: Option<f64>,
    /// For `android`: the number of parts of the application that share nothing but the looper. By
    /// default 2.
    pub groups: Option<u64>,
    /// For `knot`: the number of pairs in a ring. By default 3 to 8, by the seed.
    pub ring: Option<u64>,
}

impl Request {
    /// Makes a request for a family and size with seed 1, FIFO mailboxes and messages in random
    /// order.
    #[must_use]
    pub const fn new(family: Family, size: u64) -> Request {
        Request {
            family,
            size,
            seed: 1,
            mailbox: RunMailbox::Fifo,
            shuffle_lines: true,
            ratio: None,
            messages: None,
            handlers: None,
            share: None,
            groups: None,
            ring: None,
        }
    }

    /// Refuses fields that the family does not have.
    pub(crate) fn check_fields(&self) -> Result<(), GenerateError> {
        let android = self.family == Family::Android;
        let formula = matches!(self.family, Family::Sat3 | Family::Bi3Sat);
        let fields = [
            (self.ratio.is_some(), formula, "number of clauses a variable"),
            (self.messages.is_some(), android, "number of messages to choose"),
            (self.handlers.is_some(), android, "number of handlers to choose"),
            (self.share.is_some(), android, "part of shared accesses"),
            (self.groups.is_some(), android, "number of groups"),
            (self.ring.is_some(), self.family == Family::Knot, "length of rings"),
        ];
        match fields.into_iter().find(|(given, known, _)| *given && !known) {
            Some((_, _, what)) => {
                Err(GenerateError::NotOfFamily { family: self.family.name(), what })
            }
            None => Ok(()),
        }
    }
}

/// A trace and, if it was recorded, its run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The trace: partial, with reads-from and coherence, without the orders of messages and posts.
    pub trace: Trace,
    /// All events in the order of the run; `None` in families that are not recorded from one. With
    /// FIFO mailboxes it is a witness that the trace is consistent.
    pub run: Option<Vec<EventId>>,
}
