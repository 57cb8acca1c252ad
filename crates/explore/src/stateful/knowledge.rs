//! What was learned about tasks, over all attempts made so far: it only grows.
//!
//! For each place the tasks seen to read it and those seen to write it; from these, kept up to date
//! as facts come in:
//!
//! - `conflicts[f]`: the tasks with a fact that conflicts with the footprint `f`;
//! - `enablers[e]`: the tasks seen to write a place that the task `e` awaits;
//! - `rivals[e]`: the tasks with a fact that conflicts with a fact of `e`.
//!
//! The first numbers of tasks are the observers of the invariants.

use super::footprints::{Footprints, Silent, Spot, writes};
use super::interned::Interned;
use super::numbering::Numbering;
use super::sabotage::Sabotage;
use anyorder_common::bits::{self, Rows};
use anyorder_system::{Reducible, TaskKey, Touched};

/// How a system and the options want footprints to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) values: bool,
    /// Whether attributes are told apart.
    pub(crate) updates: bool,
    pub(crate) sabotage: Sabotage,
}

impl Reading {
    fn silent(self) -> Silent {
        if !self.values {
            return Silent::Write;
        }
        if self.sabotage == Sabotage::SilentNothing { Silent::Nothing } else { Silent::Read }
    }
}

#[derive(Debug)]
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
    /// For each place the tasks that await it, the footprints that touch it, and those that write
    /// it.
    awaited_by: Vec<Vec<u32>>,
    touched_by: Vec<Vec<u32>>,
    written_by: Vec<Vec<u32>>,
    /// Sets of ready tasks, and sets S.
    pub(crate) sets: Interned,
}

impl Knowledge {
    pub(crate) fn new<S: Reducible>(system: &S, invariants: usize, reading: Reading) -> Knowledge {
        let mut new = Knowledge {
            reading,
            observers: 0,
            tasks: Numbering::new(),
            places: Numbering::new(),
            footprints: Footprints::new(),
            version: 0,
            width: 0,
            readers: Rows::default(),
            writers: Rows::default(),
            conflicts: Rows::default(),
            enablers: Rows::default(),
            rivals: Rows::default(),
            awaits: Vec::new(),
            awaited_by: Vec::new(),
            touched_by: Vec::new(),
            written_by: Vec::new(),
            sets: Interned::new(1),
        };
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

    /// Returns the number of a task, which is known from now on.
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
        for place in awaits {
            bits::join(self.enablers.row_mut(task), self.writers.row(*place));
            self.awaited_by[*place as usize].push(task);
            if self.reading.sabotage != Sabotage::NoAwaits {
                self.learn(task, Spot::new(*place, false));
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

    /// Notes what an attempt touched; returns its footprint.
    pub(crate) fn footprint(&mut self, task: u32, touched: &[Touched]) -> u32 {
        if let Some(footprint) = self.footprints.find(task, touched) {
            return footprint;
        }
        let mut spots = Vec::with_capacity(touched.len() + 2);
        for one in touched {
            let place = self.place(one.place.0);
            let write = writes(one.kind, self.reading.silent());
            spots.extend(write.map(|write| Spot::new(place, write)));
        }
        if self.reading.sabotage != Sabotage::NoAwaits {
            let awaits = &self.awaits[task as usize];
            spots.extend(awaits.iter().map(|place| Spot::new(*place, false)));
        }
        // A write hides a read of the same place: both conflict with what the write does.
        spots.sort_unstable_by(|a, b| b.cmp(a));
        spots.dedup_by_key(|spot| spot.place());
        spots.reverse();
        let (footprint, new) = self.footprints.intern(&spots);
        self.footprints.note(task, touched, footprint);
        if new {
            self.add_footprint(footprint, &spots);
        }
        spots.iter().for_each(|spot| self.learn(task, *spot));
        footprint
    }

    fn add_footprint(&mut self, footprint: u32, spots: &[Spot]) {
        self.conflicts.push(None);
        for spot in spots {
            let place = spot.place();
            self.touched_by[place as usize].push(footprint);
            let row = self.conflicts.row_mut(footprint);
            bits::join(row, self.writers.row(place));
            if spot.writes() {
                bits::join(row, self.readers.row(place));
                self.written_by[place as usize].push(footprint);
            }
        }
    }

    /// Takes in a fact: a task was seen to touch a place so.
    fn learn(&mut self, task: u32, spot: Spot) {
        let (place, index) = (spot.place(), spot.place() as usize);
        let facts = if spot.writes() { &mut self.writers } else { &mut self.readers };
        if !bits::set(facts.row_mut(place), task) {
            return;
        }
        self.version += 1;
        let against = if spot.writes() { &self.touched_by } else { &self.written_by };
        for footprint in &against[index] {
            bits::set(self.conflicts.row_mut(*footprint), task);
        }
        let mut rivals = self.writers.row(place).to_vec();
        if spot.writes() {
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

    /// Joins to a set the tasks whose facts conflict with what a task, not noted yet, touched.
    pub(crate) fn join_conflicts(&self, task: u32, touched: &[Touched], into: &mut [u64]) {
        for one in touched {
            let write = writes(one.kind, self.reading.silent());
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
