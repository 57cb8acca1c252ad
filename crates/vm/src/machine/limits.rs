//! The limits of every program.

/// Most nested calls in a body. The body itself is one more frame.
pub(crate) const FRAMES_MAX: usize = 256;

/// How deep containers may nest.
pub(crate) const DEPTH_MAX: u16 = 200;
