//! What belongs to an index type, and what is symmetric.

use super::explore::{compiled, errors, searched};

/// Arrays of the same size belong to an index type only if they are declared over it.
#[test]
fn the_declaration_decides_not_the_size() {
    let text = "model m
index I = 2;
const PAGES = 2;
var seen: [int; PAGES];
var done: [bool; I];
lock ls[2];
thread t[i in I] {
    for page in 0..PAGES { seen[page] += 1; }
    with ls[0] { done[i] = true; }
}
";
    let [set] = &compiled(text).program.symmetries[..] else { panic!("one index type") };
    assert_eq!((set.size, set.threads.len(), set.locks.len()), (2, 1, 0));
}

/// Philosophers at a round table have a left and a right: turning the table is no exchange.
#[test]
fn a_ring_is_refused() {
    let text = "model m
const N = 3;
index I = N;
lock forks[I];
thread philosopher[i in I] {
    with forks[i] { with forks[(i + 1) % N] { } }
}
";
    let found = errors(text);
    assert!(found.iter().any(|d| d.message == "`+` does not take `I`"), "{found:?}");
}

/// Families over one index type are exchanged together, those over another on their own.
#[test]
fn an_index_type_is_one_symmetry() {
    let text = "model m
index A = 2;
index C = 2;
var at: [int; A];
handler a[A]: fifo;
handler b[A]: fifo;
handler c[C]: fifo;
task x(i: A) on a[i] { at[i] += 1; post y(i); }
task y(i: A) on b[i] { at[i] += 1; }
task z(i: C) on c[i] { assert i == i; }
event e[i in A] when at[i] == 0 { post x(i); }
once event f[i in C] { post z(i); }
";
    let symmetries = compiled(text).program.symmetries;
    let sizes: Vec<usize> = symmetries.iter().map(|set| set.handlers.len()).collect();
    assert_eq!(sizes, [2, 1]);
}

/// What goes through an index type is one step, so that no state has done it for some only.
#[test]
fn a_loop_over_an_index_type_is_one_step_of_a_thread() {
    let text = "model m
index I = 3;
var xs: [int; I];
var some = 0;
thread t { for i in I { xs[i] = 1; } if xs.any(fn(x) x == 1) { some = I.count(fn(i) xs[i] == 1); } }
invariant all_or_none: xs.sum() == 0 || xs.sum() == 3;
";
    let machine = anyorder_vm::Machine::new(compiled(text).program).expect("a valid program");
    let (verdicts, stats) = searched(&machine, false, 1);
    assert!(verdicts.is_empty(), "{verdicts:?}");
    // Before the loop, the read, the call, the read of the sum, the write, the end.
    assert!(stats.states <= 8, "{stats:?}");
}

/// A model as it was written before there were index types: the message shows how to write it.
#[test]
fn the_old_word_is_shown_as_an_index_type() {
    for (old, new) in [
        ("symmetric handler worker[3]: fifo;", "index Worker = 3; handler worker[Worker]: fifo;"),
        (
            "symmetric unfair thread t[i in 0..N + 1] { yield; }",
            "index T = N + 1; unfair thread t[i in T] { yield; }",
        ),
    ] {
        let text = format!("model m\nconst N = 2;\n{old}\nevent e {{ }}\n");
        let found = errors(&text);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(one.code.as_str(), "E060");
        let change = &one.suggestions[0];
        let mut fixed = text.clone();
        let span = change.span.start as usize..change.span.end as usize;
        fixed.replace_range(span, &change.replacement);
        assert_eq!(fixed, format!("model m\nconst N = 2;\n{new}\nevent e {{ }}\n"));
        compiled(&fixed);
    }
}
