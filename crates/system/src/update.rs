//! Updates: the changes that steps make for components of a program.

use crate::reducible::Place;

/// A change of an attribute, that is, of a place whose updates by different components must not
/// overwrite each other.
///
/// Two components have an *update conflict* on an attribute if in some run one updates it, later
/// the other does, and no update of it lies in between.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Update {
    /// The attribute.
    pub place: Place,
    /// The index of the component for which it was changed; `None` if the code belongs to no
    /// component.
    pub by: Option<u32>,
}

/// The updates of transitions: a list for each, in the order in which they happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Updates {
    all: Vec<Update>,
    ends: Vec<usize>,
}

impl Updates {
    /// Adds an update to the next reported transition.
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

    /// Returns the updates of a transition; empty if none were reported.
    #[must_use]
    pub fn of(&self, transition: usize) -> &[Update] {
        let Some(end) = self.ends.get(transition) else { return &[] };
        let start = transition.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..*end]
    }

    /// Removes all but the first transitions.
    pub fn truncate(&mut self, transitions: usize) {
        self.ends.truncate(transitions);
        self.all.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Removes all transitions and keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

/// Normalises a list of updates: equivalent lists become equal. Sorts by attribute and keeps the
/// order; of consecutive updates by one component only the first stays.
pub fn tidy_updates(list: &mut Vec<Update>) {
    list.sort_by_key(|update| update.place);
    list.dedup();
}
