//! What the outside does: changes of devices, the mode, taps, timers that end, time that passes.

use super::emit::Emitter;
use crate::rules::Rule;
use crate::unfold::{EventKey, Origin, VarId, VarKind, World};
use crate::value::Stored;
use anyorder_program::{FuncId, FunctionBuilder, Op, Reg};

/// Returns an event in the platform's words: `contactSensor.contact=open`.
pub(super) fn shown(world: &World<'_>, event: &EventKey) -> String {
    let text = match event.origin {
        Origin::Device(device) => {
            format!("{}.{}={}", world.home.devices[device].name, event.name, event.value)
        }
        Origin::Location if event.value == Stored::from("now") => {
            format!("location.{}", event.name)
        }
        Origin::Location => format!("location.{}={}", event.name, event.value),
        Origin::App(app) => format!("{}.{}", world.apps[app].name, event.name),
    };
    plain(&text)
}

/// Names of events and components are words of schedules: no spaces, no marks of the machine.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(
            |letter| {
                if letter.is_whitespace() || "#/@[],;".contains(letter) { '_' } else { letter }
            },
        )
        .collect()
}

pub(super) fn outside(emitter: &mut Emitter<'_, '_>) {
    for var in 0..emitter.world.vars.len() {
        match emitter.world.vars[var].kind.clone() {
            VarKind::Attribute(device, name) => {
                let origin = Origin::Device(device);
                let facts = &emitter.world.home.devices[device].attributes[&name];
                if !facts.is_outside || !emitter.world.outside.contains(&var) {
                    continue;
                }
                let changed = (!facts.is_press).then_some(var);
                for value in facts.values.clone() {
                    let value = Stored::from(&value);
                    change(emitter, changed, EventKey { origin, name: name.clone(), value });
                }
            }
            VarKind::Location(name) => {
                let origin = Origin::Location;
                let values = if name == "mode" {
                    emitter.world.home.modes.iter().map(|mode| Stored::from(&**mode)).collect()
                } else {
                    ["off", "stay", "away"].map(Stored::from).to_vec()
                };
                for value in values {
                    change(emitter, Some(var), EventKey { origin, name: name.clone(), value });
                }
            }
            VarKind::Timer(app, handler) => timer(emitter, var, app, &handler),
            VarKind::Clock => clock(emitter, var),
            VarKind::State(..) | VarKind::Subscribed(..) | VarKind::Request(..) => {}
        }
    }
    let plain = emitter.world.events.iter().filter(|event| match event.origin {
        Origin::Device(_) => false,
        Origin::Location => event.value == Stored::from("now"),
        Origin::App(_) => true,
    });
    for event in plain.cloned().collect::<Vec<_>>() {
        change(emitter, None, event);
    }
}

/// Adds an event that gives a variable a value, and lets the apps hear of it.
fn change(emitter: &mut Emitter<'_, '_>, var: Option<VarId>, event: EventKey) {
    let name = shown(emitter.world, &event);
    let function = emitter.delivery(&event);
    if var.is_none() && function.is_none() {
        return;
    }
    let mut f = emitter.b.function(&name, 0);
    let mut guard = None;
    if let Some(var) = var {
        let global = emitter.globals[var];
        let constant = emitter.constant(&event.value);
        let value = f.value(|dst| Op::Const { dst, constant });
        f.emit(Op::SetGlobal { global, src: value });
        let mut g = emitter.b.function(&name, 0);
        let old = g.value(|dst| Op::GetGlobal { dst, global });
        let new = g.value(|dst| Op::Const { dst, constant });
        let differs = g.value(|dst| Op::Ne { dst, a: old, b: new });
        emitter.end_guard(&mut g, differs);
        guard = Some(emitter.b.add(g));
    } else if emitter.queue.is_some() {
        let mut g = emitter.b.function(&name, 0);
        let always = g.value(|dst| Op::Bool { dst, value: true });
        emitter.end_guard(&mut g, always);
        guard = Some(emitter.b.add(g));
    }
    if let Some(function) = function {
        let depth = f.value(|dst| Op::Int { dst, value: 0 });
        match &emitter.queue {
            Some(queue) => queue.put(&mut f, &event, depth),
            None => called(emitter, &mut f, function, depth),
        }
    }
    event_of(emitter, &name, f, guard);
}

/// Calls what hears of an event, and checks that it brings no forbidden state about.
pub(super) fn called(
    emitter: &mut Emitter<'_, '_>,
    f: &mut FunctionBuilder,
    function: FuncId,
    depth: Reg,
) {
    let result = f.reg();
    let rules = emitter.options.rules.clone();
    let before: Vec<Option<Reg>> = rules.iter().map(|rule| broken(emitter, f, rule)).collect();
    f.emit(Op::Call { dst: result, func: function, args: depth });
    for (number, (rule, before)) in rules.iter().zip(before).enumerate() {
        let Some(before) = before else { continue };
        let Some(after) = broken(emitter, f, rule) else { continue };
        let fine = f.label();
        f.jump_if(before, fine);
        f.jump_if_not(after, fine);
        f.emit(Op::SetGlobal { global: emitter.breaches[number], src: after });
        f.bind(fine);
        f.emit(Op::Nop);
    }
}

/// Returns whether a rule is broken; `None` if the home has not all that the rule speaks of.
fn broken(emitter: &mut Emitter<'_, '_>, f: &mut FunctionBuilder, rule: &Rule) -> Option<Reg> {
    let mut parts = Vec::new();
    for (attribute, values) in &rule.never {
        let vars = emitter.world.vars_named(attribute);
        if vars.is_empty() {
            return None;
        }
        parts.push((vars, values));
    }
    let result = f.value(|dst| Op::Bool { dst, value: false });
    let (holds_not, value, other) = (f.label(), f.reg(), f.reg());
    for (vars, values) in parts {
        let holds = f.label();
        for var in vars {
            f.emit(Op::GetGlobal { dst: value, global: emitter.globals[var] });
            for one in values {
                let constant = emitter.constant(&Stored::from(&**one));
                f.emit(Op::Const { dst: other, constant });
                f.emit(Op::Eq { dst: other, a: value, b: other });
                f.jump_if(other, holds);
            }
        }
        f.jump(holds_not);
        f.bind(holds);
    }
    f.emit(Op::Bool { dst: result, value: true });
    f.bind(holds_not);
    f.emit(Op::Nop);
    Some(result)
}

fn event_of(
    emitter: &mut Emitter<'_, '_>,
    name: &str,
    body: FunctionBuilder,
    guard: Option<FuncId>,
) {
    let body = emitter.b.add(body);
    let event = emitter.b.event(name, body);
    if let Some(event) = emitter.b.event_mut(event) {
        event.guard = guard;
        event.fair = false;
    }
}

/// Adds the end of a timer. It may come at any time while the timer runs.
fn timer(emitter: &mut Emitter<'_, '_>, var: VarId, app: usize, handler: &str) {
    let name = plain(&format!("{}.{handler}_(timer)", emitter.world.apps[app].name));
    let global = emitter.globals[var];
    let mut g = emitter.b.function(&name, 0);
    let runs = g.value(|dst| Op::GetGlobal { dst, global });
    let off = g.value(|dst| Op::Bool { dst, value: false });
    let differs = g.value(|dst| Op::Ne { dst, a: runs, b: off });
    emitter.end_guard(&mut g, differs);
    let guard = emitter.b.add(g);

    let mut f = emitter.b.function(&name, 0);
    let keep = f.label();
    let runs = f.value(|dst| Op::GetGlobal { dst, global });
    let once = f.value(|dst| Op::Bool { dst, value: true });
    let other = f.value(|dst| Op::Ne { dst, a: runs, b: once });
    f.jump_if(other, keep);
    let off = f.value(|dst| Op::Bool { dst, value: false });
    f.emit(Op::SetGlobal { global, src: off });
    f.bind(keep);
    if let Some(function) = emitter.timer(app, handler) {
        let depth = f.value(|dst| Op::Int { dst, value: 0 });
        called(emitter, &mut f, function, depth);
    }
    event_of(emitter, &name, f, Some(guard));
}

/// Adds the passing of a quarter of a day.
fn clock(emitter: &mut Emitter<'_, '_>, var: VarId) {
    let name = "six_hours_pass";
    let global = emitter.globals[var];
    let last = i32::try_from(emitter.world.vars[var].domain.len()).unwrap_or(1) - 1;
    let mut g = emitter.b.function(name, 0);
    let now = g.value(|dst| Op::GetGlobal { dst, global });
    let end = g.value(|dst| Op::Int { dst, value: last });
    let before = g.value(|dst| Op::Lt { dst, a: now, b: end });
    emitter.end_guard(&mut g, before);
    let guard = emitter.b.add(g);
    let mut f = emitter.b.function(name, 0);
    let now = f.value(|dst| Op::GetGlobal { dst, global });
    let next = f.value(|dst| Op::AddInt { dst, a: now, value: 1 });
    f.emit(Op::SetGlobal { global, src: next });
    event_of(emitter, name, f, Some(guard));
}
