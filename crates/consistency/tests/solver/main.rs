//! The order solver against brute force.

mod agreement;
mod families;
mod formulas;
use crate::tests::procedures::support;
