//! Templates: what one comes to where some states have some values.
//!
//! A template runs in a Jinja engine whose functions ask for states. The first state that has no
//! value yet ends the run: the caller then tries each of its values.

use crate::syntax::is_entity;
use minijinja::value::{Kwargs, Object, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State, Template, UndefinedBehavior};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// The most instructions of one template.
const FUEL: u64 = 20_000;

/// What a template may read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Var {
    /// A state, or `entity#attribute`.
    State(String),
    /// The id of the trigger.
    TriggerId,
    /// The entity of the trigger.
    TriggerEntity,
    /// The state that the trigger saw.
    To,
    /// The state before.
    From,
    /// Whether the last wait ended by its trigger: `true` or `false`.
    WaitDone,
    /// What the trigger brought: `event.data.action`, `payload`.
    Data(String),
}

/// What a template comes to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Outcome {
    /// A text.
    Text(String),
    /// Nobody knows: the reason.
    Unknown(String),
    /// It needs a value.
    Need(Var),
}

#[derive(Debug, Default)]
struct Context {
    given: BTreeMap<Var, String>,
    need: Option<Var>,
    unknown: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Shared(Arc<Mutex<Context>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Context> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn ask(&self, var: Var) -> Result<String, Error> {
        let mut context = self.lock();
        if let Some(value) = context.given.get(&var) {
            return Ok(value.clone());
        }
        context.need.get_or_insert(var);
        Err(stop())
    }

    fn unknown<T>(&self, why: impl Into<String>) -> Result<T, Error> {
        self.lock().unknown.get_or_insert(why.into());
        Err(stop())
    }
}

fn stop() -> Error {
    Error::new(ErrorKind::InvalidOperation, "stopped")
}

/// The engine, with all that templates of Home Assistant may call.
pub(crate) struct Templates {
    environment: Environment<'static>,
    shared: Shared,
    /// The names of its functions.
    names: Arc<BTreeSet<String>>,
}

impl Templates {
    pub(crate) fn new() -> Templates {
        let shared = Shared::default();
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        functions(&mut environment, &shared);
        let names = environment.globals().map(|(name, _)| name.to_owned()).collect();
        Templates { environment, shared, names: Arc::new(names) }
    }

    /// Returns the whole text of a template: with the variables that it names, so that it is read
    /// once for all its evaluations.
    pub(crate) fn whole(text: &str, variables: &BTreeMap<String, String>) -> String {
        format!("{}{text}", prelude(text, variables, 0))
    }

    /// Reads the whole text of a template.
    pub(crate) fn read<'t>(&'t self, whole: &'t str) -> Result<Template<'t, 't>, String> {
        self.environment.template_from_str(whole).map_err(|error| reason(&error))
    }

    /// Returns what a template comes to. `variables` are those of the automation.
    pub(crate) fn evaluate(
        &self,
        template: &Template<'_, '_>,
        variables: &Arc<BTreeMap<String, String>>,
        given: &BTreeMap<Var, String>,
    ) -> Outcome {
        *self.shared.lock() = Context { given: given.clone(), ..Context::default() };
        let root = Root {
            shared: self.shared.clone(),
            variables: Arc::clone(variables),
            globals: Arc::clone(&self.names),
        };
        let rendered = template.render(Value::from_object(root));
        let mut context = self.shared.lock();
        if let Some(var) = context.need.take() {
            return Outcome::Need(var);
        }
        if let Some(why) = context.unknown.take() {
            return Outcome::Unknown(why);
        }
        match rendered {
            Ok(text) => Outcome::Text(text.trim().to_owned()),
            Err(error) => Outcome::Unknown(reason(&error)),
        }
    }
}

/// Sets the variables that a text names and that come from templates, those that these name first.
/// A variable gets its value where it is set; here it gets it where it is read, in the same run.
fn prelude(text: &str, variables: &BTreeMap<String, String>, depth: u32) -> String {
    let mut found = String::new();
    if depth > 6 || !crate::yaml::is_template(text) {
        return found;
    }
    for (name, value) in variables {
        if !crate::yaml::is_template(value) || !names(text, name) || names(value, name) {
            continue;
        }
        found += &prelude(value, variables, depth + 1);
        let whole = value.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        match whole.filter(|inner| !inner.contains("}}")) {
            Some(inner) => found += &format!("{{% set {name} = ({inner}) %}}"),
            None => {
                found += &format!("{{% set {name} %}}{value}{{% endset %}}");
                found += &format!("{{% set {name} = {name} | native %}}");
            }
        }
    }
    found
}

/// Whether a text has a word.
pub(crate) fn names(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::SyntaxError => "template that is not Jinja".to_owned(),
        ErrorKind::UnknownFilter | ErrorKind::UnknownFunction | ErrorKind::UnknownTest => {
            let detail = error.detail().unwrap_or("");
            format!("template: {}", detail.split(" in ").next().unwrap_or(detail))
        }
        ErrorKind::UnknownMethod => "template: a method of a value".to_owned(),
        _ => "template that fails for some states".to_owned(),
    }
}

/// The top of the names of a template.
#[derive(Debug)]
struct Root {
    shared: Shared,
    variables: Arc<BTreeMap<String, String>>,
    globals: Arc<BTreeSet<String>>,
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        match name {
            "trigger" => return Some(Value::from_object(Trigger(self.shared.clone()))),
            "wait" => return Some(Value::from_object(Wait(self.shared.clone()))),
            _ => {}
        }
        if let Some(text) = self.variables.get(name) {
            if !crate::yaml::is_template(text) {
                return Some(native(text));
            }
            self.shared.lock().unknown.get_or_insert_with(|| "variable from a template".to_owned());
            return None;
        }
        if !self.globals.contains(name) {
            let mut context = self.shared.lock();
            context.unknown.get_or_insert_with(|| format!("template: the name `{name}`"));
        }
        None
    }
}

#[derive(Debug)]
struct Trigger(Shared);

impl Object for Trigger {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let ask = |var| self.0.ask(var).map_or(None, |text| Some(Value::from(text)));
        match key.as_str()? {
            "id" => ask(Var::TriggerId),
            "entity_id" => ask(Var::TriggerEntity),
            "to_state" => Some(Value::from_object(Seen(self.0.clone(), Var::To))),
            "from_state" => Some(Value::from_object(Seen(self.0.clone(), Var::From))),
            "payload" => ask(Var::Data("payload".to_owned())),
            word @ ("event" | "payload_json" | "json") => {
                Some(Value::from_object(Data(self.0.clone(), word.to_owned())))
            }
            other => {
                let why = format!("template: trigger.{other}");
                self.0.lock().unknown.get_or_insert(why);
                None
            }
        }
    }
}

/// What an event or a message brought, by its path.
#[derive(Debug)]
struct Data(Shared, String);

impl Object for Data {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let path = format!("{}.{}", self.1, key.as_str()?);
        if path == "event.data" {
            return Some(Value::from_object(Data(self.0.clone(), path)));
        }
        self.0.ask(Var::Data(path)).map_or(None, |text| Some(native(&text)))
    }
}

#[derive(Debug)]
struct Seen(Shared, Var);

impl Object for Seen {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "state" => self.0.ask(self.1.clone()).map_or(None, |text| Some(Value::from(text))),
            "entity_id" => {
                self.0.ask(Var::TriggerEntity).map_or(None, |text| Some(Value::from(text)))
            }
            other => {
                let why = format!("template: `{other}` of the state of a trigger");
                self.0.lock().unknown.get_or_insert(why);
                None
            }
        }
    }
}

#[derive(Debug)]
struct Wait(Shared);

impl Object for Wait {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let done = self.0.ask(Var::WaitDone).ok()? == "true";
        match key.as_str()? {
            "completed" => Some(Value::from(done)),
            "trigger" if !done => Some(Value::from(())),
            "trigger" => Some(Value::from(true)),
            _ => {
                self.0.lock().unknown.get_or_insert_with(|| "template: wait.remaining".to_owned());
                None
            }
        }
    }
}

/// `states`: a function, and a way to `states.light.kitchen.state`.
#[derive(Debug)]
struct States(Shared, Vec<String>);

impl Object for States {
    fn call(self: &Arc<Self>, _state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        match args.first().and_then(|value| value.as_str()) {
            Some(entity) => self.0.ask(Var::State(entity.to_lowercase())).map(Value::from),
            None => self.0.unknown("template: all states"),
        }
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let word = key.as_str()?;
        if self.1.len() < 2 {
            let mut path = self.1.clone();
            path.push(word.to_owned());
            return Some(Value::from_object(States(self.0.clone(), path)));
        }
        let entity = self.1.join(".");
        match word {
            "state" => self.0.ask(Var::State(entity)).map_or(None, |text| Some(Value::from(text))),
            "entity_id" => Some(Value::from(entity)),
            other => {
                let why = format!("template: `{other}` of a state");
                self.0.lock().unknown.get_or_insert(why);
                None
            }
        }
    }
}

/// Returns the value that Home Assistant makes of a text.
fn native(text: &str) -> Value {
    match text {
        "True" | "true" => Value::from(true),
        "False" | "false" => Value::from(false),
        "None" | "none" => Value::from(()),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(value), _) => Value::from(value),
            (_, Ok(value)) if value.is_finite() => Value::from(value),
            _ => Value::from(text),
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    if let Some(text) = value.as_str() {
        return text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    }
    f64::try_from(value.clone()).ok()
}

fn functions(environment: &mut Environment<'static>, shared: &Shared) {
    environment.add_global("states", Value::from_object(States(shared.clone(), Vec::new())));
    let of = shared.clone();
    environment.add_function(
        "is_state",
        move |entity: String, value: Value| -> Result<bool, Error> {
            let state = of.ask(Var::State(entity.to_lowercase()))?;
            if let Some(text) = value.as_str() {
                return Ok(text == state);
            }
            Ok(value.try_iter().is_ok_and(|mut all| all.any(|v| v.as_str() == Some(&state))))
        },
    );
    let of = shared.clone();
    environment.add_function(
        "state_attr",
        move |entity: String, name: String| -> Result<Value, Error> {
            of.ask(Var::State(format!("{}#{name}", entity.to_lowercase())))
                .map(|text| native(&text))
        },
    );
    let of = shared.clone();
    environment.add_function(
        "is_state_attr",
        move |entity: String, name: String, value: Value| -> Result<bool, Error> {
            let text = of.ask(Var::State(format!("{}#{name}", entity.to_lowercase())))?;
            Ok(native(&text) == value || value.as_str() == Some(&text))
        },
    );
    let of = shared.clone();
    environment.add_function("has_value", move |entity: String| -> Result<bool, Error> {
        let state = of.ask(Var::State(entity.to_lowercase()))?;
        Ok(state != "unknown" && state != "unavailable")
    });
    environment.add_test("has_value", {
        let of = shared.clone();
        move |entity: String| -> Result<bool, Error> {
            let state = of.ask(Var::State(entity.to_lowercase()))?;
            Ok(state != "unknown" && state != "unavailable")
        }
    });
    environment.add_filter("states", {
        let of = shared.clone();
        move |entity: String| of.ask(Var::State(entity.to_lowercase()))
    });
    let float = |value: Value, rest: Rest<Value>, kwargs: Kwargs| -> Result<Value, Error> {
        let default = rest.first().cloned().or_else(|| kwargs.get::<Value>("default").ok());
        match (number(&value), default) {
            (Some(found), _) => Ok(Value::from(found)),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(stop()),
        }
    };
    let int = |value: Value, rest: Rest<Value>, kwargs: Kwargs| -> Result<Value, Error> {
        let default = rest.first().cloned().or_else(|| kwargs.get::<Value>("default").ok());
        match (number(&value), default) {
            (Some(found), _) => Ok(Value::from(found as i64)),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(stop()),
        }
    };
    environment.add_filter("float", float);
    environment.add_function("float", float);
    environment.add_filter("int", int);
    environment.add_function("int", int);
    environment.add_filter("is_number", |value: Value| number(&value).is_some());
    environment.add_function("is_number", |value: Value| number(&value).is_some());
    let iif = |value: Value, rest: Rest<Value>| -> Value {
        let pick = |at: usize, default: bool| {
            rest.get(at).cloned().unwrap_or_else(|| Value::from(default))
        };
        if value.is_true() { pick(0, true) } else { pick(1, false) }
    };
    environment.add_filter("iif", iif);
    environment.add_function("iif", iif);
    environment.add_filter("native", |text: String| native(text.trim()));
    environment.add_filter("bool", |value: Value| match value.as_str() {
        Some(text) => {
            matches!(text.to_lowercase().as_str(), "true" | "yes" | "on" | "enable" | "1")
        }
        None => value.is_true(),
    });
}

/// The entities, texts and numbers that a template mentions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    pub(crate) entities: BTreeSet<String>,
    pub(crate) texts: BTreeSet<String>,
    pub(crate) numbers: Vec<f64>,
}

/// Domains of entities: a dotted word of another one is a method or an attribute.
const DOMAINS: &[&str] = &[
    "alarm_control_panel",
    "automation",
    "binary_sensor",
    "button",
    "calendar",
    "camera",
    "climate",
    "counter",
    "cover",
    "device_tracker",
    "fan",
    "group",
    "humidifier",
    "input_boolean",
    "input_button",
    "input_datetime",
    "input_number",
    "input_select",
    "input_text",
    "light",
    "lock",
    "media_player",
    "number",
    "person",
    "remote",
    "schedule",
    "script",
    "select",
    "sensor",
    "siren",
    "sun",
    "switch",
    "text",
    "timer",
    "update",
    "vacuum",
    "valve",
    "water_heater",
    "weather",
    "zone",
];

/// Returns what a template mentions. Linear in its length.
pub(crate) fn mentions(template: &str) -> Mentions {
    let mut found = Mentions::default();
    if !crate::yaml::is_template(template) {
        return found;
    }
    let mut attributes: Vec<(String, String)> = Vec::new();
    let mut rest = template;
    let mut last_text = String::new();
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        if c == '\'' || c == '"' {
            let Some(end) = tail.find(c) else { break };
            let text = &tail[..end];
            let before = template[..template.len() - rest.len()].trim_end();
            let is_attribute = before.ends_with(',') && is_entity(&last_text);
            if is_attribute
                && template[..template.len() - rest.len()].rfind("_attr(").is_some_and(|at| {
                    template[at..].starts_with("_attr(")
                        && template[at..template.len() - rest.len()].contains(&last_text)
                })
            {
                attributes.push((last_text.clone(), text.to_owned()));
            } else if is_entity(text) && DOMAINS.contains(&text.split('.').next().unwrap_or("")) {
                found.entities.insert(text.to_owned());
            } else if text.len() <= 40 && !text.is_empty() {
                found.texts.insert(text.to_owned());
            }
            last_text = text.to_owned();
            rest = &tail[end + 1..];
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
            let word = &rest[..end.unwrap_or(rest.len())];
            if let Some(path) = word.strip_prefix("states.") {
                let parts: Vec<&str> = path.split('.').collect();
                if let [domain, object, ..] = parts.as_slice() {
                    found.entities.insert(format!("{domain}.{object}"));
                }
            }
            rest = &rest[word.len()..];
        } else if c.is_ascii_digit() {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
            let word = &rest[..end.unwrap_or(rest.len())];
            found.numbers.extend(word.trim_end_matches('.').parse::<f64>().ok());
            rest = &rest[word.len()..];
        } else {
            rest = tail;
        }
    }
    for (entity, attribute) in attributes {
        found.entities.insert(format!("{entity}#{attribute}"));
    }
    found
}
