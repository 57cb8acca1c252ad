//! Observations between invocations, as the search for witnesses needs them.
//!
//! Memory and conditions are not included: their communication is the same for all programs
//! (`docs/witnesses.md`).

use anyorder_commute::{Invocation, Mode, Waits};
use anyorder_trace::{Op, Tables};

/// The observations of one event through one object, in one mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The kind of observation: which of the earlier matching events are observed.
    pub mode: Mode,
    /// The numbers of the observed events, in trace order. An empty list means that no event was
    /// observed, which is also an observation.
    pub sources: Vec<u64>,
}

/// The communication of specified objects. Processes the events of a trace in order and returns
/// their observations.
pub trait Communication {
    /// Returns the number of the specified object that an event acts on and communicates through,
    /// dense from 0; `None` if there is no such object.
    fn object(&mut self, tables: &Tables, op: Op, operand: u32) -> Option<u32>;

    /// Processes the next event of an object, and returns its observations: one entry for each
    /// mode.
    fn observe(&mut self, tables: &Tables, event: u64, op: Op, operand: u32) -> Vec<Observation>;

    /// Returns whether, in this mode, the event with the operand `later` can observe an event with
    /// the operand `earlier`. Both act on one object.
    fn matches(&self, tables: &Tables, mode: Mode, earlier: (Op, u32), later: (Op, u32)) -> bool;

    /// Returns the invocation of an event with the waiting rules of its object; `None` if no
    /// invocation of the object waits.
    fn waits(&self, tables: &Tables, op: Op, operand: u32) -> Option<(&Waits, Invocation)> {
        let _ = (tables, op, operand);
        None
    }
}

/// No communication except that of memory and conditions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCommunication;

impl Communication for NoCommunication {
    fn object(&mut self, _: &Tables, _: Op, _: u32) -> Option<u32> {
        None
    }

    fn observe(&mut self, _: &Tables, _: u64, _: Op, _: u32) -> Vec<Observation> {
        Vec::new()
    }

    fn matches(&self, _: &Tables, _: Mode, _: (Op, u32), _: (Op, u32)) -> bool {
        false
    }
}
