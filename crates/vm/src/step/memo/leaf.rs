//! What a step comes to, as far as it is remembered.

use super::place::Place;
use crate::state::Deed;
use crate::value::Value;
use anyorder_system::Touched;
use std::sync::Arc;

/// What a step comes to.
#[derive(Debug)]
pub(crate) enum Ending {
    /// There is no such transition.
    Dropped,
    /// The result of a property.
    Answer(bool),
    /// What it does.
    Effects(Arc<Deed>),
}

/// A remembered step.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) ending: Ending,
    /// What it looks at, and what it finds there.
    pub(crate) reads: Box<[(Place, Value)]>,
    /// What it touches, for reduction; made when it is first asked for.
    pub(crate) touching: Option<Box<Touching>>,
}

/// What a step touches, as far as it is the same in all states in which it finds the same.
#[derive(Debug, Default)]
pub(crate) struct Touching {
    pub(crate) fixed: Vec<Touched>,
    /// What it writes to memory.
    pub(crate) writes: Vec<Written>,
    /// What flags it sets.
    pub(crate) flags: Vec<Flagged>,
    /// Whether it posts to a delayed mailbox.
    pub(crate) delayed: bool,
}

/// A write to memory.
#[derive(Debug)]
pub(crate) struct Written {
    /// Which effect it is.
    pub(crate) effect: usize,
    pub(crate) container: anyorder_system::Place,
    /// The element; none for a write of the whole.
    pub(crate) element: Option<anyorder_system::Place>,
    /// What is read, too, if nothing changes.
    pub(crate) silent: Vec<Touched>,
}

/// A flag that is set or cleared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flagged {
    pub(crate) flag: usize,
    pub(crate) value: bool,
    pub(crate) place: anyorder_system::Place,
}
