//! `docs/android-components.md`: orders between callbacks of Android components.

pub(super) use broadcast::Conditional;
pub(super) use found::{Found, find};

mod found;

mod lifecycle;

mod idle;

mod service;

mod broadcast;
