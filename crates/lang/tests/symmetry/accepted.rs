//! What is and is not part of an index set.

use super::explore::{checked, compiled};

/// Arrays of the same size belong to an index set only if its indices index them.
#[test]
fn use_decides_not_size() {
    let text = "model m
const N = 2;
const PAGES = 2;
var seen: [int; PAGES];
var done: [bool; N];
lock ls[2];
symmetric thread t[i in 0..N] {
    for page in 0..PAGES { seen[page] += 1; }
    with ls[0] { done[i] = true; }
}
";
    let compiled = compiled(text);
    assert!(compiled.symmetries.diagnostics.is_empty(), "{:?}", compiled.symmetries.diagnostics);
    let [set] = &compiled.symmetries.sets[..] else { panic!("one index set") };
    assert_eq!((set.size, set.threads.len(), set.locks.len(), set.globals.len()), (2, 1, 0, 1));
}

/// Philosophers at a round table have a left and a right: turning the table is no exchange.
#[test]
fn a_ring_is_refused() {
    let text = "model m
const N = 3;
lock forks[N];
symmetric thread philosopher[i in 0..N] {
    with forks[i] { with forks[(i + 1) % N] { } }
}
";
    let found = checked(text);
    let messages: Vec<&str> = found.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("used in arithmetic")), "{messages:?}");
}

/// Two families that share indices are one index set.
#[test]
fn sharing_indices_joins() {
    let text = "model m
const N = 2;
var at: [int; N];
symmetric handler a[N]: fifo;
symmetric handler b[N]: fifo;
symmetric handler c[2]: fifo;
task x(i: int) on a[i] { at[i] += 1; post y(i); }
task y(i: int) on b[i] { at[i] += 1; }
task z(i: int) on c[i] { assert i == i; }
event e[i in 0..N] when at[i] == 0 { post x(i); }
once event f[i in 0..2] { post z(i); }
";
    let compiled = compiled(text);
    assert!(compiled.symmetries.diagnostics.is_empty(), "{:?}", compiled.symmetries.diagnostics);
    let sizes: Vec<usize> = compiled.symmetries.sets.iter().map(|set| set.handlers.len()).collect();
    assert_eq!(sizes, [2, 1]);
}
