//! Mistakes in the text of a specification, with their positions.

use std::fmt;
use std::ops::Range;

/// A mistake and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The message: a fragment without a full stop.
    pub message: String,
    /// The bytes of the text that it refers to.
    pub span: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The text of the line.
    pub text: String,
    /// A possible correction.
    pub hint: Option<String>,
}

impl SpecError {
    pub(crate) fn new(
        source: &str,
        span: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> SpecError {
        let start = floor(source, span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        SpecError {
            message: message.into(),
            line: source[..start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            text: source[line_start..line_end].trim_end().to_owned(),
            span,
            hint,
        }
    }
}

/// The nearest start of a character at or before a position.
fn floor(source: &str, at: usize) -> usize {
    let at = at.min(source.len());
    (0..=at).rev().find(|&at| source.is_char_boundary(at)).unwrap_or(0)
}

impl fmt::Display for SpecError {
    /// Writes `LINE:COLUMN: MESSAGE`, the underlined line, and the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        writeln!(f, "  | {}", self.text)?;
        // Tabs stay tabs, so that the marks align whatever the width of a tab is.
        let before = self.text.chars().take(self.column - 1);
        let before: String = before.map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
        let rest = self.text.chars().count().saturating_sub(self.column - 1);
        let marks = self.span.len().clamp(1, rest.max(1));
        write!(f, "  | {before}{}", "^".repeat(marks))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// All mistakes of a text, in its order; at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecErrors(pub Vec<SpecError>);

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecErrors {}
