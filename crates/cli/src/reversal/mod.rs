//! Runs of a model or a program, varied by reversing one conflict at a time: what is asked, what is told of it.

pub(crate) use explored::{Asked, explored};
pub(crate) use program::{command_of, pipe_options};
pub(crate) use replay::{Again, is_difference, replay};
pub(crate) use shrunk::shrunk;
pub(crate) use target::{Target, cannot_start, with_system};

mod program;

mod checked;

mod target;

mod told;

mod explored;

mod findings;

mod races;

mod trim;

mod replay;

mod shrunk;
