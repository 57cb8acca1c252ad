//! `docs/android-components.md`: orders between callbacks of Android components.

pub(super) use broadcast::Conditional;
pub(super) use found::{Found, find};
pub(crate) use given::ComponentRules;

mod broadcast;
mod found;
mod given;
mod idle;
mod lifecycle;
mod service;
