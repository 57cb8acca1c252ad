//! Two-phase commit, the known example: participants are exchangeable.

use super::explore::{compiled, searched, states};
use super::oracle::orbits;
use std::time::Instant;

/// The model of the tests of lowering, its participants on handlers that are declared symmetric.
fn model(participants: usize) -> String {
    include_str!("../lower/two_phase.any")
        .replace(
            "const N = 3;",
            &format!("const N = {participants};\nsymmetric handler rm[N]: bag;"),
        )
        .replace("event rm_prepare[i in 0..N] when", "event rm_prepare[i in 0..N] on rm[i] when")
}

#[test]
fn counts_are_those_of_orbits() {
    for (participants, whole) in [(3, 288), (4, 1_568), (5, 8_832)] {
        let compiled = compiled(&model(participants));
        assert!(
            compiled.symmetries.diagnostics.is_empty(),
            "{:?}",
            compiled.symmetries.diagnostics
        );
        let machine = compiled.into_machine().expect("a valid program");
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
            let all = states(&machine, 10_000).expect("few states");
            assert_eq!(some.states as usize, orbits(&machine, &all, "two-phase commit"));
        }
    }
}

/// `cargo test -p anyorder-lang --release --test symmetry -- --ignored --nocapture larger` measures.
#[test]
#[ignore = "takes long without optimisation"]
fn larger() {
    for participants in 3..=7 {
        let machine = compiled(&model(participants)).into_machine().expect("a valid program");
        let start = Instant::now();
        let (_, some) = searched(&machine, true, 1);
        let millis = start.elapsed().as_millis();
        println!(
            "{participants}: {} states, {} transitions, {millis} ms",
            some.states, some.transitions
        );
    }
}
