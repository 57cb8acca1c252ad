//! The whole of a home: what its configuration declares.

use super::automation::{Automation, automation, script};
use super::reader::Reader;
use super::words::{entities, slug, texts};
use crate::config::Config;
use crate::place::{Place, Problem};
use crate::yaml::Node;
use std::collections::BTreeMap;

/// A scene: states by entity.
#[derive(Clone, PartialEq, Debug)]
pub struct Scene {
    /// Its entity.
    pub entity: String,
    /// Where it is.
    pub place: Place,
    /// What it sets.
    pub states: Vec<(String, String)>,
}

/// A helper, such as an `input_select`.
#[derive(Clone, PartialEq, Debug)]
pub struct Helper {
    /// Where it is.
    pub place: Place,
    /// Its options, if it is a list of options.
    pub options: Vec<String>,
    /// Its initial state, if that is given.
    pub initial: Option<String>,
    /// The duration of a timer in milliseconds.
    pub duration: Option<i64>,
}

/// The automations of a home, and what they work on.
#[derive(Debug, Default)]
pub struct Home {
    /// The names of files, by number.
    pub files: Vec<String>,
    /// What was wrong, or not understood.
    pub problems: Vec<Problem>,
    /// Automations, then scripts, in the order of their declarations.
    pub automations: Vec<Automation>,
    /// Scenes by entity.
    pub scenes: BTreeMap<String, Scene>,
    /// Members of groups by entity.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Helpers by entity.
    pub helpers: BTreeMap<String, Helper>,
}

impl Home {
    /// Builds the tree. Linear in the configuration.
    #[must_use]
    pub fn new(config: Config) -> Home {
        let mut reader = Reader { problems: config.problems };
        let mut home = Home { files: config.files, ..Home::default() };
        let mut taken: BTreeMap<String, u32> = BTreeMap::new();
        for (number, node) in config.automations.iter().enumerate() {
            let mut found = automation(&mut reader, node, number);
            let count = taken.entry(found.entity.clone()).or_default();
            *count += 1;
            if *count > 1 {
                // Home Assistant counts equal names, too.
                found.entity = format!("{}_{count}", found.entity);
            }
            home.automations.push(found);
        }
        for (name, node) in &config.scripts {
            home.automations.push(script(&mut reader, name, node));
        }
        for node in &config.scenes {
            let name = node.first_of(&["name", "id"]).and_then(Node::scalar).unwrap_or_default();
            let entity = format!("scene.{}", slug(&name));
            let states = node.get("entities").map(scene_states).unwrap_or_default();
            home.scenes.insert(entity.clone(), Scene { entity, place: node.place, states });
        }
        for (name, node) in &config.groups {
            let members = node.get("entities").and_then(entities).or_else(|| entities(node));
            match members {
                Some(members) => {
                    home.groups.insert(format!("group.{name}"), members);
                }
                None => reader.unknown(node.place, "group", "the members are not known"),
            }
        }
        for (domain, name, node) in &config.helpers {
            let duration = node.get("duration").and_then(super::words::duration);
            let duration = match duration {
                Some(super::Duration::Known(millis)) => Some(millis),
                _ => None,
            };
            let options = node.get("options").map(texts).unwrap_or_default();
            let initial = node.get("initial").and_then(Node::scalar);
            let initial = initial.map(|text| match text.as_str() {
                "True" => "on".to_owned(),
                "False" => "off".to_owned(),
                _ => text,
            });
            let helper = Helper { place: node.place, options, initial, duration };
            home.helpers.insert(format!("{domain}.{name}"), helper);
        }
        home.problems = reader.problems;
        home
    }

    /// Returns the members of a group, those of groups in it too; an entity that is no group is its
    /// own only member.
    #[must_use]
    pub fn members(&self, entity: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.add_members(entity, 0, &mut found);
        found
    }

    fn add_members(&self, entity: &str, depth: usize, found: &mut Vec<String>) {
        match self.groups.get(entity).filter(|_| depth < 8) {
            Some(members) => members.iter().for_each(|m| self.add_members(m, depth + 1, found)),
            None => found.push(entity.to_owned()),
        }
    }
}

fn scene_states(node: &Node) -> Vec<(String, String)> {
    let state = |value: &Node| match value.get("state") {
        Some(state) => word(state),
        None => word(value),
    };
    let pair = |(k, v): &(Node, Node)| Some((k.scalar()?, state(v)?));
    node.entries().iter().filter_map(pair).collect()
}

/// The state that a scene writes as a YAML word: `on` is a boolean there, and means on.
fn word(node: &Node) -> Option<String> {
    node.scalar().map(|text| match text.as_str() {
        "True" => "on".to_owned(),
        "False" => "off".to_owned(),
        _ => text,
    })
}
