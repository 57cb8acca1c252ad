//! Searching a model.

use anyorder_lang::diagnostic::{Diagnostic, render};
use anyorder_lang::source::Source;
use anyorder_search::{Outcome, Property, SearchOptions, Violation, search};
use anyorder_system::Control;
use anyorder_vm::Machine;

/// The machine of a model without mistakes or warnings.
pub(crate) fn machine(name: &str, text: &str) -> Machine {
    let told = |diagnostics: &[Diagnostic]| -> String {
        let source = Source::new(name, text);
        diagnostics.iter().map(|diagnostic| render(&source, diagnostic, false)).collect()
    };
    match anyorder_lang::lower::compile(text, name) {
        Ok(compiled) => {
            assert!(compiled.warnings.is_empty(), "{}", told(&compiled.warnings));
            Machine::new(compiled.program).unwrap_or_else(|error| panic!("{name}: {error}"))
        }
        Err(diagnostics) => panic!("{}", told(&diagnostics)),
    }
}

/// Searches all states.
pub(crate) fn full(name: &str, machine: &Machine, options: &SearchOptions) -> Outcome<Machine> {
    let outcome = search(machine, options, &Control::default());
    let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(outcome.complete, "{name}: {outcome:?}");
    outcome
}

/// What was found in one line: what is violated (or `clean`) and in how many steps, states,
/// transitions.
pub(crate) fn summary(outcome: &Outcome<Machine>) -> String {
    let counts = &outcome.stats;
    format!("{}; {} states, {} transitions", verdict(outcome), counts.states, counts.transitions)
}

/// What is violated, and in how many steps at least.
pub(crate) fn verdict(outcome: &Outcome<Machine>) -> String {
    if outcome.violations.is_empty() {
        return "clean".to_owned();
    }
    let found: Vec<String> = outcome.violations.iter().map(violation).collect();
    found.join(", ")
}

fn violation(found: &Violation<Machine>) -> String {
    let steps = found.path.steps.len();
    let what = match &found.property {
        Property::Failure(message) => essence(&message.to_string()).to_owned(),
        Property::Invariant(_) => format!("invariant {}", found.name),
        Property::Deadlock(_) => "deadlock".to_owned(),
        Property::Final => "final".to_owned(),
        Property::Livelock(_) => "livelock".to_owned(),
        Property::Response(_) => format!("response {}", found.name),
    };
    match found.path.repeats_from {
        Some(from) => format!("{what} in {from} steps and {} for ever", steps - from),
        None => format!("{what} in {steps} steps"),
    }
}

/// What failed: what the model says of it, else its kind. Lines and the machine's own words may
/// change.
fn essence(message: &str) -> &str {
    let what = message.rsplit_once(" at ").map_or(message, |(what, _)| what);
    match what.split_once(": ") {
        Some((kind, _)) if kind != "assertion" => kind,
        _ => what,
    }
}
