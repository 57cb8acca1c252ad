//! Register and counter.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, calls_of, int, no_functions, one, one_or_null, plain_calls};
use crate::value::Value;

/// A value that is read and written. State: the value.
pub(super) const REGISTER: BuiltIn = BuiltIn {
    name: "register",
    coarse: "
    read() ~ read();
    read() ~ write(_) when false;
    ",
    fine: "
    read() ~ read();
    write(v) ~ write(w) when v == w;
    ",
    comm: "
    last write(_) -> read();
    ",
    waits: "",
    initial: || vec![vec![0]],
    calls: || [calls_of(&["write"], 0..3), plain_calls(&["read"])].concat(),
    apply: |state, method, arguments| match method {
        "write" => one(vec![int(arguments, 0)], Value::Null),
        _ => one_or_null(state.clone(), state.first().copied()),
    },
    function: no_functions,
};

/// A number that is added to, modulo its size. State: the number, here modulo 5.
pub(super) const COUNTER: BuiltIn = BuiltIn {
    name: "counter",
    coarse: "
    add(_) ~ add(_);
    get() ~ get();
    fetch_add(_) ~ fetch_add(_) when false;
    ",
    fine: "
    add(_) ~ add(_);
    add(v) ~ get() when v == 0;
    add(v) ~ fetch_add(_) when v == 0;
    get() ~ get();
    get() ~ fetch_add(v) when v == 0;
    fetch_add(v) ~ fetch_add(w) when v == 0 && w == 0;
    ",
    comm: "
    all add(v) -> get() when v != 0;
    all fetch_add(v) -> get() when v != 0;
    all add(v) -> fetch_add(_) when v != 0;
    all fetch_add(v) -> fetch_add(_) when v != 0;
    ",
    waits: "",
    initial: || vec![vec![0]],
    calls: || [calls_of(&["add", "fetch_add"], -1..3), plain_calls(&["get"])].concat(),
    apply: count,
    function: no_functions,
};

fn count(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let now = state.first().copied().unwrap_or(0);
    let next = vec![(now + int(arguments, 0)).rem_euclid(5)];
    match method {
        "add" => one(next, Value::Null),
        "fetch_add" => one(next, now),
        _ => one(state.clone(), now),
    }
}
