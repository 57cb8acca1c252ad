//! The larger models under `examples/models/large`. They have as many states as the same protocols
//! in Rust and in other checkers. Each finds the mistake when an important step is removed.

use anyorder_lang::lower::compile;
use anyorder_search::{Outcome, SearchOptions, search};
use anyorder_system::Control;
use anyorder_vm::Machine;

const PAXOS: &str = include_str!("../../../examples/models/large/paxos.any");
const ABD: &str = include_str!("../../../examples/models/large/abd.any");
const SINGLE_COPY: &str = include_str!("../../../examples/models/large/single-copy.any");

fn full(text: &str) -> Outcome<Machine> {
    let compiled = compile(text, "large").unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    let machine = Machine::new(compiled.program).expect("what compiles is valid");
    let outcome = search(&machine, &SearchOptions::default(), &Control::default());
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.complete);
    outcome
}

/// Replaces what must be there.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replace(old, new)
}

#[test]
fn states_and_transitions_are_those_of_the_protocols_in_rust() {
    let rows = [
        (PAXOS.to_owned(), 16_668, 32_970),
        (with(PAXOS, "const CLIENTS = 2;", "const CLIENTS = 1;"), 265, 481),
        (ABD.to_owned(), 544, 874),
        (SINGLE_COPY.to_owned(), 4_243, 6_777),
    ];
    for (text, states, transitions) in rows {
        let found = full(&text);
        assert_eq!((found.stats.states, found.stats.transitions), (states, transitions));
        assert!(found.violations.is_empty());
        let said = text.lines().find_map(|line| line.strip_prefix("// expect: clean; "));
        let said = said.expect("each model says what to expect");
        let counts = format!("{states} states, {transitions} transitions");
        assert!(said == counts || !text.contains("const CLIENTS = 2;"), "{said}");
    }
}

#[test]
fn a_step_left_out_is_found() {
    let rows = [
        // What others may have accepted is forgotten.
        with(PAXOS, "if last != 0 {", "if false {"),
        // Two copies that know nothing of each other.
        with(SINGLE_COPY, "const SERVERS = 1;", "const SERVERS = 2;"),
        // A write that takes no notice of what a majority knows.
        with(ABD, "let latest = answers.max();", "let latest = me * VALUES;"),
    ];
    for text in rows {
        let found = full(&text);
        let names: Vec<&str> = found.violations.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["linearizable"]);
    }
}
