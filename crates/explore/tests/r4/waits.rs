//! Tasks that wait, and tasks with alternatives: small models, against all their states.

use crate::tests::r4::full::{Repeating, ended, ends, ends_of, explored, machine};
use anyorder_explore::r4::{Limit, ReversalOptions, Sabotage, explore};
use anyorder_system::{Choice, Control, RunError, Schedule, TaskName};

/// Explores a model without a bound, and compares it with all its states. Returns the number of
/// runs, and the failures.
fn check(text: &str) -> (usize, Vec<String>) {
    let machine = machine(text);
    let mut system = Repeating::new(machine.clone(), 1);
    let (expected, _) = ends(&mut system, 10_000, 100).expect("it is small");
    let outcome = explored(&machine, 1, 10_000, Sabotage::None);
    assert!(
        ended(&outcome) && outcome.complete && outcome.exhausted,
        "{:?}\n{text}",
        outcome.limits
    );
    assert_eq!(ends_of(&outcome), expected, "{text}");
    (outcome.runs.len(), expected.failures.into_iter().collect())
}

#[test]
fn a_guard_over_two_variables_that_no_recorded_run_makes_true() {
    let text = "model m\nvar x = 0; var y = 0;\n\
        thread t1 { x = 1; x = 0; }\nthread t2 { y = 1; y = 0; }\n\
        once event e when x == 1 && y == 1 { fail \"both\"; }";
    let (_, failures) = check(text);
    assert_eq!(failures.len(), 1);
}

#[test]
fn a_guard_that_does_not_look_at_what_disables_it_until_later() {
    // After `t` no task reads `y`: the guard reads `x` first, and `u` sets `y` back.
    let (_, failures) = check(
        "model m\nvar x = 0; var y = 0; handler h: bag;\n\
         task u() on h { y = 0; }\n\
         once event t { y = 1; post u(); }\n\
         once event sets { x = 1; }\n\
         once event e when x == 1 && y == 0 { if x == 1 { y = 5; } }\n\
         once event last when y == 5 { fail \"e came first\"; }",
    );
    assert_eq!(failures.len(), 1);
}

#[test]
fn a_lock_that_another_thread_takes_before_it_is_wanted() {
    check(
        "model m\nvar a = 0; var b = 0; lock m;\n\
         thread t2 { with m { b = a; } }\n\
         thread t1 { let i = 1; yield; with m { a = i; } }",
    );
}

#[test]
fn alternatives_are_sequences_of_their_own() {
    let text = "model m\nvar x = 0;\n\
        once event e { choose { \"lost\" => { x = 1; } \"ok\" => { x = 2; assert x == 1; } } }\n\
        once event f { x = x * 3; }";
    let (_, failures) = check(text);
    assert_eq!(failures.len(), 1);
    // With a bound, another alternative counts like a reversal.
    let machine = machine(text);
    let factory = || -> Result<Repeating, RunError> { Ok(Repeating::new(machine.clone(), 1)) };
    let bounded = |bound, alternatives_max| {
        let options =
            ReversalOptions { bound: Some(bound), alternatives_max, ..ReversalOptions::default() };
        explore(&factory, &options, &Control::default()).expect("it runs")
    };
    let fails = |bound, most| {
        bounded(bound, most).runs.iter().filter(|run| !run.failures.is_empty()).count()
    };
    assert_eq!((fails(0, 16), fails(1, 16), fails(2, 16)), (0, 1, 2));
    let outcome = bounded(1, 1);
    assert_eq!((outcome.complete, outcome.limits), (false, vec![Limit::Alternatives]));
}

#[test]
fn a_recorded_alternative_stays_and_the_others_are_varied() {
    let text = "model m\nvar x = 0;\nonce event e { x = choose 0..3; }\nonce event f { x += 5; }";
    let machine = machine(text);
    let factory = || -> Result<Repeating, RunError> { Ok(Repeating::new(machine.clone(), 1)) };
    let mut schedule = Schedule::default();
    let name = |kind: &str| TaskName::root(kind).with_ordinal(1);
    schedule.choices.push(Choice { alternative: 2, ..Choice::of(name("e")) });
    schedule.choices.push(Choice::of(name("f")));
    let options = ReversalOptions {
        bound: Some(1),
        recording: Some(schedule.clone()),
        ..ReversalOptions::default()
    };
    let outcome = explore(&factory, &options, &Control::default()).expect("it runs");
    assert_eq!(outcome.choices(0), schedule.choices);
    let mut words: Vec<String> = (0..outcome.runs.len())
        .map(|run| {
            let choices = outcome.choices(run).into_iter();
            let word =
                |choice: Choice| format!("{}{}", choice.task.segment().kind, choice.alternative);
            choices.map(word).collect()
        })
        .collect();
    words[1..].sort();
    assert_eq!(words, ["e2f0", "e0f0", "e1f0", "f0e2"]);
}
