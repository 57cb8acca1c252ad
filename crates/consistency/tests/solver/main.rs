//! The order solver against brute force.

mod agreement;
mod families;
mod formulas;
#[path = "../procedures/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the other procedures")]
mod support;
