//! The objects of the platform that an execution can hold.

use super::world::EventKey;
use crate::value::Stored;

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Thing {
    /// `location`
    Location,
    /// `app`
    App,
    /// `state`, `atomicState`
    State,
    /// `log`
    Log,
    /// The argument of a handler.
    Event(EventKey),
    /// What `currentState` gives: the value of an attribute with its date.
    Reading(Stored),
    /// A moment, in milliseconds.
    Date(i64),
    /// `location.timeZone` and other things that are only passed on.
    Opaque,
    /// The answer of a server.
    Response,
    /// A value that is not known: where it comes from, and how. Equal ones are one value.
    Unknown(String),
    /// A class of the platform by its name.
    Class(String),
    /// `new Random()`
    Random,
    /// `location.helloHome`
    Routines,
    /// A formatter of dates with its pattern.
    Format(String),
}

/// The objects of one execution. The devices have the numbers before them.
#[derive(Debug, Default)]
pub(super) struct Things {
    devices: usize,
    others: Vec<Thing>,
}

/// What an object is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Device(usize),
    Other(Thing),
}

impl Things {
    pub(super) fn new(devices: usize) -> Things {
        Things { devices, others: vec![] }
    }

    /// Returns the number of an object. Equal ones have one number.
    pub(super) fn add(&mut self, thing: Thing) -> u32 {
        let at = self.others.iter().position(|known| *known == thing).unwrap_or_else(|| {
            self.others.push(thing);
            self.others.len() - 1
        });
        u32::try_from(self.devices + at).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, id: u32) -> Option<Found> {
        let id = id as usize;
        match id.checked_sub(self.devices) {
            None => Some(Found::Device(id)),
            Some(other) => self.others.get(other).cloned().map(Found::Other),
        }
    }
}
