//! The plain search against the naive one.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{everything, random_program};
use anyorder_testkit::effort::seeds;
use anyorder_threads::every_execution;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

#[test]
fn the_plain_search_sees_everything() {
    let (mut compared, mut executions) = (0, 0);
    let mut endings = BTreeSet::new();
    for seed in seeds(400) {
        let program = random_program(seed, 4);
        let all = everything(&program, 20_000, 3).expect("a small program");
        let mut script = Script::new(program.clone());
        let mut ends = 0_u64;
        let plain = every_execution(&mut script, (1_000, 3), |_, _, ending| {
            endings.insert(ending);
            ends += 1;
            if ends > 5_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if plain.complete {
            assert_eq!(script.seen, all.seen, "seed {seed}: {program:#?}");
            compared += 1;
            executions += plain.executions;
        }
    }
    println!("{compared} programs, {executions} executions, {endings:?}");
    assert!(compared > 100 && endings.len() >= 3, "{compared} {endings:?}");
}
