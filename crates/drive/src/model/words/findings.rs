//! Violations of a model as findings: kind, title, sites.

use super::stuck::Stuck;
use crate::model::Model;
use crate::states::Described;
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::{Property, Violation};
use anyorder_system::StateSystem;
use anyorder_vm::program::{FuncId, SourceSite};
use anyorder_vm::{Action, Machine};

/// Describes a violation.
pub(in crate::model) fn described(model: &Model, violation: &Violation<Machine>) -> Described {
    match &violation.property {
        Property::Failure(message) => {
            Described { finding: failure(model, message), end: Default::default() }
        }
        Property::Deadlock => {
            let stuck = Stuck::of(model, &violation.path);
            let (title, sites) = (stuck.title(), stuck.sites(model));
            let end = stuck.end(&title).into();
            Described { finding: Finding { title, sites, ..Finding::new(Kind::Deadlock) }, end }
        }
        _ => Described::of(violation, |property| {
            let function = stated_in(&model.machine, property);
            function.map(|function| named(site_of(model, function), "stated")).into_iter().collect()
        }),
    }
}

/// Returns the function that states a property: its condition, or the trigger of a response.
fn stated_in(machine: &Machine, property: &Property) -> Option<FuncId> {
    match property {
        Property::Response(index) => machine.program().responses.get(*index).map(|one| one.trigger),
        property => condition_of(machine, property),
    }
}

/// Returns the condition that does not hold where a property is violated.
pub(super) fn condition_of(machine: &Machine, property: &Property) -> Option<FuncId> {
    match property {
        Property::Invariant(index) => machine.program().invariants.get(*index).map(|one| one.holds),
        Property::Final => machine.program().final_,
        _ => None,
    }
}

fn failure(model: &Model, message: &str) -> Finding {
    let (head, place) = match place_in(message) {
        Some((head, place)) => (head, Some(place)),
        None => (message, None),
    };
    let word = head.split_once(": ").map_or(head, |(word, _)| word);
    let kind = if word == "step_limit" { Kind::StepLimit } else { Kind::Assertion };
    let site = named(place.map_or_else(|| nowhere(model), site_at_text), "failure");
    let title = failure_title(head);
    let mut finding = Finding { title, sites: vec![site], ..Finding::new(kind) };
    if !matches!(word, "assertion" | "step_limit") {
        finding.category = Some(word.replace(' ', "_"));
    }
    finding
}

/// What failed, for people: the machine's word for the kind only where the rest needs it.
pub(super) fn failure_title(head: &str) -> String {
    let (word, said) = head.split_once(": ").unwrap_or((head, ""));
    match (word, said) {
        ("assertion", "") => "an assertion fails".to_owned(),
        ("assertion", said) => format!("an assertion fails: {said}"),
        ("failure", said) if !said.is_empty() => format!("the model fails: {said}"),
        ("step_limit", _) => "a step does not end within the limit of instructions".to_owned(),
        ("null", said) if !said.is_empty() => said.to_owned(),
        (word, "") => word.to_owned(),
        (word, said) => format!("{word}: {said}"),
    }
}

/// Takes the position off the end of a message: `... at file:line:column`.
pub(crate) fn place_in(message: &str) -> Option<(&str, &str)> {
    let (head, place) = message.rsplit_once(" at ")?;
    let mut parts = place.rsplitn(3, ':');
    let numbers = [parts.next()?, parts.next()?];
    let is_number = |text: &&str| text.parse::<u32>().is_ok();
    (numbers.iter().all(is_number) && parts.next().is_some()).then_some((head, place))
}

/// Returns the site of a position written as `file:line:column`.
fn site_at_text(place: &str) -> Site {
    let mut parts = place.rsplitn(3, ':');
    let mut number = || parts.next().and_then(|text| text.parse::<u32>().ok());
    let (column, line) = (number(), number());
    Site { file: parts.next().map(str::to_owned), line, column, ..Site::default() }
}

/// Returns the site of the first instruction of a function that has a position.
fn site_of(model: &Model, function: FuncId) -> Site {
    let program = model.machine.program();
    let sites = program.functions.get(function.index()).map_or(&[][..], |function| &function.sites);
    let known = sites.iter().filter_map(|site| program.sites.get(site.index()));
    let first = known.filter(|site| site.line > 0).min_by_key(|site| (site.line, site.column));
    site_at(model, first.copied())
}

/// Returns a position of the source as a site; without one that of the model as a whole.
pub(in crate::model) fn site_at(model: &Model, site: Option<SourceSite>) -> Site {
    let Some(site) = site else { return nowhere(model) };
    Site {
        file: model.machine.program().files.get(usize::from(site.file)).cloned(),
        line: Some(site.line),
        column: Some(site.column),
        ..Site::default()
    }
}

/// Says what a site is, in the place where races say how they access.
pub(super) fn named(site: Site, what: &str) -> Site {
    Site { access: Some(what.to_owned()), ..site }
}

/// Returns the site of a model as a whole.
pub(super) fn nowhere(model: &Model) -> Site {
    let name = model.machine.program().name.clone();
    Site { file: Some(model.program.name.clone()), label: Some(name), ..Site::default() }
}

/// Returns where the event or task begins that takes a step.
pub(in crate::model) fn site_of_step(model: &Model, action: &Action) -> Site {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_off_messages() {
        assert_eq!(
            place_in("assertion: x at y at a b.any:3:14"),
            Some(("assertion: x at y", "a b.any:3:14"))
        );
        assert_eq!(place_in("assertion: look at this"), None);
        assert_eq!(place_in("x at 3:4"), None);
    }
}
