//! The clauses of the contract, one function each. Each leaves the system in an arbitrary state;
//! its caller resets.

use super::promises::{Coverage, Walk};
use super::subject::{RenderedStep, StateView, Subject, Violation, same, violation};
use anyorder_system::{
    Access, AccessDetail, AccessKind, Choice, EnabledDetail, RunError, TaskName, TaskSystem,
};
use std::collections::{BTreeMap, BTreeSet};

/// **names**: a posted task is named after its creator; equal kinds and labels of one creator are
/// numbered from 0 without gaps, so that the name does not depend on what ran in between; no name
/// comes twice in a run.
pub(crate) fn names(walk: &Walk, coverage: &mut Coverage) -> Result<(), Violation> {
    let mut all: BTreeSet<&TaskName> = BTreeSet::new();
    for RenderedStep { step, .. } in &walk.steps {
        let mut ordinals = BTreeMap::new();
        for posted in &step.posted {
            let name = &posted.task;
            if name.creator() != Some(&step.task) {
                return violation("names", format!("`{}` posted `{name}`", step.task));
            }
            let segment = name.segment();
            let next = ordinals.entry((&segment.kind, &segment.label)).or_insert(0);
            same("names", &format!("ordinal of `{name}`"), next, &segment.ordinal)?;
            *next += 1;
            if !all.insert(name) {
                return violation("names", format!("`{name}` was posted twice"));
            }
            coverage.names += 1;
        }
    }
    Ok(())
}

/// **repeatable** (of deterministic systems): the same choices give the same steps, enabled tasks
/// and observations, in the same instance and in another.
pub(crate) fn repeatable<S: TaskSystem, T: TaskSystem>(
    first: &mut Subject<S>,
    second: &mut Subject<T>,
    walk: &Walk,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    if !first.system.capabilities().deterministic {
        return Ok(());
    }
    first.reset()?;
    second.reset()?;
    for (choice, step) in walk.choices.iter().zip(&walk.steps) {
        same("repeatable", "a state", &first.view()?, &second.view()?)?;
        same("repeatable", "a step", step, &first.execute(choice)?)?;
        same("repeatable", "a step elsewhere", step, &second.execute(choice)?)?;
        coverage.replayed += 1;
    }
    same("repeatable", "the end", &first.view()?, &second.view()?)
}

/// **enabled** (where declared exact): every reported task can run, in each of its alternatives.
pub(crate) fn enabled<S: TaskSystem>(
    subject: &mut Subject<S>,
    walk: &Walk,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    if subject.system.capabilities().enabled != EnabledDetail::Exact {
        return Ok(());
    }
    for length in 0..walk.choices.len() {
        subject.run_to(&walk.choices[..length])?;
        for choice in possible(&subject.view()?)? {
            subject.run_to(&walk.choices[..length])?;
            let result = subject.system.execute(&choice);
            let step = match result {
                Err(error @ RunError::Diverged(_)) => {
                    return violation("enabled", error.to_string());
                }
                other => subject.after("execute", other)?,
            };
            same("enabled", "the task that ran", &choice.task, &step.task)?;
            coverage.enabled_tried += 1;
        }
    }
    Ok(())
}

fn possible(view: &StateView) -> Result<Vec<Choice>, Violation> {
    let mut names = BTreeSet::new();
    let mut choices = Vec::new();
    for enabled in &view.enabled {
        if enabled.alternatives == 0 || !names.insert(&enabled.task) {
            return violation("enabled", format!("{enabled:?} in {:?}", view.enabled));
        }
        for alternative in 0..enabled.alternatives {
            choices.push(Choice { alternative, ..Choice::of(enabled.task.clone()) });
        }
    }
    Ok(choices)
}

/// **divergence** (where enabled is declared exact): a task that cannot run and a missing
/// alternative both give `Diverged`, and change nothing. A task that was not reported cannot run.
pub(crate) fn divergence<S: TaskSystem>(
    subject: &mut Subject<S>,
    walk: &Walk,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    if subject.system.capabilities().enabled != EnabledDetail::Exact {
        return Ok(());
    }
    let mut names: BTreeSet<TaskName> = BTreeSet::from([TaskName::root("no such task")]);
    names.extend(walk.steps.iter().map(|shown| shown.step.task.clone()));
    names.extend(walk.steps.iter().flat_map(|s| s.step.posted.iter().map(|p| p.task.clone())));
    subject.reset()?;
    for (choice, step) in walk.choices.iter().zip(&walk.steps) {
        let before = subject.view()?;
        let is_enabled = |name: &&TaskName| before.enabled.iter().any(|e| e.task == **name);
        for name in names.iter().filter(|name| !is_enabled(name)) {
            refuse(subject, Choice::of(name.clone()), &before)?;
            coverage.diverged += 1;
        }
        for enabled in &before.enabled {
            let alternative = enabled.alternatives;
            let choice = Choice { alternative, ..Choice::of(enabled.task.clone()) };
            refuse(subject, choice, &before)?;
            coverage.alternatives_refused += 1;
        }
        same("divergence", "the step after it", step, &subject.execute(choice)?)?;
    }
    Ok(())
}

fn refuse<S: TaskSystem>(
    subject: &mut Subject<S>,
    choice: Choice,
    before: &StateView,
) -> Result<(), Violation> {
    match subject.system.execute(&choice) {
        Err(RunError::Diverged(divergence)) => {
            same("divergence", "the task wanted", &choice.task, &divergence.wanted)?;
        }
        Ok(_) => {
            let text =
                format!("`{}` ran, and was not enabled ({})", choice.task, choice.alternative);
            return violation("divergence", text);
        }
        Err(other) => return violation("divergence", format!("`{}`: {other}", choice.task)),
    }
    same("divergence", "the state around it", before, &subject.view()?)
}

/// **commuting** (where accesses are reported): two enabled tasks whose accesses do not conflict
/// have the same steps in both orders, under the same names, and lead to the same observation. A
/// system that omits accesses fails here.
pub(crate) fn commuting<S: TaskSystem>(
    subject: &mut Subject<S>,
    walk: &Walk,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    if subject.system.capabilities().accesses == AccessDetail::None {
        return Ok(());
    }
    for length in 0..=walk.choices.len() {
        let prefix = &walk.choices[..length];
        subject.run_to(prefix)?;
        let choices = possible(&subject.view()?)?;
        for (at, a) in choices.iter().enumerate() {
            for b in choices[at + 1..].iter().filter(|b| b.task != a.task) {
                pair(subject, prefix, a, b, coverage)?;
            }
        }
    }
    Ok(())
}

fn pair<S: TaskSystem>(
    subject: &mut Subject<S>,
    prefix: &[Choice],
    a: &Choice,
    b: &Choice,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let mut both = |first: &Choice, second: &Choice| {
        subject.run_to(prefix)?;
        let one = subject.execute(first)?;
        let still = subject.view()?.enabled.iter().any(|e| e.task == second.task);
        let other = if still { Some(subject.execute(second)?) } else { None };
        Ok((one, other, subject.view()?.observation))
    };
    let (a_first, b_second, ab) = both(a, b)?;
    let (b_first, a_second, ba) = both(b, a)?;
    if conflict(&a_first, &b_first) {
        coverage.conflicting += 1;
        return Ok(());
    }
    let what = format!("`{}` and `{}` in both orders", a.task, b.task);
    same("commuting", &what, &Some(a_first), &a_second)?;
    same("commuting", &what, &Some(b_first), &b_second)?;
    same("commuting", &what, &ab, &ba)?;
    coverage.commuted += 1;
    Ok(())
}

fn conflict(a: &RenderedStep, b: &RenderedStep) -> bool {
    let writes = |access: &Access| access.kind != AccessKind::Read;
    a.step.accesses.as_slice().iter().any(|x| {
        let others = b.step.accesses.as_slice().iter();
        others.filter(|y| x.location == y.location).any(|y| writes(x) || writes(y))
    })
}

/// **snapshots** (where declared): a saved state can be restored any number of times, with the same
/// fingerprint and the same continuation; a forgotten one cannot; states with different
/// observations have different fingerprints.
pub(crate) fn snapshots<S: TaskSystem>(
    subject: &mut Subject<S>,
    walk: &Walk,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let declared = subject.system.capabilities().snapshot;
    same("snapshots", "declared, and there", &declared, &subject.system.snapshots().is_some())?;
    if !declared {
        return Ok(());
    }
    subject.reset()?;
    let mut saved = Vec::new();
    for choice in &walk.choices {
        let view = subject.view()?;
        let print = fingerprint(subject);
        let id = save(subject)?;
        saved.push((id, view, print));
        subject.execute(choice)?;
    }
    for (at, (id, view, print)) in saved.iter().enumerate().rev() {
        for _ in 0..2 {
            restore(subject, *id)?;
            same("snapshots", "a restored state", view, &subject.view()?)?;
            same("snapshots", "a restored fingerprint", print, &fingerprint(subject))?;
            for (choice, step) in walk.choices[at..].iter().zip(&walk.steps[at..]) {
                same("snapshots", "a continuation", step, &subject.execute(choice)?)?;
            }
        }
        for (_, other, other_print) in &saved[..at] {
            if other.observation != view.observation && other_print == print {
                return violation("snapshots", "two unequal states have one fingerprint");
            }
        }
        coverage.restored += 1;
    }
    for (id, ..) in saved {
        if let Some(snapshots) = subject.system.snapshots() {
            // Twice: an unknown snapshot is ignored.
            snapshots.forget(id);
            snapshots.forget(id);
            if snapshots.restore(id).is_ok() {
                return violation("snapshots", "a forgotten state came back");
            }
        }
    }
    Ok(())
}

fn fingerprint<S: TaskSystem>(subject: &mut Subject<S>) -> Option<anyorder_system::Hash128> {
    subject.system.snapshots().map(|snapshots| snapshots.fingerprint())
}

fn save<S: TaskSystem>(subject: &mut Subject<S>) -> Result<anyorder_system::SnapshotId, Violation> {
    let gone = RunError::Unsupported("snapshots");
    let saved = subject.system.snapshots().map_or(Err(gone), |snapshots| snapshots.save());
    subject.after("save", saved)
}

fn restore<S: TaskSystem>(
    subject: &mut Subject<S>,
    id: anyorder_system::SnapshotId,
) -> Result<(), Violation> {
    let gone = RunError::Unsupported("snapshots");
    let result = subject.system.snapshots().map_or(Err(gone), |snapshots| snapshots.restore(id));
    subject.after("restore", result)
}
