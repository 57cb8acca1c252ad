//! Runs a job with a token that stops it at each of its polls, and compares the results.

use anyorder_drive::{Failure, JobResult, Reported};
use anyorder_finding::{Finding, Severity};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::cases;
use std::collections::BTreeSet;

/// All polls of a job are tried up to this number on a push; of more, a spread.
const ALL_UP_TO: u64 = 15;

/// The limit that a job names when it was interrupted.
pub(crate) const INTERRUPT: &str = "interrupt";

/// Runs a job to its end, then once for each poll with a token that stops it there. `judge`
/// gets the whole result, and that of a stopped job. Returns the number of polls.
pub(crate) fn at_every_poll<T>(
    name: &str,
    job: impl Fn(&Control<'_>) -> T,
    judge: impl Fn(&T, &T) -> Result<(), String>,
) -> u64 {
    let stopped_after = |polls: u64| {
        let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
        let result = job(&control);
        (result, polls - control.cancel.polls_left())
    };
    let (whole, polls) = stopped_after(u64::MAX >> 1);
    assert!(polls > 0, "{name}: the job has no poll, so nothing can stop it");
    let stride = polls.div_ceil(cases(ALL_UP_TO)).max(1);
    let ends = cases(3).min(12);
    let mut tried = 0;
    for poll in (0..polls).filter(|poll| poll % stride == 0 || *poll < ends || poll + ends > polls)
    {
        let (part, used) = stopped_after(poll);
        assert_eq!(used, poll, "{name}: the polls of a job are not always the same");
        if let Err(error) = judge(&whole, &part) {
            panic!("{name}, stopped at poll {poll} of {polls}: {error}");
        }
        tried += 1;
    }
    println!("{name}: {polls} polls, stopped at {tried}");
    polls
}

/// Judges a result by its findings alone: each is one of the whole result.
pub(crate) fn honest(whole: &JobResult, part: &JobResult) -> Result<(), String> {
    cut_or_whole(whole, part)?;
    part.findings.iter().try_for_each(|found| is_known(whole, &found.finding))
}

/// A stopped job says so. One that was stopped after its search may have all findings; only details
/// of them, or of the counts, may be missing.
pub(crate) fn cut_or_whole(whole: &JobResult, part: &JobResult) -> Result<(), String> {
    let says = part.limits.iter().any(|limit| limit == INTERRUPT);
    if says || findings(part) == findings(whole) {
        return Ok(());
    }
    Err(format!(
        "it does not say that it was stopped: limits {:?}, findings {:?} instead of {:?}",
        part.limits,
        findings(part),
        findings(whole)
    ))
}

/// What findings claim: kinds, titles, and how many pairs.
fn findings(result: &JobResult) -> Vec<(String, String, u64)> {
    let claim = |found: &Reported| {
        let finding = &found.finding;
        (format!("{:?}", finding.kind), finding.title.clone(), finding.pairs_total)
    };
    let mut claims: Vec<_> = result.findings.iter().map(claim).collect();
    claims.sort();
    claims
}

/// Every pair of a finding is a pair of a finding of this kind in the whole result; a finding
/// without pairs is there by its title and its sites.
pub(crate) fn is_known(whole: &JobResult, finding: &Finding) -> Result<(), String> {
    let same_kind =
        || whole.findings.iter().map(|found| &found.finding).filter(|f| f.kind == finding.kind);
    if finding.pairs.is_empty() {
        let known = same_kind().any(|f| f.title == finding.title && f.sites == finding.sites);
        return if known {
            Ok(())
        } else {
            Err(format!("`{}` is not in the whole result", finding.title))
        };
    }
    // A candidate that was not tried may be one that the whole job refutes. It claims no more.
    if is_candidate(finding) {
        return Ok(());
    }
    let pairs: BTreeSet<&[String; 2]> =
        whole.findings.iter().flat_map(|found| &found.finding.pairs).collect();
    match finding.pairs.iter().find(|pair| !pairs.contains(pair)) {
        None => Ok(()),
        Some(pair) => {
            let Finding { kind, severity, confirmed, title, .. } = finding;
            let what = format!("{kind:?}, {severity:?}, confirmed: {confirmed:?}");
            Err(format!("{pair:?} of `{title}` is not in the whole result ({what})"))
        }
    }
}

/// A note that is not confirmed lists pairs that nothing orders, and claims no run.
pub(crate) fn is_candidate(finding: &Finding) -> bool {
    finding.severity == Severity::Note && finding.confirmed != Some(true)
}

/// A job that has no result when it is stopped fails with the reason.
pub(crate) fn or_stopped<T>(
    part: &Result<T, Failure>,
    judge: impl Fn(&T) -> Result<(), String>,
) -> Result<(), String> {
    match part {
        Ok(part) => judge(part),
        Err(failure) => {
            let text = lines(failure);
            if text.contains("interrupted") {
                Ok(())
            } else {
                Err(format!("it fails with: {text}"))
            }
        }
    }
}

/// Returns the result of a whole job, which does not fail.
pub(crate) fn whole<T>(result: &Result<T, Failure>) -> &T {
    match result {
        Ok(result) => result,
        Err(failure) => panic!("the whole job fails: {}", lines(failure)),
    }
}

/// Returns the messages of a failure.
pub(crate) fn lines(failure: &Failure) -> String {
    failure.to_string().replace('\n', "; ")
}
