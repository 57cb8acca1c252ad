//! Files from outside, and files that appear whole or not at all.

/// Removes the unfinished files of this process. A program calls it before it ends in the middle of
/// its work.
pub fn remove_unfinished() {}
