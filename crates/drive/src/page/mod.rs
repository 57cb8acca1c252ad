//! Web pages as programs: a page in Chromium, with the steps of a user, and rewritten so that its
//! events report what they access.
//!
//! ```no_run
//! use anyorder_drive::JobControl;
//! use anyorder_drive::explore::{ExploreOptions, explore};
//! use anyorder_drive::page::{PageProgram, PageSettings, Served};
//!
//! let served = Served::folder("examples/web/search".as_ref(), "/")?;
//! let steps = r##"{"steps": [{"type": {"into": "#query", "text": "ab"}}]}"##;
//! let settings = PageSettings::default().with_actions("steps.json", steps)?;
//! let program = PageProgram::open("examples/web/search", served, settings)?;
//! let found = explore(&program, &ExploreOptions::default(), &JobControl::default())?;
//! # Ok::<(), anyorder_drive::Failure>(())
//! ```

pub use anyorder_web::{Crawled, Recorded, write_actions};
pub use emit::{TestKind, write_test};
pub use program::{PageProgram, PageSettings, explore_page, replay_page, shrink_page};
pub use recording::record_page;
pub use saved::SavedPage;
pub use served::{Served, is_page};

mod difference;
mod emit;
mod evidence;
mod hurried;
mod logged;
mod program;
mod recording;
mod saved;
mod served;
mod source_map;
mod texts;
mod words;
