//! File descriptor and memory: resources that may be used until they are released. The types model
//! the lifetime, not the contents. So reads and writes commute here, although they do not for the
//! contents.

use super::built_in::BuiltIn;
use super::state::{Outcomes, State, no_functions, one, plain_calls};

/// A file descriptor: every method returns whether the file was open. State: whether it is closed.
pub(super) const FILE: BuiltIn = BuiltIn {
    name: "file",
    coarse: "
    read() ~ read();
    read() ~ write();
    write() ~ write();
    read() ~ close() when false;
    write() ~ close() when false;
    ",
    fine: "
    read() ~ read();
    read() ~ write();
    write() ~ write();
    read() ~ close()/c when !c;
    write() ~ close()/c when !c;
    close()/c ~ close()/d when !c && !d;
    ",
    comm: "
    last close()/c -> read() when c;
    last close()/c -> write() when c;
    last close()/c -> close() when c;
    ",
    waits: "",
    initial: || vec![vec![0]],
    calls: || plain_calls(&["read", "write", "close"]),
    apply: |state, method, _| used(state, method == "close"),
    function: no_functions,
};

/// Memory: every method returns whether the memory was allocated. State: whether it has been freed.
pub(super) const MEMORY: BuiltIn = BuiltIn {
    name: "memory",
    coarse: "
    read() ~ read();
    read() ~ write();
    write() ~ write();
    read() ~ free() when false;
    write() ~ free() when false;
    ",
    fine: "
    read() ~ read();
    read() ~ write();
    write() ~ write();
    read() ~ free()/f when !f;
    write() ~ free()/f when !f;
    free()/f ~ free()/g when !f && !g;
    ",
    comm: "
    last free()/f -> read() when f;
    last free()/f -> write() when f;
    last free()/f -> free() when f;
    ",
    waits: "",
    initial: || vec![vec![0]],
    calls: || plain_calls(&["read", "write", "free"]),
    apply: |state, method, _| used(state, method == "free"),
    function: no_functions,
};

fn used(state: &State, is_last: bool) -> Outcomes {
    let is_there = state[0] == 0;
    let next = if is_last { vec![1] } else { state.clone() };
    one(next, is_there)
}
