//! The failure that a schedule claims, compared with the failures of runs.
//!
//! A schedule holds kind, message and place of a failure as one text, whose parts cannot be told
//! apart: a message and the name of a file may have any characters in them. So the text is never
//! split. Each comparison takes the parts of a failure that a run had, and looks for them.

use anyorder_system::{Failure, FailureKind};
use std::fmt;
use std::path::Path;

/// A failure as a schedule names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ClaimedFailure(String);

impl ClaimedFailure {
    /// Claims the failure of a run.
    #[must_use]
    pub fn of(failure: &Failure) -> ClaimedFailure {
        ClaimedFailure(failure.to_string())
    }

    /// Takes the text of a schedule.
    pub(super) fn read(text: String) -> ClaimedFailure {
        ClaimedFailure(text)
    }

    /// Returns whether a failure is the claimed one.
    pub(crate) fn is(&self, failure: &Failure) -> bool {
        failure.to_string() == self.0
    }

    /// Returns whether a failure is the claimed one, wherever the file of its place is: of the path
    /// only the last part counts.
    pub(crate) fn is_in_some_folder(&self, failure: &Failure) -> bool {
        let Some(site) = &failure.site else { return self.is(failure) };
        let what = Failure { site: None, ..failure.clone() }.to_string();
        let position = format!(":{}:{}", site.line, site.column);
        let path = self.0.strip_prefix(&what).and_then(|rest| rest.strip_prefix(" at "));
        let path = path.and_then(|rest| rest.strip_suffix(&position));
        path.is_some_and(|path| last_part(path) == last_part(&site.file))
    }

    /// Returns whether a failure has the kind of the claimed one.
    pub(crate) fn has_kind_of(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::Other => !FailureKind::ALL.iter().any(|kind| self.is_of(*kind)),
            kind => self.is_of(kind),
        }
    }

    /// Returns whether a failure has the kind and the place of the claimed one. Without a known
    /// place, all of it must be equal.
    pub(crate) fn has_kind_and_place_of(&self, failure: &Failure) -> bool {
        match &failure.site {
            Some(site) => self.has_kind_of(failure) && self.0.ends_with(&format!(" at {site}")),
            None => self.is(failure),
        }
    }

    /// Returns whether its text begins with a kind that has a word.
    fn is_of(&self, kind: FailureKind) -> bool {
        let rest = self.0.strip_prefix(kind.word()).filter(|_| !kind.word().is_empty());
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" at ")
        })
    }
}

impl fmt::Display for ClaimedFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the last part of a path.
fn last_part(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::FailureSite;

    fn failure(kind: FailureKind, message: &str, file: &str) -> Failure {
        let site = FailureSite { file: file.to_owned(), line: 3, column: 14 };
        Failure { kind, message: message.to_owned(), site: Some(site), broken: None }
    }

    fn claimed(text: &str) -> ClaimedFailure {
        ClaimedFailure::read(text.to_owned())
    }

    #[test]
    fn a_failure_is_the_same_by_kind_and_place() {
        let found = failure(FailureKind::Assertion, "y is 2", "a b.any");
        let same = |text: &str| claimed(text).has_kind_and_place_of(&found);
        assert!(same("assertion: y at 1 at a b.any:3:14"), "another value");
        assert!(!same("failure: y at a b.any:3:14"), "another kind");
        assert!(!same("assertion: y at a b.any:3:15"), "another place");
        let plain = Failure::from("out of paper");
        assert!(claimed("out of paper").has_kind_and_place_of(&plain));
        assert!(!claimed("out").has_kind_and_place_of(&plain));
    }

    #[test]
    fn a_file_may_be_called_at_and_lie_in_any_folder() {
        let found = failure(FailureKind::Assertion, "ready", "sets/look at this.any");
        let same = |text: &str| claimed(text).is_in_some_folder(&found);
        assert!(same("assertion: ready at look at this.any:3:14"));
        assert!(same("assertion: ready at /home/look at/look at this.any:3:14"));
        assert!(!same("assertion: ready at this.any:3:14"), "the end of a name is another name");
        assert!(!same("assertion: ready at look at this.any:3:15"));
    }

    #[test]
    fn a_message_without_a_place_may_speak_of_one() {
        let found = Failure::from("paper runs out at tray/2");
        assert!(claimed("paper runs out at tray/2").is_in_some_folder(&found));
        assert!(!claimed("paper runs out at shelf/2").is_in_some_folder(&found));
    }

    #[test]
    fn a_message_that_begins_with_a_kind_is_of_its_own_kind() {
        let lost = failure(FailureKind::NoMatch, "", "m.any");
        assert!(claimed("no match at m.any:9:1").has_kind_of(&lost));
        assert!(!claimed("no paper").has_kind_of(&lost));
        let other = Failure::from("no paper");
        assert!(
            claimed("no ink").has_kind_of(&other)
                && !claimed("null at m.any:1:1").has_kind_of(&other)
        );
    }
}
