//! Queue and stack.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, calls_of, int, no_functions, one, one_or_null, plain_calls};
use crate::value::Value;

/// First in, first out; `dequeue` and `peek` return `null` when the queue is empty. State: the
/// elements, first to last.
pub(super) const QUEUE: BuiltIn = BuiltIn {
    name: "queue",
    coarse: "
    enqueue(_) ~ enqueue(_) when false;
    enqueue(_) ~ dequeue() when false;
    peek() ~ peek();
    peek() ~ size();
    size() ~ size();
    ",
    fine: "
    enqueue(v) ~ enqueue(w) when v == w;
    enqueue(v) ~ dequeue()/r when r != null && r != v;
    enqueue(v) ~ peek()/r when r != null && r != v;
    dequeue()/r ~ dequeue()/s when r == s;
    dequeue()/r ~ peek() when r == null;
    dequeue()/r ~ size() when r == null;
    peek() ~ peek();
    peek() ~ size();
    size() ~ size();
    ",
    comm: "
    take_first enqueue(_) -> dequeue()/r when r != null;
    all enqueue(_) -> dequeue()/r when r == null;
    all dequeue()/r -> dequeue()/s when r != null && s == null;
    first enqueue(_) -> peek()/r when r != null;
    all enqueue(_) -> peek()/r when r == null;
    all dequeue()/r -> peek()/s when r != null && s == null;
    all enqueue(_) -> size();
    all dequeue()/r -> size() when r != null;
    ",
    waits: "",
    initial: || vec![Vec::new()],
    calls: || [calls_of(&["enqueue"], 1..4), plain_calls(&["dequeue", "peek", "size"])].concat(),
    apply: |state, method, arguments| {
        sequence(state, &["enqueue", "dequeue", "peek"], 0, method, arguments)
    },
    function: no_functions,
};

/// Last in, first out; `pop` and `top` return `null` when the stack is empty. State: the elements,
/// bottom to top.
pub(super) const STACK: BuiltIn = BuiltIn {
    name: "stack",
    coarse: "
    push(_) ~ push(_) when false;
    push(_) ~ pop() when false;
    top() ~ top();
    top() ~ size();
    size() ~ size();
    ",
    fine: "
    push(v) ~ push(w) when v == w;
    pop()/r ~ pop()/s when r == s;
    pop()/r ~ top() when r == null;
    pop()/r ~ size() when r == null;
    top() ~ top();
    top() ~ size();
    size() ~ size();
    ",
    comm: "
    take_top push(_) -> pop()/r when r != null;
    all push(_) -> pop()/r when r == null;
    all pop()/r -> pop()/s when r != null && s == null;
    top push(_) -> top()/r when r != null;
    all push(_) -> top()/r when r == null;
    all pop()/r -> top()/s when r != null && s == null;
    all push(_) -> size();
    all pop()/r -> size() when r != null;
    ",
    waits: "",
    initial: || vec![Vec::new()],
    calls: || [calls_of(&["push"], 1..4), plain_calls(&["pop", "top", "size"])].concat(),
    apply: |state, method, arguments| {
        let end = state.len().saturating_sub(1);
        sequence(state, &["push", "pop", "top"], end, method, arguments)
    },
    function: no_functions,
};

/// The methods: append an element, remove the one at a position, read it, or count.
fn sequence(
    state: &State,
    methods: &[&str; 3],
    place: usize,
    method: &str,
    arguments: &[Value],
) -> Outcomes {
    let mut next = state.clone();
    match methods.iter().position(|known| *known == method) {
        Some(0) => {
            next.push(int(arguments, 0));
            one(next, Value::Null)
        }
        Some(1) => {
            let taken = (place < next.len()).then(|| next.remove(place));
            one_or_null(next, taken)
        }
        Some(_) => one_or_null(next, state.get(place).copied()),
        None => one(next, i64::try_from(state.len()).unwrap_or(i64::MAX)),
    }
}
