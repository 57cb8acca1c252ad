//! Code of triggers: functions that hear of a change and start a run or wake one.

use super::condition::bound_words;
use super::emit::Seen;
use super::facts::{key, zone_state};
use super::program::{Heard, Lower};
use super::template::Var;
use super::tree::Tree;
use crate::place::Severity;
use crate::syntax::{At, Bound, Duration, Match, Trigger, TriggerKind, shown_number};
use anyorder_program::{FuncId, FunctionBuilder, GlobalId, Label, Literal, Op, Reg};

/// What a trigger does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listener {
    /// The function to call: of four texts (id, entity, from, to).
    pub(super) then: FuncId,
    /// The order among those that hear of the same.
    pub(super) rank: u32,
    /// The counter of a run and its value while this is waited for; `None` for what always is.
    pub(super) only: Option<(GlobalId, i32)>,
}

impl Lower<'_> {
    pub(super) fn trigger(&mut self, trigger: &Trigger, listener: Listener) {
        match &trigger.kind {
            TriggerKind::State { entities, attribute, from, to, lasts } => {
                for entity in entities {
                    let key = key(entity, attribute.as_deref());
                    self.on_state(trigger, listener, &key, (from, to), *lasts);
                    if attribute.is_none() && *from == Match::Unsaid && *to == Match::Unsaid {
                        self.on_attributes(trigger, listener, entity);
                    }
                }
            }
            TriggerKind::Zone { entities, zone, enter } => {
                let zone = Match::In(vec![zone_state(zone)]);
                let (from, to) = if *enter { (Match::Any, zone) } else { (zone, Match::Any) };
                for entity in entities {
                    self.on_state(trigger, listener, entity, (&from, &to), None);
                }
            }
            TriggerKind::Numeric { entities, attribute, above, below, template, lasts } => {
                for entity in entities {
                    let key = key(entity, attribute.as_deref());
                    let exact = template.is_none();
                    self.on_number(
                        trigger,
                        listener,
                        &key,
                        (above.as_ref(), below.as_ref()),
                        exact,
                        *lasts,
                    );
                }
            }
            TriggerKind::Template { template, lasts } => {
                self.on_template(trigger, listener, template, *lasts);
            }
            TriggerKind::Sun { event, offset: None } => {
                let (from, to) = if event == "sunset" {
                    ("above_horizon", "below_horizon")
                } else {
                    ("below_horizon", "above_horizon")
                };
                let (from, to) = (Match::In(vec![from.into()]), Match::In(vec![to.into()]));
                self.on_state(trigger, listener, "sun.sun", (&from, &to), None);
            }
            TriggerKind::Sun { event, offset: Some(offset) } => {
                self.outside(&format!("{event} with the offset {offset}"), trigger, listener);
            }
            TriggerKind::Time(times) => {
                for at in times {
                    match at {
                        At::Clock(seconds) => {
                            self.outside(&clock_words(*seconds), trigger, listener)
                        }
                        At::Entity(entity) => {
                            self.outside(&format!("it is the time of {entity}"), trigger, listener);
                        }
                        At::Unknown => {
                            self.outside("it is a time that a template says", trigger, listener)
                        }
                    }
                }
            }
            TriggerKind::Event { types, data } => {
                for name in types {
                    self.outside_event(name, data, trigger, listener);
                }
            }
            TriggerKind::HomeAssistant { event } => {
                self.outside(&format!("Home Assistant: {event}"), trigger, listener);
            }
            TriggerKind::External(words) => self.outside(words, trigger, listener),
            TriggerKind::Disabled => {}
        }
    }

    /// Adds a function that hears of a change: of the old and new value.
    fn hear(&mut self, key: &str, function: FunctionBuilder, listener: Listener) {
        let Some(at) = self.table.get(key) else { return };
        let func = self.b.add(function);
        self.heard[at].push(Heard { func, rank: listener.rank, only: listener.only });
    }

    fn fire(
        &mut self,
        f: &mut FunctionBuilder,
        trigger: &Trigger,
        listener: Listener,
        key: &str,
        (from, to): (Reg, Reg),
    ) {
        let id = self.text_reg(f, &trigger.id);
        let entity = self.text_reg(f, key.split('#').next().unwrap_or(key));
        Self::call(f, listener.then, &[id, entity, from, to]);
    }

    fn matches(&mut self, f: &mut FunctionBuilder, value: Reg, matched: &Match, no: Label) {
        match matched {
            Match::Unsaid | Match::Any => {}
            Match::In(values) => {
                let is = self.is_one_of(f, value, values);
                f.jump_if_not(is, no);
            }
            Match::NotIn(values) => {
                let is = self.is_one_of(f, value, values);
                f.jump_if(is, no);
            }
        }
    }

    fn on_state(
        &mut self,
        trigger: &Trigger,
        listener: Listener,
        key: &str,
        (from, to): (&Match, &Match),
        lasts: Option<Duration>,
    ) {
        let mut f = self.b.function("trigger", 2);
        self.at(&mut f, trigger.place);
        let (old, new) = (f.param(0), f.param(1));
        let end = f.label();
        if let Some((pc, wait)) = listener.only {
            Self::unless_int(&mut f, pc, wait, end);
        }
        let only_from = *to == Match::Unsaid && *from != Match::Unsaid;
        match lasts.map(millis).filter(|millis| *millis != 0) {
            None => {
                self.matches(&mut f, old, from, end);
                self.matches(&mut f, new, to, end);
                self.fire(&mut f, trigger, listener, key, (old, new));
            }
            Some(millis) => {
                // What the timer was started with: the values before and after.
                let before = self.b.global(&format!("timer of {key}: before"), Literal::Null);
                let after = self.b.global(&format!("timer of {key}: after"), Literal::Null);
                let mut g = self.b.function("trigger", 0);
                self.at(&mut g, trigger.place);
                let (was, is) = (Self::get(&mut g, before), Self::get(&mut g, after));
                let nothing = g.value(|dst| Op::Null { dst });
                g.emit(Op::SetGlobal { global: before, src: nothing });
                g.emit(Op::SetGlobal { global: after, src: nothing });
                self.fire(&mut g, trigger, listener, key, (was, is));
                let expire = self.b.add(g);
                let timer = self.timer(millis, expire);
                let keep = f.label();
                let a = Self::get(&mut f, if only_from { before } else { after });
                let same = f.value(|dst| Op::Eq { dst, a, b: new });
                let (stop, start) = (f.label(), f.label());
                if only_from {
                    f.jump_if(same, stop);
                    f.jump(keep);
                } else {
                    f.jump_if(same, keep);
                }
                f.bind(stop);
                let nothing = f.value(|dst| Op::Null { dst });
                f.emit(Op::SetGlobal { global: before, src: nothing });
                f.emit(Op::SetGlobal { global: after, src: nothing });
                self.cancel_timer(&mut f, timer);
                f.bind(keep);
                f.bind(start);
                self.matches(&mut f, old, from, end);
                self.matches(&mut f, new, to, end);
                f.emit(Op::SetGlobal { global: before, src: old });
                f.emit(Op::SetGlobal { global: after, src: new });
                self.start_timer(&mut f, timer);
            }
        }
        f.bind(end);
        self.hear(key, f, listener);
    }

    /// A trigger of all changes hears of attributes, too.
    fn on_attributes(&mut self, trigger: &Trigger, listener: Listener, entity: &str) {
        let prefix = format!("{entity}#");
        let keys: Vec<String> =
            self.table.keys.iter().filter(|k| k.starts_with(&prefix)).cloned().collect();
        for key in keys {
            let mut f = self.b.function("trigger", 2);
            self.at(&mut f, trigger.place);
            let state = match self.table.get(entity) {
                Some(at) => self.state(&mut f, at),
                None => f.value(|dst| Op::Null { dst }),
            };
            self.fire(&mut f, trigger, listener, entity, (state, state));
            self.hear(&key, f, listener);
        }
    }

    fn on_number(
        &mut self,
        trigger: &Trigger,
        listener: Listener,
        key: &str,
        (above, below): (Option<&Bound>, Option<&Bound>),
        exact: bool,
        lasts: Option<Duration>,
    ) {
        let Some(inside) = self.matching(key, above, below).filter(|_| exact) else {
            let bounds = [("above", above), ("below", below)];
            let words = bounds.map(|(word, bound)| {
                bound.map_or(String::new(), |bound| format!(" {word} {}", bound_words(bound)))
            });
            let own = self.written.contains(key);
            let (severity, text) = if own {
                (Severity::Havoc, "what automations set does not start it")
            } else {
                (Severity::Note, "it may fire at any time")
            };
            self.problem(trigger.place, severity, "comparison that is not of constants", text);
            let words = format!("{key} comes{}", words.concat());
            return self.outside(&words, trigger, listener);
        };
        let at = self.table.get(key).unwrap_or_default();
        // It is armed while the number is outside; a text that is no number changes nothing.
        let armed = !inside.contains(&self.table.values[at][0]);
        let armed = self.b.global(&format!("armed for {key}"), Literal::Bool(armed));
        let texts: Vec<String> = self.table.values[at]
            .iter()
            .filter(|value| {
                value.parse::<f64>().is_err()
                    && !["unavailable", "unknown"].contains(&value.as_str())
            })
            .cloned()
            .collect();
        let mut f = self.b.function("trigger", 2);
        self.at(&mut f, trigger.place);
        let (old, new) = (f.param(0), f.param(1));
        let (end, outside) = (f.label(), f.label());
        let text = self.is_one_of(&mut f, new, &texts);
        f.jump_if(text, end);
        let is = self.is_one_of(&mut f, new, &inside);
        f.jump_if_not(is, outside);
        let was = Self::get(&mut f, armed);
        f.jump_if_not(was, end);
        let no = f.value(|dst| Op::Bool { dst, value: false });
        f.emit(Op::SetGlobal { global: armed, src: no });
        let timer = match lasts.map(millis).filter(|millis| *millis != 0) {
            None => {
                self.fire(&mut f, trigger, listener, key, (old, new));
                None
            }
            Some(millis) => {
                let timer = self.later(trigger, listener, key, millis);
                if let Some((pc, wait)) = listener.only {
                    Self::unless_int(&mut f, pc, wait, end);
                }
                self.start_timer(&mut f, timer);
                Some(timer)
            }
        };
        f.jump(end);
        f.bind(outside);
        let yes = f.value(|dst| Op::Bool { dst, value: true });
        f.emit(Op::SetGlobal { global: armed, src: yes });
        if let Some(timer) = timer {
            self.cancel_timer(&mut f, timer);
        }
        f.bind(end);
        self.hear(key, f, listener);
    }

    /// A timer after which a trigger fires with the state of then.
    fn later(&mut self, trigger: &Trigger, listener: Listener, key: &str, millis: i64) -> i32 {
        let mut g = self.b.function("trigger", 0);
        self.at(&mut g, trigger.place);
        let state = match self.table.get(key) {
            Some(at) => self.state(&mut g, at),
            None => g.value(|dst| Op::Null { dst }),
        };
        self.fire(&mut g, trigger, listener, key, (state, state));
        let expire = self.b.add(g);
        self.timer(millis, expire)
    }

    fn on_template(
        &mut self,
        trigger: &Trigger,
        listener: Listener,
        template: &str,
        lasts: Option<Duration>,
    ) {
        let tree = self.tree_of(template, trigger.place);
        let mut keys = Vec::new();
        variables(&tree, &mut keys);
        let first = self.at_start(&tree);
        let last = self.b.global("result of a template", Literal::Bool(first));
        let timer = lasts.map(millis).filter(|m| *m != 0);
        let timer = timer
            .map(|millis| self.later(trigger, listener, keys.first().map_or("", |k| k), millis));
        for key in &keys {
            let mut f = self.b.function("trigger", 2);
            self.at(&mut f, trigger.place);
            let (old, new) = (f.param(0), f.param(1));
            let none = f.value(|dst| Op::Null { dst });
            let seen = Seen { id: none, entity: none, from: none, to: none, wait: None };
            let (yes, no, end) = (f.label(), f.label(), f.label());
            self.test(&mut f, &seen, (template, &tree), yes, no);
            f.bind(yes);
            let was = Self::get(&mut f, last);
            f.jump_if(was, end);
            let is = f.value(|dst| Op::Bool { dst, value: true });
            f.emit(Op::SetGlobal { global: last, src: is });
            match timer {
                Some(timer) => {
                    if let Some((pc, wait)) = listener.only {
                        Self::unless_int(&mut f, pc, wait, end);
                    }
                    self.start_timer(&mut f, timer);
                }
                None => self.fire(&mut f, trigger, listener, key, (old, new)),
            }
            f.jump(end);
            f.bind(no);
            let is = f.value(|dst| Op::Bool { dst, value: false });
            f.emit(Op::SetGlobal { global: last, src: is });
            if let Some(timer) = timer {
                self.cancel_timer(&mut f, timer);
            }
            f.bind(end);
            self.hear(key, f, listener);
        }
        if keys.is_empty() {
            self.outside("a template becomes true", trigger, listener);
        }
    }

    /// Whether a tree is true at the start.
    fn at_start(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Leaf(text) => text.eq_ignore_ascii_case("true"),
            Tree::Unknown(_) => false,
            Tree::Branch(Var::State(key), branches) => {
                let first = self.table.get(key).and_then(|at| self.table.values[at].first());
                branches
                    .iter()
                    .find(|(value, _)| Some(value) == first)
                    .is_some_and(|(_, t)| self.at_start(t))
            }
            Tree::Branch(..) => false,
        }
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    match duration {
        Duration::Known(millis) => millis,
        Duration::Unknown => -1,
    }
}

/// The words of a time of day.
pub(super) fn clock_words(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest == 0 {
        format!("it is {hours:02}:{minutes:02}")
    } else {
        format!("it is {hours:02}:{minutes:02}:{}", shown_number(rest as f64))
    }
}

/// The keys that a tree reads.
pub(super) fn variables(tree: &Tree, keys: &mut Vec<String>) {
    if let Tree::Branch(var, branches) = tree {
        if let Var::State(key) = var
            && !keys.contains(key)
        {
            keys.push(key.clone());
        }
        branches.iter().for_each(|(_, below)| variables(below, keys));
    }
}
