//! What belongs to the instances of a symmetry, by the numbers of the layout.

use crate::machine::Machine;
use crate::program::Symmetry;

/// A symmetry and its members.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) machine: &'a Machine,
    pub(super) symmetry: &'a Symmetry,
    /// Which one it is.
    pub(super) number: usize,
}

/// All symmetries of a machine.
pub(super) fn groups(machine: &Machine) -> Vec<Group<'_>> {
    let symmetries = machine.program.symmetries.iter().enumerate();
    symmetries.map(|(number, symmetry)| Group { machine, symmetry, number }).collect()
}

impl<'a> Group<'a> {
    pub(super) fn size(&self) -> usize {
        usize::from(self.symmetry.size)
    }

    /// The first mailbox of each array of handlers.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + use<'a> {
        let layout = &self.machine.layout;
        self.symmetry.handlers.iter().map(|h| layout.handler_first[h.index()])
    }

    pub(super) fn events(&self) -> impl Iterator<Item = u32> + use<'a> {
        let layout = &self.machine.layout;
        let events = self.symmetry.events.iter().chain(&self.symmetry.event_runs);
        events.map(|e| layout.event_first[e.index()])
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = u32> + use<'a> {
        let layout = &self.machine.layout;
        self.symmetry.threads.iter().map(|t| layout.thread_first[t.index()])
    }

    pub(super) fn locks(&self) -> impl Iterator<Item = u32> + use<'a> {
        let layout = &self.machine.layout;
        self.symmetry.locks.iter().map(|l| layout.lock_first[l.index()])
    }

    pub(super) fn conds(&self) -> impl Iterator<Item = u32> + use<'a> {
        let layout = &self.machine.layout;
        self.symmetry.conds.iter().map(|c| layout.cond_first[c.index()])
    }

    /// The slots that events without a handler have of their own.
    pub(super) fn own_slots(&self) -> impl Iterator<Item = u32> + use<'a> {
        let machine = self.machine;
        let events = self.symmetry.events.iter().chain(&self.symmetry.event_runs);
        let own = events.filter(|e| machine.program.events[e.index()].handler.is_none());
        own.filter_map(|e| {
            let first = machine.layout.event_first[e.index()] as usize;
            machine.layout.member_slot.get(first).copied()
        })
    }

    /// Which of the runs that start at `firsts` a number is in, and of which instance it is.
    pub(super) fn find(
        &self,
        number: u32,
        firsts: impl Iterator<Item = u32>,
    ) -> Option<(usize, usize)> {
        let size = self.size() as u32;
        firsts.enumerate().find_map(|(run, first)| {
            let instance = number.checked_sub(first).filter(|i| *i < size)?;
            Some((run, instance as usize))
        })
    }

    /// The number of the same thing of another instance.
    pub(super) fn map(
        &self,
        number: u32,
        mut firsts: impl Iterator<Item = u32>,
        to: &[usize],
    ) -> u32 {
        let size = self.size() as u32;
        let first = firsts.find(|first| (*first..first.saturating_add(size)).contains(&number));
        first.map_or(number, |first| first + to[(number - first) as usize] as u32)
    }
}
