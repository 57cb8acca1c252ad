//! Certificates about a trace, checked before they are written.

use super::reordering::Reorderings;
use super::trace::{CertifyOptions, TraceCertifier};
use crate::kept::keep_true;
use crate::predict::Specifications;
use crate::trace_input::TraceInput;
use crate::verdict::CertificateVerdict;
use crate::{Failure, JobResult};
use anyorder_system::{Control, StopReason};
use std::io;

/// Checks the reorderings in the findings of a trace. See [`keep_true`].
pub(crate) fn keep_true_reorderings(
    input: &TraceInput,
    specifications: Option<&Specifications>,
    result: &mut JobResult,
    control: &Control<'_>,
) -> Result<(), Failure> {
    if result.findings.iter().all(|one| one.finding.witness.is_none()) {
        return Ok(());
    }
    let reorderings = Reorderings::new(input, specifications)?;
    let mut checkers = reorderings.checkers();
    keep_true(result, &input.name, control, |format, value, control| {
        (format == "reordering").then(|| checkers.check(value, control))
    });
    Ok(())
}

/// A certificate as the text of a file, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckedText {
    /// It holds: these are its bytes.
    Holds(Vec<u8>),
    /// It does not hold, for this reason: a bug in anyorder. It must not be written.
    Wrong(String),
    /// The job was stopped before it was checked.
    Stopped(StopReason),
}

/// Checks a certificate about a trace before it is written, by the code of `certify`. `write`
/// writes it.
///
/// # Errors
///
/// Fails when the specifications of the options cannot be used.
pub fn certificate_text(
    input: &TraceInput,
    options: CertifyOptions,
    control: &Control<'_>,
    write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
) -> Result<CheckedText, Failure> {
    let mut bytes = Vec::new();
    if let Err(error) = write(&mut bytes) {
        return Ok(CheckedText::Wrong(error.to_string()));
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Ok(CheckedText::Wrong("not UTF-8".to_owned()));
    };
    let checked = TraceCertifier::new(input, options).check(text, control)?;
    let verdict = checked.certificates.into_iter().map(|one| one.verdict).next();
    Ok(match verdict {
        Some(CertificateVerdict::Holds { .. }) => CheckedText::Holds(bytes),
        Some(CertificateVerdict::Stopped(reason)) => CheckedText::Stopped(reason),
        Some(CertificateVerdict::Fails(fault) | CertificateVerdict::Unreadable(fault)) => {
            CheckedText::Wrong(fault.words())
        }
        None => CheckedText::Wrong("no certificate".to_owned()),
    })
}
