//! Messages about a source text.

use anyorder_common::source::{Source, Span};

/// Most messages for one file. Later messages are mostly consequences of the first mistakes.
pub(crate) const DIAGNOSTICS_MAX: usize = 200;

/// A mistake in a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Its place.
    pub span: Span,
    /// One line, lower case, no full stop: what was expected and what was found.
    pub message: String,
}

impl Diagnostic {
    /// Returns `file:line:column: error: message`.
    pub fn render(&self, source: &Source<'_>) -> String {
        let at = source.position(self.span.start);
        format!("{}:{}:{}: error: {}", source.name(), at.line, at.column, self.message)
    }
}

/// The messages of one file, up to a bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diagnostics {
    pub(crate) list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(crate) fn add(&mut self, span: Span, message: impl Into<String>) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(Diagnostic { span, message: message.into() });
        }
    }
}
