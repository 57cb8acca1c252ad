//! Remembered results of steps.

use super::place::Place;
use crate::state::Deed;
use crate::value::Value;
use anyorder_system::Touched;
use std::sync::Arc;

/// The result of a step.
#[derive(Debug)]
pub(crate) enum Ending {
    /// There is no such transition.
    Dropped,
    /// The result of a property.
    Answer(bool),
    /// The effects of a step.
    Effects(Arc<Deed>),
}

/// A remembered step.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) ending: Ending,
    /// The places that it reads, and the values found there.
    pub(crate) reads: Box<[(Place, Value)]>,
    /// Its footprint, for reduction; computed on first request.
    pub(crate) touching: Option<Box<Touching>>,
}

/// The footprint of a step, as far as it is the same in all states in which the step reads the
/// same.
#[derive(Debug, Default)]
pub(crate) struct Touching {
    pub(crate) fixed: Vec<Touched>,
    /// Its writes to memory.
    pub(crate) writes: Vec<Written>,
    /// The flags that it writes.
    pub(crate) flags: Vec<Flagged>,
    /// Whether it posts to a delayed mailbox.
    pub(crate) delayed: bool,
}

/// A write to memory.
#[derive(Debug)]
pub(crate) struct Written {
    /// The index of the effect.
    pub(crate) effect: usize,
    pub(crate) container: anyorder_system::Place,
    /// The element; `None` for a write of the whole container.
    pub(crate) element: Option<anyorder_system::Place>,
    /// What it also reads if the write changes nothing.
    pub(crate) silent: Vec<Touched>,
}

/// A flag that is set or cleared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flagged {
    pub(crate) flag: usize,
    pub(crate) value: bool,
    pub(crate) place: anyorder_system::Place,
}
