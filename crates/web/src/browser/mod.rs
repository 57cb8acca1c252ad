//! The browser's process: found, started with a fresh profile, and ended with all its children.

mod find;
mod launch;
mod running;

pub use find::{find_browser, has_display};
pub use launch::{BrowserOptions, LaunchedBrowser};
pub(crate) use launch::{is_root, launch};
pub use running::end_all_browsers;
