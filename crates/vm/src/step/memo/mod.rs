//! Memoization: a step is executed once for all states in which it reads the same values.

pub(crate) use self::kept::{give_back, take, with};
pub(crate) use self::leaf::{Ending, Flagged, Leaf, Touching, Written};
pub(crate) use self::place::Place as MemoPlace;
pub(crate) use self::recorder::Recorder;
pub(crate) use self::replay::replay;
pub(crate) use self::scope::Memorable;
pub(crate) use self::tree::{Found, Memo, Root};

mod kept;

mod leaf;

mod place;

mod recorder;

mod replay;

mod scope;

mod tree;
