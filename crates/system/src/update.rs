//! Updates: what steps change for components of a program.

use crate::reducible::Place;

/// A change of an attribute: of a place whose updates by different components must not overwrite
/// each other.
///
/// Two components have an *update conflict* on an attribute if a run has an update of it by the
/// one, later an update of it by the other, and none of it in between.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Update {
    /// The attribute.
    pub place: Place,
    /// The component for which it was changed, by its index; none where the code that did it
    /// belongs to no component.
    pub by: Option<u32>,
}

/// The updates of transitions: for each a list, in the order in which they happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Updates {
    all: Vec<Update>,
    ends: Vec<usize>,
}

impl Updates {
    /// Adds an update to the transition that is reported next.
    pub fn push(&mut self, update: Update) {
        self.all.push(update);
    }

    /// Ends the list of a transition.
    pub fn end(&mut self) {
        self.ends.push(self.all.len());
    }

    /// Returns the number of transitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether no transition has updates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the updates of a transition; none where none were reported.
    #[must_use]
    pub fn of(&self, transition: usize) -> &[Update] {
        let Some(end) = self.ends.get(transition) else { return &[] };
        let start = transition.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..*end]
    }

    /// Forgets all but the first transitions.
    pub fn truncate(&mut self, transitions: usize) {
        self.ends.truncate(transitions);
        self.all.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Forgets all and keeps the room.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

/// Puts a list of updates into a form that is the same for all lists that mean the same: by
/// attribute, in order, and of several in a row by one component only the first.
pub fn tidy_updates(list: &mut Vec<Update>) {
    list.sort_by_key(|update| update.place);
    list.dedup();
}
