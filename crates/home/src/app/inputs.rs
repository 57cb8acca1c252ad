//! The preferences of an app, executed: which inputs it asks for.

use super::App;
use anyorder_common::source::Span;
use anyorder_groovy::eval::{Evaluator, Host, Stop, Value, show};
use std::collections::BTreeMap;

/// What kind of value an input takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// A device with this capability.
    Capability(String),
    /// A device of this type: `device.type`.
    Device(String),
    /// One of these texts.
    Enum(Vec<String>),
    /// `bool` or `boolean`.
    Bool,
    /// `number`, a whole one.
    Number,
    /// `decimal`.
    Decimal,
    /// `time`, a time of day.
    Time,
    /// `mode` of the location.
    Mode,
    /// `text`, `string`, `password`, `email`, `phone`, `contact`, `icon`, `hub`, ...: its type.
    Other(String),
}

/// An input that an app asks for.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name of the setting.
    pub name: String,
    /// What it takes.
    pub kind: InputKind,
    /// Whether it takes several.
    pub is_multiple: bool,
    /// Whether it must be given.
    pub is_required: bool,
    /// Its value if the user gives none.
    pub default: Option<Value>,
}

/// Something in the preferences of an app that was not understood.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lost {
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What it is.
    pub what: String,
}

/// Most steps of the preferences of an app.
const STEPS_MAX: u64 = 1_000_000;

/// Most pages of an app.
const PAGES_MAX: usize = 100;

struct Preferences<'a> {
    app: &'a App,
    settings: BTreeMap<String, Value>,
    inputs: Vec<Input>,
    pages: Vec<String>,
    unknown: BTreeMap<String, Span>,
    name: Option<String>,
    /// The names of the devices.
    devices: &'a [String],
    /// The methods that `mappings` names.
    requests: Vec<String>,
    place: Span,
    stop: &'a dyn Fn() -> bool,
}

/// The object that stands for whatever preferences ask of the platform.
const ANYTHING: u32 = u32::MAX;

impl Host for Preferences<'_> {
    fn property(&mut self, object: Option<u32>, name: &str) -> Option<Result<Value, Stop>> {
        let device = object.and_then(|object| usize::try_from(object).ok());
        if let Some(name_of) = device.and_then(|device| self.devices.get(device)) {
            return Some(Ok(match name {
                "name" | "label" | "displayName" => Value::text(name_of),
                "id" | "deviceNetworkId" => Value::text(format!("device-{name_of}")),
                _ => Value::Null,
            }));
        }
        if object.is_some() {
            return Some(Ok(match name {
                "name" | "label" | "id" | "displayName" => Value::text("name"),
                "contactBookEnabled" => Value::Bool(false),
                "modes" | "contacts" | "phrases" | "hubs" => Value::list(vec![]),
                "helloHome" | "timeZone" => Value::Object(ANYTHING),
                "time" => Value::Long(0),
                _ => Value::Null,
            }));
        }
        if let Some(value) = self.settings.get(name) {
            return Some(Ok(value.clone()));
        }
        Some(Ok(match name {
            "settings" => {
                let entry = |(key, value): (&String, &Value)| (Value::text(key), value.clone());
                Value::map(self.settings.iter().map(entry).collect())
            }
            "app" | "location" | "log" => Value::Object(ANYTHING),
            "state" | "atomicState" | "params" => Value::map(vec![]),
            _ if self.app.has_getter(name) => return None,
            _ if self.app.parameters.contains_key(name) => Value::text(name),
            _ => Value::Null,
        }))
    }

    fn set_property(&mut self, object: Option<u32>, _: &str, _: &Value) -> bool {
        object.is_some()
    }

    fn call(
        &mut self,
        object: Option<u32>,
        name: &str,
        arguments: &[Value],
    ) -> Option<Result<Value, Stop>> {
        if object.is_some() {
            return Some(Ok(match name {
                "getPhrases" | "getModes" => Value::list(vec![]),
                "format" | "toString" => Value::text("text"),
                "getTime" => Value::Long(0),
                _ => Value::Null,
            }));
        }
        let first_map = arguments.first().and_then(entries).unwrap_or_default();
        match name {
            "input" | "homeInput" => self.input(&first_map, arguments),
            "definition" | "homeDefinition" => {
                self.name = self.name.take().or_else(|| first_map.get("name").map(show));
            }
            "mode" => {
                let name = first_map.get("name").map_or_else(|| "modes".to_owned(), show);
                self.add(&name, "mode", &first_map);
            }
            "label" => self.add("label", "text", &first_map),
            "page" => self.page(first_map.get("name").or(arguments.first())),
            "href" => self.page(first_map.get("page").or_else(|| arguments.get(1))),
            "homeRequests" => {
                let handlers = first_map.values().map(show);
                self.requests.extend(handlers.filter(|name| !name.is_empty()));
            }
            "now" => return Some(Ok(Value::Long(0))),
            // Times and formats are shown to the user; which inputs there are depends on none.
            "timeToday" | "toDateTime" | "timeZone" | "new Date" | "new SimpleDateFormat" => {
                return Some(Ok(Value::Object(ANYTHING)));
            }
            "getSunriseAndSunset" => return Some(Ok(Value::map(vec![]))),
            _ if !KNOWN.contains(&name) => {
                self.lose(name.to_owned());
            }
            _ => {}
        }
        Some(Ok(Value::Null))
    }

    fn print(&mut self, _: &str) {}

    fn at(&mut self, place: Span) {
        self.place = place;
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

/// Calls in preferences that ask for nothing.
const KNOWN: &[&str] = &[
    "paragraph",
    "image",
    "icon",
    "remove",
    "include",
    "oauth",
    "appSetting",
    "state",
    "app",
    "command",
    "mappings",
    "path",
    "action",
    "attribute",
    "capability",
    "singleInstance",
    "canSchedule",
    "preferences",
    "section",
    "dynamicPage",
    "buttons",
    "subscribe",
    "unsubscribe",
    "unschedule",
    "createAccessToken",
    "getTemperatureScale",
];

/// Returns the entries of a map whose keys are texts.
pub(crate) fn entries(value: &Value) -> Option<BTreeMap<String, Value>> {
    match value {
        Value::Map(map) => {
            Some(map.borrow().iter().map(|(key, value)| (show(key), value.clone())).collect())
        }
        _ => None,
    }
}

impl Preferences<'_> {
    /// Notes the first place of something that is not understood.
    fn lose(&mut self, what: String) {
        self.unknown.entry(what).or_insert(self.place);
    }

    fn input(&mut self, named: &BTreeMap<String, Value>, arguments: &[Value]) {
        let mut plain = arguments.iter().filter(|one| !matches!(one, Value::Map(_)));
        let name = plain.next().or(named.get("name")).map(show);
        let kind = plain.next().or(named.get("type")).map(show);
        if let (Some(name), Some(kind)) = (name, kind) {
            self.add(&name, &kind, named);
        }
    }

    fn add(&mut self, name: &str, kind: &str, named: &BTreeMap<String, Value>) {
        if self.inputs.iter().any(|input| input.name == name) {
            return;
        }
        let is = |key: &str, default: bool| match named.get(key) {
            Some(Value::Text(text)) => &**text != "false",
            Some(value) => value.is_true(),
            None => default,
        };
        self.inputs.push(Input {
            name: name.to_owned(),
            kind: kind_of(kind, named),
            is_multiple: is("multiple", false),
            is_required: is("required", true),
            default: named.get("defaultValue").cloned().filter(|one| !matches!(one, Value::Null)),
        });
    }

    fn page(&mut self, name: Option<&Value>) {
        if let Some(Value::Text(name)) = name
            && !self.pages.iter().any(|page| **page == **name)
            && self.pages.len() < PAGES_MAX
        {
            self.pages.push(name.to_string());
        }
    }
}

fn kind_of(kind: &str, named: &BTreeMap<String, Value>) -> InputKind {
    if let Some(name) = kind.strip_prefix("capability.") {
        // Names are written in two ways: `capability.contactSensor`, `capability.Contact Sensor`.
        return InputKind::Capability(name.split(' ').collect());
    }
    if let Some(name) = kind.strip_prefix("device.") {
        return InputKind::Device(name.to_owned());
    }
    match kind {
        "enum" => InputKind::Enum(options(named)),
        "bool" | "boolean" => InputKind::Bool,
        "number" => InputKind::Number,
        "decimal" => InputKind::Decimal,
        "time" => InputKind::Time,
        "mode" => InputKind::Mode,
        other => InputKind::Other(other.to_owned()),
    }
}

/// Returns the texts that an `enum` offers: `options`, or `metadata: [values: ...]`.
fn options(named: &BTreeMap<String, Value>) -> Vec<String> {
    let within = |value: &Value| entries(value).and_then(|map| map.get("values").cloned());
    let given = named.get("options").cloned();
    let given = given.or_else(|| named.get("metadata").and_then(within));
    let given = given.or_else(|| named.get("values").cloned());
    match given {
        Some(Value::Map(map)) => map.borrow().iter().map(|(key, _)| show(key)).collect(),
        Some(list) => {
            let items = list.items().unwrap_or_default();
            // An item may be a map from a value to its title.
            let one = |item: &Value| match item {
                Value::Map(map) => map.borrow().iter().map(|(key, _)| show(key)).collect(),
                item => vec![show(item)],
            };
            items.iter().flat_map(one).collect()
        }
        None => vec![],
    }
}

/// Returns the name that `definition` gives, and the methods that `mappings` names.
pub(super) fn definition(app: &App, stop: &dyn Fn() -> bool) -> (Option<String>, Vec<String>) {
    let found = run(app, &BTreeMap::new(), &[], stop);
    let mut requests = found.requests;
    requests.retain(|name| app.parameters.contains_key(name));
    requests.sort_unstable();
    requests.dedup();
    (found.name.filter(|name| !name.is_empty()), requests)
}

pub(super) fn inputs(
    app: &App,
    settings: &BTreeMap<String, Value>,
    devices: &[String],
    stop: &dyn Fn() -> bool,
) -> (Vec<Input>, Vec<Lost>) {
    let found = run(app, settings, devices, stop);
    let lost = found.unknown.into_iter().map(|(what, place)| {
        let at = app.position(place);
        Lost { line: at.line, column: at.column, what }
    });
    (found.inputs, lost.collect())
}

/// Runs the text of the app, which declares its preferences, then the pages that it names.
fn run<'a>(
    app: &'a App,
    settings: &BTreeMap<String, Value>,
    devices: &'a [String],
    stop: &'a dyn Fn() -> bool,
) -> Preferences<'a> {
    let mut host = Preferences {
        app,
        settings: settings.clone(),
        inputs: vec![],
        pages: vec![],
        unknown: BTreeMap::new(),
        name: None,
        devices,
        requests: vec![],
        place: Span::default(),
        stop,
    };
    // A mistake in one statement hides no other.
    for stmt in &app.script.statements {
        let one = anyorder_groovy::ast::Script { statements: vec![stmt.clone()] };
        let result = Evaluator::with(app.methods.clone(), &mut host, STEPS_MAX).run(&one);
        if let Err(stop) = result {
            host.lose(words(&stop));
        }
    }
    let mut done = 0;
    while let Some(page) = host.pages.get(done).cloned() {
        done += 1;
        let Some(parameters) = app.parameters.get(&page) else { continue };
        let arguments = vec![Value::map(vec![]); (*parameters).min(1)];
        let mut evaluator = Evaluator::with(app.methods.clone(), &mut host, STEPS_MAX);
        if let Err(stop) = evaluator.call(&page, arguments) {
            host.lose(words(&stop));
        }
    }
    host
}

/// Returns why an evaluation stopped, in words.
pub(crate) fn words(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what) => what.clone(),
        Stop::Limit(what) => format!("more {what} than the limit"),
        Stop::Throw(value) => format!("an exception: {}", show(value)),
        Stop::Return(_) | Stop::Break(_) | Stop::Continue(_) => "an early end".to_owned(),
    }
}
