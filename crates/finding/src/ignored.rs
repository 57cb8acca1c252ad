//! Findings that depend on ignored parts of the input.

use crate::finding::{ExplanationStep, Finding};
use crate::words::Severity;

/// The rule of the step that says that a finding depends on ignored input.
const RULE: &str = "ignored";

/// The filter of predictions that no witness shows.
const UNCONFIRMED: &str = "unconfirmed";

/// Adds a step to a finding that depends on ignored input: it assumes that `what` neither orders
/// events nor accesses anything. The result of a witness or a proof holds only under this
/// assumption. So the finding is neither confirmed nor refuted, and at most a warning. It keeps its
/// witness, and counts as before.
pub fn mark_ignored_input(finding: &mut Finding, what: &str) {
    // A prediction that was tried without finding a witness claims nothing.
    let claims_nothing = finding.filters.iter().any(|filter| filter == UNCONFIRMED);
    if !claims_nothing {
        finding.confirmed = None;
    }
    finding.severity = finding.severity.min(Severity::Warning);
    let text = format!("this holds only if {what}");
    finding
        .explanation
        .insert(0, ExplanationStep { rule: Some(RULE.to_owned()), ..ExplanationStep::new(text) });
}

impl Finding {
    /// Returns whether the finding depends on ignored input.
    #[must_use]
    pub fn depends_on_ignored_input(&self) -> bool {
        self.explanation.iter().any(|step| step.rule.as_deref() == Some(RULE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Kind;

    #[test]
    fn claims_are_retracted_and_other_findings_stay() {
        let finding = |confirmed, filters: &[&str]| Finding {
            confirmed,
            severity: Severity::Error,
            filters: filters.iter().map(|filter| (*filter).to_owned()).collect(),
            ..Finding::new(Kind::Race)
        };
        for (before, filters, after) in [
            (Some(true), &[][..], None),
            (Some(true), &["unload"], None),
            (Some(false), &[], None),
            (Some(false), &["unconfirmed"], Some(false)),
            (None, &["unconfirmed"], None),
        ] {
            let mut finding = finding(before, filters);
            mark_ignored_input(&mut finding, "`inv` does nothing");
            assert_eq!(finding.confirmed, after, "{before:?} {filters:?}");
            assert_eq!(finding.severity, Severity::Warning);
            assert!(finding.depends_on_ignored_input());
            assert_eq!(finding.explanation[0].text, "this holds only if `inv` does nothing");
        }
    }
}
