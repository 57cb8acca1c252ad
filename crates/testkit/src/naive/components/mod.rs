//! `docs/android-components.md`: orders between callbacks of Android components.

pub(super) use broadcast::Conditional;
pub(super) use edges::{ComponentEdges, find};
pub(crate) use requirements::ComponentRules;

mod broadcast;
mod edges;
mod idle;
mod lifecycle;
mod requirements;
mod service;
