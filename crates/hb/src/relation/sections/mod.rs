//! Critical sections, and their orders if locks order only actions that do not commute.

pub(crate) use actions::Actions;
pub use actions::{Conflicting, Point, Points};
pub(crate) use open_sections::{OpenSections, Section, SectionId};
pub(crate) use plan::{Publish, Pull, SectionPlan};

mod actions;
mod open_sections;
mod plan;
