//! The pivot search agrees with the enumeration of all interleavings.

mod brute;
mod generate;

use anyorder_common::random::{Random, SplitMix64};
use anyorder_robust::model::{Options, Property, check};
use anyorder_system::Control;
use anyorder_vm::AsyncRun;
use brute::truth;
use generate::{Shape, model};

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn system(text: &str) -> AsyncRun {
    let compiled = anyorder_lang::lower::compile(text, "random.any");
    let compiled = compiled.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    AsyncRun::new(compiled.program).expect("a valid program")
}

#[test]
fn both_find_the_same() {
    let (seed, cases) = (number("ANYORDER_SEED", 1), number("ANYORDER_ROBUST", 400));
    println!("seed {seed}");
    let mut random = SplitMix64(seed);
    let mut counts = std::collections::BTreeMap::new();
    let mut wrong = 0;
    for case in 0..cases {
        let shape = Shape {
            fifo: random.percent(40),
            driver: random.percent(50),
            assume: random.percent(30),
            events: 1 + random.index(3),
        };
        let text = model(&mut random, shape);
        let mut program = system(&text);
        let truth = truth(&mut program, 1, 20_000);
        if !truth.complete {
            *counts.entry("too many runs".to_owned()).or_insert(0) += 1;
            continue;
        }
        let options = Options { stops: number("STOPS", 2) as u32, repeat: 1, ..Options::default() };
        let checked = check(&mut program, &options, &Control::default()).expect("a check");
        assert!(checked.complete);
        let has = |property| checked.violations.iter().any(|one| one.property == property);
        let deterministic = !has(Property::Determinism);
        let serializable = !has(Property::Serializability);
        let verdict = format!("{} {}", !truth.not_deterministic, !truth.not_serializable);
        let row = format!("fifo {} driver {} {verdict}", shape.fifo, shape.driver);
        *counts.entry(row).or_insert(0) += 1;
        if deterministic == truth.not_deterministic
            || (!truth.not_deterministic && serializable == truth.not_serializable)
        {
            wrong += 1;
            if wrong <= number("SHOW", 2) {
                println!(
                    "case {case}: {deterministic} {serializable}\n{text}\n{truth:?}\n{checked:#?}"
                );
            }
        }
    }
    for (what, count) in &counts {
        println!("{count:6} {what}");
    }
    assert_eq!(wrong, 0);
}
