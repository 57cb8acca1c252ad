//! How a program fails.

use crate::poll::Interrupted;
use crate::program::{Program, SiteId};
pub(super) use anyorder_system::FailureKind;
use anyorder_system::{Failure, FailureSite};

/// A failure of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// What kind of failure it is.
    pub(crate) kind: FailureKind,
    /// What happened.
    pub(crate) message: String,
    /// Where.
    pub(crate) site: SiteId,
}

impl Fault {
    /// Returns the failure with its position, where that is known.
    #[must_use]
    pub(crate) fn failure(self, program: &Program) -> Failure {
        let site = program.sites.get(self.site.index()).filter(|site| site.line > 0);
        let site = site.map(|site| FailureSite {
            file: program.files.get(usize::from(site.file)).cloned().unwrap_or_default(),
            line: site.line,
            column: site.column,
        });
        Failure { kind: self.kind, message: self.message, site, broken: None }
    }
}

/// Why a step stops early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The program failed.
    Fault(Box<Fault>),
    /// There is no such transition: an assumption fails, a choice is empty, or a thread cannot
    /// continue.
    NoTransition,
    /// The job was stopped. The step has no result.
    Interrupted,
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Stop {
        Stop::Interrupted
    }
}
