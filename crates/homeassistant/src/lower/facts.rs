//! What an automation reads and writes, and the values that it compares with.

use super::effect::{Effect, effects};
use super::template::mentions;
use crate::syntax::{
    Action, ActionKind, At, Automation, Bound, Condition, ConditionKind, Count, Home, Match,
    Trigger, TriggerKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a part of a home does with states. A key is an entity, or `entity#attribute`.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Values that are compared with or written, by key.
    pub values: BTreeMap<String, BTreeSet<String>>,
    /// Numbers that are compared with, by key, in thousandths.
    pub cuts: BTreeMap<String, BTreeSet<i64>>,
    /// Keys whose changes start it or wake it.
    pub triggers: BTreeSet<String>,
    /// Keys that it reads.
    pub reads: BTreeSet<String>,
    /// Keys that it writes, with the values; "" for one that is not known.
    pub writes: BTreeMap<String, BTreeSet<String>>,
    /// Scripts and automations that it starts, ends or calls.
    pub runs: BTreeSet<String>,
    /// The values that conditions want, by key, for a good first state.
    pub wanted: BTreeMap<String, String>,
    /// The values that triggers of states want, by key.
    pub awaited: BTreeMap<String, String>,
    /// Times of day in seconds.
    pub times: BTreeSet<i64>,
    /// Those of them at which something starts.
    pub alarms: BTreeSet<i64>,
    /// Whether it waits.
    pub waits: bool,
}

impl Facts {
    /// Adds those of another part.
    pub fn add(&mut self, other: &Facts) {
        let sets = |to: &mut BTreeMap<String, BTreeSet<String>>,
                    from: &BTreeMap<String, BTreeSet<String>>| {
            for (key, values) in from {
                to.entry(key.clone()).or_default().extend(values.iter().cloned());
            }
        };
        sets(&mut self.values, &other.values);
        sets(&mut self.writes, &other.writes);
        for (key, cuts) in &other.cuts {
            self.cuts.entry(key.clone()).or_default().extend(cuts);
        }
        self.triggers.extend(other.triggers.iter().cloned());
        self.reads.extend(other.reads.iter().cloned());
        self.runs.extend(other.runs.iter().cloned());
        self.times.extend(&other.times);
        self.alarms.extend(&other.alarms);
        self.waits |= other.waits;
        for (key, value) in &other.wanted {
            self.wanted.entry(key.clone()).or_insert_with(|| value.clone());
        }
        for (key, value) in &other.awaited {
            self.awaited.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }

    fn value(&mut self, key: &str, value: &str) {
        self.values.entry(key.to_owned()).or_default().insert(value.to_owned());
    }

    fn read(&mut self, key: &str) {
        self.reads.insert(key.to_owned());
    }
}

/// Returns the key of an entity or of one of its attributes.
pub(crate) fn key(entity: &str, attribute: Option<&str>) -> String {
    attribute.map_or_else(|| entity.to_owned(), |attribute| format!("{entity}#{attribute}"))
}

/// Returns the facts of an automation or script. Linear in its size.
#[must_use]
pub fn facts_of(home: &Home, automation: &Automation) -> Facts {
    let mut facts = Facts::default();
    for trigger in &automation.triggers {
        of_trigger(&mut facts, trigger, true);
    }
    let mut walk = Walk { home, facts };
    walk.conditions(&automation.conditions, true);
    for (_, value) in &automation.variables {
        if let Some(text) = value.scalar() {
            walk.template(&text);
        }
    }
    walk.actions(&automation.actions);
    walk.facts
}

fn of_match(facts: &mut Facts, key: &str, matched: &Match) {
    if let Match::In(values) | Match::NotIn(values) = matched {
        values.iter().for_each(|value| facts.value(key, value));
    }
}

fn cut(facts: &mut Facts, key: &str, bound: Option<&Bound>) {
    match bound {
        Some(Bound::Number(value)) => {
            facts.cuts.entry(key.to_owned()).or_default().insert((value * 1000.0) as i64);
        }
        Some(Bound::Entity(_)) | None => {}
    }
}

pub(super) fn of_trigger(facts: &mut Facts, trigger: &Trigger, starts: bool) {
    match &trigger.kind {
        TriggerKind::State { entities, attribute, from, to, .. } => {
            for entity in entities {
                let key = key(entity, attribute.as_deref());
                facts.triggers.insert(key.clone());
                of_match(facts, &key, from);
                of_match(facts, &key, to);
                if let (Match::In(values), true) = (to, starts)
                    && let Some(first) = values.first()
                {
                    facts.awaited.entry(key.clone()).or_insert_with(|| first.clone());
                }
            }
        }
        TriggerKind::Numeric { entities, attribute, above, below, .. } => {
            for entity in entities {
                let key = key(entity, attribute.as_deref());
                facts.triggers.insert(key.clone());
                cut(facts, &key, above.as_ref());
                cut(facts, &key, below.as_ref());
            }
        }
        TriggerKind::Zone { entities, zone, .. } => {
            for entity in entities {
                facts.triggers.insert(entity.clone());
                facts.value(entity, &zone_state(zone));
            }
        }
        TriggerKind::Template { template, .. } => {
            let found = mentions(template);
            facts.triggers.extend(found.entities.iter().cloned());
            let mut walk = Mention { facts };
            walk.add(&found);
        }
        TriggerKind::Sun { offset: None, .. } => {
            facts.triggers.insert("sun.sun".to_owned());
        }
        TriggerKind::Time(times) => {
            for at in times {
                if let At::Clock(seconds) = at {
                    facts.times.insert(*seconds);
                    facts.alarms.insert(*seconds);
                }
            }
        }
        _ => {}
    }
}

/// The state of a person in a zone.
pub(super) fn zone_state(zone: &str) -> String {
    zone.strip_prefix("zone.").unwrap_or(zone).to_owned()
}

struct Mention<'f> {
    facts: &'f mut Facts,
}

impl Mention<'_> {
    fn add(&mut self, found: &super::template::Mentions) {
        for entity in &found.entities {
            self.facts.read(entity);
            for text in &found.texts {
                self.facts.value(entity, text);
            }
            for number in &found.numbers {
                self.facts.cuts.entry(entity.clone()).or_default().insert((number * 1000.0) as i64);
            }
        }
    }
}

struct Walk<'h> {
    home: &'h Home,
    facts: Facts,
}

impl Walk<'_> {
    fn template(&mut self, text: &str) {
        Mention { facts: &mut self.facts }.add(&mentions(text));
    }

    fn conditions(&mut self, list: &[Condition], wanted: bool) {
        list.iter().for_each(|condition| self.condition(condition, wanted));
    }

    fn condition(&mut self, condition: &Condition, wanted: bool) {
        match &condition.kind {
            ConditionKind::And(list) | ConditionKind::Or(list) => self.conditions(list, wanted),
            ConditionKind::Not(list) => self.conditions(list, false),
            ConditionKind::State { entities, attribute, states, .. } => {
                for entity in entities {
                    let key = key(entity, attribute.as_deref());
                    self.facts.read(&key);
                    states.iter().for_each(|state| self.facts.value(&key, state));
                    if let (Some(first), true) = (states.first(), wanted) {
                        self.facts.wanted.entry(key).or_insert_with(|| first.clone());
                    }
                }
            }
            ConditionKind::Numeric { entities, attribute, above, below, .. } => {
                for entity in entities {
                    let key = key(entity, attribute.as_deref());
                    self.facts.read(&key);
                    cut(&mut self.facts, &key, above.as_ref());
                    cut(&mut self.facts, &key, below.as_ref());
                }
            }
            ConditionKind::Template(text) => self.template(text),
            ConditionKind::Zone { entities, zones } => {
                for entity in entities {
                    self.facts.read(entity);
                    zones.iter().for_each(|zone| self.facts.value(entity, &zone_state(zone)));
                }
            }
            ConditionKind::Time { after, before, .. } => {
                for at in [after, before].into_iter().flatten() {
                    if let At::Clock(seconds) = at {
                        self.facts.times.insert(*seconds);
                    }
                }
            }
            _ => {}
        }
    }

    fn actions(&mut self, list: &[Action]) {
        list.iter().for_each(|action| self.action(action));
    }

    fn action(&mut self, action: &Action) {
        match &action.kind {
            ActionKind::Call(call) => self.call(call),
            ActionKind::Choose { branches, default } => {
                for branch in branches {
                    self.conditions(&branch.conditions, true);
                    self.actions(&branch.sequence);
                }
                self.actions(default.as_deref().unwrap_or_default());
            }
            ActionKind::If { conditions, then, otherwise } => {
                self.conditions(conditions, true);
                self.actions(then);
                self.actions(otherwise);
            }
            ActionKind::Repeat(repeat) => {
                if let Count::While(list) | Count::Until(list) = &repeat.count {
                    self.conditions(list, false);
                    self.facts.waits = true;
                }
                self.actions(&repeat.sequence);
            }
            ActionKind::WaitTrigger { triggers, .. } => {
                self.facts.waits = true;
                triggers.iter().for_each(|t| of_trigger(&mut self.facts, t, false));
            }
            ActionKind::WaitTemplate { template, .. } => {
                self.facts.waits = true;
                self.template(template);
                self.facts.triggers.extend(mentions(template).entities);
            }
            ActionKind::Delay(_) => self.facts.waits = true,
            ActionKind::Parallel(branches) => {
                self.facts.waits = true;
                branches.iter().for_each(|branch| self.actions(branch));
            }
            ActionKind::Sequence(list) => self.actions(list),
            ActionKind::Condition(condition) => self.condition(condition, true),
            ActionKind::Variables(list) => {
                for (_, value) in list {
                    if let Some(text) = value.scalar() {
                        self.template(&text);
                    }
                }
            }
            ActionKind::Event { .. } | ActionKind::Stop | ActionKind::Nothing => {}
        }
    }

    fn call(&mut self, call: &crate::syntax::Call) {
        if !call.maybe.is_empty() {
            let targets = Some(call.maybe.clone());
            self.call(&crate::syntax::Call { targets, maybe: Vec::new(), ..call.clone() });
        }
        if call.domain == "script" {
            self.facts.runs.insert(format!("script.{}", call.service));
        }
        let known = effects(self.home, call);
        let unknown: Vec<(String, Effect)> = match &known {
            Some(_) => Vec::new(),
            None => {
                let targets = call.targets.clone().unwrap_or_default();
                let members = targets.iter().flat_map(|t| self.home.members(t));
                members.map(|target| (target, Effect::Anything)).collect()
            }
        };
        let mut runs = Vec::new();
        for (entity, effect) in known.unwrap_or(unknown) {
            let mut write = |key: String, value: &str| {
                if !value.is_empty() {
                    self.facts.value(&key, value);
                }
                self.facts.writes.entry(key).or_default().insert(value.to_owned());
            };
            match effect {
                Effect::Set(value) => write(entity, &value),
                Effect::Attribute(name, value) => write(key(&entity, Some(&name)), &value),
                Effect::Toggle(a, b) => {
                    write(entity.clone(), a);
                    write(entity, b);
                }
                Effect::Template(text) => {
                    write(entity, "");
                    self.template(&text);
                }
                Effect::Anything => write(entity, ""),
                Effect::Start => {
                    runs.push(entity);
                }
                Effect::TurnOff => {
                    runs.push(entity.clone());
                    write(entity, "off");
                }
                Effect::TurnOn => write(entity, "on"),
                Effect::TimerStart => write(entity, "active"),
                Effect::TimerCancel => write(entity, "idle"),
            }
        }
        self.facts.runs.extend(runs);
    }
}
