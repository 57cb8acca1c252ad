//! Doors for the tests of what engines rely on: states with one thing changed, and the numbers of places. Nothing else uses them.
//!
//! What an edit changes in terms of places is for the test to say; here is only how it is done.

pub use self::edit::Edit;
pub use self::reports::Reports;
pub use self::view::{MessageView, ObjectView, Spot, ThreadView, View};

mod edit;

pub(crate) mod reports;

mod view;
