//! Events: families, guards, and the order in which they may happen.
//!
//! A family is one family of the machine. Where its members differ in more than the index (each runs on a handler of its own
//! choice, or one of them is named in an `after` or `driver`), it becomes one event for each member.

use super::body::Body;
use super::declare::size16;
use super::lowerer::Lowerer;
use super::symbols::{EventIds, EventInfo, Symbol};
use super::ty::Ty;
use crate::ast::{EventDecl, ItemKind, Ref};
use crate::diagnostic::Code;
use anyorder_vm::program::{self as vm, EventId, FuncId, Reg};
use std::collections::HashSet;

/// Most members of a family of events or threads.
const MEMBERS_MAX: i64 = 4096;

/// Declares all events.
pub(crate) fn declare<'a>(low: &mut Lowerer<'a>) {
    let model = low.model;
    let single = named_members(low);
    for item in &model.items {
        let ItemKind::Event(decl) = &item.kind else { continue };
        let name = decl.name.name.as_str();
        let ids = match family(low, decl) {
            None => EventIds::One(add(low, decl, name)),
            Some(f) if single.contains(name) => {
                let ids = (0..i64::from(f.count))
                    .map(|i| add(low, decl, &format!("{name}[{}]", f.first.saturating_add(i))))
                    .collect();
                EventIds::Members(f.first, ids)
            }
            Some(f) => {
                let id = add(low, decl, name);
                if let Some(event) = low.b.event_mut(id) {
                    event.family = Some(f);
                }
                EventIds::One(id)
            }
        };
        low.symbols.declare(name, Symbol::Event(low.symbols.events.len()));
        low.symbols.events.push(EventInfo { decl, ids });
    }
    places(low);
    orders(low);
}

/// Which code belongs to which component.
pub(super) fn components(low: &mut Lowerer<'_>) {
    let model = low.model;
    for item in &model.items {
        let ItemKind::Component { name, members: names } = &item.kind else { continue };
        let mut component = vm::Component { name: name.name.clone(), ..vm::Component::default() };
        for member in names {
            match low.symbols.get(&member.name) {
                Some(Symbol::Event(i)) => {
                    let ids = members(&low.symbols.events[i]).into_iter();
                    let events = &low.b.program().events;
                    let bodies = ids.filter_map(|(id, _)| Some(events.get(id.index())?.body));
                    component.functions.extend(bodies);
                }
                Some(Symbol::Task(t)) => component.functions.push(low.symbols.tasks[t].body),
                Some(Symbol::Func(f)) => component.functions.push(low.symbols.funcs[f].id),
                Some(Symbol::Thread(_)) => {
                    let threads = low.b.program().threads.iter();
                    let bodies = threads.filter(|one| one.name == member.name).map(|one| one.body);
                    component.functions.extend(bodies);
                }
                _ => {}
            }
        }
        low.b.component(component);
    }
}

fn add(low: &mut Lowerer<'_>, decl: &EventDecl, name: &str) -> EventId {
    let body = low.b.declare_function();
    let id = low.b.event(name, body);
    let guard = decl.when.as_ref().map(|_| low.b.declare_function());
    if let Some(event) = low.b.event_mut(id) {
        event.guard = guard;
        event.once = decl.once;
        event.disabled = decl.disabled;
        event.fair = !decl.unfair;
    }
    if decl.daemon {
        low.b.program_mut().daemons.events.push(id);
    }
    id
}

/// The families of which single members are named, or whose members run on different handlers.
fn named_members<'a>(low: &Lowerer<'a>) -> HashSet<&'a str> {
    let mut found: HashSet<&'a str> = HashSet::new();
    let mut look = |refs: &'a [Ref]| {
        found.extend(refs.iter().filter(|r| r.index.is_some()).map(|r| r.name.name.as_str()));
    };
    for item in &low.model.items {
        match &item.kind {
            ItemKind::Driver(refs) => look(refs),
            ItemKind::Event(e) => look(&e.after),
            _ => {}
        }
    }
    for item in &low.model.items {
        let ItemKind::Event(e) = &item.kind else { continue };
        let unknown = |r: &Ref| r.index.as_ref().is_some_and(|i| low.folder().int(i).is_none());
        if e.on.as_ref().is_some_and(unknown) || e.after.iter().any(unknown) {
            found.insert(&e.name.name);
        }
    }
    found
}

fn family(low: &mut Lowerer<'_>, decl: &EventDecl) -> Option<vm::Family> {
    let f = decl.family.as_ref()?;
    Some(family_of(low, &f.range))
}

/// The members of a family of events or threads.
pub(crate) fn family_of(low: &mut Lowerer<'_>, range: &crate::ast::Expr) -> vm::Family {
    let bounds = low.folder().range(range);
    let count = bounds.map(|(a, b)| b.saturating_sub(a).max(0)).filter(|n| *n <= MEMBERS_MAX);
    match (bounds, count.and_then(|n| u16::try_from(n).ok())) {
        (Some((first, _)), Some(count)) => {
            let index = low.folder().index(range).map(|(of, _)| of);
            vm::Family { first, count, index }
        }
        _ => {
            let message =
                format!("a family needs a constant range of at most {MEMBERS_MAX} members");
            low.error(Code::CONSTANT, range.span, message);
            vm::Family::default()
        }
    }
}

/// The members of an event with their index values; `None` for what is one event of the machine.
fn members(info: &EventInfo<'_>) -> Vec<(EventId, Option<i64>)> {
    match &info.ids {
        EventIds::One(id) => vec![(*id, None)],
        EventIds::Members(first, ids) => ids.iter().copied().zip((*first..).map(Some)).collect(),
    }
}

/// Gives events their handlers.
fn places(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.events.len() {
        let decl = low.symbols.events[i].decl;
        let Some(on) = &decl.on else { continue };
        for (id, index) in members(&low.symbols.events[i]) {
            let place = place(low, decl, on, index);
            if let Some(event) = low.b.event_mut(id) {
                event.handler = place;
            }
        }
    }
}

fn place(
    low: &mut Lowerer<'_>,
    decl: &EventDecl,
    on: &Ref,
    member: Option<i64>,
) -> Option<(vm::HandlerId, u16)> {
    let Some(Symbol::Handler(h)) = low.symbols.get(&on.name.name) else {
        low.error(Code::WRONG_KIND, on.span, format!("`{}` is no handler", on.name.name));
        return None;
    };
    let (handler, size) = (low.symbols.handlers[h].id, low.symbols.handlers[h].size.unwrap_or(1));
    let index = match &on.index {
        None => Some(0),
        Some(e) => index(low, decl, e, member),
    };
    match index.and_then(|i| u16::try_from(i).ok()).filter(|i| *i < size) {
        Some(i) => Some((handler, i)),
        None => {
            low.error(Code::OUT_OF_RANGE, on.span, "no such handler in the array");
            None
        }
    }
}

/// The value of an index in the declaration of an event, for one member.
fn index(
    low: &Lowerer<'_>,
    decl: &EventDecl,
    e: &crate::ast::Expr,
    member: Option<i64>,
) -> Option<i64> {
    let mut folder = low.folder();
    folder.bound =
        decl.family.as_ref().zip(member).map(|(f, v)| (f.var.name.as_str(), low.member(decl, v)));
    folder.int(e)
}

/// `after` and `driver`.
fn orders(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.events.len() {
        let decl = low.symbols.events[i].decl;
        for (id, member) in members(&low.symbols.events[i]) {
            for r in &decl.after {
                let before = named(low, decl, r, member);
                if let Some(event) = low.b.event_mut(id) {
                    event.after.extend(before);
                }
            }
        }
    }
    let model = low.model;
    for item in &model.items {
        let ItemKind::Driver(refs) = &item.kind else { continue };
        for r in refs {
            let Some(decl) = event_of(low, r) else { continue };
            for id in named(low, decl, r, None) {
                if let Some(event) = low.b.event_mut(id) {
                    event.once = true;
                }
            }
        }
        for pair in refs.windows(2) {
            let (Some(first), Some(second)) = (event_of(low, &pair[0]), event_of(low, &pair[1]))
            else {
                continue;
            };
            let before = named(low, first, &pair[0], None);
            for id in named(low, second, &pair[1], None) {
                if let Some(event) = low.b.event_mut(id) {
                    event.started.extend(before.iter().copied());
                }
            }
        }
    }
}

fn event_of<'a>(low: &Lowerer<'a>, r: &Ref) -> Option<&'a EventDecl> {
    match low.symbols.get(&r.name.name) {
        Some(Symbol::Event(i)) => low.symbols.events.get(i).map(|e| e.decl),
        _ => None,
    }
}

/// The events of the machine that a reference means.
fn named(low: &mut Lowerer<'_>, decl: &EventDecl, r: &Ref, member: Option<i64>) -> Vec<EventId> {
    let Some(Symbol::Event(i)) = low.symbols.get(&r.name.name) else {
        low.error(Code::WRONG_KIND, r.span, format!("`{}` is no event", r.name.name));
        return Vec::new();
    };
    let all = members(&low.symbols.events[i]);
    let Some(e) = &r.index else {
        return all.into_iter().map(|(id, _)| id).collect();
    };
    let wanted = index(low, decl, e, member);
    let found: Vec<EventId> =
        all.into_iter().filter(|(_, v)| v.is_some() && *v == wanted).map(|(id, _)| id).collect();
    if found.is_empty() {
        low.error(Code::OUT_OF_RANGE, r.span, "no such member of the family of events");
    }
    found
}

/// Lowers guards and bodies.
pub(crate) fn define(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.events.len() {
        let decl = low.symbols.events[i].decl;
        for (id, member) in members(&low.symbols.events[i]) {
            let Some(event) = low.b.program().events.get(id.index()) else { continue };
            let (body, guard, name) = (event.body, event.guard, event.name.clone());
            if let (Some(guard), Some(when)) = (guard, &decl.when) {
                let mut code = start(low, decl, &format!("{name} when"), member);
                code.result = Ty::Bool;
                code.return_value(when);
                code.define(guard);
            }
            define_body(low, decl, &name, member, body);
        }
    }
}

fn define_body<'a>(
    low: &mut Lowerer<'a>,
    decl: &'a EventDecl,
    name: &str,
    member: Option<i64>,
    id: FuncId,
) {
    let mut code = start(low, decl, name, member);
    code.block(&decl.body);
    code.define(id);
}

fn start<'l, 'a>(
    low: &'l mut Lowerer<'a>,
    decl: &'a EventDecl,
    name: &str,
    member: Option<i64>,
) -> Body<'l, 'a> {
    let params = size16(usize::from(decl.family.is_some() && member.is_none()));
    let mut code = Body::new(low, name, params, 0);
    if let Some(f) = &decl.family {
        match member {
            Some(value) => code.bound = Some((&f.var.name, code.low.member(decl, value))),
            None => {
                let ty = code.low.member(decl, 0).index.map_or(Ty::Int, Ty::Index);
                code.declare(&f.var.name, Reg(0), ty);
            }
        }
    }
    code
}
