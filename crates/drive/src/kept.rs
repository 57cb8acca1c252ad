//! Certificates of findings are checked before they are reported, by the code that `certify` runs.
//! One that does not hold is a bug in anyorder: it is left out, and its finding is unconfirmed.

use crate::ISSUES;
use crate::result::JobResult;
use crate::verdict::CertificateVerdict;
use anyorder_common::numbers::plural;
use anyorder_finding::{ExplanationStep, Finding, Warning, WarningKind, Witness, WitnessPlace};
use anyorder_system::Control;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The steps of all schedules together that are still checked after the job was stopped.
const STEPS_AFTER_STOP: usize = 20_000;

/// How long certificates are still checked after the job was stopped: the start of a run costs more
/// than its steps where the state is large.
const TIME_AFTER_STOP: Duration = Duration::from_millis(150);

/// What is left for checks after the job was stopped.
struct AfterStop {
    steps: usize,
    since: Option<Instant>,
}

impl AfterStop {
    fn new() -> AfterStop {
        AfterStop { steps: STEPS_AFTER_STOP, since: None }
    }

    /// Takes a certificate with this many steps; `false` if that is too much. The first one is
    /// taken at any time.
    fn takes(&mut self, steps: usize) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let fits = steps < self.steps && since.elapsed() < TIME_AFTER_STOP;
        if fits {
            self.steps -= steps;
        }
        fits
    }
}

/// Checks the certificate of each finding with `check`, which takes its format, the certificate and
/// a control; it returns `None` for a certificate that it cannot check.
pub(crate) fn keep_true(
    result: &mut JobResult,
    name: &str,
    control: &Control<'_>,
    mut check: impl FnMut(&str, &Value, &Control<'_>) -> Option<CertificateVerdict>,
) {
    let mut after_stop = AfterStop::new();
    let (mut wrong, mut unchecked) = (Vec::new(), 0);
    for reported in &mut result.findings {
        let Some(Witness { format, place: WitnessPlace::Inline(value) }) =
            &reported.finding.witness
        else {
            continue;
        };
        // The last steps of a long certificate are none.
        if value.get("left_out").is_some() {
            continue;
        }
        let steps = steps(value);
        let form = value.get("form").and_then(Value::as_str);
        let shown = reported.finding.form.as_deref();
        let mut check = |format: &str, value: &Value, control: &Control<'_>| {
            if shown.is_some() && shown != form {
                let what = "the finding has another form than its witness";
                return Some(CertificateVerdict::fails("`form`", what));
            }
            check(format, value, control)
        };
        let verdict = match check(format, value, control) {
            Some(CertificateVerdict::Stopped(_)) if after_stop.takes(steps) => {
                check(format, value, &Control::default())
            }
            verdict => verdict,
        };
        match verdict {
            None | Some(CertificateVerdict::Holds { .. }) => {}
            Some(CertificateVerdict::Stopped(_)) => {
                unchecked += 1;
                leave_out(&mut reported.finding, None, "was not checked in time, and is left out");
            }
            Some(CertificateVerdict::Fails(fault) | CertificateVerdict::Unreadable(fault)) => {
                let text = "did not hold when it was checked, and is left out: a bug in anyorder";
                leave_out(&mut reported.finding, Some(false), text);
                wrong.push(fault.words());
            }
        }
    }
    if unchecked > 0 {
        let text =
            format!("{} not checked in time, and left out", plural(unchecked, "certificate"));
        result.warnings.push(Warning::new(WarningKind::Stopped, name, text, unchecked));
    }
    if let Some(first) = wrong.first() {
        result.warnings.push(wrong_certificates(name, wrong.len() as u64, first));
    }
}

/// The warning about certificates of ours that do not hold.
pub(crate) fn wrong_certificates(name: &str, count: u64, first: &str) -> Warning {
    let what = plural(count, "certificate");
    let text = format!(
        "{what} of anyorder did not hold when checked, and left out ({first}): this is a bug in anyorder, please report it at {ISSUES}"
    );
    Warning::new(WarningKind::Bug, name, text, count)
}

fn leave_out(finding: &mut Finding, confirmed: Option<bool>, what: &str) {
    finding.witness = None;
    finding.confirmed = confirmed;
    finding.explanation.push(ExplanationStep::new(format!("the certificate {what}")));
}

/// The number of steps of a certificate.
fn steps(value: &Value) -> usize {
    let list = |key: &str| value.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    list("choices") + list("steps")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::Kind;
    use anyorder_system::StopReason;
    use serde_json::json;

    fn result(witnesses: &[Value]) -> JobResult {
        let mut result = JobResult::default();
        for witness in witnesses {
            let place = WitnessPlace::Inline(witness.clone());
            let finding = Finding {
                witness: Some(Witness { format: "schedule".to_owned(), place }),
                confirmed: Some(true),
                ..Finding::new(Kind::Deadlock)
            };
            result.push(finding, None);
        }
        result
    }

    #[test]
    fn a_certificate_that_does_not_hold_is_left_out_and_said() {
        let mut all = result(&[json!({"choices": [1]}), json!({"choices": [2]})]);
        keep_true(&mut all, "m.any", &Control::default(), |_, value, _| {
            Some(match value["choices"][0] == 1 {
                true => CertificateVerdict::holds("it"),
                false => CertificateVerdict::fails("step 1", "`b` cannot run"),
            })
        });
        let [kept, left_out] = [&all.findings[0].finding, &all.findings[1].finding];
        assert!(kept.witness.is_some() && kept.confirmed == Some(true));
        assert!(left_out.witness.is_none() && left_out.confirmed == Some(false));
        assert_eq!((all.warnings[0].kind, all.warnings[0].count), (WarningKind::Bug, 1));
        assert!(all.warnings[0].text.contains("step 1: `b` cannot run"), "{:?}", all.warnings);
    }

    #[test]
    fn a_stopped_job_checks_short_certificates_only() {
        let long = vec![0; STEPS_AFTER_STOP];
        let mut all = result(&[json!({"choices": [1]}), json!({"choices": long})]);
        let control = Control::default();
        control.cancel.stop(StopReason::TimeLimit);
        keep_true(&mut all, "m.any", &control, |_, _, control| {
            Some(match control.check() {
                Ok(()) => CertificateVerdict::holds("it"),
                Err(stopped) => stopped.into(),
            })
        });
        let kept = |at: usize| all.findings[at].finding.witness.is_some();
        assert!(kept(0) && !kept(1));
        assert_eq!(all.findings[1].finding.confirmed, None);
        assert_eq!(all.warnings[0].kind, WarningKind::Stopped);
    }
}
