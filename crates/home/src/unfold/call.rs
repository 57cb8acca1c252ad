//! What apps ask of the platform by name: subscriptions, timers, messages, time.

use super::deed::{Deed, Wanted};
use super::run::{Answer, Run};
use super::things::Thing;
use super::time;
use super::tree::Action;
use super::world::{EventKey, Origin, VarKind};
use crate::app::entries;
use crate::value::Stored;
use anyorder_groovy::eval::{Stop, Value, show};

/// Calls that only the outside hears of.
const OUTPUTS: &[&str] = &[
    "sendPush",
    "sendSms",
    "sendSMS",
    "sendSmsMessage",
    "sendPushMessage",
    "sendNotification",
    "sendNotificationEvent",
    "sendNotificationToContacts",
    "sendHubCommand",
    "sendEvent",
    "pause",
    "setTimeZone",
    "revokeAccessToken",
    "httpGet",
    "httpPost",
    "httpPostJson",
    "httpPut",
    "httpPutJson",
    "asynchttpGet",
    "asynchttpPost",
    "asynchttp_v1",
    "include",
    "initialize",
    "definition",
    "preferences",
    "sleep",
    "addChildDevice",
    "deleteChildDevice",
];

/// Timers that come again and again.
const REPEATED: &[&str] = &[
    "schedule",
    "runDaily",
    "runEvery1Minute",
    "runEvery5Minutes",
    "runEvery10Minutes",
    "runEvery15Minutes",
    "runEvery30Minutes",
    "runEvery1Hour",
    "runEvery3Hours",
];

/// Days of a date beyond which something is a long time ago.
const LONG_AGO: i64 = 0;

impl Run<'_, '_> {
    pub(super) fn call_named(&mut self, name: &str, arguments: &[Value]) -> Answer {
        if REPEATED.contains(&name) || matches!(name, "runIn" | "runOnce") {
            return self.timer(name, arguments);
        }
        if OUTPUTS.contains(&name) {
            return Some(Ok(Value::Null));
        }
        let first = arguments.first();
        Some(Ok(match name {
            "subscribe" | "subscribeToCommand" => return self.subscribe(arguments),
            "unsubscribe" => self.unsubscribe(arguments),
            "unschedule" => self.unschedule(first),
            "setLocationMode" | "setMode" => {
                self.set_mode(first.unwrap_or(&Value::Null));
                Value::Null
            }
            "sendLocationEvent" => self.location_event(first),
            "now" => Value::Long(self.now()),
            "new Date" => {
                let at = match first.and_then(|value| self.moment(value)) {
                    Some(at) => at,
                    None => self.now(),
                };
                self.object(Thing::Date(at))
            }
            "new JsonSlurper" | "new groovy.json.JsonSlurper" => {
                self.object(Thing::Class("JsonSlurper".to_owned()))
            }
            "new Random" => self.object(Thing::Random),
            "new SimpleDateFormat" => {
                let pattern = first.map(show).unwrap_or_default();
                self.object(Thing::Format(pattern))
            }
            "timeToday" | "toDateTime" | "timeTodayAfter" => {
                let now = self.now();
                let text = arguments.iter().rfind(|one| matches!(one, Value::Text(_)));
                let at = text.and_then(|text| time::today(&show(text), now)).unwrap_or(now);
                self.object(Thing::Date(at))
            }
            "timeOfDayIsBetween" => {
                let moments: Vec<i64> =
                    arguments.iter().take(3).filter_map(|one| self.moment(one)).collect();
                match moments[..] {
                    [from, to, now] => Value::Bool(time::is_between(from, to, now)),
                    _ => return self.unsupported("timeOfDayIsBetween without three moments"),
                }
            }
            "getSunriseAndSunset" => {
                let now = self.now();
                let [rise, set] =
                    [true, false].map(|is_rise| self.object(Thing::Date(time::sun(now, is_rise))));
                Value::map(vec![(Value::text("sunrise"), rise), (Value::text("sunset"), set)])
            }
            "canSchedule" => Value::Bool(true),
            "getTemperatureScale" => Value::text("F"),
            "parseJson" => return self.parsed(first),
            "getWeatherFeature" | "getTwcConditions" | "getTwcForecast" | "parseLanMessage"
            | "textToSpeech" => self.anything(&format!("the answer of `{name}`")),
            "homeAnswer" => {
                self.approximated(
                    "an answer of the network: any, or none; what it says is unknown",
                );
                Value::Bool(self.choose(2) == 1)
            }
            "homeResponse" => self.object(Thing::Response),
            "getChildDevices"
            | "getAllChildDevices"
            | "getChildApps"
            | "findAllChildAppsByName" => Value::list(vec![]),
            "getChildDevice" => Value::Null,
            "createAccessToken" => Value::text("token"),
            "apiServerUrl" | "getApiServerUrl" => Value::text("https://server"),
            "getLocation" => self.object(Thing::Location),
            "getState" | "getAtomicState" => self.object(Thing::State),
            "getSettings" => return Some(Ok(self.settings_map())),
            _ => return self.unsupported(&format!("the method `{name}`")),
        }))
    }

    /// Returns what a text of JSON says: it is not known.
    pub(super) fn parsed(&mut self, text: Option<&Value>) -> Answer {
        match text {
            Some(Value::Object(id)) if self.is_unknown_object(*id) => Some(Ok(Value::Object(*id))),
            _ => Some(Ok(self.anything("what a text of JSON says"))),
        }
    }

    pub(super) fn unsupported(&mut self, what: &str) -> Answer {
        self.unknown(what);
        Some(Err(Stop::Unsupported(what.to_owned())))
    }

    fn origin(&self, value: &Value) -> Vec<Origin> {
        match value {
            Value::Object(id) => match self.things.get(*id) {
                Some(super::things::Found::Device(device)) => vec![Origin::Device(device)],
                Some(super::things::Found::Other(Thing::Location)) => vec![Origin::Location],
                Some(super::things::Found::Other(Thing::App)) => vec![Origin::App(self.app)],
                _ => vec![],
            },
            Value::List(items) => items.borrow().iter().flat_map(|one| self.origin(one)).collect(),
            _ => vec![],
        }
    }

    /// `subscribe(device, "attribute.value", handler)`, `subscribe(location, handler)`.
    fn subscribe(&mut self, arguments: &[Value]) -> Answer {
        let (object, event, handler) = match arguments {
            [object, handler] => (object, None, handler),
            [object, event, handler, ..] => (object, Some(show(event)), handler),
            _ => return self.unsupported("this `subscribe`"),
        };
        let Value::Text(handler) = handler else {
            return self.unsupported("a subscription without the name of a handler");
        };
        for origin in self.origin(object) {
            let event = event.clone().unwrap_or_else(|| match origin {
                Origin::App(_) => "touch".to_owned(),
                _ => "mode".to_owned(),
            });
            self.subscribe_to(origin, &event, handler);
        }
        Some(Ok(Value::Null))
    }

    fn subscribe_to(&mut self, origin: Origin, event: &str, handler: &str) {
        let (name, value) = match event.split_once('.') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (event, None),
        };
        let name = match origin {
            Origin::App(_) => "touch".to_owned(),
            Origin::Location if matches!(name, "position" | "") => "mode".to_owned(),
            Origin::Location => name.trim_end_matches("Time").to_owned(),
            Origin::Device(device) => {
                let attributes = &self.deeds.world.home.devices[device].attributes;
                match attributes.keys().find(|known| known.eq_ignore_ascii_case(name)) {
                    Some(known) => known.clone(),
                    None => {
                        let device = &self.deeds.world.home.devices[device].name;
                        let text =
                            format!("a subscription to `{name}` of {device}: no such attribute");
                        self.unknown(&text);
                        return;
                    }
                }
            }
        };
        self.hold(Wanted { origin, name, value, handler: handler.to_owned() });
    }

    fn unsubscribe(&mut self, arguments: &[Value]) -> Value {
        let from: Option<Vec<Origin>> = arguments.first().map(|object| self.origin(object));
        let action = Action::Unsubscribe { app: self.app, from };
        self.ends(action, |kind, own| matches!(kind, VarKind::Subscribed(app, _) if *app == own));
        Value::Null
    }

    /// `runIn(60, handler)`, `schedule("...", handler)`
    fn timer(&mut self, name: &str, arguments: &[Value]) -> Answer {
        let mut texts = arguments.iter().filter_map(|one| match one {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let own = &self.deeds.world.apps[self.app].parameters;
        let handler = texts.rfind(|text| own.contains_key(text));
        let Some(handler) = handler else {
            return self
                .unsupported(&format!("a handler of `{name}` that is no method of the app"));
        };
        if self.deeds.world.is_immediate {
            self.run_now(&handler);
            return Some(Ok(Value::Null));
        }
        self.act(Deed::Timer(handler.clone()));
        let repeated = REPEATED.contains(&name);
        let var = self.deeds.world.var(VarKind::Timer(self.app, handler));
        self.set(var, &if repeated { Stored::from("repeated") } else { Stored::Bool(true) });
        Some(Ok(Value::Null))
    }

    fn unschedule(&mut self, handler: Option<&Value>) -> Value {
        let action = Action::Unschedule { app: self.app, handler: handler.map(show) };
        self.ends(action, |kind, own| matches!(kind, VarKind::Timer(app, _) if *app == own));
        Value::Null
    }

    pub(super) fn set_mode(&mut self, mode: &Value) {
        let var = self.deeds.world.var(VarKind::Location("mode".to_owned()));
        let mode = Stored::from(&*show(mode));
        self.update(var, Origin::Location, "mode", &mode);
    }

    fn location_event(&mut self, event: Option<&Value>) -> Value {
        let event = event.and_then(entries).unwrap_or_default();
        let [name, value] =
            ["name", "value"].map(|key| event.get(key).map(show).unwrap_or_default());
        if name == "alarmSystemStatus" {
            let var = self.deeds.world.var(VarKind::Location(name.clone()));
            self.update(var, Origin::Location, &name, &Stored::from(&*value));
        } else {
            self.emit(EventKey { origin: Origin::Location, name, value: Stored::Text(value) });
        }
        Value::Null
    }

    /// Returns a moment: of a date, a number of milliseconds, or a text.
    pub(super) fn moment(&mut self, value: &Value) -> Option<i64> {
        match value {
            Value::Object(id) => match self.things.get(*id)? {
                super::things::Found::Other(Thing::Date(at)) => Some(at),
                _ => None,
            },
            Value::Int(at) => Some(i64::from(*at)),
            Value::Long(at) => Some(*at),
            Value::Text(text) => {
                let now = self.now();
                time::today(text, now)
            }
            Value::Null => Some(LONG_AGO),
            _ => None,
        }
    }
}
