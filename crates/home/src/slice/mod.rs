//! What of the handlers matters for an answer: the cone of influence of some variables.
//!
//! **Problem.** Given trees of handlers and a set of variables, find smaller trees in which these
//! variables take the same values in the same order, with the same writers.
//!
//! **Method.** A variable, handler or event is kept if it can influence one that is kept, and this
//! is a least fixed point. A write of a variable that is not kept is left out. A read whose
//! branches are equal without such writes is left out, too. So a branch is kept only where what
//! follows differs. Equal parts of a tree are one node: the trees become graphs without cycles.
//!
//! **Guarantee.** A run of the smaller trees is a run of all of them without steps that touch no
//! kept variable, and the other way round. So update conflicts on the variables and breaches of
//! rules about them are the same. The variables of each cycle of events are kept, so loops are
//! the same, too.
//!
//! **Naive version.** No slice: `tests/slice_twin.rs` compares the answers for random homes.
//!
//! **Cost.** A pass is linear in the trees; there are as many passes as the longest chain of
//! influence.

mod keep;
mod shrink;
mod targets;

use crate::rules::Rule;
use crate::unfold::{VarId, World};
use std::collections::BTreeSet;

/// Returns the variables that two apps may set to different values, and whether handlers may run
/// each other in a cycle.
pub(crate) fn questions(world: &World<'_>) -> (BTreeSet<VarId>, bool) {
    let targets = targets::targets(world, &[]);
    (targets.vars, !targets.units.is_empty())
}

/// Leaves out what cannot matter for update conflicts between apps, loops of events, and `rules`.
pub(crate) fn slice(world: &mut World<'_>, rules: &[Rule]) {
    let targets = targets::targets(world, rules);
    let kept = keep::keep(world, &targets);
    shrink::shrink(world, &kept);
}
