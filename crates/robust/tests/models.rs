//! Models with known verdicts: the evaluated programs of the paper, its examples, and small
//! programs for each rule.

use anyorder_robust::model::{
    Answer, Divergence, Options, Property, Views, Violation, check, conflicts, outcomes,
};
use anyorder_system::{AsyncSystem, Control};
use anyorder_vm::{Action, AsyncRun, Machine, State};
use std::path::Path;

#[test]
fn models_have_their_verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 30);
    let wrong: Vec<String> = files.iter().filter_map(|file| verdict(file)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns how the verdicts of a model differ from those that it expects.
fn verdict(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).expect("a model");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let expected =
        text.lines().find_map(|line| line.strip_prefix("// expect: ")).expect("verdicts");
    let compiled = anyorder_lang::lower::compile(&text, &name);
    let compiled = compiled.unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    let mut program = compiled.program;
    program.settings.granularity = anyorder_vm::program::Granularity::Access;
    let mut system = AsyncRun::new(program.clone()).expect("a valid program");
    let machine = Machine::new(program).expect("a valid program");
    let (control, options) = (Control::default(), Options::default());
    let checked = check(&mut system, &options, &control).expect("a check");
    assert!(checked.complete && checked.stops == options.stops, "{name}");
    let decided = conflicts(&mut system, &options, true, &control).expect("conflicts");
    let quiet = |state: &State| machine.quiet_memory(state);
    let started = |action: &Action| machine.started(action);
    let most = system.events().iter().map(|event| if event.once { 1 } else { 2 }).collect();
    let init_is_step = system.init_is_step();
    let views = Views { quiet: &quiet, started: &started, waiting: &|_| None, most, init_is_step };
    let found = outcomes(&mut system, &machine, &views, &options, &control).expect("outcomes");
    let states = match found.1.expect("a first state").divergence {
        Divergence::Never => "serial states",
        Divergence::Reached(_) => "other states",
        Divergence::Undecided => "undecided",
    };
    let all = &checked.violations;
    let first = |property| all.iter().find(|one| one.property == property);
    let places: Vec<String> = all.iter().map(|one| place(&system, one)).collect();
    let word = |answer: Answer, property, name: &str| {
        // What all interleavings decide, the search of pivots finds.
        assert_eq!(answer == Answer::No, first(property).is_some(), "{name}");
        match answer {
            Answer::Yes => name.to_owned(),
            Answer::No => format!("not {name}"),
            Answer::Unknown => format!("open whether {name}"),
        }
    };
    let (deterministic, serializable) = (
        word(decided.all_deterministic(), Property::Determinism, "deterministic"),
        word(decided.serializable, Property::Serializability, "serializable"),
    );
    let (verdicts, wanted) = match expected.split_once("; ") {
        Some((verdicts, wanted)) => (verdicts, wanted),
        None => (expected, ""),
    };
    let found = [deterministic.as_str(), serializable.as_str(), states];
    let mut missing: Vec<&str> =
        verdicts.split(", ").filter(|wanted| !found.contains(wanted)).collect();
    if !wanted.is_empty() && !places.iter().any(|place| place == wanted) {
        missing.push(wanted);
    }
    (!missing.is_empty()).then(|| {
        format!("{name}: expected {missing:?}, found {found:?}\n    {}", places.join("\n    "))
    })
}

/// The places of the pivot and of the root.
fn place(system: &AsyncRun, violation: &Violation) -> String {
    let one = |at: usize| {
        let step = &violation.run[at];
        let location = step.accesses.last().map(|one| system.tables().location_text(one.location));
        format!("{} in {}", location.unwrap_or_default(), step.invocation.segment().kind)
    };
    format!("pivot {}, root {}", one(violation.run.len() - 1), one(violation.root))
}
