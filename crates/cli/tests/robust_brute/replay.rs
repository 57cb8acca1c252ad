//! Follows the schedule of a finding on the interpreter.

use crate::ast::Model;
use crate::machine::{Actor, Fault, Id, Posted, State, Step, initial, steps};
use crate::states::{Outcome, is_quiet, memory, places};
use crate::truth::Truth;
use serde_json::Value;
use std::collections::BTreeMap;

/// Most ways to follow a schedule: the number of an alternative is not compared.
const WAYS: usize = 200;

/// A way to follow a schedule.
#[derive(Clone)]
struct Way {
    state: State,
    /// The invocations, by their names in schedules.
    names: BTreeMap<String, Id>,
    failed: Option<Fault>,
}

/// Follows a schedule. Returns what is wrong with it, if anything. One that is harmful has to end
/// with an outcome that no serial run has.
pub(crate) fn follow(
    model: &Model,
    truth: &Truth,
    choices: &Value,
    harmful: bool,
) -> Option<String> {
    let choices: Vec<&str> =
        choices.as_array()?.iter().filter_map(|choice| choice["task"].as_str()).collect();
    let mut left = choices.iter().peekable();
    let begun = initial(&truth.program);
    let mut ways: Vec<Way> = begun.into_iter().filter_map(|step| first(model, step)).collect();
    // The choice of `init` has a step of its own, if there is more than one.
    left.next_if(|name| **name == "init");
    for name in left {
        let mut next = Vec::new();
        for way in &ways {
            let Some(actor) = actor(model, truth, way, name) else { continue };
            if way.failed.is_none() && is_allowed(truth, way, &actor) {
                let steps = steps(&truth.program, &way.state, &actor);
                next.extend(steps.into_iter().map(|step| after(model, way, name, step)));
            }
        }
        next.truncate(WAYS);
        if next.is_empty() {
            return Some("a schedule that cannot be followed".to_owned());
        }
        ways = next;
    }
    let shows = |way: &Way| match &way.failed {
        Some(fault) => !truth.serial.all.contains(&Outcome::Failure(fault.clone())),
        None if is_quiet(&way.state) => {
            let memory = memory(&truth.program, &way.state);
            !truth.serial.all.contains(&Outcome::Memory(memory))
        }
        None => places(&truth.program, &way.state).is_some_and(|places| truth.is_added(&places)),
    };
    if harmful && truth.serial.complete && !ways.iter().any(shows) {
        return Some("a harmful run that ends as a serial one".to_owned());
    }
    None
}

fn is_allowed(truth: &Truth, way: &Way, actor: &Actor) -> bool {
    crate::machine::actors(&truth.program, &way.state, u8::MAX).contains(actor)
}

fn first(model: &Model, step: Step) -> Option<Way> {
    let state = step.next.ok()?;
    let mut names = BTreeMap::new();
    name_posted(model, "init", &step.log.posted, &mut names);
    Some(Way { state, names, failed: None })
}

/// Names what a step posts. What the same step takes back again has a name, too.
fn name_posted(model: &Model, step: &str, posted: &[Posted], names: &mut BTreeMap<String, Id>) {
    for (at, one) in posted.iter().enumerate() {
        let ordinal = posted[..at].iter().filter(|other| other.code == one.code).count();
        names.insert(child(step, &model.codes[one.code].name, ordinal), one.id.clone());
    }
}

/// The name of what a step posts.
fn child(step: &str, code: &str, ordinal: usize) -> String {
    match ordinal {
        0 => format!("{step}/{code}"),
        _ => format!("{step}/{code}#{ordinal}"),
    }
}

/// Who takes the step of a name.
fn actor(model: &Model, truth: &Truth, way: &Way, name: &str) -> Option<Actor> {
    let (parent, last) = name.rsplit_once('/').unwrap_or(("", name));
    if last.starts_with("step#") {
        return way.names.get(parent).cloned().map(Actor::Continue);
    }
    if !parent.is_empty() {
        return way.names.get(name).cloned().map(Actor::Take);
    }
    let event = last.split('#').next()?;
    let is = |at: &usize| {
        let info = &truth.program.members[*at];
        let name = &model.events[info.event].name;
        event == info.parameter.map_or(name.clone(), |at| format!("{name}@{at}"))
    };
    (0..truth.program.members.len()).find(is).map(Actor::Start)
}

fn after(model: &Model, way: &Way, name: &str, step: Step) -> Way {
    let mut next = way.clone();
    next.names.insert(name.to_owned(), step.id.clone());
    match step.next {
        Err(fault) => next.failed = Some(fault),
        Ok(state) => {
            name_posted(model, name, &step.log.posted, &mut next.names);
            next.state = state;
        }
    }
    next
}
