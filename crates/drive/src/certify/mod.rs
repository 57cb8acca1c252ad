//! Checks certificates with the crate `certify`, which depends on no engine. A schedule of a model
//! is checked by running the machine step by step.
//!
//! The checked claim is computed from the input. Every field of a certificate is checked, refused,
//! or not reported; `docs/formats/certificates.md` lists them by kind.

mod json;
mod model;
mod program;
mod reordering;
mod result;
mod texts;
mod trace;
mod written;

pub use model::certify_model;
pub use program::certify_program;
pub use trace::{CertifyOptions, TraceCertifier};
pub use written::{CheckedText, certificate_text};

pub(crate) use model::certify_schedule;
pub(crate) use written::{keep_true, keep_true_reorderings, wrong_certificates};

use crate::failure::Hint;
use anyorder_system::{StopReason, Stopped};

/// The kind of a certificate. Further kinds, such as cycles of robustness, get their own word here,
/// a page in `docs/formats`, and a place in [`TraceCertifier::check`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CertificateKind {
    /// A proof that one event happens before another.
    OrderProof,
    /// A proof that no order of the events is a run.
    ConsistencyProof,
    /// A run of the events.
    ConsistencyWitness,
    /// A reordering that reverses two actions.
    Reordering,
    /// An order in which a program can run.
    TraceSchedule,
    /// A run of a model.
    Schedule,
}

impl CertificateKind {
    /// Returns its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            CertificateKind::OrderProof => "order-proof",
            CertificateKind::ConsistencyProof => "consistency-proof",
            CertificateKind::ConsistencyWitness => "consistency-witness",
            CertificateKind::Reordering => "reordering",
            CertificateKind::TraceSchedule => "trace-schedule",
            CertificateKind::Schedule => "schedule",
        }
    }
}

/// The outcome of one certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// Its place in a result: the number of its finding, from 1; `None` if the file is the
    /// certificate.
    pub finding: Option<usize>,
    /// The kind; `None` if the content fits none.
    pub kind: Option<CertificateKind>,
    /// The outcome.
    pub verdict: CertificateVerdict,
}

/// Whether a certificate holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CertificateVerdict {
    /// It holds.
    Holds {
        /// The verified claim, in words computed from the input.
        claim: String,
        /// The assumption behind it, as a clause after `only if`; `None` if everything in the input
        /// is understood.
        needed: Option<String>,
    },
    /// It does not hold.
    Fails(CertificateFault),
    /// It is no certificate about this input.
    Unreadable(CertificateFault),
    /// The check was stopped.
    Stopped(StopReason),
}

/// Why a certificate is refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CertificateFault {
    /// The place of the mistake in the certificate: a line, a step, a field.
    pub at: Option<String>,
    /// What was expected there, or is wrong.
    pub reason: String,
    /// Advice.
    pub hint: Option<Hint>,
}

/// The certificates of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CertifiedFile {
    /// The certificates, in the order of the file.
    pub certificates: Vec<Certified>,
    /// The number of findings of a result that have no certificate.
    pub without: u64,
    /// The number of findings of a result that are about other inputs; they are not checked.
    pub elsewhere: u64,
}

impl CertificateFault {
    fn new(reason: impl Into<String>) -> CertificateFault {
        CertificateFault { at: None, reason: reason.into(), hint: None }
    }

    fn at(place: impl Into<String>, reason: impl Into<String>) -> CertificateFault {
        CertificateFault { at: Some(place.into()), reason: reason.into(), hint: None }
    }

    fn with_hint(self, hint: Hint) -> CertificateFault {
        CertificateFault { hint: Some(hint), ..self }
    }
}

impl CertificateVerdict {
    fn holds(claim: impl Into<String>) -> CertificateVerdict {
        CertificateVerdict::Holds { claim: claim.into(), needed: None }
    }

    fn fails(place: impl Into<String>, reason: impl Into<String>) -> CertificateVerdict {
        CertificateVerdict::Fails(CertificateFault::at(place, reason))
    }

    fn unreadable(reason: impl Into<String>) -> CertificateVerdict {
        CertificateVerdict::Unreadable(CertificateFault::new(reason))
    }
}

impl From<Stopped> for CertificateVerdict {
    fn from(Stopped(reason): Stopped) -> CertificateVerdict {
        CertificateVerdict::Stopped(reason)
    }
}

impl CertifiedFile {
    /// A file that is no certificate.
    #[must_use]
    pub fn unreadable(what: &str) -> CertifiedFile {
        CertifiedFile::one(None, CertificateVerdict::unreadable(what))
    }

    /// A file that was not checked.
    #[must_use]
    pub fn stopped(reason: StopReason) -> CertifiedFile {
        CertifiedFile::one(None, CertificateVerdict::Stopped(reason))
    }

    /// A file that is one certificate.
    fn one(kind: Option<CertificateKind>, verdict: CertificateVerdict) -> CertifiedFile {
        let certificates = vec![Certified { finding: None, kind, verdict }];
        CertifiedFile { certificates, ..CertifiedFile::default() }
    }
}

/// The content of a file, recognised.
enum Content<'a> {
    /// A text whose first line begins with this word.
    Text(&'a str),
    /// A text of another kind: a run.
    Run,
    Json(Box<serde_json::Value>),
}

/// Returns the text of a certificate without a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Recognises the content of a file.
fn recognised(text: &str) -> Result<Content<'_>, String> {
    if text.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']).starts_with('{') {
        let value = json::parse(text).map_err(|error| format!("not JSON: {error}"))?;
        return Ok(Content::Json(Box::new(value)));
    }
    let lines = text.lines().map(str::trim_ascii);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    let word = first.and_then(|line| line.split_ascii_whitespace().next()).unwrap_or_default();
    Ok(match word {
        "order-proof" | "consistency-proof" | "trace-schedule" => Content::Text(word),
        _ => Content::Run,
    })
}
