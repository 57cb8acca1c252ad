//! Which device or value each input of each app has.

mod shared;

pub(crate) use shared::values;
pub use shared::{shared, shared_watched};

use crate::app::{App, Lost, acts};
use crate::capability::{Attribute, Capabilities, Effect};
use crate::value::Stored;
use anyorder_groovy::eval::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A device of the home.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Device {
    /// Its name, in messages and for apps.
    pub name: String,
    /// Its capabilities by name.
    pub capabilities: Vec<String>,
    /// The attributes of all of them.
    pub attributes: BTreeMap<String, Attribute>,
    /// Their commands.
    pub commands: BTreeMap<String, Vec<(String, Effect)>>,
}

impl Device {
    /// Adds a capability. One that the table does not know adds its name only.
    pub fn add(&mut self, capability: &str, table: &Capabilities) {
        if self.capabilities.iter().any(|known| known == capability) {
            return;
        }
        self.capabilities.push(capability.to_owned());
        if let Some(facts) = table.get(capability) {
            self.attributes.extend(facts.attributes.clone());
            self.commands.extend(facts.commands.clone());
        }
    }
}

/// The value of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// One device, by its number.
    Device(usize),
    /// Several.
    Devices(Vec<usize>),
    /// Anything else.
    Value(Stored),
}

impl Setting {
    /// Returns the value that the app sees: devices are the objects of their numbers.
    pub(crate) fn value(&self) -> Value {
        let object = |device: usize| Value::Object(u32::try_from(device).unwrap_or(u32::MAX));
        match self {
            Setting::Device(device) => object(*device),
            Setting::Devices(devices) => {
                Value::list(devices.iter().map(|device| object(*device)).collect())
            }
            Setting::Value(value) => value.value(),
        }
    }
}

/// A home with the settings of its apps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Configuration {
    /// The devices.
    pub devices: Vec<Device>,
    /// The settings of each app, in the order of the apps.
    pub settings: Vec<BTreeMap<String, Setting>>,
    /// What of the preferences of each app was not understood: inputs may be missing.
    pub not_understood: Vec<Vec<Lost>>,
    /// The modes of the location; the first is the one at the start.
    pub modes: Vec<String>,
    /// The apps that this home has, by their numbers, in the order of their installation.
    pub installed: Vec<usize>,
}

impl Configuration {
    /// Returns the home that has only these of the apps, and the devices that they have. Apps and
    /// devices keep their numbers: a device that the home does not have can do nothing.
    #[must_use]
    pub fn with_only(&self, apps: &[usize]) -> Configuration {
        let mut home = Configuration { installed: apps.to_vec(), ..self.clone() };
        let settings = apps.iter().filter_map(|app| self.settings.get(*app));
        let used: BTreeSet<usize> = settings.flat_map(devices).collect();
        for (number, device) in home.devices.iter_mut().enumerate() {
            if !used.contains(&number) {
                *device = Device { name: std::mem::take(&mut device.name), ..Device::default() };
            }
        }
        home
    }

    /// Takes the apps out that only read, and returns their numbers. The home keeps their devices:
    /// which there are does not depend on who reads them.
    pub fn take_readers(&mut self, apps: &[App]) -> Vec<usize> {
        let acting = self.acting(apps);
        let (kept, readers) = self.installed.iter().partition(|app| acting[**app]);
        self.installed = kept;
        readers
    }

    /// Returns for each app whether it can change anything that another app or a rule sees. What
    /// only reads and sends messages has no part in a conflict, a loop or a breach.
    #[must_use]
    pub fn acting(&self, apps: &[App]) -> Vec<bool> {
        let acting = |(app, settings): (&App, &BTreeMap<String, Setting>)| {
            let devices: BTreeSet<usize> = devices(settings).collect();
            let commands = devices.iter().flat_map(|device| &self.devices[*device].commands);
            let names = commands.filter(|(_, effects)| !effects.is_empty());
            acts(app, &names.map(|(name, _)| name.as_str()).collect())
        };
        apps.iter().zip(&self.settings).map(acting).collect()
    }
}

/// Returns the devices among the settings of an app.
fn devices(settings: &BTreeMap<String, Setting>) -> impl Iterator<Item = usize> + '_ {
    settings
        .values()
        .flat_map(|setting| match setting {
            Setting::Device(device) => std::slice::from_ref(device),
            Setting::Devices(several) => several,
            Setting::Value(_) => &[],
        })
        .copied()
}
