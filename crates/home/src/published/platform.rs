//! What apps ask of the platform by name, as the published tool has it. What it does not have is a
//! missing method, as there.

use super::kept::Held;
use super::run::{Answer, Run, throw, unsupported};
use super::world::Subscriptions;
use anyorder_groovy::eval::{Stop, Value, show};

/// The constant time of all executions.
pub(super) const NOW: i64 = 1_564_694_080_896;

/// From where the tool counts the times of a day.
const DAY: i64 = 1_564_191_100_415;

const SUNRISE: i64 = 1_563_800_160_000;

const SUNSET: i64 = 1_563_850_740_000;

/// The data of an event.
pub(super) const DATA: &str = r#"{"info": "info"}"#;

/// Methods that change nothing, with the types of their parameters.
const SILENT: &[(&str, &[&str])] = &[
    ("unschedule", &["Closure"]),
    ("unschedule", &["String"]),
    ("unschedule", &[]),
    ("sendSms", &["long", "String"]),
    ("sendSMS", &["long", "String"]),
    ("sendPush", &["String"]),
    ("sendNotification", &["String", "Map"]),
    ("sendNotificationToContacts", &["String", "String"]),
    ("sendNotificationToContacts", &["String", "String", "Map"]),
    ("httpPostJson", &["Map"]),
];

/// Timers: they end at once. The place of the handler among the parameters.
const TIMERS: &[(&str, &[&str], usize)] = &[
    ("runIn", &["int", "Closure"], 1),
    ("runIn", &["int", "Closure", "Map"], 1),
    ("runIn", &["int", "String", "Map"], 1),
    ("runIn", &["int", "String"], 1),
    ("runDaily", &["String", "Closure"], 1),
    ("runOnce", &["Date", "Closure"], 1),
    ("runEvery15Minutes", &["Closure"], 0),
    ("schedule", &["String", "String"], 1),
    ("schedule", &["Date", "String"], 1),
    ("schedule", &["String", "Closure"], 1),
];

impl Run<'_> {
    /// Calls a method that the app does not have.
    pub(super) fn platform(&mut self, name: &str, arguments: &[Value]) -> Answer {
        let app = self.app?;
        if let Some(result) = self.platform_with(app, name, arguments) {
            return Some(result);
        }
        // A method with one parameter that is an object takes null for a missing argument.
        if arguments.is_empty() {
            return self.platform_with(app, name, &[Value::Null]);
        }
        None
    }

    fn platform_with(&mut self, app: usize, name: &str, arguments: &[Value]) -> Answer {
        if SILENT.iter().any(|(own, types)| *own == name && self.fits(types, arguments)) {
            return Some(Ok(Value::Null));
        }
        let timer =
            TIMERS.iter().find(|(own, types, _)| *own == name && self.fits(types, arguments));
        if let Some((_, _, at)) = timer {
            let handler = arguments[*at].clone();
            return Some(match handler {
                Value::Null => throw("NullPointerException"),
                handler => self.call_handler(app, &handler, vec![]),
            });
        }
        Some(match (name, arguments) {
            ("subscribe", _) => return self.subscribe(app, arguments),
            ("unsubscribe", []) => {
                let heard = &mut self.apps[app].heard;
                let values = std::mem::take(&mut heard.values);
                *heard = Subscriptions { values, ..Subscriptions::default() };
                Ok(Value::Null)
            }
            ("setLocationMode", [mode @ (Value::Text(_) | Value::Null)]) => {
                self.switch_mode(app, mode)
            }
            ("now", []) => Ok(Value::Long(NOW)),
            ("getTemperatureScale", []) => Ok(Value::text("F")),
            ("canSchedule", []) => Ok(Value::Bool(true)),
            ("getSunriseAndSunset", [Value::Map(_) | Value::Null]) => {
                let one = |name: &str, time: i64| {
                    let time = vec![(Value::text("time"), Value::Long(time))];
                    (Value::text(name), Value::map(time))
                };
                Ok(Value::map(vec![one("sunrise", SUNRISE), one("sunset", SUNSET)]))
            }
            ("timeToday", [Value::Text(text)] | [Value::Text(text), _])
            | ("timeTodayAfter", [_, Value::Text(text), _]) => self.time_of_day(text),
            ("timeToday", [Value::Null] | [Value::Null, _]) => throw("NullPointerException"),
            ("parseJson", [Value::Text(text)]) => json(text),
            ("createAccessToken", []) => unsupported("createAccessToken"),
            ("new Date", []) => Ok(self.object(Held::Date(NOW))),
            ("new Date", [Value::Long(at)]) => Ok(self.object(Held::Date(*at))),
            ("new Date", [Value::Int(at)]) => Ok(self.object(Held::Date(i64::from(*at)))),
            ("new SimpleDateFormat", [Value::Text(pattern)]) => {
                Ok(self.object(Held::Format(pattern.to_string())))
            }
            ("new Random", []) => Ok(self.object(Held::Class("Random".to_owned()))),
            (name, _) if name.starts_with("new ") => unsupported(&format!("`{name}`")),
            ("httpPostJson", [Value::Map(_), _]) => unsupported("httpPostJson with a closure"),
            _ => return self.call_field(name, arguments),
        })
    }

    /// Calls a field that holds a method.
    fn call_field(&mut self, name: &str, arguments: &[Value]) -> Answer {
        let app = self.app?;
        let at = self.home.apps[app].fields.iter().position(|(own, _)| own == name)?;
        let Value::Object(id) = self.apps[app].fields[at] else { return None };
        match self.held(id)?.clone() {
            // The field of a method has its name: it would have been called before.
            Held::Method(_, own) if own != name => {
                Some(self.call_app(app, &own, arguments.to_vec()))
            }
            _ => None,
        }
    }

    /// Reads a time of day: `15:00`.
    fn time_of_day(&mut self, text: &str) -> Result<Value, Stop> {
        let mut parts = text.split(':');
        let mut next = || parts.next().and_then(|part| part.parse::<i64>().ok());
        let (Some(hours), Some(minutes)) = (next(), next()) else {
            return throw("NumberFormatException");
        };
        Ok(self.object(Held::Date(hours * 3600 + minutes * 60 + DAY)))
    }

    fn switch_mode(&mut self, app: usize, mode: &Value) -> Result<Value, Stop> {
        let mode = Value::text(show(mode));
        self.set_mode("Location", &mode, true)?;
        self.set_mode("mode", &mode, true)?;
        let at = self.home.apps[app].fields.iter().position(|(own, _)| own == "location_mode");
        if let Some(at) = at {
            self.apps[app].fields[at] = mode.clone();
        }
        Ok(mode)
    }

    fn subscribe(&mut self, app: usize, arguments: &[Value]) -> Answer {
        let held = match arguments.first()? {
            Value::Object(id) => self.held(*id).cloned(),
            _ => None,
        };
        let (event, handler) = match arguments {
            [_, handler] if self.fits(&["Closure"], std::slice::from_ref(handler)) => {
                let event = match held {
                    Some(Held::App) => "Touched",
                    Some(Held::Location) => "Location",
                    _ => return Some(Ok(Value::Null)),
                };
                (event.to_owned(), handler)
            }
            [_, event @ Value::Text(_), handler]
                if self.fits(&["Closure"], std::slice::from_ref(handler))
                    || matches!(handler, Value::Text(_)) =>
            {
                (show(event), handler)
            }
            [_, event @ Value::Text(_), handler, Value::Map(_)]
                if self.fits(&["Closure"], std::slice::from_ref(handler)) =>
            {
                (show(event), handler)
            }
            _ => return None,
        };
        let event = match &*event {
            "tamper.tampered" => "contact",
            "mode" | "mode.away" | "mode.home" | "mode.night" => "Location",
            "unlocked" => return Some(Ok(Value::Null)),
            other => other,
        };
        let (name, value) = event.split_once('.').unwrap_or((event, ""));
        let heard = &mut self.apps[app].heard;
        heard.objects.push(arguments[0].clone());
        heard.events.push((name.to_owned(), value.is_empty()));
        heard.values.push(value.to_owned());
        heard.handlers.push(handler.clone());
        Some(Ok(Value::Bool(true)))
    }
}

/// Reads a text of JSON: an object with texts and whole numbers.
pub(super) fn json(text: &str) -> Result<Value, Stop> {
    let other = || unsupported("a text of JSON that is not simple");
    let Some(inner) = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return other();
    };
    let mut entries = vec![];
    for entry in inner.split(',').filter(|one| !one.trim().is_empty()) {
        let quoted = |text: &str| {
            text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(Value::text)
        };
        let Some((key, value)) = entry.split_once(':') else { return other() };
        let number = || value.trim().parse().ok().map(Value::Int);
        match (quoted(key), quoted(value).or_else(number)) {
            (Some(key), Some(value)) => entries.push((key, value)),
            _ => return other(),
        }
    }
    Ok(Value::map(entries))
}
