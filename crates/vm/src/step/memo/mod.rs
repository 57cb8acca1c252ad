//! Steps that were executed before are not executed again: what they read decides what they do.

pub(crate) use self::kept::{give_back, take};
pub(crate) use self::recorder::Recorder;
pub(crate) use self::replay::replay;
pub(crate) use self::scope::Memorable;
pub(crate) use self::tree::{Ending, Found, Memo, Root};

mod kept;

mod place;

mod recorder;

mod replay;

mod scope;

mod tree;
