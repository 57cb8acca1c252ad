//! Random homes: small apps as Groovy text.

use anyorder_common::random::{Random, Rng};
use std::collections::BTreeMap;

/// The inputs of every app. An app has the device of each, which all apps share.
const INPUTS: &str = "preferences { input 'lamp', 'capability.switch'
  input 'door', 'capability.lock'; input 'hall', 'capability.motionSensor'
  input 'gate', 'capability.contactSensor'; input 'key', 'capability.button' }";

/// What an app hears of.
const EVENTS: &[&str] = &[
    "hall, 'motion'",
    "hall, 'motion.active'",
    "gate, 'contact'",
    "gate, 'contact.open'",
    "key, 'button'",
    "lamp, 'switch'",
    "lamp, 'switch.off'",
    "door, 'lock'",
    "location, 'mode'",
    "app, 'touch'",
    "location, 'home'",
];

/// What an app does to others.
const COMMANDS: &[&str] = &[
    "lamp.on()",
    "lamp.off()",
    "door.lock()",
    "door.unlock()",
    "setLocationMode('Away')",
    "setLocationMode('Home')",
    "sendLocationEvent(name: 'home', value: 'x')",
];

/// What takes a subscription back, or has a timer run.
const FIRST: &[&str] = &["unsubscribe(hall)", "unsubscribe()", "runIn(60, later)"];

/// What only the app itself, or nobody, sees.
const QUIET: &[&str] = &[
    "state.a = evt.value",
    "state.a = 1",
    "state.b = lamp.currentSwitch",
    "state.b = state.a",
    "state.c = gate.currentContact",
    "log.debug hall.currentMotion",
    "log.debug state.b",
    "sendPush(\"it is ${location.mode}\")",
    "runIn(60, later)",
    "unschedule()",
    "unsubscribe(hall)",
    "subscribe(hall, 'motion', h0)",
    "if (gate.currentContact == 'open') { state.a = 2 } else { log.info 'shut' }",
];

/// What decides.
const CONDITIONS: &[&str] = &[
    "evt.value == 'active'",
    "evt.value == 'open'",
    "evt.value == 'on'",
    "state.a == 1",
    "state.a == state.b",
    "state.b == 'on'",
    "state.c == 'open'",
    "lamp.currentSwitch == 'on'",
    "door.currentLock == 'locked'",
    "gate.currentContact == 'open'",
    "hall.currentMotion == 'active'",
    "location.mode == 'Away'",
];

/// A generator that counts what it made.
pub(crate) struct Homes {
    rng: Rng,
    /// How often each text was used.
    pub(crate) used: BTreeMap<&'static str, u64>,
}

impl Homes {
    pub(crate) fn new(seed: u64) -> Homes {
        Homes { rng: Rng::new(seed), used: BTreeMap::new() }
    }

    /// Returns all texts that the generator uses.
    pub(crate) fn texts() -> impl Iterator<Item = &'static str> {
        [EVENTS, COMMANDS, FIRST, QUIET, CONDITIONS].into_iter().flatten().copied()
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        let text = self.rng.pick(list);
        *self.used.entry(text).or_default() += 1;
        text
    }

    /// Returns the texts of two or three apps.
    pub(crate) fn home(&mut self) -> Vec<String> {
        let count = self.rng.within(2, 3);
        (0..count).map(|number| self.app(number)).collect()
    }

    fn app(&mut self, number: u64) -> String {
        let only_reads = self.rng.percent(20);
        let handlers = self.rng.within(1, 2);
        let mut text = format!("definition(name: 'App {number}')\n{INPUTS}\ndef installed() {{\n");
        for handler in 0..handlers {
            let event = self.pick(EVENTS);
            text += &format!("  subscribe({event}, h{handler})\n");
        }
        if self.rng.percent(15) {
            text += &format!("  {}\n", self.pick(FIRST));
        }
        if self.rng.percent(15) {
            text += &format!("  {}\n", self.pick(COMMANDS));
        }
        text += "}\n";
        for handler in 0..handlers {
            text += &format!("def h{handler}(evt) {{\n{}}}\n", self.block(only_reads, 2));
        }
        text += &format!("def later() {{\n  def evt = [value: 'on']\n{}}}\n", {
            self.block(only_reads, 1)
        });
        text
    }

    fn block(&mut self, only_reads: bool, depth: u32) -> String {
        let count = self.rng.within(1, 2);
        (0..count).map(|_| self.stmt(only_reads, depth)).collect()
    }

    fn stmt(&mut self, only_reads: bool, depth: u32) -> String {
        if depth > 0 && self.rng.percent(45) {
            let condition = self.pick(CONDITIONS);
            let yes = self.block(only_reads, depth - 1);
            let no = match self.rng.percent(30) {
                true => format!(" else {{\n{}  }}", self.block(only_reads, depth - 1)),
                false => String::new(),
            };
            return format!("  if ({condition}) {{\n{yes}  }}{no}\n");
        }
        let list = if only_reads || self.rng.percent(35) { QUIET } else { COMMANDS };
        format!("  {}\n", self.pick(list))
    }
}
