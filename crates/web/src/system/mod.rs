//! A page as a system of tasks.

mod accesses;
mod factory;
mod observation;
mod options;
mod page_system;
mod run;
mod times;

pub use factory::PageFactory;
pub use observation::STEPS_LEFT;
pub use options::{PageOptions, PageStats};
pub use page_system::PageSystem;
