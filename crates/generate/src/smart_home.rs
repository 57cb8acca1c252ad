//! Models of pairs of smart-home apps, to measure reduction of programs that never end.
//!
//! The shape is that of the IoTCheck pairs in Trimananda, Luo, Demsky, Xu: *Stateful Dynamic
//! Partial Order Reduction for Model Checking Event-Driven Applications that Do Not Terminate*
//! (VMCAI 2022), section 6. Two apps share devices. External events are always enabled; each stores
//! a value of a device and runs the app that subscribes to it. Conflicts are reads against writes
//! and writes against writes. The apps themselves are random.

use anyorder_common::random::{Random, Rng};
use std::fmt::Write;

/// The least and the greatest number of events of [`smart_home`].
pub const SMART_HOME_EVENTS: std::ops::RangeInclusive<u64> = 2..=400;

/// The devices that both apps may switch, with their numbers of values.
const ACTUATORS: [(&str, u64); 5] =
    [("lamp", 2), ("door", 2), ("heating", 4), ("siren", 2), ("valve", 3)];

/// In pairs with more events than this, the apps only store the values of most devices.
const SMALL: u64 = 20;

/// The devices that report values.
const SENSORS: [&str; 8] =
    ["motion", "contact", "presence", "smoke", "button", "level", "power", "humidity"];

/// A device that reports values.
struct Sensor {
    name: String,
    values: u64,
    /// The app that subscribes to it.
    app: usize,
    /// Whether the app stores the parity of its events.
    toggles: bool,
}

/// A variable of rules: its name and the number of its values.
type Variable = (String, u64);

/// A rule: when a sensor reports a value, and optionally only if a variable has a value, another
/// variable gets a value.
struct Rule {
    sensor: usize,
    value: u64,
    condition: Option<(String, u64)>,
    target: String,
    sets: u64,
}

/// Returns the text of a model with `events` external events, always the same for the same
/// arguments; `None` when the number is outside [`SMART_HOME_EVENTS`]. Linear in `events`.
///
/// ```
/// let text = anyorder_generate::smart_home(14, 3).expect("2 to 400 events");
/// assert_eq!(text.matches("\nevent ").count(), 14);
/// assert_eq!(text, anyorder_generate::smart_home(14, 3).unwrap());
/// ```
#[must_use]
pub fn smart_home(events: u64, seed: u64) -> Option<String> {
    if !SMART_HOME_EVENTS.contains(&events) {
        return None;
    }
    let mut rng = Rng::for_purpose(seed, *b"home");
    let sensors = sensors(&mut rng, events);
    let variables = variables(&mut rng, events);
    let rules = rules(&mut rng, &sensors, &variables, events);
    let mut text = format!(
        "// Two smart-home apps that share devices, generated: {events} events, seed {seed}.\nmodel smart_home_{events}_{seed}\n\n"
    );
    for sensor in &sensors {
        let _ = writeln!(text, "var {} = 0;", sensor.name);
        if sensor.toggles {
            let _ = writeln!(text, "var {}_odd = 0;", sensor.name);
        }
    }
    for (name, _) in &variables {
        let _ = writeln!(text, "var {name} = 0;");
    }
    for (number, sensor) in sensors.iter().enumerate() {
        text.push('\n');
        for value in 0..sensor.values {
            event(&mut text, sensor, number, value, &rules);
        }
    }
    text.push('\n');
    for (app, name) in ["first", "second"].iter().enumerate() {
        let own = sensors.iter().filter(|sensor| sensor.app == app);
        let names: Vec<String> =
            own.flat_map(|s| (0..s.values).map(move |v| format!("{}_{v}", s.name))).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "component {name}:\n    {};", names.join(",\n    "));
        }
    }
    Some(text)
}

fn sensors(rng: &mut Rng, events: u64) -> Vec<Sensor> {
    let mut sensors: Vec<Sensor> = Vec::new();
    let mut left = events;
    while left > 0 {
        let values = match left {
            // The last one: a button, which always reports the same value.
            1 => 1,
            2 => 2,
            3 => 3,
            _ if rng.chance(0.3) && left != 4 => 3,
            _ => 2,
        };
        let number = sensors.len();
        let name = format!("{}_{number}", SENSORS[rng.index(SENSORS.len())]);
        // Each app has at least one, if there are two.
        let app = if number < 2 { number } else { rng.index(2) };
        let toggles = events <= SMALL && rng.chance(0.5);
        sensors.push(Sensor { name, values, app, toggles });
        left -= values;
    }
    sensors
}

/// Returns the actuators, the lamp first, and the variables of the apps.
fn variables(rng: &mut Rng, events: u64) -> Vec<Variable> {
    let actuators = rng.within(1, 1 + (events / 6).min(ACTUATORS.len() as u64 - 1)) as usize;
    let mut all: Vec<Variable> =
        ACTUATORS[..actuators].iter().map(|(name, values)| ((*name).to_owned(), *values)).collect();
    let remembered = rng.within(1, 2 + (events / 6).min(2));
    all.extend((0..remembered).map(|number| (format!("remembered_{number}"), rng.within(2, 3))));
    all
}

fn rules(rng: &mut Rng, sensors: &[Sensor], variables: &[Variable], events: u64) -> Vec<Rule> {
    // Two sensors at least: one per app.
    let rule_sensors = if events <= SMALL { sensors.len() } else { sensors.len().min(7) };
    let sensors = &sensors[..rule_sensors];
    let count = if events <= SMALL {
        rng.within(events / 4 + 1, 3 * events / 4 + 1)
    } else {
        rng.within(8, 16)
    };
    (0..count)
        .map(|number| {
            // The first two rules belong to different apps and set the same actuator, so that there
            // is a conflict.
            let app = number as usize % 2;
            let own: Vec<usize> = (0..sensors.len()).filter(|i| sensors[*i].app == app).collect();
            let sensor = own.get(rng.index(own.len().max(1))).copied().unwrap_or(0);
            let condition = rng.chance(0.6).then(|| {
                let other = rng.index(sensors.len() + variables.len());
                let (name, values) = match sensors.get(other) {
                    Some(sensor) => (&sensor.name, sensor.values),
                    None => {
                        let (name, values) = &variables[other - sensors.len()];
                        (name, *values)
                    }
                };
                (name.clone(), rng.below(values))
            });
            let (target, values) =
                &variables[if number < 2 { 0 } else { rng.index(variables.len()) }];
            Rule {
                sensor,
                value: rng.below(sensors[sensor].values),
                condition,
                target: target.clone(),
                sets: rng.below(*values),
            }
        })
        .collect()
}

fn event(text: &mut String, sensor: &Sensor, number: usize, value: u64, rules: &[Rule]) {
    let _ = writeln!(text, "event {}_{value} {{", sensor.name);
    let _ = writeln!(text, "    {} = {value};", sensor.name);
    if sensor.toggles && value == 0 {
        let _ = writeln!(text, "    {0}_odd = 1 - {0}_odd;", sensor.name);
    }
    for rule in rules.iter().filter(|rule| rule.sensor == number && rule.value == value) {
        let set = format!("{} = {};", rule.target, rule.sets);
        let _ = match &rule.condition {
            Some((place, value)) => {
                writeln!(text, "    if {place} == {value} {{ {set} }}")
            }
            None => writeln!(text, "    {set}"),
        };
    }
    text.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use super::smart_home;

    #[test]
    fn models_have_as_many_events_as_asked_for() {
        for events in 2..=80 {
            for seed in 0..20 {
                let text = smart_home(events, seed).expect("in range");
                assert_eq!(text.matches("\nevent ").count() as u64, events, "{events} {seed}");
            }
        }
        assert!(smart_home(1, 0).is_none() && smart_home(401, 0).is_none());
    }

    #[test]
    fn both_apps_write_the_first_actuator_somewhere() {
        let text = smart_home(20, 5).expect("in range");
        assert!(text.contains("component first:") && text.contains("component second:"), "{text}");
        assert!(text.matches("lamp = ").count() > 2, "{text}");
    }
}
