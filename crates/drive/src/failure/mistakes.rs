//! Mistakes in texts that people write: models and specifications.

use super::problems::rest;
use anyorder_common::text::{escape, escape_lines, shown};
use anyorder_commute::{SpecError, SpecErrors};
use std::fmt;
use std::path::Path;

/// A mistake in the text of a model, or a doubt about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Its code, such as `E0201`.
    pub code: &'static str,
    /// The message in one line, as it is: names in it are not escaped.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The message with its place in the text: several lines, safe to print, the last one ended.
    pub plain: String,
    /// The same with the colours of a terminal.
    pub coloured: String,
}

/// The mistakes in the text of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelMistakes {
    /// The name of the model.
    pub name: String,
    /// The first mistakes.
    pub list: Vec<Mistake>,
    /// The number of mistakes that are not listed.
    pub more: u64,
}

impl ModelMistakes {
    /// Returns the message that counts the mistakes that are not listed, if there are any.
    #[must_use]
    pub fn rest(&self) -> Option<String> {
        rest(Path::new(&self.name), self.more)
    }
}

impl fmt::Display for ModelMistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.list.iter().map(|mistake| mistake.plain.clone());
        let lines: Vec<String> = plain.chain(self.rest()).collect();
        f.write_str(lines.concat().trim_end())
    }
}

/// A warning about a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ModelWarning {
    /// A warning of the compiler of the language.
    Compiler(Mistake),
    /// A warning of another front end: one line.
    Words(String),
}

impl fmt::Display for ModelWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelWarning::Compiler(mistake) => f.write_str(mistake.plain.trim_end()),
            ModelWarning::Words(words) => f.write_str(&escape_lines(words)),
        }
    }
}

/// The mistakes in the text of commutativity specifications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecificationMistakes {
    /// The name of the text.
    pub name: String,
    /// The mistakes, in the order of the text; at least one.
    pub list: Vec<SpecError>,
}

impl SpecificationMistakes {
    pub(crate) fn new(name: &str, errors: SpecErrors) -> SpecificationMistakes {
        SpecificationMistakes { name: name.to_owned(), list: errors.0 }
    }

    /// Returns each mistake: a text of several lines that shows the place, and ends in a line feed.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let name = shown(Path::new(&self.name));
        self.list.iter().map(|error| format!("{name}:{}\n", multiline(error))).collect()
    }
}

impl fmt::Display for SpecificationMistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts().concat().trim_end())
    }
}

/// Makes a message of several lines safe to print.
fn multiline(error: &SpecError) -> String {
    let text = error.to_string();
    let lines: Vec<String> = text.lines().map(|line| escape(line).into_owned()).collect();
    lines.join("\n")
}
