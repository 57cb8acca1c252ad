//! Facts about tasks, from all attempts so far. Facts only grow.
//!
//! For each place, the tasks seen to read it and those seen to write it. These sets follow from
//! them, and are updated with each fact:
//!
//! - `conflicts[f]`: the tasks with a fact that conflicts with the footprint `f`;
//! - `rivals[e]`: the tasks with a fact that conflicts with a fact of `e`.
//!
//! The first numbers of tasks are the observers of the invariants.

use super::footprints::{Footprints, PlaceAccess};
use super::interned::Interned;
use super::numbering::Numbering;
use super::sabotage::Sabotage;
use anyorder_common::bits::{self, Rows};
use anyorder_system::{Reducible, TaskKey, TouchKind, Touched};

/// How the system and the options interpret footprints.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) values: bool,
    /// Whether attributes are distinguished.
    pub(crate) updates: bool,
    pub(crate) sabotage: Sabotage,
}

impl Reading {
    /// Returns whether a touch counts as a write; `None`: it counts as nothing (by sabotage).
    pub(crate) fn writes(self, kind: TouchKind) -> Option<bool> {
        match kind {
            TouchKind::Read => Some(false),
            TouchKind::Write => Some(true),
            TouchKind::SilentWrite if !self.values => Some(true),
            TouchKind::SilentWrite => (self.sabotage != Sabotage::SilentNothing).then_some(false),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Knowledge {
    pub(crate) reading: Reading,
    /// The number of observers.
    pub(crate) observers: u32,
    pub(crate) tasks: Numbering,
    places: Numbering,
    pub(crate) footprints: Footprints,
    /// Grows with every fact and every task.
    pub(crate) version: u64,
    /// The words of a set of tasks.
    pub(crate) width: usize,
    readers: Rows,
    writers: Rows,
    pub(crate) conflicts: Rows,
    pub(crate) enablers: Rows,
    pub(crate) rivals: Rows,
    /// For each task the places that it awaits.
    awaits: Vec<Vec<u32>>,
    /// For each task, whether its transitions are optional: known once it was seen to have one.
    pub(crate) optional: Vec<bool>,
    /// For each place: the tasks that await it, the footprints that touch it, and those that write
    /// it.
    awaited_by: Vec<Vec<u32>>,
    touched_by: Vec<Vec<u32>>,
    written_by: Vec<Vec<u32>>,
    /// Sets of ready tasks, and sets S.
    pub(crate) sets: Interned,
}

impl Knowledge {
    pub(crate) fn new<S: Reducible>(system: &S, invariants: usize, reading: Reading) -> Knowledge {
        let mut new = Knowledge { reading, ..Knowledge::default() };
        new.widen(1);
        for _ in 0..invariants {
            let observer = new.tasks.push(u64::MAX);
            new.add_task(observer, &[]);
            new.observers += 1;
        }
        let mut known = Vec::new();
        system.tasks(&mut known);
        if reading.sabotage != Sabotage::NoForeknowledge {
            for key in known {
                new.task(system, key);
            }
        }
        new
    }

    pub(crate) fn bytes(&self) -> u64 {
        let rows = [&self.readers, &self.writers, &self.conflicts, &self.enablers, &self.rivals];
        rows.iter().map(|rows| rows.bytes()).sum::<u64>()
            + self.tasks.bytes()
            + self.places.bytes()
            + self.footprints.bytes()
            + self.sets.bytes()
    }

    fn widen(&mut self, width: usize) {
        self.width = width;
        for rows in [
            &mut self.readers,
            &mut self.writers,
            &mut self.conflicts,
            &mut self.enablers,
            &mut self.rivals,
        ] {
            rows.widen(width);
        }
        self.sets.widen(width);
    }

    /// Returns the number of a task, and adds the task if it is new.
    pub(crate) fn task<S: Reducible>(&mut self, system: &S, key: TaskKey) -> u32 {
        let (task, new) = self.tasks.intern(key.0);
        if new {
            let mut awaits = Vec::new();
            system.awaits(key, &mut awaits);
            let mut places: Vec<u32> = awaits.iter().map(|place| self.place(place.0)).collect();
            places.sort_unstable();
            places.dedup();
            self.add_task(task, &places);
        }
        task
    }

    fn add_task(&mut self, task: u32, awaits: &[u32]) {
        self.version += 1;
        if self.tasks.len() > self.width * 64 {
            self.widen(self.width * 2);
        }
        self.enablers.push(None);
        self.rivals.push(None);
        self.awaits.push(awaits.to_vec());
        self.optional.push(false);
        for place in awaits {
            bits::join(self.enablers.row_mut(task), self.writers.row(*place));
            self.awaited_by[*place as usize].push(task);
            if self.reading.sabotage != Sabotage::NoAwaits {
                self.learn(task, PlaceAccess::new(*place, false));
            }
        }
    }

    fn place(&mut self, key: u64) -> u32 {
        let (place, new) = self.places.intern(key);
        if new {
            self.readers.push(None);
            self.writers.push(None);
            self.awaited_by.push(Vec::new());
            self.touched_by.push(Vec::new());
            self.written_by.push(Vec::new());
        }
        place
    }

    /// Records the touches of an attempt. Returns its footprint.
    pub(crate) fn footprint(&mut self, task: u32, touched: &[Touched]) -> u32 {
        if let Some(footprint) = self.footprints.find(task, touched) {
            return footprint;
        }
        let mut accesses = Vec::with_capacity(touched.len() + 2);
        for one in touched {
            let place = self.place(one.place.0);
            let write = self.reading.writes(one.kind);
            accesses.extend(write.map(|write| PlaceAccess::new(place, write)));
        }
        if self.reading.sabotage != Sabotage::NoAwaits {
            let awaits = &self.awaits[task as usize];
            accesses.extend(awaits.iter().map(|place| PlaceAccess::new(*place, false)));
        }
        // A write subsumes a read of the same place: what conflicts with the read conflicts with
        // the write.
        accesses.sort_unstable_by(|a, b| b.cmp(a));
        accesses.dedup_by_key(|access| access.place());
        accesses.reverse();
        let (footprint, new) = self.footprints.intern(&accesses);
        self.footprints.note(task, touched, footprint);
        if new {
            self.add_footprint(footprint, &accesses);
        }
        accesses.iter().for_each(|access| self.learn(task, *access));
        footprint
    }

    fn add_footprint(&mut self, footprint: u32, accesses: &[PlaceAccess]) {
        self.conflicts.push(None);
        for access in accesses {
            let place = access.place();
            self.touched_by[place as usize].push(footprint);
            let row = self.conflicts.row_mut(footprint);
            bits::join(row, self.writers.row(place));
            if access.writes() {
                bits::join(row, self.readers.row(place));
                self.written_by[place as usize].push(footprint);
            }
        }
    }

    /// Adds a fact: a task was seen to access a place.
    fn learn(&mut self, task: u32, access: PlaceAccess) {
        let (place, index) = (access.place(), access.place() as usize);
        let facts = if access.writes() { &mut self.writers } else { &mut self.readers };
        if !bits::set(facts.row_mut(place), task) {
            return;
        }
        self.version += 1;
        let against = if access.writes() { &self.touched_by } else { &self.written_by };
        for footprint in &against[index] {
            bits::set(self.conflicts.row_mut(*footprint), task);
        }
        let mut rivals = self.writers.row(place).to_vec();
        if access.writes() {
            bits::join(&mut rivals, self.readers.row(place));
            for waiting in &self.awaited_by[index] {
                bits::set(self.enablers.row_mut(*waiting), task);
            }
        }
        bits::join(self.rivals.row_mut(task), &rivals);
        for rival in bits::members(&rivals) {
            bits::set(self.rivals.row_mut(rival), task);
        }
    }

    /// Adds to a set the tasks whose facts conflict with a task's touches, before these are
    /// recorded.
    pub(crate) fn join_conflicts(&self, task: u32, touched: &[Touched], into: &mut [u64]) {
        for one in touched {
            let write = self.reading.writes(one.kind);
            let (Some(place), Some(write)) = (self.places.find(one.place.0), write) else {
                continue;
            };
            bits::join(into, self.writers.row(place));
            if write {
                bits::join(into, self.readers.row(place));
            }
        }
        if self.reading.sabotage != Sabotage::NoAwaits {
            bits::join(into, self.enablers.row(task));
        }
    }
}
