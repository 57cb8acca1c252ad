//! Converts violations of a model into findings: kind, title, sites.

use super::deadlock::DeadlockReport;
use crate::model::Model;
use crate::states::{Described, offers_of, wrong_end};
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::{Property, Violation};
use anyorder_system::{Failure, FailureKind, Offers};
use anyorder_vm::program::{FuncId, SourceSite};
use anyorder_vm::{Action, Machine};

/// Describes a violation.
pub(in crate::model) fn described(model: &Model, violation: &Violation<Machine>) -> Described {
    match &violation.property {
        Property::Failure(message) => {
            Described { finding: failure(model, message), end: Default::default() }
        }
        Property::Deadlock(_) => {
            let deadlock = DeadlockReport::of(model, &violation.path);
            let (title, sites) = (deadlock.title(), deadlock.sites(model));
            let end = deadlock.end(&title).into();
            Described { finding: Finding { title, sites, ..Finding::new(Kind::Deadlock) }, end }
        }
        property => {
            // Only this title depends on what the last state offers.
            let offers = match property {
                Property::Final => offers_of(&*model.machine, violation.path.last()),
                _ => Offers::Nothing,
            };
            Described::of(violation, wrong_end(model, offers), |property| {
                let stated = stated_in(&model.machine, property);
                let sites = stated.map(|function| named(site_of(model, function), "stated"));
                sites.into_iter().collect()
            })
        }
    }
}

/// Returns the function that states a property: its condition, or the trigger of a response.
fn stated_in(machine: &Machine, property: &Property) -> Option<FuncId> {
    match property {
        Property::Response(index) => machine.program().responses.get(*index).map(|one| one.trigger),
        property => condition_of(machine, property),
    }
}

/// Returns the condition whose failure violates a property.
pub(super) fn condition_of(machine: &Machine, property: &Property) -> Option<FuncId> {
    match property {
        Property::Invariant(index) => machine.program().invariants.get(*index).map(|one| one.holds),
        Property::Final => machine.program().final_,
        _ => None,
    }
}

fn failure(model: &Model, failure: &Failure) -> Finding {
    let step_limit = failure.kind == FailureKind::StepLimit;
    let kind = if step_limit { Kind::StepLimit } else { Kind::Assertion };
    let site = failure.site.as_ref().map_or_else(
        || nowhere(model),
        |site| Site {
            file: Some(site.file.clone()),
            line: Some(site.line),
            column: Some(site.column),
            ..Site::default()
        },
    );
    let mut finding = Finding {
        title: failure_title(failure),
        sites: vec![named(site, "failure")],
        ..Finding::new(kind)
    };
    if !matches!(failure.kind, FailureKind::Assertion | FailureKind::StepLimit) {
        finding.category = Some(failure.kind.word().replace(' ', "_"));
    }
    finding
}

/// Describes a failure. Names the kind only if the message needs it.
pub(super) fn failure_title(failure: &Failure) -> String {
    let (word, message) = (failure.kind.word(), failure.message.as_str());
    match (failure.kind, message) {
        (FailureKind::Assertion, "") => "an assertion fails".to_owned(),
        (FailureKind::Assertion, _) => format!("an assertion fails: {message}"),
        (FailureKind::Fail, _) if !message.is_empty() => format!("the model fails: {message}"),
        (FailureKind::StepLimit, _) => {
            "a step does not end within the limit of instructions".to_owned()
        }
        (FailureKind::Null, _) if !message.is_empty() => message.to_owned(),
        (FailureKind::Other, _) => message.to_owned(),
        (_, "") => word.to_owned(),
        _ => format!("{word}: {message}"),
    }
}

/// Returns the site of the first instruction of a function that has a position.
fn site_of(model: &Model, function: FuncId) -> Site {
    let program = model.machine.program();
    let sites = program.functions.get(function.index()).map_or(&[][..], |function| &function.sites);
    let known = sites.iter().filter_map(|site| program.sites.get(site.index()));
    let first = known.filter(|site| site.line > 0).min_by_key(|site| (site.line, site.column));
    site_at(model, first.copied())
}

/// Returns a source position as a site; without a position, the site of the whole model.
pub(in crate::model) fn site_at(model: &Model, site: Option<SourceSite>) -> Site {
    let Some(site) = site else { return nowhere(model) };
    Site {
        file: model.machine.program().files.get(usize::from(site.file)).cloned(),
        line: Some(site.line),
        column: Some(site.column),
        ..Site::default()
    }
}

/// Sets the role of a site, in the field that holds the kind of access for races.
pub(super) fn named(site: Site, what: &str) -> Site {
    Site { access: Some(what.to_owned()), ..site }
}

/// Returns the site of the whole model.
pub(super) fn nowhere(model: &Model) -> Site {
    let name = model.machine.program().name.clone();
    Site { file: Some(model.program.name.clone()), label: Some(name), ..Site::default() }
}

/// Returns the start of the event or task that takes a step.
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
