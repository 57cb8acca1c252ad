//! Messages about a text: the mistake, its place, and what to write instead.

mod code;
mod foreign_words;
mod render;

pub use anyorder_common::similar::most_similar;
pub use code::{CODES, Code};
pub use foreign_words::{foreign_word_hint, word_form};
pub use render::render;

use crate::source::Span;

/// Most diagnostics of the parser, and of the checker, for one file. Later messages are mostly
/// consequences of the first mistakes.
pub(crate) const DIAGNOSTICS_MAX: usize = 200;

/// The severity of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The model can run.
    Warning,
    /// The model cannot run.
    Error,
}

/// A message with its places.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The mistake. The first letter of its code gives the severity.
    pub code: Code,
    /// One line, lower case, no full stop, names in backticks.
    pub message: String,
    /// The place of the mistake.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Further lines.
    pub notes: Vec<String>,
    /// Changes that would repair it.
    pub suggestions: Vec<Suggestion>,
}

/// A place with a text.
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Text next to the underline; may be empty.
    pub text: String,
}

/// A change of the text.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The effect of the change, in words.
    pub message: String,
    /// The replaced place; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

impl Diagnostic {
    /// Creates a message about `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let primary = Label { span, text: String::new() };
        Self {
            code,
            message: message.into(),
            primary,
            secondary: vec![],
            notes: vec![],
            suggestions: vec![],
        }
    }

    /// Returns whether the message is an error or a warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Returns whether the message keeps the model from running.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }

    /// Adds `text` at the main place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds the place of a declaration, if the text has one: what is implied has an empty place.
    #[must_use]
    pub(crate) fn declared(self, place: Option<Span>) -> Self {
        match place.filter(|place| place.end > 0) {
            Some(place) => self.also(place, "declared here"),
            None => self,
        }
    }

    /// Adds a line below.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Proposes the nearest of the known words for `word` at `span`, if one is near.
    #[must_use]
    pub fn similar<'a>(
        self,
        what: &str,
        span: Span,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        match most_similar(word, known) {
            Some(near) => self.suggest(format!("a similar {what} exists"), span, near),
            None => self,
        }
    }

    /// Proposes to replace `span`.
    #[must_use]
    pub fn suggest(
        mut self,
        message: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        self.suggestions.push(Suggestion {
            message: message.into(),
            span,
            replacement: replacement.into(),
        });
        self
    }
}

/// Returns whether any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}
