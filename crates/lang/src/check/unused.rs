//! Warnings about unused declarations.

use super::checker::Checker;
use super::model::{LocalId, LocalKind, Meaning};
use super::type_expr::what_is;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl Checker<'_> {
    /// Reports unused declarations. A name that begins with `_` may be unused.
    pub(super) fn report_unused(&mut self) {
        // After other mistakes, a use may be in code that was not understood.
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
        for (name, (meaning, span)) in &self.names {
            let happens = matches!(meaning, Meaning::Event(_) | Meaning::Thread(_));
            if !happens && span.end > 0 && !self.is_used(*meaning, name) {
                let noun = what_is(*meaning).trim_start_matches("an ").trim_start_matches("a ");
                found.push((*span, format!("the {noun} `{name}` is never used")));
            }
        }
        for (span, message) in found {
            let place = span.before();
            self.report(Diagnostic::new(Code::UNUSED, span, message).suggest(
                "if that is meant, begin the name with",
                place,
                "_",
            ));
        }
    }

    fn is_used(&self, meaning: Meaning, name: &str) -> bool {
        name.is_empty() || name.starts_with('_') || self.used.contains(&meaning)
    }
}
