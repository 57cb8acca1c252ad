//! An app: its text, its methods, and the inputs that it asks for.

mod acts;
mod inputs;
mod prelude;

pub(crate) use acts::acts;
pub use inputs::{Input, InputKind, Lost};
pub(crate) use inputs::{entries, words};
pub(crate) use prelude::prelude;

use anyorder_common::source::{Position, Source, Span};
use anyorder_groovy::ast::{Script, StmtKind};
use anyorder_groovy::eval::{Methods, Value, getter};
use anyorder_groovy::parse;
use std::collections::BTreeMap;

/// Why a text is no app.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// It is no Groovy: the first mistake with its place.
    #[error("{}:{}:{}: {message}", .file, .at.line, .at.column)]
    Syntax {
        /// The file.
        file: String,
        /// The place.
        at: Position,
        /// What is wrong.
        message: String,
    },
    /// It has neither `installed` nor `updated`: a driver, or no app.
    #[error("`{0}` has no method `installed` or `updated`, so it is no app")]
    NoApp(String),
}

/// An app.
#[derive(Debug)]
pub struct App {
    /// The file, as the user named it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Its name by `definition(name: ...)`, or that of the file.
    pub name: String,
    pub(crate) script: Script,
    pub(crate) methods: Methods,
    /// The number of parameters of each method.
    pub(crate) parameters: BTreeMap<String, usize>,
    /// The methods that requests from outside run: `mappings`.
    pub(crate) requests: Vec<String>,
    /// Where each line of the text starts.
    lines: Vec<usize>,
}

impl App {
    /// Reads an app. `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// Fails if the text is no Groovy, or no app.
    pub fn read(file: &str, text: &str) -> Result<App, AppError> {
        App::read_watched(file, text, &|| false)
    }

    /// Reads an app. Its text is executed until `stop` is true.
    ///
    /// # Errors
    ///
    /// As [`App::read`].
    pub fn read_watched(file: &str, text: &str, stop: &dyn Fn() -> bool) -> Result<App, AppError> {
        let parsed = parse(text);
        if let Some(first) = parsed.diagnostics.first() {
            let at = Source::new(file, text).position(first.span.start);
            let (file, message) = (file.to_owned(), first.message.clone());
            return Err(AppError::Syntax { file, at, message });
        }
        let script = parsed.script;
        let mut parameters = BTreeMap::new();
        for stmt in &script.statements {
            if let StmtKind::Method(method) = &stmt.kind {
                parameters.entry(method.name.clone()).or_insert(method.parameters.len());
            }
        }
        if !parameters.contains_key("installed") && !parameters.contains_key("updated") {
            return Err(AppError::NoApp(file.to_owned()));
        }
        let methods = Methods::of([&script, prelude()]);
        let mut app = App {
            file: file.to_owned(),
            text: text.to_owned(),
            name: stem(file).to_owned(),
            script,
            methods,
            parameters,
            requests: vec![],
            lines: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        };
        let (name, requests) = inputs::definition(&app, stop);
        if let Some(name) = name {
            app.name = name;
        }
        app.requests = requests;
        Ok(app)
    }

    /// Returns the inputs that the app asks for when it has these settings, in their order, and
    /// what of its preferences was not understood. `devices` are the names of the devices. The
    /// preferences run until `stop` is true.
    #[must_use]
    pub fn inputs(
        &self,
        settings: &BTreeMap<String, Value>,
        devices: &[String],
        stop: &dyn Fn() -> bool,
    ) -> (Vec<Input>, Vec<Lost>) {
        inputs::inputs(self, settings, devices, stop)
    }

    /// Returns whether a method of the app reads the property of this name.
    pub(crate) fn has_getter(&self, name: &str) -> bool {
        self.parameters.get(&getter(name)) == Some(&0)
    }

    /// Returns the line and column of a place in its text.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        let at = span.start as usize;
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start..at).unwrap_or("").chars().count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line.max(1)), column: number(before + 1) }
    }
}

/// Returns the name of a file without its folders and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".groovy").unwrap_or(name)
}
