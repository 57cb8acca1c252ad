//! The table of the devices of the published tool.

use super::kept::Kept;
use super::steps::{self, Method, Step};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The devices and events of the published tool.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) devices: Vec<Device>,
    /// What a subscription simulates, by its event, after `@` the device.
    pub(super) events: BTreeMap<String, Vec<Simulated>>,
    colours: BTreeMap<String, String>,
}

/// A kind of device: a group and its only item.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) key: String,
    /// The type of the inputs that ask for it.
    pub(super) input: String,
    pub(super) name: String,
    /// The field of the group with the item; none where the device is alone.
    pub(super) list: Option<String>,
    /// The fields of the group with their first values, by the first choice.
    pub(super) group: Vec<(String, [Kept; 2])>,
    /// The fields of the item: the same.
    pub(super) item: Vec<(String, [Kept; 2])>,
    pub(super) iterates: Vec<String>,
    pub(super) methods: [Vec<Method>; 2],
    pub(super) current: BTreeMap<String, String>,
    pub(super) latest: BTreeMap<String, String>,
    pub(super) state: BTreeMap<String, String>,
    /// What an event of this name does; `*` stands for all.
    pub(super) simulated: BTreeMap<String, Vec<Step>>,
    /// The data of its simulated events.
    pub(super) data: Option<String>,
    /// Fields with lists that nothing changes.
    pub(super) lists: Vec<String>,
}

/// An event that comes from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Simulated {
    /// The key of the device; `app` and `location` are none of the table.
    pub(super) device: String,
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    colours: BTreeMap<String, String>,
    device: BTreeMap<String, RawDevice>,
    events: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDevice {
    #[serde(rename = "type")]
    input: String,
    name: String,
    list: Option<String>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    fields: BTreeMap<String, toml::Value>,
    #[serde(default)]
    item: BTreeMap<String, String>,
    #[serde(default)]
    item_first: BTreeMap<String, toml::Value>,
    #[serde(default)]
    item_null: Vec<String>,
    iterates: Option<Vec<String>>,
    #[serde(default)]
    group_methods: Vec<String>,
    #[serde(default)]
    item_methods: Vec<String>,
    #[serde(default)]
    current: BTreeMap<String, String>,
    #[serde(default)]
    latest: BTreeMap<String, String>,
    #[serde(default)]
    state: BTreeMap<String, String>,
    #[serde(default)]
    simulated: BTreeMap<String, String>,
    data: Option<String>,
    #[serde(default)]
    lists: Vec<String>,
}

impl Table {
    /// Returns the table of the crate.
    pub(super) fn built_in() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            // A test reads it, so it is right.
            Table::read(include_str!("../../data/published.toml"))
                .unwrap_or_else(|_| Table::empty())
        })
    }

    fn empty() -> Table {
        Table { devices: vec![], events: BTreeMap::new(), colours: BTreeMap::new() }
    }

    pub(super) fn read(text: &str) -> Result<Table, String> {
        let raw: RawTable = toml::from_str(text).map_err(|error| error.to_string())?;
        let devices = raw.device.into_iter().map(|(key, raw)| device(key, raw));
        let events = raw.events.into_iter().map(|(key, list)| {
            Ok((key, list.iter().map(|text| simulated(text)).collect::<Result<_, String>>()?))
        });
        Ok(Table {
            devices: devices.collect::<Result<_, String>>()?,
            events: events.collect::<Result<_, String>>()?,
            colours: raw.colours,
        })
    }

    /// Returns the name of a colour.
    pub(super) fn colour(&self, digits: &str) -> &str {
        let other = || self.colours.get("other").map_or("", String::as_str);
        self.colours.get(digits).map_or_else(other, String::as_str)
    }

    /// Returns the device that an input of a type asks for.
    pub(super) fn of_input(&self, kind: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.input == kind)
    }

    /// Returns the device with a key.
    pub(super) fn of_key(&self, key: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.key == key)
    }
}

fn simulated(text: &str) -> Result<Simulated, String> {
    let parts = text.split_once(' ').and_then(|(device, event)| {
        let (name, value) = event.split_once('=')?;
        Some([device, name, value].map(str::to_owned))
    });
    let [device, name, value] = parts.ok_or_else(|| format!("the event `{text}`"))?;
    Ok(Simulated { device, name, value })
}

fn device(key: String, raw: RawDevice) -> Result<Device, String> {
    let group: Vec<(String, [Kept; 2])> =
        raw.fields.iter().map(|(name, value)| (name.clone(), first(value))).collect();
    let from = |(name, source): (&String, &String)| {
        let found = group.iter().find(|(own, _)| own == source);
        let found = found.ok_or_else(|| format!("the field `{source}` of `{key}`"))?;
        Ok((name.clone(), found.1.clone()))
    };
    let mut item: Vec<(String, [Kept; 2])> =
        raw.item.iter().map(from).collect::<Result<_, String>>()?;
    item.extend(raw.item_first.iter().map(|(name, value)| (name.clone(), first(value))));
    item.extend(raw.item_null.iter().map(|name| (name.clone(), [Kept::Null, Kept::Null])));
    let methods = |all: &[String]| {
        all.iter().map(|one| steps::method(one)).collect::<Result<Vec<Method>, String>>()
    };
    let simulated =
        raw.simulated.iter().map(|(name, text)| Ok((name.clone(), steps::steps(text)?)));
    let common = ["count", "each", "find", "sort", "collect"].map(str::to_owned).to_vec();
    Ok(Device {
        input: raw.input,
        name: raw.name,
        list: raw.list.filter(|_| !raw.alone),
        iterates: raw.iterates.unwrap_or(common),
        methods: [methods(&raw.group_methods)?, methods(&raw.item_methods)?],
        current: raw.current,
        latest: raw.latest,
        state: raw.state,
        simulated: simulated.collect::<Result<_, String>>()?,
        data: raw.data,
        lists: raw.lists,
        key,
        group,
        item,
    })
}

/// Returns the two first values of a field.
fn first(value: &toml::Value) -> [Kept; 2] {
    match value {
        toml::Value::Array(both) if both.len() == 2 => [kept(&both[0]), kept(&both[1])],
        one => [kept(one), kept(one)],
    }
}

fn kept(value: &toml::Value) -> Kept {
    match value {
        toml::Value::Integer(number) => Kept::Int(i32::try_from(*number).unwrap_or(i32::MAX)),
        toml::Value::Boolean(is) => Kept::Bool(*is),
        toml::Value::Table(entries) => {
            Kept::Map(entries.iter().map(|(key, one)| (Kept::from(&**key), kept(one))).collect())
        }
        toml::Value::String(text) => Kept::from(&**text),
        _ => Kept::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn the_table_is_right() {
        let table = Table::read(include_str!("../../data/published.toml")).expect("a table");
        for (key, events) in &table.events {
            for event in events {
                let known = matches!(&*event.device, "app" | "location")
                    || table.of_key(&event.device).is_some_and(|at| {
                        let simulated = &table.devices[at].simulated;
                        simulated.contains_key(&event.name) || simulated.contains_key("*")
                    });
                assert!(known, "{key}: {event:?}");
            }
        }
    }
}
