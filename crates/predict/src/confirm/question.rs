//! One question of the search: two actions, in which sense they are to be reversed, and what is held around them.

use super::answer::Form;
use super::holding::{Section, SectionId};
use super::past::Past;
use anyorder_trace::{EventId, Trace};

/// Two actions and a form.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) form: Form,
    /// The last events of a witness, in order, that the search sets apart.
    pub(super) tail: Vec<u32>,
    /// The sections that are open before an event of the tail, and the one it begins; each event with its sections.
    pub(super) held: Vec<(u32, SectionId)>,
}

impl Question {
    pub(super) fn new(
        trace: &Trace,
        past: &Past,
        (first, second): (u32, u32),
        form: Form,
    ) -> Question {
        let tail = if form == Form::CoEnabled { vec![second, first] } else { vec![first] };
        let held = tail
            .iter()
            .flat_map(|event| {
                let held = past.holding.held(trace, &past.chain, EventId(*event));
                held.into_iter().map(|section| (*event, section))
            })
            .collect();
        Question { first, second, form, tail, held }
    }

    /// Returns whether an event can only come behind the witness: it follows one of its last events in the chain of that event,
    /// or is one.
    #[inline]
    pub(super) fn is_behind(&self, past: &Past, event: u32) -> bool {
        let chain = past.chain[event as usize];
        self.tail.iter().any(|last| event >= *last && past.chain[*last as usize] == chain)
    }

    /// Returns whether the communication of an event of the tail is asked for.
    pub(super) fn asks_tail(&self) -> bool {
        self.form == Form::Reversed
    }

    /// Returns the position where the outermost section around an action begins.
    pub(super) fn start(&self, past: &Past) -> u32 {
        let acquires = self.held.iter().map(|(_, s)| past.holding.sections[*s as usize].acquire);
        acquires.min().unwrap_or(self.first).min(self.first)
    }

    /// Returns the section held at the end of the witness that keeps a section of the witness from being open: that has to be
    /// given back before.
    pub(super) fn keepers<'q>(
        &'q self,
        past: &'q Past,
        section: &'q Section,
    ) -> impl Iterator<Item = (u32, &'q Section)> {
        let held = self.held.iter().map(|(event, s)| (*event, &past.holding.sections[*s as usize]));
        held.filter(|(_, other)| section.excludes(other))
    }

    /// Returns whether the sections held around the two actions of the tail let both be.
    pub(super) fn holds_together(&self, past: &Past) -> bool {
        self.held.iter().filter(|(event, _)| *event != self.first).all(|(_, section)| {
            let section = &past.holding.sections[*section as usize];
            self.keepers(past, section).all(|(event, other)| {
                // The second action gives back what the first one takes.
                event != self.first
                    || (section.release == self.second && other.acquire == self.first)
            })
        })
    }
}
