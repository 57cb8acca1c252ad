//! Findings that rest on something of the input that was ignored.

use crate::finding::{Finding, Step};
use crate::words::Severity;

/// The rule of the step that says that a finding rests on what was ignored.
const RULE: &str = "ignored";

/// Says that a finding rests on what was ignored of its input: that `what` neither orders events
/// nor accesses anything. What a witness showed, or a proof refused, then holds only if that is so:
/// the finding is neither confirmed nor refuted any more, and at most a warning. It keeps its
/// witness, and counts as before.
pub fn rests_on_ignored(finding: &mut Finding, what: &str) {
    if finding.filters.is_empty() {
        finding.confirmed = None;
    }
    finding.severity = finding.severity.min(Severity::Warning);
    let text = format!("this holds only if {what}");
    finding.explanation.insert(0, Step { rule: Some(RULE.to_owned()), ..Step::new(text) });
}

impl Finding {
    /// Returns whether it rests on something of the input that was ignored.
    #[must_use]
    pub fn is_on_ignored(&self) -> bool {
        self.explanation.iter().any(|step| step.rule.as_deref() == Some(RULE))
    }
}
