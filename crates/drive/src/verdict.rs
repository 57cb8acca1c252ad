//! What becomes of certificates: whether each holds, and why not.

use crate::failure::Hint;
use anyorder_system::{StopReason, Stopped};

/// The kind of a certificate. Further kinds, such as cycles of robustness, get their own word here,
/// a page in `docs/formats`, and a place in
/// [`TraceCertifier::check`](crate::TraceCertifier::check).
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
    pub(crate) fn new(reason: impl Into<String>) -> CertificateFault {
        CertificateFault { at: None, reason: reason.into(), hint: None }
    }

    pub(crate) fn at(place: impl Into<String>, reason: impl Into<String>) -> CertificateFault {
        CertificateFault { at: Some(place.into()), reason: reason.into(), hint: None }
    }

    /// Returns what is wrong, and where, in one line.
    pub(crate) fn words(&self) -> String {
        match &self.at {
            Some(at) => format!("{at}: {}", self.reason),
            None => self.reason.clone(),
        }
    }

    pub(crate) fn with_hint(self, hint: Hint) -> CertificateFault {
        CertificateFault { hint: Some(hint), ..self }
    }
}

impl CertificateVerdict {
    pub(crate) fn holds(claim: impl Into<String>) -> CertificateVerdict {
        CertificateVerdict::Holds { claim: claim.into(), needed: None }
    }

    pub(crate) fn fails(place: impl Into<String>, reason: impl Into<String>) -> CertificateVerdict {
        CertificateVerdict::Fails(CertificateFault::at(place, reason))
    }

    pub(crate) fn unreadable(reason: impl Into<String>) -> CertificateVerdict {
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
    pub(crate) fn one(kind: Option<CertificateKind>, verdict: CertificateVerdict) -> CertifiedFile {
        let certificates = vec![Certified { finding: None, kind, verdict }];
        CertifiedFile { certificates, ..CertifiedFile::default() }
    }
}
