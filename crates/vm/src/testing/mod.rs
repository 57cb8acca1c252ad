//! Access for tests of what engines rely on: states with one change, and the numbers of places.
//!
//! The test says which places an edit changes. This module only makes the edit.

pub use self::edit::Edit;
pub use self::reports::Reports;
pub use self::view::{MessageView, ObjectView, PlaceSpec, ThreadView, View};

mod edit;
pub(crate) mod reports;
mod view;
