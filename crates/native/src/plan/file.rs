//! The plan as the runtime reads it, and what the runtime writes into it.

use super::holds::Moment;
use super::names::Name;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The bytes of the header.
const HEADER: usize = 256;
/// The bytes of an event.
const EVENT: usize = 64;
/// The bytes of a hold.
const HOLD: usize = 16;

/// The most events of a plan.
pub(super) const EVENTS_MAX: usize = 4_096;
/// The most holds of a plan.
pub(super) const HOLDS_MAX: usize = 16_384;

/// What an event of a plan is for the goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Part of the way.
    Plain = 0,
    /// The action that came first in the recorded run.
    First = 1,
    /// The other one, an access.
    Second = 2,
    /// The other one, which ends what the first one uses: a free or a destruction.
    Ends = 3,
}

/// An event of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedEvent {
    /// Its name.
    pub name: Name,
    /// What it is for the goal.
    pub role: Role,
}

/// What a second run shall do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// The events, each once.
    pub events: Vec<PlannedEvent>,
    /// Who waits for whom, by their places in `events`, and until which moment.
    pub holds: Vec<(u32, u32, Moment)>,
    /// How long the program waits before it exits for the first action, in milliseconds.
    pub exit_delay_ms: u32,
    places: BTreeMap<Name, u32>,
}

impl Plan {
    /// Adds an event, unless it is there. Returns its place.
    pub fn event(&mut self, name: Name, role: Role) -> u32 {
        let next = self.events.len() as u32;
        let at = *self.places.entry(name).or_insert(next);
        if at == next {
            self.events.push(PlannedEvent { name, role });
        } else if role != Role::Plain {
            self.events[at as usize].role = role;
        }
        at
    }

    /// Returns whether it fits into a file.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.events.len() <= EVENTS_MAX && self.holds.len() <= HOLDS_MAX
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.events.len() * EVENT);
        bytes.extend_from_slice(b"ANYPLAN\n");
        for word in [1, self.events.len() as u32, self.holds.len() as u32] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.resize(44, 0);
        bytes.extend_from_slice(&self.exit_delay_ms.to_le_bytes());
        bytes.resize(HEADER, 0);
        for event in &self.events {
            let Name { path, module, offset, number } = event.name;
            for word in [path, module, offset] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&(event.role as u32).to_le_bytes());
            bytes.resize(bytes.len().next_multiple_of(EVENT), 0);
        }
        for (event, other, until) in &self.holds {
            for word in [*event, *other, *until as u32, 0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        debug_assert_eq!(bytes.len(), HEADER + EVENT * self.events.len() + HOLD * self.holds.len());
        bytes
    }
}

/// How far a run has come with an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum State {
    /// Not there.
    #[default]
    Ahead,
    /// A thread has come to it.
    Reached,
    /// Its thread waits on the condition.
    Waiting,
    /// It is over.
    Passed,
}

/// What the runtime says of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Whether nobody is held any more.
    pub gave_up: bool,
    /// The threads that are alive.
    pub alive: u32,
    /// Those that wait in a call.
    pub blocked: u32,
    /// Those that are held.
    pub held: u32,
    /// Changes with everything that a thread does.
    pub activity: u32,
    /// A planned use touched what a planned event had ended.
    pub used_after_end: bool,
    /// Both accesses of a race were reached together.
    pub met: bool,
    /// No module of the plan is in the process.
    pub no_module: bool,
    /// By event of the plan.
    pub states: Vec<State>,
}

impl Status {
    /// Reads the status of a plan with so many events. Missing bytes read as zeros.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read(file: &mut File, events: usize) -> io::Result<Status> {
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::with_capacity(HEADER + EVENT * events);
        file.take((HEADER + EVENT * events) as u64).read_to_end(&mut bytes)?;
        bytes.resize(HEADER + EVENT * events, 0);
        let word = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_le_bytes)
        };
        let outcome = word(40);
        let state = |at: usize| match word(HEADER + EVENT * at + 32) {
            0 => State::Ahead,
            1 => State::Reached,
            2 => State::Waiting,
            _ => State::Passed,
        };
        Ok(Status {
            gave_up: word(20) != 0,
            alive: word(24),
            blocked: word(28),
            held: word(32),
            activity: word(36),
            used_after_end: outcome & (1 | 4) != 0,
            met: outcome & 2 != 0,
            no_module: outcome & 8 != 0,
            states: (0..events).map(state).collect(),
        })
    }

    /// Tells the runtime to hold nobody from now on.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written.
    pub fn give_up(file: &mut File) -> io::Result<()> {
        file.seek(SeekFrom::Start(20))?;
        file.write_all(&1_u32.to_le_bytes())
    }
}
