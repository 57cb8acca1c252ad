//! Wait group.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, no_functions, one, plain_calls};
use crate::value::Value;

/// A wait group, as in Go: `add` announces one more piece of work, `done` ends one, and `wait`
/// waits until all that was announced has ended. A recorder writes `Add(n)` as `n` calls. In Go, a
/// `done` without work panics; here it is not possible. State: the pieces of work that have not
/// ended.
pub(super) const WAIT_GROUP: BuiltIn = BuiltIn {
    name: "waitgroup",
    coarse: "
    add() ~ add();
    add() ~ done() when false;
    add() ~ wait() when false;
    done() ~ done();
    done() ~ wait() when false;
    wait() ~ wait();
    ",
    fine: "
    add() ~ add();
    done() ~ done();
    wait() ~ wait();
    ",
    // No call returns anything that depends on others: what waits says which orders are runs.
    comm: "\n",
    waits: "
    done() until add() > done();
    wait() until add() <= done();
    add() ~ done();
    done() ~ wait();
    ",
    initial: || vec![vec![0]],
    calls: || plain_calls(&["add", "done", "wait"]),
    apply: wait_group,
    function: no_functions,
};

fn wait_group(state: &State, method: &str, _: &[Value]) -> Outcomes {
    match (method, state[0]) {
        ("add", left) => one(vec![left + 1], Value::Null),
        ("done", 0) | ("wait", 1..) => Vec::new(),
        ("done", left) => one(vec![left - 1], Value::Null),
        _ => one(state.clone(), Value::Null),
    }
}
