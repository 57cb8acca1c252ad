//! Update conflicts: two components set one variable to different values, and nothing sets it between.

use super::finding::{Reported, Shown, assemble, named, nowhere, site_at_instruction, site_of};
use super::load::Model;
use super::steps::End;
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::Path;
use anyorder_system::{Effects, Reducible, StateSystem, TaskKey};
use anyorder_vm::program::{FuncId, Op};
use anyorder_vm::{Action, Machine, State};

/// An update conflict, and a run that ends with the second update.
pub(crate) struct Conflict {
    /// The variable.
    pub(crate) attribute: String,
    /// The two components, in the order of their declarations.
    pub(crate) components: [String; 2],
    /// The second update is the last step.
    pub(crate) path: Path<Machine>,
}

/// What the replay of a schedule is told that it shows: `update_conflict ATTRIBUTE COMPONENT COMPONENT`.
pub(crate) const SHOWS_CONFLICT: &str = "update_conflict ";

/// Makes findings of update conflicts.
pub(crate) fn report_conflicts(model: &Model, conflicts: &[Conflict]) -> Vec<Reported> {
    conflicts.iter().map(|conflict| one(model, conflict)).collect()
}

fn one(model: &Model, conflict: &Conflict) -> Reported {
    let Conflict { attribute, components, path } = conflict;
    let [a, b] = components;
    let updates = updates_of(&model.machine, path, attribute);
    let title =
        format!("`{a}` and `{b}` set `{attribute}` to different values, one after the other");
    let last: Vec<&Update> = updates.iter().rev().take(2).collect();
    let sites = last.iter().rev().map(|update| site(model, path, attribute, update)).collect();
    let told: Vec<String> = last
        .iter()
        .rev()
        .map(|update| {
            let who = update.component.as_deref().unwrap_or("no component");
            format!("`{who}` sets it to {} in step {}", update.value, update.step + 1)
        })
        .collect();
    let end = End::from(format!("update conflict on `{attribute}`: {}", told.join(", ")));
    let finding = Finding { title, sites, ..Finding::new(Kind::UpdateConflict) };
    let says = Shown { words: format!("{SHOWS_CONFLICT}{attribute} {a} {b}"), in_last_step: false };
    assemble(model, path, (finding, end), &says)
}

/// An update of a variable in a path.
struct Update {
    /// The step, from 0.
    step: usize,
    component: Option<String>,
    value: String,
}

/// Returns whether the last step of a path is the second update of a conflict of an attribute between two components.
pub(crate) fn is_conflict(
    machine: &Machine,
    path: &Path<Machine>,
    attribute: &str,
    components: &[String; 2],
) -> bool {
    conflicts(machine, path, &format!("{attribute} {} {}", components[0], components[1]))
}

/// As [`is_conflict`], in the words of a schedule.
pub(super) fn conflicts(machine: &Machine, path: &Path<Machine>, words: &str) -> bool {
    let mut words = words.split(' ');
    let (Some(attribute), Some(a), Some(b)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let updates = updates_of(machine, path, attribute);
    let [.., first, second] = &updates[..] else { return false };
    let is_pair = |x: &str, y: &str| {
        first.component.as_deref() == Some(x) && second.component.as_deref() == Some(y)
    };
    second.step + 1 == path.steps.len()
        && first.value != second.value
        && (is_pair(a, b) || is_pair(b, a))
}

/// Returns the updates of a variable in a path, in order.
fn updates_of(machine: &Machine, path: &Path<Machine>, attribute: &str) -> Vec<Update> {
    let names = machine.components();
    let mut updates = Vec::new();
    for (number, step) in path.steps.iter().enumerate() {
        let Some(before) = path.state(number) else { continue };
        let Some(task) = task_of(machine, before, &step.action) else { continue };
        let mut written = Vec::new();
        machine.updates(before, task, &step.state, &mut written);
        if !written.iter().any(|(place, _)| machine.place_name(*place) == attribute) {
            continue;
        }
        let component = machine.component(task).and_then(|at| names.get(at as usize)).cloned();
        let shown = machine.show(&step.state);
        let value = shown.into_iter().find(|(name, _)| name == attribute);
        let value = value.map_or_else(String::new, |(_, value)| value);
        updates.push(Update { step: number, component, value });
    }
    updates
}

/// Returns the task that takes a step.
fn task_of(machine: &Machine, state: &State, action: &Action) -> Option<TaskKey> {
    let mut ready = Vec::new();
    machine.ready(state, &mut ready);
    let mut effects = Effects::default();
    ready.into_iter().find(|task| {
        effects.clear();
        machine.run(state, *task, &mut effects);
        effects.successors.iter().any(|one| one.action == *action)
    })
}

/// Returns where a step of a path sets a variable, as exactly as that is known.
fn site(model: &Model, path: &Path<Machine>, attribute: &str, update: &Update) -> Site {
    let step = &path.steps[update.step];
    let before = path.state(update.step).unwrap_or(&path.initial);
    let body = body_of(&model.machine, &step.action);
    let position = body.map_or_else(|| nowhere(model), |body| written_at(model, body, attribute));
    let task = model.machine.describe(before, &step.action);
    let component = update.component.clone();
    let event = Some((update.step + 1).to_string());
    let site = Site { location: Some(attribute.to_owned()), task: Some(task), event, ..position };
    // What a handler is to tasks, the app it belongs to is to updates.
    named(Site { handler: component, ..site }, "write")
}

/// Returns where the event or task begins that takes a step.
pub(crate) fn site_of_step(model: &Model, action: &Action) -> Site {
    body_of(&model.machine, action).map_or_else(|| nowhere(model), |body| site_of(model, body))
}

/// Returns the function that an event or a task runs.
fn body_of(machine: &Machine, action: &Action) -> Option<FuncId> {
    let program = machine.program();
    let part = machine.part(action)?;
    match program.events.get(part) {
        Some(event) => Some(event.body),
        None => program.tasks.get(part - program.events.len()).map(|task| task.body),
    }
}

/// Returns the first instruction that sets a variable in a function or in what it calls; else where the function begins.
fn written_at(model: &Model, body: FuncId, attribute: &str) -> Site {
    let program = model.machine.program();
    let is_it = |at: usize| program.globals.get(at).is_some_and(|one| one.name == attribute);
    let (mut known, mut next) = (vec![body], 0);
    while let Some(function) = known.get(next).and_then(|id| program.functions.get(id.index())) {
        next += 1;
        for (op, site) in function.code.iter().zip(&function.sites) {
            match op {
                Op::SetGlobal { global, .. } | Op::SetGlobalAt { global, .. }
                    if is_it(global.index()) =>
                {
                    return site_at_instruction(model, *site);
                }
                Op::Call { func, .. } if !known.contains(func) => known.push(*func),
                _ => {}
            }
        }
    }
    site_of(model, body)
}
