//! The objects of the platform: what apps read of them, and call.

use super::kept::{Happened, Held, Kept};
use super::platform::{DATA, NOW, json};
use super::run::{Answer, Run, number_of, throw, unsupported};
use anyorder_groovy::eval::{Stop, Value, show};

/// Returns maps with one text each.
fn maps(key: &str, texts: &[&str]) -> Value {
    let one = |text: &&str| Value::map(vec![(Value::text(key), Value::text(text))]);
    Value::list(texts.iter().map(one).collect())
}

impl Run<'_> {
    pub(super) fn thing_property(&mut self, held: &Held, name: &str) -> Answer {
        match held {
            Held::Group(device) => self.device_property(*device, false, name),
            Held::Item(device) => self.device_property(*device, true, name),
            Held::Location => self.location(name),
            Held::App => Some(Ok(match name {
                "id" => Value::text("appID0"),
                "label" | "name" => Value::text("app0"),
                _ => return None,
            })),
            Held::Routines => (name == "phrases").then(|| Ok(phrases())),
            Held::Event(event) => self.event(event, name),
            Held::Date(at) => self.date(*at, &anyorder_groovy::eval::getter(name), &[]),
            Held::TimeZone
            | Held::Method(..)
            | Held::This(_)
            | Held::Class(_)
            | Held::Format(_)
            | Held::Opaque(_)
            | Held::Log => Some(unsupported(&format!("the property `{name}`"))),
        }
    }

    fn location(&mut self, name: &str) -> Answer {
        Some(Ok(match name {
            "mode" => {
                let mode = self.value(&self.mode.clone());
                if let Value::Text(text) = &mode {
                    self.mode_text = Some(text.clone());
                }
                mode
            }
            "locationMode" => self.value(&self.location_mode.clone()),
            "modes" => {
                let modes = maps("name", &["home", "away", "night"]);
                if let Value::List(list) = &modes {
                    self.modes = Some(list.clone());
                }
                modes
            }
            "helloHome" => self.object(Held::Routines),
            "contactBookEnabled" => Value::Int(1),
            "contacts" => Value::list(vec![Value::text("AJ")]),
            "phoneNumbers" => Value::list(vec![Value::Long(9_495_379_373)]),
            "timeZone" => self.object(Held::TimeZone),
            "name" => Value::text("hub0"),
            "temperatureScale" => Value::text("F"),
            "hubs" => {
                let id = (Value::text("id"), Value::Int(0));
                let address = (Value::text("localIP"), Value::text("128.195.204.105"));
                Value::list(vec![Value::map(vec![id, address])])
            }
            _ => return None,
        }))
    }

    fn event(&mut self, event: &Happened, name: &str) -> Answer {
        let number = match &event.value {
            Kept::Text(text) if super::run::is_number(&event.name) => number_of(text),
            _ => None,
        };
        Some(Ok(match name {
            "value" => self.value(&event.value),
            "name" => Value::text(&event.name),
            "deviceId" => Value::text(&event.device),
            "linkText" | "displayName" | "descriptionText" | "unit" => Value::text(""),
            "displayed" | "physical" => Value::Bool(true),
            "isStateChange" => Value::Bool(false),
            "isManualTransaction" => Value::Bool(event.is_manual),
            "data" => Value::text(event.data.as_deref().unwrap_or(DATA)),
            "jsonData" => return Some(json(event.data.as_deref().unwrap_or(DATA))),
            "integerValue" => Value::Int(number.unwrap_or(0)),
            "doubleValue" => Value::Double(f64::from(number.unwrap_or(0))),
            "date" => self.object(Held::Date(NOW)),
            _ => return None,
        }))
    }

    /// Sets a property of an object; returns whether there is one.
    pub(super) fn set_thing(&mut self, held: &Held, name: &str, value: &Value) -> bool {
        let text = || match value {
            Value::Null => Kept::Null,
            value => Kept::Text(show(value)),
        };
        match (held, name) {
            (Held::Group(device), _) => {
                self.set_device_field((*device, false), name, value).unwrap_or(false)
            }
            (Held::Item(device), _) => {
                self.set_device_field((*device, true), name, value).unwrap_or(false)
            }
            (Held::Location, "mode") => {
                self.mode = text();
                self.is_own_mode = false;
                true
            }
            (Held::Location, "locationMode") => {
                self.location_mode = text();
                true
            }
            _ => false,
        }
    }

    pub(super) fn thing_call(&mut self, held: &Held, name: &str, arguments: &[Value]) -> Answer {
        match held {
            Held::Group(device) => self.device_call(*device, false, name, arguments),
            Held::Item(device) => self.device_call(*device, true, name, arguments),
            Held::Location => match (name, arguments) {
                ("currentValue", [feature]) => Some(Ok(match &*show(feature) {
                    "sunsetTime" | "sunset" => Value::Long(NOW),
                    _ => Value::Null,
                })),
                _ => None,
            },
            Held::Log => Some(match arguments {
                [] => throw("ArrayIndexOutOfBoundsException"),
                _ => Ok(Value::Null),
            }),
            Held::Routines => match (name, arguments) {
                ("getPhrases", []) => Some(Ok(phrases())),
                ("execute", [Value::Text(_) | Value::Null] | []) => Some(Ok(Value::Null)),
                _ => None,
            },
            Held::Date(at) => self.date(*at, name, arguments),
            Held::Method(app, own) if matches!(name, "call" | "doCall") => {
                Some(self.call_app(*app, own, arguments.to_vec()))
            }
            Held::Format(pattern) => match (name, arguments) {
                ("setTimeZone", [_]) => Some(Ok(Value::Null)),
                ("format", [Value::Object(date)]) => match self.held(*date) {
                    Some(Held::Date(at)) => {
                        Some(Ok(Value::text(super::date::format(*at, pattern))))
                    }
                    _ => Some(throw("IllegalArgumentException")),
                },
                _ => Some(unsupported(&format!("`{name}` of a format"))),
            },
            Held::Class(class) => match (&**class, name) {
                ("Random", "nextInt") => match arguments {
                    [Value::Int(most)] if *most > 0 => Some(Ok(Value::Int(most / 2))),
                    _ => Some(unsupported("`nextInt`")),
                },
                ("TimeZone", "getTimeZone") => Some(Ok(self.object(Held::TimeZone))),
                _ => Some(unsupported(&format!("`{name}` of `{class}`"))),
            },
            Held::App | Held::Event(_) => None,
            Held::TimeZone | Held::Method(..) | Held::This(_) | Held::Opaque(_) => {
                Some(unsupported(&format!("the method `{name}`")))
            }
        }
    }

    fn date(&mut self, at: i64, name: &str, arguments: &[Value]) -> Answer {
        let other = match arguments.first() {
            Some(Value::Object(id)) => match self.held(*id) {
                Some(Held::Date(other)) => Some(*other),
                _ => None,
            },
            _ => None,
        };
        Some(Ok(match (name, arguments, other) {
            ("getTime", [], _) => Value::Long(at),
            ("format", [Value::Text(pattern)], _) | ("format", [Value::Text(pattern), _], _) => {
                Value::text(super::date::format(at, pattern))
            }
            ("getHours", [], _) => Value::Int(super::date::hours(at)),
            ("getMinutes", [], _) => Value::Int(super::date::minutes(at)),
            ("before", [_], Some(other)) => Value::Bool(at < other),
            ("after", [_], Some(other)) => Value::Bool(at > other),
            ("compareTo", [_], Some(other)) => Value::Int(at.cmp(&other) as i32),
            _ => return Some(self.lost_date(name)),
        }))
    }

    fn lost_date(&self, name: &str) -> Result<Value, Stop> {
        unsupported(&format!("`{name}` of a date"))
    }
}

pub(super) fn phrases() -> Value {
    let labels = ["Good Night!", "Good Morning!", "Goodbye!", "I'm Back!"];
    let one = |(id, label): (i32, &&str)| {
        let id = (Value::text("id"), Value::Int(id));
        Value::map(vec![id, (Value::text("label"), Value::text(label))])
    };
    Value::list((0..).zip(&labels).map(one).collect())
}
