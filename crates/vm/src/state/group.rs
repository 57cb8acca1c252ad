//! The members that an index type numbers, by their numbers in the layout.

use crate::machine::Machine;
use crate::program::Symmetry;

/// A symmetry with the first number of each array or family.
pub(super) struct Group<'a> {
    pub(super) machine: &'a Machine,
    pub(super) symmetry: &'a Symmetry,
    /// Its index among the symmetries.
    pub(super) number: usize,
    /// Mailboxes of handlers.
    pub(super) slots: Vec<u32>,
    pub(super) events: Vec<u32>,
    /// The slots that events without a handler have of their own.
    pub(super) own_slots: Vec<u32>,
    pub(super) threads: Vec<u32>,
    pub(super) locks: Vec<u32>,
    pub(super) conds: Vec<u32>,
}

/// All symmetries of a machine.
pub(super) fn groups(machine: &Machine) -> Vec<Group<'_>> {
    let symmetries = machine.program.symmetries.iter().enumerate();
    symmetries.map(|(number, symmetry)| Group::new(machine, symmetry, number)).collect()
}

impl<'a> Group<'a> {
    fn new(machine: &'a Machine, symmetry: &'a Symmetry, number: usize) -> Group<'a> {
        let layout = &machine.layout;
        let events = || symmetry.events.iter().chain(&symmetry.event_runs);
        let own = events().filter(|e| machine.program.events[e.index()].handler.is_none());
        let own = own.map(|e| layout.event_first[e.index()] as usize);
        Group {
            machine,
            symmetry,
            number,
            slots: symmetry.handlers.iter().map(|h| layout.handler_first[h.index()]).collect(),
            events: events().map(|e| layout.event_first[e.index()]).collect(),
            own_slots: own.filter_map(|first| layout.member_slot.get(first).copied()).collect(),
            threads: symmetry.threads.iter().map(|t| layout.thread_first[t.index()]).collect(),
            locks: symmetry.locks.iter().map(|l| layout.lock_first[l.index()]).collect(),
            conds: symmetry.conds.iter().map(|c| layout.cond_first[c.index()]).collect(),
        }
    }

    pub(super) fn size(&self) -> usize {
        usize::from(self.symmetry.size)
    }

    /// Returns the array of a number, among those that start at `firsts`, and its instance.
    pub(super) fn find(&self, number: u32, firsts: &[u32]) -> Option<(usize, usize)> {
        let size = self.size() as u32;
        firsts.iter().enumerate().find_map(|(run, first)| {
            let instance = number.checked_sub(*first).filter(|i| *i < size)?;
            Some((run, instance as usize))
        })
    }

    /// Returns the number of the same member of another instance.
    pub(super) fn map(&self, number: u32, firsts: &[u32], to: &[usize]) -> u32 {
        self.find(number, firsts)
            .map_or(number, |(run, instance)| firsts[run] + to[instance] as u32)
    }
}
