//! Which automations of a home use which attributes.

use serde::{Deserialize, Serialize};

/// What one automation does with one attribute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Usage {
    /// The automation: its file, as the input names it.
    pub automation: String,
    /// The attribute: `switch.level`, `location.mode`.
    pub attribute: String,
    /// The values that it sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Whether it reads the attribute.
    #[serde(default)]
    pub reads: bool,
    /// Whether a change of the attribute runs it.
    #[serde(default)]
    pub hears: bool,
}

/// A home that was checked: one of several in one command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckedHome {
    /// The files of its automations, as the inputs name them.
    pub automations: Vec<String>,
    /// Whether all of it was searched and understood.
    pub complete: bool,
    /// The names of the limits that ended its search early.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
}

impl Usage {
    /// Adds what is known from another home with the same automations. Takes time in the product
    /// of the two lists' attributes of an automation.
    pub fn merge(known: &mut Vec<Usage>, more: Vec<Usage>) {
        for one in more {
            let same = |other: &&mut Usage| {
                other.automation == one.automation && other.attribute == one.attribute
            };
            let Some(old) = known.iter_mut().find(same) else {
                known.push(one);
                continue;
            };
            for value in one.writes {
                if !old.writes.contains(&value) {
                    old.writes.push(value);
                }
            }
            old.reads |= one.reads;
            old.hears |= one.hears;
        }
    }
}
