//! Semaphore.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, no_functions, one, plain_calls};
use crate::value::Value;

/// A counting semaphore. `acquire` waits for a permit and takes it; `try_acquire` takes one if
/// there is one and returns whether it did; `release` adds one. State: the available permits. Their
/// initial number is open.
pub(super) const SEMAPHORE: BuiltIn = BuiltIn {
    name: "semaphore",
    coarse: "
    acquire() ~ acquire();
    acquire() ~ release() when false;
    release() ~ release();
    release() ~ try_acquire() when false;
    ",
    fine: "
    acquire() ~ acquire();
    acquire() ~ try_acquire()/r when r;
    try_acquire()/r ~ try_acquire()/s when (r && s) || (!r && !s);
    release() ~ release();
    ",
    comm: "
    all release() -> try_acquire()/r when !r;
    all acquire() -> try_acquire()/r when !r;
    all try_acquire()/r -> try_acquire()/s when r && !s;
    ",
    waits: "
    acquire() until release() + permits > acquire() + try_acquire()/true;
    try_acquire()/true until release() + permits > acquire() + try_acquire()/true;
    acquire() ~ release();
    ",
    initial: || vec![vec![0], vec![1], vec![2]],
    calls: || plain_calls(&["acquire", "try_acquire", "release"]),
    apply: semaphore,
    function: no_functions,
};

fn semaphore(state: &State, method: &str, _: &[Value]) -> Outcomes {
    let permits = state[0];
    match method {
        "release" => one(vec![permits + 1], Value::Null),
        "acquire" if permits == 0 => Vec::new(),
        "acquire" => one(vec![permits - 1], Value::Null),
        _ if permits == 0 => one(vec![0], false),
        _ => one(vec![permits - 1], true),
    }
}
