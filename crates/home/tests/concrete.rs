//! The unfolded apps against a plain simulation: random homes are run with one value for each
//! thing, thousands of times. Each conflict and loop of such a run is found by a search, and each
//! that a search finds occurs in some run.

use anyorder_common::random::{Random, Rng};
use anyorder_groovy::ast::Script;
use anyorder_groovy::eval::{Evaluator, Host, Methods, Stop, Value, show};
use anyorder_groovy::parse;
use std::collections::{BTreeMap, BTreeSet};

/// The devices: the input, the capability, the attribute, its values; the first is the initial one.
const DEVICES: [(&str, &str, &str, [&str; 2]); 5] = [
    ("lamp", "switch", "switch", ["off", "on"]),
    ("door", "lock", "lock", ["locked", "unlocked"]),
    ("hall", "motionSensor", "motion", ["inactive", "active"]),
    ("gate", "contactSensor", "contact", ["closed", "open"]),
    ("key", "button", "button", ["pushed", "held"]),
];
const LOCATION: u32 = 5;
const APP: u32 = 6;
const STATE: u32 = 7;
const LOG: u32 = 8;
const EVENT: u32 = 9;
const MODES: [&str; 3] = ["Home", "Away", "Night"];
/// The number of events inside events at which the platform is taken to run without end.
const DEPTH: usize = 12;

/// Who sends an event: a device, the location, or an app.
type Origin = (u32, usize);

struct Subscription {
    app: usize,
    origin: Origin,
    name: String,
    value: Option<String>,
    handler: String,
    holds: bool,
}

/// A home in one run.
pub(crate) struct Home {
    scripts: Vec<Methods>,
    rng: Rng,
    attributes: BTreeMap<u32, String>,
    mode: String,
    state: Vec<BTreeMap<String, Value>>,
    subscriptions: Vec<Subscription>,
    timers: BTreeSet<usize>,
    app: usize,
    events: Vec<String>,
    depth: usize,
    /// Who set an attribute last, and to what.
    last: BTreeMap<String, (Option<usize>, String)>,
    pub(crate) conflicts: BTreeSet<String>,
    pub(crate) is_endless: bool,
}

impl Home {
    /// Returns the methods of each app.
    pub(crate) fn read(texts: &[String]) -> Vec<Methods> {
        let scripts: Vec<Script> = texts.iter().map(|text| parse(text).script).collect();
        scripts.iter().map(|script| Methods::of([script])).collect()
    }

    pub(crate) fn new(scripts: &[Methods], seed: u64) -> Home {
        let attributes = (0..5).map(|at| (at, DEVICES[at as usize].3[0].to_owned())).collect();
        Home {
            scripts: scripts.to_vec(),
            rng: Rng::new(seed),
            attributes,
            mode: "Home".to_owned(),
            state: vec![BTreeMap::new(); scripts.len()],
            subscriptions: vec![],
            timers: BTreeSet::new(),
            app: 0,
            events: vec![],
            depth: 0,
            last: BTreeMap::new(),
            conflicts: BTreeSet::new(),
            is_endless: false,
        }
    }

    /// Installs the apps, one after another.
    pub(crate) fn install(&mut self) {
        for app in 0..self.scripts.len() {
            self.run(app, "installed", None);
        }
        self.last.clear();
        self.conflicts.clear();
    }

    /// Lets something happen.
    pub(crate) fn step(&mut self) {
        let apps = self.scripts.len();
        match self.rng.index(9) {
            at @ 0..5 => {
                let value = self.rng.pick(&DEVICES[at].3).to_owned();
                let (device, name) = (at as u32, DEVICES[at].2);
                if name == "button" || self.attributes[&device] != value {
                    self.attributes.insert(device, value.clone());
                    self.last.remove(&format!("{}.{name}", DEVICES[at].1));
                    self.deliver((device, 0), name, &value);
                }
            }
            5 => {
                let mode = self.rng.pick(&MODES).to_owned();
                if self.mode != mode {
                    self.mode.clone_from(&mode);
                    self.last.remove("location.mode");
                    self.deliver((LOCATION, 0), "mode", &mode);
                }
            }
            6 => self.deliver((LOCATION, 0), "home", "now"),
            7 => {
                let app = self.rng.index(apps);
                self.deliver((APP, app), "touch", "now");
            }
            _ => {
                let app = self.rng.index(apps);
                if self.timers.remove(&app) {
                    self.run(app, "later", None);
                }
            }
        }
    }

    fn run(&mut self, app: usize, handler: &str, value: Option<&str>) {
        let before = std::mem::replace(&mut self.app, app);
        let arguments = match value {
            Some(value) => {
                self.events.push(value.to_owned());
                vec![Value::Object(EVENT + self.events.len() as u32 - 1)]
            }
            None => vec![],
        };
        let methods = self.scripts[app].clone();
        // An exception ends a handler, and nothing else.
        let result = Evaluator::with(methods, self, 100_000).call(handler, arguments);
        assert!(matches!(result, Ok(_) | Err(Stop::Throw(_))), "{handler}: {result:?}");
        self.app = before;
    }

    fn deliver(&mut self, origin: Origin, name: &str, value: &str) {
        if self.is_endless {
            return;
        }
        let takes = |one: &Subscription| {
            one.origin == origin
                && one.name == name
                && one.value.as_ref().is_none_or(|wanted| wanted == value)
        };
        let heard = |app: usize, all: &[Subscription]| -> Vec<usize> {
            let own = |at: &usize| all[*at].app == app && takes(&all[*at]);
            (0..all.len()).filter(own).collect()
        };
        if !self.subscriptions.iter().any(takes) {
            return;
        }
        if self.depth >= DEPTH {
            self.is_endless = true;
            return;
        }
        self.depth += 1;
        let mut apps: Vec<usize> = (0..self.scripts.len()).collect();
        self.rng.shuffle(&mut apps);
        for app in apps {
            for at in heard(app, &self.subscriptions) {
                if self.subscriptions[at].holds {
                    let handler = self.subscriptions[at].handler.clone();
                    self.run(app, &handler, Some(value));
                }
            }
        }
        self.depth -= 1;
    }

    /// An app sets an attribute.
    fn set(&mut self, place: String, value: &str) {
        let now = (Some(self.app), value.to_owned());
        let before = self.last.insert(place.clone(), now);
        if let Some((Some(other), old)) = before
            && other != self.app
            && old != value
        {
            let (a, b) = (other.min(self.app), other.max(self.app));
            self.conflicts.insert(format!("`App_{a}` and `App_{b}` set `{place}`"));
        }
    }

    fn command(&mut self, device: u32, value: &str) {
        if self.attributes[&device] == value {
            return;
        }
        self.attributes.insert(device, value.to_owned());
        let (_, capability, attribute, _) = DEVICES[device as usize];
        self.set(format!("{capability}.{attribute}"), value);
        self.deliver((device, 0), attribute, value);
    }

    fn subscribe(&mut self, arguments: &[Value]) {
        let Value::Object(object) = arguments[0] else { panic!("{arguments:?}") };
        let event = show(&arguments[1]);
        let (name, value) = match event.split_once('.') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (event, None),
        };
        let origin = (object, if object == APP { self.app } else { 0 });
        let handler = show(&arguments[2]);
        let app = self.app;
        let same = |one: &&mut Subscription| {
            (one.app, one.origin) == (app, origin)
                && (&one.name, &one.value, &one.handler) == (&name, &value, &handler)
        };
        match self.subscriptions.iter_mut().find(same) {
            Some(known) => known.holds = true,
            None => {
                let new = Subscription { app, origin, name, value, handler, holds: true };
                self.subscriptions.push(new);
            }
        }
    }
}

impl Host for Home {
    fn property(&mut self, object: Option<u32>, name: &str) -> Option<Result<Value, Stop>> {
        let device = DEVICES.iter().position(|device| device.0 == name);
        Some(Ok(match object {
            None => match name {
                _ if device.is_some() => Value::Object(device? as u32),
                "location" => Value::Object(LOCATION),
                "app" => Value::Object(APP),
                "state" => Value::Object(STATE),
                "log" => Value::Object(LOG),
                _ => Value::text(name),
            },
            Some(LOCATION) => Value::text(&self.mode),
            Some(STATE) => self.state[self.app].get(name).cloned().unwrap_or(Value::Null),
            Some(event @ EVENT..) => Value::text(&self.events[(event - EVENT) as usize]),
            Some(device) => Value::text(&self.attributes[&device]),
        }))
    }

    fn set_property(&mut self, object: Option<u32>, name: &str, value: &Value) -> bool {
        if object == Some(STATE) {
            self.state[self.app].insert(name.to_owned(), value.clone());
        }
        object == Some(STATE)
    }

    fn call(
        &mut self,
        object: Option<u32>,
        name: &str,
        arguments: &[Value],
    ) -> Option<Result<Value, Stop>> {
        match (object, name) {
            (Some(LOG), _) | (None, "sendPush") => {}
            (Some(0), "on" | "off") => self.command(0, name),
            (Some(1), "lock") => self.command(1, "locked"),
            (Some(1), "unlock") => self.command(1, "unlocked"),
            (None, "subscribe") => self.subscribe(arguments),
            (None, "unsubscribe") => {
                let from = arguments.first().map(|one| match one {
                    Value::Object(object) => *object,
                    other => panic!("{other:?}"),
                });
                let app = self.app;
                let own = |one: &&mut Subscription| {
                    one.app == app && from.is_none_or(|from| from == one.origin.0)
                };
                self.subscriptions.iter_mut().filter(own).for_each(|one| one.holds = false);
            }
            (None, "runIn") => {
                self.timers.insert(self.app);
            }
            (None, "unschedule") => {
                self.timers.remove(&self.app);
            }
            (None, "setLocationMode") => {
                let mode = show(&arguments[0]);
                if self.mode != mode {
                    self.mode.clone_from(&mode);
                    self.set("location.mode".to_owned(), &mode);
                    self.deliver((LOCATION, 0), "mode", &mode);
                }
            }
            (None, "sendLocationEvent") => self.deliver((LOCATION, 0), "home", "x"),
            other => panic!("{other:?}"),
        }
        Some(Ok(Value::Null))
    }

    fn print(&mut self, _: &str) {}
}
