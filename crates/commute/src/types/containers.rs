//! Set, map and multiset.

use super::built_in::BuiltIn;
use super::state::{
    Outcomes, State, calls_of, index, int, no_functions, one, one_or_null, plain_calls,
};
use crate::model::Call;
use crate::value::Value;

/// `add` returns whether the element is new, `remove` whether it was present. State: for each
/// possible element, whether it is present.
pub(super) const SET: BuiltIn = BuiltIn {
    name: "set",
    coarse: "
    add(v) ~ add(w) when v != w;
    add(v) ~ remove(w) when v != w;
    add(v) ~ contains(w) when v != w;
    remove(v) ~ remove(w) when v != w;
    remove(v) ~ contains(w) when v != w;
    contains(_) ~ contains(_);
    contains(_) ~ size();
    size() ~ size();
    ",
    fine: "
    add(v)/r ~ add(w)/s when v != w || (!r && !s);
    add(v) ~ remove(w) when v != w;
    add(v)/r ~ contains(w) when v != w || !r;
    add(_)/r ~ size() when !r;
    remove(v)/r ~ remove(w)/s when v != w || (!r && !s);
    remove(v)/r ~ contains(w) when v != w || !r;
    remove(_)/r ~ size() when !r;
    contains(_) ~ contains(_);
    contains(_) ~ size();
    size() ~ size();
    ",
    comm: "
    last add(v)/r -> add(w) when v == w && r;
    last remove(v)/r -> add(w) when v == w && r;
    last add(v)/r -> remove(w) when v == w && r;
    last remove(v)/r -> remove(w) when v == w && r;
    last add(v)/r -> contains(w) when v == w && r;
    last remove(v)/r -> contains(w) when v == w && r;
    all add(_)/r -> size() when r;
    all remove(_)/r -> size() when r;
    ",
    waits: "",
    initial: || vec![vec![0; 3]],
    calls: || [calls_of(&["add", "remove", "contains"], 0..3), plain_calls(&["size"])].concat(),
    apply: set,
    function: no_functions,
};

fn set(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let at = index(state, arguments, 0);
    let is_in = state[at] == 1;
    let with = |there| {
        let mut next = state.clone();
        next[at] = there;
        next
    };
    match method {
        "add" => one(with(1), !is_in),
        "remove" => one(with(0), is_in),
        "contains" => one(state.clone(), is_in),
        _ => one(state.clone(), state.iter().sum::<i64>()),
    }
}

/// `put` and `remove` return the previous value, or `null`. State: for each possible key its value,
/// 0 if there is none.
pub(super) const MAP: BuiltIn = BuiltIn {
    name: "map",
    coarse: "
    put(k, _) ~ put(l, _) when k != l;
    put(k, _) ~ get(l) when k != l;
    put(k, _) ~ remove(l) when k != l;
    get(_) ~ get(_);
    get(k) ~ remove(l) when k != l;
    get(_) ~ size();
    remove(k) ~ remove(l) when k != l;
    size() ~ size();
    ",
    fine: "
    put(k, v)/p ~ put(l, w)/q when k != l || (v == p && w == q);
    put(k, v)/p ~ get(l) when k != l || v == p;
    put(k, _) ~ remove(l) when k != l;
    put(_, _)/p ~ size() when p != null;
    get(_) ~ get(_);
    get(k) ~ remove(l)/q when k != l || q == null;
    get(_) ~ size();
    remove(k)/p ~ remove(l)/q when k != l || (p == null && q == null);
    remove(_)/p ~ size() when p == null;
    size() ~ size();
    ",
    comm: "
    last put(k, v)/p -> put(l, _) when k == l && v != p;
    last remove(k)/p -> put(l, _) when k == l && p != null;
    last put(k, v)/p -> get(l) when k == l && v != p;
    last remove(k)/p -> get(l) when k == l && p != null;
    last put(k, v)/p -> remove(l) when k == l && v != p;
    last remove(k)/p -> remove(l) when k == l && p != null;
    all put(_, _)/p -> size() when p == null;
    all remove(_)/p -> size() when p != null;
    ",
    waits: "",
    initial: || vec![vec![0; 2]],
    calls: map_calls,
    apply: map,
    function: no_functions,
};

fn map_calls() -> Vec<Call> {
    let puts = [(0, 1), (0, 2), (1, 1), (1, 2)];
    let put = |(key, value)| Call::new("put", vec![Value::Int(key), Value::Int(value)]);
    let puts = puts.into_iter().map(put).collect();
    [puts, calls_of(&["get", "remove"], 0..2), plain_calls(&["size"])].concat()
}

fn map(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let at = index(state, arguments, 0);
    let before = (state[at] != 0).then_some(state[at]);
    let with = |value| {
        let mut next = state.clone();
        next[at] = value;
        next
    };
    match method {
        "put" => one_or_null(with(int(arguments, 1)), before),
        "remove" => one_or_null(with(0), before),
        "get" => one_or_null(state.clone(), before),
        _ => one(state.clone(), state.iter().filter(|value| **value != 0).count() as i64),
    }
}

/// A bag: `remove` removes one of equal elements and returns whether there was one. State: for each
/// possible element, its multiplicity.
pub(super) const MULTISET: BuiltIn = BuiltIn {
    name: "multiset",
    coarse: "
    add(_) ~ add(_);
    add(v) ~ remove(w) when v != w;
    add(v) ~ count(w) when v != w;
    remove(v) ~ remove(w) when v != w;
    remove(v) ~ count(w) when v != w;
    count(_) ~ count(_);
    count(_) ~ size();
    size() ~ size();
    ",
    fine: "
    add(_) ~ add(_);
    add(v) ~ remove(w) when v != w;
    add(v) ~ count(w) when v != w;
    remove(v)/r ~ remove(w)/s when v != w || r == s;
    remove(v)/r ~ count(w) when v != w || !r;
    remove(_)/r ~ size() when !r;
    count(_) ~ count(_);
    count(_) ~ size();
    size() ~ size();
    ",
    comm: "
    take_first add(v) -> remove(w)/r when v == w && r;
    all add(v) -> remove(w)/r when v == w && !r;
    all remove(v)/r -> remove(w)/s when v == w && r && !s;
    all add(v) -> count(w) when v == w;
    all remove(v)/r -> count(w) when v == w && r;
    all add(_) -> size();
    all remove(_)/r -> size() when r;
    ",
    waits: "",
    initial: || vec![vec![0; 2]],
    calls: || [calls_of(&["add", "remove", "count"], 0..2), plain_calls(&["size"])].concat(),
    apply: multiset,
    function: no_functions,
};

fn multiset(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let at = index(state, arguments, 0);
    let with = |more| {
        let mut next = state.clone();
        next[at] += more;
        next
    };
    match method {
        "add" => one(with(1), Value::Null),
        "remove" if state[at] > 0 => one(with(-1), true),
        "remove" => one(state.clone(), false),
        "count" => one(state.clone(), state[at]),
        _ => one(state.clone(), state.iter().sum::<i64>()),
    }
}
