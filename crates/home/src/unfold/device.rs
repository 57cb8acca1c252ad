//! What apps read of devices and tell them.

use super::run::{ACTIONS_MAX, Answer, Run};
use super::things::Thing;
use super::world::{EventKey, Origin, VarKind};
use crate::app::entries;
use crate::capability::Effect;
use crate::value::Stored;
use anyorder_groovy::eval::{Stop, Value};

/// Methods of devices that change nothing that apps can read.
const SILENT: &[&str] = &["poll", "refresh", "ping", "configure", "sendEvent", "initialize"];

impl Run<'_, '_> {
    /// Reads an attribute by its name, in any case of letters.
    fn attribute(&mut self, device: usize, name: &str) -> Option<Stored> {
        let attributes = &self.deeds.world.home.devices[device].attributes;
        let known = attributes.keys().find(|known| known.eq_ignore_ascii_case(name))?.clone();
        let var = self.deeds.world.var(VarKind::Attribute(device, known));
        Some(self.read(var))
    }

    /// Something that the table does not have: it has no effect, and null is its value.
    fn missing(&mut self, device: usize, what: &str) -> Answer {
        let name = &self.deeds.world.home.devices[device].name;
        let text = format!("`{what}` of a device with {name}, which the table does not have");
        self.unknown(&text);
        Some(Ok(Value::Null))
    }

    pub(super) fn device_property(&mut self, device: usize, name: &str) -> Answer {
        let facts = &self.deeds.world.home.devices[device];
        Some(Ok(match name {
            "displayName" | "label" | "name" => Value::text(&facts.name),
            "id" | "deviceNetworkId" => {
                Value::text(format!("device-{}", self.deeds.world.home.devices[device].name))
            }
            "0" => Value::Object(u32::try_from(device).unwrap_or(u32::MAX)),
            "hub" | "data" | "typeName" | "manufacturerName" | "modelName" => Value::Null,
            "capabilities" => {
                let one =
                    |name: &String| Value::map(vec![(Value::text("name"), Value::text(name))]);
                Value::list(facts.capabilities.iter().map(one).collect())
            }
            "supportedAttributes" => {
                let one =
                    |name: &String| Value::map(vec![(Value::text("name"), Value::text(name))]);
                Value::list(facts.attributes.keys().map(one).collect())
            }
            "supportedCommands" => {
                let one =
                    |name: &String| Value::map(vec![(Value::text("name"), Value::text(name))]);
                Value::list(facts.commands.keys().map(one).collect())
            }
            _ => {
                if let Some(value) =
                    name.strip_prefix("current").and_then(|name| self.attribute(device, name))
                {
                    return Some(Ok(value.value()));
                }
                if let Some(value) =
                    name.strip_suffix("State").and_then(|name| self.attribute(device, name))
                {
                    return Some(Ok(self.object(Thing::Reading(value))));
                }
                match self.attribute(device, name) {
                    Some(value) => value.value(),
                    None => return self.missing(device, name),
                }
            }
        }))
    }

    pub(super) fn device_call(&mut self, device: usize, name: &str, arguments: &[Value]) -> Answer {
        let facts = &self.deeds.world.home.devices[device];
        let first = arguments.first().map(anyorder_groovy::eval::show).unwrap_or_default();
        if let Some(effects) = facts.commands.get(name).cloned() {
            if self.deeds.path.len() > ACTIONS_MAX {
                return Some(Err(Stop::Limit("reads and effects")));
            }
            self.command(device, &effects, arguments);
            return Some(Ok(Value::Null));
        }
        Some(Ok(match name {
            "currentValue" | "latestValue" => match self.attribute(device, &first) {
                Some(value) => value.value(),
                None => return self.missing(device, &first),
            },
            "currentState" | "latestState" => match self.attribute(device, &first) {
                Some(value) => self.object(Thing::Reading(value)),
                None => return self.missing(device, &first),
            },
            "hasCapability" => {
                let same = |known: &String| {
                    known.eq_ignore_ascii_case(&first.split(' ').collect::<String>())
                };
                Value::Bool(facts.capabilities.iter().any(same))
            }
            "hasAttribute" => Value::Bool(facts.attributes.contains_key(&first)),
            "hasCommand" => Value::Bool(facts.commands.contains_key(&first)),
            "events" | "eventsSince" | "eventsBetween" | "statesSince" | "statesBetween" => {
                self.history(device)
            }
            "getDataValue" => Value::Null,
            "size" => Value::Int(1),
            "first" | "last" => Value::Object(u32::try_from(device).unwrap_or(u32::MAX)),
            _ if SILENT.contains(&name) => Value::Null,
            "toString" | "getDisplayName" | "getLabel" | "getName" => Value::text(&facts.name),
            "getId" => {
                Value::text(format!("device-{}", self.deeds.world.home.devices[device].name))
            }
            "equals" => Value::Bool(arguments.first().is_some_and(
                |other| matches!(other, Value::Object(other) if *other as usize == device),
            )),
            _ => {
                let property = name.strip_prefix("get").and_then(|rest| {
                    let mut letters = rest.chars();
                    let first = letters.next()?;
                    Some(first.to_lowercase().collect::<String>() + letters.as_str())
                });
                match property {
                    Some(property) => return self.device_property(device, &property),
                    None => return self.missing(device, &format!("{name}()")),
                }
            }
        }))
    }

    /// Returns recent events of a device: none, or one with a value that its first attribute has.
    fn history(&mut self, device: usize) -> Value {
        self.approximated("the history of a device: no event, or one");
        let attributes = &self.deeds.world.home.devices[device].attributes;
        let Some(name) = attributes.keys().next().cloned() else { return Value::list(vec![]) };
        if self.choose(2) == 0 {
            return Value::list(vec![]);
        }
        let value = self.attribute(device, &name).unwrap_or_default();
        let event = EventKey { origin: Origin::Device(device), name, value };
        let event = self.object(Thing::Event(event));
        Value::list(vec![event])
    }

    /// Returns the value that a command is given.
    fn given(&mut self, value: &Value) -> Option<Stored> {
        let stored = Stored::of(value);
        if stored.is_none() {
            self.unknown("a command with a value that is not known");
        }
        stored
    }

    /// Carries a command out: at once, also where it has a delay.
    fn command(&mut self, device: usize, effects: &[(String, Effect)], arguments: &[Value]) {
        let plain: Vec<&Value> = match arguments.first() {
            Some(Value::Map(_)) if arguments.len() > 1 => arguments.iter().skip(1).collect(),
            _ => arguments.iter().collect(),
        };
        for (name, effect) in effects {
            let value = match effect {
                Effect::Value(value) => Some(Stored::from(value)),
                Effect::Argument(at) => plain.get(*at).and_then(|value| self.given(value)),
                Effect::Entry(at, entry) => {
                    let argument = arguments.get(*at);
                    match argument.and_then(entries) {
                        Some(map) => map.get(entry).and_then(|value| self.given(value)),
                        None => argument.and_then(|value| self.given(value)).and(None),
                    }
                }
            };
            let facts = &self.deeds.world.home.devices[device].attributes[name];
            let (is_press, is_number) = (facts.is_press, facts.is_number());
            let Some(value) = value.map(|value| fitting(value, is_number)) else { continue };
            let origin = Origin::Device(device);
            if is_press {
                self.emit(EventKey { origin, name: name.clone(), value });
                continue;
            }
            let var = self.deeds.world.var(VarKind::Attribute(device, name.clone()));
            self.update(var, origin, name, &value);
        }
    }
}

/// Returns a value in the type of its attribute: numbers may come as texts.
fn fitting(value: Stored, is_number: bool) -> Stored {
    match value {
        Stored::Text(text) if is_number => match text.trim().parse() {
            Ok(number) => Stored::Number(number),
            Err(_) => Stored::Text(text),
        },
        other => other,
    }
}
