//! Remembered results of steps.

use super::place::ReadPlace;
use crate::state::StepDelta;
use crate::value::Value;
use anyorder_system::Touched;
use std::sync::Arc;

/// The result of a step.
#[derive(Debug)]
pub(crate) enum StepResult {
    /// There is no such transition.
    NoTransition,
    /// The result of a property.
    Answer(bool),
    /// The effects of a step.
    Effects(Arc<StepDelta>),
}

/// A remembered step.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) result: StepResult,
    /// The places that it reads, and the values found there.
    pub(crate) reads: Box<[(ReadPlace, Value)]>,
    /// Its footprint, for reduction; computed on first request.
    pub(crate) footprint: Option<Box<Footprint>>,
}

/// The footprint of a step, as far as it is the same in all states in which the step reads the
/// same.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) fixed: Vec<Touched>,
    /// Its writes to memory.
    pub(crate) writes: Vec<MemoryWrite>,
    /// The flags that it writes.
    pub(crate) flags: Vec<FlagWrite>,
    /// Whether it posts to a delayed mailbox.
    pub(crate) delayed: bool,
}

/// A write to memory.
#[derive(Debug)]
pub(crate) struct MemoryWrite {
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
pub(crate) struct FlagWrite {
    pub(crate) flag: usize,
    pub(crate) value: bool,
    pub(crate) place: anyorder_system::Place,
}
