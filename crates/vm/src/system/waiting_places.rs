//! The places where something waits in a deadlock. Deadlocks with the same places are one finding.
//!
//! A place is a source position and the reason to wait there. Members of families and arrays are
//! not told apart, so that identical lanes have one place. Messages behind others wait for what
//! those wait for: they count only if nothing else must not wait.

use super::name::Name;
use super::waits::{Reason, Waiting};
use super::words::lock_name;
use crate::machine::{INIT_FLAG, Machine};
use crate::program::SourceSite;
use crate::state::State;

/// A place where something waits that must not wait for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingPlace {
    /// Its source position.
    pub site: Option<SourceSite>,
    /// The reason, without the numbers of members. The end of a lock's holder, for a lock that is
    /// held when all is done.
    pub reason: Reason,
    /// The declaration of what waits: a thread, a handler, an event or a task. A lock, if all is
    /// done and it is still held.
    pub what: Name,
    /// The mailbox of a task that was not taken.
    pub mailbox: Option<Name>,
    /// The first lane that waits there; `None` if all is done.
    pub first: Option<Waiting>,
}

impl WaitingPlace {
    /// Returns the parts that tell it from others.
    fn key(&self) -> String {
        match self.site {
            Some(SourceSite { file, line, column }) => {
                format!("{file}:{line}:{column} {:?}", self.reason)
            }
            None => format!("{} {:?}", self.words(), self.reason),
        }
    }

    /// Returns what waits, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.mailbox {
            Some(mailbox) => format!("{} in {mailbox}", self.what),
            None => self.what.to_string(),
        }
    }
}

impl Machine {
    /// Returns the places where something waits for ever in a state without steps, each once. If
    /// nothing waits: the locks that are still held. Linear in the state; runs each thread up to
    /// the instruction that blocks.
    #[must_use]
    pub fn waiting_places(&self, state: &State) -> Vec<WaitingPlace> {
        if state.flag(INIT_FLAG) {
            return Vec::new();
        }
        let mut waiting = self.waiting(state);
        waiting.retain(|one| !one.may);
        if waiting.iter().any(|one| one.reason != Reason::Turn) {
            waiting.retain(|one| one.reason != Reason::Turn);
        }
        let held = || {
            let all = state.locks().iter().zip(0..);
            let held = all.filter(|(owner, _)| **owner != 0);
            held.map(|(_, lock)| still_held(lock_name(self, lock).of_all()))
        };
        let mut places: Vec<WaitingPlace> = match waiting.is_empty() {
            true => held().collect(),
            false => waiting.into_iter().map(place).collect(),
        };
        // In the order of the text; the first lane of each.
        places.sort_by_key(|one| {
            (one.site.map(|site| (site.file, site.line, site.column)), one.key())
        });
        places.dedup_by_key(|one| one.key());
        places
    }

    /// Describes the places where something waits: equal for deadlocks that are one finding.
    #[must_use]
    pub fn places_text(&self, state: &State) -> String {
        let keys: Vec<String> = self.waiting_places(state).iter().map(WaitingPlace::key).collect();
        keys.join("; ")
    }
}

fn place(waiting: Waiting) -> WaitingPlace {
    let reason = match &waiting.reason {
        Reason::Lock { lock, holder, .. } => Reason::Lock {
            lock: lock.of_all(),
            number: 0,
            holder: holder.as_ref().map(Name::of_all),
        },
        Reason::Notify { cond } => Reason::Notify { cond: cond.of_all() },
        Reason::End { of } => Reason::End { of: of.of_all() },
        reason @ (Reason::Assumption | Reason::Turn) => reason.clone(),
    };
    let (what, mailbox) = match (&waiting.runs, waiting.message) {
        (Some(runs), true) => (runs.of_all(), Some(waiting.who.of_all())),
        _ => (waiting.who.of_all(), None),
    };
    WaitingPlace { site: waiting.site, reason, what, mailbox, first: Some(waiting) }
}

fn still_held(lock: Name) -> WaitingPlace {
    let reason = Reason::Lock { lock: lock.clone(), number: 0, holder: None };
    WaitingPlace { site: None, reason, what: lock, mailbox: None, first: None }
}
