//! Models of the gallery, on the machine: every failure and every final observation of full
//! enumeration.

use anyorder_explore::r4::{ReversalOptions, explore};
use anyorder_lang::lower::compile;
use anyorder_system::{Choice, Control, Hash128, Limits, TaskSystem};
use anyorder_vm::MachineFactory;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

type Ends = (BTreeSet<Hash128>, BTreeSet<String>);

/// All ends, over all alternatives of each task; `None` if there are too many or a run is too long.
fn all<S: TaskSystem>(system: &mut S, most: usize) -> Option<Ends> {
    let (mut ends, mut failures) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![Vec::<Choice>::new()];
    let mut count = 0;
    while let Some(choices) = open.pop() {
        system.reset().expect("it resets");
        for choice in &choices {
            let step = system.execute(choice).expect("it repeats itself");
            failures.extend(step.failures.iter().map(ToString::to_string));
        }
        let enabled = system.enabled().expect("it lists");
        count += 1;
        if count > most || choices.len() > 40 {
            return None;
        }
        if enabled.is_empty() {
            ends.insert(system.observe().expect("it shows").hash());
        }
        for one in enabled {
            open.extend((0..one.alternatives).map(|alternative| {
                let next = Choice { alternative, ..Choice::of(one.task.clone()) };
                choices.iter().cloned().chain([next]).collect()
            }));
        }
    }
    Some((ends, failures))
}

#[test]
fn gallery_models_end_in_all_their_ways() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the gallery is there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "any"))
        .collect();
    files.sort();
    let (mut compared, mut with_failures) = (0, 0);
    for file in files {
        let name = file.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let Ok(machine) =
            anyorder_vm::Machine::new(compile(&text, &name).expect("it is sound").program)
        else {
            continue;
        };
        let factory = MachineFactory(Arc::new(machine));
        let mut system = anyorder_system::SystemFactory::make(&factory).expect("it starts");
        let Some((ends, failures)) = all(&mut system, 2_500) else { continue };
        let options = ReversalOptions { bound: None, confirm: false, ..ReversalOptions::default() };
        let limits = Limits { executions: Some(20_000), steps: Some(200), ..Limits::NONE };
        let control = Control { limits, ..Control::default() };
        let outcome = explore(&factory, &options, &control).expect("it runs");
        let ours: BTreeSet<_> = outcome.runs.iter().map(|run| run.observation.hash()).collect();
        let failed: BTreeSet<_> = outcome
            .runs
            .iter()
            .flat_map(|run| run.failures.iter().map(ToString::to_string))
            .collect();
        println!(
            "{name}: {} ways to end, {} failures, {} runs, {} blocked",
            ends.len(),
            failures.len(),
            outcome.runs.len(),
            outcome.counts.sleep_blocked
        );
        assert!(outcome.complete, "{name}: {:?}", outcome.limits);
        assert_eq!(failed, failures, "{name}");
        assert_eq!(ours, ends, "{name}");
        compared += 1;
        with_failures += u32::from(!failures.is_empty());
    }
    println!("{compared} models, {with_failures} of them fail");
    assert!(compared >= 5);
}
