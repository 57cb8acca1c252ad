//! Puts the files of a configuration together, as Home Assistant merges them.

use super::blueprint::instantiate;
use super::files::Files;
use super::include::{file, resolve};
use crate::place::{Place, Problem, Severity};
use crate::yaml::{Node, Value};
use std::path::Path;

/// What a configuration declares, as nodes in the order in which Home Assistant sets them up.
#[derive(Debug, Default)]
pub struct Config {
    /// The names of its files, by number.
    pub files: Vec<String>,
    /// What was wrong in them.
    pub problems: Vec<Problem>,
    /// Automations.
    pub automations: Vec<Node>,
    /// Scripts by name.
    pub scripts: Vec<(String, Node)>,
    /// Scenes.
    pub scenes: Vec<Node>,
    /// Groups by name.
    pub groups: Vec<(String, Node)>,
    /// Helpers: domain, name, options.
    pub helpers: Vec<(String, String, Node)>,
    /// Template entities, those of `template:` only.
    pub templates: Vec<Node>,
}

/// Why there is no configuration at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// The directory has no `configuration.yaml` and no `automations.yaml`.
    #[error("there is no `configuration.yaml` or `automations.yaml` in it")]
    NoConfiguration,
    /// Its main file is not YAML.
    #[error("{file}:{}:{}: {text}", place.line, place.column)]
    NotYaml {
        /// The name of the file.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong.
        text: String,
    },
    /// Nothing in it is an automation or script.
    #[error("it has no automation and no script")]
    Nothing,
}

/// The integrations whose entities automations set by services.
const HELPERS: &[&str] = &[
    "input_boolean",
    "input_number",
    "input_select",
    "input_text",
    "input_datetime",
    "input_button",
    "timer",
    "counter",
    "schedule",
];

/// Returns whether a text looks like a configuration or a list of automations, by its first keys.
/// Linear in the text.
#[must_use]
pub fn is_configuration(text: &str) -> bool {
    let top = |line: &str| {
        let key = line.split(':').next().unwrap_or("").trim_end();
        let domain = key.split(' ').next().unwrap_or("");
        line.contains(':')
            && (domain == "automation"
                || key == "homeassistant"
                || key == "default_config"
                || key == "script")
    };
    let in_list = |line: &str| {
        let key = line.trim_start_matches(['-', ' ']).split(':').next().unwrap_or("").trim();
        let words = ["trigger", "triggers", "action", "actions", "use_blueprint"];
        words.contains(&key) && line.contains(':')
    };
    let is_list = text.lines().any(|line| line.starts_with("- ") || line.trim_end() == "-");
    text.lines().any(top)
        || text.lines().filter(|_| is_list).any(in_list)
        || (text.lines().any(|l| l.starts_with("trigger"))
            && text.lines().any(|l| l.starts_with("action")))
}

/// Loads the configuration at a path: a directory, its `configuration.yaml`, or a file of
/// automations. Linear in its files.
///
/// # Errors
///
/// Fails if there is nothing to check there.
pub fn load(path: &Path) -> Result<Config, LoadError> {
    let mut loader = if path.is_dir() {
        let mut loader = Loader { files: Files::new(path), config: Config::default() };
        let main = ["configuration.yaml", "automations.yaml"];
        let main = main.into_iter().find(|name| loader.files.exists(Path::new(name)));
        let name = main.ok_or(LoadError::NoConfiguration)?;
        loader.main(Path::new(name))?;
        loader
    } else {
        let root = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut loader = Loader { files: Files::new(root), config: Config::default() };
        loader.main(Path::new(path.file_name().unwrap_or_default()))?;
        loader
    };
    loader.blueprints();
    let Loader { files, mut config } = loader;
    config.files = files.names;
    config.problems = files.problems;
    if config.automations.is_empty() && config.scripts.is_empty() {
        return Err(LoadError::Nothing);
    }
    Ok(config)
}

struct Loader {
    files: Files,
    config: Config,
}

impl Loader {
    fn main(&mut self, path: &Path) -> Result<(), LoadError> {
        let node = file(&mut self.files, path, &Node::default(), 0);
        let Some(node) = node else {
            let first = self.files.problems.first();
            let (place, text) = first.map(|p| (p.place, p.text.clone())).unwrap_or_default();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(LoadError::NotYaml { file, place, text });
        };
        match &node.value {
            Value::List(items) => self.config.automations.extend(items.iter().cloned()),
            _ if is_automation(&node) => self.config.automations.push(node),
            _ => {
                self.sections(&node);
                let core = node.get("homeassistant");
                if let Some(packages) = core.and_then(|core| core.get("packages")) {
                    let packages = resolve(&mut self.files, packages.clone(), Path::new(""), 0);
                    let all: Vec<&Node> = match &packages.value {
                        Value::Map(entries) => entries.iter().map(|(_, package)| package).collect(),
                        _ => packages.items().iter().collect(),
                    };
                    all.into_iter().for_each(|package| self.sections(package));
                }
            }
        }
        Ok(())
    }

    /// Takes what one file or package declares. `automation kitchen:` is `automation:`, too.
    fn sections(&mut self, node: &Node) {
        for (key, value) in node.entries() {
            let Some(key) = key.as_str() else { continue };
            let domain = key.split(' ').next().unwrap_or(key);
            match domain {
                "automation" => self.config.automations.extend(value.items().iter().cloned()),
                "script" => named(value, &mut self.config.scripts),
                "scene" => self.config.scenes.extend(value.items().iter().cloned()),
                "group" => named(value, &mut self.config.groups),
                "template" => self.config.templates.extend(value.items().iter().cloned()),
                helper if HELPERS.contains(&helper) => {
                    let mut found = Vec::new();
                    named(value, &mut found);
                    let found = found.into_iter().map(|(id, node)| (helper.to_owned(), id, node));
                    self.config.helpers.extend(found);
                }
                _ => {}
            }
        }
    }

    fn blueprints(&mut self) {
        let automations = std::mem::take(&mut self.config.automations);
        for node in automations {
            if !node.is_map() {
                let text = "an automation is a mapping";
                self.files.problem(node.place, Severity::Mistake, "automation", text);
                continue;
            }
            self.config.automations.extend(instantiate(&mut self.files, "automation", node));
        }
        let scripts = std::mem::take(&mut self.config.scripts);
        for (name, node) in scripts {
            let node = instantiate(&mut self.files, "script", node);
            self.config.scripts.extend(node.map(|node| (name, node)));
        }
    }
}

fn is_automation(node: &Node) -> bool {
    node.first_of(&["trigger", "triggers"]).is_some()
        && node.first_of(&["action", "actions"]).is_some()
}

/// Adds the entries of a mapping by name.
fn named(node: &Node, to: &mut Vec<(String, Node)>) {
    for item in node.items() {
        for (key, value) in item.entries() {
            if let Some(name) = key.scalar() {
                to.retain(|(known, _)| *known != name);
                to.push((name, value.clone()));
            }
        }
    }
}
