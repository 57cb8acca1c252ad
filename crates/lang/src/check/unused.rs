//! Warnings about declarations that the model never mentions.

use super::checker::{Checker, use_key};
use super::program::{LocalId, LocalKind, Meaning};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl Checker<'_> {
    /// Reports unused names. A name that begins with `_` is unused on purpose.
    pub(super) fn report_unused(&mut self) {
        // After other mistakes, a missing use may be one that the checker did not understand.
        if crate::diagnostic::has_errors(&self.diagnostics) {
            return;
        }
        let mut found: Vec<(Span, String)> = Vec::new();
        for (at, local) in self.program.locals.iter().enumerate() {
            let what = match local.kind {
                LocalKind::Let => "the local",
                LocalKind::Pattern => "the name",
                _ => continue,
            };
            if !self.is_used(Meaning::Local(LocalId(at as u32)), &local.name) {
                found.push((local.span, format!("{what} `{}` is never used", local.name)));
            }
        }
        for (name, (meaning, span)) in &sorted(&self.names) {
            let what = match meaning {
                Meaning::Const(_) => "the constant",
                Meaning::Global(_) => "the variable",
                Meaning::Function(_) => "the function",
                Meaning::Task(_) => "the task",
                Meaning::Handler(_) => "the handler",
                Meaning::Lock(_) => "the lock",
                Meaning::Cond(_) => "the condition",
                Meaning::Index(_) => "the index type",
                Meaning::Enum(_) => "the enum",
                Meaning::Record(_) => "the record",
                Meaning::Class(_) => "the class",
                _ => continue,
            };
            if span.end > 0 && !self.is_used(*meaning, name) {
                found.push((*span, format!("{what} `{name}` is never used")));
            }
        }
        for (span, message) in found {
            let place = Span::new(span.start, span.start);
            self.report(Diagnostic::new(Code::UNUSED, span, message).suggest(
                "if that is meant, begin the name with",
                place,
                "_",
            ));
        }
    }

    fn is_used(&self, meaning: Meaning, name: &str) -> bool {
        name.is_empty()
            || name.starts_with('_')
            || use_key(meaning).is_none_or(|key| self.used.contains(&key))
    }
}

/// Sorts names alphabetically, because hash maps are unordered.
fn sorted<'a>(
    names: &std::collections::HashMap<&'a str, (Meaning, Span)>,
) -> Vec<(&'a str, (Meaning, Span))> {
    let mut all: Vec<_> = names.iter().map(|(name, found)| (*name, *found)).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}
