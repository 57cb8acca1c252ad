//! Access points: specifications in a form in which conflicts are looked up.

pub use compile::{AccessPoints, Exactness, PairExactness};
pub use touch::{ClassId, Point};

mod compile;
mod touch;
