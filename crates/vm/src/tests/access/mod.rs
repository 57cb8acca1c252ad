//! Access for tests of what engines rely on: states with one change, and the numbers of places.
//!
//! The test says which places an edit changes. This module only makes the edit.

pub(crate) use edit::Edit;
pub(crate) use view::{PlaceSpec, View};

mod edit;
mod view;
