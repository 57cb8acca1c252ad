//! A page as a system of tasks.

mod accesses;
mod observation;
mod options;
mod page_system;
mod run;
mod times;

pub use observation::STEPS_LEFT;
pub use options::{PageOptions, PageStats};
pub use page_system::{PageFactory, PageSystem};
