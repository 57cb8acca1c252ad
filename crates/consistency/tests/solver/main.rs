//! The order solver against brute force.

#[path = "../procedures/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the other procedures")]
mod support;

mod agreement;

mod families;

mod formulas;
