//! The files of a configuration: includes, packages and blueprints, put together.

pub use files::Files;
pub use load::{Config, LoadError, is_configuration, load};

mod blueprint;
mod files;
mod include;
mod load;
