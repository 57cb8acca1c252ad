//! Code of calls of services.

use super::effect::{Effect, effects};
use super::facts::key;
use super::program::Lower;
use super::step::Fx;
use crate::place::{Place, Severity};
use crate::syntax::{Call, shown_number};
use anyorder_program::{FunctionBuilder, Literal, Op};

impl Lower<'_> {
    pub(super) fn service(&mut self, fx: &mut Fx, call: &Call, place: Place) {
        if call.indirect {
            let text = "an area, a device or a label names entities that are not known";
            self.problem(place, Severity::NotUnderstood, "area, device or label as a target", text);
        }
        if !call.maybe.is_empty() {
            let text = "a template names the entities: any of those in it is assumed";
            self.problem(place, Severity::Havoc, "templated target", text);
            for entity in &call.maybe {
                let one = Call {
                    targets: Some(vec![entity.clone()]),
                    maybe: Vec::new(),
                    target_template: None,
                    indirect: false,
                    ..call.clone()
                };
                let (yes, no) = (fx.f.label(), fx.f.label());
                let question = self.question(&format!("whether it is for {entity}"), place);
                self.either(&mut fx.f, &question, &[], yes, no);
                fx.f.bind(yes);
                self.service(fx, &one, place);
                fx.f.bind(no);
            }
        }
        if call.targets.is_none() {
            let text = "a template names the entities";
            self.problem(place, Severity::NotUnderstood, "templated target", text);
        }
        if call.domain == "script"
            && !matches!(call.service.as_str(), "turn_on" | "turn_off" | "toggle" | "reload")
        {
            let entity = format!("script.{}", call.service);
            match self.part_of(&entity) {
                Some(child) => self.call_script(fx, child),
                None => {
                    let text = format!("`{entity}` is not in the configuration");
                    self.problem(place, Severity::NotUnderstood, "missing script", text);
                }
            }
            return;
        }
        let Some(list) = effects(self.home, call) else {
            let name = format!("{}.{}", call.domain, call.service);
            let text = format!("`{name}` may set the states of its entities to anything");
            self.problem(place, Severity::Havoc, &format!("service {name}"), text);
            let targets = call.targets.clone().unwrap_or_default();
            for entity in targets.iter().flat_map(|target| self.home.members(target)) {
                self.effect(fx, &entity, &Effect::Anything, call, place);
            }
            return;
        };
        for (entity, effect) in list {
            self.effect(fx, &entity, &effect, call, place);
        }
    }

    fn effect(&mut self, fx: &mut Fx, entity: &str, effect: &Effect, call: &Call, place: Place) {
        if self.options.scenario.is_some() && !matches!(effect, Effect::Start) {
            self.log(&mut fx.f, &format!("{}.{} {entity}", call.domain, call.service));
        }
        match effect {
            Effect::Set(value) => {
                let value = self.text_reg(&mut fx.f, value);
                self.assign(&mut fx.f, entity, value);
            }
            Effect::Attribute(name, value) => {
                let value = self.text_reg(&mut fx.f, value);
                self.assign(&mut fx.f, &key(entity, Some(name)), value);
            }
            Effect::Toggle(first, second) => {
                let Some(at) = self.table.get(entity) else { return };
                let now = self.state(&mut fx.f, at);
                let a = self.text_reg(&mut fx.f, first);
                let is = fx.f.value(|dst| Op::Eq { dst, a: now, b: a });
                let (other, end) = (fx.f.label(), fx.f.label());
                fx.f.jump_if(is, other);
                self.assign(&mut fx.f, entity, a);
                fx.f.jump(end);
                fx.f.bind(other);
                let b = self.text_reg(&mut fx.f, second);
                self.assign(&mut fx.f, entity, b);
                fx.f.bind(end);
            }
            Effect::Template(text) => {
                let tree = self.tree_of(text, place);
                let seen = fx.seen;
                let end = fx.f.label();
                let entity = entity.to_owned();
                let is_number = ["input_number", "number"].iter().any(|d| entity.starts_with(d));
                self.tree(&mut fx.f, &seen, &tree, &mut |lower, f, text| {
                    match text {
                        Some(text) => {
                            let number = text.parse::<f64>().ok().filter(|_| is_number);
                            let text = number.map_or_else(|| text.to_owned(), shown_number);
                            let value = lower.text_reg(f, &text);
                            lower.assign(f, &entity, value);
                        }
                        None => lower.anything(f, &entity, place),
                    }
                    f.jump(end);
                });
                fx.f.bind(end);
            }
            Effect::Anything => self.anything(&mut fx.f, entity, place),
            Effect::Start => {
                if let Some(child) = self.part_of(entity) {
                    let none = fx.f.value(|dst| Op::Null { dst });
                    let nobody = fx.f.value(|dst| Op::Int { dst, value: 0 });
                    let start = self.parts[child].start;
                    Self::call(&mut fx.f, start, &[none, none, none, none, nobody]);
                }
            }
            Effect::TurnOn => {
                let on = self.text_reg(&mut fx.f, "on");
                self.assign(&mut fx.f, entity, on);
            }
            Effect::TurnOff => {
                let off = self.text_reg(&mut fx.f, "off");
                if entity.starts_with("automation.") {
                    self.assign(&mut fx.f, entity, off);
                }
                if let Some(child) = self.part_of(entity) {
                    let cancel = self.parts[child].cancel;
                    Self::call(&mut fx.f, cancel, &[]);
                }
            }
            Effect::TimerStart => {
                let Some(timer) = self.timer_of(entity) else { return };
                let active = self.text_reg(&mut fx.f, "active");
                self.assign(&mut fx.f, entity, active);
                self.start_timer(&mut fx.f, timer);
            }
            Effect::TimerCancel => {
                let Some(timer) = self.timer_of(entity) else { return };
                self.cancel_timer(&mut fx.f, timer);
                let idle = self.text_reg(&mut fx.f, "idle");
                self.assign(&mut fx.f, entity, idle);
            }
        }
    }

    /// The timer of a `timer` entity. When it ends, the state is idle, then comes the event.
    fn timer_of(&mut self, entity: &str) -> Option<i32> {
        if let Some(known) = self.helper_timers.get(entity) {
            return Some(*known);
        }
        self.table.get(entity)?;
        let millis = self.home.helpers.get(entity).and_then(|h| h.duration).unwrap_or(-1);
        let mut f = self.b.function("timer ends", 0);
        let idle = self.text_reg(&mut f, "idle");
        self.assign(&mut f, entity, idle);
        self.fire_event(
            &mut f,
            "timer.finished",
            &[("entity_id".to_owned(), Some(entity.to_owned()))],
        );
        let expire = self.b.add(f);
        let timer = self.timer(millis, expire);
        self.helper_timers.insert(entity.to_owned(), timer);
        Some(timer)
    }

    /// Sets a state, if the model has it.
    pub(super) fn assign(
        &mut self,
        f: &mut FunctionBuilder,
        key: &str,
        value: anyorder_program::Reg,
    ) {
        let Some(at) = self.table.get(key) else { return };
        let (global, tell) = (self.states[at], self.tell[at]);
        let old = Self::get(f, global);
        let same = f.value(|dst| Op::Eq { dst, a: old, b: value });
        let wished = self.wished[at];
        if let Some(last) = self.last.get(&at) {
            let (last, current) = (*last, self.current);
            Self::set_int(f, last, current);
        }
        let nothing = f.value(|dst| Op::Null { dst });
        f.emit(Op::SetGlobal { global: wished, src: value });
        f.emit(Op::SetGlobal { global: wished, src: nothing });
        f.emit(Op::SetGlobal { global, src: value });
        let end = f.label();
        f.jump_if(same, end);
        Self::call(f, tell, &[old, value]);
        f.bind(end);
    }

    /// Sets a state to any of its values.
    fn anything(&mut self, f: &mut FunctionBuilder, key: &str, place: Place) {
        let Some(at) = self.table.get(key) else { return };
        let values = self.table.values[at].iter().map(|v| Literal::Str(v.clone())).collect();
        let question = self.question(&format!("what {key} becomes"), place);
        let value = self.unknown(f, &question, values, &[]);
        self.assign(f, key, value);
    }

    fn log(&mut self, f: &mut FunctionBuilder, words: &str) {
        let text = self.text_reg(f, words);
        let log = Self::get(f, self.log);
        Self::method(f, anyorder_program::Builtin::Push, log, &[text]);
        f.emit(Op::SetGlobal { global: self.log, src: log });
    }
}
