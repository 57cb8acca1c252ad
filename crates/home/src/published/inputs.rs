//! What an app asks for, and which values the published tool gives.

use super::kept::{Held, Kept};
use super::table::Table;
use crate::app::{entries, words};
use anyorder_groovy::ast::Script;
use anyorder_groovy::eval::{Evaluator, Host, Methods, Stop, Value, show};
use anyorder_groovy::parse;

/// The functions of preferences that take closures.
const PRELUDE: &str = r#"
def preferences(Closure c) { c() }
def page(Map m, Closure c) { c() }
def page(Map m) { def page = m['name']; "$page"() }
def dynamicPage(Map m, Closure c) { c() }
def section(Closure c) { c() }
def section(Map m, Closure c) { c() }
def section(String a, Closure c) { c() }
def section(Map m, String a, Closure c) { c() }
def input(Map m, String a, String b, Closure c) { input(m, a, b); c() }
def mappings(Closure c) { }
"#;

/// Most steps of the preferences of an app.
const STEPS_MAX: u64 = 1_000_000;

/// The number of the object that stands for everything of the platform.
const ANYTHING: u32 = u32::MAX;

/// The settings of an app, in the order in which it asks for them, and why there are not more.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) values: Vec<(String, Kept)>,
    pub(super) lost: Option<String>,
}

/// Runs the preferences of an app.
pub(super) fn settings(table: &Table, script: &Script, stop: &dyn Fn() -> bool) -> Settings {
    let prelude = parse(PRELUDE).script;
    let methods = Methods::of([script, &prelude]);
    let mut host = Preferences { table, settings: Settings::default(), stop };
    if let Err(stop) = Evaluator::with(methods, &mut host, STEPS_MAX).run(script) {
        host.settings.lost = Some(words(&stop));
    }
    host.settings
}

struct Preferences<'a> {
    table: &'a Table,
    settings: Settings,
    stop: &'a dyn Fn() -> bool,
}

impl Preferences<'_> {
    fn input(&mut self, arguments: &[Value]) -> Result<Value, Stop> {
        let named = arguments.first().and_then(entries).unwrap_or_default();
        let mut plain = arguments.iter().filter(|one| !matches!(one, Value::Map(_)));
        let name = plain.next().or(named.get("name")).map(show).unwrap_or_default();
        let kind = plain.next().or(named.get("type")).map(show).unwrap_or_default();
        let value = match &*kind {
            "mode" => Kept::from("home"),
            "decimal" | "number" => Kept::Int(50),
            "text" => Kept::from("This is just a text!"),
            "time" => Kept::from("15:00"),
            "boolean" | "bool" => Kept::Bool(true),
            "phone" => Kept::Long(9_495_379_373),
            "contact" => Kept::from("AJ"),
            "enum" => {
                let options = named.get("options").filter(|one| !matches!(one, Value::Null));
                let within = |value: &Value| entries(value)?.remove("values");
                let options = options.cloned();
                let options = options.or_else(|| named.get("metadata").and_then(within));
                // The first option goes into a text of Groovy. That of a map is null.
                let first = match &options {
                    Some(map @ Value::Map(_)) => entries(map).and_then(|mut all| all.remove("0")),
                    Some(Value::Text(text)) => {
                        text.chars().next().map(|letter| Value::text(letter.to_string()))
                    }
                    Some(list) if list.items().is_some() => {
                        list.items().and_then(|all| all.first().cloned())
                    }
                    _ => return Err(Stop::Unsupported("an enum without options".to_owned())),
                };
                Kept::Text(show(&first.unwrap_or(Value::Null)))
            }
            kind => match self.table.of_input(kind) {
                Some(device) => Kept::Held(Held::Group(device)),
                None => return Ok(Value::Null),
            },
        };
        if !self.settings.values.iter().any(|(own, _)| *own == name) {
            self.settings.values.push((name, value));
        }
        Ok(Value::Null)
    }
}

impl Host for Preferences<'_> {
    fn property(&mut self, object: Option<u32>, name: &str) -> Option<Result<Value, Stop>> {
        if let Some(device) = object.and_then(|object| self.table.devices.get(object as usize)) {
            return Some(Ok(match name {
                "id" => Value::text(super::device::id_of(&device.name)),
                "label" | "displayName" => Value::text(&device.name),
                _ => Value::Null,
            }));
        }
        if object.is_some() {
            return Some(Ok(match name {
                "contactBookEnabled" => Value::Int(1),
                "modes" | "contacts" | "hubs" => Value::list(vec![]),
                "helloHome" | "timeZone" => Value::Object(ANYTHING),
                "time" => Value::Long(super::platform::NOW),
                _ => Value::Null,
            }));
        }
        if let Some((_, value)) = self.settings.values.iter().find(|(own, _)| own == name) {
            let number = |held: &Held| match held {
                Held::Group(device) => u32::try_from(*device).unwrap_or(ANYTHING),
                _ => ANYTHING,
            };
            return Some(Ok(value.value(&mut { number })));
        }
        Some(Ok(match name {
            "settings" => {
                let entry = |(name, _): &(String, Kept)| (Value::text(name), Value::text(name));
                Value::map(self.settings.values.iter().map(entry).collect())
            }
            "location" | "log" => Value::Object(ANYTHING),
            "state" | "atomicState" => Value::map(vec![]),
            "optional" => Value::Bool(false),
            _ => return None,
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
                "getPhrases" => super::things::phrases(),
                _ => Value::Null,
            }));
        }
        match name {
            "input" => Some(self.input(arguments)),
            "timeToday" if arguments.len() == 2 => Some(Ok(Value::Object(ANYTHING))),
            "new Date" | "new SimpleDateFormat" => Some(Ok(Value::Object(ANYTHING))),
            "definition" | "mode" | "label" | "href" | "paragraph" | "image" => {
                Some(Ok(Value::Null))
            }
            _ => None,
        }
    }

    fn print(&mut self, _: &str) {}

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
