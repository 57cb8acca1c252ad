//! Certificates that are texts of lines.

use super::trace::{TraceCertifier, described, events, not_read};
use crate::failure::Hint;
use crate::verdict::{CertificateFault, CertificateKind, CertificateVerdict, CertifiedFile};
use anyorder_certify as certify;
use anyorder_certify::consistency::{ProofReason, WitnessReason, read_proof_with_lines, read_run};
use anyorder_certify::{ProofError, Reason, ScheduleReason};
use anyorder_common::numbers::plural;
use anyorder_system::Control;
use anyorder_trace::EventId;

pub(super) fn order_proof(
    certifier: &TraceCertifier<'_>,
    text: &str,
    control: &Control<'_>,
) -> CertifiedFile {
    let verdict = || -> Result<String, CertificateVerdict> {
        let trace = certifier.trace();
        let (claimed, lines) = certify::read_order(text.as_bytes(), trace).map_err(not_read)?;
        certifier.require_observed()?;
        let certify::ClaimedOrder { rules, first, second, proof } = &claimed;
        let checked =
            certify::check_proof_until(trace, *rules, proof, (*first, *second), &control.cancel);
        checked.map_err(|error| match error.reason {
            Reason::Stopped(reason) => CertificateVerdict::Stopped(reason),
            _ => CertificateVerdict::Fails(fault_of_proof(&error, &lines)),
        })?;
        let [first, second] = [*first, *second].map(|event| described(trace, event));
        Ok(format!("{first} happens before {second} by the rules `{}`", rules.word()))
    };
    CertifiedFile::one(Some(CertificateKind::OrderProof), done(verdict()))
}

fn fault_of_proof(error: &ProofError, lines: &certify::OrderLines) -> CertificateFault {
    let place = match (error.lemma, error.step) {
        (Some(lemma), Some(step)) => {
            let line = lines.lemmas.get(lemma.0 as usize).and_then(|lines| lines.get(step));
            place(line, format!("lemma {}, step {}", lemma.0, step + 1))
        }
        (Some(lemma), None) => format!("lemma {}", lemma.0),
        (None, Some(step)) => place(lines.path.get(step), format!("path, step {}", step + 1)),
        (None, None) => "path".to_owned(),
    };
    let reason = match &error.shown {
        Some((rule, ..)) => format!("rule `{rule}`: {}", error.reason),
        None => error.reason.to_string(),
    };
    CertificateFault::at(place, reason)
}

pub(super) fn consistency_proof(
    certifier: &TraceCertifier<'_>,
    text: &str,
    control: &Control<'_>,
) -> CertifiedFile {
    let rule = certifier.mailbox();
    let verdict = || -> Result<String, CertificateVerdict> {
        let trace = certifier.split();
        let (proof, lines) = read_proof_with_lines(text.as_bytes(), trace).map_err(not_read)?;
        let checked =
            certify::consistency::check_inconsistency_until(trace, rule, &proof, &control.cancel);
        let stats = checked.map_err(|error| match (&error.reason, error.step) {
            (ProofReason::Stopped(reason), _) => CertificateVerdict::Stopped(*reason),
            (reason, Some(step)) => CertificateVerdict::Fails(with_rule(
                certifier,
                CertificateFault::at(
                    place(lines.get(step), format!("step {}", step + 1)),
                    reason.to_string(),
                ),
            )),
            (reason, None) => CertificateVerdict::Fails(with_rule(
                certifier,
                CertificateFault::at("the end", reason.to_string()),
            )),
        })?;
        let counts = [plural(stats.cycles, "cycle"), plural(stats.derived, "derived clause")];
        Ok(format!(
            "the trace is inconsistent: no order of its messages is a run, with mailbox rule `{}` ({}, {})",
            rule.word(),
            counts[0],
            counts[1],
        ))
    };
    CertifiedFile::one(Some(CertificateKind::ConsistencyProof), done(verdict()))
}

pub(super) fn consistency_witness(
    certifier: &TraceCertifier<'_>,
    text: &str,
    control: &Control<'_>,
) -> CertifiedFile {
    let rule = certifier.mailbox();
    let verdict = || -> Result<String, CertificateVerdict> {
        let trace = certifier.split();
        let (order, lines) = read_run(text.as_bytes(), trace).map_err(not_read)?;
        let checked = certify::consistency::check_consistency_witness_until(
            trace,
            rule,
            &order,
            &control.cancel,
        );
        checked.map_err(|error| match &error.reason {
            WitnessReason::Stopped(reason) => CertificateVerdict::Stopped(*reason),
            reason => {
                let place = match lines.get(error.place) {
                    Some(line) => format!("line {line}"),
                    None => "the end".to_owned(),
                };
                let reason = format!("event `{}`: {reason}", error.label);
                CertificateVerdict::Fails(with_rule(certifier, CertificateFault::at(place, reason)))
            }
        })?;
        Ok(format!(
            "the trace is consistent: these {} are a run, with mailbox rule `{}`",
            events(order.len()),
            rule.word()
        ))
    };
    let verdict = done(verdict());
    let kind = match verdict {
        CertificateVerdict::Unreadable(_) => None,
        _ => Some(CertificateKind::ConsistencyWitness),
    };
    CertifiedFile::one(kind, verdict)
}

/// Names the mailbox rule of the check, which the certificate does not.
fn with_rule(certifier: &TraceCertifier<'_>, fault: CertificateFault) -> CertificateFault {
    fault.with_hint(Hint::MailboxRule(certifier.mailbox().word()))
}

pub(super) fn trace_schedule(
    certifier: &TraceCertifier<'_>,
    text: &str,
    control: &Control<'_>,
) -> CertifiedFile {
    let verdict = || -> Result<String, CertificateVerdict> {
        let trace = certifier.trace();
        let claimed = certify::read_schedule(text.as_bytes(), trace).map_err(not_read)?;
        certifier.require_observed()?;
        let checked = certify::check_claimed_schedule(trace, &claimed, &control.cancel);
        checked.map_err(|error| match error.reason {
            ScheduleReason::Stopped(reason) => CertificateVerdict::Stopped(reason),
            reason => {
                let place = match claimed.lines.get(error.place) {
                    Some(line) => format!("line {line}"),
                    None => "the end".to_owned(),
                };
                let event = trace_label(certifier, error.event);
                CertificateVerdict::fails(place, format!("event {event}: {reason}"))
            }
        })?;
        let order =
            format!("the program can run these {} in this order", events(claimed.order.len()));
        Ok(match claimed.adjacent {
            None => order,
            Some((a, b)) => {
                let [a, b] = [a, b].map(|event| described(trace, event));
                format!("{order}, with {a} and {b} side by side")
            }
        })
    };
    CertifiedFile::one(Some(CertificateKind::TraceSchedule), done(verdict()))
}

fn trace_label(certifier: &TraceCertifier<'_>, event: EventId) -> String {
    let trace = certifier.trace();
    if event.index() < trace.len() { trace.unique_label(event) } else { "?".to_owned() }
}

fn place(line: Option<&u64>, within: String) -> String {
    line.map_or(within.clone(), |line| format!("line {line} ({within})"))
}

fn done(verdict: Result<String, CertificateVerdict>) -> CertificateVerdict {
    verdict.map_or_else(|verdict| verdict, CertificateVerdict::holds)
}
