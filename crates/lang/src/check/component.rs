//! Components: the code that belongs to each of them.

use super::action::article_of;
use super::checker::Checker;
use super::program::Meaning;
use super::type_expr::what_is;
use crate::ast::{Ident, ItemKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;

impl<'a> Checker<'a> {
    /// Checks the members of components. Members are events, tasks, functions and threads; each
    /// belongs to one component at most.
    pub(super) fn check_components(&mut self) {
        let model = self.model;
        let mut known: HashMap<&'a str, Span> = HashMap::new();
        for item in &model.items {
            let ItemKind::Component { members, .. } = &item.kind else { continue };
            for member in members {
                self.component_member(member);
                if member.name.is_empty() {
                    continue;
                }
                match known.get(member.name.as_str()).copied() {
                    Some(first) => {
                        let message = format!("`{}` belongs to one component only", member.name);
                        self.report(
                            Diagnostic::new(Code::COMPONENT, member.span, message)
                                .also(first, "named here already"),
                        );
                    }
                    None => {
                        known.insert(&member.name, member.span);
                    }
                }
            }
        }
    }

    fn component_member(&mut self, member: &'a Ident) {
        let found = self.find_global(member, "event, task, function or thread");
        if let Some((meaning, declared)) = found
            && !matches!(
                meaning,
                Meaning::Event(_) | Meaning::Task(_) | Meaning::Function(_) | Meaning::Thread(_)
            )
        {
            let message = format!(
                "`{}` is {}, not {}",
                member.name,
                what_is(meaning),
                article_of("event, task, function or thread")
            );
            self.report(
                Diagnostic::new(Code::COMPONENT, member.span, message)
                    .also(declared, "declared here")
                    .note("a component consists of events, tasks, functions and threads; its name is for reports"),
            );
        }
    }
}
