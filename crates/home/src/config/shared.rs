//! One device for each capability, which all apps share.
//!
//! So two apps that ask for a switch get the same switch. This is how pairs of apps are checked
//! when nobody says which devices they have (the rule of IoTCheck).

use super::{Configuration, Device, Setting};
use crate::app::{App, Input, InputKind};
use crate::capability::Capabilities;
use crate::value::Stored;
use anyorder_groovy::eval::Value;
use std::collections::BTreeMap;

/// The value of a number that has no default.
const NUMBER: i64 = 50;

/// The value of a time of day that has no default.
const TIME: &str = "2026-01-05T15:00:00.000+0000";

/// How often the preferences are run again with the settings that they asked for.
const ROUNDS: usize = 3;

/// Returns the home in which all apps share one device for each capability. Inputs that are no
/// devices have their default, the first option, `true`, 50, 15:00 or the mode `Away`.
#[must_use]
pub fn shared(apps: &[App], table: &Capabilities) -> Configuration {
    shared_watched(apps, table, &|| false)
}

/// Returns the home of [`shared`]. Preferences run until `stop` is true.
#[must_use]
pub fn shared_watched(
    apps: &[App],
    table: &Capabilities,
    stop: &dyn Fn() -> bool,
) -> Configuration {
    let modes = ["Home", "Away", "Night"].map(str::to_owned).to_vec();
    let installed = (0..apps.len()).collect();
    let mut home = Configuration { modes, installed, ..Configuration::default() };
    for app in apps {
        let mut settings: BTreeMap<String, Setting> = BTreeMap::new();
        let mut lost = vec![];
        for _ in 0..ROUNDS {
            let names: Vec<String> = home.devices.iter().map(|one| one.name.clone()).collect();
            let (inputs, unknown) = app.inputs(&values(&settings), &names, stop);
            lost = unknown;
            let mut is_changed = false;
            for input in inputs {
                // Options may be made of devices that were chosen on the same page.
                let is_open = match settings.get(&input.name) {
                    Some(Setting::Value(value)) => *value == Stored::Null,
                    Some(_) => false,
                    None => true,
                };
                if is_open {
                    let setting = setting(&input, table, &mut home);
                    let before = settings.insert(input.name.clone(), setting.clone());
                    is_changed |= before != Some(setting);
                }
            }
            if !is_changed {
                break;
            }
        }
        home.settings.push(settings);
        home.not_understood.push(lost);
    }
    home
}

fn setting(input: &Input, table: &Capabilities, home: &mut Configuration) -> Setting {
    if let InputKind::Capability(name) | InputKind::Device(name) = &input.kind {
        let device = device(name, table, home);
        return if input.is_multiple {
            Setting::Devices(vec![device])
        } else {
            Setting::Device(device)
        };
    }
    let default = input.default.as_ref().and_then(Stored::of);
    let default = default.filter(|value| is_offered(&input.kind, value));
    let value = match (&input.kind, default) {
        (InputKind::Bool, Some(Stored::Text(text))) => Stored::Bool(text == "true"),
        (InputKind::Number, Some(Stored::Text(text))) => {
            text.parse().map_or(Stored::Number(NUMBER), Stored::Number)
        }
        (_, Some(value)) => value,
        (InputKind::Enum(options), None) => {
            options.first().map_or(Stored::Null, |first| Stored::from(&**first))
        }
        (InputKind::Bool, None) => Stored::Bool(true),
        (InputKind::Number | InputKind::Decimal, None) => Stored::Number(NUMBER),
        (InputKind::Time, None) => Stored::from(TIME),
        (InputKind::Mode, None) => Stored::from("Away"),
        (InputKind::Other(kind), None) => match kind.as_str() {
            "phone" | "contact" => Stored::from("5550100"),
            "icon" | "hub" => Stored::Null,
            _ => Stored::from("text"),
        },
        (InputKind::Capability(_) | InputKind::Device(_), None) => Stored::Null,
    };
    let value = match value {
        value @ Stored::List(_) => value,
        Stored::Null => Stored::Null,
        value if input.is_multiple => Stored::List(vec![value]),
        value => value,
    };
    Setting::Value(value)
}

/// Returns whether a user can choose a default. An app may name one that its options do not have.
fn is_offered(kind: &InputKind, default: &Stored) -> bool {
    match (kind, default) {
        (InputKind::Enum(options), Stored::List(items)) => {
            items.iter().all(|item| options.is_empty() || options.contains(&item.to_string()))
        }
        (InputKind::Enum(options), value) => {
            options.is_empty() || options.contains(&value.to_string())
        }
        _ => true,
    }
}

/// Returns the device with a capability; a new one the first time.
fn device(name: &str, table: &Capabilities, home: &mut Configuration) -> usize {
    let has = |device: &Device| device.capabilities.iter().any(|known| known == name);
    if let Some(known) = home.devices.iter().position(has) {
        return known;
    }
    let mut device = Device { name: name.to_owned(), ..Device::default() };
    device.add(name, table);
    home.devices.push(device);
    home.devices.len() - 1
}

/// Returns the settings as values.
pub(crate) fn values(settings: &BTreeMap<String, Setting>) -> BTreeMap<String, Value> {
    settings.iter().map(|(name, setting)| (name.clone(), setting.value())).collect()
}
