//! Events: families, guards, and the order in which they may happen.
//!
//! A family becomes one family of the machine. If its members differ in more than the index, it
//! becomes one event for each member ([`crate::check::EventInfo::members`]).

use super::body::Body;
use super::lowerer::{Lowerer, number};
use crate::ast::{EventDecl, ItemKind};
use crate::check::{EventId, EventMember, IndexId, Meaning};
use anyorder_program::{self as program, Reg};

/// Declares all events.
pub(crate) fn declare(low: &mut Lowerer<'_>) {
    let tables = low.tables;
    for (info, decl) in tables.events.iter().zip(low.model.events()) {
        let mut ids = Vec::new();
        for member in &info.members {
            let (name, family) = match member.index {
                Some(index) => (format!("{}[{index}]", info.name), None),
                None => (info.name.clone(), info.family.map(|bounds| family(bounds, info.index))),
            };
            ids.push(add(low, decl, member, &name, family));
        }
        low.events.push(ids);
    }
    for (at, _) in (0..).zip(&tables.events) {
        for (id, member) in low.members(EventId(at)) {
            let of = |named: &[(EventId, usize)]| -> Vec<program::EventId> {
                let id = |(event, at): &(EventId, usize)| low.events.get(event.index())?.get(*at);
                named.iter().filter_map(id).copied().collect()
            };
            let (after, started) = (of(&member.after), of(&member.driven));
            if let Some(event) = low.b.event_mut(id) {
                (event.after, event.started) = (after, started);
            }
        }
    }
}

/// Returns the members of a family of events or threads.
pub(crate) fn family((from, to): (i64, i64), index: Option<IndexId>) -> program::Family {
    let count = u16::try_from(to.saturating_sub(from).max(0)).unwrap_or(u16::MAX);
    program::Family { first: from, count, index: index.map(|id| number(id.0)) }
}

fn add(
    low: &mut Lowerer<'_>,
    decl: &EventDecl,
    member: &EventMember,
    name: &str,
    family: Option<program::Family>,
) -> program::EventId {
    let body = low.b.declare_function();
    let id = low.b.event(name, body);
    let guard = decl.when.as_ref().map(|_| low.b.declare_function());
    if let Some(event) = low.b.event_mut(id) {
        event.guard = guard;
        event.once = member.once;
        event.disabled = decl.disabled;
        event.fair = !decl.unfair;
        event.family = family;
        event.handler = member.handler.map(|(h, at)| (h.into(), number(at)));
    }
    low.b.program_mut().daemons.events.extend(decl.daemon.then_some(id));
    id
}

/// Declares which code belongs to which component.
pub(super) fn components(low: &mut Lowerer<'_>) {
    let model = low.model;
    for item in &model.items {
        let ItemKind::Component { name, members } = &item.kind else { continue };
        let mut component =
            program::Component { name: name.name.clone(), ..program::Component::default() };
        for member in members {
            let program = low.b.program();
            match low.tables.meaning(member.id) {
                Some(Meaning::Event(id)) => {
                    let members = low.members(id).into_iter();
                    let bodies =
                        members.filter_map(|(id, _)| Some(program.events.get(id.index())?.body));
                    component.functions.extend(bodies);
                }
                Some(Meaning::Task(id)) => component.functions.push(low.task(id)),
                Some(Meaning::Function(id)) => component.functions.push(low.function(id)),
                Some(Meaning::Thread(id)) => {
                    let thread = program.threads.get(id.index());
                    component.functions.extend(thread.map(|thread| thread.body));
                }
                _ => {}
            }
        }
        low.b.component(component);
    }
}

/// Lowers guards and bodies.
pub(crate) fn define(low: &mut Lowerer<'_>) {
    for (at, decl) in (0..).zip(low.model.events()) {
        for (id, member) in low.members(EventId(at)) {
            let Some(event) = low.b.program().events.get(id.index()) else { continue };
            let (body, guard, name) = (event.body, event.guard, event.name.clone());
            if let (Some(guard), Some(when)) = (guard, &decl.when) {
                let mut code = start(low, decl, &format!("{name} when"), member);
                code.return_value(when);
                code.define(guard);
            }
            let mut code = start(low, decl, &name, member);
            code.block(&decl.body, None);
            code.define(body);
        }
    }
}

fn start<'l, 'a>(
    low: &'l mut Lowerer<'a>,
    decl: &'a EventDecl,
    name: &str,
    member: &EventMember,
) -> Body<'l, 'a> {
    let is_param = decl.family.is_some() && member.index.is_none();
    let mut code = Body::new(low, name, u16::from(is_param), 0);
    if let Some(f) = &decl.family {
        match member.index {
            Some(value) => code.member = code.local_of(&f.var).map(|id| (id, value)),
            None => code.declare(&f.var, Reg(0)),
        }
    }
    code
}
