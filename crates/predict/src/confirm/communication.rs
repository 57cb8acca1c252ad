//! What invocations observe of one another, as the search for witnesses asks for it.
//!
//! Memory and conditions are not here: what they communicate is the same for all programs
//! (`docs/witnesses.md`).

use anyorder_commute::{Invocation, Mode, Waits};
use anyorder_trace::{Op, Tables};

/// What one event observes through one object, in one mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// Which of the earlier events that match are observed.
    pub mode: Mode,
    /// The numbers of the events observed, in trace order. Empty: that there was none, which is an
    /// observation as well.
    pub sources: Vec<u64>,
}

/// The communication of specified objects: takes the events of a trace in order, and says which of
/// them observe which.
pub trait Communication {
    /// Returns the number of the specified object that an event acts on and communicates through,
    /// dense from 0; `None` if it is none.
    fn object(&mut self, tables: &Tables, op: Op, operand: u32) -> Option<u32>;

    /// Takes the next event of an object, and returns what it observes: one entry for each mode in
    /// which it observes.
    fn observe(&mut self, tables: &Tables, event: u64, op: Op, operand: u32) -> Vec<Observation>;

    /// Returns whether, in this mode, an event with the operand `earlier` is one of those among
    /// which the one with the operand `later` chooses what it observes. Both act on one object.
    fn matches(&self, tables: &Tables, mode: Mode, earlier: (Op, u32), later: (Op, u32)) -> bool;

    /// Returns the invocation that an event is, with what those of its object wait for; `None` if
    /// none of them waits.
    fn waits(&self, tables: &Tables, op: Op, operand: u32) -> Option<(&Waits, Invocation)> {
        let _ = (tables, op, operand);
        None
    }
}

/// No communication but that of memory and conditions.
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
