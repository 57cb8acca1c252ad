//! Update conflicts: two components update one variable, or one element of it, and nothing updates it between.

use super::finding::{Reported, Shown, assemble, named, nowhere, site_at, site_of};
use super::load::Model;
use super::steps::End;
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::Path;
use anyorder_system::{Place, StateSystem};
use anyorder_vm::program::{FuncId, SourceSite};
use anyorder_vm::{Action, Machine};

/// An update conflict, and a run that ends with the second update.
pub(crate) struct Conflict {
    /// The variable, or the element: `lamp`, `lamps[2]`.
    pub(crate) attribute: String,
    /// The two components, in the order of their declarations.
    pub(crate) components: [String; 2],
    /// The second update is in the last step.
    pub(crate) path: Path<Machine>,
}

impl Conflict {
    /// Makes one of what an engine has found.
    pub(crate) fn of(
        machine: &Machine,
        place: Place,
        (a, b): (u32, u32),
        path: Path<Machine>,
    ) -> Conflict {
        let names = machine.components();
        let name = |index: u32| names.get(index as usize).cloned().unwrap_or_default();
        let attribute = attribute(machine, &path, place).unwrap_or_default();
        Conflict { attribute, components: [name(a), name(b)], path }
    }
}

/// Makes conflicts of those that a full search has found.
pub(crate) fn conflicts_of(
    model: &Model,
    found: Vec<anyorder_search::UpdateConflict<Machine>>,
) -> Vec<Conflict> {
    let of = |one: anyorder_search::UpdateConflict<Machine>| {
        Conflict::of(&model.machine, one.place, one.components, one.path)
    };
    found.into_iter().map(of).collect()
}

/// Returns the name of an attribute that the last step of a path updates.
fn attribute(machine: &Machine, path: &Path<Machine>, place: Place) -> Option<String> {
    let last = path.steps.len().checked_sub(1)?;
    let writes = machine.writes(path.state(last)?, &path.steps[last].action);
    writes.into_iter().find(|write| write.place == place).map(|write| write.attribute)
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
    let pair = updates_of(&model.machine, path, attribute);
    let pair = last_pair(&pair, path, components).unwrap_or(&[]);
    let title =
        format!("`{a}` and `{b}` set `{attribute}` to different values, one after the other");
    let sites = pair.iter().map(|update| site(model, path, attribute, update)).collect();
    let told: Vec<String> = pair
        .iter()
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

/// An update of an attribute in a path.
struct Update {
    /// The step, from 0.
    step: usize,
    component: Option<String>,
    value: String,
    site: Option<SourceSite>,
}

/// Returns whether the last step of a path has the second update of a conflict of an attribute between two components.
pub(crate) fn is_conflict(
    machine: &Machine,
    path: &Path<Machine>,
    attribute: &str,
    components: &[String; 2],
) -> bool {
    let updates = updates_of(machine, path, attribute);
    last_pair(&updates, path, components).is_some()
}

/// As [`is_conflict`], in the words of a schedule.
pub(super) fn conflicts(machine: &Machine, path: &Path<Machine>, words: &str) -> bool {
    // The key of a map may have spaces in it.
    let mut words = words.rsplitn(3, ' ');
    let (Some(b), Some(a), Some(attribute)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    is_conflict(machine, path, attribute, &[a.to_owned(), b.to_owned()])
}

/// Returns two updates, the second in the last step, that follow each other for these components.
fn last_pair<'u>(
    updates: &'u [Update],
    path: &Path<Machine>,
    components: &[String; 2],
) -> Option<&'u [Update]> {
    updates.windows(2).find(|two| {
        let names = [two[0].component.as_ref(), two[1].component.as_ref()];
        let is = |a: &String, b: &String| names == [Some(a), Some(b)];
        let [a, b] = components;
        two[1].step + 1 == path.steps.len() && (is(a, b) || is(b, a))
    })
}

/// Returns the updates of an attribute in a path, in order.
fn updates_of(machine: &Machine, path: &Path<Machine>, attribute: &str) -> Vec<Update> {
    let names = machine.components();
    let mut updates = Vec::new();
    for (number, step) in path.steps.iter().enumerate() {
        let Some(before) = path.state(number) else { continue };
        for write in machine.writes(before, &step.action) {
            if write.attribute == attribute {
                let component = write.by.and_then(|at| names.get(at as usize)).cloned();
                let value = write.value;
                updates.push(Update { step: number, component, value, site: write.site });
            }
        }
    }
    updates
}

/// Returns where a step of a path updates a variable.
fn site(model: &Model, path: &Path<Machine>, attribute: &str, update: &Update) -> Site {
    let step = &path.steps[update.step];
    let before = path.state(update.step).unwrap_or(&path.initial);
    let position = update.site.map_or_else(|| nowhere(model), |site| site_at(model, site));
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
