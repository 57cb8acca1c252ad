//! The transitions of a state.

pub use self::action::Action;

pub(crate) use self::action::Move;
pub(crate) use self::candidates::{candidates, event_is_open};
pub(crate) use self::initial::{initial, unstarted};
pub(crate) use self::recall::{Recalled, recall_known};
pub(crate) use self::walker::{Outcome, Walker, ghosts};

mod action;

mod candidates;

mod walker;

mod recall;

mod initial;
