//! Orders of events: `after` and `driver`, and models in which nothing can happen.

use super::body::{Body, BodyKind};
use super::checker::Checker;
use super::model::Meaning;
use crate::ast::{EventDecl, Ident, ItemKind, Ref};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::{HashMap, HashSet};

impl<'a> Checker<'a> {
    /// Checks `after` and `driver`.
    pub(super) fn check_order(&mut self) {
        let model = self.model;
        let mut before: HashMap<&'a str, Vec<&'a Ref>> = HashMap::new();
        let mut something = false;
        for item in &model.items {
            match &item.kind {
                ItemKind::Event(event) => {
                    something = true;
                    self.causes(event);
                    before.entry(&event.name.name).or_default().extend(&event.after);
                }
                ItemKind::Thread(_) | ItemKind::Init(_) | ItemKind::Error => something = true,
                ItemKind::Driver(events) => {
                    self.driver(events);
                    for pair in events.windows(2) {
                        before.entry(&pair[1].name.name).or_default().push(&pair[0]);
                    }
                }
                _ => {}
            }
        }
        self.cycles(&before);
        if let Some(name) = model.name.as_ref().filter(|_| !something) {
            self.report(
                Diagnostic::new(Code::NOTHING_TO_DO, name.span, "nothing can happen in this model")
                    .note("a model needs an `event`, a `thread` or an `init`"),
            );
        }
    }

    fn causes(&mut self, event: &'a EventDecl) {
        self.in_body(Body::of(BodyKind::Constant), |c| {
            c.family_param(event.family.as_ref());
            for cause in &event.after {
                c.events_ref(cause);
            }
        });
    }

    fn driver(&mut self, events: &'a [Ref]) {
        for event in events {
            self.in_body(Body::of(BodyKind::Constant), |c| c.element_ref(event, "event"));
            if let Some((Meaning::Event(id), declared)) =
                self.names.get(event.name.name.as_str()).copied()
                && !self.program.events[id.index()].once
            {
                let name = &event.name.name;
                let message = format!("`{name}` may happen more than once");
                self.report(
                    Diagnostic::new(Code::DRIVER, event.name.span, message)
                        .also(declared, "declared without `once`")
                        .note("a driver is an order of events that happen once"),
                );
            }
        }
    }

    /// Reports events that wait for themselves.
    fn cycles(&mut self, before: &HashMap<&'a str, Vec<&'a Ref>>) {
        let model = self.model;
        let mut done: HashSet<&str> = HashSet::new();
        for item in &model.items {
            let ItemKind::Event(event) = &item.kind else { continue };
            if let Some(cycle) = find_cycle(&event.name, before, &mut done) {
                let message = format!("`{}` waits for itself and never happens", event.name.name);
                let mut diagnostic = Diagnostic::new(Code::DRIVER, event.name.span, message);
                for reference in cycle {
                    diagnostic =
                        diagnostic.also(reference.span, format!("after `{}`", reference.name.name));
                }
                self.report(diagnostic);
            }
        }
    }
}

/// Returns a cycle through `start`, as the references along it. `done` holds finished names. The
/// depth-first search has its own stack, because chains of events may be long.
fn find_cycle<'a>(
    start: &'a Ident,
    before: &HashMap<&'a str, Vec<&'a Ref>>,
    done: &mut HashSet<&'a str>,
) -> Option<Vec<&'a Ref>> {
    if done.contains(start.name.as_str()) || start.name.is_empty() {
        return None;
    }
    // The path of references; each entry counts the causes that were followed.
    let mut path: Vec<(&'a str, Option<&'a Ref>, usize)> = vec![(&start.name, None, 0)];
    let mut on_path: HashSet<&'a str> = [start.name.as_str()].into();
    while let Some((name, _, next)) = path.last_mut() {
        let causes = before.get(name).map_or(&[][..], Vec::as_slice);
        let Some(cause) = causes.get(*next) else {
            done.insert(name);
            on_path.remove(name);
            path.pop();
            continue;
        };
        *next += 1;
        let to = cause.name.name.as_str();
        // Members of a family are events of their own: only a cycle of plain names is certain.
        if cause.index.is_some() || done.contains(to) {
            continue;
        }
        if on_path.contains(to) {
            let from = path.iter().position(|(name, _, _)| *name == to).unwrap_or(0);
            let mut cycle: Vec<&Ref> =
                path[from..].iter().skip(1).filter_map(|(_, r, _)| *r).collect();
            cycle.push(cause);
            done.extend(path.iter().map(|(name, _, _)| *name));
            return Some(cycle);
        }
        on_path.insert(to);
        path.push((to, Some(cause), 0));
    }
    None
}
