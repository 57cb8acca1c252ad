//! Waiting for the own token.

use crate::runtime;
use anyorder_threads::{Act, ObjectId, Patience};
use std::panic::Location;
use std::time::Duration;

fn token() -> ObjectId {
    let token = runtime::with(|core| core.with_current(|strand| strand.token));
    token.expect("a type of `anyorder` was used outside of a check")
}

/// As [`std::thread::park`]. Does not end without a reason.
#[track_caller]
pub fn park() {
    runtime::perform(token(), Act::Park(Patience::Wait), Location::caller());
}

/// As [`std::thread::park_timeout`]: ends in both ways, whatever the duration.
#[track_caller]
pub fn park_timeout(_duration: Duration) {
    let at = Location::caller();
    if runtime::perform(token(), Act::Park(Patience::TimeOut), at) == 0 {
        runtime::give_way(at);
    }
}
