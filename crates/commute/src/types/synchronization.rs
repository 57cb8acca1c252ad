//! Channel, condition variable, context and future.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, calls_of, int, no_functions, one, one_or_null, plain_calls};
use crate::value::Value;

/// A channel that can be closed, as in Go. `send` returns whether the channel was open (in Go it
/// panics if not), and waits while the channel is full. `recv` waits while the channel is empty and
/// open, and returns `null` when it is empty and closed. `close` returns whether it was open (in Go
/// it panics if not). State: the capacity, whether it is closed, and the elements, first to last.
/// The specifications are sound for each capacity.
pub(super) const CHANNEL: BuiltIn = BuiltIn {
    name: "channel",
    coarse: "
    send(_) ~ send(_) when false;
    send(_) ~ recv() when false;
    send(_) ~ close() when false;
    ",
    fine: "
    send(v)/r ~ send(w)/s when v == w || (!r && !s);
    send(_)/r ~ recv() when !r;
    send(_) ~ close()/c when !c;
    recv()/r ~ recv()/s when r == s;
    recv()/r ~ close()/c when !c || r != null;
    close()/c ~ close()/d when !c && !d;
    ",
    comm: "
    take_first send(_)/s -> recv()/r when s && r != null;
    all recv()/r -> recv()/s when r != null && s == null;
    last close()/c -> recv()/r when c && r == null;
    last close()/c -> send(_) when c;
    last close()/c -> close() when c;
    ",
    waits: "
    recv() until send(_) > recv() || close() > 0;
    send(_) until send(_) < recv() + room || close() > 0;
    send(_) ~ recv();
    recv() ~ close();
    ",
    // A capacity at least as large as searches and tests are deep, and small ones.
    initial: || vec![vec![64, 0], vec![2, 0], vec![1, 0]],
    calls: || [calls_of(&["send"], 1..3), plain_calls(&["recv", "close"])].concat(),
    apply: channel,
    function: no_functions,
};

fn channel(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let (is_open, items) = (state[1] == 0, state.len() - 2);
    let mut next = state.clone();
    match method {
        "close" => {
            next[1] = 1;
            one(next, is_open)
        }
        "send" if !is_open => one(next, false),
        "send" if i64::try_from(items).is_ok_and(|items| items >= state[0]) => Vec::new(),
        "send" => {
            next.push(int(arguments, 0));
            one(next, true)
        }
        _ if items > 0 => {
            let taken = next.remove(2);
            one(next, taken)
        }
        _ if is_open => Vec::new(),
        _ => one(next, Value::Null),
    }
}

/// A condition variable. `wait` begins to wait. `wake` is the end of a wait, and needs a `signal`
/// or `broadcast`; these have no effect when no one waits. State: the number of waiters, and how
/// many of them may wake.
pub(super) const CONDITION: BuiltIn = BuiltIn {
    name: "condition",
    coarse: "
    wait() ~ signal() when false;
    wait() ~ broadcast() when false;
    signal() ~ signal();
    signal() ~ broadcast();
    broadcast() ~ broadcast();
    wake() ~ wake();
    ",
    fine: "
    wait() ~ wait();
    wait() ~ wake();
    wake() ~ wake();
    signal() ~ signal();
    signal() ~ broadcast();
    broadcast() ~ broadcast();
    ",
    comm: "
    all signal() -> wake();
    all broadcast() -> wake();
    all wait() -> signal();
    all wait() -> broadcast();
    ",
    waits: "
    wake() until observed;
    ",
    initial: || vec![vec![0, 0]],
    calls: || plain_calls(&["wait", "wake", "signal", "broadcast"]),
    apply: condition,
    function: no_functions,
};

fn condition(state: &State, method: &str, _: &[Value]) -> Outcomes {
    let (waiting, woken) = (state[0], state[1]);
    let next = match method {
        "wait" => vec![waiting + 1, woken],
        "signal" => vec![(waiting - 1).max(0), woken + waiting.min(1)],
        "broadcast" => vec![0, woken + waiting],
        _ if woken > 0 => vec![waiting, woken - 1],
        _ => return Vec::new(),
    };
    one(next, Value::Null)
}

/// A context that can be cancelled, as in Go: `err` returns `null` before the cancellation, `done`
/// waits for it. State: whether it is cancelled.
pub(super) const CONTEXT: BuiltIn = BuiltIn {
    name: "context",
    coarse: "
    err() ~ err();
    cancel() ~ cancel();
    err() ~ cancel() when false;
    done() ~ done();
    ",
    fine: "
    err() ~ err();
    err() ~ done();
    done() ~ done();
    cancel() ~ cancel();
    ",
    comm: "
    first cancel() -> err();
    first cancel() -> done();
    ",
    waits: "
    done() until cancel() > 0;
    cancel() ~ done();
    ",
    initial: || vec![vec![0]],
    calls: || plain_calls(&["err", "done", "cancel"]),
    apply: |state, method, _| match method {
        "cancel" => one(vec![1], Value::Null),
        "err" => one_or_null(state.clone(), (state[0] == 1).then_some(1)),
        _ if state[0] == 1 => one(state.clone(), Value::Null),
        _ => Vec::new(),
    },
    function: no_functions,
};

/// A value that is set once: `set` returns whether it was the first, `get` waits for the value,
/// `poll` returns `null` before. State: the value, 0 before.
pub(super) const FUTURE: BuiltIn = BuiltIn {
    name: "future",
    coarse: "
    set(_) ~ set(_) when false;
    get() ~ get();
    get() ~ poll();
    poll() ~ poll();
    ",
    fine: "
    set(_)/r ~ set(_)/s when !r && !s;
    set(_)/r ~ get() when !r;
    set(_)/r ~ poll() when !r;
    get() ~ get();
    get() ~ poll();
    poll() ~ poll();
    ",
    comm: "
    last set(_)/r -> set(_) when r;
    last set(_)/r -> get() when r;
    last set(_)/r -> poll() when r;
    ",
    waits: "
    get() until set(_) > 0;
    set(_) ~ get();
    ",
    initial: || vec![vec![0]],
    calls: || [calls_of(&["set"], 1..3), plain_calls(&["get", "poll"])].concat(),
    apply: future,
    function: no_functions,
};

fn future(state: &State, method: &str, arguments: &[Value]) -> Outcomes {
    let value = (state[0] != 0).then_some(state[0]);
    match (method, value) {
        ("set", None) => one(vec![int(arguments, 0)], true),
        ("set", Some(_)) => one(state.clone(), false),
        ("get", None) => Vec::new(),
        _ => one_or_null(state.clone(), value),
    }
}
