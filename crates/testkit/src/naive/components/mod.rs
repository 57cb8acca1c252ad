//! `docs/android-components.md`: orders between callbacks of Android components.

pub(super) use broadcast::Conditional;
pub(super) use found::{Found, find};
pub(crate) use given::ComponentRules;

mod found;

mod given;

mod lifecycle;

mod idle;

mod service;

mod broadcast;
