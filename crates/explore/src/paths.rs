//! What both stateful engines ask of a system: its properties, and paths that are replayed.

use crate::stateful::Error;
use anyorder_search::{Path, Property, SystemInfo, Violation};
use anyorder_system::{Effects, Reducible, TaskKey};

/// Asks a system for its properties. Fails if an invariant does not list the places that it reads.
pub(crate) fn info_of<S: Reducible>(system: &S) -> Result<SystemInfo<'_, S>, Error> {
    let info = SystemInfo::of(system);
    match info.properties.invariants.iter().find(|invariant| !invariant.is_watching()) {
        Some(invariant) => Err(Error::NotWatching { invariant: invariant.name.clone() }),
        None => Ok(info),
    }
}

/// Runs choices (tasks with their alternatives) from an initial state. Only the last step may fail.
pub(crate) fn run<S: Reducible>(
    system: &S,
    start: u32,
    choices: impl IntoIterator<Item = (TaskKey, u32)>,
) -> Result<Path<S>, Error> {
    let mut path = Path::begin(system, start).ok_or(Error::NoInitialState)?;
    let mut effects = Effects::default();
    for (task, alternative) in choices {
        effects.clear();
        let failed = path.steps.last().is_some_and(|step| step.failure.is_some());
        if !failed {
            system.run(path.last(), task, &mut effects);
        }
        match effects.successors.drain(..).nth(alternative as usize) {
            Some(successor) => path.push(None, successor),
            None => {
                return Err(Error::NotRepeatable { task: system.task_name(path.last(), task) });
            }
        }
    }
    Ok(path)
}

/// Replays choices that lead to a violation.
pub(crate) fn violation<S: Reducible>(
    system: &S,
    property: Property,
    (start, choices): (u32, Vec<(TaskKey, u32)>),
) -> Result<Violation<S>, Error> {
    let last = choices.last().copied();
    let path = run(system, start, choices)?;
    let fails = path.steps.last().is_some_and(|step| step.failure.is_some());
    if let Some((task, _)) = last
        && fails != matches!(property, Property::Failure(_))
    {
        return Err(Error::NotRepeatable { task: system.task_name(path.last(), task) });
    }
    Ok(Violation::of(system, property, path))
}
