//! Two-phase commit, the known example: participants are exchangeable.

use super::explore::{compiled, searched, states};
use super::oracle::orbits;
use std::time::Instant;

/// The model of the tests of lowering, its participants numbered by an index type, on handlers of
/// their own.
fn model(participants: usize) -> String {
    include_str!("../lower/two_phase.any")
        .replace("const N = 3;", &format!("index I = {participants};\nhandler rm[I]: bag;"))
        .replace("[i in 0..N]", "[i in I]")
        .replace("; N]", "; I]")
        .replace("Prepared(int)", "Prepared(I)")
        .replace("event rm_prepare[i in I] when", "event rm_prepare[i in I] on rm[i] when")
}

#[test]
fn counts_are_those_of_orbits() {
    for (participants, whole) in [(3, 288), (4, 1_568), (5, 8_832)] {
        let compiled = compiled(&model(participants));
        let machine = anyorder_vm::Machine::new(compiled.program).expect("a valid program");
        let (verdicts, all) = searched(&machine, false, 1);
        assert_eq!(all.states, whole);
        let start = Instant::now();
        let (same, some) = searched(&machine, true, 1);
        println!(
            "{participants} participants: {} of {whole} states, {} transitions, {} ms",
            some.states,
            some.transitions,
            start.elapsed().as_millis()
        );
        assert_eq!(same, verdicts);
        if participants <= 4 {
            let all = states(&machine, 10_000);
            assert!(all.whole, "few states");
            assert_eq!(some.states as usize, orbits(&machine, &all, "two-phase commit"));
        }
    }
}

#[test]
fn the_model_of_the_gallery() {
    let text = include_str!("../../../../examples/models/two-phase-commit-symmetric.any");
    let mut counts = vec![];
    for participants in 2..=4 {
        let text = text.replace("const N = 3;", &format!("const N = {participants};"));
        let compiled = compiled(&text);
        let machine = anyorder_vm::Machine::new(compiled.program).expect("a valid program");
        let (verdicts, all) = searched(&machine, false, 1);
        let (same, some) = searched(&machine, true, 1);
        assert_eq!(same, verdicts);
        if participants <= 3 {
            let states = states(&machine, 20_000);
            assert!(states.whole, "few states");
            assert_eq!(
                some.states as usize,
                orbits(&machine, &states, "two-phase-commit-symmetric")
            );
        }
        println!(
            "{participants} participants: {} of {} states, {} of {} transitions",
            some.states, all.states, some.transitions, all.transitions
        );
        counts.push((all.states, some.states));
    }
    assert_eq!(counts, [(236, 128), (3_134, 647), (42_752, 2_678)]);
}

/// Measures: `SYMMETRY_LARGER=1 cargo test -p anyorder-lang --release symmetry:: --
/// --nocapture larger`.
#[test]
fn larger() {
    let most = if std::env::var_os("SYMMETRY_LARGER").is_some() { 7 } else { 4 };
    for participants in 3..=most {
        let machine = anyorder_vm::Machine::new(compiled(&model(participants)).program)
            .expect("a valid program");
        let start = Instant::now();
        let (_, some) = searched(&machine, true, 1);
        let millis = start.elapsed().as_millis();
        println!(
            "{participants}: {} states, {} transitions, {millis} ms",
            some.states, some.transitions
        );
    }
}
