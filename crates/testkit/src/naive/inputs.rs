//! Section 1: enable.

use super::rules::{RuleName, RuleSet};
use super::view::{Edges, View};
use anyorder_trace::{EventKind, InputFamily};

pub(super) fn edges(view: View<'_>, out: &mut Edges<'_>) {
    for trigger in view.events().filter(|e| e.kind() == EventKind::Trigger) {
        let plain = matches!(
            view.input(trigger).family,
            InputFamily::Plain | InputFamily::Ui | InputFamily::Focus
        );
        if out.rules.set == RuleSet::Android && !plain {
            continue;
        }
        let last = view
            .events()
            .filter(|e| e.id < trigger.id && e.operand == trigger.operand)
            .filter(|e| matches!(e.kind(), EventKind::Enable | EventKind::Disable))
            .last();
        let Some(enable) = last.filter(|e| e.kind() == EventKind::Enable) else { continue };
        out.add(RuleName::Enable, enable.id, trigger.id);
        if let Some(m) = view.posted_task_of(trigger.id).filter(|m| *m != enable.task) {
            out.add(RuleName::EnableGet, enable.id, view.get(m));
            out.add(RuleName::EnablePost, enable.id, view.post(m));
        }
    }
}
