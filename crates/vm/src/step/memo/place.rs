//! The places that a step reads.

use crate::state::Chunks;
use crate::value::Value;

/// A place in the state before the step, or in the message that begins.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ReadPlace {
    /// The arguments of the message that begins.
    Args,
    /// A global.
    Global(u16),
    /// An element of the list or map in a global, by index or key.
    Element(u16, Value),
}

impl ReadPlace {
    /// Returns the value in this place; `None` if the container has no such element.
    #[inline]
    pub(crate) fn read<'s>(&self, globals: &'s Chunks, args: &'s Value) -> Option<&'s Value> {
        match self {
            ReadPlace::Args => Some(args),
            ReadPlace::Global(global) => Some(globals.get(usize::from(*global))),
            ReadPlace::Element(global, index) => globals.get(usize::from(*global)).element(index),
        }
    }
}
