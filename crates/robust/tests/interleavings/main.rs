//! What is decided agrees with the enumeration of all interleavings.

mod brute;
mod generate;

use anyorder_common::random::SplitMix64;
use anyorder_robust::model::{
    Answer, Divergence, INIT_EVENT, Options, Property, RunStep, SerialOutcomes, Views, Violation,
    conflicts, outcomes, shown_by,
};
use anyorder_system::{AsyncSystem, Choice, Control, TaskName, TaskSystem, WaitPlace};
use anyorder_testkit::effort::seeds;
use anyorder_vm::{Action, AsyncRun, Machine, MachineRun, State};
use brute::{End, Truth, truth};
use generate::{Shape, model};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Compiles a model, for the search and for runs of the multi-thread semantics.
fn system(text: &str) -> (AsyncRun, Arc<Machine>) {
    let compiled = anyorder_lang::lower::compile(text, "random.any");
    let compiled = compiled.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    let unbound = AsyncRun::new(compiled.program.clone()).expect("a valid program");
    (unbound, Arc::new(Machine::new(compiled.program).expect("a valid program")))
}

/// Returns the state that a run ends in, if it is one of the multi-thread semantics, with the same
/// accesses.
fn replays(machine: &Arc<Machine>, steps: &[RunStep]) -> Option<State> {
    let mut run = MachineRun::new(machine.clone());
    let all = steps.iter().all(|step| {
        let choice = Choice { alternative: step.alternative, ..Choice::of(step.task.clone()) };
        run.execute(&choice).is_ok_and(|done| {
            let tables = run.tables();
            // Of handlers, mailboxes and tasks both views have accesses of their own.
            let global = |text: &str| !text.contains('.');
            let accesses = done.accesses.as_slice().iter();
            let shared = accesses.filter(|one| global(&tables.location_text(one.location)));
            let shared: Vec<_> = shared.map(|one| (one.kind, one.written)).collect();
            let wanted = step.accesses.iter();
            let wanted: Vec<_> = wanted.map(|one| (one.kind, one.written)).collect();
            shared.iter().all(|one| wanted.contains(one))
        })
    });
    all.then(|| run.state().clone())
}

/// The names and values of variables.
type Memory = Vec<(String, String)>;

/// Returns whether the serial run that comes nearest to a memory is a run with its memory and its
/// events.
fn kept_right(
    (program, machine): (&mut AsyncRun, &Arc<Machine>),
    serial: &SerialOutcomes,
    (memory, happened): (&[(String, String)], &[u32]),
) -> bool {
    let nearest = serial.nearest(program, memory, happened).expect("a run");
    let Some(kept) = nearest else { return serial.is_empty() };
    let plain = |task: &TaskName| task.clone().with_ordinal(0);
    let names: Vec<TaskName> = program.events().iter().map(|one| plain(&one.task)).collect();
    let starts = kept.run.iter().map(|step| plain(&step.task));
    let starts: Vec<TaskName> = starts.filter(|task| names.contains(task)).collect();
    let events: Vec<TaskName> =
        kept.events.iter().map(|event| names[*event as usize].clone()).collect();
    let end = replays(machine, &kept.run);
    starts == events && end.is_some_and(|state| program.show(&state) == kept.memory)
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

/// The places at which tasks wait that must not wait for ever.
fn waiting(machine: &Machine, state: &State) -> Option<Vec<WaitPlace>> {
    let all = machine.waiting(state);
    let places = all.iter().filter(|one| !one.may).filter_map(|one| one.site);
    let places: BTreeSet<WaitPlace> = places.map(|site| (site.line, site.column)).collect();
    (!all.is_empty()).then(|| places.into_iter().collect())
}

/// What is decided of a model, and what differs from the truth.
struct Compared {
    faults: Vec<&'static str>,
    /// Whether there is no violation, and a state that no serial run has: Theorems 1 to 3 are about
    /// programs without `cancel`.
    only_by_cancel: bool,
    violations: Vec<Violation>,
}

fn compare(text: &str, truth: &Truth, options: &Options) -> Compared {
    let (mut program, machine) = system(text);
    let control = Control::default();
    let quiet = |state: &State| machine.quiet_memory(state);
    let started = |action: &Action| machine.started(action);
    let waiting = |state: &State| waiting(&machine, state);
    let most = |once: bool| if once { 1 } else { options.repeat as u8 };
    let most = program.events().iter().map(|event| most(event.once)).collect();
    let init_is_step = program.init_is_step();
    let views = Views { quiet: &quiet, started: &started, waiting: &waiting, most, init_is_step };
    let decided = outcomes(&mut program, &*machine, &views, options, &control);
    let (serial, states) = decided.expect("outcomes");
    let states = states.expect("a first state");
    let found = conflicts(&mut program, options, true, &control).expect("conflicts");
    let mut faults = Vec::new();
    let mut wrong = |what: &'static str, wrong: bool| {
        if wrong {
            faults.push(what);
        }
    };
    let failing: BTreeSet<u32> = found
        .deterministic
        .iter()
        .filter(|(_, answer)| **answer != Answer::Yes)
        .map(|(event, _)| *event)
        .collect();
    assert_eq!(INIT_EVENT, brute::INIT);
    wrong("determinism", failing != truth.not_deterministic);
    let no = |answer: Answer| answer != Answer::Yes;
    wrong("serializability", no(found.serializable) != truth.not_serializable);
    wrong("order of starts", no(found.start_order) != truth.not_in_order);
    wrong("serial outcomes", !serial.complete || serial.ends != truth.some_serial_end);
    wrong("places of serial runs", serial.stuck != truth.stuck);
    let some_serial_end = truth.some_serial_end;
    match &states.divergence {
        Divergence::Never => {
            wrong("a run ends", states.ends != truth.some_end);
            wrong("states: not found", some_serial_end && !truth.is_robust());
            wrong("more events", states.repeats != truth.more);
        }
        Divergence::Reached(_) => wrong("states: found", !some_serial_end || truth.is_robust()),
        Divergence::Undecided => wrong("states: undecided", true),
    }
    // Theorems 1 to 3, without failures and deadlocks.
    let plain = |end: &End| matches!(end, End::State(..));
    let clean = truth.not_deterministic.is_empty() && !truth.not_in_order;
    let odd = truth.ends.iter().filter(|end| plain(end)).any(|e| !truth.serial_ends.contains(e));
    let unexplained = clean && odd && some_serial_end;
    let only_by_cancel = unexplained && text.contains("cancel ");
    wrong("no violation, but other states", unexplained && !only_by_cancel);
    // The single-thread semantics is one way to run the multi-thread semantics.
    wrong("a serial outcome that no run has", !truth.serial_ends.is_subset(&truth.ends));
    let all: Vec<u32> = (0..program.events().len() as u32).collect();
    let variable = |name: &str, value: u8| (name.to_owned(), value.to_string());
    let memory = |value| ["a", "b", "c"].map(|name| variable(name, value)).to_vec();
    let mut near: Vec<(Memory, Vec<u32>)> =
        (0..3).map(|value| (memory(value), all.clone())).collect();
    near.push((Vec::new(), Vec::new()));
    if let Divergence::Reached(outcome) = &states.divergence {
        let happened = outcome.path.iter().filter_map(|action| machine.started(action));
        near.push((program.show(&outcome.state), happened.collect()));
    }
    for (memory, happened) in &near {
        let kept = kept_right((&mut program, &machine), &serial, (memory, happened));
        wrong("a serial run that is another one when it is made again", !kept);
    }
    // Each is listed once.
    let named = |one: &Violation| {
        let event = (one.property == Property::Determinism).then_some(one.event);
        (event, one.places.clone())
    };
    let names: BTreeSet<_> = found.violations.iter().map(|runs| named(&runs[0])).collect();
    wrong("a violation that is listed twice", names.len() != found.violations.len());
    let violations: Vec<Violation> = found.violations.into_iter().flatten().collect();
    wrong(
        "a run that the program does not have",
        !violations.iter().all(|one| replays(&machine, &one.run).is_some()),
    );
    if let Divergence::Reached(outcome) = &states.divergence {
        let again = shown_by(&mut program, &*machine, &views, &outcome.path).expect("a run");
        wrong("no run to another outcome", again.is_none());
    }
    Compared { faults, only_by_cancel, violations }
}

/// Models of kinds that random ones rarely have.
const RARE: [&str; 3] = [
    "lock l;\nlock m;\nonce event e0 { with l { with m { } } }\n\
     once event e1 { with m { with l { } } }\n",
    "var x = 0;\nonce event e0 { async[any] p(); x = 1; }\n\
     once event e1 { async[any] p(); x = 1; }\nprocedure p() { x = 2; }\n",
    "var x = 0;\nvar h: task? = null;\nhandler q: bag;\ninit { h = post p() to q; }\n\
     once event e0 on q { cancel h; }\nprocedure p() { x = 2; }\n",
];

/// The most runs of a rare model.
const RARE_RUNS: u64 = 50_000;

#[test]
fn both_find_the_same() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut wrong = 0;
    let options =
        Options { stops: 1, max_states: 100_000, steps_with_stops: 20_000, ..Options::default() };
    let random = seeds(500).into_iter().map(|seed| (seed, None));
    for (seed, rare) in RARE.iter().map(|rare| (0, Some(rare))).chain(random) {
        let mut random = SplitMix64(seed);
        let mut shape = Shape::random(&mut random);
        let mut text = model(&mut random, shape);
        let mut most = 500;
        if let Some(rare) = rare {
            text = format!("model rare\nsetting granularity = access;\n{rare}");
            (shape, most) = (Shape::default(), RARE_RUNS);
        }
        let (mut program, _) = system(&text);
        let truth = truth(&mut program, options.repeat, most);
        if !truth.complete {
            *counts.entry("too many runs".to_owned()).or_insert(0) += 1;
            continue;
        }
        let compared = compare(&text, &truth, &options);
        for (what, holds) in [
            ("fifo", shape.order == "fifo"),
            ("delayed", shape.order == "delayed"),
            ("driver", shape.driver),
            ("assume", shape.assume),
            ("init posts", shape.init),
            ("init fails to be deterministic", truth.not_deterministic.contains(&INIT_EVENT)),
            ("events that repeat", truth.more),
            ("cancel", shape.cancel),
            ("front", shape.front),
            ("choices", shape.choose),
            ("other states only by `cancel`", compared.only_by_cancel),
            ("two events not deterministic", truth.not_deterministic.len() > 1),
            ("deterministic", truth.not_deterministic.is_empty()),
            ("serializable", !truth.not_serializable),
            ("in start order", !truth.not_in_order),
            ("robust", truth.is_robust()),
            ("stuck", !truth.stuck.is_empty()),
            ("a failure that concurrency adds", truth.adds(|end| matches!(end, End::Failure(_)))),
            ("a deadlock that concurrency adds", truth.adds(|end| matches!(end, End::Deadlock(_)))),
        ] {
            *counts.entry(format!("{what}: {holds}")).or_insert(0) += 1;
        }
        if !compared.faults.is_empty() {
            wrong += 1;
            if wrong <= 2 {
                println!("seed {seed}: {:?}\n{text}\n{truth:?}", compared.faults);
                for violation in &compared.violations {
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
    assert_eq!(sides, 38, "each of the nineteen comes out both ways");
}
