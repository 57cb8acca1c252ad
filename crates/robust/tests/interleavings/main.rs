//! The pivot search agrees with the enumeration of all interleavings.

mod brute;
mod generate;

use anyorder_common::random::{Random, SplitMix64};
use anyorder_robust::model::{
    Divergence, Options, Property, SerialOutcomes, Violation, check, diverging,
};
use anyorder_system::{AsyncSystem, Choice, Control, Hash128, StateSystem, TaskSystem};
use anyorder_vm::{AsyncRun, Machine, MachineRun, State};
use brute::truth;
use generate::{Shape, model};
use std::sync::Arc;

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Compiles a model, for the search and for runs of the multi-thread semantics.
fn system(text: &str) -> (AsyncRun, Machine) {
    let compiled = anyorder_lang::lower::compile(text, "random.any");
    let compiled = compiled.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    let unbound = AsyncRun::new(compiled.program.clone()).expect("a valid program");
    (unbound, Machine::new(compiled.program).expect("a valid program"))
}

/// Returns whether a run is one of the multi-thread semantics, with the same accesses.
fn replays(text: &str, violation: &Violation) -> bool {
    let compiled = anyorder_lang::lower::compile(text, "random.any");
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let machine = Machine::new(compiled.program).expect("a valid program");
    let mut run = MachineRun::new(Arc::new(machine));
    violation.run.iter().all(|step| {
        let choice = Choice { alternative: step.alternative, ..Choice::of(step.task.clone()) };
        run.execute(&choice).is_ok_and(|done| {
            let wanted: Vec<_> = step.accesses.iter().map(|one| (one.kind, one.written)).collect();
            let tables = run.tables();
            let accesses = done.accesses.as_slice().iter();
            // The run of a task system has accesses to handlers and mailboxes, too.
            let shared = accesses.filter(|one| !tables.location_text(one.location).contains('.'));
            shared.map(|one| (one.kind, one.written)).collect::<Vec<_>>() == wanted
        })
    })
}

/// Describes a violation.
fn shown(program: &AsyncRun, violation: &Violation) -> String {
    let mut text = format!("{:?}, root {}", violation.property, violation.root);
    for (at, step) in violation.run.iter().enumerate() {
        let name = |location| program.tables().location_text(location);
        let accesses = step.accesses.iter();
        let accesses: Vec<String> =
            accesses.map(|one| format!("{:?} {}", one.kind, name(one.location))).collect();
        text.push_str(&format!("\n{at:3} {} {}", step.task, accesses.join(", ")));
    }
    text
}

#[test]
fn both_find_the_same() {
    let (seed, cases) = (number("ANYORDER_SEED", 1), number("ANYORDER_ROBUST", 80));
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
        let (mut program, machine) = system(&text);
        let truth = truth(&mut program, 1, number("ANYORDER_ROBUST_RUNS", 3_000));
        if !truth.complete {
            *counts.entry("too many runs".to_owned()).or_insert(0) += 1;
            continue;
        }
        let control = Control::default();
        let options = Options {
            stops: number("ANYORDER_ROBUST_STOPS", 2) as u32,
            repeat: 1,
            ..Options::default()
        };
        let checked = check(&mut program, &options, &control).expect("a check");
        assert!(checked.complete && checked.stops == options.stops);
        let has = |property| checked.violations.iter().any(|one| one.property == property);
        let deterministic = !has(Property::Determinism);
        let serializable = !has(Property::Serializability);
        let serial = SerialOutcomes::of(&mut program, &options, &control).expect("serial runs");
        let start = machine.initial().remove(0);
        let limits = (100_000, &control);
        let quiet = |state: &State| machine.quiet_memory(state);
        let robust = match diverging(&machine, start, quiet, &serial, limits) {
            Divergence::Never => true,
            Divergence::Reached { .. } => false,
            Divergence::Undecided => panic!("too many states\n{text}"),
        };
        let all_serial = truth.memories.iter().all(|memory| serial.contains(Hash128(*memory)));
        let verdict = format!(
            "deterministic {:5} serializable {:5} robust {all_serial:5}",
            !truth.not_deterministic, !truth.not_serializable
        );
        let row = format!("fifo {:5} driver {:5} {verdict}", shape.fifo, shape.driver);
        *counts.entry(row).or_insert(0) += 1;
        for (what, holds) in [
            ("fifo", shape.fifo),
            ("driver", shape.driver),
            ("assume", shape.assume),
            ("deterministic", !truth.not_deterministic),
            ("serializable", !truth.not_serializable),
            ("in start order", !truth.not_in_order),
            ("robust", all_serial),
        ] {
            *counts.entry(format!("{what}: {holds}")).or_insert(0) += 1;
        }
        let mut faults = Vec::new();
        if deterministic == truth.not_deterministic {
            faults.push("determinism");
        }
        if !truth.not_deterministic && serializable == truth.not_serializable {
            faults.push("serializability");
        }
        let in_order = !has(Property::StartOrder);
        if !truth.not_deterministic && in_order == truth.not_in_order {
            faults.push("order of starts");
        }
        if robust != all_serial {
            faults.push("global states");
        }
        // Theorems 1 to 3.
        if deterministic && in_order && !all_serial {
            faults.push("no violation, but other states");
        }
        // The single-thread semantics is one way to run the multi-thread semantics.
        if serial.len() != truth.memories.iter().filter(|m| serial.contains(Hash128(**m))).count() {
            faults.push("a serial state that no run reaches");
        }
        let all_real = checked.violations.iter().all(|violation| replays(&text, violation));
        if !all_real {
            faults.push("a run that the program does not have");
        }
        if !faults.is_empty() {
            wrong += 1;
            if wrong <= 2 {
                println!("case {case}: {faults:?}\n{text}\n{truth:?}");
                for violation in &checked.violations {
                    println!("{}", shown(&program, violation));
                }
            }
        }
    }
    for (what, count) in &counts {
        println!("{count:6} {what}");
    }
    assert_eq!(wrong, 0);
    let sides = counts.keys().filter(|what| what.contains(": ")).count();
    assert_eq!(sides, 14, "each of the seven comes out both ways");
}
