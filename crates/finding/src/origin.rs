//! Where findings come from: the paths of inputs, however they were written.

use std::collections::BTreeMap;

/// The inputs of a call, by their paths as given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins {
    inputs: BTreeMap<String, Origin>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Origin {
    /// The path without links and dots.
    real: String,
    /// The name that a model gives itself. Its sites have the path of the input as their file.
    model: Option<String>,
}

impl Origins {
    /// Adds an input: its path as given, the path without links and dots, and the name that it
    /// gives itself if it is a model.
    pub fn add(&mut self, path: &str, real: &str, model: Option<&str>) {
        let (real, model) = (real.to_owned(), model.map(str::to_owned));
        let known = self.inputs.entry(path.to_owned());
        known
            .and_modify(|known| known.model = known.model.take().or_else(|| model.clone()))
            .or_insert(Origin { real, model: model.clone() });
    }

    /// Returns whether a file is that of the input itself.
    pub(crate) fn is_input(&self, input: Option<&str>, file: &str) -> bool {
        input == Some(file) && self.inputs.get(file).is_some_and(|one| one.model.is_some())
    }

    /// Returns how the file of a site is known: a model by its name and the end of its path, which
    /// is long enough to tell it from the other inputs; another file by the last part of its path.
    pub(crate) fn of_file(&self, input: Option<&str>, file: &str) -> String {
        if !self.is_input(input, file) {
            return tail(file, 1);
        }
        let own = &self.inputs[file];
        let same = |other: &&Origin| {
            other.real != own.real
                && other.model == own.model
                && tail(&other.real, 1) == tail(&own.real, 1)
        };
        let others: Vec<&Origin> = self.inputs.values().filter(same).collect();
        let is_alone = |parts: &usize| {
            others.iter().all(|one| tail(&one.real, *parts) != tail(&own.real, *parts))
        };
        let parts = (1..=PARTS_MAX).find(is_alone).unwrap_or(usize::MAX);
        let model = own.model.as_deref().unwrap_or_default();
        format!("{}\0{model}", tail(&own.real, parts))
    }

    /// Returns the real path of an input.
    pub(crate) fn path_of(&self, input: Option<&str>) -> String {
        let Some(input) = input else { return String::new() };
        self.inputs.get(input).map_or(input, |one| one.real.as_str()).to_owned()
    }
}

/// Longer paths are compared as a whole.
const PARTS_MAX: usize = 64;

/// Returns the last components of a path of any system, with `/` between them.
pub(crate) fn tail(path: &str, parts: usize) -> String {
    let components = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    let mut last: Vec<&str> = components.rev().take(parts).collect();
    last.reverse();
    last.join("/")
}
