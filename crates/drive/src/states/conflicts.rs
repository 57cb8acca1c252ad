//! Update conflicts: two components update one variable or element, with no update between them.

use super::program::{AttributeUpdate, Described, RunEnd, StateProgram};
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::{Path, UpdateConflict};
use anyorder_system::StateSystem;

/// An update conflict, and a run that ends with the second update.
pub(crate) struct Conflict<S: StateSystem> {
    /// The variable, or the element: `lamp`, `lamps[2]`.
    pub(crate) attribute: String,
    /// The two components, in the order of their declarations.
    pub(crate) components: [String; 2],
    /// The second update is in the last step.
    pub(crate) path: Path<S>,
}

impl<S: StateSystem> Conflict<S> {
    /// Converts the finding of an engine.
    pub(super) fn of<P: StateProgram<System = S>>(
        program: &P,
        found: UpdateConflict<S>,
    ) -> Conflict<S> {
        let UpdateConflict { place, components: (a, b), path } = found;
        let names = program.system().components();
        let name = |index: u32| names.get(index as usize).cloned().unwrap_or_default();
        Conflict {
            attribute: program.attribute(&path, place),
            components: [name(a), name(b)],
            path,
        }
    }

    /// Describes it as a finding.
    pub(super) fn described<P: StateProgram<System = S>>(&self, program: &P) -> Described {
        let Conflict { attribute, components: [a, b], path } = self;
        let updates = program.updates(path, attribute);
        let pair = last_pair(&updates, path, &self.components).unwrap_or(&[]);
        let title =
            format!("`{a}` and `{b}` set `{attribute}` to different values, one after the other");
        let sites = pair.iter().map(|update| site(program, path, attribute, update)).collect();
        let words: Vec<String> = pair
            .iter()
            .map(|update| {
                let who = update.component.as_deref().unwrap_or("no component");
                format!("`{who}` sets it to {} in step {}", update.value, update.step + 1)
            })
            .collect();
        let end = RunEnd::from(format!("update conflict on `{attribute}`: {}", words.join(", ")));
        Described { finding: Finding { title, sites, ..Finding::new(Kind::UpdateConflict) }, end }
    }
}

/// Returns whether the last step of a path has the second update of a conflict on an attribute
/// between two components.
pub(crate) fn is_conflict<P: StateProgram>(
    program: &P,
    path: &Path<P::System>,
    attribute: &str,
    components: &[String; 2],
) -> bool {
    last_pair(&program.updates(path, attribute), path, components).is_some()
}

/// Returns two consecutive updates by these components, the second in the last step.
fn last_pair<'u, S: StateSystem>(
    updates: &'u [AttributeUpdate],
    path: &Path<S>,
    [a, b]: &[String; 2],
) -> Option<&'u [AttributeUpdate]> {
    updates.windows(2).find(|two| {
        let names = [two[0].component.as_ref(), two[1].component.as_ref()];
        let is = |a: &String, b: &String| names == [Some(a), Some(b)];
        two[1].step + 1 == path.steps.len() && (is(a, b) || is(b, a))
    })
}

/// Returns the site at which a step of a path updates an attribute.
fn site<P: StateProgram>(
    program: &P,
    path: &Path<P::System>,
    attribute: &str,
    update: &AttributeUpdate,
) -> Site {
    let task = path.state(update.step).zip(path.steps.get(update.step));
    Site {
        location: Some(attribute.to_owned()),
        task: task.map(|(before, step)| program.system().describe(before, &step.action)),
        event: Some((update.step + 1).to_string()),
        // The site of an update names the component as its handler.
        handler: update.component.clone(),
        access: Some("write".to_owned()),
        ..update.site.clone()
    }
}
