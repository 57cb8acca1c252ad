//! Generated automations against the real engine: the same calls in the same order.

use anyorder_homeassistant::config::load;
use anyorder_homeassistant::lower::{Bus, Op, Options, lower};
use anyorder_homeassistant::syntax::Home;
use anyorder_system::StateSystem;
use anyorder_testkit::effort;
use anyorder_vm::Machine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The real engine, in a process that answers scenario by scenario.
struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts the Python of `ANYORDER_HOMEASSISTANT`; `None`, with a word, without one.
    fn start() -> Option<Engine> {
        let Some(python) = std::env::var_os("ANYORDER_HOMEASSISTANT") else {
            println!("skipped: ANYORDER_HOMEASSISTANT names no Python with homeassistant 2025.4.4");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/engine.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Some(Engine { child, input, output })
    }

    fn run(&mut self, case: &Value) -> Result<Vec<String>, String> {
        let input = self.input.as_mut().expect("open");
        writeln!(input, "{case}").expect("the engine reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the engine answers");
        let answer: Value =
            serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        match answer["log"].as_array() {
            Some(log) => Ok(log.iter().map(|v| v.as_str().unwrap_or("").to_owned()).collect()),
            None => Err(answer["error"].to_string()),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % most
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

const SENSORS: &[&str] = &["binary_sensor.a", "binary_sensor.b"];
const LIGHTS: &[&str] = &["light.x", "light.y", "light.z"];

struct Generator {
    random: Random,
    fired: BTreeMap<&'static str, u64>,
    with_scripts: bool,
}

impl Generator {
    fn fire(&mut self, what: &'static str) {
        *self.fired.entry(what).or_default() += 1;
    }

    fn entity(&mut self) -> &'static str {
        if self.random.below(4) == 0 { self.random.pick(LIGHTS) } else { self.random.pick(SENSORS) }
    }

    fn trigger(&mut self) -> Value {
        let mut made = match self.random.below(6) {
            0 => {
                self.fire("numeric_state");
                let mut made = json!({"trigger": "numeric_state", "entity_id": "sensor.n"});
                let key = self.random.pick(&["above", "below"]);
                made[key] = json!(20);
                made
            }
            1 => {
                self.fire("template trigger");
                let entity = self.entity();
                let text = format!("{{{{ is_state('{entity}', 'on') }}}}");
                return json!({"trigger": "template", "value_template": text});
            }
            _ => {
                self.fire("state");
                let mut made = json!({"trigger": "state", "entity_id": self.entity()});
                match self.random.below(4) {
                    0 => made["from"] = json!(self.random.pick(&["on", "off"])),
                    1 => made["to"] = Value::Null,
                    2 => made["not_to"] = json!([self.random.pick(&["on", "unavailable"])]),
                    _ => made["to"] = json!(self.random.pick(&["on", "off"])),
                }
                made
            }
        };
        if self.random.below(4) == 0 {
            self.fire("for");
            made["for"] = json!({"seconds": 2 + self.random.below(4)});
        }
        made
    }

    fn condition(&mut self) -> Value {
        match self.random.below(5) {
            0 => {
                self.fire("and, or, not");
                let inner = [self.condition(), self.condition()];
                json!({"condition": self.random.pick(&["and", "or", "not"]), "conditions": inner})
            }
            1 => {
                self.fire("template condition");
                let entity = self.entity();
                json!({"condition": "template", "value_template": format!("{{{{ states('{entity}') == 'on' }}}}")})
            }
            2 => {
                self.fire("numeric condition");
                json!({"condition": "numeric_state", "entity_id": "sensor.n", "above": 20})
            }
            _ => {
                self.fire("state condition");
                json!({"condition": "state", "entity_id": self.entity(), "state": self.random.pick(&["on", "off"])})
            }
        }
    }

    fn sequence(&mut self, depth: u64) -> Value {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: u64) -> Value {
        let deep = if depth == 0 { 6 } else { 13 };
        match self.random.below(deep) {
            0..=2 => {
                let service =
                    self.random.pick(&["light.turn_on", "light.turn_off", "light.toggle"]);
                self.fire(if service == "light.toggle" { "toggle" } else { "call" });
                json!({"action": service, "target": {"entity_id": self.random.pick(LIGHTS)}})
            }
            3 => {
                self.fire("delay");
                // Odd milliseconds: no two deadlines are equal by chance.
                let millis = 1000 * (1 + self.random.below(5)) + 10 * self.random.below(90);
                json!({"delay": {"milliseconds": millis}})
            }
            4 => {
                self.fire("condition step");
                self.condition()
            }
            5 if self.with_scripts && self.random.below(2) == 0 => {
                self.fire("script");
                json!({"action": self.random.pick(&["script.s", "script.t"])})
            }
            5 => {
                self.fire("call");
                json!({"action": "light.turn_on", "target": {"entity_id": LIGHTS}})
            }
            6 => {
                self.fire("choose");
                let branch = |g: &mut Generator| json!({"conditions": [g.condition()], "sequence": g.sequence(depth - 1)});
                json!({"choose": [branch(self), branch(self)], "default": self.sequence(depth - 1)})
            }
            7 => {
                self.fire("if");
                json!({"if": [self.condition()], "then": self.sequence(depth - 1), "else": self.sequence(depth - 1)})
            }
            8 => {
                self.fire("repeat");
                json!({"repeat": {"count": self.random.below(3), "sequence": self.sequence(depth - 1)}})
            }
            9 => {
                self.fire("wait_for_trigger");
                let mut made = json!({"wait_for_trigger": [self.trigger()]});
                if self.random.below(2) == 0 {
                    made["timeout"] = json!({"milliseconds": 1005 + 1000 * self.random.below(4)});
                    made["continue_on_timeout"] = json!(self.random.below(2) == 0);
                }
                made
            }
            10 => {
                self.fire("wait_template");
                let entity = self.entity();
                json!({"wait_template": format!("{{{{ is_state('{entity}', 'on') }}}}"), "timeout": {"milliseconds": 3015}})
            }
            11 => {
                self.fire("parallel");
                let branch = |g: &mut Generator| json!({"sequence": g.sequence(depth - 1)});
                json!({"parallel": [branch(self), branch(self)]})
            }
            _ => {
                self.fire("stop");
                json!({"stop": "enough"})
            }
        }
    }

    fn automation(&mut self, number: u64) -> Value {
        let mode = self.random.pick(&["single", "restart", "queued", "parallel"]);
        self.fire(mode);
        let triggers: Value = (0..1 + self.random.below(2)).map(|_| self.trigger()).collect();
        let mut made = json!({
            "id": format!("a{number}"), "alias": format!("a{number}"), "mode": mode,
            "triggers": triggers, "actions": self.sequence(2),
        });
        if self.random.below(3) == 0 {
            made["conditions"] = json!([self.condition()]);
        }
        if mode == "queued" || mode == "parallel" {
            made["max"] = json!(2 + self.random.below(2));
        }
        made
    }

    fn case(&mut self) -> Value {
        let automations: Value =
            (0..1 + self.random.below(3)).map(|n| self.automation(n)).collect();
        let mut ops = Vec::new();
        for _ in 0..4 + self.random.below(8) {
            if self.random.below(3) == 0 {
                ops.push(json!(["adv", 1 + self.random.below(4)]));
            } else if self.random.below(5) == 0 {
                ops.push(json!([
                    "set",
                    "sensor.n",
                    self.random.pick(&["10", "20", "30", "unavailable"])
                ]));
            } else {
                ops.push(json!([
                    "set",
                    self.random.pick(SENSORS),
                    self.random.pick(&["on", "off"])
                ]));
            }
        }
        ops.push(json!(["adv", 60]));
        let mut init = json!({"sensor.n": "10"});
        for entity in SENSORS.iter().chain(LIGHTS) {
            init[*entity] = json!("off");
        }
        let mut case = json!({"automation": automations, "ops": ops, "init": init});
        if self.with_scripts {
            let of = |g: &mut Generator, mode: &str| {
                g.with_scripts = false;
                let made = json!({"mode": mode, "sequence": g.sequence(1)});
                g.with_scripts = true;
                made
            };
            let mode = self.random.pick(&["single", "restart", "queued"]);
            case["script"] = json!({"s": of(self, mode), "t": of(self, "parallel")});
        }
        case
    }
}

/// What our program calls; `None` where it does not end.
fn ours(case: &Value, reversed: bool) -> Option<Vec<String>> {
    ours_with(case, reversed, Bus::Drop)
}

fn ours_with(case: &Value, reversed: bool, bus: Bus) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("configuration.yaml");
    let text = json!({"automation": case["automation"], "script": case["script"]});
    std::fs::write(&path, text.to_string()).expect("written");
    let home = Home::new(load(folder.path()).expect("a configuration"));
    let mistakes: Vec<_> = home.problems.iter().collect();
    assert!(mistakes.is_empty(), "{mistakes:?} in {text}");
    let scenario = case["ops"].as_array().expect("a list").iter().map(|op| match op[0].as_str() {
        Some("set") => {
            let text = |at: usize| op[at].as_str().expect("a text").to_owned();
            Op::Set(text(1), text(2))
        }
        _ => Op::Advance(op[1].as_i64().expect("a number") as i32 * 1000),
    });
    let initial = case["init"].as_object().expect("a map").iter();
    let initial = initial.map(|(k, v)| (k.clone(), v.as_str().expect("a text").to_owned()));
    let options = Options {
        runs_max: 10,
        turns_max: 10,
        reversed,
        bus,
        scenario: Some(scenario.collect()),
        initial: initial.collect(),
        ..Options::of((0..home.automations.len()).collect())
    };
    let lowered = lower(&home, &options).expect("it fits");
    assert!(lowered.problems.is_empty(), "{:?} in {text}", lowered.problems);
    let machine = Machine::new(lowered.program).expect("valid");
    let mut state = machine.initial().remove(0);
    for _ in 0..5_000 {
        let mut next = Vec::new();
        machine.successors(&state, &mut next);
        assert!(next.len() <= 1, "a scenario has one run: {text}");
        let Some(only) = next.pop() else {
            let shown = machine.show(&state);
            let log = shown.into_iter().find(|(name, _)| name == "log").expect("a log").1;
            let list: Vec<String> = serde_json::from_str(&log).expect("a list of texts");
            return Some(list);
        };
        assert!(only.failure.is_none(), "{:?} in {text}", only.failure);
        state = only.state;
    }
    None
}

/// Faults of the semantics: a key of the automations, and what it then says.
const SABOTAGES: &[(&str, &str, &str)] = &[
    ("all modes are single", "mode", "\"single\""),
    ("all modes are restart", "mode", "\"restart\""),
    ("`for` is nothing", "for", "null"),
    ("conditions hold", "conditions", "[]"),
    ("delays take no time", "delay", "{\"milliseconds\": 1}"),
    ("a time-out ends no run", "continue_on_timeout", "true"),
    ("`to` is any state", "to", "null"),
    ("loops have one turn", "count", "1"),
];

/// What the generator must have made.
const CONSTRUCTS: &[&str] = &[
    "numeric_state",
    "template trigger",
    "state",
    "for",
    "and, or, not",
    "template condition",
    "numeric condition",
    "state condition",
    "toggle",
    "call",
    "delay",
    "condition step",
    "script",
    "choose",
    "if",
    "repeat",
    "wait_for_trigger",
    "wait_template",
    "parallel",
    "stop",
    "single",
    "restart",
    "queued",
];

/// Replaces what a key says, everywhere.
fn replace(value: &mut Value, key: &str, by: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, key, by)),
        Value::Object(map) => {
            for (name, inner) in map {
                if name == key {
                    *inner = serde_json::from_str(by).expect("JSON");
                } else {
                    replace(inner, key, by);
                }
            }
        }
        _ => {}
    }
}

/// A run that waits for what it has just done: the engine of 2025 drops the change, as nobody else
/// tracks the light; since 2026.6 the change waits in a queue, and the run hears of it.
#[test]
fn the_bus_drops_what_nobody_tracks() {
    let call = |light: &str| json!({"action": "light.turn_on", "target": {"entity_id": light}});
    let wait = json!({
        "wait_for_trigger": [{"trigger": "state", "entity_id": "light.x", "to": "on"}],
        "timeout": {"seconds": 3}, "continue_on_timeout": false,
    });
    let automation = |name: &str, of: &str, actions: Vec<Value>| {
        json!({
            "id": name, "alias": name, "actions": actions,
            "triggers": [{"trigger": "state", "entity_id": of, "to": "on"}],
        })
    };
    let first = automation("a", "binary_sensor.a", vec![call("light.x"), wait, call("light.y")]);
    let tracks = automation("b", "light.x", vec![call("light.z")]);
    let mut init = json!({"sensor.n": "10"});
    for entity in SENSORS.iter().chain(LIGHTS) {
        init[*entity] = json!("off");
    }
    let mut engine = Engine::start();
    for (automations, heard) in [(json!([first]), false), (json!([first, tracks]), true)] {
        let ops = json!([["set", "binary_sensor.a", "on"], ["adv", 60]]);
        let case = json!({"automation": automations, "ops": ops, "init": init});
        let has = |log: &[String]| log.contains(&"light.turn_on light.y".to_owned());
        let before = ours_with(&case, false, Bus::Drop).expect("it ends");
        let since = ours_with(&case, false, Bus::Queue).expect("it ends");
        assert_eq!((has(&before), has(&since)), (heard, true), "{before:?} {since:?}");
        if let Some(engine) = &mut engine {
            assert_eq!(engine.run(&case), Ok(before));
        }
    }
}

#[test]
fn calls_are_those_of_the_real_engine() {
    let Some(mut engine) = Engine::start() else { return };
    let mut fired: BTreeMap<&str, u64> = BTreeMap::new();
    let mut noticed: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut same, mut endless, mut wrong) = (0, 0, Vec::new());
    for seed in effort::sampled(60, 2_000) {
        let with_scripts = seed % 3 == 0;
        let mut generator =
            Generator { random: Random(seed), fired: BTreeMap::new(), with_scripts };
        let case = generator.case();
        let Some(mine) = ours(&case, false) else {
            endless += 1;
            continue;
        };
        for (what, count) in generator.fired {
            *fired.entry(what).or_default() += count;
        }
        match engine.run(&case) {
            Ok(real) if real == mine => {
                same += 1;
                // The test of the test: each of these is another semantics.
                let mut notice = |what: &'static str, other: Option<Vec<String>>| {
                    *noticed.entry(what).or_insert(0) +=
                        u64::from(other.is_some_and(|o| o != real));
                };
                notice("other order", ours(&case, true));
                for (at, (what, key, value)) in SABOTAGES.iter().enumerate() {
                    // Each one in a part of the cases: a push has some seconds.
                    if (seed as usize + at) % 2 == 1 {
                        continue;
                    }
                    let mut other = case.clone();
                    replace(&mut other["automation"], key, value);
                    if other != case {
                        notice(what, ours(&other, false));
                    }
                }
            }
            Ok(real) => wrong.push(format!("seed {seed}\n{case}\nreal {real:?}\nours {mine:?}")),
            Err(error) => wrong.push(format!("seed {seed}\n{case}\n{error}")),
        }
    }
    println!("same {same}, endless {endless}, faults noticed {noticed:?}, {fired:?}");
    assert!(wrong.is_empty(), "{} differ, the first: {}", wrong.len(), wrong[0]);
    for construct in CONSTRUCTS {
        assert!(fired.contains_key(construct), "`{construct}` never occurred");
    }
    assert!(noticed.values().sum::<u64>() > 0, "{noticed:?}");
    // A few cases do not have each fault.
    for (what, _, _) in SABOTAGES.iter().filter(|_| same >= 500) {
        assert!(noticed.get(what).is_some_and(|count| *count > 0), "{what}: {noticed:?}");
    }
    assert!(same < 500 || noticed["other order"] > 0, "{noticed:?}");
}
