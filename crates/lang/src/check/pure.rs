//! Which code changes the state. Guards and properties must not.

use super::checker::Checker;
use super::model::{ClassId, FnId, TaskId};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Code that can be called by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Callee {
    Function(FnId),
    Method(ClassId, u32),
    Task(TaskId),
}

/// The effects of the code of one body.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyEffects {
    /// The place and kind of the first change of state.
    changes: Option<(Span, &'static str)>,
    calls: Vec<Callee>,
}

/// The effects of all code.
#[derive(Default)]
pub(super) struct Effects {
    /// Effects of the current body.
    current: BodyEffects,
    of: BTreeMap<Callee, BodyEffects>,
    /// Calls in expressions that must not change the state.
    pure_calls: Vec<(Callee, Span)>,
}

impl Checker<'_> {
    /// Records a change of state. Reports it at once in code that must not change the state.
    pub(super) fn changes_state(&mut self, span: Span, what: &'static str) {
        if !self.body.kind.is_pure() {
            self.effects.current.changes.get_or_insert((span, what));
            return;
        }
        let message = format!("{what} in {}", self.body.kind.what());
        self.report(Diagnostic::new(Code::PURE, span, message).label("this changes the state"));
    }

    /// Records a call.
    pub(super) fn calls(&mut self, callee: Callee, span: Span) {
        if self.body.kind.is_pure() {
            self.effects.pure_calls.push((callee, span));
        } else {
            self.effects.current.calls.push(callee);
        }
    }

    /// Stores the effects of the body just checked under its callee; `None` for bodies that no
    /// code calls.
    pub(super) fn file_effects(&mut self, callee: Option<Callee>) {
        let effects = std::mem::take(&mut self.effects.current);
        if let Some(callee) = callee {
            self.effects.of.insert(callee, effects);
        }
    }

    /// Follows the calls of guards and properties.
    pub(super) fn check_purity(&mut self) {
        for (callee, span) in std::mem::take(&mut self.effects.pure_calls) {
            let Some((changed, what)) = self.change_behind(callee) else { continue };
            let message = "a call that changes the state in a guard or property";
            self.report(
                Diagnostic::new(Code::PURE, span, message)
                    .label("called here")
                    .also(changed, format!("{what} here")),
            );
        }
    }

    /// Returns the first change that a call leads to.
    fn change_behind(&self, callee: Callee) -> Option<(Span, &'static str)> {
        let mut seen = BTreeSet::from([callee]);
        let mut open = vec![callee];
        while let Some(callee) = open.pop() {
            let Some(effects) = self.effects.of.get(&callee) else { continue };
            if effects.changes.is_some() {
                return effects.changes;
            }
            open.extend(effects.calls.iter().filter(|next| seen.insert(**next)));
        }
        None
    }
}
