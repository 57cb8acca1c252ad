//! Models with known verdicts: the evaluated programs of the paper, its examples, and small
//! programs for each rule.

use anyorder_robust::model::{
    Divergence, Options, Property, SerialOutcomes, Violation, check, diverging,
};
use anyorder_system::{AsyncSystem, Control, StateSystem};
use anyorder_vm::{AsyncRun, Machine, State};
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
    let serial = SerialOutcomes::of(&mut system, &options, &control).expect("serial runs");
    let start = machine.initial().remove(0);
    let quiet = |state: &State| machine.quiet_memory(state);
    let states = match diverging(&machine, start, quiet, &serial, (1 << 20, &control)) {
        Divergence::Never => "serial states",
        Divergence::Reached { .. } => "other states",
        Divergence::Undecided => "undecided",
    };
    let all = &checked.violations;
    let first = |property| all.iter().find(|one| one.property == property);
    let places: Vec<String> = all.iter().map(|one| place(&system, one)).collect();
    let word = |property, name: &str| match first(property) {
        Some(_) => format!("not {name}"),
        None => name.to_owned(),
    };
    let (deterministic, serializable) = (
        word(Property::Determinism, "deterministic"),
        word(Property::Serializability, "serializable"),
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
