//! Disjoint sets.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, calls_of, index, one};
use crate::model::Call;
use crate::value::Value;

/// The number of elements in the model.
const ELEMENTS: i64 = 4;

/// Disjoint sets, each with its least element as representative. State: for each element its
/// representative.
///
/// The fine specification is of logic L1. `left.loser(a, b)` is the representative that `union(a,
/// b)` would remove, or `null` if it would change nothing. `left.joins(a, b, c, d)` is whether
/// `union(a, b)` would join `c` and `d`.
pub(super) const UNION_FIND: BuiltIn = BuiltIn {
    name: "union_find",
    coarse: "
    union(_, _) ~ union(_, _);
    union(_, _) ~ find(_) when false;
    union(_, _) ~ connected(_, _) when false;
    find(_) ~ find(_);
    find(_) ~ connected(_, _);
    connected(_, _) ~ connected(_, _);
    ",
    fine: "
    union(_, _) ~ union(_, _);
    union(a, b) ~ find(c) when left.loser(a, b) != left.find(c);
    union(a, b) ~ connected(c, d) when !left.joins(a, b, c, d);
    find(_) ~ find(_);
    find(_) ~ connected(_, _);
    connected(_, _) ~ connected(_, _);
    ",
    comm: "
    all union(_, _) -> find(_);
    all union(_, _) -> connected(_, _);
    ",
    waits: "",
    initial: || vec![(0..ELEMENTS).collect()],
    calls,
    apply,
    function,
};

fn calls() -> Vec<Call> {
    let pairs = (0..ELEMENTS).flat_map(|a| (a + 1..ELEMENTS).map(move |b| (a, b)));
    let of = |method: &'static str| {
        pairs.clone().map(move |(a, b)| Call::new(method, vec![Value::Int(a), Value::Int(b)]))
    };
    of("union").chain(of("connected")).chain(calls_of(&["find"], 0..ELEMENTS)).collect()
}

fn apply(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let of = |at| state[index(state, arguments, at)];
    match method {
        "union" => one(united(state, of(0), of(1)), Value::Null),
        "connected" => one(state.clone(), of(0) == of(1)),
        _ => one(state.clone(), of(0)),
    }
}

fn united(state: &State, a: i64, b: i64) -> State {
    state.iter().map(|&of| if of == a || of == b { a.min(b) } else { of }).collect()
}

fn function(state: &State, name: &str, arguments: &[Value]) -> Option<Value> {
    let of = |state: &State, at| state[index(state, arguments, at)];
    let (a, b) = (of(state, 0), of(state, 1 % arguments.len().max(1)));
    Some(match (name, arguments.len()) {
        ("find", 1) => Value::Int(a),
        ("loser", 2) if a == b => Value::Null,
        ("loser", 2) => Value::Int(a.max(b)),
        ("joins", 4) => {
            let after = united(state, a, b);
            Value::Bool(of(state, 2) != of(state, 3) && of(&after, 2) == of(&after, 3))
        }
        _ => return None,
    })
}
