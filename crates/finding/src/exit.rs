//! Exit statuses, and the rules that make a result a failure.

use crate::finding::Finding;
use crate::outcome::Outcome;
use crate::words::{Harm, Kind, Severity, Verdict};

/// Nothing that counts was found, and the search was complete within its bounds.
pub const CLEAN: u8 = 0;

/// Something that counts was found, or the answer is `inconsistent` or `not_robust`.
pub const FINDINGS: u8 = 1;

/// The input or the command line is wrong; the message names the place.
pub const USAGE: u8 = 2;

/// A limit ended the search without an answer, and nothing that counts was found.
pub const LIMIT: u8 = 3;

/// An internal error.
pub const BUG: u8 = 70;

/// The rules that decide which findings count for the exit status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// The least severity that counts (`--fail-on`).
    pub fail_on: Severity,
    /// Whether harmless and covered findings count too (`--strict`).
    pub strict: bool,
    /// Filters. Matching findings do not count unless `strict`. Empty by default: a filter is a
    /// guess.
    pub filters: Vec<String>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { fail_on: Severity::Note, strict: false, filters: Vec::new() }
    }
}

impl Policy {
    /// Returns whether a finding makes the result a failure. Suppressed findings and those of the
    /// baseline never do, even if `strict`. A run that does not repeat itself shows nothing: it
    /// counts only if `strict`, but the result is incomplete ([`Outcome::judge`]).
    #[must_use]
    pub fn counts(&self, finding: &Finding) -> bool {
        if finding.is_excluded() || finding.severity < self.fail_on {
            return false;
        }
        let filtered = finding.filters.iter().any(|name| self.filters.contains(name));
        let shows = !(finding.harm == Harm::Harmless || finding.is_covered() || filtered);
        self.strict || shows && finding.kind != Kind::Unstable
    }
}

/// Returns the exit status of a command with a result: [`CLEAN`], [`FINDINGS`] or [`LIMIT`].
///
/// Findings take precedence over limits. A verdict `inconsistent` or `not_robust` without findings
/// is a failure. With findings, they decide, so that users can suppress them.
#[must_use]
pub fn exit_code(outcome: &Outcome, policy: &Policy) -> u8 {
    let bad = matches!(outcome.verdict, Verdict::Inconsistent | Verdict::NotRobust);
    if outcome.findings.iter().any(|finding| policy.counts(finding)) {
        return FINDINGS;
    }
    if bad && outcome.findings.is_empty() {
        return FINDINGS;
    }
    match outcome.verdict {
        Verdict::Incomplete | Verdict::Unknown => LIMIT,
        // It is proved within the bounds.
        Verdict::Robust if outcome.limits.is_empty() => CLEAN,
        _ if outcome.complete => CLEAN,
        _ => LIMIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Coverage, Suppressed};
    use crate::option;
    use crate::words::{CoverageLevel, Kind};

    fn with(findings: Vec<Finding>) -> Outcome {
        Outcome { findings, ..Outcome::new("check", "0") }
    }

    fn race() -> Finding {
        Finding::new(Kind::Race)
    }

    fn covered() -> Finding {
        let coverage =
            Some(Coverage { level: CoverageLevel::Task, uncovered: false, uncovered_pairs: 0 });
        Finding { coverage, severity: Severity::Note, ..race() }
    }

    #[test]
    fn what_does_not_repeat_itself_is_no_answer() {
        let (policy, strict) = (Policy::default(), Policy { strict: true, ..Policy::default() });
        let unstable = || Finding::new(Kind::Unstable);
        let status = |findings: Vec<Finding>, policy: &Policy| {
            let mut outcome = with(findings);
            outcome.judge(policy);
            exit_code(&outcome, policy)
        };
        assert_eq!(status(vec![unstable()], &policy), LIMIT);
        assert_eq!(status(vec![unstable()], &strict), FINDINGS);
        assert_eq!(status(vec![unstable(), race()], &policy), FINDINGS);
        let suppressed = Suppressed { reason: None, line: None, file: None };
        let known = Finding { suppressed: Some(suppressed), ..unstable() };
        assert_eq!(status(vec![known], &policy), CLEAN);
    }

    #[test]
    fn findings_beat_limits_and_limits_beat_nothing() {
        let policy = Policy::default();
        let mut outcome = with(vec![race()]);
        assert_eq!(exit_code(&outcome, &policy), FINDINGS);
        outcome.cut_by(option::TIME_LIMIT);
        outcome.cut_by(option::TIME_LIMIT);
        assert_eq!(outcome.limits, ["time-limit"]);
        assert_eq!(exit_code(&outcome, &policy), FINDINGS);
        outcome.findings.clear();
        outcome.judge(&policy);
        assert_eq!(outcome.verdict, Verdict::Incomplete);
        assert_eq!(exit_code(&outcome, &policy), LIMIT);
        assert_eq!(exit_code(&with(vec![]), &policy), CLEAN);
    }

    #[test]
    fn covered_harmless_and_filtered_count_only_when_strict() {
        let harmless = Finding { harm: Harm::Harmless, ..race() };
        let filtered = Finding { filters: vec!["unload".into()], ..race() };
        let filters = vec!["unload".to_owned()];
        let loose = Policy { filters, ..Policy::default() };
        let strict = Policy { strict: true, ..loose.clone() };
        for finding in [covered(), harmless, filtered.clone()] {
            assert_eq!(exit_code(&with(vec![finding.clone()]), &loose), CLEAN);
            assert_eq!(exit_code(&with(vec![finding]), &strict), FINDINGS);
        }
        assert_eq!(exit_code(&with(vec![filtered]), &Policy::default()), FINDINGS);
    }

    #[test]
    fn excluded_findings_never_count() {
        let strict = Policy { strict: true, ..Policy::default() };
        let baseline = Finding { baseline: true, ..race() };
        let suppressed = Finding { suppressed: Some(Suppressed::default()), ..race() };
        assert_eq!(exit_code(&with(vec![baseline, suppressed]), &strict), CLEAN);
    }

    #[test]
    fn severity_is_a_threshold() {
        let policy = Policy { fail_on: Severity::Error, ..Policy::default() };
        assert_eq!(exit_code(&with(vec![race()]), &policy), CLEAN);
        let error = Finding { severity: Severity::Error, ..race() };
        assert_eq!(exit_code(&with(vec![error]), &policy), FINDINGS);
    }

    #[test]
    fn verdicts_without_findings() {
        for (verdict, code) in [
            (Verdict::Consistent, CLEAN),
            (Verdict::Inconsistent, FINDINGS),
            (Verdict::Unknown, LIMIT),
            (Verdict::Robust, CLEAN),
            (Verdict::NotRobust, FINDINGS),
        ] {
            let outcome = Outcome { verdict, ..with(vec![]) };
            assert_eq!(exit_code(&outcome, &Policy::default()), code, "{verdict}");
        }
        let suppressed = Finding { baseline: true, ..Finding::new(Kind::Inconsistency) };
        let outcome = Outcome { verdict: Verdict::Inconsistent, ..with(vec![suppressed]) };
        assert_eq!(exit_code(&outcome, &Policy::default()), CLEAN);
    }
}
