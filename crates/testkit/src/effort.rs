//! How much the random tests of all crates try.
//!
//! `ANYORDER_EFFORT=N` makes each of them try `N` times as much as on a push; the nightly script
//! uses 4. `ANYORDER_SEED=N` begins at other random numbers; without it each run tries the same
//! ones.

use std::ops::Range;

/// The distance of two values of `ANYORDER_SEED`: more than any test tries.
const STRIDE: u64 = 100_000_000;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse().unwrap_or_else(|_| panic!("{variable}={text}: expected a number"));
    Some(number)
}

/// Returns how many times as much as on a push is tried, at least 1.
#[must_use]
pub fn effort() -> u64 {
    number("ANYORDER_EFFORT").unwrap_or(1).max(1)
}

/// Returns a number of cases, given that of a push.
#[must_use]
pub fn cases(on_push: u64) -> u64 {
    on_push * effort()
}

/// Returns the seeds of a random test, given how many it tries on a push.
#[must_use]
pub fn seeds(on_push: u64) -> Range<u64> {
    let first = first_seed();
    first..first + cases(on_push)
}

/// Returns the first seed of a random test: 1 without `ANYORDER_SEED`.
#[must_use]
pub fn first_seed() -> u64 {
    1 + number("ANYORDER_SEED").unwrap_or(0) * STRIDE
}
