//! Exploration under weak memory on several cores: the answer is that of one.

use crate::tests::litmus::LitmusProgram;
use crate::tests::script::Script;
use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_testkit::concurrent::{
    Concurrent, random_program, random_spinning_program, random_waiting_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_testkit::litmus::{LitmusShape, random_litmus};
use anyorder_threads::{Incomplete, ThreadProgram, WeakExplored, WeakOptions, explore_weak};
use std::collections::BTreeMap;

fn on(cores: usize, cores_from: u64, executions_max: u64) -> WeakOptions {
    WeakOptions { cores, cores_from, executions_max, ..WeakOptions::default() }
}

/// Explores a program on one core and on several ones, and counts what happened.
fn compare<P: ThreadProgram>(
    make: impl Fn() -> P,
    (seed, most): (u64, u64),
    counts: &mut BTreeMap<&'static str, u64>,
) {
    let mut count = |name, by: bool| *counts.entry(name).or_default() += u64::from(by);
    let alone = explore_weak(&mut make(), &on(1, 0, most));
    assert_eq!(alone.wasted, 0);
    for cores in 2..=4 {
        // Early, where there is much to learn, and late.
        let from = [1, alone.graphs / 4, alone.graphs / 2, alone.graphs * 3 / 4 + 1];
        let from = from[(seed as usize + cores) % 4].max(1);
        let helped = explore_weak(&mut make(), &on(cores, from, most));
        let is_helped = alone.graphs > from;
        count("helped to the end", is_helped && helped.wasted == 0);
        count("helped in vain", helped.wasted > 0);
        count("cut", is_helped && alone.incomplete == Some(Incomplete::Executions));
        count("with faults", is_helped && !alone.faults.is_empty());
        count("blocked", is_helped && alone.blocked > 0);
        // All but what was in vain.
        let helped = WeakExplored { wasted: 0, ..helped };
        assert_eq!(helped, alone, "seed {seed}, {cores} cores from {from} graphs on");
    }
}

#[test]
fn several_cores_answer_as_one_does() {
    let mut counts = BTreeMap::new();
    for seed in sampled(300, 3_000) {
        let accesses = 5 + (seed % 4) as usize;
        let locations = 1 + (seed % 3) as usize;
        let plain = seed % 4 == 0;
        let program = random_litmus(seed, &LitmusShape { threads: 4, accesses, locations, plain });
        let most = if seed % 5 == 0 { 40 } else { 3_000 };
        compare(|| LitmusProgram::new(program.clone()), (seed, most), &mut counts);
        let size = 5 + (seed % 8) as usize;
        let program: Concurrent = match seed % 3 {
            0 => random_program(seed, size),
            1 => random_spinning_program(seed, false),
            _ => random_waiting_program(seed),
        };
        compare(|| Script::new(program.clone()), (seed, most), &mut counts);
    }
    println!("{counts:#?}");
    let all = ["helped to the end", "helped in vain", "cut", "with faults", "blocked"];
    assert!(all.iter().all(|name| counts[name] > 10), "{counts:?}");
}

#[test]
fn helpers_stop_when_they_are_told() {
    let program =
        random_litmus(3, &LitmusShape { threads: 6, accesses: 30, locations: 1, plain: false });
    let cancel = Cancel::new();
    let options = WeakOptions { cancel: cancel.clone(), ..on(3, 64, u64::MAX) };
    let stopped = std::thread::scope(|scope| {
        let explored =
            scope.spawn(|| explore_weak(&mut LitmusProgram::new(program.clone()), &options));
        std::thread::sleep(std::time::Duration::from_millis(200));
        cancel.stop(StopReason::TimeLimit);
        explored.join().unwrap()
    });
    assert_eq!(stopped.incomplete, Some(Incomplete::Stopped(StopReason::TimeLimit)));
    // What was done until then counts.
    assert!(stopped.executions > 0 && stopped.graphs > 64, "{stopped:?}");
}
