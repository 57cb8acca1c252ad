//! The states of a part of a home, each with a finite set of values.

use super::effect::SWITCHES;
use super::facts::Facts;
use crate::syntax::{Home, shown_number};
use std::collections::{BTreeMap, BTreeSet};

/// The most values of one state; more are cut, and the cut is reported.
const VALUES_MAX: usize = 12;

/// A value that stands for all others.
pub(crate) const OTHER: &str = "(another value)";

/// The keys of a part of a home, and the values of each.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Entities, and attributes as `entity#attribute`.
    pub keys: Vec<String>,
    /// The values of each; the first one is the initial one.
    pub values: Vec<Vec<String>>,
    /// Keys with more values than fit.
    pub cut: Vec<String>,
    index: BTreeMap<String, usize>,
}

impl Table {
    /// Makes the table of what some parts read, write or wait for.
    #[must_use]
    pub fn new(home: &Home, facts: &Facts) -> Table {
        let mut keys: BTreeSet<String> = facts.triggers.clone();
        keys.extend(facts.reads.iter().cloned());
        keys.extend(facts.writes.keys().cloned());
        let mut table = Table::default();
        for key in keys {
            table.add(home, facts, key);
        }
        table
    }

    /// Returns the number of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<usize> {
        self.index.get(key).copied()
    }

    fn add(&mut self, home: &Home, facts: &Facts, key: String) {
        let mut values = base(home, &key);
        if let Some(mentioned) = facts.values.get(&key) {
            let fixed =
                !values.is_empty() && SWITCHES.contains(&domain(&key)) && !key.contains('#');
            for value in mentioned {
                let known = ["unavailable", "unknown"].contains(&value.as_str());
                if !values.contains(value) && (!fixed || known) {
                    values.push(value.clone());
                }
            }
        }
        if let Some(cuts) = facts.cuts.get(&key) {
            numbers(cuts, &mut values);
        }
        let open =
            !matches!(domain(&key), "lock" | "cover" | "valve" | "timer" | "sun" | "input_select");
        if (!SWITCHES.contains(&domain(&key)) && open) || key.contains('#') {
            let numeric = values.iter().any(|value| value.parse::<f64>().is_ok());
            if !numeric
                || facts
                    .values
                    .get(&key)
                    .is_some_and(|v| v.iter().any(|v| v.parse::<f64>().is_err()))
            {
                values.push(OTHER.to_owned());
            }
        }
        if values.len() > VALUES_MAX {
            let written = facts.writes.get(&key);
            values.sort_by_key(|value| !written.is_some_and(|written| written.contains(value)));
            values.truncate(VALUES_MAX);
            self.cut.push(key.clone());
        }
        // The first state is one in which conditions hold and triggers have yet to come.
        let first = facts.wanted.get(&key).cloned().or_else(|| {
            let awaited = facts.awaited.get(&key)?;
            values.iter().find(|value| *value != awaited).cloned()
        });
        if let Some(at) = first.and_then(|first| values.iter().position(|v| *v == first)) {
            values.swap(0, at);
        }
        self.index.insert(key.clone(), self.keys.len());
        self.keys.push(key);
        self.values.push(values);
    }
}

pub(crate) fn domain(key: &str) -> &str {
    key.split('.').next().unwrap_or("")
}

fn base(home: &Home, key: &str) -> Vec<String> {
    let list = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    if key.contains('#') {
        return Vec::new();
    }
    match domain(key) {
        "automation" => list(&["on", "off"]),
        word if SWITCHES.contains(&word) => list(&["off", "on"]),
        "lock" => list(&["locked", "unlocked"]),
        "cover" | "valve" => list(&["closed", "open"]),
        "person" | "device_tracker" => list(&["home", "not_home"]),
        "sun" => list(&["above_horizon", "below_horizon"]),
        "timer" => list(&["idle", "active"]),
        "alarm_control_panel" => list(&["disarmed", "armed_away"]),
        "media_player" | "climate" => list(&["off"]),
        "input_select" => home.helpers.get(key).map(|h| h.options.clone()).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A value on each threshold, one in each gap, and one beyond each end.
fn numbers(cuts: &BTreeSet<i64>, values: &mut Vec<String>) {
    let cuts: Vec<i64> = cuts.iter().copied().collect();
    let mut points = Vec::new();
    for (at, cut) in cuts.iter().enumerate() {
        points.push(if at == 0 { cut - 1000 } else { (cuts[at - 1] + cut) / 2 });
        points.push(*cut);
    }
    points.extend(cuts.last().map(|last| last + 1000));
    for point in points {
        let value = shown_number(point as f64 / 1000.0);
        if !values.contains(&value) {
            values.push(value);
        }
    }
}
