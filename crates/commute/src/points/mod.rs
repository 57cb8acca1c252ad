//! Access points: specifications compiled for fast conflict checks.

pub use compile::{AccessPoints, Exactness, PairExactness};
pub use touch::{ClassId, Point};

mod compile;
mod touch;
