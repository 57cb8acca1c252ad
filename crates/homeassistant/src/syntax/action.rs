//! The steps of a sequence.

use super::condition::{Condition, condition, conditions, is_condition};
use super::reader::Reader;
use super::trigger::{Trigger, triggers};
use super::words::{Duration, duration, entities, is_entity, number};
use crate::place::Place;
use crate::yaml::{Node, Value, is_template};

/// The service of a call whose service a template names.
pub(super) const TEMPLATED: &str = "(templated)";

/// A step.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Where it is.
    pub place: Place,
    /// What it does.
    pub kind: ActionKind,
}

/// A call of a service.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Call {
    /// `light`.
    pub domain: String,
    /// `turn_on`.
    pub service: String,
    /// The entities that it names; `None` where a template names them.
    pub targets: Option<Vec<String>>,
    /// A template that names the entities.
    pub target_template: Option<String>,
    /// The entities that such a template names: it may be for any of these.
    pub maybe: Vec<String>,
    /// Whether areas, devices or labels name more.
    pub indirect: bool,
    /// Its data.
    pub data: Node,
    /// Whether the run goes on if it fails.
    pub continue_on_error: bool,
}

/// One way of a `choose`.
#[derive(Clone, PartialEq, Debug)]
pub struct Branch {
    /// When it is taken.
    pub conditions: Vec<Condition>,
    /// What it does.
    pub sequence: Vec<Action>,
}

/// How often something is repeated.
#[derive(Clone, PartialEq, Debug)]
pub enum Count {
    /// So often.
    Times(u32),
    /// As often as a template says.
    Unknown,
    /// As long as this holds.
    While(Vec<Condition>),
    /// Until this holds.
    Until(Vec<Condition>),
}

/// A loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Repeat {
    /// How often.
    pub count: Count,
    /// What.
    pub sequence: Vec<Action>,
}

/// The kinds of steps.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields have the names of Home Assistant")]
pub enum ActionKind {
    /// Calls a service.
    Call(Call),
    /// Fires an event of the bus.
    Event { name: String, data: Vec<(String, Option<String>)> },
    /// Takes the first branch whose conditions hold.
    Choose { branches: Vec<Branch>, default: Option<Vec<Action>> },
    /// Takes one of two branches.
    If { conditions: Vec<Condition>, then: Vec<Action>, otherwise: Vec<Action> },
    /// Repeats.
    Repeat(Repeat),
    /// Waits for a trigger.
    WaitTrigger { triggers: Vec<Trigger>, timeout: Option<Duration>, goes_on: bool },
    /// Waits until a template is true.
    WaitTemplate { template: String, timeout: Option<Duration>, goes_on: bool },
    /// Waits for a time.
    Delay(Duration),
    /// Starts sequences, and waits for all.
    Parallel(Vec<Vec<Action>>),
    /// A sequence inside.
    Sequence(Vec<Action>),
    /// Ends the run.
    Stop,
    /// Ends the sequence unless it holds.
    Condition(Condition),
    /// Sets variables.
    Variables(Vec<(String, Node)>),
    /// Does nothing that the model has.
    Nothing,
}

/// Reads a sequence.
pub(super) fn sequence(reader: &mut Reader, node: &Node) -> Vec<Action> {
    let mut steps = Vec::new();
    for item in node.items() {
        if let Value::List(_) = item.value {
            steps.extend(sequence(reader, item));
        } else {
            steps.push(action(reader, item));
        }
    }
    steps
}

fn action(reader: &mut Reader, node: &Node) -> Action {
    let kind = if node.get("enabled").is_some_and(|e| e.value == Value::Bool(false)) {
        ActionKind::Nothing
    } else {
        kind(reader, node)
    };
    Action { place: node.place, kind }
}

fn kind(reader: &mut Reader, node: &Node) -> ActionKind {
    if let Some(service) = node.first_of(&["action", "service", "service_template"]) {
        return call(reader, node, service);
    }
    if let Some(scene) = node.get("scene").and_then(Node::as_str) {
        return ActionKind::Call(Call {
            domain: "scene".to_owned(),
            service: "turn_on".to_owned(),
            targets: Some(vec![scene.to_owned()]),
            ..Call::default()
        });
    }
    if let Some(event) = node.first_of(&["event"]) {
        let name = event.scalar().unwrap_or_default();
        let pair = |(k, v): &(Node, Node)| {
            Some((k.scalar()?, v.scalar().filter(|text| !is_template(text))))
        };
        let data = node.first_of(&["event_data", "event_data_template"]);
        let data = data.map(|d| d.entries().iter().filter_map(pair).collect()).unwrap_or_default();
        return ActionKind::Event { name, data };
    }
    if let Some(branches) = node.get("choose") {
        return choose(reader, node, branches);
    }
    if let Some(asked) = node.get("if") {
        let conditions = conditions(reader, asked);
        let then = node.get("then").map(|then| sequence(reader, then)).unwrap_or_default();
        let otherwise = node.get("else").map(|e| sequence(reader, e)).unwrap_or_default();
        return ActionKind::If { conditions, then, otherwise };
    }
    if let Some(repeat) = node.get("repeat") {
        return repeated(reader, repeat);
    }
    let goes_on =
        node.get("continue_on_timeout").is_none_or(|value| value.value != Value::Bool(false));
    let timeout = |reader: &mut Reader| {
        let given = node.get("timeout").filter(|given| !given.is_null())?;
        Some(read_duration(reader, given))
    };
    if let Some(waited) = node.get("wait_for_trigger") {
        let timeout = timeout(reader);
        return ActionKind::WaitTrigger { triggers: triggers(reader, waited), timeout, goes_on };
    }
    if let Some(template) = node.get("wait_template") {
        let timeout = timeout(reader);
        let template = template.scalar().unwrap_or_default();
        return ActionKind::WaitTemplate { template, timeout, goes_on };
    }
    if let Some(delay) = node.get("delay") {
        return ActionKind::Delay(read_duration(reader, delay));
    }
    if let Some(branches) = node.get("parallel") {
        let branch = |item: &Node| match item.get("sequence") {
            Some(inner) => sequence(reader, inner),
            None => sequence(reader, item),
        };
        return ActionKind::Parallel(branches.items().iter().map(branch).collect());
    }
    if let Some(inner) = node.get("sequence") {
        return ActionKind::Sequence(sequence(reader, inner));
    }
    if node.get("stop").is_some() {
        return ActionKind::Stop;
    }
    if let Some(variables) = node.get("variables") {
        let pair = |(k, v): &(Node, Node)| Some((k.scalar()?, v.clone()));
        return ActionKind::Variables(variables.entries().iter().filter_map(pair).collect());
    }
    if node.get("set_conversation_response").is_some() {
        return ActionKind::Nothing;
    }
    if node.get("device_id").is_some() && node.get("condition").is_none() {
        let text = "a device action: the entity of the device is not in the configuration";
        reader.unknown(node.place, "device action", text);
        return ActionKind::Nothing;
    }
    if is_condition(node) {
        return ActionKind::Condition(condition(reader, node));
    }
    if node.get("alias").is_none() || node.entries().len() > 1 {
        reader.mistake(node.place, "step", "this step is of no known kind");
    }
    ActionKind::Nothing
}

/// The entities in the quoted texts of a template.
fn named_in(template: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if is_template(template) {
        for text in template.split(['\'', '"']).skip(1).step_by(2) {
            let text = text.trim().to_lowercase();
            if is_entity(&text) && !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

fn read_duration(reader: &mut Reader, node: &Node) -> Duration {
    let read = duration(node);
    match read {
        None => reader.mistake(node.place, "duration", "this is no duration"),
        Some(Duration::Unknown) => {
            reader.havoc(node.place, "templated duration", "any duration is assumed");
        }
        Some(Duration::Known(_)) => {}
    }
    read.unwrap_or(Duration::Unknown)
}

fn choose(reader: &mut Reader, node: &Node, branches: &Node) -> ActionKind {
    let mut found = Vec::new();
    for branch in branches.items() {
        let asked = branch.first_of(&["conditions", "condition"]);
        let conditions = asked.map(|asked| conditions(reader, asked)).unwrap_or_default();
        let sequence = branch.get("sequence").map(|s| sequence(reader, s)).unwrap_or_default();
        found.push(Branch { conditions, sequence });
    }
    let default = node.get("default").filter(|d| !d.is_null()).map(|d| sequence(reader, d));
    ActionKind::Choose { branches: found, default }
}

fn repeated(reader: &mut Reader, node: &Node) -> ActionKind {
    let sequence = node.get("sequence").map(|s| sequence(reader, s)).unwrap_or_default();
    let count = if let Some(count) = node.get("count") {
        match number(count) {
            Some(times) if times >= 0.0 => Count::Times(times as u32),
            _ => Count::Unknown,
        }
    } else if let Some(each) = node.get("for_each") {
        match &each.value {
            Value::List(items) => Count::Times(u32::try_from(items.len()).unwrap_or(u32::MAX)),
            _ => Count::Unknown,
        }
    } else if let Some(asked) = node.get("while") {
        Count::While(conditions(reader, asked))
    } else if let Some(asked) = node.get("until") {
        Count::Until(conditions(reader, asked))
    } else {
        reader.mistake(
            node.place,
            "repeat",
            "`repeat` needs `count`, `while`, `until` or `for_each`",
        );
        Count::Unknown
    };
    if count == Count::Unknown {
        reader.havoc(node.place, "templated repeat", "any number of repetitions is assumed");
    }
    ActionKind::Repeat(Repeat { count, sequence })
}

fn call(reader: &mut Reader, node: &Node, service: &Node) -> ActionKind {
    let place = service.place;
    let name = service.scalar().unwrap_or_default();
    let mut name = name;
    if is_template(&name) || service.tag.is_some() {
        let text = "any service of its domain is assumed";
        reader.havoc(place, "templated service", text);
        // The domain may be a constant; what the service does is not known.
        let domain = name.split_once('.').map_or("", |(domain, _)| domain.trim());
        let domain = if is_template(domain) || domain.contains('{') { "" } else { domain };
        name = format!("{domain}.{TEMPLATED}");
    }
    let Some((domain, service)) = name.trim().split_once('.') else {
        reader.mistake(place, "service", format!("`{name}` is no service"));
        return ActionKind::Nothing;
    };
    let mut entries: Vec<(Node, Node)> = Vec::new();
    for key in ["data", "data_template", "service_data"] {
        entries.extend(node.get(key).map(Node::entries).unwrap_or_default().iter().cloned());
    }
    let data = Node { place: node.place, tag: None, value: Value::Map(entries) };
    let target = node.get("target");
    let mut named: Vec<&Node> = Vec::new();
    named.extend(node.get("entity_id"));
    named.extend(data.get("entity_id"));
    named.extend(target.and_then(|target| target.get("entity_id")));
    let mut targets = Some(Vec::new());
    let mut target_template = None;
    let mut maybe = Vec::new();
    for node in &named {
        match (node.as_str(), entities(node)) {
            (Some("all"), _) => {
                reader.unknown(node.place, "`all` as a target", "the call is for all entities");
            }
            (_, Some(found)) => {
                if let Some(list) = &mut targets {
                    list.extend(found);
                }
            }
            (text, None) => {
                let named = text.map(named_in).unwrap_or_default();
                if named.is_empty() {
                    targets = None;
                } else {
                    maybe.extend(named);
                }
                target_template = text.filter(|text| is_template(text)).map(str::to_owned);
            }
        }
    }
    let indirect = ["area_id", "device_id", "label_id", "floor_id"].iter().any(|key| {
        data.get(key).is_some() || target.is_some_and(|target| target.get(key).is_some())
    }) || target.is_some_and(|target| target.as_str().is_some());
    let continue_on_error =
        node.get("continue_on_error").is_some_and(|value| value.value == Value::Bool(true));
    ActionKind::Call(Call {
        domain: domain.trim().to_lowercase(),
        service: service.trim().to_lowercase(),
        targets,
        target_template,
        maybe,
        indirect,
        data,
        continue_on_error,
    })
}
