//! Components and their members.

use super::checker::{Checker, wrong_kind};
use super::model::Meaning;
use crate::ast::{Ident, ItemKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;

/// What a member of a component is.
const MEMBER: &str = "event, task, function or thread";

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
                let first = *known.entry(&member.name).or_insert(member.span);
                if first != member.span {
                    let message = format!("`{}` belongs to one component only", member.name);
                    self.report(
                        Diagnostic::new(Code::COMPONENT, member.span, message)
                            .also(first, "named here already"),
                    );
                }
            }
        }
    }

    fn component_member(&mut self, member: &'a Ident) {
        let found = self.find_global(member, MEMBER);
        if let Some((meaning, declared)) = found
            && !matches!(
                meaning,
                Meaning::Event(_) | Meaning::Task(_) | Meaning::Function(_) | Meaning::Thread(_)
            )
        {
            let diagnostic = wrong_kind(member, (meaning, declared), &format!("an {MEMBER}"));
            self.report(
                Diagnostic { code: Code::COMPONENT, ..diagnostic }
                    .note("a component consists of events, tasks, functions and threads; its name is for reports"),
            );
        }
    }
}
