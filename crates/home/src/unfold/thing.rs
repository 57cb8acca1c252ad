//! Properties and methods of the platform's objects that are no devices.

use super::run::{Answer, Run};
use super::things::{Found, Thing};
use super::time;
use super::world::{EventKey, Origin, VarKind};
use crate::value::Stored;
use anyorder_groovy::eval::{Value, show};

impl Run<'_, '_> {
    pub(super) fn thing_property(&mut self, thing: &Thing, name: &str) -> Answer {
        match thing {
            Thing::Location => self.location_property(name),
            Thing::Event(event) => self.event_property(event, name),
            Thing::Reading(value) => Some(Ok(match name {
                "date" | "dateCreated" | "rawDateCreated" => {
                    let now = self.now();
                    self.object(Thing::Date(now))
                }
                _ => number_or_text(value, name),
            })),
            Thing::Date(at) => Some(Ok(match name {
                "time" => Value::Long(*at),
                "hours" => Value::Int(i32::try_from(*at / 3_600_000 % 24).unwrap_or(0)),
                "minutes" => Value::Int(i32::try_from(*at / 60_000 % 60).unwrap_or(0)),
                "seconds" => Value::Int(0),
                _ => return self.unsupported(&format!("the property `{name}` of a date")),
            })),
            Thing::Response => Some(Ok(match name {
                "status" => Value::Int(200),
                "success" => Value::Bool(true),
                _ => self.anything("what a server answers"),
            })),
            Thing::Unknown(of) => self.unknown_property(of, name),
            Thing::App => Some(Ok(match name {
                "label" | "name" => Value::text(&self.deeds.world.apps[self.app].name),
                "id" => Value::text(format!("app-{}", self.deeds.world.apps[self.app].name)),
                _ => Value::Null,
            })),
            Thing::Class(class) => match (&**class, name) {
                ("Calendar", _) => Some(Ok(Value::Int(0))),
                _ => self.unsupported(&format!("`{class}.{name}`")),
            },
            Thing::Routines => Some(Ok(Value::list(vec![]))),
            Thing::State | Thing::Random | Thing::Log | Thing::Opaque | Thing::Format(_) => {
                Some(Ok(Value::Null))
            }
        }
    }

    fn location_var(&mut self, name: &str) -> Value {
        let var = self.deeds.world.var(VarKind::Location(name.to_owned()));
        self.read(var).value()
    }

    fn location_property(&mut self, name: &str) -> Answer {
        Some(Ok(match name {
            "mode" | "currentMode" => self.location_var("mode"),
            "modes" => {
                let one = |(id, name): (usize, &String)| {
                    let id = Value::text(id.to_string());
                    Value::map(vec![
                        (Value::text("id"), id),
                        (Value::text("name"), Value::text(name)),
                    ])
                };
                Value::list(self.deeds.world.home.modes.iter().enumerate().map(one).collect())
            }
            "timeZone" => self.object(Thing::Opaque),
            "helloHome" => self.object(Thing::Routines),
            "name" => Value::text("Home"),
            "id" => Value::text("location"),
            "contactBookEnabled" => Value::Bool(false),
            "temperatureScale" => Value::text("F"),
            "latitude" | "longitude" => Value::Int(0),
            "zipCode" => Value::text("10000"),
            "contacts" | "hubs" | "phrases" => Value::list(vec![]),
            "sunrise" | "sunset" => {
                let now = self.now();
                self.object(Thing::Date(time::sun(now, name == "sunrise")))
            }
            _ => return self.unsupported(&format!("`location.{name}`")),
        }))
    }

    fn event_property(&mut self, event: &EventKey, name: &str) -> Answer {
        Some(Ok(match name {
            "name" => Value::text(&event.name),
            "device" => match event.origin {
                Origin::Device(device) => Value::Object(u32::try_from(device).unwrap_or(u32::MAX)),
                Origin::Location | Origin::App(_) => Value::Null,
            },
            "displayName" | "linkText" => match event.origin {
                Origin::Device(device) => Value::text(&self.deeds.world.home.devices[device].name),
                Origin::Location => Value::text("Home"),
                Origin::App(app) => Value::text(&self.deeds.world.apps[app].name),
            },
            "deviceId" => match event.origin {
                Origin::Device(device) => {
                    Value::text(format!("device-{}", self.deeds.world.home.devices[device].name))
                }
                _ => Value::Null,
            },
            "date" | "dateCreated" => {
                let now = self.now();
                self.object(Thing::Date(now))
            }
            "isoDate" => {
                let now = self.now();
                Value::text(time::format(now, "yyyy-MM-dd'T'HH:mm:ss.SSSZ"))
            }
            "isStateChange" | "stateChange" => Value::Bool(true),
            "physical" => Value::Bool(false),
            "digital" => Value::Bool(true),
            "descriptionText" | "description" => {
                Value::text(format!("{} is {}", event.name, event.value))
            }
            "data" | "jsonValue" | "jsonData" => {
                self.anything(&format!("the data of the event {}", event.name))
            }
            "source" => Value::text("DEVICE"),
            "unit" | "hubId" | "locationId" | "installedSmartAppId" | "id" => Value::text(""),
            _ => number_or_text(&event.value, name),
        }))
    }

    pub(super) fn thing_call(&mut self, thing: &Thing, name: &str, arguments: &[Value]) -> Answer {
        let first = arguments.first();
        match (thing, name) {
            (Thing::Log, _) => Some(Ok(Value::Null)),
            (Thing::Unknown(of), _) => self.unknown_call(of, name, arguments),
            (Thing::Class(class), "parseText" | "parse") if class == "JsonSlurper" => {
                self.parsed(first)
            }
            (Thing::Event(_), "isStateChange") => Some(Ok(Value::Bool(true))),
            (Thing::Event(_), "isPhysical") => Some(Ok(Value::Bool(false))),
            (Thing::Event(_), "isDigital") => Some(Ok(Value::Bool(true))),
            (Thing::Location, "setMode") => {
                self.set_mode(first.unwrap_or(&Value::Null));
                Some(Ok(Value::Null))
            }
            (Thing::Location, "currentState" | "currentValue" | "latestValue") => {
                self.location_state(&first.map(show).unwrap_or_default(), name)
            }
            (Thing::Location, "getTimeZone") => Some(Ok(self.object(Thing::Opaque))),
            (Thing::Random, "nextInt") => {
                self.approximated("a random number: one of the first three");
                let bound = match first {
                    Some(Value::Int(bound)) => u16::try_from(*bound).unwrap_or(1),
                    _ => 3,
                };
                let chosen = self.choose(bound.clamp(1, 3));
                Some(Ok(Value::Int(i32::try_from(chosen).unwrap_or(0))))
            }
            (Thing::Routines, "getPhrases") => Some(Ok(Value::list(vec![]))),
            (Thing::Routines, "execute") => {
                self.approximated("a routine of the home: it does nothing here");
                Some(Ok(Value::Null))
            }
            (Thing::State, "remove") => {
                self.set_state(&first.map(show).unwrap_or_default(), &Value::Null);
                Some(Ok(Value::Null))
            }
            (Thing::State, "containsKey") => {
                let name = first.map(show).unwrap_or_default();
                let known = self.state(&name);
                Some(Ok(Value::Bool(!matches!(known, Value::Null))))
            }
            (Thing::State, "get") => Some(Ok(self.state(&first.map(show).unwrap_or_default()))),
            (Thing::State, "put") => {
                let value = arguments.get(1).cloned().unwrap_or(Value::Null);
                self.set_state(&first.map(show).unwrap_or_default(), &value);
                Some(Ok(Value::Null))
            }
            (Thing::Date(at), _) => self.date_call(*at, name, arguments),
            (Thing::Format(_), "setTimeZone") => Some(Ok(Value::Null)),
            (Thing::Format(pattern), "format") => {
                let at = first.and_then(|value| self.moment(value));
                Some(Ok(Value::text(time::format(at.unwrap_or(0), pattern))))
            }
            (Thing::App, "updateLabel" | "updateSetting") => Some(Ok(Value::Null)),
            (Thing::Class(class), "getTimeZone" | "getDefault") if class == "TimeZone" => {
                Some(Ok(self.object(Thing::Opaque)))
            }
            (_, "toString" | "asBoolean") => Some(Ok(Value::text("object"))),
            _ => match getter(name) {
                Some(property) if arguments.is_empty() => self.thing_property(thing, &property),
                _ => self.unsupported(&format!("the method `{name}` of {thing:?}")),
            },
        }
    }

    fn location_state(&mut self, attribute: &str, name: &str) -> Answer {
        let moment = attribute.strip_suffix("Time");
        if let Some(sun) = moment.filter(|sun| matches!(*sun, "sunrise" | "sunset")) {
            let now = self.now();
            let at = time::format(time::sun(now, sun == "sunrise"), "yyyy-MM-dd'T'HH:mm:ss.SSSZ");
            let value = Stored::Text(at);
            let reading = if name == "currentState" {
                self.object(Thing::Reading(value))
            } else {
                value.value()
            };
            return Some(Ok(reading));
        }
        if !matches!(attribute, "mode" | "alarmSystemStatus") {
            return self.unsupported(&format!("`location.{name}(\"{attribute}\")`"));
        }
        let var = self.deeds.world.var(VarKind::Location(attribute.to_owned()));
        let value = self.read(var);
        Some(Ok(if name == "currentState" {
            self.object(Thing::Reading(value))
        } else {
            value.value()
        }))
    }

    fn date_call(&mut self, at: i64, name: &str, arguments: &[Value]) -> Answer {
        let other = match arguments.first() {
            Some(Value::Object(id)) => match self.things.get(*id) {
                Some(Found::Other(Thing::Date(other))) => Some(other),
                _ => None,
            },
            _ => None,
        };
        Some(Ok(match (name, other) {
            ("before", Some(other)) => Value::Bool(at < other),
            ("after", Some(other)) => Value::Bool(at > other),
            ("equals", Some(other)) => Value::Bool(at == other),
            ("compareTo", Some(other)) => Value::Int(at.cmp(&other) as i32),
            ("format", _) => {
                let pattern = arguments.first().map(show).unwrap_or_default();
                Value::text(time::format(at, &pattern))
            }
            ("getTime", _) => Value::Long(at),
            ("toString", _) => Value::text(time::format(at, "EEE MMM dd HH:mm:ss z yyyy")),
            ("clearTime", _) => self.object(Thing::Date(at.div_euclid(86_400_000) * 86_400_000)),
            ("plus" | "minus", None) => match arguments.first() {
                Some(Value::Int(days)) => {
                    let days = i64::from(*days) * if name == "plus" { 1 } else { -1 };
                    self.object(Thing::Date(at + days * 86_400_000))
                }
                _ => return self.unsupported(&format!("`{name}` of a date")),
            },
            _ => match getter(name) {
                Some(property) => return self.thing_property(&Thing::Date(at), &property),
                None => return self.unsupported(&format!("the method `{name}` of a date")),
            },
        }))
    }
}

/// Returns the property that a method reads: `getTime` reads `time`.
fn getter(name: &str) -> Option<String> {
    let mut letters = name.strip_prefix("get")?.chars();
    let first = letters.next()?;
    Some(first.to_lowercase().collect::<String>() + letters.as_str())
}

/// Returns a value as a property of an event: a text, or as a number.
fn number_or_text(value: &Stored, name: &str) -> Value {
    let number = match value {
        Stored::Number(number) => Some(*number),
        Stored::Text(text) => text.parse().ok(),
        _ => None,
    };
    match (name, number) {
        ("value" | "stringValue", _) => Value::text(value.to_string()),
        ("doubleValue" | "floatValue", Some(number)) => {
            Value::Double(number.to_string().parse().unwrap_or(0.0))
        }
        ("integerValue" | "longValue" | "numberValue" | "numericValue", Some(number)) => {
            Stored::Number(number).value()
        }
        _ => Value::Null,
    }
}
