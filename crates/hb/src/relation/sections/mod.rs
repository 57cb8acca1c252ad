//! Critical sections, and the orders that they give where locks order no more than what does not
//! commute.

pub(crate) use actions::Actions;
pub use actions::{Conflicting, Point, Points};
pub(crate) use held::{Held, Section, SectionId};
pub(crate) use plan::{Publish, Pull, SectionPlan};

mod actions;
mod held;
mod plan;
